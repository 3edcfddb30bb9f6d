/**
 * Invoices as the store keeps them: terms that never change, the transfers that were attributed to each, and how far each merchant's transfers
 * have been read. One log settles one invoice only, which is a primary key and no memory of a process. Addresses, hashes and nonces are
 * 0x-prefixed lower-case hex; times are milliseconds since 1970 unless they say `_s`.
 */

export interface StoredInvoice {
  invoice_id: string
  merchant: string
  amount_minor: bigint
  /** Canonical JSON; the store never looks into it. */
  terms: string
  created_ms: number
  /** Last second in which it is paid in time. */
  expires_s: number
  /** Null for an invoice of a release without deposit addresses, and for the specimen. */
  deposit_address: string | null
  /** The merchant's signatures over issuing and over voiding. */
  issue_signature: string | null
  void_signature: string | null
  voided_ms: number | null
  /** When its merchant confirmed a bank transfer that pays it; null while it has not. */
  bank_paid_ms: number | null
  /**
   * Evidence of the transfer (canonical JSON; the store never looks into it). Without `bank_paid_ms`, a report that the creator of the invoice sent to
   * an earlier release, which its merchant has not confirmed.
   */
  bank_payment: string | null
  /** No transfer in time can still be expected: it no longer counts against the bounds on open invoices. */
  closed: boolean
  /** Words for what the payments do not show, sorted and joined by commas. */
  marks: string
  updated_ms: number
  /** When its personal details were erased; null while they are kept. */
  erased_ms: number | null
}

export interface NewInvoice {
  invoice_id: string
  merchant: string
  amount_minor: bigint
  terms: string
  created_ms: number
  expires_s: number
  /** Transfers to the merchant are looked for until then. */
  watch_until_s: number
  /** Nonces that payers sign to name this invoice. */
  nonces: readonly string[]
  /** Digest of what was asked for. */
  content_hash: string
  /** Digest of the caller's own key for the request; null for none. */
  request_key: string | null
  /** Keyed hash of the network that created it; null for an invoice made by a call, which was paid for or took a free unit. */
  network: string | null
  /** Keyed hash of the network of the client that created it, for shares of what is sponsored; left out, that of `network`. */
  creator?: string | null
  deposit_address: string
  /** Of a merchant that signed before it created the invoice; null for an unsigned one. */
  issue_signature: string | null
  /** Creditor reference by which bank statements name it; null without bank details. */
  bank_reference: string | null
}

/** A booked bank transfer of the whole amount that its merchant confirms. */
export interface BankClosing {
  invoice_id: string
  merchant: string
  /** Names the entry of the bank: it pays one invoice. */
  bank_entry: string
  bank_payment: string
}

/**
 * `same`: this entry paid the invoice before. `paid`: another entry did. `entry_used`: the entry paid another invoice. `on_chain`: payments on the
 * chain reach the amount. `under_way`: a payment is on its way to the chain. `unsigned`: the merchant has not signed the invoice.
 */
export type BankCloseResult = 'closed' | 'unsigned' | 'same' | 'paid' | 'entry_used' | 'on_chain' | 'under_way' | 'void' | 'gone'

/**
 * Unsigned invoices never count against their merchant. Each creating network has a bound, all networks together have one, and those made by
 * calls have their own; beyond a bound the oldest are evicted, unless they have a payment, a claim or evidence.
 */
export interface InvoiceBounds {
  network_unsigned: number
  all_unsigned: number
  calls_unsigned: number
  /** Open invoices of a merchant that it signed. Beyond them a signed one is refused. */
  merchant_signed: number
  /** Creates nothing: only the invoice of an earlier request with the same key is returned. */
  only_known?: boolean
}

/**
 * `same`: this request key came before with the same content. `conflict`: with other content. `unknown`: it did not come before, and only known
 * invoices were asked for. Unsigned invoices are never refused as full.
 */
export type InvoiceKeepResult = { kind: 'created' | 'same'; invoice: StoredInvoice } | { kind: 'conflict' | 'merchant_full' | 'unknown' }

