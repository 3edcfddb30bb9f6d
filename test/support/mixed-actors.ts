/** Payers and merchants of each rail, who go on until they are told to stop. Each signs again only when it is told that the payment is over. */
import assert from 'node:assert/strict'
import { encodeAbiParameters, keccak256, type Hex, type TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { channelEntry, PayingChannel } from './channels.ts'
import { holder } from './faults-buyer.ts'
import { statementOf } from './invoice-statements.ts'
import { newMerchant, signFor, transferPlainly, type InvoiceShown } from './invoicing.ts'
import type { Asking, Reply, Request } from './mixed-asking.ts'
import type { MixedDeployment } from './mixed-deployment.ts'
import { stranger } from './paying-calls.ts'
import { readRequired, signTerms } from './paying.ts'

const TOOL = 'iban-check'
const INPUT = { iban: 'GB82WEST12345698765432' }
const CALL = `/v1/tools/${TOOL}/call`
const BALANCE_MINOR = 1_000_000_000n
/** A deposit pays for so many calls, so that deposits come often. */
const DEPOSIT_PRICES = 6n
/** Below the deposits of a payer and day that the service takes. */
const DEPOSITS_MAX = 40
const INVOICE_MINOR = 2_000_000n
const VALID_S = 1_800

/** One thing that a payer wants once. */
export interface ExactOrder {
  payer: Hex
  /** Nonces that were signed for it: one, unless the payer was told to sign again. */
  nonces: Hex[]
  request: Request
  answer: Reply | null
}

export interface ChannelBook {
  channel: PayingChannel
  client: string
  /** Calls that were answered. */
  answered: number
  /** Sum of their prices. */
  charged_minor: bigint
  deposited_minor: bigint
  /** The last payment and its answer. */
  last: { request: Request; nonce: Hex | null; answer: Reply } | null
}

interface InvoiceOrder {
  rail: 'relay' | 'transfer' | 'bank'
  payer: Hex | null
  invoice: InvoiceShown
  client: string
  state: 'open' | 'paid' | 'lost'
}

export interface Books {
  exact: ExactOrder[]
  channels: ChannelBook[]
  invoices: InvoiceOrder[]
}

export interface ActorParts {
  deployment: MixedDeployment
  asking: Asking
  books: Books
  going(): boolean
  /** A store that may lose rows: a payer may be told that something is gone. */
  lossy: boolean
}

export async function payExact({ deployment, asking, books, going, lossy }: ActorParts): Promise<void> {
  const account = await holder(deployment.anvil, BALANCE_MINOR)
  while (going()) {
    const client = stranger()
    const order: ExactOrder = { payer: account.address, nonces: [], request: { path: CALL, client }, answer: null }
    books.exact.push(order)
    while (order.answer === null) {
      const terms = await asking.until({ path: CALL, body: { input: INPUT }, client }, [402])
      const required = readRequired(terms.headers.get('payment-required') ?? '')
      const signed = await signTerms(account, required, { validBefore: BigInt(Math.floor(Date.now() / 1_000) + VALID_S) })
      order.nonces.push(signed.message.nonce)
      order.request = { path: CALL, body: { input: INPUT }, headers: { 'payment-signature': signed.v2 }, client }
      const name = { payer: account.address, nonce: signed.message.nonce }
      const reply = await asking.pay(order.request, name, 'exact')
      if (reply.status === 200) order.answer = reply
      else assert.ok(lossy || isOutdated(reply), `exact: ${reply.status} ${JSON.stringify(reply.body)}`)
    }
    await sameAgain(asking, order.request, { payer: account.address, nonce: order.nonces.at(-1) ?? null }, 'exact', order.answer, lossy)
  }
}

/** The answer to a payment that was answered is had again by sending it again. */
async function sameAgain(
  asking: Asking,
  request: Request,
  payment: { payer: Hex; nonce: Hex | null },
  kind: string,
  answer: Reply,
  lossy: boolean,
): Promise<void> {
  const again = await asking.pay(request, payment, kind)
  if (lossy && again.status !== 200) return
  assert.equal(again.status, 200, `${kind} again: ${again.status} ${JSON.stringify(again.body)}`)
  if (!lossy) assert.deepEqual(again.body, answer.body)
}

export async function payByChannel(parts: ActorParts): Promise<void> {
  while (parts.going()) await useChannel(parts)
}

/** One channel until its payer has made as many deposits as a day allows. */
async function useChannel({ deployment, asking, books, going, lossy }: ActorParts): Promise<void> {
  const account = await holder(deployment.anvil, BALANCE_MINOR)
  const client = stranger()
  const withTerms = async () => {
    const terms = await asking.until({ path: CALL, body: { input: INPUT }, client }, [402])
    return new PayingChannel(account, channelEntry(terms.headers.get('payment-required')))
  }
  let channel = await withTerms()
  const book: ChannelBook = { channel, client, answered: 0, charged_minor: 0n, deposited_minor: 0n, last: null }
  books.channels.push(book)
  let [charged_minor, balance_minor] = [0n, 0n]
  for (let deposits = 0; going() && deposits < DEPOSITS_MAX;) {
    let price_minor = BigInt(channel.entry.amount)
    const is_deposit = charged_minor + price_minor > balance_minor
    // The price moves with the number of calls; a deposit is signed for the terms of now.
    if (is_deposit) channel = await withTerms()
    price_minor = BigInt(channel.entry.amount)
    const total_minor = charged_minor + price_minor
    const amount_minor = DEPOSIT_PRICES * price_minor
    const payment = is_deposit
      ? await depositOf(channel, amount_minor, total_minor)
      : { header: await channel.voucher(total_minor), nonce: null }
    const request = { path: CALL, body: { input: INPUT }, headers: { 'payment-signature': payment.header }, client }
    const [name, kind] = [{ payer: account.address, nonce: payment.nonce }, is_deposit ? 'deposit' : 'voucher']
    if (is_deposit) deposits += 1
    const reply = await asking.pay(request, name, kind)
    if (isOutdated(reply)) {
      channel = await withTerms()
      continue
    }
    if (reply.status !== 200) {
      const seen = `the client at ${charged_minor} of ${balance_minor}, the terms at ${String(correctedBy(reply, [0n, 0n]))}`
      assert.ok(lossy, `${kind} of ${name.payer}: ${seen}: ${reply.status} ${JSON.stringify(reply.body)}`)
      ;[balance_minor, charged_minor] = correctedBy(reply, [balance_minor, charged_minor])
      continue
    }
    book.answered += 1
    book.charged_minor += price_minor
    if (is_deposit) book.deposited_minor += amount_minor
    if (is_deposit) balance_minor += amount_minor
    charged_minor = total_minor
    book.last = { request, nonce: payment.nonce, answer: reply }
    await sameAgain(asking, request, name, kind, reply, lossy)
  }
}

/** The price has moved while no service took the payment: it is signed again for the terms of now. */
function isOutdated({ status, body }: Reply): boolean {
  return status === 402 && body['code'] === 'PRICE_MISMATCH' && body['charged'] === false
}

/** The nonce of a deposit follows from the channel and a salt, as the specification of the scheme has it. */
async function depositOf(channel: PayingChannel, amount_minor: bigint, total_minor: bigint): Promise<{ header: string; nonce: Hex }> {
  const payload = await channel.depositPayload(amount_minor, total_minor, VALID_S)
  const { salt } = payload.deposit.authorization.erc3009Authorization
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channel.id, BigInt(salt)]))
  return { header: channel.header(payload), nonce }
}

