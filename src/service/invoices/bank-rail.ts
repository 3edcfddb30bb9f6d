import { RAIL_LIMITS } from '../limits.ts'
import type {
  BankCloseResult,
  BankClosing,
  BankReport,
  InvoiceStore,
  StatementOutcome,
  StatementUnmatched,
  StoredInvoice,
} from '../../ports/invoices.ts'
import { bankAmount, bankText, judgeBookings, type BankJudgement } from '../../pure/invoices/bank-statements.ts'
import {
  bankDueMinor,
  creditorReferencesIn,
  invoiceIdsIn,
  readCreditorReference,
  creditorReference,
  plainIban,
  type BankAccount,
  type BankTerms,
} from '../../pure/invoices/links.ts'
import { instant, type BankPayment } from '../../pure/invoices/record.ts'
import { readTerms } from '../../pure/invoices/terms.ts'
import { accountKey, printableText } from '../../pure/documents/reconcile/values.ts'
import { ReadFindings, StatementBook, type BankEntry, type ReadFinding } from '../../pure/documents/reconcile/records.ts'
import { StatementReader } from '../../pure/documents/reconcile/statement-reader.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'

/** Thrown when a run would hold more. */
export class RailFull extends Error {}

/** Why an entry is about no invoice here. */
export const RAIL_UNMATCHED = ['no_invoice', 'several_invoices', 'other_account', 'no_statement_id'] as const
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

/**
 * Valid creditor references, structured ones first. Free text is searched only where there is none: for references of full length, for ids of
 * invoices, and for a line that is one reference.
 */
function referencesOf({ remittance }: BankEntry): string[] {
  if (remittance === undefined) return []
  const structured = remittance.creditor_references.flatMap((text) => readCreditorReference(text) ?? [])
  if (structured.length > 0) return [...new Set(structured)]
  const lines = remittance.unstructured
  const whole = lines.flatMap((line) => readCreditorReference(line) ?? [])
  return [...new Set([...creditorReferencesIn(lines), ...whole, ...invoiceIdsIn(lines).map(creditorReference)])]
}

/** Text of a bank as part of a key: without what a store or a terminal could not hold. */
function keyText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
    .trim()
    .slice(0, RAIL_LIMITS.key_chars)
}

function keyOf({ statement_id, entry_reference }: BankReport): string {
  return JSON.stringify([statement_id, entry_reference])
}

/** A bank statement that a merchant, or the creator of an invoice, sent to confirm transfers. */
export interface StatementUpload {
  /** camt.053 or camt.054. */
  document: string
  /** 0x-prefixed. */
  document_sha256: string
  now_ms: number
  confirmed_by: BankPayment['confirmed_by']
  /** Invoices that the sender may confirm, by creditor reference. */
  find(reference: string): Promise<StoredInvoice[]>
}

const OUTCOME_TEXTS = {
  closed: 'The transfer has the reference, account, currency and amount of the invoice: the invoice is paid.',
  already_closed: 'This entry paid the invoice before.',
  second_entry: 'Another entry paid the invoice before. Compare the two: the customer may have paid twice.',
  under: 'Less than the amount of the invoice was booked. Ask the customer for the rest, or void the invoice and issue another.',
  over: 'More than the amount of the invoice was booked, or it was booked twice. Return what is too much, or issue another invoice.',
  other_currency: 'The transfer was booked in another currency than the invoice states.',
  returned: 'The transfer was returned.',
  unclear: 'Several entries, charges or an unclear entry name this invoice; only one booked entry of the exact amount closes it.',
  void: 'The invoice is void. Return the money, or issue another invoice.',
  paid_on_chain: 'The invoice was paid on the chain: this transfer is a second payment. Return it.',
  payment_under_way: 'A payment of the invoice is on its way to the chain. Send the statement again in some minutes.',
  entry_used: 'This entry paid another invoice before.',
} as const satisfies Record<StatementOutcome, string>

const CLOSE_OUTCOMES = {
  closed: 'closed',
  same: 'already_closed',
  paid: 'second_entry',
  entry_used: 'entry_used',
  on_chain: 'paid_on_chain',
  under_way: 'payment_under_way',
  void: 'void',
  gone: 'void',
} as const satisfies Record<BankCloseResult, StatementOutcome>

const VERDICT_OUTCOMES = {
  SETTLED: 'unclear',
  PARTIAL: 'under',
  OVER: 'over',
  DUPLICATE_PAYMENT: 'over',
  RETURNED: 'returned',
  OTHER_CURRENCY: 'other_currency',
  UNCLEAR: 'unclear',
} as const satisfies Record<BankJudgement['verdict'], StatementOutcome>

