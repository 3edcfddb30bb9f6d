import { bankText } from '../pure/invoices/bank-statements.ts'
import { type BankAccount, plainIban } from '../pure/invoices/links.ts'
import {
  bankInvoices,
  BankRail,
  RAIL_IGNORED,
  RAIL_UNMATCHED,
  RailFull,
  type RailInvoice,
  type RailResult,
} from '../service/invoices/bank-rail.ts'
import { type InputFile, readFileOptions, readFiles, findingLine, unreadableError } from './reconcile-read.ts'
import { paint, printable, remark, say, table, wantsJson } from './terminal.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { bankOfSettings } from '../assembly/invoices.ts'
import { ReadFindings, StatementBook } from '../pure/documents/reconcile/records.ts'
import type { Invocation } from './commands.ts'
import { orConfig, type LedgerDesk, withLedger, markMode, readEnvironment } from './deployment.ts'
import { CliError, type Exit } from './errors.ts'

export interface BankRailFrame {
  account: BankAccount
  files: readonly InputFile[]
  /** Number of new or changed reports; null if nothing was to be stored. */
  changed: number | null
}

const NOTICE = 'Bank transfers are reported, not confirmed: the status of an invoice depends only on the chain.'

/** The result as JSON; amounts as decimal text. */
export function bankRailJson({ invoices, unmatched, entries, counts }: RailResult, { account, files, changed }: BankRailFrame) {
  return {
    account: { iban: plainIban(account.iban), currency: account.currency },
    files: files.map(({ path }) => path),
    entries,
    invoices: invoices.map((one) => invoiceJson(one, account.currency)),
    unmatched: unmatched.map(({ amount_minor, ...rest }) => ({ ...rest, amount: bankText(amount_minor, rest.currency) })),
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

/** The result as text: one line per invoice and per unmatched entry. */
export function bankRailLines(result: RailResult, { account, changed }: BankRailFrame): string[] {
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
    ...(rows.length === 0 ? ['No entry matches an invoice.'] : printableTable([head, ...rows])),
    ...(strays.length === 0 ? [] : [paint('strong', 'Entries without an invoice'), ...printableTable(strays)]),
    paint('strong', `Entries: ${result.entries}`),
    ...table(sums),
    changed === null ? 'Dry run: nothing was stored. Add --apply to store the reports.' : `Stored: ${changed} new or changed reports.`,
    NOTICE,
  ]
}

function printableTable(rows: readonly (readonly string[])[]): string[] {
  return table(rows.map((row) => row.map(printable)))
}

function invoiceRow({ invoice, asked_minor, judgement }: RailInvoice, currency: string): string[] {
  const text = (amount_minor: bigint | null) => (amount_minor === null ? '–' : `${bankText(amount_minor, currency)} ${currency}`)
  return [judgement.verdict, text(asked_minor), text(judgement.received_minor), invoice.invoice_id]
}

/**
 * `assay invoice reconcile`: streams statements past the invoices that show the operator's account and reports what the bank says about
 * each. With --apply the reports are stored, each entry once. No invoice is marked as paid: its status depends on the chain.
 */
export async function reconcileInvoices(invocation: Invocation): Promise<Exit> {
  const files = readStatementFiles()
  const settings = readEnvironment()
  markMode(settings)
  const report = async (desk: LedgerDesk): Promise<Exit> => {
    const { account, owners } = orConfig(() => bankOfSettings(settings, desk.identity))
    if (account === null) throw new CliError('config', 'Set ASSAY_BANK_IBAN first: without a bank account, no invoice shows one.')
    const findings = new ReadFindings()
    const result = await reconcileBankRail(desk, { account, owners }, files, findings)
    const changed = invocation.flag('apply') ? await storeReports(desk, result) : null
    for (const finding of findings.list) remark(findingLine(files, finding).trim())
    if (wantsJson(invocation)) say(JSON.stringify(bankRailJson(result, { account, files, changed })))
    else say(bankRailLines(result, { account, files, changed }).join('\n'))
    return 'ok'
  }
  return withLedger(settings, report, { texts: true })
}

async function reconcileBankRail(
  { store }: LedgerDesk,
  { account, owners }: { account: BankAccount; owners: readonly string[] },
  files: readonly InputFile[],
  findings: ReadFindings,
): Promise<RailResult> {
  const now_ms = systemClock.now_ms()
  try {
    const rail = new BankRail(account, await bankInvoices(store.invoices, owners, Math.floor(now_ms / 1_000)), now_ms)
    const book = new StatementBook()
    const sink = {
      keep_remittance: true,
      instruction: () => undefined,
      entry: (entry: Parameters<BankRail['entry']>[0]) => rail.entry(entry),
    }
    if (!readFiles(files, findings, book, sink)) throw unreadableError(files, findings)
    const { repeated, remarks } = book.findRepeats()
    for (const { code, file } of remarks) findings.add(code, file, null)
    return await rail.finish(store.invoices, repeated)
  } catch (error) {
    if (error instanceof RailFull) throw new CliError('data', error.message)
    throw error
  }
}

/** Stores invoice by invoice, so that an interrupted run has stored whole invoices and the next one continues. */
async function storeReports({ store }: LedgerDesk, { invoices }: RailResult): Promise<number> {
  let changed = 0
  for (const { reports } of invoices) changed += await store.invoices.report_bank(reports, systemClock.now_ms())
  return changed
}

function readStatementFiles(): InputFile[] {
  const files = readFileOptions(['statement'])
  if (files.length === 0) throw new CliError('usage', 'Bank data are missing: add --statement FILE (camt.053).')
  return files
}
