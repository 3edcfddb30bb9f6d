import { isObject } from '../is-object.ts'
import type { DatasetDefinition } from './definition.ts'

/** Dataset of the addresses of chains on OFAC's SDN list. */

export interface OfacRow {
  /** 0x and 40 hexadecimal digits in lower case, or an address of another chain as the publisher writes it. */
  address: string
  entity: string
  programmes: string[]
}

/** Of the Lazarus Group, on the list since April 2022; a source without them is not this list. */
export const PRESENT = ['0x098b716b8aaf21512996dc57eb0615e2383e2f96', '0xa0e1c89ef1a489c9c7de96311ed5ce5d32c20e4b']
/** Contracts of Tornado Cash (router, 0.1 ETH and 100 ETH pools), removed from the list on 2025-03-21. */
export const ABSENT = [
  '0xd90e2f925da726b50c4ed8d0fb90ad053324f31b',
  '0x12d66f87a04a9e220743712ce6d9bb1b5616b8fc',
  '0xa160cdab225685da1d56aa342ad8841c3b53f291',
]

/** True for 0x and 40 hexadecimal digits of any case. */
export function isEvmAddress(text: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(text)
}

const wordsOf = (name: string): string[] => name.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []

export const ofacAddresses: DatasetDefinition<OfacRow> = {
  id: 'ofac_addresses',
  schema: 'assay/ofac-addresses/1',
  source_urls: ['https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ENHANCED.XML'],
  licence: 'Public domain (work of the US government, 17 U.S.C. § 105)',
  limit_days: 30,
  rows_min: 60,
  rows_max: 5_000,
  removed_share_max: 0.2,
  // On an ordinary day less than one in a hundred entries changes.
  changed_share_max: 0.05,
  present: PRESENT,
  absent: ABSENT,
  isRow: (value): value is OfacRow =>
    isObject(value) &&
    typeof value['address'] === 'string' &&
    /^[A-Za-z0-9]{20,120}$/.test(value['address']) &&
    (!isEvmAddress(value['address']) || value['address'] === value['address'].toLowerCase()) &&
    typeof value['entity'] === 'string' &&
    value['entity'] !== '' &&
    Array.isArray(value['programmes']) &&
    value['programmes'].every((programme) => typeof programme === 'string'),
  key: ({ address }) => address,
  // Programmes and spellings of a name change; a holder without a word in common is another one.
  isReplaced: (before, after) => !wordsOf(before.entity).some((word) => wordsOf(after.entity).includes(word)),
  sentinelFault: ({ address, entity }) =>
    PRESENT.includes(address) && !/\bLAZARUS\b/i.test(entity)
      ? `${address} is of the Lazarus Group, but has another name here: the names of the file are damaged or replaced.`
      : null,
}
