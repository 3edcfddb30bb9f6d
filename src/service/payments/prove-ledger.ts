import type { LedgerQuery, Payment, PaymentStore } from '../../ports/payments.ts'
import type { PaymentState } from '../../pure/payments/states.ts'
import type { Chain, ChainLog, TransactionReceipt } from '../../ports/chain.ts'
import { addressTopic, decodeAuthorizationUsed, decodeTransfer, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import { blockBefore, proofIn } from './evidence.ts'

/**
 * Compares what the ledger calls settled with what the token moved to pay-to. Both sides may come in any order and in parts: whatever has met
 * its other half is forgotten, so that only what is still alone takes memory.
 */

/** What of a payment has to be on the chain. */
export type SettledRow = Pick<Payment, 'payer' | 'nonce' | 'value_minor' | 'transaction' | 'block_number' | 'block_hash' | 'final'>

/** One Transfer of the token to pay-to. */
export interface LedgerTransfer {
  from: string
  value_minor: bigint
  transaction: string
  block_number: number
  block_hash: string
  log_index: number
  /** Of the authorization of the sender that the log right before says was used; null where somebody just sent money. */
  nonce: string | null
}

export interface Tally {
  count: number
  value_minor: bigint
}

/** Exact count and sum; of the items only the first are kept. */
interface Listed<Item> extends Tally {
  first: Item[]
}

/**
 * `no_transaction`: the chain knows no transaction of this hash. `no_transfer`: that transaction does not move this value for this
 * authorization. `other_value`, `other_place`: it was moved, but not as the row says. `not_in_logs`: the receipt proves it and the search of
 * logs left it out, so the node is not to be trusted.
 */
type DifferenceKind = 'no_transaction' | 'no_transfer' | 'other_value' | 'other_place' | 'not_in_logs'

export interface Difference {
  kind: DifferenceKind
  row: SettledRow
  /** The Transfer of this authorization, where there is one. */
  transfer: LedgerTransfer | null
}

/** A Transfer that no settled row accounts for; `state` is that of the row of its authorization, where this ledger has one. */
export interface ForeignTransfer extends LedgerTransfer {
  state: PaymentState | null
}

interface LedgerProof {
  /** Every settled row has its Transfer where it says, and both sides come to the same count and sum once foreign money is set apart. */
  proved: boolean
  /** Settled rows that pay-to was paid by. */
  rows: Tally
  /** Of these, rows whose block may still be taken away by a reorganisation. */
  not_final: Listed<SettledRow>
  transfers: Tally
  foreign: Listed<ForeignTransfer>
  differences: Listed<Difference>
}

/** Items that a list keeps. Dust sent to a known address must not fill the memory. */
export const LISTED_MAX = 1_000

export class LedgerComparison {
  readonly #rows = new Map<string, SettledRow>()
  readonly #transfers = new Map<string, LedgerTransfer>()
  readonly #row_tally: Tally = { count: 0, value_minor: 0n }
  readonly #transfer_tally: Tally = { count: 0, value_minor: 0n }
  readonly #not_final = new Map<string, SettledRow>()
  readonly #not_final_tally: Tally = { count: 0, value_minor: 0n }
  readonly #foreign: Listed<ForeignTransfer> = { count: 0, value_minor: 0n, first: [] }
  readonly #differences: Listed<Difference> = { count: 0, value_minor: 0n, first: [] }

  /** A settled row; each is given once. */
  addRow(row: SettledRow): void {
    tell(this.#row_tally, row, 1)
    if (!row.final) {
      tell(this.#not_final_tally, row, 1)
      if (this.#not_final.size < LISTED_MAX) this.#not_final.set(keyOf(row.payer, row.nonce), row)
    }
    const key = keyOf(row.payer, row.nonce)
    const transfer = this.#transfers.get(key)
    if (transfer === undefined) this.#rows.set(key, row)
    else this.#meet(key, row, transfer)
  }

  /** A Transfer to pay-to; each is given once. */
  addTransfer(transfer: LedgerTransfer): void {
    tell(this.#transfer_tally, transfer, 1)
    if (transfer.nonce === null) return this.#addForeign(transfer, null)
    const key = keyOf(transfer.from, transfer.nonce)
    const row = this.#rows.get(key)
    if (row === undefined) this.#transfers.set(key, transfer)
    else this.#meet(key, row, transfer)
  }

  /** Takes back a row that waits, because it is settled no more or its money need not be here. */
  takeBack(row: SettledRow): void {
    const key = keyOf(row.payer, row.nonce)
    if (!this.#rows.delete(key)) return
    tell(this.#row_tally, row, -1)
    if (row.final) return
    tell(this.#not_final_tally, row, -1)
    this.#not_final.delete(key)
  }

  waitingRows(): SettledRow[] {
    return [...this.#rows.values()]
  }

  waitingTransfers(): LedgerTransfer[] {
    return [...this.#transfers.values()]
  }

  /** A waiting row whose Transfer does not come. */
  giveUpRow(row: SettledRow, kind: DifferenceKind): void {
    if (this.#rows.delete(keyOf(row.payer, row.nonce))) this.addDifference({ kind, row, transfer: null })
  }

  /** A waiting Transfer that no settled row wants; `state` as in ForeignTransfer. */
  giveUpTransfer(transfer: LedgerTransfer, state: PaymentState | null): void {
    if (transfer.nonce !== null && this.#transfers.delete(keyOf(transfer.from, transfer.nonce))) this.#addForeign(transfer, state)
  }

  /** A row that was found wanting on its own. */
  addDifference(difference: Difference): void {
    list(this.#differences, difference, difference.row)
  }

  /** The finding. What still waits counts as without its other half. */
  finish(): LedgerProof {
    for (const row of this.waitingRows()) this.giveUpRow(row, 'no_transfer')
    for (const transfer of this.waitingTransfers()) this.giveUpTransfer(transfer, null)
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

  #meet(key: string, row: SettledRow, transfer: LedgerTransfer): void {
    this.#rows.delete(key)
    this.#transfers.delete(key)
    const kind = differenceOf(row, transfer)
    if (kind !== null) this.addDifference({ kind, row, transfer })
  }

  #addForeign(transfer: LedgerTransfer, state: PaymentState | null): void {
    list(this.#foreign, { ...transfer, state }, transfer)
  }
}

function differenceOf(row: SettledRow, transfer: LedgerTransfer): DifferenceKind | null {
  if (row.value_minor !== transfer.value_minor) return 'other_value'
  const same_block = row.block_number === transfer.block_number && row.block_hash === transfer.block_hash
  return same_block && row.transaction === transfer.transaction ? null : 'other_place'
}

function keyOf(payer: string, nonce: string): string {
  return `${payer}:${nonce}`
}

function tell(tally: Tally, { value_minor }: { value_minor: bigint }, by: 1 | -1): void {
  tally.count += by
  tally.value_minor += BigInt(by) * value_minor
}

function list<Item>(listed: Listed<Item>, item: Item, value: { value_minor: bigint }): void {
  tell(listed, value, 1)
  if (listed.first.length < LISTED_MAX) listed.first.push(item)
}

/** Blocks of one log query at most. */
const LOG_BLOCKS = 2_000n
/** Below this a query that fails is not made smaller: then the size is not the reason. */
const LOG_BLOCKS_MIN = 125n
/** Logs of one answer beyond which the next query is made smaller, long before nodes refuse it. */
const LOGS_COMFORT = 4_000
/** Receipts that are asked for at once. */
const RECEIPTS_AT_ONCE = 8

/** Transfers of one range of blocks, in the order of the chain. */
interface TransferPart {
  to_block: bigint
  transfers: LedgerTransfer[]
}

/** The blocks were replaced while they were read. */
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
 * Every Transfer of the token to pay-to, range by range from the first block to the last. Which authorization moved it stands in the receipt:
 * a search for AuthorizationUsed would bring those of everybody. Rejects as the chain does, and with a ChainMovedError.
 */
export async function* transfersTo(source: TransferSource, from_block: bigint, to_block: bigint): AsyncGenerator<TransferPart> {
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
      found.push(...own.map((log) => transferOf(source.token, log, receipts[index] ?? null)))
    }
  }
  return found
}

function transferOf(token: string, log: ChainLog, receipt: TransactionReceipt | null): LedgerTransfer {
  const transfer = decodeTransfer(log)
  const same = receipt?.logs.some(({ log_index, block_hash }) => log_index === log.log_index && block_hash === log.block_hash) ?? false
  if (transfer === null || receipt === null || !same) {
    throw new ChainMovedError('The newest blocks were replaced while they were read; run it again.')
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

/** How far the clock of the store and that of the chain may differ. */
const CLOCK_SKEW_S = 120
/** Rows that are read from the store at once. */
const PAGE_ROWS = 500

interface LedgerProofSource {
  payments: Pick<PaymentStore, 'ledger' | 'find'>
  chain: Pick<Chain, 'head' | 'header' | 'logs' | 'receipt'>
  /** Address of the token, lower case. */
  token: string
  pay_to: string
  /** Told of the last block that has been read, and of the head. */
  passed(block: bigint, head: bigint): void
}

export interface ProvedLedger extends LedgerProof {
  /** The blocks that were read; null while there are no payments. */
  range: { from_block: bigint; to_block: bigint } | null
  /** Rows that were settled in blocks after the range, while the proof ran; they are for the next one. */
  newer: Tally
  /** Settled rows whose recipient is not pay-to, such as merchants of invoices; each is proved by its own receipt. */
  to_others: Tally
}

/**
 * Proves the ledger by the chain, from the block of the first payment to the head. A row that changes meanwhile is looked at again at the end,
 * so that a running service disturbs nothing. Rejects as store and chain do, and with a ChainMovedError.
 */
export async function proveLedger(source: LedgerProofSource): Promise<ProvedLedger> {
  const [first] = await source.payments.ledger({ limit: 1 })
  const run = new ProofRun(source, await source.chain.head())
  if (first === undefined) return run.finish(null)
  const to_block = run.head.number
  const early = await blockBefore(source.chain, Math.floor(first.created_ms / 1_000) - CLOCK_SKEW_S)
  const from_block = early < to_block ? early : to_block
  const pages = pagesOf(source.payments, { state: 'settled', limit: PAGE_ROWS })
  for await (const part of transfersTo(source, from_block, to_block)) {
    for (const transfer of part.transfers) run.comparison.addTransfer(transfer)
    await run.takeRows(pages, part.to_block)
    source.passed(part.to_block, to_block)
  }
  await run.takeRows(pages, null)
  await run.lookAgain()
  return run.finish({ from_block, to_block })
}

/** The rows of a query, page by page in the order of their creation. */
export async function* pagesOf(payments: Pick<PaymentStore, 'ledger'>, query: LedgerQuery): AsyncGenerator<Payment[]> {
  let page = await payments.ledger(query)
  for (;;) {
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (page.length < query.limit) return
    const { created_ms, payer, nonce } = last
    // The bound says again what `after` says, since an index is searched by it: else each page would begin at the first row.
    page = await payments.ledger({ ...query, from_ms: created_ms, after: { created_ms, payer, nonce } })
  }
}

class ProofRun {
  readonly comparison = new LedgerComparison()
  readonly head: { number: bigint }
  readonly #source: LedgerProofSource
  readonly #newer: Tally = { count: 0, value_minor: 0n }
  readonly #to_others: Tally = { count: 0, value_minor: 0n }
  /** Newest creation of the rows taken so far. */
  #created_ms = Number.NEGATIVE_INFINITY

  constructor(source: LedgerProofSource, head: { number: bigint }) {
    this.#source = source
    this.head = head
  }

  /** Takes pages until their rows are as young as the block, so that few rows and transfers wait for each other; null takes all. */
  async takeRows(pages: AsyncGenerator<Payment[]>, block: bigint | null): Promise<void> {
    const header = block === null ? null : await this.#source.chain.header(block)
    const until_ms = header === null ? Number.POSITIVE_INFINITY : header.timestamp_s * 1_000
    while (this.#created_ms < until_ms) {
      const next = await pages.next()
      if (next.done === true) return
      for (const row of next.value) await this.#takeRow(row)
    }
  }

  /** Rows and transfers that found nothing are compared with what the store says now; what stays alone is told apart. */
  async lookAgain(): Promise<void> {
    const { comparison } = this
    for (const row of comparison.waitingRows()) {
      comparison.takeBack(row)
      const now = await this.#source.payments.find({ payer: row.payer, nonce: row.nonce })
      if (now?.state === 'settled') await this.#takeRow(now)
    }
    for (const transfer of comparison.waitingTransfers()) {
      const { from: payer, nonce } = transfer
      const row = nonce === null ? null : await this.#source.payments.find({ payer, nonce })
      if (row?.state === 'settled' && row.to === this.#source.pay_to && !this.#isNewer(row)) comparison.addRow(row)
      else comparison.giveUpTransfer(transfer, row?.state ?? null)
    }
    // Beyond what is listed nobody reads the reason.
    for (const row of comparison.waitingRows().slice(0, LISTED_MAX)) comparison.giveUpRow(row, await this.#whyMissing(row))
  }

  finish(range: ProvedLedger['range']): ProvedLedger {
    return { ...this.comparison.finish(), range, newer: this.#newer, to_others: this.#to_others }
  }

  async #takeRow(row: Payment): Promise<void> {
    this.#created_ms = Math.max(this.#created_ms, row.created_ms)
    if (this.#isNewer(row)) return add(this.#newer, row)
    if (row.to === this.#source.pay_to) return this.comparison.addRow(row)
    add(this.#to_others, row)
    const place = await this.#placeOf(row)
    if (place !== 'proved') this.comparison.addDifference({ kind: place, row, transfer: null })
  }

  #isNewer({ block_number }: SettledRow): boolean {
    return block_number !== null && BigInt(block_number) > this.head.number
  }

  async #whyMissing(row: SettledRow): Promise<DifferenceKind> {
    const full = await this.#source.payments.find({ payer: row.payer, nonce: row.nonce })
    const place = full === null ? 'no_transfer' : await this.#placeOf(full)
    return place === 'proved' ? 'not_in_logs' : place
  }

  /** What the receipt of the row's own transaction says of it. */
  async #placeOf(row: Payment): Promise<'proved' | 'no_transaction' | 'no_transfer' | 'other_place'> {
    const receipt = row.transaction === null ? null : await this.#source.chain.receipt(row.transaction)
    if (receipt === null) return 'no_transaction'
    const at = proofIn(receipt, row, this.#source.token)
    if (at === null) return 'no_transfer'
    return at.block_number === row.block_number && at.block_hash === row.block_hash ? 'proved' : 'other_place'
  }
}

function add(tally: Tally, { value_minor }: { value_minor: bigint }): void {
  tally.count += 1
  tally.value_minor += value_minor
}
