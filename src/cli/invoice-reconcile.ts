import { bankText, bankAmount, judgeBookings, type BankJudgement } from '../pure/invoices/bank-statements.ts'
import { type BankAccount, plainIban, creditorReference } from '../pure/invoices/links.ts'
import { RailFull, referencesOf, keyText } from '../service/invoices/bank-rail.ts'
import { type InputFile, readFileOptions, readFiles, findingLine, unreadableError } from './reconcile-read.ts'
import { paint, printable, remark, say, table, wantsJson } from './terminal.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { bankOfSettings } from '../assembly/invoices.ts'
import { ReadFindings, StatementBook, type BankEntry } from '../pure/documents/reconcile/records.ts'
import type { Invocation } from './commands.ts'
import { orConfig, type LedgerDesk, withLedger, markMode, readEnvironment } from './deployment.ts'
import { CliError, type Exit } from './errors.ts'
import { RAIL_LIMITS } from '../service/limits.ts'
import type { BankReport, InvoiceStore, StoredInvoice } from '../ports/invoices.ts'
import { accountKey, printableText } from '../pure/documents/reconcile/values.ts'

/** Why an entry is about no invoice here. */
const RAIL_UNMATCHED = ['no_invoice', 'several_invoices', 'other_account', 'no_statement_id'] as const
type RailUnmatched = (typeof RAIL_UNMATCHED)[number]
/** Reasons for which an entry is ignored. */
const RAIL_IGNORED = ['not_booked', 'repeated', 'no_reference'] as const
type RailIgnored = (typeof RAIL_IGNORED)[number]

interface UnmatchedEntry {
  reason: RailUnmatched
  file: number
  entry: number
  reference: string
  currency: string
  amount_minor: bigint
  booked_on: string | null
}

interface RailInvoice {
  invoice: StoredInvoice
  reference: string
  /** In the currency of the account; null where the invoice has none. */
  asked_minor: bigint | null
  judgement: BankJudgement
  /** Everything that statements say of it, of this run and of earlier ones. */
  reports: BankReport[]
  /** Of this run and not kept before. */
  fresh: number
}

export interface RailResult {
  entries: number
  invoices: RailInvoice[]
  /** The first ones; `counts` has all. */
  unmatched: UnmatchedEntry[]
  counts: Record<RailUnmatched | RailIgnored, number>
}

interface Candidate {
  invoice: StoredInvoice
  reference: string
}

/** The watched invoices that show this account, by creditor reference. Rejects with a RailFull beyond what a run may hold. */
export async function bankInvoices(store: InvoiceStore, merchants: readonly string[], now_s: number): Promise<Map<string, Candidate>> {
  const found = new Map<string, Candidate>()
  for (const merchant of new Set(merchants)) {
    let after = 0
    for (;;) {
      const page = await store.page_of(merchant, now_s, after, RAIL_LIMITS.page_rows)
      for (const { number, invoice } of page) {
        after = number
        const reference = creditorReference(invoice.invoice_id)
        found.set(reference, { invoice, reference })
      }
      if (found.size > RAIL_LIMITS.invoices) throw new RailFull(`More than ${RAIL_LIMITS.invoices} invoices show this account.`)
      if (page.length < RAIL_LIMITS.page_rows) break
    }
  }
  return found
}

/**
 * Finds among the entries of statements those about invoices: booked, on the account that invoices show, naming exactly one by its creditor
 * reference. Everything else is counted, and forgotten. What is matched is judged by the engine of reconciliation, together with what earlier runs
 * kept. Nothing is written.
 */
export class BankRail {
  private readonly account: BankAccount
  private readonly iban: string
  private readonly candidates: ReadonlyMap<string, Candidate>
  private readonly now_ms: number
  private readonly matched = new Map<string, { report: BankReport; statement: number }[]>()
  private readonly counts = { no_invoice: 0, several_invoices: 0, other_account: 0, no_statement_id: 0 } as Record<RailUnmatched, number>
  private readonly ignored: Record<RailIgnored, number> = { not_booked: 0, repeated: 0, no_reference: 0 }
  private readonly unmatched: UnmatchedEntry[] = []
  private readonly places = new Map<number, number>()
  private held = 0
  private entries = 0

  constructor(account: BankAccount, candidates: ReadonlyMap<string, Candidate>, now_ms: number) {
    this.account = account
    this.iban = plainIban(account.iban)
    this.candidates = candidates
    this.now_ms = now_ms
  }

  entry(entry: BankEntry): void {
    this.entries++
    const place = this.positionInStatement(entry)
    const references = referencesOf(entry)
    if (references.length === 0) {
      this.ignored.no_reference++
      return
    }
    if (entry.status !== 'BOOK') {
      this.ignored.not_booked++
      return
    }
    const known = references.filter((reference) => this.candidates.has(reference))
    const [reference = references[0] ?? ''] = known
    const reason = this.reasonAgainst(entry, known)
    if (reason !== null) this.addUnmatched(entry, reference, reason)
    else this.addMatched(entry, reference, place)
  }

