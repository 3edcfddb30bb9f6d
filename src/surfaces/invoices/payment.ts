import type { Context } from 'hono'
import { z } from 'zod'
import { notRelayedText } from '../../pure/invoices/record.ts'
import { type SignRequest, signRequest } from '../../pure/signing/sign-request.ts'
import { transferTypedData } from '../../pure/signing/transfer.ts'
import type { InvoiceView } from '../../service/invoices/invoice-view.ts'
import { notFound } from '../../service/invoices/merchant-signature.ts'
import { fullyPendingProblem, type InvoiceRelay } from '../../service/invoices/relay.ts'
import { INVOICE_RULES, limits } from '../../service/limits.ts'
import { PAYMENT_PROBLEMS, SETTLEMENT_PROBLEMS } from '../../service/payment-problems.ts'
import { exactOnly, readPayment, readPaymentFields, type X402Payment } from '../../service/payments/payment-header.ts'
import {
  isPaymentProblem,
  paymentsNotConfigured,
  refusalForCheck,
  pendingProblem,
  acceptsNewPayment,
} from '../../service/payments/payment-refusals.ts'
import { caip2, challengeOf } from '../../service/payments/terms.ts'
import { faucetWords } from '../../service/sandbox/faucet-text.ts'
import { problem, type Problem, type ProblemCode } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { component, endpointsOf, named, readJson, type EndpointResult, type Rate, type RawRequest } from '../endpoint.ts'
import { sendOnce } from '../http/document.ts'
import { type Env, jsonReply, response, wantsPage, type Reply } from '../http/reply.ts'
import { HTML_TYPE, PAGE_HEADERS } from '../pages/layout.ts'
import { localized } from '../pages/messages.ts'
import { noInvoicePage, payPage } from '../pages/pay-page.ts'
import { resendSecretsIn } from '../rest.ts'
import { ADDRESS, BYTES_32, ID, INVOICE_BODY, INVOICE_EVENTS_PATH, tagOf, type InvoiceRoom } from './merchant.ts'

const defineEndpoint = endpointsOf<InvoiceRoom>()

/** Payments have their own count, so that no other request keeps one from being taken. */
const PAY_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.per_minute }

/**
 * Pays an invoice by a signed transfer (EIP-3009): an x402 header, or `{authorization, signature}` in the body. Without either it returns
 * the terms, as x402 resources do.
 */
async function payInvoice(request: RawRequest, room: InvoiceRoom): Promise<Reply | Problem> {
  const { context, caller } = request
  const id = context.req.param('id') ?? ''
  const view = await room.deps.invoices.service.read(id)
  if (view === null) return absentForPayment(await room.deps.invoices.service.absent(id), carriesPayment(context))
  const given = await givenPayment(request, view)
  if (given.kind === 'problem') return withTerms(request, room, view, knownOf(given.problem))
  const { relay } = room.deps.invoices
  if (relay === null) return paymentsNotConfigured().problem
  const secrets = resendSecretsIn((name) => context.req.header(name) ?? null)
  const end = await relay.pay(view, given.payment, { address: caller, secrets })
  switch (end.kind) {
    case 'paid':
      return jsonReply(200, end.text, { 'cache-control': 'private, no-store', ...room.words.responseHeaders(end.settlement) })
    case 'pending':
      return request.refuse(pendingProblem(end.pending), { location: `${room.deps.origins.api_url}/v1/answers/${end.pending.token}` })
    case 'refused':
      return withTerms(request, room, view, end.problem, room.words.failureHeaders(end))
  }
}

function carriesPayment(context: Context<Env>): boolean {
  const has_header = PAYMENT_HEADERS.some((header) => context.req.header(header) !== undefined)
  return has_header || (context.req.method === 'POST' && !isEmpty(context))
}

/** With a payment: the row of the invoice may have been lost with a database server after its payment was sent. */
function absentForPayment(absent: Problem, carries_payment: boolean): Problem {
  if (!carries_payment) return absent
  const more = 'It is not known here whether the payment was sent before. Do not sign another: read GET /v1/payments/{payer}/{nonce} first.'
  return { ...absent, detail: `${absent.detail} ${more}`, charged: 'unknown' }
}

/** A request over the limit is refused unread: its payment may have been sent before, and be on its way to the chain. */
function knownOf(found: Problem): Problem {
  return found.code === 'INVOICE_RATE_LIMITED' ? { ...found, charged: 'unknown' } : found
}

type Given = { kind: 'payment'; payment: X402Payment } | { kind: 'problem'; problem: Problem }

async function givenPayment({ context, admit }: RawRequest, view: InvoiceView): Promise<Given> {
  const [name, second] = PAYMENT_HEADERS.filter((header) => context.req.header(header) !== undefined)
  if (second !== undefined) return { kind: 'problem', problem: problem('PAYMENT_CONFLICT', 'Send one payment, in one header.') }
  if (name !== undefined) {
    const limited = admit(PAY_RATE)
    if (limited !== null) return { kind: 'problem', problem: limited }
    const read = exactOnly(readPayment({ kind: 'header', name, text: context.req.header(name) ?? '' }))
    return read.ok ? { kind: 'payment', payment: read.payment } : { kind: 'problem', problem: refusalForCheck(read).problem }
  }
  if (context.req.method === 'GET' || isEmpty(context)) return { kind: 'problem', problem: unpaid() }
  const limited = admit(PAY_RATE)
  if (limited !== null) return { kind: 'problem', problem: limited }
  const body = await readJson(context, INVOICE_BODY)
  if (!body.ok) return { kind: 'problem', problem: body.problem }
  return bodyPayment(body.value, view)
}

