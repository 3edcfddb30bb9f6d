import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { InvoicePayment, InvoiceStore, NewInvoice, StoredInvoice } from '../../src/ports/invoices.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { createDerivation } from '../../src/adapters/derivation/hmac.ts'
import type { ContractSignatures } from '../../src/service/invoices/contract-signature.ts'
import { createInvoiceService, type InvoiceService } from '../../src/service/invoices/invoice-service.ts'
import { createWriteBudget } from '../../src/service/invoices/write-budget.ts'
import type { OutsideReads } from '../../src/service/payments/allowance.ts'
import type { InvoiceWatch } from '../../src/service/invoices/watch.ts'
import { cartHash, invoiceNonces, termsText, type InvoiceTerms, FEE_POLICY, FEE_POLICY_HASH } from '../../src/pure/invoices/terms.ts'

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
const MERCHANT = '0x00000000000000000000000000000000a11ce001'
const SHOP = { order_number: null, return_url: null, bank: null }
const PAYER = '0x00000000000000000000000000000000b0b00001'
const hash = (digit: string) => `0x${digit.repeat(64)}`

/** Noon of 21 November 2026, when fixed tests run. */
const NOON_S = Date.UTC(2026, 10, 21, 12) / 1_000

/** An invoice of 100 USDC made an hour ago, one for each way in which it can stand. */
function fixed(place: number, change: Partial<InvoiceTerms> = {}): StoredInvoice {
  const cart = { merchant: MERCHANT, amount_minor: '100000000', memo: null, client_name: null, ...SHOP, chain_id: 84_532, token: TOKEN }
  const created_s = NOON_S - 3_600
  const terms: InvoiceTerms = {
    v: 1,
    invoice_id: `inv_vector000000000000000000${String(place).padStart(2, '0')}`,
    ...cart,
    referrer: null,
    product: null,
    created_s,
    expires_s: created_s + 1_209_600,
    salt: hash('5'),
    cart_hash: cartHash(cart),
    fee_policy_version: FEE_POLICY.version,
    fee_policy_hash: FEE_POLICY_HASH,
    ...change,
  }
  return {
    invoice_id: terms.invoice_id,
    merchant: MERCHANT,
    amount_minor: BigInt(terms.amount_minor),
    terms: termsText(terms),
    created_ms: terms.created_s * 1_000,
    expires_s: terms.expires_s,
    deposit_address: null,
    issue_signature: null,
    void_signature: null,
    voided_ms: null,
    bank_paid_ms: null,
    bank_payment: null,
    closed: false,
    erased_ms: null,
    marks: '',
    updated_ms: terms.created_s * 1_000,
  }
}

function paid(invoice: StoredInvoice, amount_minor: bigint, change: Partial<InvoicePayment> = {}): InvoicePayment {
  const [nonce = null] = invoiceNonces(JSON.parse(invoice.terms) as InvoiceTerms)
  const block = { block_number: 1_000, block_hash: hash('b'), block_time_s: NOON_S - 600 }
  const seen = { transaction: hash('7'), log_index: 1, payer: PAYER, confirmed: true, final: true }
  return { ...seen, ...block, invoice_id: invoice.invoice_id, amount_minor, matched_by: 'eip3009', nonce, ...change }
}

/** The invoices behind the vectors of get-b2b-invoice. */
function fixtures(): { invoices: StoredInvoice[]; payments: InvoicePayment[] } {
  const past = { created_s: NOON_S - 2_000_000, expires_s: NOON_S - 790_400 }
  const invoices = [
    ...Array.from({ length: 6 }, (_, place) => fixed(place)),
    fixed(6, past),
    fixed(7, past),
    fixed(8, past),
    { ...fixed(9), voided_ms: (NOON_S - 60) * 1_000, void_signature: '0x00' },
    { ...fixed(10), marks: 'reorged', issue_signature: '0x00' },
  ]
  const at = (place: number) => invoices[place] ?? fixed(place)
  const payments = [
    paid(at(1), 100_000_000n, { confirmed: false, final: false }),
    paid(at(2), 40_000_000n),
    paid(at(3), 100_000_000n),
    paid(at(4), 100_000_001n),
    paid(at(5), 100_000_000n),
    paid(at(5), 100_000_000n, { transaction: hash('8'), block_number: 1_001, payer: MERCHANT }),
    paid(at(7), 40_000_000n, { block_time_s: NOON_S - 800_000 }),
    paid(at(8), 100_000_000n),
  ]
  return { invoices, payments }
}

/** A merchant that was read up to the head at noon. */
export const WATCHED = { next_block: 1, looked_ms: NOON_S * 1_000, until_s: NOON_S * 2, due_ms: 0, wait_ms: 0, rank_ms: 0, proven: false }

