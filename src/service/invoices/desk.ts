import type { StoredInvoice } from '../../ports/invoices.ts'
import type { Signer } from '../../ports/signer.ts'
import { merchantDigest, type MerchantAct } from '../../pure/invoices/signing.ts'
import type { InvoiceAsked, InvoiceFault } from '../../pure/invoices/input.ts'
import { PILOT_CALLS, PILOT_MINOR, usdcText } from '../../pure/invoices/record.ts'
import { INVOICE_ID, readTerms } from '../../pure/invoices/terms.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { OutsideReads } from '../payments/outside-reads.ts'
import { problem, type Problem } from '../problems.ts'
import { merchantFault } from './contract-signature.ts'
import { INVOICE_RULES } from './rules.ts'
import { specimen, SPECIMEN_ID } from './specimen.ts'
import { createInvoice, signedFull, type Asker, type CreateParts } from './create.ts'
import { viewInvoice, type InvoiceView, type ViewParts } from './view.ts'
import { isChainFault } from '../chain-fault.ts'
import type { InvoiceWatch } from './watch.ts'

export interface InvoiceDeskParts extends CreateParts, ViewParts {
  crypto: ReceiptCrypto
  /** Null where there is no chain to look at. */
  watch: InvoiceWatch | null
  /** Budget of the reads for requests without a payment. */
  reads: OutsideReads
  /** Whom a pilot pays; null where its credit is not set up. */
  pilot_merchant: string | null
  /** The key of the receipts, which is the operator's. */
  operator_key: Pick<Signer, 'sign'>
}

export type InvoiceEnd =
  | { kind: 'made'; created: boolean; view: InvoiceView }
  | { kind: 'invalid'; fault: InvoiceFault; field: string }
  | { kind: 'refused'; problem: Problem }

/** What became of a change that somebody asked for. */
export type InvoiceChange = { ok: true; view: InvoiceView } | { ok: false; problem: Problem }

/** The same of a transaction that was named; `transaction_found` is null where there is no chain to look at. */
type InvoiceSubmission = { ok: true; view: InvoiceView; transaction_found: boolean | null } | { ok: false; problem: Problem }

/** What tools may do with invoices. */
export interface InvoiceSource {
  create(asked: InvoiceAsked): Promise<InvoiceEnd>
  /** As the chain shows it now; where the chain fails or is not read up to its head, as it was last known, marked as stale. Null for an unknown id. */
  look(invoice_id: string): Promise<InvoiceView | null>
  /** An invoice of the deployment itself; null where its credit is not set up. */
  pilot(client_name: string | undefined): Promise<InvoiceEnd | null>
}

/** Where invoices are made, read and changed. */
export interface InvoiceDesk extends InvoiceSource {
  make(asked: InvoiceAsked, asker: Asker): Promise<InvoiceEnd>
  /** As the store has it. Null for an unknown id. */
  read(invoice_id: string): Promise<InvoiceView | null>
  /** Signing or voiding by the merchant's own key. */
  act(invoice_id: string, act: MerchantAct, signature: string, client: string): Promise<InvoiceChange>
  /** Looks for payments in a transaction that somebody names; nothing is believed but the chain. Draws on the reads of the client. */
  submit(invoice_id: string, transaction: string, client: string): Promise<InvoiceSubmission>
}

export function createInvoiceDesk(parts: InvoiceDeskParts): InvoiceDesk {
  const make = async (asked: InvoiceAsked, asker: Asker, product: 'ap2_pilot' | null = null): Promise<InvoiceEnd> => {
    const made = await createInvoice(parts, asked, asker, product)
    if (made.kind === 'invalid' || made.kind === 'refused') return made
    return { kind: 'made', created: made.kind === 'created', view: await viewInvoice(parts, made.invoice) }
  }
  const find = (invoice_id: string): Promise<StoredInvoice | null> => {
    if (invoice_id === SPECIMEN_ID) return Promise.resolve(specimen(parts.chain_id, parts.token))
    return INVOICE_ID.test(invoice_id) ? parts.store.find(invoice_id) : Promise.resolve(null)
  }
  const view = (invoice: StoredInvoice | null) => (invoice === null ? Promise.resolve(null) : viewInvoice(parts, invoice))
  return {
    make: (asked, asker) => make(asked, asker),
    create: (asked) => make(asked, NOBODY),
    read: async (invoice_id) => view(await find(invoice_id)),
    look: async (invoice_id) => look(parts, await find(invoice_id)),
    pilot: async (client_name) => {
      if (parts.pilot_merchant === null) return null
      const memo = `AP2 merchant pilot: ${PILOT_CALLS} calls`
      const end = await make({ amount: usdcText(PILOT_MINOR), merchant: parts.pilot_merchant, client_name, memo }, NOBODY, 'ap2_pilot')
      return end.kind === 'made' ? { ...end, view: await operatorSigned(parts, end.view) } : end
    },
    act: async (invoice_id, act, signature, client) => merchantAct(parts, await find(invoice_id), act, signature, client),
    submit: async (invoice_id, transaction, client) => submit(parts, await find(invoice_id), transaction, client),
  }
}