const PAYMENT_HEADERS = ['payment-signature', 'x-payment'] as const

function isEmpty(context: Context<Env>): boolean {
  return context.req.header('content-length') === '0' || context.req.raw.body === null
}

/** Reads the bare authorization as a payment of x402 version 1, which has the same content. */
function bodyPayment(value: unknown, { terms }: InvoiceView): Given {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    return { kind: 'problem', problem: unpaid() }
  }
  const read = exactOnly(readPaymentFields({ x402Version: 1, scheme: 'exact', network: caip2(terms.chain_id), payload: value }))
  return read.ok ? { kind: 'payment', payment: read.payment } : { kind: 'problem', problem: refusalForCheck(read).problem }
}

function unpaid(): Problem {
  const detail =
    'Sign a transfer of what is due to the merchant and send it in PAYMENT-SIGNATURE, X-PAYMENT or as {authorization, signature}.'
  return problem('INVOICE_PAYMENT_REQUIRED', detail)
}

/** Problem of an invoice that cannot be paid in its state. */
function notPayable({ standing: { status, due_minor }, transfer_way }: InvoiceView, relay: InvoiceRelay | null): Problem {
  const open = due_minor > 0n && status !== 'VOID' && status !== 'EXPIRED'
  const small = notRelayedText(transfer_way, relay?.carries === true ? relay.leastNow() : null)
  return problem('INVOICE_NOT_PAYABLE', open ? small : `The invoice is ${status}; nothing is taken for it here.`)
}

/** Adds the terms to a refusal that the payer can correct, while the invoice is payable. */
async function withTerms(
  request: RawRequest,
  { deps }: InvoiceRoom,
  view: InvoiceView,
  found: Problem,
  headers: Record<string, string> = {},
): Promise<Reply | Problem> {
  if (!isPaymentProblem(found)) return found
  if (!acceptsNewPayment(found)) return request.refuse(found, headers)
  const { record, terms, invoice } = view
  const { relay } = deps.invoices
  if (record['x402'] === null || relay === null) return notPayable(view, relay)
  const amount_minor = await relay.payableNow(view)
  if (amount_minor === 0n) return fullyPendingProblem()
  if (amount_minor < relay.leastNow()) return notPayable(view, relay)
  const description = `Invoice ${invoice.invoice_id}`
  const offer = { resource: String(record['pay_url']), description, amount_minor }
  const challenge = challengeOf({ ...deps.terms, pay_to: terms.merchant, ...offer }, 'payment required')
  const test_money = deps.sandbox === null ? {} : { test_money: faucetWords(deps.origins.api_url) }
  const signed = { ...found, extra: { ...found.extra, ...test_money, ...paymentSignature(view, deps, amount_minor) } }
  const reply = request.refuse(signed, { ...headers, 'payment-required': challenge.header })
  return { ...reply, body: `${reply.body.slice(0, -1)},${challenge.body_members_json}}` }
}

/** Transfer to sign, whose payer fills in the own address. */
function paymentSignature({ record, terms }: InvoiceView, { call, origins }: AppDeps, value_minor: bigint): { sign?: SignRequest } {
  const nonce = record['payment_nonce']
  if (typeof nonce !== 'string') return {}
  const valid_before_s = BigInt(Math.floor(call.sources.clock.now_ms() / 1_000) + limits.max_timeout_s)
  const typed_data = transferTypedData(terms.chain_id, { from: '{from}', to: terms.merchant, value_minor, valid_before_s, nonce })
  const { to, value, validAfter, validBefore } = typed_data.message as Record<string, string>
  const sign = signRequest({
    kind: 'invoice-payment',
    origin: origins.site_url,
    signer: null,
    signable: { method: 'eth_signTypedData_v4', typed_data },
    values: {
      id: terms.invoice_id,
      to: String(to),
      value: String(value),
      validAfter: String(validAfter),
      validBefore: String(validBefore),
      nonce,
    },
    fill_in: ['/typed_data/message/from', '/submit/body/authorization/from'],
  })
  return { sign }
}

/** Authorization (EIP-3009) in the format of an x402 payment. */
const SECONDS = z.string().regex(/^[0-9]{1,20}$/)
const PAYMENT = named(
  'invoice-payment',
  z
    .looseObject({
      authorization: z.looseObject({
        from: ADDRESS.describe('Payer.'),
        to: ADDRESS.describe('The merchant of the invoice.'),
        value: z
          .string()
          .regex(/^(?:0|[1-9][0-9]{0,29})$/)
          .describe('Minor units of USDC.'),
        validAfter: SECONDS.describe('Seconds since 1970.'),
        validBefore: SECONDS.describe('Seconds since 1970.'),
        nonce: BYTES_32.describe('One that `signing` of the invoice names may pay a part.'),
      }),
      signature: z.string().regex(/^0x/).describe('Of the payer: 65 bytes of a key, or what a contract wallet takes.'),
    })
    .describe('A signed transfer (EIP-3009), bare.'),
)

