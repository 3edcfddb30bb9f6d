import { isChainFault } from '../chain-fault.ts'
import type { ChainLog, ChainTransactions, TransactionReceipt, BlockHeader } from '../../ports/chain.ts'
import type { DepositForward, InvoicePayment, InvoiceStore, StoredInvoice, WatchedMerchant, OtherAsset } from '../../ports/invoices.ts'
import type { PaymentStore } from '../../ports/payments.ts'
import {
  addressTopic,
  decodeAuthorizationUsed,
  decodeTransfer,
  TRANSFER_TOPIC,
  AUTHORIZATION_USED_TOPIC,
} from '../../pure/payments/token-calls.ts'
import { isConfirmed } from '../../pure/invoices/standing.ts'
import { INVOICE_RULES } from '../limits.ts'
import { standingNow } from './invoice-view.ts'
import { blockBefore, type EvidenceSource, finalHeader } from '../payments/settlement.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { createRecentMap, type RecentMap } from '../recent.ts'
import { coinAsset, otherTokens, tokenAsset } from '../../pure/invoices/record.ts'

/** A transfer to a merchant or to a deposit address, with the authorization that moved it. */
interface SeenTransfer {
  transaction: string
  log_index: number
  payer: string
  recipient: string
  amount_minor: bigint
  block_number: number
  block_hash: string
  block_time_s: number
  /** Null when no authorization moved it. */
  nonce: string | null
}

/** Heights of the head and of the newest final block; null when no final block is known. */
interface Depth {
  head: bigint
  final: bigint | null
}

interface AttributeParts {
  store: InvoiceStore
  payments: Pick<PaymentStore, 'find'>
}

/**
 * Decodes the transfer in a log of the token; null for every other log. Its authorization is the log just before it, by the same payer: one
 * transaction may use several authorizations, and each belongs to one transfer.
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
    recipient: moved.to,
    amount_minor: moved.value_minor,
    block_number: Number(receipt.block_number),
    block_hash: receipt.block_hash,
    block_time_s,
    nonce: used !== null && used.payer === moved.from ? used.nonce : null,
  }
}

/**
 * Attributes a transfer to the invoice that it pays and stores the payment. Returns the invoice's id when this call stored it, otherwise null. An
 * authorization whose nonce belongs to no invoice was signed for something else, and never counts as a plain transfer.
 */
async function attributeTransfer(parts: AttributeParts, seen: SeenTransfer, depth: Depth, now_ms: number): Promise<string | null> {
  const found = await matchOf(parts, seen, now_ms)
  if (found === null) return null
  const payment = paymentOf(seen, found.invoice.invoice_id, found.by, depth)
  return (await parts.store.attribute(payment, now_ms)) ? payment.invoice_id : null
}

interface Match {
  invoice: StoredInvoice
  by: InvoicePayment['matched_by']
}

/** A deposit address belongs to one invoice, however the transfer was made. What it sends to the merchant was counted when it arrived. */
async function matchOf(parts: AttributeParts, seen: SeenTransfer, now_ms: number): Promise<Match | null> {
  const deposit = await parts.store.find_by_deposit(seen.recipient)
  if (deposit !== null) return (await isCounted(parts, deposit, seen)) ? { invoice: deposit, by: 'deposit' } : null
  if ((await parts.store.find_by_deposit(seen.payer)) !== null) return null
  return seen.nonce === null ? plainMatch(parts, seen, now_ms) : namedMatch(parts, seen, seen.nonce)
}

/** Bounds the rows that tiny transfers to one address can fill: after the first ones only larger amounts count. All are forwarded. */
async function isCounted({ store }: AttributeParts, { invoice_id, amount_minor }: StoredInvoice, seen: SeenTransfer): Promise<boolean> {
  if (seen.amount_minor * INVOICE_RULES.small_deposit_parts >= amount_minor) return true
  return (await store.payments(invoice_id)).length < INVOICE_RULES.small_deposits
}

/**
 * Finds the invoice of an authorization: its nonce is derived from the invoice, or the authorization was claimed for the invoice in this service,
 * since x402 clients choose their own nonces. A claimed authorization pays only what it was claimed for: one that paid a call never pays an
 * invoice too, even when its payer chose the nonce of an invoice.
 */
