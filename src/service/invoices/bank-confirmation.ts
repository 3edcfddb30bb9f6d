import { RAIL_LIMITS } from '../limits.ts'
import type {
  BankCloseResult,
  BankClosing,
  InvoiceStore,
  StatementOutcome,
  StatementUnmatched,
  StoredInvoice,
} from '../../ports/invoices.ts'
import { entryDateFault, type EntryDateFault } from '../../pure/invoices/bank-dates.ts'
import { bankText, judgeBookings, type BankJudgement } from '../../pure/invoices/bank-statements.ts'
import { bankDueMinor, type BankTerms } from '../../pure/invoices/links.ts'
import { instant } from '../../pure/invoices/instant.ts'
import type { BankPayment } from '../../pure/invoices/record-bank.ts'
import { readTerms } from '../../pure/invoices/terms.ts'
import { accountKey, printableText } from '../../pure/documents/reconcile/values.ts'
import { ReadFindings, StatementBook, type BankEntry, type ReadFinding } from '../../pure/documents/reconcile/records.ts'
import { StatementReader } from '../../pure/documents/reconcile/statement-reader.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { keyText, RailFull, referencesOf } from './bank-rail.ts'

/** A bank statement by which a merchant confirms transfers: it signed the SHA-256 of the document. */
interface StatementUpload {
  /** camt.053 or camt.054. */
  document: string
  /** 0x-prefixed. */
  document_sha256: string
  now_ms: number
  /** Invoices that the merchant signed, by creditor reference. */
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
  not_signed: 'The merchant has not signed this invoice, so no statement closes it. Sign the invoice, then send the statement again.',
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
  unsigned: 'not_signed',
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
  /** Why the date of the entry does not fit; null if it does. */
  reason: EntryDateFault | null
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
  const reason = is_exact ? entryDateFault(entry.remittance?.dated ?? null, invoice.created_ms, upload.now_ms) : null
  const outcome =
    is_exact && evidence !== null && reason === null
      ? CLOSE_OUTCOMES[await store.close_by_bank(closingOf(invoice, entry, evidence), upload.now_ms)]
      : VERDICT_OUTCOMES[judgement?.verdict ?? 'UNCLEAR']
  const text = (minor: bigint | null | undefined) => (minor === null || minor === undefined ? null : bankText(minor, currency))
  return {
    invoice_id: invoice.invoice_id,
    reference,
    outcome,
    message: reason?.message ?? OUTCOME_TEXTS[outcome],
    currency,
    expected: amount,
    received: text(judgement?.received_minor),
    delta: text(judgement?.delta_minor),
    booked_on: evidence?.booked_on ?? null,
    entry_reference: evidence?.entry_reference ?? null,
    reason,
  }
}

function bookingOf(entry: BankEntry) {
  const { direction, returned, currency, amount_minor, charges_minor, instructed } = entry
  const instructed_minor = instructed?.currency === currency ? instructed.amount_minor : null
  return { direction, returned, currency, amount_minor, charges_minor, instructed_minor }
}

function evidenceOf(
  { document_sha256, now_ms }: StatementUpload,
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
    booked_on: remittance?.booked_on ?? remittance?.dated?.text.slice(0, DATE_CHARS) ?? null,
    statement_id: keyOrNull(remittance?.statement_id),
    entry_reference: keyOrNull(remittance?.entry_reference),
    document_sha256,
    confirmed_by: 'merchant',
    confirmed_at: instant(Math.floor(now_ms / 1_000)),
  }
}

const DATE_CHARS = 'YYYY-MM-DD'.length

/**
 * The bank's reference of the booking names the entry in a notification and in the statement after it; without one, its place in the statement does.
 * An entry pays one invoice of a merchant.
 */
function closingOf({ invoice_id, merchant }: StoredInvoice, entry: BankEntry, evidence: BankPayment): BankClosing {
  const { booking, remittance, detail } = entry
  const place = [remittance?.statement_id ?? '', remittance?.sequence ?? '', remittance?.page ?? '', entry.entry]
  const named = booking === null ? place : [booking]
  const text = canonicalText([merchant, evidence.iban, evidence.reference, ...named, detail])
  return { invoice_id, merchant, bank_entry: nobleCrypto.keccak256Hex(text), bank_payment: canonicalText(evidence) }
}