export interface InvoicePayment {
  transaction: string
  log_index: number
  invoice_id: string
  payer: string
  amount_minor: bigint
  block_number: number
  block_hash: string
  block_time_s: number
  /**
   * `eip3009`: the authorization names the invoice. `x402`: it was claimed for the invoice here. `transfer`: the one open invoice it fits.
   * `deposit`: it went to the deposit address of the invoice.
   */
  matched_by: 'eip3009' | 'x402' | 'transfer' | 'deposit'
  /** Of the authorization; null for a plain transfer. */
  nonce: string | null
  confirmed: boolean
  final: boolean
}

/** Outcome of a statement that a merchant sent, for an invoice that it names. Only `closed` changes it. */
export const STATEMENT_OUTCOMES = [
  'closed',
  'already_closed',
  'second_entry',
  'not_signed',
  'under',
  'over',
  'other_currency',
  'returned',
  'unclear',
  'void',
  'paid_on_chain',
  'payment_under_way',
  'entry_used',
] as const
export type StatementOutcome = (typeof STATEMENT_OUTCOMES)[number]

/** Why an entry of such a statement that names a reference counts for no invoice. */
export const STATEMENT_UNMATCHED = ['no_invoice', 'several_invoices', 'other_account', 'not_booked'] as const
export type StatementUnmatched = (typeof STATEMENT_UNMATCHED)[number]

/** Verdict on a bank statement about its invoice; reconciliation considers all entries together. */
export const BANK_VERDICTS = ['SETTLED', 'PARTIAL', 'OVER', 'DUPLICATE_PAYMENT', 'RETURNED', 'OTHER_CURRENCY', 'UNCLEAR'] as const
type BankVerdict = (typeof BANK_VERDICTS)[number]

/** One booked entry of a bank statement that names an invoice. A report of the bank, never a payment that was seen. */
export interface BankReport {
  statement_id: string
  /** Of the entry within the statement; the two together name it for good. */
  entry_reference: string
  invoice_id: string
  /** YYYY-MM-DD; null where the bank does not say. */
  booked_on: string | null
  direction: 'CRDT' | 'DBIT'
  /** Marked as a reversal or return. */
  returned: boolean
  currency: string
  /** In the minor unit of that currency. */
  amount_minor: bigint
  /** Charges inside the amount. */
  charges_minor: bigint
  /** Instructed amount in the same currency, where the bank repeats it. */
  instructed_minor: bigint | null
  verdict: BankVerdict
  reported_ms: number
}

/** Something else than the asked token that reached the merchant for an invoice. It never settles anything. */
export interface OtherAsset {
  transaction: string
  /** -1 for the chain's own coin, which leaves no log. */
  log_index: number
  invoice_id: string
  /** CAIP-19. */
  asset: string
  payer: string
  /** In the smallest unit of the asset; up to 256 bits. */
  amount: bigint
  block_number: number
  block_time_s: number
  /** `nonce`: the authorization has a nonce of the invoice. `submitted`: a client with the invoice id named the transaction. */
  named_by: 'nonce' | 'submitted'
}

/** Transfer from a deposit address to its merchant, in a final block. */
export interface DepositForward {
  transaction: string
  log_index: number
  invoice_id: string
  amount_minor: bigint
  block_number: number
  block_time_s: number
}

/** Deposits of an invoice in final blocks that no transfer has forwarded yet. */
export interface WaitingDeposit {
  invoice_id: string
  merchant: string
  waiting_minor: bigint
}

/** Parties behind the deposit of an invoice, and whether its sweep waits. */
export interface DepositOrigin {
  /** Keyed hash of the network that created the invoice; null where it is not known. */
  creator: string | null
  /** Sender of the largest deposit; null without one. */
  funder: string | null
  /** A share of a day was used up: the deposit is forwarded after this time. Null while none was. */
  put_off_ms: number | null
}

/** `full`: the merchant has signed as many open invoices as are taken. `gone`: there is no such invoice, or it was evicted. */
export type InvoiceSignResult = 'kept' | 'full' | 'gone'

