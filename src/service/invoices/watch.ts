import { isChainFault } from '../chain-fault.ts'
import type { BlockHeader, ChainLog, ChainTransactions, TransactionReceipt } from '../../ports/chain.ts'
import type { AttributedBy, InvoicePayment, InvoiceStore, OtherAsset, StoredInvoice, WatchedMerchant } from '../../ports/invoices.ts'
import type { PaymentStore } from '../../ports/payments.ts'
import {
  addressTopic,
  AUTHORIZATION_USED_TOPIC,
  decodeAuthorizationUsed,
  decodeTransfer,
  TRANSFER_TOPIC,
} from '../../pure/payments/token-calls.ts'
import { isConfirmed } from '../../pure/invoices/standing.ts'
import { INVOICE_RULES } from './rules.ts'
import { standingNow } from './view.ts'
import { coinAsset, otherTokens, tokenAsset } from '../../pure/invoices/other-assets.ts'
import { blockBefore, type EvidenceSource, finalHeader } from '../payments/evidence.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { createRecent, type Recent } from '../recent.ts'

/** A transfer to a merchant, with the authorization that moved it. */
interface SeenTransfer {
  transaction: string
  log_index: number
  payer: string
  merchant: string
  amount_minor: bigint
  block_number: number
  block_hash: string
  block_time_s: number
  /** Null when no authorization moved it. */
  nonce: string | null
}

/** Heights that say how deep a block is. */
interface Depth {
  head: bigint
  final: bigint | null
}

interface AttributeParts {
  store: InvoiceStore
  payments: Pick<PaymentStore, 'find'>
}

/**
 * The transfer in a log of the token; null for every other log. The authorization is the log just before it, by the same payer: one transaction
 * may use several, and a transfer of one must not stand for another.
 */
function transferIn(log: ChainLog, receipt: TransactionReceipt, block_time_s: number): SeenTransfer | null {
  const moved = decodeTransfer(log)
  if (moved === null || moved.value_minor === 0n || !receipt.succeeded) return null
  const before = receipt.logs.find((one) => one.log_index === log.log_index - 1 && one.address === log.address)
  const used = before === undefined ? null : decodeAuthorizationUsed(before)
  return {
    transaction: receipt.transaction_hash,
    log_index: log.log_index,
    payer: moved.from,
    merchant: moved.to,
    amount_minor: moved.value_minor,
    block_number: Number(receipt.block_number),
    block_hash: receipt.block_hash,
    block_time_s,
    nonce: used !== null && used.payer === moved.from ? used.nonce : null,
  }
}

/**
 * Attributes a transfer to the invoice that it pays, if it pays one, and keeps that. Returns the id when this call did. An authorization whose
 * nonce no invoice has was signed for something else, and is never taken for a plain transfer.
 */
async function attributeTransfer(parts: AttributeParts, seen: SeenTransfer, depth: Depth, now_ms: number): Promise<string | null> {
  const found = seen.nonce === null ? await plainMatch(parts, seen, now_ms) : await namedMatch(parts, seen, seen.nonce)
  if (found === null) return null
  const payment = paymentOf(seen, found.invoice.invoice_id, found.by, depth)
  return (await parts.store.attribute(payment, now_ms)) ? payment.invoice_id : null
}

interface Match {
  invoice: StoredInvoice
  by: AttributedBy
}

/**
 * The nonce is derived from the invoice, or the authorization was claimed for it here, as x402 clients choose their own nonces. What was claimed
 * for something pays that and nothing else: a call that was answered is not an invoice's payment too, whatever nonce its payer chose.
 */
async function namedMatch({ store, payments }: AttributeParts, seen: SeenTransfer, nonce: string): Promise<Match | null> {
  const [named, row] = await Promise.all([store.find_by_nonce(nonce), payments.find({ payer: seen.payer, nonce })])
  const claimed = row === null || row.state === 'released' ? null : row
  if (claimed?.purpose === 'call') return null
  const invoice = claimed === null || claimed.subject === named?.invoice_id ? named : await store.find(claimed.subject)
  if (invoice === null || invoice.merchant !== seen.merchant) return null
  return { invoice, by: invoice.invoice_id === named?.invoice_id ? 'eip3009' : 'x402' }
}

/**
 * The one invoice, signed by the merchant, of which exactly this was due at that place of the chain. Several of one amount: nobody can tell which
 * was meant, so none is paid and each is marked, however they are paid later.
 */
async function plainMatch({ store }: AttributeParts, seen: SeenTransfer, now_ms: number): Promise<Match | null> {
  const all = await store.plain_candidates(seen.merchant, seen.block_time_s, INVOICE_RULES.candidates)
  const fitting: StoredInvoice[] = []
  for (const invoice of all) if (await wasDue(store, invoice, seen)) fitting.push(invoice)
  const [only, other] = fitting
  if (only === undefined) return null
  if (other === undefined && all.length < INVOICE_RULES.candidates) return { invoice: only, by: 'transfer' }
  for (const invoice of fitting) await store.add_mark(invoice.invoice_id, 'ambiguous', now_ms)
  return null
}

/** Whether exactly this amount was due of the invoice just before this log. */
async function wasDue(store: InvoiceStore, invoice: StoredInvoice, seen: SeenTransfer): Promise<boolean> {
  const { amount_minor, created_ms, voided_ms } = invoice
  const at_ms = (seen.block_time_s + INVOICE_RULES.skew_s) * 1_000
  if (amount_minor < seen.amount_minor || created_ms > at_ms || (voided_ms !== null && voided_ms < seen.block_time_s * 1_000)) return false
  const earlier = (await store.payments(invoice.invoice_id)).filter(
    (one) => one.block_number < seen.block_number || (one.block_number === seen.block_number && one.log_index < seen.log_index),
  )
  return standingNow(invoice, earlier, seen.block_time_s).due_minor === seen.amount_minor
}