interface ConfirmedInvoice {
  invoice_id: string
  reference: string
  outcome: StatementOutcome
  message: string
  currency: string
  /** Decimal texts in the currency; null where they cannot be compared. */
  expected: string
  received: string | null
  delta: string | null
  booked_on: string | null
  entry_reference: string | null
}

interface StatementReport {
  entries: number
  invoices: ConfirmedInvoice[]
  /** The first ones; `counts` has all. */
  unmatched: { reason: StatementUnmatched; entry: number; reference: string; amount: string; currency: string; booked_on: string | null }[]
  counts: Record<StatementUnmatched | 'without_reference', number>
}

export type StatementEnd = { ok: true; report: StatementReport } | { ok: false; findings: readonly ReadFinding[] }

interface NamingEntry {
  entry: BankEntry
  references: string[]
}

interface NamedInvoice {
  invoice: StoredInvoice
  bank: BankTerms
  reference: string
  entries: BankEntry[]
}

/**
 * Closes the invoices that a statement shows as paid: one booked credit entry on the account of the invoice, with its reference, in its currency, of
 * its exact amount. Everything else is reported and changes nothing. The document and its other entries are not stored. Rejects with a RailFull
 * beyond what one upload may name.
 */
export async function confirmByStatement(store: Pick<InvoiceStore, 'close_by_bank'>, upload: StatementUpload): Promise<StatementEnd> {
  const read = await readStatement(upload.document)
  if (read.findings.errors > 0) return { ok: false, findings: read.findings.list }
  const report: StatementReport = { entries: read.entries, invoices: [], unmatched: [], counts: { ...NO_COUNTS } }
  report.counts.without_reference = read.entries - read.naming.length
  for (const named of (await invoicesNamed(upload, read.naming, report)).values()) {
    report.invoices.push(await confirmInvoice(store, upload, named))
  }
  return { ok: true, report }
}

const NO_COUNTS = { no_invoice: 0, several_invoices: 0, other_account: 0, not_booked: 0, without_reference: 0 }
const CHUNK_CHARS = 65_536
const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Reads in pieces, so that other requests are served between them. Statements that are in the document twice count once. */
async function readStatement(document: string) {
  const findings = new ReadFindings()
  const book = new StatementBook()
  const naming: NamingEntry[] = []
  let entries = 0
  const take = (entry: BankEntry) => {
    entries++
    const references = referencesOf(entry)
    if (references.length > 0) naming.push({ entry, references })
  }
  const is_notification = document.slice(0, CHUNK_CHARS).includes('camt.054.')
  const reader = new StatementReader(0, findings, book, take, is_notification ? 'notification' : true)
  let open = true
  for (let at = 0; open && at < document.length; at += CHUNK_CHARS) {
    open = reader.write(document.slice(at, at + CHUNK_CHARS))
    await pause()
  }
  if (open) reader.end()
  const { repeated } = book.findRepeats()
  return { findings, entries, naming: naming.filter(({ entry }) => !repeated.has(entry.statement)) }
}

async function invoicesNamed(
  upload: StatementUpload,
  naming: readonly NamingEntry[],
  report: StatementReport,
): Promise<Map<string, NamedInvoice>> {
  const references = new Set(naming.flatMap((one) => one.references))
  if (references.size > RAIL_LIMITS.upload_references) {
    const most = RAIL_LIMITS.upload_references
    throw new RailFull(
      `The statement has ${references.size} creditor references; at most ${most} are looked up. Send statements of fewer days.`,
    )
  }
  const candidates = new Map<string, StoredInvoice[]>()
  for (const reference of references) candidates.set(reference, await upload.find(reference))
  const found = new Map<string, NamedInvoice>()
  for (const one of naming) {
    const match = matchEntry(one, candidates)
    if (typeof match === 'string') {
      addUnmatched(report, one, match)
      continue
    }
    const { invoice_id } = match.invoice
    const known = found.get(invoice_id) ?? match
    known.entries.push(one.entry)
    found.set(invoice_id, known)
  }
  return found
}