const PAID = named(
  'invoice-paid',
  z.looseObject({
    invoice_id: z.string().describe('The invoice.'),
    paid_minor: z.string().describe('Minor units of USDC that this payment moved.'),
    settlement: component('settlement'),
  }),
)

/** All problems of verifying and settling a payment. */
const PAY_PROBLEMS: ProblemCode[] = [
  ...(Object.keys({ ...PAYMENT_PROBLEMS, ...SETTLEMENT_PROBLEMS }) as ProblemCode[]),
  'INVOICE_GONE',
  'INVOICE_PAYMENT_REQUIRED',
  'INVOICE_NOT_PAYABLE',
  'INVOICE_RATE_LIMITED',
  'NOT_CONFIGURED',
  'UPSTREAM_RPC_UNAVAILABLE',
  'STORE_UNAVAILABLE',
]

const payByGet = defineEndpoint({
  id: 'pay-invoice-x402',
  method: 'get',
  path: '/api/invoice/{id}/pay',
  summary: 'The invoice as a resource of x402: 402 with its terms, and paid by a payment in a header.',
  description: 'Clients that prefer HTML get the payment page.',
  parts: ID,
  unfit_path: notFound,
  shared_headers: ['payment-signature', 'x-payment'],
  answers: { 200: { description: 'The payment is settled.', json: PAID, media: ['text/html'], paid: true } },
  problems: PAY_PROBLEMS,
  run: (request, room) => checkout(request, room, 'json'),
})

/** `/pay/{id}` shows the page unless the client asks for JSON or sends a payment. */
const payByPage = defineEndpoint({
  id: 'pay-invoice-page',
  method: 'get',
  path: '/pay/{id}',
  summary: 'The page where a person pays.',
  unlisted: true,
  parts: ID,
  unfit_path: notFound,
  answers: { 200: { description: 'The page.', media: ['text/html'] } },
  problems: PAY_PROBLEMS,
  run: (request, room) => checkout(request, room, 'page'),
})

const pay = defineEndpoint({
  id: 'pay-invoice',
  method: 'post',
  path: '/api/invoice/{id}/pay',
  summary: 'Pay an invoice by a signed transfer, which this service carries to the chain at its own expense.',
  description: 'In a header as any payment of x402, or bare as the body.',
  parts: ID,
  unfit_path: notFound,
  shared_headers: ['payment-signature', 'x-payment'],
  body: { schema: PAYMENT, bounds: INVOICE_BODY, may_be_absent: true, read_by_run: true },
  answers: { 200: { description: 'The payment is settled.', json: PAID, paid: true } },
  problems: PAY_PROBLEMS,
  run: payInvoice,
})

/** The id is a secret, so responses are excluded from caches, search indexes and Referer headers. */
const CHECKOUT_HEADERS = {
  ...PAGE_HEADERS,
  'content-type': HTML_TYPE,
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
}

/** Page for clients that prefer HTML; x402 resource for others. */
async function checkout(request: RawRequest, room: InvoiceRoom, usual: 'json' | 'page'): Promise<EndpointResult> {
  const { context, refuse } = request
  const paying = ['payment-signature', 'x-payment'].some((name) => context.req.header(name) !== undefined)
  if (!paying && wantsPage(context, usual)) return varied(await page(request, room))
  const end = await payInvoice(request, room)
  return varied(response('code' in end ? refuse(end, {}) : end))
}

function varied(answer: Response): Response {
  answer.headers.append('vary', 'Accept, Accept-Language')
  return answer
}

async function page({ context }: RawRequest, { deps }: InvoiceRoom): Promise<Response> {
  const text = localized(context.req.query('lang'), context.req.header('accept-language'))
  const headers = { ...CHECKOUT_HEADERS, 'content-language': text.language }
  const id = context.req.param('id') ?? ''
  const view = await deps.invoices.service.read(id)
  if (view === null) {
    const absent = await deps.invoices.service.absent(id)
    return context.body(noInvoicePage(deps, text, absent), absent.code === 'INVOICE_GONE' ? 410 : 404, headers)
  }
  const etag = tagOf(JSON.stringify(view.record))
  const body = payPage(deps, view, {
    ...text,
    now_ms: deps.call.sources.clock.now_ms(),
    carries: deps.invoices.relay?.carries === true,
    least_minor: deps.invoices.relay?.leastNow() ?? 0n,
    etag,
    events: `${INVOICE_EVENTS_PATH.replace('{id}', view.invoice.invoice_id)}?last_event_id=${encodeURIComponent(etag)}`,
  })
  return sendOnce(context, body, headers)
}

/** The invoice as a resource of x402, its page, and a payment in the body. */
export const PAYMENT_ENDPOINTS = [payByGet, payByPage, pay]
