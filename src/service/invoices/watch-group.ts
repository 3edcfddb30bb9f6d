import type { ChainLog, ChainTransactions } from '../../ports/chain.ts'
import type { Clock } from '../../ports/clock.ts'
import { WATCH_MARGIN_S, type DepositForward, type InvoicePayment, type MerchantLook, type WatchedMerchant } from '../../ports/invoices.ts'
import type { Log } from '../../ports/log.ts'
import { isConfirmed } from '../../pure/invoices/standing.ts'
import { addressTopic, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import { INVOICE_RULES } from '../limits.ts'
import { blockBefore, type EvidenceSource, finalHeader } from '../payments/settlement.ts'
import type { RecentMap } from '../recent.ts'
import { attributeTransfer, type AttributeParts, type Depth, type SeenTransfer, transferIn, updateClosed } from './attribution.ts'
import { noteNamed } from './other-assets.ts'

export interface WatchParts extends AttributeParts {
  chain_id: number
  transactions: ChainTransactions
  source: EvidenceSource
  clock: Clock
  log: Log
}

/** Transfers that were read, by block and log, so that a look reads only the receipts of new ones. */
export type ReadTransfers = RecentMap<SeenTransfer | 'none'>

/** State of one round of looks: what it has read of the chain serves all its merchants. */
export interface LookRound {
  depth: Depth
  seen: ReadTransfers
  /** Log searches of this round so far. */
  searches: number
  /** Blocks by time in minutes. */
  blocks: Map<number, bigint>
  headers: Map<number, { hash: string } | null>
  /** Merchants with payments in blocks that were not final when the round began. */
  unsettled: ReadonlySet<string>
  /** Invoices whose payments changed in this round, and those of them whose row does not show yet whether they are settled. */
  paid: Set<string>
  unclosed: Set<string>
}

export async function startRound({ source }: WatchParts, seen: ReadTransfers, unsettled: readonly string[]): Promise<LookRound> {
  const depth = await depthOf(source)
  const read = { blocks: new Map<number, bigint>(), headers: new Map<number, { hash: string } | null>() }
  return { depth, seen, searches: 0, ...read, unsettled: new Set(unsettled), paid: new Set(), unclosed: new Set() }
}

export async function depthOf(source: EvidenceSource): Promise<Depth> {
  const { number } = await source.chain.head()
  return { head: number, final: (await finalHeader(source))?.number ?? null }
}

/** A merchant and the first block that is to be read for it. */
export interface PlacedMerchant {
  watched: WatchedMerchant
  from: bigint
}

/** First block to read. After a long time without a look, blocks before the oldest watched invoice are skipped. */
export async function placeMerchant(parts: WatchParts, round: LookRound, watched: WatchedMerchant): Promise<PlacedMerchant> {
  const { next_block, merchant } = watched
  const known = next_block === null ? 0n : BigInt(next_block)
  if (next_block !== null && round.depth.head - known <= INVOICE_RULES.look_blocks) return { watched, from: known }
  const since_ms = (await parts.store.watched_since(merchant, readAfter(watched))) ?? parts.clock.now_ms()
  // To the minute, so that merchants with their first invoice share one search.
  const minute = Math.floor((since_ms / 1_000 - INVOICE_RULES.skew_s) / 60)
  const since = round.blocks.get(minute) ?? (await blockBefore(parts.source.chain, minute * 60))
  round.blocks.set(minute, since)
  return { watched, from: since > known ? since : known }
}

/** Second up to which the watch of an invoice had ended when its transfers were read the last time. */
function readAfter({ looked_ms }: WatchedMerchant): number {
  return Math.max(0, Math.floor(looked_ms / 1_000) - WATCH_MARGIN_S)
}

/**
 * Rechecks the stored payments of merchants and reads their new transfers, all in the same log searches. Returns the merchants whose transfers were
 * read up to the head; `crowded` when they have too many transfers or deposit addresses for one look, and are to be looked at in smaller groups.
 */
export async function lookAtGroup(
  parts: WatchParts,
  round: LookRound,
  group: readonly PlacedMerchant[],
): Promise<ReadonlySet<string> | 'crowded'> {
  try {
    return await readGroup(parts, round, group)
  } finally {
    // A search that failed or was given up may have found payments before.
    await updateClosed(parts.store, round.unclosed, Math.floor(parts.clock.now_ms() / 1_000))
    round.unclosed.clear()
  }
}

async function readGroup(parts: WatchParts, round: LookRound, group: readonly PlacedMerchant[]): Promise<ReadonlySet<string> | 'crowded'> {
  const { store, clock } = parts
  const { depth } = round
  const merchants = group.map(({ watched }) => watched.merchant)
  const from = group.reduce((least, one) => (one.from < least ? one.from : least), group[0]?.from ?? 0n)
  const known = await recheck(parts, round, merchants)
  // Read after the head: the address of a later invoice is unknown in the blocks up to it.
  const at_s = Math.min(...group.map(({ watched }) => readAfter(watched)))
  const open = await depositsOf(parts, merchants, 'open', at_s)
  if (open === 'crowded') return 'crowded'
  const last = from + INVOICE_RULES.look_blocks - 1n
  const recipients = [...merchants, ...[...open.values()].flat()]
  const read = await scan(parts, round, { recipients, from, last: last < depth.head ? last : depth.head, known })
  if (read.crowded && group.length > 1) return 'crowded'
  const now_ms = clock.now_ms()
  let closed_to = depth.final === null ? from - 1n : depth.final < read.to ? depth.final : read.to
  const closing = group.filter((one) => one.from <= closed_to).map(({ watched }) => watched.merchant)
  // Each block is read once, after it is final.
  if (closing.length > 0) {
    const late = await readFinal(parts, round, { merchants: closing, at_s, from, last: closed_to }, now_ms)
    if (late === 'crowded' || (late.crowded && group.length > 1)) return 'crowded'
    closed_to = late.to
    const forwards = [...read.forwards, ...late.forwards].filter(({ block_number }) => BigInt(block_number) <= closed_to)
    for (const forward of forwards) await store.note_forward(forward, now_ms)
  }
  const is_current = read.to >= depth.head
  const paid = await merchantsOf(parts, round.paid)
  const looks: MerchantLook[] = []
  for (const { watched, from: own_from } of group) {
    const is_paid = paid.has(watched.merchant)
    const proven = await isProven(parts, watched, is_paid, open.get(watched.merchant)?.length ?? 0)
    const next_block = own_from <= closed_to ? closed_to + 1n : own_from
    looks.push(lookOf({ ...watched, proven }, next_block, { now_ms, is_current, is_crowded: read.crowded, is_paid }))
  }
  await store.record_looks(looks)
  return new Set(is_current ? merchants : [])
}

/** The next look at a merchant, and how far it was read. */
function lookOf(
  { merchant, wait_ms, due_ms, rank_ms, proven }: WatchedMerchant,
  next_block: bigint,
  { now_ms, is_current, is_crowded, is_paid }: { now_ms: number; is_current: boolean; is_crowded: boolean; is_paid: boolean },
): MerchantLook {
  // When it was not read up to the head, the time of the look is stored as outdated: the record is stale.
  const looked_ms = is_current ? now_ms : now_ms - INVOICE_RULES.stale_ms - 1
  const is_behind = !is_current && (proven || !is_crowded)
  // One that is read before it is due keeps its time.
  if (due_ms > now_ms && !is_paid && !is_behind)
    return { merchant, next_block: Number(next_block), looked_ms, proven, wait_ms, due_ms, rank_ms, was_due_ms: due_ms }
  const wait = is_paid || is_behind ? INVOICE_RULES.watch_every_ms : longerWait(wait_ms, proven ? 'wait_proven_ms' : 'wait_new_ms')
  return { merchant, next_block: Number(next_block), looked_ms, proven, ...dueAfter(wait, now_ms), was_due_ms: due_ms }
}

/** Twice the pause, up to a limit. */
function longerWait(wait_ms: number, most: 'wait_proven_ms' | 'wait_new_ms' | 'wait_crowded_ms'): number {
  return Math.min(Math.max(2 * wait_ms, INVOICE_RULES.watch_every_ms), INVOICE_RULES[most])
}

/** Half an interval early, since the rounds do not come exactly in their interval. */
function dueAfter(wait_ms: number, now_ms: number): Pick<MerchantLook, 'wait_ms' | 'due_ms' | 'rank_ms'> {
  const due_ms = now_ms + wait_ms - INVOICE_RULES.watch_every_ms / 2
  return { wait_ms, due_ms, rank_ms: due_ms + wait_ms }
}

/** Puts off a merchant whose transfers the chain did not give. */
export async function putOff({ store, clock }: WatchParts, { watched, from }: PlacedMerchant): Promise<void> {
  const { merchant, looked_ms, proven, wait_ms, due_ms } = watched
  const after = dueAfter(longerWait(Math.max(wait_ms, INVOICE_RULES.stale_ms), 'wait_crowded_ms'), clock.now_ms())
  await store.record_looks([{ merchant, looked_ms, proven, next_block: Number(from), ...after, was_due_ms: due_ms }])
}

/** Each invoice that was paid on the chain gives room for a number of open ones, so that a payment to oneself does not buy looks for thousands. */
async function isProven({ store }: WatchParts, { merchant, proven }: WatchedMerchant, is_paid: boolean, open: number): Promise<boolean> {
  const { proven_open } = INVOICE_RULES
  if (!is_paid && (!proven || open <= proven_open)) return proven
  const needed = Math.max(1, Math.ceil(open / proven_open))
  return (await store.paid_invoices(merchant, needed)) >= needed
}

async function merchantsOf({ store }: WatchParts, invoice_ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = await Promise.all([...invoice_ids].map((invoice_id) => store.find(invoice_id)))
  return new Set(found.flatMap((invoice) => invoice?.merchant ?? []))
}

/** Deposit addresses of the watched invoices of each merchant. Only those of one merchant alone are read page by page. */
async function depositsOf(
  { store }: WatchParts,
  merchants: readonly string[],
  which: 'open' | 'late',
  at_s: number,
): Promise<Map<string, string[]> | 'crowded'> {
  const [only] = merchants
  if (only !== undefined && merchants.length === 1) return new Map([[only, await allDepositsOf(store, only, which, at_s)]])
  const { group_deposits } = INVOICE_RULES
  const rows = await store.deposits_among(merchants, which, at_s, group_deposits)
  if (rows.length >= group_deposits) return 'crowded'
  const byMerchant = Map.groupBy(rows, ({ merchant }) => merchant)
  return new Map([...byMerchant].map(([merchant, own]) => [merchant, own.flatMap(({ deposit_address }) => deposit_address ?? [])]))
}

async function allDepositsOf(store: WatchParts['store'], merchant: string, which: 'open' | 'late', at_s: number): Promise<string[]> {
  const addresses: string[] = []
  for (let after = 0; addresses.length < INVOICE_RULES.deposits_watched;) {
    const page = await store.deposits_of(merchant, which, at_s, after, INVOICE_RULES.deposits_page)
    addresses.push(...page.flatMap(({ deposit_address }) => deposit_address ?? []))
    const last = page.at(-1)
    if (last === undefined || page.length < INVOICE_RULES.deposits_page) break
    after = last.number
  }
  return addresses
}

/** Reads final blocks for what is not searched in newer ones: payments in other tokens, and transfers to the other deposit addresses. */
async function readFinal(
  parts: WatchParts,
  round: LookRound,
  { merchants, at_s, from, last }: { merchants: readonly string[]; at_s: number; from: bigint; last: bigint },
  now_ms: number,
) {
  const late = await depositsOf(parts, merchants, 'late', at_s)
  if (late === 'crowded') return late
  round.searches += Math.ceil(merchants.length / INVOICE_RULES.deposits_page)
  await noteNamed(parts, merchants, { from, to: last }, now_ms)
  return scan(parts, round, { recipients: [...late.values()].flat(), from, last, known: new Set() })
}

/**
 * Updates payments whose block was not final: it is deeper now, or the payment moved to another block or was removed by a reorganisation. Returns the
 * keys of those that stay, which are not read again.
 */
async function recheck(parts: WatchParts, round: LookRound, merchants: readonly string[]): Promise<ReadonlySet<string>> {
  const { store, clock } = parts
  const known = new Set<string>()
  for (const merchant of merchants.filter((one) => round.unsettled.has(one))) {
    for (const row of await store.unfinal(merchant, INVOICE_RULES.payments_rechecked)) {
      const header = await headerOf(parts, round, row.block_number)
      const now = header?.hash === row.block_hash ? row : await findMoved(parts, row)
      noteTouched(round, row.invoice_id)
      if (now === null) {
        await store.withdraw(row, clock.now_ms())
        continue
      }
      known.add(logKey(row))
      await updateDepth(parts, row, now, round.depth)
    }
  }
  return known
}

function noteTouched({ paid, unclosed }: LookRound, invoice_id: string): void {
  paid.add(invoice_id)
  unclosed.add(invoice_id)
}

/** Header of a block, read once in a round. */
async function headerOf({ source }: WatchParts, { headers }: LookRound, number: number): Promise<{ hash: string } | null> {
  const read = headers.get(number)
  if (read !== undefined) return read
  const header = await source.chain.header(BigInt(number))
  headers.set(number, header)
  return header
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
  /** Addresses whose incoming transfers are read. */
  recipients: readonly string[]
  from: bigint
  last: bigint
  /** Transfers that are stored. */
  known: ReadonlySet<string>
}

/** Incoming transfers of the token, in the order of the chain. Nodes limit the number of addresses in one search. */
async function incoming({ source }: WatchParts, round: LookRound, { recipients, from, last }: Range): Promise<ChainLog[]> {
  const found: ChainLog[] = []
  for (let at = 0; at < recipients.length; at += INVOICE_RULES.deposits_page) {
    const topics = [TRANSFER_TOPIC, null, recipients.slice(at, at + INVOICE_RULES.deposits_page).map(addressTopic)]
    round.searches += 1
    found.push(...(await source.chain.logs({ address: source.token, topics, from_block: from, to_block: last })))
  }
  return found.toSorted((one, other) => Number(one.block_number - other.block_number) || one.log_index - other.log_index)
}

/** Reads the transfers in a bounded range of whole blocks and attributes those that pay an invoice. `crowded`: it ended before the range did. */
async function scan(parts: WatchParts, round: LookRound, range: Range) {
  const { clock } = parts
  const { from, last, known } = range
  const end = { to: last, crowded: false }
  const logs = await incoming(parts, round, range)
  const forwards: DepositForward[] = []
  let receipts = 0
  let block = from
  for (const log of logs) {
    if (receipts >= INVOICE_RULES.look_receipts && log.block_number > block) {
      Object.assign(end, { to: log.block_number - 1n, crowded: true })
      break
    }
    block = log.block_number
    if (known.has(logKey({ transaction: log.transaction_hash, log_index: log.log_index }))) continue
    const cache_key = `${log.block_hash}:${log.log_index}`
    let transfer = round.seen.get(cache_key)
    if (transfer === undefined) {
      receipts += 1
      const found = await readTransfer(parts, log)
      if (found === 'unread') {
        end.to = log.block_number - 1n
        break
      }
      round.seen.set(cache_key, (transfer = found))
    }
    if (transfer === 'none') continue
    const forward = await forwardOf(parts, transfer)
    if (forward !== null) forwards.push(forward)
    const invoice_id = await attributeTransfer(parts, transfer, round.depth, clock.now_ms())
    if (invoice_id !== null) noteTouched(round, invoice_id)
  }
  return { ...end, forwards }
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

/** Identity of a log that a reorganisation keeps: transaction and index. */
function logKey({ transaction, log_index }: { transaction: string; log_index: number }): string {
  return `${transaction}:${log_index}`
}
