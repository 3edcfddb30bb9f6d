import { RAIL_LIMITS } from '../limits.ts'
import type { BankReport, InvoiceStore, StoredInvoice } from '../../ports/invoices.ts'
import { entryDateFault } from '../../pure/invoices/bank-dates.ts'
import { bankAmount, judgeBookings, type BankJudgement } from '../../pure/invoices/bank-statements.ts'
import {
  creditorReferencesIn,
  invoiceIdsIn,
  readCreditorReference,
  creditorReference,
  plainIban,
  type BankAccount,
} from '../../pure/invoices/links.ts'
import { accountKey, printableText } from '../../pure/documents/reconcile/values.ts'
import type { BankEntry } from '../../pure/documents/reconcile/records.ts'

/** Thrown when a run would hold more. */
export class RailFull extends Error {}

/** Why an entry is about no invoice here. */
export const RAIL_UNMATCHED = ['no_invoice', 'several_invoices', 'other_account', 'no_statement_id', 'date_outside'] as const
export type RailUnmatched = (typeof RAIL_UNMATCHED)[number]
/** Reasons for which an entry is ignored. */
export const RAIL_IGNORED = ['not_booked', 'repeated', 'no_reference'] as const
type RailIgnored = (typeof RAIL_IGNORED)[number]

export interface UnmatchedEntry {
  reason: RailUnmatched
  file: number
  entry: number
  reference: string
  currency: string
  amount_minor: bigint
  booked_on: string | null
}

export interface RailInvoice {
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
  private readonly counts: Record<RailUnmatched, number> = {
    no_invoice: 0,
    several_invoices: 0,
    other_account: 0,
    no_statement_id: 0,
    date_outside: 0,
  }
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
    const [reference = '', second] = known
    const invoice = this.candidates.get(reference)?.invoice
    if (invoice === undefined || second !== undefined) return second === undefined ? 'no_invoice' : 'several_invoices'
    if (entryDateFault(remittance?.dated ?? null, invoice.created_ms, this.now_ms) !== null) return 'date_outside'
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

/**
 * Valid creditor references, structured ones first. Free text is searched only where there is none: for references of full length, for ids of
 * invoices, and for a line that is one reference.
 */
export function referencesOf({ remittance }: BankEntry): string[] {
  if (remittance === undefined) return []
  const structured = remittance.creditor_references.flatMap((text) => readCreditorReference(text) ?? [])
  if (structured.length > 0) return [...new Set(structured)]
  const lines = remittance.unstructured
  const whole = lines.flatMap((line) => readCreditorReference(line) ?? [])
  return [...new Set([...creditorReferencesIn(lines), ...whole, ...invoiceIdsIn(lines).map(creditorReference)])]
}

/** Text of a bank as part of a key: without what a store or a terminal could not hold. */
export function keyText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
    .trim()
    .slice(0, RAIL_LIMITS.key_chars)
}

function keyOf({ statement_id, entry_reference }: BankReport): string {
  return JSON.stringify([statement_id, entry_reference])
}
