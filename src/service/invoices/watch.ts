import type { ChainLog, ChainTransactions } from '../../ports/chain.ts'
import type { Clock } from '../../ports/clock.ts'
import type { InvoicePayment, StoredInvoice, WatchedMerchant } from '../../ports/invoices.ts'
import type { Log } from '../../ports/log.ts'
import { addressTopic, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import { isConfirmed } from '../../pure/invoices/standing.ts'
import { blockBefore, type EvidenceSource, finalHeader } from '../payments/evidence.ts'
import { createRecent, type Recent } from '../recent.ts'
import { attributeTransfer, closeOrOpen, transferIn, type AttributeParts, type Depth, type SeenTransfer } from './attribute.ts'
import { INVOICE_RULES } from './rules.ts'
import { noteNamed, noteSubmitted } from './wrong-asset.ts'

export interface WatchParts extends AttributeParts {
  chain_id: number
  transactions: ChainTransactions
  source: EvidenceSource
  clock: Clock
  log: Log
}

/** Reads the transfers of merchants; what it remembers only saves asking the chain again. */
export interface InvoiceWatch {
  /** Every merchant with a watched invoice, up to a bound, the one looked at longest ago first. Rejects as the store does. */
  round(now_ms: number): Promise<void>
  /** One merchant, now; false when its transfers were not read up to the head of the chain. Rejects as the chain and the store do. */
  look(merchant: string): Promise<boolean>
  /** The transfers of one transaction, and what came in other assets for the invoice it was named for. Null while it is in no block. */
  lookInto(transaction: string, named_for?: StoredInvoice): Promise<TransactionLook | null>
}

interface TransactionLook {
  /** Invoices that this look attributed something to. */
  attributed: string[]
  /** Transfers of the token in it. */
  transfers: SeenTransfer[]
}

const REMEMBERED = 10_000

export function createInvoiceWatch(parts: WatchParts): InvoiceWatch {
  const seen = createRecent<SeenTransfer | 'none'>(REMEMBERED)
  return {
    async round(now_ms) {
      const watched = await parts.store.watched(Math.floor(now_ms / 1_000), INVOICE_RULES.merchants)
      for (const one of watched) {
        try {
          await lookAt(parts, seen, one)
        } catch (error) {
          if (!isChainFault(error)) throw error
          parts.log.warn({ error: String(error) }, 'invoices could not be compared with the chain')
          return
        }
      }
    },
    async look(merchant) {
      const watched = await parts.store.watch_of(merchant)
      return watched === null || (await lookAt(parts, seen, watched))
    },
    lookInto: (transaction, named_for) => lookInto(parts, transaction, named_for),
  }
}

async function depthOf(source: EvidenceSource): Promise<Depth> {
  const { number } = await source.chain.head()
  return { head: number, final: (await finalHeader(source))?.number ?? null }
}

/** Whether the transfers were read up to the head. */
async function lookAt(parts: WatchParts, seen: Recent<SeenTransfer | 'none'>, watched: WatchedMerchant): Promise<boolean> {
  const { store, clock, source } = parts
  const { merchant } = watched
  const depth = await depthOf(source)
  const touched = await recheck(parts, merchant, depth)
  const from = await firstBlock(parts, watched, depth)
  const read = await scan(parts, seen, { merchant, from, depth })
  const now_ms = clock.now_ms()
  await closeOrOpen(store, [...touched, ...read.touched], Math.floor(now_ms / 1_000))
  const closed = depth.final === null || depth.final > read.to ? read.to : depth.final
  const next = depth.final === null ? from : closed + 1n > from ? closed + 1n : from
  // Once for each block, when nothing can change in it any more.
  if (next > from) await noteNamed(parts, merchant, { from, to: next - 1n }, now_ms)
  const current = read.to >= depth.head
  // Behind the head it is kept as looked at too long ago: it is told as stale and its turn comes early, though not before everybody else's.
  await store.looked(merchant, Number(next), current ? now_ms : now_ms - INVOICE_RULES.stale_ms - 1)
  return current
}

/** Where nobody looked for long, blocks before the oldest watched invoice are passed over. */
async function firstBlock({ source }: WatchParts, { next_block, since_ms }: WatchedMerchant, { head }: Depth): Promise<bigint> {
  const known = next_block === null ? 0n : BigInt(next_block)
  if (next_block !== null && head - known <= INVOICE_RULES.look_blocks) return known
  const since = await blockBefore(source.chain, Math.floor(since_ms / 1_000) - INVOICE_RULES.skew_s)
  return since > known ? since : known
}

/** Payments whose block is not final: deeper by now, moved to another block, or gone. */
async function recheck(parts: WatchParts, merchant: string, depth: Depth): Promise<string[]> {
  const { store, source, clock } = parts
  const rows = await store.unfinal(merchant, INVOICE_RULES.payments_rechecked)
  const touched: string[] = []
  for (const [number, group] of Map.groupBy(rows, ({ block_number }) => block_number)) {
    const header = await source.chain.header(BigInt(number))
    for (const row of group) {
      const stands = header !== null && header.hash === row.block_hash
      const now = stands ? row : await movedTo(parts, row)
      if (now === null) await store.withdraw(row, clock.now_ms())
      else await deepen(parts, row, now, depth)
      touched.push(row.invoice_id)
    }
  }
  return touched
}

/** Null when no block holds the same log: then it is taken away, and found anew where it comes again. */
async function movedTo({ source }: WatchParts, row: InvoicePayment): Promise<InvoicePayment | null> {
  const receipt = await source.chain.receipt(row.transaction)
  const log = receipt?.logs.find((one) => one.log_index === row.log_index && one.address === source.token)
  if (receipt === null || log === undefined) return null
  const header = await source.chain.header(receipt.block_number)
  const moved = header === null || header.hash !== receipt.block_hash ? null : transferIn(log, receipt, header.timestamp_s)
  if (moved === null || moved.payer !== row.payer || moved.amount_minor !== row.amount_minor || moved.nonce !== row.nonce) return null
  return { ...row, block_number: moved.block_number, block_hash: moved.block_hash, block_time_s: moved.block_time_s }
}

async function deepen({ store, clock }: WatchParts, before: InvoicePayment, now: InvoicePayment, { head, final }: Depth): Promise<void> {
  const block = BigInt(now.block_number)
  const confirmed = isConfirmed(now.amount_minor, block, head, final)
  const is_final = final !== null && block <= final
  if (before.block_hash === now.block_hash && before.confirmed === confirmed && before.final === is_final) return
  await store.settle_block({ ...now, confirmed, final: is_final }, clock.now_ms())
}

interface Range {
  merchant: string
  from: bigint
  depth: Depth
}

/** Reads a bounded range of blocks, whole blocks at a time, and attributes what pays an invoice. */
async function scan(parts: WatchParts, seen: Recent<SeenTransfer | 'none'>, { merchant, from, depth }: Range) {
  const { source, store, clock } = parts
  const last = from + INVOICE_RULES.look_blocks - 1n
  let to = last < depth.head ? last : depth.head
  const topics = [TRANSFER_TOPIC, null, addressTopic(merchant)]
  const logs = await source.chain.logs({ address: source.token, topics, from_block: from, to_block: to })
  const known = new Set((await store.unfinal(merchant, INVOICE_RULES.payments_rechecked)).map(placeOf))
  const touched: string[] = []
  let receipts = 0
  let block = from
  for (const log of logs) {
    if (receipts >= INVOICE_RULES.look_receipts && log.block_number > block) {
      to = log.block_number - 1n
      break
    }
    block = log.block_number
    if (known.has(placeOf({ transaction: log.transaction_hash, log_index: log.log_index }))) continue
    const key = `${log.block_hash}:${log.log_index}`
    let transfer = seen.get(key)
    if (transfer === undefined) {
      receipts += 1
      const found = await readTransfer(parts, log)
      if (found === 'unread') {
        to = log.block_number - 1n
        break
      }
      seen.set(key, (transfer = found))
    }
    const invoice_id = transfer === 'none' ? null : await attributeTransfer(parts, transfer, depth, clock.now_ms())
    if (invoice_id !== null) touched.push(invoice_id)
  }
  return { to, touched }
}

/** `unread`: the node shows the log and not yet, or no longer, the rest of its block. */
async function readTransfer({ source }: WatchParts, log: ChainLog): Promise<SeenTransfer | 'none' | 'unread'> {
  const receipt = await source.chain.receipt(log.transaction_hash)
  if (receipt === null || receipt.block_hash !== log.block_hash) return 'unread'
  const header = await source.chain.header(log.block_number)
  return header === null || header.hash !== log.block_hash ? 'unread' : (transferIn(log, receipt, header.timestamp_s) ?? 'none')
}

async function lookInto(parts: WatchParts, transaction: string, named_for?: StoredInvoice): Promise<TransactionLook | null> {
  const { source, store, clock } = parts
  const receipt = await source.chain.receipt(transaction)
  const header = receipt === null ? null : await source.chain.header(receipt.block_number)
  if (receipt === null || header === null || header.hash !== receipt.block_hash) return null
  const depth = await depthOf(source)
  const logs = receipt.logs.filter(({ address }) => address === source.token).slice(0, INVOICE_RULES.look_receipts)
  const transfers = logs.flatMap((log) => transferIn(log, receipt, header.timestamp_s) ?? [])
  const attributed: string[] = []
  for (const transfer of transfers) {
    const invoice_id = await attributeTransfer(parts, transfer, depth, clock.now_ms())
    if (invoice_id !== null) attributed.push(invoice_id)
  }
  if (named_for !== undefined) await noteSubmitted(parts, named_for, receipt, header, clock.now_ms())
  await closeOrOpen(store, attributed, Math.floor(clock.now_ms() / 1_000))
  return { attributed, transfers }
}

function placeOf({ transaction, log_index }: { transaction: string; log_index: number }): string {
  return `${transaction}:${log_index}`
}

export function isChainFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'CHAIN_UNAVAILABLE'
}