/** A client takes over the state that a 402 shows it. */
function correctedBy({ headers }: Reply, now: [balance: bigint, charged: bigint]): [balance: bigint, charged: bigint] {
  const header = headers.get('payment-required')
  const state = header === null ? undefined : channelEntry(header).extra.channelState
  if (state === undefined) return now
  return [BigInt(state['balance'] ?? 0), BigInt(state['chargedCumulativeAmount'] ?? 0)]
}

const invoicePath = ({ invoice_id }: Pick<InvoiceShown, 'invoice_id'>, tail = '') => `/api/invoice/${invoice_id}${tail}`

async function created(
  parts: ActorParts,
  rail: InvoiceOrder['rail'],
  body: Record<string, unknown>,
  payer: Hex | null,
): Promise<InvoiceOrder> {
  const client = stranger()
  const made = await parts.asking.until({ path: '/api/invoice/create', body, client }, [201])
  const order: InvoiceOrder = { rail, payer, invoice: made.body as InvoiceShown, client, state: 'open' }
  parts.books.invoices.push(order)
  return order
}

/** Signs a transfer that names the invoice; the service sends it. */
export async function payByRelay(parts: ActorParts): Promise<void> {
  const { deployment, asking, going, lossy } = parts
  const account = await holder(deployment.anvil, BALANCE_MINOR)
  const merchant = newMerchant().address
  while (going()) {
    const order = await created(parts, 'relay', { amountUsdc: '2', merchant }, account.address)
    const validBefore = BigInt(Math.floor(Date.now() / 1_000) + VALID_S)
    const { message, body } = await signFor(chainOf(deployment), account, order.invoice, { validBefore })
    const request = { path: invoicePath(order.invoice, '/pay'), body, client: order.client }
    const name = { payer: account.address, nonce: message.nonce }
    const reply = await asking.pay(request, name, 'relay')
    if (lossy && reply.status === 404) {
      order.state = 'lost'
      continue
    }
    assert.equal(reply.status, 200, `relay: ${reply.status} ${JSON.stringify(reply.body)}`)
    order.state = 'paid'
    const again = await asking.pay(request, name, 'relay')
    if (!lossy) assert.equal(again.body['paid_minor'], String(INVOICE_MINOR), JSON.stringify(again.body))
  }
}