async function namedMatch({ store, payments }: AttributeParts, seen: SeenTransfer, nonce: string): Promise<Match | null> {
  const [named, row] = await Promise.all([store.find_by_nonce(nonce), payments.find({ payer: seen.payer, nonce })])
  const claimed = row === null || row.state === 'released' ? null : row
  if (claimed?.purpose === 'call') return null
  const invoice = claimed === null || claimed.subject === named?.invoice_id ? named : await store.find(claimed.subject)
  if (invoice === null || invoice.merchant !== seen.recipient) return null
  return { invoice, by: invoice.invoice_id === named?.invoice_id ? 'eip3009' : 'x402' }
}

/**
 * Finds the one invoice, signed by the merchant, whose due amount just before this transfer was equal to it. When several invoices match, the
 * intended one is unknown: none is paid, and each keeps the mark `ambiguous` even when it is paid later.
 */
async function plainMatch({ store }: AttributeParts, seen: SeenTransfer, now_ms: number): Promise<Match | null> {
  const all = await store.plain_candidates(seen.recipient, seen.block_time_s, INVOICE_RULES.candidates)
  const fitting: StoredInvoice[] = []
  for (const invoice of all) if (await wasDue(store, invoice, seen)) fitting.push(invoice)
  const [only, other] = fitting
  if (only === undefined) return null
  if (other === undefined && all.length < INVOICE_RULES.candidates) return { invoice: only, by: 'transfer' }
  for (const invoice of fitting) await store.add_mark(invoice.invoice_id, 'ambiguous', now_ms)
  return null
}

/** Returns true when exactly this amount was due of the invoice just before this log. */
async function wasDue(store: InvoiceStore, invoice: StoredInvoice, seen: SeenTransfer): Promise<boolean> {
  const { amount_minor, created_ms, voided_ms } = invoice
  const at_ms = (seen.block_time_s + INVOICE_RULES.skew_s) * 1_000
  if (amount_minor < seen.amount_minor || created_ms > at_ms || (voided_ms !== null && voided_ms < seen.block_time_s * 1_000)) return false
  const earlier = (await store.payments(invoice.invoice_id)).filter(
    (one) => one.block_number < seen.block_number || (one.block_number === seen.block_number && one.log_index < seen.log_index),
  )
  // A transfer from before the bank payment was confirmed is a payment of this invoice, the second one.
  const bank_paid_ms = (invoice.bank_paid_ms ?? 0) < seen.block_time_s * 1_000 ? invoice.bank_paid_ms : null
  return standingNow({ ...invoice, bank_paid_ms }, earlier, seen.block_time_s).due_minor === seen.amount_minor
}

function paymentOf(
  seen: SeenTransfer,
  invoice_id: string,
  matched_by: InvoicePayment['matched_by'],
  { head, final }: Depth,
): InvoicePayment {
  const { recipient: _, ...rest } = seen
  const block = BigInt(seen.block_number)
  return {
    ...rest,
    invoice_id,
    matched_by,
    confirmed: isConfirmed(seen.amount_minor, block, head, final),
    final: final !== null && block <= final,
  }
}

/** Stores whether each invoice is settled: the limits on open invoices count the others. */
async function updateClosed(store: InvoiceStore, invoice_ids: Iterable<string>, now_s: number): Promise<void> {
  for (const invoice_id of new Set(invoice_ids)) {
    const invoice = await store.find(invoice_id)
    if (invoice === null || invoice.voided_ms !== null) continue
    const { status } = standingNow(invoice, await store.payments(invoice_id), now_s)
    await store.set_closed(invoice_id, status === 'SETTLED')
  }
}

interface WatchParts extends AttributeParts {
  chain_id: number
  transactions: ChainTransactions
  source: EvidenceSource
  clock: Clock
  log: Log
}

/** Reads the transfers to merchants. Its memory is only a cache of chain reads. */
export interface InvoiceWatch {
  /** Looks at each merchant with a watched invoice, up to a limit, least recently looked at first. Rejects when the store fails. */
  round(now_ms: number): Promise<void>
  /** Looks at one merchant; false when its transfers were not read up to the head of the chain. Rejects when chain or store fails. */
  look(merchant: string): Promise<boolean>
  /** Reads the transfers of one transaction, and those in other assets for the invoice that the client named. Null while it is in no block. */
  lookInto(transaction: string, named_for?: StoredInvoice): Promise<TransactionLook | null>
}

interface TransactionLook {
  /** Ids of the invoices to which this look attributed a transfer. */
  attributed: string[]
  /** Transfers of the token in the transaction. */
  transfers: SeenTransfer[]
}

const CACHED_TRANSFERS = 10_000

