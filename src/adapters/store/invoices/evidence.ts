import { BANK_VERDICTS, type BankReport, type OtherAsset } from '../../../ports/invoices.ts'
import { LOCK_INVOICE } from '../payments/sql-claims.ts'
import { integer, oneOf, text, textOrNull, wide } from '../rows.ts'
import { assertCounts, assertKeys, assertWei, assertWide } from '../storable.ts'
import type { Database, Row, Work } from '../work.ts'
import { addMark } from './marks.ts'
import * as evidence from './sql-evidence.ts'
import { TOUCH } from './sql-invoices.ts'

/** What is known of invoices beside their payments: bank statements, and other assets. */
export class InvoiceEvidence {
  readonly #database: Pick<Database, 'read' | 'atomically'>

  constructor(database: Pick<Database, 'read' | 'atomically'>) {
    this.#database = database
  }

  async bankReports(invoice_id: string): Promise<BankReport[]> {
    assertKeys({ invoice_id })
    return (await this.#database.read(evidence.REPORTS, [invoice_id])).map(reportOf)
  }

  async reportBank(reports: readonly BankReport[], now_ms: number): Promise<number> {
    for (const report of reports) assertReport(report)
    assertCounts({ now_ms })
    return this.#database.atomically(() => reportBank(reports, now_ms))
  }

  async others(invoice_id: string): Promise<OtherAsset[]> {
    assertKeys({ invoice_id })
    return (await this.#database.read(evidence.OTHERS, [invoice_id])).map(otherOf)
  }

  async note(seen: OtherAsset, now_ms: number): Promise<boolean> {
    const { transaction, log_index, invoice_id, asset, payer, amount, block_number, block_time_s, named_by } = seen
    assertKeys({ transaction, invoice_id, asset, payer })
    assertCounts({ log_index: log_index + 1, block_number, block_time_s, now_ms })
    assertWei({ amount })
    const values = [transaction, log_index, invoice_id, asset, payer, amount.toString(), block_number, block_time_s, named_by]
    return this.#database.atomically(function* (): Work<boolean> {
      yield { statement: LOCK_INVOICE, values: [invoice_id] }
      const [row] = yield { statement: evidence.NOTE_OTHER, values }
      if (row === undefined) return false
      yield* addMark(invoice_id, 'wrong_asset', now_ms)
      return true
    })
  }
}

function* reportBank(reports: readonly BankReport[], now_ms: number): Work<number> {
  let changed = 0
  const touched = new Set<string>()
  // An invoice that is locked is not evicted meanwhile.
  const named = new Set(reports.map(({ invoice_id }) => invoice_id))
  for (const invoice_id of [...named].toSorted()) yield { statement: LOCK_INVOICE, values: [invoice_id] }
  for (const report of reports) {
    const { statement_id, entry_reference, invoice_id, booked_on, direction, returned, currency, verdict } = report
    const { amount_minor, charges_minor, instructed_minor, reported_ms } = report
    const values = [statement_id, entry_reference, invoice_id, booked_on, direction, Number(returned), currency]
    const amounts = [amount_minor, charges_minor, instructed_minor, verdict, reported_ms]
    const [row] = yield { statement: evidence.REPORT_BANK, values: [...values, ...amounts] }
    if (row === undefined) continue
    changed += 1
    touched.add(invoice_id)
  }
  for (const invoice_id of touched) yield { statement: TOUCH, values: [invoice_id, now_ms] }
  return changed
}

function assertReport(report: BankReport): void {
  const { statement_id, entry_reference, invoice_id, currency, booked_on, amount_minor, instructed_minor, reported_ms } = report
  assertKeys({ statement_id, entry_reference, invoice_id, currency, booked_on: booked_on ?? '-' })
  // Charges may be given back, and are then below zero.
  const { charges_minor } = report
  assertWide({ amount_minor, instructed_minor: instructed_minor ?? 0n, charges: charges_minor < 0n ? -charges_minor : charges_minor })
  assertCounts({ reported_ms })
}

function reportOf(row: Row): BankReport {
  return {
    statement_id: text(row, 'statement_id'),
    entry_reference: text(row, 'entry_reference'),
    invoice_id: text(row, 'invoice_id'),
    booked_on: textOrNull(row, 'booked_on'),
    direction: oneOf(row, 'direction', ['CRDT', 'DBIT'] as const),
    returned: integer(row, 'returned') === 1,
    currency: text(row, 'currency'),
    amount_minor: wide(row, 'amount_minor'),
    charges_minor: BigInt(text(row, 'charges_minor')),
    instructed_minor: row['instructed_minor'] === null ? null : wide(row, 'instructed_minor'),
    verdict: oneOf(row, 'verdict', BANK_VERDICTS),
    reported_ms: integer(row, 'reported_ms'),
  }
}

function otherOf(row: Row): OtherAsset {
  return {
    transaction: text(row, 'transaction_hash'),
    log_index: integer(row, 'log_index'),
    invoice_id: text(row, 'invoice_id'),
    asset: text(row, 'asset'),
    payer: text(row, 'payer'),
    amount: wide(row, 'amount'),
    block_number: integer(row, 'block_number'),
    block_time_s: integer(row, 'block_time_s'),
    named_by: oneOf(row, 'named_by', ['nonce', 'submitted'] as const),
  }
}