/** A merchant whose transfers are to be read. */
export interface WatchedMerchant {
  merchant: string
  /** First block that is not closed; null before the first look. */
  next_block: number | null
  looked_ms: number
  /** Transfers are looked for until then. */
  until_s: number
  /** Time of the next look. */
  due_ms: number
  /** Pause after the last look; it doubles while nothing is found. */
  wait_ms: number
  /** Place in the order of looks. */
  rank_ms: number
  /** Payments on the chain were seen of enough of its invoices: it is looked at before merchants that only signed. */
  proven: boolean
}

/** A look at a merchant. What became due since it was read, as `was_due_ms` shows, stays due. */
export interface MerchantLook extends Omit<WatchedMerchant, 'until_s' | 'next_block'> {
  next_block: number
  was_due_ms: number
}

/** Remainder of an invoice that expired unpaid and was deleted: its deposit address follows from it. */
export interface PurgedInvoice {
  invoice_id: string
  merchant: string
  expires_s: number
}

/**
 * Seconds for which transfers are read after the watch of an invoice has ended, and by which its last reading is later: transfers to deposit addresses of
 * expired invoices are read when their block is final.
 */
export const WATCH_MARGIN_S = 3_600

/** Progress of reading the transfers of merchants, and the deposit addresses that are searched. */
export interface InvoiceWatchStore {
  /** Merchants that are due, in the order of their ranks, until their transfers were read after the watch of their last invoice. */
  due_merchants(proven: boolean, now_ms: number, limit: number): Promise<WatchedMerchant[]>
  /** Merchants that are due later, the one looked at longest ago first. */
  next_merchants(now_ms: number, limit: number): Promise<WatchedMerchant[]>
  /** Merchants with payments in blocks that are not final, the one looked at longest ago first. */
  unsettled_merchants(limit: number): Promise<WatchedMerchant[]>
  watch_of(merchant: string): Promise<WatchedMerchant | null>
  /** Creation of the oldest invoice of the merchant that was watched at that second; null without one. */
  watched_since(merchant: string, at_s: number): Promise<number | null>
  record_looks(looks: readonly MerchantLook[]): Promise<void>
  /** Makes a merchant due that would be looked at later. */
  wake(merchant: string, now_ms: number): Promise<void>
  /** Number of its invoices that have a payment on the chain, up to a limit. */
  paid_invoices(merchant: string, limit: number): Promise<number>
  /**
   * Deposit addresses of this merchant that are watched at that second, those after a number; `number` is that place. `open`: of invoices that
   * are neither paid, void nor expired; `late`: all others.
   */
  deposits_of(
    merchant: string,
    which: 'open' | 'late',
    at_s: number,
    after: number,
    limit: number,
  ): Promise<{ number: number; deposit_address: string | null }[]>
  /** The same of several merchants, up to a limit. */
  deposits_among(
    merchants: readonly string[],
    which: 'open' | 'late',
    at_s: number,
    limit: number,
  ): Promise<{ merchant: string; deposit_address: string | null }[]>
  /**
   * Deletes invoices that have no payment, claim or evidence and whose transfers were read after their watch, up to a limit, and what is known of deleted ones since before
   * a time. Returns how many invoices it deleted.
   */
  purge_unpaid(now_ms: number, forget_before_ms: number, limit: number): Promise<number>
  /** Null for an invoice that was not deleted in this way. */
  purged(invoice_id: string): Promise<PurgedInvoice | null>
}