function matchEntry(
  { entry, references }: NamingEntry,
  candidates: ReadonlyMap<string, StoredInvoice[]>,
): NamedInvoice | StatementUnmatched {
  const known = references.flatMap((reference) => (candidates.get(reference) ?? []).map((invoice) => ({ reference, invoice })))
  const [only, other] = known
  if (only === undefined) return 'no_invoice'
  if (other !== undefined) return 'several_invoices'
  const { bank } = readTerms(only.invoice.terms)
  if (bank === null) return 'no_invoice'
  if (accountKey(entry.account)?.text !== bank.iban) return 'other_account'
  return entry.status === 'BOOK' ? { ...only, bank, entries: [] } : 'not_booked'
}

function addUnmatched({ counts, unmatched }: StatementReport, { entry, references }: NamingEntry, reason: StatementUnmatched): void {
  counts[reason]++
  if (unmatched.length >= RAIL_LIMITS.upload_shown) return
  const { amount_minor, currency, remittance } = entry
  const amount = bankText(amount_minor, currency)
  const shown = {
    reference: references[0] ?? '',
    amount,
    currency: printableText(currency) ?? '',
    booked_on: remittance?.booked_on ?? null,
  }
  unmatched.push({ reason, entry: entry.entry, ...shown })
}

async function confirmInvoice(
  store: Pick<InvoiceStore, 'close_by_bank'>,
  upload: StatementUpload,
  { invoice, bank, reference, entries }: NamedInvoice,
): Promise<ConfirmedInvoice> {
  const { iban, currency, amount } = bank
  const asked_minor = bankDueMinor(bank)
  const [judgement] = judgeBookings([{ reference, asked_minor, bookings: entries.map(bookingOf) }], { iban, currency })
  const [entry] = entries
  const is_exact =
    entry !== undefined &&
    entries.length === 1 &&
    judgement?.verdict === 'SETTLED' &&
    entry.direction === 'CRDT' &&
    !entry.returned &&
    entry.currency === currency &&
    entry.amount_minor === asked_minor
  const evidence = entry === undefined ? null : evidenceOf(upload, bank, reference, entry)
  const outcome =
    is_exact && evidence !== null
      ? CLOSE_OUTCOMES[await store.close_by_bank(closingOf(invoice, entry, evidence), upload.now_ms)]
      : VERDICT_OUTCOMES[judgement?.verdict ?? 'UNCLEAR']
  const text = (minor: bigint | null | undefined) => (minor === null || minor === undefined ? null : bankText(minor, currency))
  return {
    invoice_id: invoice.invoice_id,
    reference,
    outcome,
    message: OUTCOME_TEXTS[outcome],
    currency,
    expected: amount,
    received: text(judgement?.received_minor),
    delta: text(judgement?.delta_minor),
    booked_on: evidence?.booked_on ?? null,
    entry_reference: evidence?.entry_reference ?? null,
  }
}

function bookingOf(entry: BankEntry) {
  const { direction, returned, currency, amount_minor, charges_minor, instructed } = entry
  const instructed_minor = instructed?.currency === currency ? instructed.amount_minor : null
  return { direction, returned, currency, amount_minor, charges_minor, instructed_minor }
}

function evidenceOf(
  { document_sha256, confirmed_by, now_ms }: StatementUpload,
  { iban, currency, amount }: BankTerms,
  reference: string,
  { remittance }: BankEntry,
): BankPayment {
  const keyOrNull = (text: string | null | undefined) => keyText(text ?? '') || null
  return {
    amount,
    currency,
    iban,
    reference,
    booked_on: remittance?.booked_on ?? null,
    statement_id: keyOrNull(remittance?.statement_id),
    entry_reference: keyOrNull(remittance?.entry_reference),
    document_sha256,
    confirmed_by,
    confirmed_at: instant(Math.floor(now_ms / 1_000)),
  }
}

/**
 * The bank's reference of the booking names the entry in a notification and in the statement after it; without one, its place in the statement does.
 * An entry pays one invoice of a merchant that signed; an unsigned invoice uses up only its own entries.
 */
function closingOf({ invoice_id, merchant, issue_signature }: StoredInvoice, entry: BankEntry, evidence: BankPayment): BankClosing {
  const scope = issue_signature === null ? invoice_id : merchant
  const { booking, remittance, detail } = entry
  const place = [remittance?.statement_id ?? '', remittance?.sequence ?? '', remittance?.page ?? '', entry.entry]
  const named = booking === null ? place : [booking]
  const text = canonicalText([scope, evidence.iban, evidence.reference, ...named, detail])
  return { invoice_id, merchant, bank_entry: nobleCrypto.keccak256Hex(text), bank_payment: canonicalText(evidence) }
}
