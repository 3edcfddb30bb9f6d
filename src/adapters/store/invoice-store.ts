import type {
  BankCloseResult,
  BankClosing,
  BankReport,
  DepositForward,
  DepositOrigin,
  InvoiceBounds,
  InvoiceKeepResult,
  InvoicePayment,
  InvoiceStore,
  NewInvoice,
  OtherAsset,
  InvoiceSignResult,
  StoredInvoice,
  WaitingDeposit,
} from '../../ports/invoices.ts'
import { assertStorable, execute, readAll, readFirst, readOne, type Work } from './database.ts'
import * as sql from './invoice-statements.ts'
import { forgetMerchant, SqlInvoiceWatchStore } from './invoice-watch-store.ts'
import { WATCH_MERCHANT } from './invoice-watch-statements.ts'
import { noteBankPayment, noteExpired, noteMerchantAct, notePayment, noteSignature, openInvoice } from './invoice-events.ts'
import { CONTEXTS, HASH_USES, type SealedText } from './sealed-text.ts'
import { hashesOf, inOrderOfBooking, openReport, SEAL_REPORT, type SealedReport, sealReport } from './sealed-rows.ts'

const SAME_REFERENCE = 10

/** Invoices in the SQL that both databases share. */
export class SqlInvoiceStore extends SqlInvoiceWatchStore implements InvoiceStore {
  async keep(given: NewInvoice, bounds: InvoiceBounds): Promise<InvoiceKeepResult> {
    const invoice = sealInvoice(this.texts, given)
    const { invoice_id, merchant, nonces, network, issue_signature } = invoice
    assertStorable(sql.INSERT, invoice)
    for (const nonce of nonces) assertStorable(sql.INSERT_NONCE, { nonce, invoice_id })
    // Creations that share a bound run one after the other, so that none exceeds it.
    const alone_with = issue_signature === null && network !== null ? network : merchant.slice(2)
    const kept = await this.database.atomically(() => keep(this.texts, invoice, bounds), { alone_with })
    return 'invoice' in kept ? { ...kept, invoice: openInvoice(this.texts, kept.invoice) } : kept
  }

  find(invoice_id: string): Promise<StoredInvoice | null> {
    return this.#opened(this.database.readFirst(sql.FIND, { invoice_id }))
  }

  payments(invoice_id: string): Promise<InvoicePayment[]> {
    return this.database.readAll(sql.READ_PAYMENTS, { invoice_id })
  }

  find_by_nonce(nonce: string): Promise<StoredInvoice | null> {
    return this.#opened(this.database.readFirst(sql.FIND_BY_NONCE, { nonce }))
  }

  find_by_deposit(address: string): Promise<StoredInvoice | null> {
    return this.#opened(this.database.readFirst(sql.FIND_BY_DEPOSIT, { deposit_address: address }))
  }

  plain_candidates(merchant: string, at_s: number, limit: number): Promise<StoredInvoice[]> {
    return this.#openedAll(this.database.readAll(sql.READ_PLAIN_CANDIDATES, { merchant, now_s: at_s, limit }))
  }

  attribute(payment: InvoicePayment, now_ms: number): Promise<boolean> {
    return this.database.atomically(() => attribute(this.texts, payment, now_ms))
  }

  unfinal(merchant: string, limit: number): Promise<InvoicePayment[]> {
    return this.database.readAll(sql.READ_UNFINAL, { merchant, limit })
  }

  settle_block(payment: InvoicePayment, now_ms: number): Promise<void> {
    const { texts } = this
    return this.database.atomically(function* (): Work<void> {
      if (!(yield* execute(sql.SETTLE_BLOCK, payment))) return
      yield* addWaiting(payment)
      yield* execute(sql.TOUCH, { invoice_id: payment.invoice_id, now_ms })
      yield* notePayment(texts, payment, now_ms)
    })
  }

  withdraw(payment: Pick<InvoicePayment, 'transaction' | 'log_index' | 'invoice_id'>, now_ms: number): Promise<void> {
    return this.database.atomically(function* (): Work<void> {
      if (yield* execute(sql.WITHDRAW, payment)) yield* addMark(payment.invoice_id, 'reorged', now_ms)
    })
  }

  add_mark(invoice_id: string, mark: string, now_ms: number): Promise<void> {
    return this.database.atomically(() => addMark(invoice_id, mark, now_ms))
  }

  async set_closed(invoice_id: string, closed: boolean): Promise<void> {
    await this.database.execute(sql.SET_CLOSED, { invoice_id, closed })
  }

  async sign(invoice_id: string, signature: string, now_ms: number, most_open: number): Promise<InvoiceSignResult> {
    assertStorable(sql.SIGN, { invoice_id, issue_signature: signature, now_ms })
    const open = await this.database.readFirst(sql.READ_SIGNABLE, { invoice_id })
    const alone = open === null ? {} : { alone_with: open.merchant.slice(2) }
    return this.database.atomically(() => sign(this.texts, invoice_id, signature, now_ms, most_open), alone)
  }