export function createInvoiceWatch(parts: WatchParts): InvoiceWatch {
  const seen = createRecentMap<SeenTransfer | 'none'>(CACHED_TRANSFERS)
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

/** Block at which the next look starts: the first one that is not both read and final. */
function nextBlock(from: bigint, read_to: bigint, final: bigint | null): bigint {
  if (final === null) return from
  const closed_to = final > read_to ? read_to : final
  return closed_to >= from ? closed_to + 1n : from
}

/** Rechecks the stored payments of a merchant and reads new transfers. Returns true when they were read up to the head. */
async function lookAt(parts: WatchParts, seen: RecentMap<SeenTransfer | 'none'>, watched: WatchedMerchant): Promise<boolean> {
  const { store, clock, source } = parts
  const { merchant } = watched
  const depth = await depthOf(source)
  const touched = await recheck(parts, merchant, depth)
  const from = await firstBlock(parts, watched, depth)
  // Read after the head: the address of a later invoice is unknown in the blocks up to it.
  const open = await depositsOf(parts, merchant, 'open')
  const last = from + INVOICE_RULES.look_blocks - 1n
  const read = await scan(parts, seen, {
    merchant,
    recipients: [merchant, ...open],
    from,
    last: last < depth.head ? last : depth.head,
    depth,
  })
  const now_ms = clock.now_ms()
  await updateClosed(store, [...touched, ...read.touched], Math.floor(now_ms / 1_000))
  let next = nextBlock(from, read.to, depth.final)
  // Each block is read once, after it is final.
  if (next > from) {
    await noteNamed(parts, merchant, { from, to: next - 1n }, now_ms)
    const recipients = await depositsOf(parts, merchant, 'late')
    const late = await scan(parts, seen, { merchant, recipients, from, last: next - 1n, depth })
    next = late.to + 1n
    await updateClosed(store, late.touched, Math.floor(now_ms / 1_000))
    for (const forward of read.forwards.filter(({ block_number }) => BigInt(block_number) < next)) await store.note_forward(forward, now_ms)
  }
  const current = read.to >= depth.head
  // When it was not read up to the head, the time of the look is stored as outdated: the record is stale, and the merchant is read again before
  // those that are current.
  await store.record_watch(merchant, Number(next), current ? now_ms : now_ms - INVOICE_RULES.stale_ms - 1)
  return current
}

/** Deposit addresses of the watched invoices of a merchant. */
async function depositsOf({ store, clock }: WatchParts, merchant: string, which: 'open' | 'late'): Promise<string[]> {
  const now_s = Math.floor(clock.now_ms() / 1_000)
  const addresses: string[] = []
  for (let after = 0; addresses.length < INVOICE_RULES.deposits_watched;) {
    const page = await store.deposits_of(merchant, which, now_s, after, INVOICE_RULES.deposits_page)
    addresses.push(...page.flatMap(({ deposit_address }) => deposit_address ?? []))
    const last = page.at(-1)
    if (last === undefined || page.length < INVOICE_RULES.deposits_page) break
    after = last.number
  }
  return addresses
}

/** First block to read. After a long time without a look, blocks before the oldest watched invoice are skipped. */
async function firstBlock({ source }: WatchParts, { next_block, since_ms }: WatchedMerchant, { head }: Depth): Promise<bigint> {
  const known = next_block === null ? 0n : BigInt(next_block)
  if (next_block !== null && head - known <= INVOICE_RULES.look_blocks) return known
  const since = await blockBefore(source.chain, Math.floor(since_ms / 1_000) - INVOICE_RULES.skew_s)
  return since > known ? since : known
}

/** Updates payments whose block was not final: it is deeper now, or the payment moved to another block or was removed by a reorganisation. */
async function recheck(parts: WatchParts, merchant: string, depth: Depth): Promise<string[]> {
  const { store, source, clock } = parts
  const rows = await store.unfinal(merchant, INVOICE_RULES.payments_rechecked)
  const touched: string[] = []
  for (const [number, group] of Map.groupBy(rows, ({ block_number }) => block_number)) {
    const header = await source.chain.header(BigInt(number))
    for (const row of group) {
      const is_same_block = header !== null && header.hash === row.block_hash
      const now = is_same_block ? row : await findMoved(parts, row)
      if (now === null) await store.withdraw(row, clock.now_ms())
      else await updateDepth(parts, row, now, depth)
      touched.push(row.invoice_id)
    }
  }
  return touched
}

/** Finds the block that now has this payment; null when none has the same log: the payment is then withdrawn, and found again if it reappears. */
async function findMoved({ source }: WatchParts, row: InvoicePayment): Promise<InvoicePayment | null> {
  const receipt = await source.chain.receipt(row.transaction)
  const log = receipt?.logs.find((one) => one.log_index === row.log_index && one.address === source.token)
  if (receipt === null || log === undefined) return null
  const header = await source.chain.header(receipt.block_number)
  const moved = header === null || header.hash !== receipt.block_hash ? null : transferIn(log, receipt, header.timestamp_s)
  if (moved === null || moved.payer !== row.payer || moved.amount_minor !== row.amount_minor || moved.nonce !== row.nonce) return null
  return { ...row, block_number: moved.block_number, block_hash: moved.block_hash, block_time_s: moved.block_time_s }
}

async function updateDepth(
  { store, clock }: WatchParts,
  before: InvoicePayment,
  now: InvoicePayment,
  { head, final }: Depth,
): Promise<void> {
  const block = BigInt(now.block_number)
  const confirmed = isConfirmed(now.amount_minor, block, head, final)
  const is_final = final !== null && block <= final
  if (before.block_hash === now.block_hash && before.confirmed === confirmed && before.final === is_final) return
  await store.settle_block({ ...now, confirmed, final: is_final }, clock.now_ms())
}

interface Range {
  merchant: string
  /** Addresses whose incoming transfers are read. */
  recipients: readonly string[]
  from: bigint
  last: bigint
  depth: Depth
}

/** Incoming transfers of the token, in the order of the chain. Nodes limit the number of addresses in one search. */
async function incoming({ source }: WatchParts, { recipients, from, last }: Range): Promise<ChainLog[]> {
  const found: ChainLog[] = []
  for (let at = 0; at < recipients.length; at += INVOICE_RULES.deposits_page) {
    const topics = [TRANSFER_TOPIC, null, recipients.slice(at, at + INVOICE_RULES.deposits_page).map(addressTopic)]
    found.push(...(await source.chain.logs({ address: source.token, topics, from_block: from, to_block: last })))
  }
  return found.toSorted((one, other) => Number(one.block_number - other.block_number) || one.log_index - other.log_index)
}

/** Reads the transfers in a bounded range of whole blocks and attributes those that pay an invoice. */
async function scan(parts: WatchParts, seen: RecentMap<SeenTransfer | 'none'>, range: Range) {
  const { store, clock } = parts
  const { merchant, from, last, depth } = range
  let to = last
  const logs = await incoming(parts, range)
  const forwards: DepositForward[] = []
  const known = new Set((await store.unfinal(merchant, INVOICE_RULES.payments_rechecked)).map(logKey))
  const touched: string[] = []
  let receipts = 0
  let block = from
  for (const log of logs) {
    if (receipts >= INVOICE_RULES.look_receipts && log.block_number > block) {
      to = log.block_number - 1n
      break
    }
    block = log.block_number
    if (known.has(logKey({ transaction: log.transaction_hash, log_index: log.log_index }))) continue
    const cache_key = `${log.block_hash}:${log.log_index}`
    let transfer = seen.get(cache_key)
    if (transfer === undefined) {
      receipts += 1
      const found = await readTransfer(parts, log)
      if (found === 'unread') {
        to = log.block_number - 1n
        break
      }
      seen.set(cache_key, (transfer = found))
    }
    if (transfer === 'none') continue
    const forward = await forwardOf(parts, transfer)
    if (forward !== null) forwards.push(forward)
    const invoice_id = await attributeTransfer(parts, transfer, depth, clock.now_ms())
    if (invoice_id !== null) touched.push(invoice_id)
  }
  return { to, touched, forwards }
}

/** The transfer as a forward of a deposit to its merchant; null for any other. */
async function forwardOf({ store }: WatchParts, seen: SeenTransfer): Promise<DepositForward | null> {
  const invoice = await store.find_by_deposit(seen.payer)
  if (invoice === null || invoice.merchant !== seen.recipient) return null
  const { transaction, log_index, amount_minor, block_number, block_time_s } = seen
  return { transaction, log_index, amount_minor, block_number, block_time_s, invoice_id: invoice.invoice_id }
}

/** Reads the transfer of a log. `unread`: the node has the log but not yet, or no longer, the rest of its block; `none`: not a transfer. */
async function readTransfer({ source }: WatchParts, log: ChainLog): Promise<SeenTransfer | 'none' | 'unread'> {
  const receipt = await source.chain.receipt(log.transaction_hash)
  if (receipt === null || receipt.block_hash !== log.block_hash) return 'unread'
  const header = await source.chain.header(log.block_number)
  if (header === null || header.hash !== log.block_hash) return 'unread'
  return transferIn(log, receipt, header.timestamp_s) ?? 'none'
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
  await updateClosed(store, attributed, Math.floor(clock.now_ms() / 1_000))
  return { attributed, transfers }
}

/** Identity of a log that a reorganisation keeps: transaction and index. */
function logKey({ transaction, log_index }: { transaction: string; log_index: number }): string {
  return `${transaction}:${log_index}`
}

/**
 * Payments of an invoice in another asset: the record shows them as the exception wrong_asset, and they never count as paid. To avoid false
 * reports, only tokens of known addresses are read, and only where the payer's signature or a client that has the invoice's id names the invoice.
 */

function isPayee({ merchant, deposit_address }: StoredInvoice, address: string | null): boolean {
  return address !== null && (address === merchant || address === deposit_address)
}

/** Stores the other assets that one transaction moved to the merchant. Reads the transaction itself, since the chain's own coin leaves no log. */
async function noteSubmitted(
  parts: WatchParts,
  invoice: StoredInvoice,
  receipt: TransactionReceipt,
  header: BlockHeader,
  now_ms: number,
): Promise<void> {
  const { store, chain_id, transactions } = parts
  // A transaction older than the invoice paid something else.
  if (!receipt.succeeded || (header.timestamp_s + INVOICE_RULES.skew_s) * 1_000 < invoice.created_ms) return
  const origin = { transaction: receipt.transaction_hash, block_number: Number(receipt.block_number), block_time_s: header.timestamp_s }
  const seen: Omit<OtherAsset, 'invoice_id' | 'named_by'>[] = []
  const known = new Set(otherTokens(chain_id).map(({ address }) => address))
  for (const log of receipt.logs) {
    const moved = known.has(log.address) ? decodeTransfer(log) : null
    if (moved === null || !isPayee(invoice, moved.to) || moved.from === invoice.deposit_address || moved.value_minor === 0n) continue
    const asset = tokenAsset(chain_id, log.address)
    seen.push({ ...origin, log_index: log.log_index, asset, payer: moved.from, amount: moved.value_minor })
    if (seen.length >= INVOICE_RULES.other_assets) break
  }
  const coin = await transactions.transaction(receipt.transaction_hash)
  if (coin !== null && isPayee(invoice, coin.to) && coin.value_wei > 0n) {
    seen.push({ ...origin, log_index: -1, asset: coinAsset(chain_id), payer: coin.from, amount: coin.value_wei })
  }
  for (const one of seen) await store.note_other_asset({ ...one, invoice_id: invoice.invoice_id, named_by: 'submitted' }, now_ms)
}

/**
 * Stores payments in other tokens whose authorization has the nonce of an invoice, in a bounded range of final blocks. One log search for each
 * token with EIP-3009, and at most `look_receipts` receipts for it.
 */
async function noteNamed(parts: WatchParts, merchant: string, { from, to }: { from: bigint; to: bigint }, now_ms: number): Promise<void> {
  const { chain_id, source } = parts
  for (const { address } of otherTokens(chain_id).filter(({ eip3009 }) => eip3009)) {
    const topics = [TRANSFER_TOPIC, null, addressTopic(merchant)]
    const logs = await source.chain.logs({ address, topics, from_block: from, to_block: to })
    const transactions = new Set(logs.map(({ transaction_hash }) => transaction_hash))
    for (const transaction of [...transactions].slice(0, INVOICE_RULES.look_receipts)) {
      const receipt = await source.chain.receipt(transaction)
      const header = receipt === null ? null : await source.chain.header(receipt.block_number)
      if (receipt === null || header === null || !receipt.succeeded) continue
      await noteAuthorized(parts, { merchant, token: address, receipt, header }, now_ms)
    }
  }
}

async function noteAuthorized(
  { store, chain_id }: WatchParts,
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
    const origin = { transaction: receipt.transaction_hash, log_index: log.log_index, block_number: Number(receipt.block_number) }
    const payment = { asset: tokenAsset(chain_id, token), payer: moved.from, amount: moved.value_minor, block_time_s: header.timestamp_s }
    await store.note_other_asset({ ...origin, ...payment, invoice_id: invoice.invoice_id, named_by: 'nonce' }, now_ms)
  }
}