/** Invoices that last as long as the test. Nothing is bounded and nothing is watched. */
export function invoicesInMemory({ invoices, payments } = fixtures()): InvoiceStore {
  const byId = new Map(invoices.map((invoice) => [invoice.invoice_id, invoice]))
  const change = (id: string, of: Partial<StoredInvoice>) => {
    const found = byId.get(id)
    if (found !== undefined) byId.set(id, { ...found, ...of })
    return Promise.resolve()
  }
  return {
    keep(given: NewInvoice) {
      const { invoice_id, merchant, amount_minor, terms, created_ms, expires_s, deposit_address } = given
      const open = {
        issue_signature: null,
        void_signature: null,
        voided_ms: null,
        closed: false,
        marks: '',
        updated_ms: created_ms,
        erased_ms: null,
      }
      const bank = { bank_paid_ms: null, bank_payment: null }
      const invoice = { invoice_id, merchant, amount_minor, terms, created_ms, expires_s, deposit_address, ...open, ...bank }
      byId.set(invoice_id, invoice)
      return Promise.resolve({ kind: 'created', invoice })
    },
    find: (id) => Promise.resolve(byId.get(id) ?? null),
    payments: (id) => Promise.resolve(payments.filter(({ invoice_id }) => invoice_id === id)),
    find_by_nonce: () => Promise.resolve(null),
    find_by_deposit: () => Promise.resolve(null),
    deposits_of: () => Promise.resolve([]),
    note_forward: () => Promise.resolve(false),
    forwards: () => Promise.resolve([]),
    waiting_deposits: () => Promise.resolve([]),
    try_sweep: () => Promise.resolve(),
    deposit_origin: () => Promise.resolve(null),
    put_off_sweep: () => Promise.resolve(),
    plain_candidates: () => Promise.resolve([]),
    attribute: () => Promise.resolve(false),
    unfinal: () => Promise.resolve([]),
    settle_block: () => Promise.resolve(),
    withdraw: () => Promise.resolve(),
    add_mark: () => Promise.resolve(),
    set_closed: (id, closed) => change(id, { closed }),
    sign: (id, issue_signature) => change(id, { issue_signature }).then(() => 'kept' as const),
    void: () => Promise.resolve(false),
    due_merchants: () => Promise.resolve([]),
    next_merchants: () => Promise.resolve([]),
    unsettled_merchants: () => Promise.resolve([]),
    watch_of: (merchant) => Promise.resolve({ ...WATCHED, merchant }),
    watched_since: () => Promise.resolve(0),
    record_looks: () => Promise.resolve(),
    wake: () => Promise.resolve(),
    paid_invoices: () => Promise.resolve(0),
    deposits_among: () => Promise.resolve([]),
    purge_unpaid: () => Promise.resolve(0),
    purged: () => Promise.resolve(null),
    page_of: () => Promise.resolve([]),
    signed_by: () => Promise.resolve([]),
    signed_by_reference: () => Promise.resolve([]),
    was_paid: () => Promise.resolve(false),
    close_by_bank: () => Promise.resolve('gone'),
    bank_reports: () => Promise.resolve([]),
    report_bank: () => Promise.resolve(0),
    other_assets: () => Promise.resolve([]),
    note_other_asset: () => Promise.resolve(false),
    note_expired: () => Promise.resolve(0),
  }
}

const IDLE: InvoiceWatch = { round: () => Promise.resolve(), look: () => Promise.resolve(true), lookInto: () => Promise.resolve(null) }

/** A budget without an end. */
export const FREE_READS: OutsideReads = {
  take: () => Promise.resolve({ ok: true, failed: () => undefined, give_back: () => Promise.resolve() }),
}

/** The desk of a sandbox that grants pilots, over fixed randomness: the first invoice has the id of 32 bytes that count up from 1. */
export function fixedInvoices(
  clock: Clock,
  store: InvoiceStore = invoicesInMemory(),
  contracts: ContractSignatures | null = null,
  watch: InvoiceWatch = IDLE,
): InvoiceService {
  let drawn = 0
  return createInvoiceService({
    store,
    explorer_url: null,
    clock,
    crypto: nobleCrypto,
    derive: createDerivation(new Uint8Array(32).fill(7)),
    random: () => `0x${Array.from({ length: 32 }, () => (drawn++ % 256).toString(16).padStart(2, '0')).join('')}`,
    chain_id: 84_532,
    token: TOKEN,
    site_url: () => 'https://assay.example',
    bankOf: () => null,
    carries: true,
    hasFactory: () => Promise.resolve(false),
    watch,
    contracts,
    reads: FREE_READS,
    quota: { take: () => Promise.resolve({ ok: true, give_back: () => Promise.resolve() }) },
    budget: createWriteBudget(store, { steady_ms: () => 0 }),
    operator_key: nobleSigner(new Uint8Array(32).fill(7)),
    pilot_merchant: '0x00000000000000000000000000000000a11ce002',
  })
}