/**
 * The operator's signature of a pilot, by which a plain transfer is matched to it. It stays unsigned while as many signed invoices of the operator
 * are open as are taken: then it is paid through pay_url, as any unsigned invoice.
 */
async function operatorSigned(parts: InvoiceDeskParts, { invoice, terms }: InvoiceView): Promise<InvoiceView> {
  const signature = parts.operator_key.sign(merchantDigest('issue', terms, parts.crypto))
  await parts.store.sign(invoice.invoice_id, signature, parts.clock.now_ms(), INVOICE_RULES.merchant_signed)
  return (await after(parts, invoice)).view
}

const NOBODY: Asker = { client: null, address: null, network: null, request_key: null, signature: null }

async function look(parts: InvoiceDeskParts, invoice: StoredInvoice | null): Promise<InvoiceView | null> {
  if (invoice === null) return null
  if (invoice.invoice_id === SPECIMEN_ID) return viewInvoice(parts, invoice)
  let current = false
  try {
    current = (await parts.watch?.look(invoice.merchant)) ?? false
  } catch (error) {
    if (!isChainFault(error)) throw error
  }
  const view = await viewInvoice(parts, (await parts.store.find(invoice.invoice_id)) ?? invoice)
  return current ? view : { ...view, record: { ...view.record, stale: true } }
}

async function merchantAct(
  parts: InvoiceDeskParts,
  invoice: StoredInvoice | null,
  act: MerchantAct,
  signature: string,
  client: string,
): Promise<InvoiceChange> {
  if (invoice === null) return { ok: false, problem: notFound() }
  const fault = await merchantFault(parts, act, readTerms(invoice.terms), signature, client)
  if (fault !== null) return { ok: false, problem: fault }
  const now_ms = parts.clock.now_ms()
  if (act === 'issue') {
    const kept = await parts.store.sign(invoice.invoice_id, signature, now_ms, INVOICE_RULES.merchant_signed)
    if (kept === 'full') return { ok: false, problem: signedFull() }
    if (kept === 'gone') return { ok: false, problem: notFound() }
  } else if (!(await parts.store.void(invoice.invoice_id, signature, now_ms))) {
    return { ok: false, problem: problem('INVOICE_NOT_VOIDABLE', 'A payment was seen or is on its way, or it is void already.') }
  }
  return after(parts, invoice)
}

async function submit(
  parts: InvoiceDeskParts,
  invoice: StoredInvoice | null,
  transaction: string,
  client: string,
): Promise<InvoiceSubmission> {
  if (invoice === null) return { ok: false, problem: notFound() }
  if (parts.watch === null) return { ...(await after(parts, invoice)), transaction_found: null }
  const taken = await parts.reads.take(client, 'INVOICE_RATE_LIMITED')
  if (!taken.ok) return { ok: false, problem: taken.problem }
  try {
    const transaction_found = (await parts.watch.lookInto(transaction, invoice)) !== null
    return { ...(await after(parts, invoice)), transaction_found }
  } catch (error) {
    if (!isChainFault(error)) throw error
    await taken.give_back()
    const detail = 'The chain does not answer now. The transaction will be found without being named, too.'
    return { ok: false, problem: problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: 10 }) }
  }
}

async function after(parts: InvoiceDeskParts, invoice: StoredInvoice): Promise<{ ok: true; view: InvoiceView }> {
  return { ok: true, view: await viewInvoice(parts, (await parts.store.find(invoice.invoice_id)) ?? invoice) }
}

export function notFound(): Problem {
  return problem('INVOICE_NOT_FOUND', 'No invoice has this id.')
}
