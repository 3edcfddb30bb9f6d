/** The receipts of a client in the order in which they came, each signed to follow the one that it was called after. */
import { isObject } from '../pure/is-object.ts'
import { readReceiptHash, verifyLink, type ChainLink } from '../pure/receipts/chain.ts'
import { readKeyList, type KeyList } from '../pure/receipts/keys.ts'
import type { Receipt } from '../pure/receipts/receipt.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'

export interface ChainEntry {
  receipt: Receipt
  receipt_hash: string
  /** Null for a receipt that follows none. */
  link: ChainLink | null
}

/** Plain JSON. */
export interface ExportedChain {
  v: 1
  /** The receipt that the first one followed; null when it followed none. */
  start: string | null
  entries: ChainEntry[]
}

export interface ChainVerdict {
  valid: boolean
  /** Every receipt follows the one that stands before it. False where calls ran at the same time. */
  line: boolean
  /** Number of receipts that were read. */
  length: number
  /** The first fault; null when there is none. */
  fault: { index: number; code: ChainFaultCode } | null
}

export type ChainFaultCode = 'not_a_chain' | 'receipt_invalid' | 'key_unknown' | 'hash_mismatch' | 'link_invalid' | 'follows_nothing'

export interface ReceiptChain {
  /** The receipt that the first one follows; null when it follows none. */
  readonly start: string | null
  /** The receipt that the next call will follow; null when there is none. */
  readonly head: string | null
  readonly entries: readonly ChainEntry[]
  export(): ExportedChain
}

/** A chain that grows by the answers of a client. An answer that comes again, by a payment that is resumed twice, stands in it once. */
export function createReceiptChain(start: string | null): ReceiptChain & { add(entry: ChainEntry): void } {
  const entries: ChainEntry[] = []
  const known = new Set<string>()
  return {
    start,
    get head() {
      return entries.at(-1)?.receipt_hash ?? start
    },
    get entries() {
      return [...entries]
    },
    add(entry) {
      if (known.has(entry.receipt_hash)) return
      known.add(entry.receipt_hash)
      entries.push(entry)
    },
    export: () => ({ v: 1, start, entries: structuredClone(entries) }),
  }
}

/**
 * Verifies an exported chain, offline: every receipt is good and of a listed key, has the hash that it is named by, and follows a receipt
 * that stands before it. Calls that ran at the same time may follow the same receipt, or, where a chain starts anew, none. Never throws,
 * whatever it is given.
 */
export function verifyChain(chain: unknown, keys: KeyList | readonly unknown[]): ChainVerdict {
  const list = readKeyList(keys)
  const entries = isObject(chain) && chain['v'] === 1 && Array.isArray(chain['entries']) ? (chain['entries'] as unknown[]) : null
  if (list === null || entries === null || !isObject(chain)) return verdict(0, false, { index: 0, code: 'not_a_chain' })
  const { start = null } = chain
  const known = new Set<unknown>([start])
  let [before, line] = [start, true]
  for (const [index, entry] of entries.entries()) {
    const read = readEntry(entry, list)
    if (typeof read === 'string') return verdict(entries.length, false, { index, code: read })
    if (!known.has(read.previous)) return verdict(entries.length, false, { index, code: 'follows_nothing' })
    if (read.previous !== before) line = false
    before = read.receipt_hash
    known.add(before)
  }
  return verdict(entries.length, line, null)
}

function verdict(length: number, line: boolean, fault: ChainVerdict['fault']): ChainVerdict {
  return { valid: fault === null, line, length, fault }
}

function readEntry(entry: unknown, keys: KeyList): ChainFaultCode | { receipt_hash: string; previous: string | null } {
  if (!isObject(entry)) return 'not_a_chain'
  const { valid, digest, signer_recovered, signer_published, signer_valid_at_ts } = verifyReceipt(entry['receipt'], keys)
  if (!valid || digest === null || signer_recovered === null) return 'receipt_invalid'
  if (signer_published !== true || signer_valid_at_ts !== true) return 'key_unknown'
  if (entry['receipt_hash'] !== digest) return 'hash_mismatch'
  const { link = null } = entry
  if (link === null) return { receipt_hash: digest, previous: null }
  if (!isObject(link) || !verifyLink(link, digest, signer_recovered).valid) return 'link_invalid'
  return { receipt_hash: digest, previous: readReceiptHash(String(link['prev_receipt_hash'])) }
}