function paymentOf(seen: SeenTransfer, invoice_id: string, matched_by: AttributedBy, { head, final }: Depth): InvoicePayment {
  const { merchant: _, ...rest } = seen
  const block = BigInt(seen.block_number)
  return {
    ...rest,
    invoice_id,
    matched_by,
    confirmed: isConfirmed(seen.amount_minor, block, head, final),
    final: final !== null && block <= final,
  }
}

/** Keeps whether anything can still be expected, which the bounds on open invoices count. */
async function closeOrOpen(store: InvoiceStore, invoice_ids: Iterable<string>, now_s: number): Promise<void> {
  for (const invoice_id of new Set(invoice_ids)) {
    const invoice = await store.find(invoice_id)
    if (invoice === null || invoice.voided_ms !== null) continue
    const { status } = standingNow(invoice, await store.payments(invoice_id), now_s)
    await store.set_closed(invoice_id, status === 'SETTLED')
  }
}

/**
 * Money of another kind that reached a merchant for an invoice: shown as the exception wrong_asset with what came, and never counted. It errs
 * towards saying nothing: only tokens known by address count, and only where the payer's own signature or whoever has the invoice's id names it.
 */
interface WrongAssetParts {
  store: Pick<InvoiceStore, 'find_by_nonce' | 'note_other_asset'>
  chain_id: number
  source: EvidenceSource
  transactions: ChainTransactions
}

/** What one transaction moved to the merchant in other assets; asks for the transaction itself, since the chain's own coin leaves no log. */
async function noteSubmitted(
  parts: WrongAssetParts,
  invoice: StoredInvoice,
  receipt: TransactionReceipt,
  header: BlockHeader,
  now_ms: number,
): Promise<void> {
  const { store, chain_id, transactions } = parts
  // What is older than the invoice was for something else.
  if (!receipt.succeeded || (header.timestamp_s + INVOICE_RULES.skew_s) * 1_000 < invoice.created_ms) return
  const place = { transaction: receipt.transaction_hash, block_number: Number(receipt.block_number), block_time_s: header.timestamp_s }
  const seen: Omit<OtherAsset, 'invoice_id' | 'named_by'>[] = []
  const known = new Set(otherTokens(chain_id).map(({ address }) => address))
  for (const log of receipt.logs) {
    const moved = known.has(log.address) ? decodeTransfer(log) : null
    if (moved === null || moved.to !== invoice.merchant || moved.value_minor === 0n) continue
    const asset = tokenAsset(chain_id, log.address)
    seen.push({ ...place, log_index: log.log_index, asset, payer: moved.from, amount: moved.value_minor })
    if (seen.length >= INVOICE_RULES.other_assets) break
  }
  const coin = await transactions.transaction(receipt.transaction_hash)
  if (coin !== null && coin.to === invoice.merchant && coin.value_wei > 0n) {
    seen.push({ ...place, log_index: -1, asset: coinAsset(chain_id), payer: coin.from, amount: coin.value_wei })
  }
  for (const one of seen) await store.note_other_asset({ ...one, invoice_id: invoice.invoice_id, named_by: 'submitted' }, now_ms)
}

/**
 * Authorizations of other tokens that were used with the nonce of an invoice, in blocks that are final. Two searches a token, bounded in blocks;
 * only logs whose nonce is of an invoice of this merchant cost more.
 */
async function noteNamed(
  { store, chain_id, source }: WrongAssetParts,
  merchant: string,
  { from, to }: { from: bigint; to: bigint },
  now_ms: number,
): Promise<void> {
  for (const { address } of otherTokens(chain_id).filter(({ eip3009 }) => eip3009)) {
    const topics = [TRANSFER_TOPIC, null, addressTopic(merchant)]
    const logs = await source.chain.logs({ address, topics, from_block: from, to_block: to })
    const transactions = new Set(logs.map(({ transaction_hash }) => transaction_hash))
    for (const transaction of [...transactions].slice(0, INVOICE_RULES.look_receipts)) {
      const receipt = await source.chain.receipt(transaction)
      const header = receipt === null ? null : await source.chain.header(receipt.block_number)
      if (receipt === null || header === null || !receipt.succeeded) continue
      await noteAuthorized({ store, chain_id }, { merchant, token: address, receipt, header }, now_ms)
    }
  }
}

async function noteAuthorized(
  { store, chain_id }: Pick<WrongAssetParts, 'store' | 'chain_id'>,
  { merchant, token, receipt, header }: { merchant: string; token: string; receipt: TransactionReceipt; header: BlockHeader },
  now_ms: number,
): Promise<void> {
  for (const log of receipt.logs) {
    const moved = log.address === token ? decodeTransfer(log) : null
    if (moved === null || moved.to !== merchant || moved.value_minor === 0n) continue
    const before = receipt.logs.find((one) => one.log_index === log.log_index - 1 && one.address === token)
    const used = before?.topics[0] === AUTHORIZATION_USED_TOPIC ? decodeAuthorizationUsed(before) : null
    const invoice = used === null || used.payer !== moved.from ? null : await store.find_by_nonce(used.nonce)
    if (invoice === null || invoice.merchant !== merchant) continue
    const place = { transaction: receipt.transaction_hash, log_index: log.log_index, block_number: Number(receipt.block_number) }
    const what = { asset: tokenAsset(chain_id, token), payer: moved.from, amount: moved.value_minor, block_time_s: header.timestamp_s }
    await store.note_other_asset({ ...place, ...what, invoice_id: invoice.invoice_id, named_by: 'nonce' }, now_ms)
  }
}

interface WatchParts extends AttributeParts {
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