  void(invoice_id: string, signature: string, now_ms: number): Promise<boolean> {
    return this.database.atomically(() => voidInvoice(this.texts, invoice_id, signature, now_ms))
  }

  async page_of(merchant: string, at_s: number, after: number, limit: number): Promise<{ number: number; invoice: StoredInvoice }[]> {
    const page = await this.database.readAll(sql.READ_PAGE, { merchant, now_s: at_s, after, limit })
    return page.map(({ number, ...invoice }) => ({ number, invoice: openInvoice(this.texts, invoice) }))
  }

  async signed_by(merchant: string, before: number, limit: number): Promise<{ number: number; invoice: StoredInvoice }[]> {
    const page = await this.database.readAll(sql.READ_SIGNED, { merchant, before, limit })
    return page.map(({ number, ...invoice }) => ({ number, invoice: openInvoice(this.texts, invoice) }))
  }

  async was_paid(merchant: string): Promise<boolean> {
    return (await this.database.readFirst(sql.READ_PAID, { merchant })) !== null
  }

  signed_by_reference(merchant: string, reference: string): Promise<StoredInvoice[]> {
    const bank_reference = this.texts.hash(reference, HASH_USES.bank_reference)
    const params = { merchant, bank_reference, unsealed_reference: reference, limit: SAME_REFERENCE }
    return this.#openedAll(this.database.readAll(sql.READ_BY_BANK_REFERENCE, params))
  }

  async close_by_bank(closing: BankClosing, now_ms: number): Promise<BankCloseResult> {
    const bank_payment = this.texts.seal(closing.bank_payment, CONTEXTS.bank_payment(closing.invoice_id))
    const sealed = { ...closing, bank_payment }
    assertStorable(sql.CLOSE_BY_BANK, { ...sealed, now_ms })
    // One at a time for a merchant, so that two invoices cannot be paid by one entry.
    return this.database.atomically(() => closeByBank(this.texts, sealed, now_ms), { alone_with: closing.merchant.slice(2) })
  }

  async bank_reports(invoice_id: string): Promise<BankReport[]> {
    const rows = await this.database.readAll(sql.READ_BANK_REPORTS, { invoice_id })
    return rows.map((row) => openReport(this.texts, row)).toSorted(inOrderOfBooking)
  }

  report_bank(reports: readonly BankReport[], now_ms: number): Promise<number> {
    const sealed = reports.map((report) => ({ given: report, row: sealReport(this.texts, report) }))
    return this.database.atomically(() => reportBank(sealed, now_ms))
  }

  note_forward(seen: DepositForward, now_ms: number): Promise<boolean> {
    return this.database.atomically(() => noteForward(seen, now_ms))
  }

  forwards(invoice_id: string): Promise<DepositForward[]> {
    return this.database.readAll(sql.READ_FORWARDS, { invoice_id })
  }

  waiting_deposits(least_minor: bigint, now_ms: number, limit: number): Promise<WaitingDeposit[]> {
    return this.database.readAll(sql.READ_WAITING, { least_minor, now_ms, limit })
  }

  try_sweep(invoice_ids: readonly string[], now_ms: number, pause_ms: number): Promise<void> {
    return this.database.atomically(() => trySweep(invoice_ids, now_ms, pause_ms))
  }

  deposit_origin(invoice_id: string): Promise<DepositOrigin | null> {
    return this.database.readFirst(sql.READ_ORIGIN, { invoice_id })
  }

  put_off_sweep(invoice_ids: readonly string[], until_ms: number): Promise<void> {
    return this.database.atomically(() => putOffSweep(invoice_ids, until_ms))
  }

  other_assets(invoice_id: string): Promise<OtherAsset[]> {
    return this.database.readAll(sql.READ_OTHER_ASSETS, { invoice_id })
  }

  note_other_asset(seen: OtherAsset, now_ms: number): Promise<boolean> {
    return this.database.atomically(() => noteOtherAsset(seen, now_ms))
  }

  async #opened(found: Promise<StoredInvoice | null>): Promise<StoredInvoice | null> {
    const row = await found
    return row === null ? null : openInvoice(this.texts, row)
  }

  async #openedAll(found: Promise<StoredInvoice[]>): Promise<StoredInvoice[]> {
    return (await found).map((row) => openInvoice(this.texts, row))
  }

  note_expired(now_ms: number, limit: number): Promise<number> {
    return this.database.atomically(() => noteExpired(this.texts, now_ms, limit))
  }
}

