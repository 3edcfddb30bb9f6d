import { ABA_RANGES } from '../checks/aba.ts'
import { PROHIBITED_JURISDICTIONS } from '../checks/countries.ts'
import { ISO4217 } from '../checks/currency.ts'
import { DISPOSABLE_DOMAINS, FREE_MAIL_DOMAINS, PUBLIC_SUFFIXES, RDAP_BOOTSTRAP } from '../checks/domains.ts'
import { PHONE_PLANS } from '../checks/e164.ts'
import { GS1_PREFIXES } from '../checks/ean13.ts'
import { IBAN_REGISTRY, SEPA_COUNTRIES } from '../checks/iban.ts'
import { IFSC_BANKS } from '../checks/ifsc.ts'
import { ISBN_RANGES } from '../checks/isbn.ts'
import { LOU_PREFIXES } from '../checks/lei.ts'
import { UPI_HANDLES } from '../checks/upi-vpa.ts'
import { X402_TOKENS } from '../protocols/x402/document-networks.ts'
import type { DatasetDefinition, Snapshot } from './definition.ts'
import { ofacAddresses } from './sanctions-lists.ts'
import type { ReferenceTable } from './table.ts'

/** Tables of checks that can be replaced while the service runs. */
export const TABLES = {
  aba_ranges: ABA_RANGES,
  disposable_domains: DISPOSABLE_DOMAINS,
  free_mail_domains: FREE_MAIL_DOMAINS,
  gs1_prefixes: GS1_PREFIXES,
  iban_registry: IBAN_REGISTRY,
  ifsc_banks: IFSC_BANKS,
  isbn_ranges: ISBN_RANGES,
  iso4217: ISO4217,
  lou_prefixes: LOU_PREFIXES,
  phone_plans: PHONE_PLANS,
  prohibited_jurisdictions: PROHIBITED_JURISDICTIONS,
  public_suffixes: PUBLIC_SUFFIXES,
  rdap_bootstrap: RDAP_BOOTSTRAP,
  sepa_countries: SEPA_COUNTRIES,
  upi_handles: UPI_HANDLES,
  x402_tokens: X402_TOKENS,
} as const satisfies Readonly<Record<string, ReferenceTable>>

export type TableId = keyof typeof TABLES

export const TABLE_IDS = Object.keys(TABLES) as TableId[]

export function isTableId(id: string): id is TableId {
  return Object.hasOwn(TABLES, id)
}

/** Table and the snapshot from which it answers instead of that of the release. */
export interface BoundTable {
  id: TableId
  sha256: string
  snapshot: Snapshot
}

/** Tables that do not answer from the snapshots of the release, in this thread. */
let bound: readonly BoundTable[] = []

/**
 * Binds these tables, and all others to the snapshots of the release. Returns what was bound before. It runs to its end before any other code of the thread, so
 * a synchronous call sees one set.
 */
export function bindTables(tables: readonly BoundTable[]): readonly BoundTable[] {
  const before = bound
  const of = (list: readonly BoundTable[], id: TableId) => list.find((table) => table.id === id)
  for (const id of TABLE_IDS) {
    const wanted = of(tables, id)
    if (wanted?.sha256 !== of(before, id)?.sha256) TABLES[id].bind(wanted ?? null)
  }
  bound = [...tables]
  return before
}

/** Datasets that can be replaced while the service runs; all other tables come with the release. */
const LISTS = { ofac_addresses: ofacAddresses } as const

export type DatasetId = keyof typeof LISTS | TableId

export const DATASET_IDS = [...Object.keys(LISTS), ...TABLE_IDS] as DatasetId[]

export function isDatasetId(id: string): id is DatasetId {
  return Object.hasOwn(LISTS, id) || isTableId(id)
}

/** Definition without the type of its rows. */
export function datasetDefinition(id: DatasetId): DatasetDefinition<unknown> {
  return isTableId(id) ? TABLES[id].definition : LISTS[id]
}

/** Dataset of a snapshot's text by its schema, which comes first; null if it is none. */
export function datasetOf(text: string): DatasetId | null {
  const schema = /^\s*\{\s*"schema"\s*:\s*"([^"]{1,100})"/.exec(text)?.[1]
  return DATASET_IDS.find((id) => datasetDefinition(id).schema === schema) ?? null
}
