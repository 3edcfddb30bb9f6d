import type { LedgerQuery, Payment, PaymentStore } from '../../ports/payments.ts'
import type { PaymentState } from '../../pure/payments/states.ts'
import type { Chain, ChainLog, TransactionReceipt } from '../../ports/chain.ts'
import { addressTopic, decodeAuthorizationUsed, decodeTransfer, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import type { ChannelStore } from '../../ports/channels.ts'
import { CHANNEL_SETTLEMENT } from '../../pure/payments/channels.ts'
import { type ChannelProof, proveChannels } from './channel-chain.ts'
import { blockBefore, settlementProof } from './settlement.ts'

/** Members of a payment that are compared with the chain. */
export type SettledRow = Pick<Payment, 'payer' | 'nonce' | 'value_minor' | 'transaction' | 'block_number' | 'block_hash' | 'final'>

/** Transfer event of the token to pay_to. */
export interface LedgerTransfer {
  from: string
  value_minor: bigint
  transaction: string
  block_number: number
  block_hash: string
  log_index: number
  /** Nonce of the sender's authorization that the preceding log reports as used; null for a transfer without one. */
  nonce: string | null
}

export interface Tally {
  count: number
  value_minor: bigint
}

/** Exact count and sum, with the first items only. */
interface TallyWithItems<Item> extends Tally {
  first: Item[]
}

/**
 * `no_transaction`: the chain has no transaction with this hash. `no_transfer`: that transaction does not move this value for this
 * authorization. `other_value`, `other_place`: the transfer exists with another value, or in another transaction or block. `not_in_logs`:
 * the receipt proves the transfer and the log search omitted it, so the node is unreliable.
 */
type DifferenceKind = 'no_transaction' | 'no_transfer' | 'other_value' | 'other_place' | 'not_in_logs'

export interface Difference {
  kind: DifferenceKind
  row: SettledRow
  /** Transfer of this authorization, if there is one. */
  transfer: LedgerTransfer | null
}

/** Transfer without a settled row; `state` is that of the row of its authorization, if the ledger has one. */
export interface ForeignTransfer extends LedgerTransfer {
  state: PaymentState | null
}

interface LedgerProof {
  /** Every settled row has its Transfer where the row says, and both sides have the same count and sum without foreign transfers. */
  proved: boolean
  /** Settled rows whose recipient is pay_to. */
  rows: Tally
  /** Rows among them whose block a reorganisation may still remove. */
  not_final: TallyWithItems<SettledRow>
  transfers: Tally
  foreign: TallyWithItems<ForeignTransfer>
  differences: TallyWithItems<Difference>
}

/** Maximum number of listed items, so that dust sent to a public address cannot fill the memory. */
export const LISTED_MAX = 1_000

/**
 * Compares settled rows with Transfers to pay_to. Both may be added in any order; a matched pair is dropped, so only unmatched rows and
 * transfers take memory.
 */
export class LedgerComparison {
  readonly #rows = new Map<string, SettledRow>()
  readonly #transfers = new Map<string, LedgerTransfer>()
  readonly #row_tally: Tally = { count: 0, value_minor: 0n }
  readonly #transfer_tally: Tally = { count: 0, value_minor: 0n }
  readonly #not_final = new Map<string, SettledRow>()
  readonly #not_final_tally: Tally = { count: 0, value_minor: 0n }
  readonly #foreign: TallyWithItems<ForeignTransfer> = { count: 0, value_minor: 0n, first: [] }
  readonly #differences: TallyWithItems<Difference> = { count: 0, value_minor: 0n, first: [] }

  /** Adds a settled row; call once for each. */
  addRow(row: SettledRow): void {
    addToTally(this.#row_tally, row, 1)
    if (!row.final) {
      addToTally(this.#not_final_tally, row, 1)
      if (this.#not_final.size < LISTED_MAX) this.#not_final.set(ledgerKey(row.payer, row.nonce), row)
    }
    const key = ledgerKey(row.payer, row.nonce)
    const transfer = this.#transfers.get(key)
    if (transfer === undefined) this.#rows.set(key, row)
    else this.#match(key, row, transfer)
  }

  /** Adds a Transfer to pay_to; call once for each. */
  addTransfer(transfer: LedgerTransfer): void {
    addToTally(this.#transfer_tally, transfer, 1)
    if (transfer.nonce === null) return this.#addForeign(transfer, null)
    const key = ledgerKey(transfer.from, transfer.nonce)
    const row = this.#rows.get(key)
    if (row === undefined) this.#transfers.set(key, transfer)
    else this.#match(key, row, transfer)
  }

  /** Removes an unmatched row that is no longer settled, or whose recipient is another. */
  removeRow(row: SettledRow): void {
    const key = ledgerKey(row.payer, row.nonce)
    if (!this.#rows.delete(key)) return
    addToTally(this.#row_tally, row, -1)
    if (row.final) return
    addToTally(this.#not_final_tally, row, -1)
    this.#not_final.delete(key)
  }

  unmatchedRows(): SettledRow[] {
    return [...this.#rows.values()]
  }

  unmatchedTransfers(): LedgerTransfer[] {
    return [...this.#transfers.values()]
  }

  /** Records an unmatched row as a difference. */
  rejectRow(row: SettledRow, kind: DifferenceKind): void {
    if (this.#rows.delete(ledgerKey(row.payer, row.nonce))) this.addDifference({ kind, row, transfer: null })
  }

  /** Records an unmatched Transfer as foreign; `state` as in ForeignTransfer. */
  rejectTransfer(transfer: LedgerTransfer, state: PaymentState | null): void {
    if (transfer.nonce !== null && this.#transfers.delete(ledgerKey(transfer.from, transfer.nonce))) this.#addForeign(transfer, state)
  }

  /** Records a difference that was found without a Transfer. */
  addDifference(difference: Difference): void {
    addToList(this.#differences, difference, difference.row)
  }

  /** Returns the result. Rows and transfers that are still unmatched count as differences and as foreign. */
  finish(): LedgerProof {
    for (const row of this.unmatchedRows()) this.rejectRow(row, 'no_transfer')
    for (const transfer of this.unmatchedTransfers()) this.rejectTransfer(transfer, null)
    const [rows, transfers, foreign] = [this.#row_tally, this.#transfer_tally, this.#foreign]
    const agree = rows.count === transfers.count - foreign.count && rows.value_minor === transfers.value_minor - foreign.value_minor
    return {
      proved: agree && this.#differences.count === 0,
      rows,
      not_final: { ...this.#not_final_tally, first: [...this.#not_final.values()] },
      transfers,
      foreign,
      differences: this.#differences,
    }
  }

  #match(key: string, row: SettledRow, transfer: LedgerTransfer): void {
    this.#rows.delete(key)
    this.#transfers.delete(key)
    const kind = differenceOf(row, transfer)
    if (kind !== null) this.addDifference({ kind, row, transfer })
  }

  #addForeign(transfer: LedgerTransfer, state: PaymentState | null): void {
    addToList(this.#foreign, { ...transfer, state }, transfer)
  }
}

function differenceOf(row: SettledRow, transfer: LedgerTransfer): DifferenceKind | null {
  if (row.value_minor !== transfer.value_minor) return 'other_value'
  const same_block = row.block_number === transfer.block_number && row.block_hash === transfer.block_hash
  return same_block && row.transaction === transfer.transaction ? null : 'other_place'
}

function ledgerKey(payer: string, nonce: string): string {
  return `${payer}:${nonce}`
}

function addToTally(tally: Tally, { value_minor }: { value_minor: bigint }, by: 1 | -1): void {
  tally.count += by
  tally.value_minor += BigInt(by) * value_minor
}

function addToList<Item>(listed: TallyWithItems<Item>, item: Item, value: { value_minor: bigint }): void {
  addToTally(listed, value, 1)
  if (listed.first.length < LISTED_MAX) listed.first.push(item)
}

/** Maximum number of blocks of a log query. */
const LOG_BLOCKS = 2_000n
/** A failed query of fewer blocks is not made smaller: its size is not the cause. */
const LOG_BLOCKS_MIN = 125n
/** Number of logs in an answer above which the next query is made smaller, well before nodes refuse it. */
const LOGS_COMFORT = 4_000
/** Receipts read in parallel. */
const RECEIPTS_AT_ONCE = 8

/** Transfers of a range of blocks, in chain order. */
interface TransferRange {
  to_block: bigint
  transfers: LedgerTransfer[]
}

/** Thrown when blocks were replaced while they were read. */
class ChainMovedError extends Error {
  override name = 'ChainMovedError'
}

interface TransferSource {
  chain: Pick<Chain, 'logs' | 'receipt'>
  /** Address of the token, lower case. */
  token: string
  pay_to: string
}

/**
 * Yields every Transfer of the token to pay_to, range by range from the first block to the last. The authorization of each comes from its
 * receipt, because a log search for AuthorizationUsed would return those of all payers. Rejects when the chain cannot be read, and with a
 * ChainMovedError.
 */
export async function* transfersTo(source: TransferSource, from_block: bigint, to_block: bigint): AsyncGenerator<TransferRange> {
  let blocks = LOG_BLOCKS
  for (let from = from_block; from <= to_block;) {
    const to = from + blocks - 1n < to_block ? from + blocks - 1n : to_block
    let logs: ChainLog[]
    try {
      logs = await transferLogs(source, from, to)
    } catch (error) {
      if (blocks <= LOG_BLOCKS_MIN) throw error
      blocks /= 2n
      continue
    }
    yield { to_block: to, transfers: await withNonces(source, logs) }
    from = to + 1n
    if (logs.length > LOGS_COMFORT) blocks = blocks > 1n ? blocks / 2n : 1n
    else if (logs.length < LOGS_COMFORT / 4) blocks = blocks * 2n < LOG_BLOCKS ? blocks * 2n : LOG_BLOCKS
  }
}

function transferLogs({ chain, token, pay_to }: TransferSource, from_block: bigint, to_block: bigint): Promise<ChainLog[]> {
  return chain.logs({ address: token, topics: [TRANSFER_TOPIC, null, addressTopic(pay_to)], from_block, to_block })
}

async function withNonces(source: TransferSource, logs: readonly ChainLog[]): Promise<LedgerTransfer[]> {
  const hashes = [...new Set(logs.map(({ transaction_hash }) => transaction_hash))]
  const found: LedgerTransfer[] = []
  for (let start = 0; start < hashes.length; start += RECEIPTS_AT_ONCE) {
    const some = hashes.slice(start, start + RECEIPTS_AT_ONCE)
    const receipts = await Promise.all(some.map((hash) => source.chain.receipt(hash)))
    for (const [index, hash] of some.entries()) {
      const own = logs.filter(({ transaction_hash }) => transaction_hash === hash)
      found.push(...own.map((log) => toLedgerTransfer(source.token, log, receipts[index] ?? null)))
    }
  }
  return found
}

function toLedgerTransfer(token: string, log: ChainLog, receipt: TransactionReceipt | null): LedgerTransfer {
  const transfer = decodeTransfer(log)
  const same = receipt?.logs.some(({ log_index, block_hash }) => log_index === log.log_index && block_hash === log.block_hash) ?? false
  if (transfer === null || receipt === null || !same) {
    throw new ChainMovedError('A reorganisation replaced blocks while they were read; run the proof again.')
  }
  const before = receipt.logs.find(({ log_index, address }) => log_index === log.log_index - 1 && address === token)
  const used = before === undefined ? null : decodeAuthorizationUsed(before)
  const { transaction_hash: transaction, block_hash, log_index } = log
  const nonce = used?.payer === transfer.from ? used.nonce : null
  return {
    from: transfer.from,
    value_minor: transfer.value_minor,
    transaction,
    block_number: Number(log.block_number),
    block_hash,
    log_index,
    nonce,
  }
}

/** Maximum difference between the clocks of store and chain. */
const CLOCK_SKEW_S = 120
/** Rows of a page read from the store. */
const PAGE_ROWS = 500

interface LedgerProofSource {
  payments: Pick<PaymentStore, 'ledger' | 'find'>
  /** Left out, payment channels are not proved. */
  channels?: { store: Pick<ChannelStore, 'list' | 'find' | 'charges'>; chain: Pick<Chain, 'read'> }
  chain: Pick<Chain, 'head' | 'header' | 'logs' | 'receipt'>
  /** Address of the token, lower case. */
  token: string
  /** Its asset in the rows; left out, that of USDC on the network of the deployment. */
  asset?: string | null
  pay_to: string
  /** Called with the last block that has been read, and with the head. */
  onProgress(block: bigint, head: bigint): void
}

export interface ProvedLedger extends LedgerProof {
  /** Blocks that were read; null without payments. */
  range: { from_block: bigint; to_block: bigint } | null
  /** Rows that were settled after the range while the proof ran; the next proof covers them. */
  newer: Tally
  /** Settled rows whose recipient is not pay_to, such as merchants of invoices; each is proved by its receipt. */
  to_others: Tally
  /** Rows that were paid with vouchers; the channels prove them. */
  vouchers: Tally
  /** Null without payment channels. */
  channels: ChannelProof | null
}

/**
 * Proves the ledger against the chain, from the block of the first payment to the head. Rows that change meanwhile are checked again at the
 * end, so that a running service does not disturb the proof. Rejects as store and chain do, and with a ChainMovedError.
 */
export async function proveLedger(source: LedgerProofSource): Promise<ProvedLedger> {
  const asset = source.asset ?? null
  const [first] = await source.payments.ledger({ asset, limit: 1 })
  const run = new ProofRun(source, await source.chain.head())
  if (first === undefined) return run.finish(null, null)
  const to_block = run.head.number
  const early = await blockBefore(source.chain, Math.floor(first.created_ms / 1_000) - CLOCK_SKEW_S)
  const from_block = early < to_block ? early : to_block
  const pages = ledgerPages(source.payments, { state: 'settled', asset, limit: PAGE_ROWS })
  for await (const part of transfersTo(source, from_block, to_block)) {
    for (const transfer of part.transfers) run.takeTransfer(transfer)
    await run.takeRows(pages, part.to_block)
    source.onProgress(part.to_block, to_block)
  }
  await run.takeRows(pages, null)
  await run.recheckUnmatched()
  return run.finish(
    { from_block, to_block },
    source.channels === undefined ? null : await proveChannels({ ...source, ...source.channels, asset }, to_block, run.paid_out_minor),
  )
}

/** Yields the rows of a query, page by page in the order of creation. */
export async function* ledgerPages(payments: Pick<PaymentStore, 'ledger'>, query: LedgerQuery): AsyncGenerator<Payment[]> {
  let page = await payments.ledger(query)
  for (;;) {
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (page.length < query.limit) return
    const { created_ms, payer, nonce } = last
    // `from_ms` repeats the bound of `after` because an index uses it; without it each page would scan from the first row.
    page = await payments.ledger({ ...query, from_ms: created_ms, after: { created_ms, payer, nonce } })
  }
}

class ProofRun {
  readonly comparison = new LedgerComparison()
  readonly head: { number: bigint }
  readonly #source: LedgerProofSource
  readonly #newer: Tally = { count: 0, value_minor: 0n }
  readonly #to_others: Tally = { count: 0, value_minor: 0n }
  readonly #vouchers: Tally = { count: 0, value_minor: 0n }
  /** Sum of what the contract of payment channels sent. */
  paid_out_minor = 0n
  /** Newest creation time of the rows read so far. */
  #created_ms = Number.NEGATIVE_INFINITY

  constructor(source: LedgerProofSource, head: { number: bigint }) {
    this.#source = source
    this.head = head
  }

  /** Reads pages until their rows are as new as the block, so that few rows and transfers wait for a match; null reads all. */
  async takeRows(pages: AsyncGenerator<Payment[]>, block: bigint | null): Promise<void> {
    const header = block === null ? null : await this.#source.chain.header(block)
    const until_ms = header === null ? Number.POSITIVE_INFINITY : header.timestamp_s * 1_000
    while (this.#created_ms < until_ms) {
      const next = await pages.next()
      if (next.done === true) return
      for (const row of next.value) await this.#takeRow(row)
    }
  }

  /** Compares unmatched rows and transfers with the current rows of the store, and records the reason for those that stay unmatched. */
  async recheckUnmatched(): Promise<void> {
    const { comparison } = this
    for (const row of comparison.unmatchedRows()) {
      comparison.removeRow(row)
      const now = await this.#source.payments.find({ payer: row.payer, nonce: row.nonce })
      if (now?.state === 'settled') await this.#takeRow(now)
    }
    for (const transfer of comparison.unmatchedTransfers()) {
      const { from: payer, nonce } = transfer
      const known = nonce === null ? null : await this.#source.payments.find({ payer, nonce })
      const row = known?.asset === (this.#source.asset ?? null) ? known : null
      if (row?.state === 'settled' && row.to === this.#source.pay_to && !this.#isNewer(row)) comparison.addRow(row)
      else comparison.rejectTransfer(transfer, row?.state ?? null)
    }
    // Only listed rows show their reason.
    for (const row of comparison.unmatchedRows().slice(0, LISTED_MAX)) comparison.rejectRow(row, await this.#whyMissing(row))
  }

  /** A payout of payment channels settles many rows and carries no authorization; the channels prove it. */
  takeTransfer(transfer: LedgerTransfer): void {
    if (transfer.nonce === null && transfer.from === CHANNEL_SETTLEMENT) this.paid_out_minor += transfer.value_minor
    else this.comparison.addTransfer(transfer)
  }

  finish(range: ProvedLedger['range'], channels: ChannelProof | null): ProvedLedger {
    const transfers = this.comparison.finish()
    const proved = transfers.proved && channels?.proved !== false
    return { ...transfers, proved, range, newer: this.#newer, to_others: this.#to_others, vouchers: this.#vouchers, channels }
  }

  async #takeRow(row: Payment): Promise<void> {
    this.#created_ms = Math.max(this.#created_ms, row.created_ms)
    if (row.method === 'channel') return addToTally(this.#vouchers, row, 1)
    if (this.#isNewer(row)) return addToTally(this.#newer, row, 1)
    if (row.to === this.#source.pay_to) return this.comparison.addRow(row)
    addToTally(this.#to_others, row, 1)
    const finding = await this.#checkReceipt(row)
    if (finding !== 'proved') this.comparison.addDifference({ kind: finding, row, transfer: null })
  }

  #isNewer({ block_number }: SettledRow): boolean {
    return block_number !== null && BigInt(block_number) > this.head.number
  }

  async #whyMissing(row: SettledRow): Promise<DifferenceKind> {
    const full = await this.#source.payments.find({ payer: row.payer, nonce: row.nonce })
    const finding = full === null ? 'no_transfer' : await this.#checkReceipt(full)
    return finding === 'proved' ? 'not_in_logs' : finding
  }

  /** Checks a row by the receipt of the row's transaction. */
  async #checkReceipt(row: Payment): Promise<'proved' | 'no_transaction' | 'no_transfer' | 'other_place'> {
    const receipt = row.transaction === null ? null : await this.#source.chain.receipt(row.transaction)
    if (receipt === null) return 'no_transaction'
    const at = settlementProof(receipt, row, this.#source.token)
    if (at === null) return 'no_transfer'
    return at.block_number === row.block_number && at.block_hash === row.block_hash ? 'proved' : 'other_place'
  }
}