export interface InvoiceStore extends InvoiceWatchStore {
  /** Keeps the invoice; an unsigned one makes room for itself by evicting the oldest beyond the bounds. */
  keep(invoice: NewInvoice, bounds: InvoiceBounds): Promise<InvoiceKeepResult>
  find(invoice_id: string): Promise<StoredInvoice | null>
  payments(invoice_id: string): Promise<InvoicePayment[]>
  find_by_nonce(nonce: string): Promise<StoredInvoice | null>
  find_by_deposit(address: string): Promise<StoredInvoice | null>
  /** Of this merchant, signed by it and not expired at that second, in the order in which they were made. */
  plain_candidates(merchant: string, at_s: number, limit: number): Promise<StoredInvoice[]>
  /** Attributes a log unless it is attributed already; true when this call did. */
  attribute(payment: InvoicePayment, now_ms: number): Promise<boolean>
  /** Payments to the merchant whose block is not final. */
  unfinal(merchant: string, limit: number): Promise<InvoicePayment[]>
  /** Updates the block of a payment; no change when the payment was withdrawn. */
  settle_block(payment: InvoicePayment, now_ms: number): Promise<void>
  /** Takes a payment away whose block was reorganised, and marks its invoice. */
  withdraw(payment: Pick<InvoicePayment, 'transaction' | 'log_index' | 'invoice_id'>, now_ms: number): Promise<void>
  add_mark(invoice_id: string, mark: string, now_ms: number): Promise<void>
  set_closed(invoice_id: string, closed: boolean): Promise<void>
  /** Keeps the merchant's signature; the first stays. At most so many open ones of a merchant are signed. */
  sign(invoice_id: string, signature: string, now_ms: number, most_open: number): Promise<InvoiceSignResult>
  /** Voids an invoice that has no payment and is not void; false otherwise. */
  void(invoice_id: string, signature: string, now_ms: number): Promise<boolean>
  /** Of this merchant, watched at that second and not void, in the order in which they were made, those after a number; `number` is that place. */
  page_of(merchant: string, at_s: number, after: number, limit: number): Promise<{ number: number; invoice: StoredInvoice }[]>
  /** Invoices that this merchant signed, the newest first, those before a number; `number` is that place. */
  signed_by(merchant: string, before: number, limit: number): Promise<{ number: number; invoice: StoredInvoice }[]>
  /** Of this merchant, signed by it and not void, with this creditor reference; the newest ten. */
  signed_by_reference(merchant: string, reference: string): Promise<StoredInvoice[]>
  /** Returns true when a payment on the chain was seen of an invoice that this merchant signed. Its own confirmation of a bank transfer costs nothing. */
  was_paid(merchant: string): Promise<boolean>
  /** Marks the invoice as paid by a bank transfer unless it is void, paid, or a payment is on its way to the chain. */
  close_by_bank(closing: BankClosing, now_ms: number): Promise<BankCloseResult>
  bank_reports(invoice_id: string): Promise<BankReport[]>
  /** Keeps what a statement reports, each entry once; the verdict is that of the last run. Returns how many are new or judged otherwise. */
  report_bank(reports: readonly BankReport[], now_ms: number): Promise<number>
  /** Stores a forward once, and takes its amount off what waits; true when this call did. */
  note_forward(seen: DepositForward, now_ms: number): Promise<boolean>
  forwards(invoice_id: string): Promise<DepositForward[]>
  /** Deposits of at least that amount whose pause is over, the largest first. */
  waiting_deposits(least_minor: bigint, now_ms: number, limit: number): Promise<WaitingDeposit[]>
  /** Starts the pause after an attempt to sweep; it doubles until a forward is stored. */
  try_sweep(invoice_ids: readonly string[], now_ms: number, pause_ms: number): Promise<void>
  /** Parties behind the deposit; null for an unknown invoice. */
  deposit_origin(invoice_id: string): Promise<DepositOrigin | null>
  /** Ends the pause after the last attempt at this time, without counting that attempt: nothing was sent. */
  put_off_sweep(invoice_ids: readonly string[], until_ms: number): Promise<void>
  other_assets(invoice_id: string): Promise<OtherAsset[]>
  /**
   * Keeps it for one invoice, and marks the invoice; true when this call did. What was submitted for an unsigned invoice yields to a signed one, and
   * to the invoice whose nonce the payer signed.
   */
  note_other_asset(seen: OtherAsset, now_ms: number): Promise<boolean>
  /** Considers invoices that have expired, each once, for the event of it; returns how many. */
  note_expired(now_ms: number, limit: number): Promise<number>
}
