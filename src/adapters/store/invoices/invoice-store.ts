import type {
  BankReport,
  InvoiceBounds,
  InvoiceKept,
  InvoicePayment,
  InvoiceStore,
  NewInvoice,
  OtherAsset,
  SignKept,
  StoredInvoice,
  WatchedMerchant,
} from '../../../ports/invoices.ts'
import { LOCK_INVOICE } from '../payments/sql-claims.ts'
import { integer, integerOrNull, oneOf, text, textOrNull, wide } from '../rows.ts'
import { assertCounts, assertKeys, assertTexts, assertWide } from '../storable.ts'
import type { Database, Row, Work } from '../work.ts'
import { InvoiceEvidence } from './evidence.ts'
import { addMark } from './marks.ts'
import * as sql from './sql-invoices.ts'

/** Invoices in the SQL that both databases share. */
export class SqlInvoiceStore implements InvoiceStore {
  readonly #database: Pick<Database, 'read' | 'write' | 'atomically'>
  readonly #evidence: InvoiceEvidence

  constructor(database: Pick<Database, 'read' | 'write' | 'atomically'>) {
    this.#database = database
    this.#evidence = new InvoiceEvidence(database)
  }

  async keep(invoice: NewInvoice, bounds: InvoiceBounds): Promise<InvoiceKept> {
    const { invoice_id, merchant, content_hash, terms, amount_minor, created_ms, expires_s, watch_until_s, nonces, network } = invoice
    assertKeys({ invoice_id, merchant, content_hash, request_key: invoice.request_key ?? '-', network: network ?? '-' })
    assertKeys(Object.fromEntries(nonces.entries()))
    assertTexts({ terms, issue_signature: invoice.issue_signature ?? '-' })
    assertWide({ amount_minor })
    assertCounts({ created_ms, expires_s, watch_until_s })
    // Creations that share a bound run one after the other, so that none slips past it.
    const alone_with = invoice.issue_signature === null && network !== null ? network : merchant.slice(2)
    return this.#database.atomically(() => keep(invoice, bounds), { alone_with })
  }

