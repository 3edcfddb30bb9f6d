import type { Chain } from '../../ports/chain.ts'
import type { LedgerQuery, Payment, PaymentStore } from '../../ports/payments.ts'
import { blockBefore } from './block-before.ts'
import { proofIn } from './evidence.ts'
import { LedgerComparison, LISTED_MAX, type DifferenceKind, type LedgerProof, type SettledRow, type Tally } from './ledger-proof.ts'
import { transfersTo } from './ledger-transfers.ts'

/** How far the clock of the store and that of the chain may differ. */
const CLOCK_SKEW_S = 120
/** Rows that are read from the store at once. */
const PAGE_ROWS = 500

export interface LedgerProofSource {
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
