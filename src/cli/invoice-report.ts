import { bankText } from '../pure/invoices/bank.ts'
import { plainIban, type BankAccount } from '../pure/invoices/links.ts'
import { RAIL_IGNORED, RAIL_UNMATCHED, type RailInvoice, type RailResult, type UnmatchedEntry } from '../service/invoices/bank-rail.ts'
import type { GivenFile } from './reconcile-read.ts'
import { paint, printable, table } from './terminal.ts'

export interface RailFrame {
  account: BankAccount
  files: readonly GivenFile[]
  /** How many reports were kept anew or judged otherwise; null when nothing was to be kept. */
  changed: number | null
}

const NOTICE = 'A bank transfer is reported, never confirmed: the status of an invoice stays that of the chain.'

/** The whole result as one object; money as decimal text. */
export function resultJson({ invoices, unmatched, entries, counts }: RailResult, { account, files, changed }: RailFrame) {
  return {
    account: { iban: plainIban(account.iban), currency: account.currency },
    files: files.map(({ path }) => path),
    entries,
    invoices: invoices.map((one) => invoiceJson(one, account.currency)),
    unmatched: unmatched.map((one) => unmatchedJson(one)),
    counts: { reported: invoices.length, ...counts },
    applied: changed !== null,
    changed,
    notice: NOTICE,
  }
}

function invoiceJson({ invoice, reference, asked_minor, judgement, reports, fresh }: RailInvoice, currency: string) {
  const text = (amount_minor: bigint | null) => (amount_minor === null ? null : bankText(amount_minor, currency))
  return {
    invoice_id: invoice.invoice_id,
    reference,
    bank_status: `reported by bank statement: ${judgement.verdict}`,
    verdict: judgement.verdict,
    currency,
    asked: text(asked_minor),
    received: text(judgement.received_minor),
    delta: text(judgement.delta_minor),
    new_reports: fresh,
    reports: reports.map((one) => ({
      statement_id: one.statement_id,
      entry_reference: one.entry_reference,
      booked_at: one.booked_on,
      amount: bankText(one.direction === 'CRDT' ? one.amount_minor : -one.amount_minor, one.currency),
      currency: one.currency,
    })),
  }
}

function unmatchedJson({ amount_minor, ...rest }: UnmatchedEntry) {
  return { ...rest, amount: bankText(amount_minor, rest.currency) }
}

/** The same for people: a line an invoice, a line an entry that is about none. */
export function resultLines(result: RailResult, { account, changed }: RailFrame): string[] {
  const { invoices, unmatched, counts } = result
  const rows = invoices.map((one) => invoiceRow(one, account.currency))
  const head = ['verdict', 'asked', 'received', 'invoice']
  const strays = unmatched.map(({ reason, amount_minor, currency, reference, file, entry }) => [
    reason,
    `${bankText(amount_minor, currency)} ${currency}`,
    `${reference} (${file}:${entry})`,
  ])
  const sums = [...RAIL_UNMATCHED, ...RAIL_IGNORED].map((name) => [name, String(counts[name])])
  return [
    paint('strong', 'Reported by bank statement'),
    ...(rows.length === 0 ? ['nothing about invoices'] : shown([head, ...rows])),
    ...(strays.length === 0 ? [] : [paint('strong', 'About no invoice here'), ...shown(strays)]),
    paint('strong', `Entries: ${result.entries}`),
    ...table(sums),
    changed === null ? 'Nothing was kept; --apply keeps it.' : `Kept: ${changed} new or changed.`,
    NOTICE,
  ]
}

function shown(rows: readonly (readonly string[])[]): string[] {
  return table(rows.map((row) => row.map(printable)))
}

function invoiceRow({ invoice, asked_minor, judgement }: RailInvoice, currency: string): string[] {
  const text = (amount_minor: bigint | null) => (amount_minor === null ? '–' : `${bankText(amount_minor, currency)} ${currency}`)
  return [judgement.verdict, text(asked_minor), text(judgement.received_minor), invoice.invoice_id]
}