  async find(invoice_id: string): Promise<StoredInvoice | null> {
    assertKeys({ invoice_id })
    return orNull(await this.#database.read(sql.FIND, [invoice_id]))
  }

  async payments(invoice_id: string): Promise<InvoicePayment[]> {
    assertKeys({ invoice_id })
    return (await this.#database.read(sql.PAYMENTS, [invoice_id])).map(paymentOf)
  }

  async find_by_nonce(nonce: string): Promise<StoredInvoice | null> {
    assertKeys({ nonce })
    return orNull(await this.#database.read(sql.FIND_BY_NONCE, [nonce]))
  }

  async plain_candidates(merchant: string, at_s: number, limit: number): Promise<StoredInvoice[]> {
    assertKeys({ merchant })
    assertCounts({ at_s, limit })
    return (await this.#database.read(sql.PLAIN, [merchant, at_s, limit])).map(invoiceOf)
  }

  async attribute(payment: InvoicePayment, now_ms: number): Promise<boolean> {
    assertPayment(payment)
    assertCounts({ now_ms })
    return this.#database.atomically(() => attribute(payment, now_ms))
  }

  async unfinal(merchant: string, limit: number): Promise<InvoicePayment[]> {
    assertKeys({ merchant })
    return (await this.#database.read(sql.UNFINAL, [merchant, limit])).map(paymentOf)
  }

  async settle_block(payment: InvoicePayment, now_ms: number): Promise<void> {
    assertPayment(payment)
    assertCounts({ now_ms })
    const { transaction, log_index, block_number, block_hash, block_time_s, confirmed, final } = payment
    const values = [transaction, log_index, block_number, block_hash, block_time_s, Number(confirmed), Number(final)]
    await this.#database.atomically(function* (): Work<null> {
      const [row] = yield { statement: sql.SETTLE_BLOCK, values }
      if (row !== undefined) yield { statement: sql.TOUCH, values: [payment.invoice_id, now_ms] }
      return null
    })
  }

  async withdraw(payment: Pick<InvoicePayment, 'transaction' | 'log_index' | 'invoice_id'>, now_ms: number): Promise<void> {
    const { transaction, log_index, invoice_id } = payment
    assertKeys({ transaction, invoice_id })
    assertCounts({ log_index, now_ms })
    await this.#database.atomically(function* (): Work<null> {
      const [row] = yield { statement: sql.WITHDRAW, values: [transaction, log_index] }
      return row === undefined ? null : yield* addMark(invoice_id, 'reorged', now_ms)
    })
  }

  async add_mark(invoice_id: string, mark: string, now_ms: number): Promise<void> {
    assertKeys({ invoice_id, mark })
    assertCounts({ now_ms })
    await this.#database.atomically(() => addMark(invoice_id, mark, now_ms))
  }

  async set_closed(invoice_id: string, closed: boolean): Promise<void> {
    assertKeys({ invoice_id })
    await this.#database.write(sql.SET_CLOSED, [invoice_id, Number(closed)])
  }

  async sign(invoice_id: string, signature: string, now_ms: number, most_open: number): Promise<SignKept> {
    assertKeys({ invoice_id })
    assertTexts({ signature })
    assertCounts({ now_ms, most_open })
    const [open] = await this.#database.read(sql.SIGNABLE, [invoice_id])
    const alone = open === undefined ? {} : { alone_with: text(open, 'merchant').slice(2) }
    return this.#database.atomically(() => sign(invoice_id, signature, now_ms, most_open), alone)
  }

  async void(invoice_id: string, signature: string, now_ms: number): Promise<boolean> {
    assertKeys({ invoice_id })
    assertTexts({ signature })
    assertCounts({ now_ms })
    return this.#database.atomically(() => voided(invoice_id, signature, now_ms))
  }

  async watched(now_s: number, limit: number): Promise<WatchedMerchant[]> {
    assertCounts({ now_s, limit })
    const signed = await this.#database.read(sql.WATCHED_SIGNED, [now_s, Math.ceil(limit * SIGNED_SHARE)])
    const all = await this.#database.read(sql.WATCHED_AT, [now_s, limit])
    const watched = new Map([...signed, ...all].map((row) => [text(row, 'merchant'), watchOf(row)]))
    return [...watched.values()].slice(0, limit)
  }

  async watch_of(merchant: string): Promise<WatchedMerchant | null> {
    assertKeys({ merchant })
    const [row] = await this.#database.read(sql.WATCH_OF, [merchant])
    return row === undefined ? null : watchOf(row)
  }

  async looked(merchant: string, next_block: number, now_ms: number): Promise<void> {
    assertKeys({ merchant })
    assertCounts({ next_block, now_ms })
    await this.#database.write(sql.LOOKED, [merchant, next_block, now_ms])
  }

  async page_of(merchant: string, at_s: number, after: number, limit: number): Promise<{ number: number; invoice: StoredInvoice }[]> {
    assertKeys({ merchant })
    assertCounts({ at_s, after, limit })
    const rows = await this.#database.read(sql.PAGE, [merchant, at_s, after, limit])
    return rows.map((row) => ({ number: integer(row, 'number'), invoice: invoiceOf(row) }))
  }

  bank_reports(invoice_id: string): Promise<BankReport[]> {
    return this.#evidence.bankReports(invoice_id)
  }

  report_bank(reports: readonly BankReport[], now_ms: number): Promise<number> {
    return this.#evidence.reportBank(reports, now_ms)
  }

  other_assets(invoice_id: string): Promise<OtherAsset[]> {
    return this.#evidence.others(invoice_id)
  }

  note_other_asset(seen: OtherAsset, now_ms: number): Promise<boolean> {
    return this.#evidence.note(seen, now_ms)
  }
}

/** Part of a round that is kept for merchants that signed an invoice. */
const SIGNED_SHARE = 0.8

function* sign(invoice_id: string, signature: string, now_ms: number, most_open: number): Work<SignKept> {
  const [open] = yield { statement: sql.SIGNABLE, values: [invoice_id] }
  if (open !== undefined && (yield* isSignedFull(text(open, 'merchant'), now_ms, most_open))) return 'full'
  const [signed] = yield { statement: sql.SIGN, values: [invoice_id, signature, now_ms] }
  if (signed !== undefined) return 'kept'
  const [found] = yield { statement: sql.FIND, values: [invoice_id] }
  return found === undefined ? 'gone' : 'kept'
}

function* isSignedFull(merchant: string, now_ms: number, most_open: number): Work<boolean> {
  const [signed] = yield { statement: sql.COUNT_SIGNED, values: [merchant, Math.floor(now_ms / 1_000)] }
  return integer(signed, 'open') >= most_open
}

function* keep(invoice: NewInvoice, bounds: InvoiceBounds): Work<InvoiceKept> {
  const { request_key, content_hash, merchant, network, issue_signature, created_ms } = invoice
  const before = function* (): Work<InvoiceKept | null> {
    const [known] = request_key === null ? [] : yield { statement: sql.BY_REQUEST, values: [request_key] }
    if (known === undefined) return null
    return text(known, 'content_hash') === content_hash ? { kind: 'same', invoice: invoiceOf(known) } : { kind: 'conflict' }
  }
  const known = yield* before()
  if (known !== null) return known
  if (issue_signature !== null && (yield* isSignedFull(merchant, created_ms, bounds.merchant_signed))) return { kind: 'merchant_full' }
  const { invoice_id, amount_minor, terms, expires_s, watch_until_s } = invoice
  const values = [invoice_id, merchant, amount_minor, terms, created_ms, expires_s, watch_until_s, content_hash, request_key]
  const [row] = yield { statement: sql.INSERT, values: [...values, network, issue_signature] }
  // The same key with another merchant came at the same moment, past the lock.
  if (row === undefined) return (yield* before()) ?? { kind: 'conflict' }
  for (const nonce of invoice.nonces) yield { statement: sql.INSERT_NONCE, values: [nonce, invoice_id] }
  if (issue_signature === null) yield* evictOldest(network, bounds)
  return { kind: 'created', invoice: invoiceOf(row) }
}

/** Makes room for an unsigned invoice, which is kept already and is the newest. */
function* evictOldest(network: string | null, bounds: InvoiceBounds): Work<null> {
  if (network === null) return yield* evictBeyond(sql.OF_CALLS, [], bounds.calls_unsigned)
  yield* evictBeyond(sql.OF_NETWORK, [network], bounds.network_unsigned)
  return yield* evictBeyond(sql.OF_ALL_NETWORKS, [], bounds.all_unsigned)
}

/** Invoices that one creation evicts at most. */
const EVICTED_MOST = 100

/** An invoice that is found with money or evidence stays; it is marked, and never counted or looked at again. */
function* evictBeyond(pool: sql.UnsignedPool, whose: string[], most: number): Work<null> {
  const [counted] = yield { statement: pool.count, values: whose }
  const beyond = Math.min(integer(counted, 'open') - most, EVICTED_MOST)
  if (beyond <= 0) return null
  for (const row of yield { statement: pool.oldest, values: [...whose, beyond] }) {
    // The check comes after the lock: a statement that waited for it would still go by what it saw before.
    const [evicted] = yield { statement: sql.EVICT, values: [integer(row, 'number')] }
    yield evicted === undefined
      ? { statement: sql.HOLD, values: [integer(row, 'number')] }
      : { statement: sql.FORGET_NONCES, values: [text(evicted, 'invoice_id')] }
  }
  return null
}

/** The lock comes first: a statement that waits for it would still go by what it saw before it waited. */
function* voided(invoice_id: string, signature: string, now_ms: number): Work<boolean> {
  yield { statement: LOCK_INVOICE, values: [invoice_id] }
  return (yield { statement: sql.VOID, values: [invoice_id, signature, now_ms] }).length === 1
}

function* attribute(payment: InvoicePayment, now_ms: number): Work<boolean> {
  const { transaction, log_index, invoice_id, payer, amount_minor, block_number, block_hash, block_time_s, matched_by, nonce } = payment
  const place = [block_number, block_hash, block_time_s]
  const values = [transaction, log_index, invoice_id, payer, amount_minor, ...place, matched_by, nonce]
  // An invoice that is locked is not evicted; one that was evicted is not found.
  yield { statement: LOCK_INVOICE, values: [invoice_id] }
  const [row] = yield { statement: sql.ATTRIBUTE, values: [...values, Number(payment.confirmed), Number(payment.final)] }
  if (row === undefined) return false
  yield { statement: sql.TOUCH, values: [invoice_id, now_ms] }
  return true
}

function assertPayment(payment: InvoicePayment): void {
  const { transaction, invoice_id, payer, block_hash, nonce, amount_minor, log_index, block_number, block_time_s } = payment
  assertKeys({ transaction, invoice_id, payer, block_hash, nonce: nonce ?? '-' })
  assertWide({ amount_minor })
  assertCounts({ log_index, block_number, block_time_s })
}

function orNull([row]: readonly Row[]): StoredInvoice | null {
  return row === undefined ? null : invoiceOf(row)
}

function invoiceOf(row: Row): StoredInvoice {
  return {
    invoice_id: text(row, 'invoice_id'),
    merchant: text(row, 'merchant'),
    amount_minor: wide(row, 'amount_minor'),
    terms: text(row, 'terms'),
    created_ms: integer(row, 'created_ms'),
    expires_s: integer(row, 'expires_s'),
    issue_signature: textOrNull(row, 'issue_signature'),
    void_signature: textOrNull(row, 'void_signature'),
    voided_ms: integerOrNull(row, 'voided_ms'),
    closed: integer(row, 'closed') === 1,
    marks: text(row, 'marks'),
    updated_ms: integer(row, 'updated_ms'),
  }
}

function paymentOf(row: Row): InvoicePayment {
  return {
    transaction: text(row, 'transaction_hash'),
    log_index: integer(row, 'log_index'),
    invoice_id: text(row, 'invoice_id'),
    payer: text(row, 'payer'),
    amount_minor: wide(row, 'amount_minor'),
    block_number: integer(row, 'block_number'),
    block_hash: text(row, 'block_hash'),
    block_time_s: integer(row, 'block_time_s'),
    matched_by: oneOf(row, 'matched_by', ['eip3009', 'x402', 'transfer'] as const),
    nonce: textOrNull(row, 'nonce'),
    confirmed: integer(row, 'confirmed') === 1,
    final: integer(row, 'final') === 1,
  }
}

function watchOf(row: Row): WatchedMerchant {
  return {
    merchant: text(row, 'merchant'),
    next_block: integerOrNull(row, 'next_block'),
    since_ms: integer(row, 'since_ms'),
    looked_ms: integer(row, 'looked_ms'),
  }
}