function* sign(texts: SealedText, invoice_id: string, issue_signature: string, now_ms: number, most_open: number): Work<InvoiceSignResult> {
  const open = yield* readFirst(sql.READ_SIGNABLE, { invoice_id })
  if (open !== undefined && (yield* isSignedFull(open.merchant, now_ms, most_open))) return 'full'
  if (yield* execute(sql.SIGN, { invoice_id, issue_signature, now_ms })) {
    yield* noteSignature(texts, invoice_id, now_ms)
    return 'kept'
  }
  return (yield* execute(sql.FIND, { invoice_id })) ? 'kept' : 'gone'
}

function* isSignedFull(merchant: string, now_ms: number, most_open: number): Work<boolean> {
  return (yield* readOne(sql.COUNT_SIGNED, { merchant, now_s: Math.floor(now_ms / 1_000) })).open >= most_open
}

/** Outcome for a request key that came before; null for a new one. */
function* keptBefore({ request_key, content_hash, unsealed_hash }: ReturnType<typeof sealInvoice>): Work<InvoiceKeepResult | null> {
  const known = request_key === null ? undefined : yield* readFirst(sql.READ_BY_REQUEST, { request_key })
  if (known === undefined) return null
  const { content_hash: known_hash, ...invoice } = known
  return known_hash === content_hash || known_hash === unsealed_hash ? { kind: 'same', invoice } : { kind: 'conflict' }
}

/** The invoice as it is stored. `unsealed_hash` is that of a row of an earlier release. */
function sealInvoice(texts: SealedText, invoice: NewInvoice) {
  const { invoice_id, bank_reference, content_hash } = invoice
  return {
    ...invoice,
    creator: invoice.creator ?? invoice.network,
    terms: texts.seal(invoice.terms, CONTEXTS.terms(invoice_id)),
    bank_reference: bank_reference === null ? null : texts.hash(bank_reference, HASH_USES.bank_reference),
    content_hash: texts.hash(content_hash, HASH_USES.content),
    unsealed_hash: content_hash,
  }
}

function* keep(texts: SealedText, invoice: ReturnType<typeof sealInvoice>, bounds: InvoiceBounds): Work<InvoiceKeepResult> {
  const { invoice_id, merchant, network, issue_signature, created_ms } = invoice
  const known = yield* keptBefore(invoice)
  if (known !== null) return known
  if (bounds.only_known === true) return { kind: 'unknown' }
  if (issue_signature !== null && (yield* isSignedFull(merchant, created_ms, bounds.merchant_signed))) return { kind: 'merchant_full' }
  const created = yield* readFirst(sql.INSERT, invoice)
  // The same request key with another merchant came at the same moment, under another lock.
  if (created === undefined) return (yield* keptBefore(invoice)) ?? { kind: 'conflict' }
  for (const nonce of invoice.nonces) yield* execute(sql.INSERT_NONCE, { nonce, invoice_id })
  yield* execute(WATCH_MERCHANT, { merchant, until_s: invoice.watch_until_s, due_ms: created_ms, rank_ms: created_ms })
  if (issue_signature === null) yield* evictOldest(network, bounds)
  else yield* noteMerchantAct(texts, invoice_id, 'invoice.created', created_ms)
  return { kind: 'created', invoice: created }
}

/** Makes room for an unsigned invoice, which is stored already and is the newest. */
function* evictOldest(network: string | null, bounds: InvoiceBounds): Work<void> {
  if (network === null) return yield* evictBeyond(sql.OF_CALLS, '', bounds.calls_unsigned)
  yield* evictBeyond(sql.OF_NETWORK, network, bounds.network_unsigned)
  return yield* evictBeyond(sql.OF_ALL_NETWORKS, '', bounds.all_unsigned)
}

/** Invoices that one creation evicts at most. */
const EVICTED_MAX = 100

/** An invoice with money or evidence stays; it is marked as held, and never counted or considered again. */
function* evictBeyond(pool: sql.UnsignedPool, network: string, most: number): Work<void> {
  const beyond = Math.min((yield* readOne(pool.count, { network })).open - most, EVICTED_MAX)
  if (beyond <= 0) return
  for (const { number } of yield* readAll(pool.oldest, { network, limit: beyond })) {
    // The check comes after the lock: a statement that waited for the lock would still use what it saw before.
    const evicted = yield* readFirst(sql.EVICT, { number })
    if (evicted === undefined) yield* execute(sql.HOLD, { number })
    else {
      yield* execute(sql.FORGET_NONCES, evicted)
      yield* forgetMerchant(evicted.merchant)
    }
  }
}

/** The lock comes first: a statement that waited for it would still use what it saw before it waited. */
function* voidInvoice(texts: SealedText, invoice_id: string, void_signature: string, now_ms: number): Work<boolean> {
  yield* execute(sql.LOCK_INVOICE, { invoice_id })
  if (!(yield* execute(sql.VOID_INVOICE, { invoice_id, void_signature, now_ms }))) return false
  yield* noteMerchantAct(texts, invoice_id, 'invoice.voided', now_ms)
  return true
}