/** Sends a plain transfer to the deposit address of an invoice and waits until the record says so. */
export async function payByTransfer(parts: ActorParts): Promise<void> {
  const account = await holder(parts.deployment.anvil, BALANCE_MINOR)
  const merchant = newMerchant().address
  while (parts.going()) {
    const order = await created(parts, 'transfer', { amountUsdc: '2', merchant }, account.address)
    const { address } = order.invoice['deposit'] as { address: Hex }
    await transferPlainly(chainOf(parts.deployment), account, address, INVOICE_MINOR)
    await seenPaid(parts, order)
  }
}

/** A watcher on one instance looks at the chain; while that instance dies again and again, the record may stay as it was. */
async function seenPaid({ asking, lossy }: ActorParts, order: InvoiceOrder): Promise<void> {
  const request = { path: invoicePath(order.invoice), client: order.client }
  for (;;) {
    const { status, body } = await asking.until(request, lossy ? [200, 404] : [200])
    if (status === 404) order.state = 'lost'
    else if (body['status'] === 'SETTLED') order.state = 'paid'
    if (order.state !== 'open') return
    await asking.rest(`${request.path} is ${String(body['status'])}`)
  }
}

const BANK = { iban: 'DE89370400440532013000', bic: 'COBADEFFXXX', name: 'Example GmbH', currency: 'EUR', amount: '1.80' }

/** The merchant signs an invoice with bank details, and later a statement of its bank that shows the transfer. */
export async function confirmByBank(parts: ActorParts): Promise<void> {
  const { asking, going, lossy } = parts
  while (going()) {
    // A statement names its merchant: one each, so that no limit of one merchant is met.
    const merchant = newMerchant()
    const order = await created(parts, 'bank', { amountUsdc: '2', merchant: merchant.address, bank: BANK }, null)
    const { client, invoice } = order
    const issue = { path: invoicePath(invoice, '/sign'), body: await signedBody(invoice, merchant), client }
    const signed = await asking.until(issue, lossy ? [200, 404] : [200])
    if (signed.status === 404) {
      order.state = 'lost'
      continue
    }
    const { reference } = invoice['bank_coordinates'] as { reference: string }
    const booked = new Date().toISOString().slice(0, 10)
    const document = statementOf([{ amount: BANK.amount, currency: BANK.currency, reference, name: 'N1', booked }], { iban: BANK.iban })
    const upload = { document, merchant: merchant.address }
    const asked = await asking.until({ path: '/api/invoice/statement', body: upload, client }, [403])
    const body = { ...upload, ...(await signedBody(asked.body, merchant)) }
    const taken = await asking.until({ path: '/api/invoice/statement', body, client }, [200])
    const again = await asking.until({ path: '/api/invoice/statement', body, client }, [200])
    if (!lossy) assert.deepEqual([taken.status, again.status], [200, 200])
    await seenPaid(parts, order)
  }
}

/** Signs what an answer asks for, and returns the body to send. */
async function signedBody(answer: Record<string, unknown>, merchant: PrivateKeyAccount): Promise<Record<string, unknown>> {
  const { typed_data, submit } = answer['sign'] as { typed_data: TypedDataDefinition; submit: { body: Record<string, unknown> } }
  const signature = await merchant.signTypedData(typed_data)
  return JSON.parse(JSON.stringify(submit.body).replaceAll('{signature}', signature)) as Record<string, unknown>
}

function chainOf({ anvil, live }: MixedDeployment) {
  const { rpc_url, chain_id, token, rpc } = anvil
  return { rpc_url, chain_id, token, rpc, pay_to: live.pay_to }
}