  /** Matches the entries and returns the results. `repeated` has the indexes of statements that were imported before. */
  async finish(store: Pick<InvoiceStore, 'bank_reports'>, repeated: ReadonlySet<number>): Promise<RailResult> {
    const found: Omit<RailInvoice, 'judgement'>[] = []
    for (const [reference, rows] of this.matched) {
      const candidate = this.candidates.get(reference)
      if (candidate === undefined) continue
      const before = await store.bank_reports(candidate.invoice.invoice_id)
      const own = new Map(before.map((report) => [keyOf(report), report]))
      let fresh = 0
      for (const { report, statement } of rows) {
        const key = keyOf(report)
        if (repeated.has(statement) || own.has(key)) this.ignored.repeated++
        else {
          own.set(key, report)
          fresh++
        }
      }
      const asked_minor = bankAmount(candidate.invoice.amount_minor, this.account.currency)
      if (own.size > 0) found.push({ ...candidate, asked_minor, reports: [...own.values()], fresh })
    }
    const cases = found.map(({ reference, asked_minor, reports }) => ({ reference, asked_minor, bookings: reports }))
    const judged = judgeBookings(cases, this.account)
    const invoices = found.flatMap((one, row) => {
      const judgement = judged[row]
      if (judgement === undefined) return []
      return [{ ...one, judgement, reports: one.reports.map((report) => ({ ...report, verdict: judgement.verdict })) }]
    })
    return { entries: this.entries, invoices, unmatched: this.unmatched, counts: { ...this.counts, ...this.ignored } }
  }

  /** Position of the entry within its statement, which is the same wherever the statement is in a file. */
  private positionInStatement({ statement, entry }: BankEntry): number {
    const first = this.places.get(statement) ?? entry
    this.places.set(statement, first)
    return entry - first + 1
  }

  private reasonAgainst({ account, remittance }: BankEntry, known: readonly string[]): RailUnmatched | null {
    if (accountKey(account)?.text !== this.iban) return 'other_account'
    if (known.length !== 1) return known.length === 0 ? 'no_invoice' : 'several_invoices'
    return (remittance?.statement_id ?? '').trim() === '' ? 'no_statement_id' : null
  }

  private addUnmatched({ file, entry, currency, amount_minor, remittance }: BankEntry, reference: string, reason: RailUnmatched): void {
    this.counts[reason]++
    if (this.unmatched.length >= RAIL_LIMITS.unmatched_shown) return
    const shown = { reference, currency: printableText(currency) ?? '', amount_minor, booked_on: remittance?.booked_on ?? null }
    this.unmatched.push({ reason, file, entry, ...shown })
  }

  private addMatched(entry: BankEntry, reference: string, place: number): void {
    if (++this.held > RAIL_LIMITS.entries)
      throw new RailFull(`More than ${RAIL_LIMITS.entries} entries are about invoices; give fewer statements.`)
    const invoice_id = this.candidates.get(reference)?.invoice.invoice_id ?? ''
    const { direction, returned, currency, amount_minor, charges_minor, instructed, remittance, detail } = entry
    const { entry_reference: named = null, sequence = null, page = null } = remittance ?? {}
    // A bank may give several entries of a day one name, or none: the position distinguishes them.
    const at = [sequence, page, place].flatMap((part) => (part === null ? [] : [String(part)])).join('/')
    const report: BankReport = {
      statement_id: keyText(remittance?.statement_id ?? ''),
      entry_reference: `${keyText(named ?? '')}#${keyText(at)}${detail === 0 ? '' : `.${detail}`}`,
      invoice_id,
      booked_on: remittance?.booked_on ?? null,
      direction,
      returned,
      currency: keyText(currency),
      amount_minor,
      charges_minor,
      instructed_minor: instructed?.currency === currency ? instructed.amount_minor : null,
      verdict: 'UNCLEAR',
      reported_ms: this.now_ms,
    }
    const rows = this.matched.get(reference) ?? []
    rows.push({ report, statement: entry.statement })
    this.matched.set(reference, rows)
  }
}

function keyOf({ statement_id, entry_reference }: BankReport): string {
  return JSON.stringify([statement_id, entry_reference])
}

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
  return withLedger(settings, async (desk): Promise<Exit> => {
    const { account, owners } = orConfig(() => bankOfSettings(settings, desk.identity))
    if (account === null) throw new CliError('config', 'Set ASSAY_BANK_IBAN first: without a bank account, no invoice shows one.')
    const findings = new ReadFindings()
    const result = await reconcileBankRail(desk, { account, owners }, files, findings)
    const changed = invocation.flag('apply') ? await storeReports(desk, result) : null
    for (const finding of findings.list) remark(findingLine(files, finding).trim())
    if (wantsJson(invocation)) say(JSON.stringify(bankRailJson(result, { account, files, changed })))
    else say(bankRailLines(result, { account, files, changed }).join('\n'))
    return 'ok'
  })
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