/** Payments on the chain that reached the amount come first: the bank transfer is then a second payment, which the merchant returns. */
function* closeByBank(texts: SealedText, closing: BankClosing, now_ms: number): Work<BankCloseResult> {
  const { invoice_id, bank_entry } = closing
  const locked = yield* readFirst(sql.LOCK_INVOICE, { invoice_id })
  if (locked === undefined) return 'gone'
  if (locked.issue_signature === null) return 'unsigned'
  const used = yield* readFirst(sql.READ_BY_BANK_ENTRY, { bank_entry })
  if (locked.bank_paid_ms !== null) return used?.invoice_id === invoice_id ? 'same' : 'paid'
  if (locked.voided_ms !== null) return 'void'
  if (used !== undefined) return 'entry_used'
  const payments = yield* readAll(sql.READ_PAYMENTS, { invoice_id })
  if (payments.reduce((sum, { amount_minor }) => sum + amount_minor, 0n) >= locked.amount_minor) return 'on_chain'
  if (!(yield* execute(sql.CLOSE_BY_BANK, { ...closing, now_ms }))) return 'under_way'
  yield* noteBankPayment(texts, invoice_id, bank_entry, now_ms)
  return 'closed'
}

function* attribute(texts: SealedText, payment: InvoicePayment, now_ms: number): Work<boolean> {
  // A locked invoice is not evicted; one that was evicted is not found.
  yield* execute(sql.LOCK_INVOICE, payment)
  if (!(yield* execute(sql.ATTRIBUTE, payment))) return false
  yield* addWaiting(payment)
  yield* execute(sql.TOUCH, { invoice_id: payment.invoice_id, now_ms })
  yield* notePayment(texts, payment, now_ms)
  return true
}

function* noteOtherAsset(seen: OtherAsset, now_ms: number): Work<boolean> {
  yield* execute(sql.LOCK_INVOICE, seen)
  if (!(yield* execute(sql.NOTE_OTHER_ASSET, seen))) return false
  yield* addMark(seen.invoice_id, 'wrong_asset', now_ms)
  return true
}

function* reportBank(reports: readonly SealedReport[], now_ms: number): Work<number> {
  let changed = 0
  const touched = new Set<string>()
  // A locked invoice is not evicted meanwhile.
  const named = new Set(reports.map(({ row }) => row.invoice_id))
  for (const invoice of [...named].toSorted()) yield* execute(sql.LOCK_INVOICE, { invoice_id: invoice })
  for (const { given, row } of reports) {
    // The same entry may have been reported to a release that stored its names.
    yield* execute(SEAL_REPORT, { ...row, statement_id: given.statement_id, entry_reference: given.entry_reference, ...hashesOf(row) })
    if (!(yield* execute(sql.REPORT_BANK, row))) continue
    changed += 1
    touched.add(row.invoice_id)
  }
  for (const invoice of touched) yield* execute(sql.TOUCH, { invoice_id: invoice, now_ms })
  return changed
}

/** Adds a word, once, to those for what the payments of an invoice do not show. */
function* addMark(invoice_id: string, mark: string, now_ms: number): Work<void> {
  const known = yield* readFirst(sql.LOCK_MARKS, { invoice_id })
  if (known === undefined) return
  const marks = new Set(known.marks.split(',').filter(Boolean))
  if (!marks.has(mark)) yield* execute(sql.WRITE_MARKS, { invoice_id, marks: [...marks.add(mark)].toSorted().join(','), now_ms })
}

/** Adds a deposit in a final block to what waits for a sweep. The caller knows that it was not added before. */
function* addWaiting({ invoice_id, amount_minor, matched_by, final }: InvoicePayment): Work<void> {
  if (final && matched_by === 'deposit') yield* execute(sql.ADD_WAITING, { invoice_id, waiting_minor: amount_minor })
}

function* noteForward(seen: DepositForward, now_ms: number): Work<boolean> {
  yield* execute(sql.LOCK_INVOICE, seen)
  if (!(yield* execute(sql.INSERT_FORWARD, seen))) return false
  yield* execute(sql.SUBTRACT_WAITING, seen)
  yield* execute(sql.TOUCH, { invoice_id: seen.invoice_id, now_ms })
  return true
}

function* trySweep(invoice_ids: readonly string[], now_ms: number, pause_ms: number): Work<void> {
  for (const invoice_id of invoice_ids) yield* execute(sql.TRY_SWEEP, { invoice_id, now_ms, pause_ms })
}

function* putOffSweep(invoice_ids: readonly string[], until_ms: number): Work<void> {
  for (const invoice_id of invoice_ids) yield* execute(sql.PUT_OFF_SWEEP, { invoice_id, until_ms })
}
