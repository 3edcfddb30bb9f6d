import { z } from 'zod'
import { INVOICE_FAULTS } from '../../pure/invoices/input.ts'
import { INVOICE_STATES } from '../../pure/invoices/standing.ts'
import type { MerchantAct } from '../../pure/invoices/terms.ts'
import { checkInvoiceNames, INVOICE_AMOUNT, INVOICE_BANK, INVOICE_SHOP, SIGN, type InvoiceNames } from '../../service/catalogue/schemas.ts'
import { quotaClient, widerNetwork } from '../../service/clients.ts'
import { type Asker, notFound, type InvoiceChange, type InvoiceEnd } from '../../service/invoices/invoice-service.ts'
import { INVOICE_RULES } from '../../service/limits.ts'
import type { InvoiceView } from '../../service/invoices/invoice-view.ts'
import { problem, type Problem, type ProblemCode } from '../../service/problems.ts'
import { PAYMENT_PROBLEMS, SETTLEMENT_PROBLEMS } from '../../service/payment-problems.ts'
import { JSON_TYPE, sendDocument, sendOnce, storedDocument } from '../http/document.ts'
import { component, endpointsOf, named, type Endpoint, type EndpointResult, type RawRequest } from '../endpoint.ts'
import { jsonReply, response, wantsPage } from '../http/reply.ts'
import { HTML_TYPE, PAGE_HEADERS } from '../pages/layout.ts'
import { localized } from '../pages/messages.ts'
import { noInvoicePage, payPage } from '../pages/pay-page.ts'
import { ADDRESS, MERCHANT_LIST_ENDPOINTS, postOnly, SIGNATURE } from './merchant-list.ts'
import {
  invoiceCode,
  invoiceDocument,
  INVOICE_BODY,
  INVOICE_RATE,
  payInvoice,
  tagOf,
  type InvoiceRoom,
  invoiceEvents,
} from './operations.ts'

const defineEndpoint = endpointsOf<InvoiceRoom>()

const BYTES_32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/)
const ID = { id: z.string().max(64).describe('Id of the invoice.') }
const CREATE = '/api/invoice/create'

const CLIENT_NAME = z.string().max(INVOICE_RULES.client_name_chars).optional()
/** Names of the specification first, then those of the tool. */
const NAMES = { amount: ['amountUsdc', 'amount_usdc'], client_name: ['clientName', 'client_name'] } as const satisfies InvoiceNames

const REQUEST = named(
  'invoice-request',
  z
    .strictObject({
      amountUsdc: INVOICE_AMOUNT.optional().describe('Amount in USDC, at most six decimals, as a number or as decimal text.'),
      amount_usdc: INVOICE_AMOUNT.optional().describe('The same by its other name; give one of them.'),
      merchant: ADDRESS.describe('Wallet of the beneficiary. A broken checksum (EIP-55) is refused.'),
      clientName: CLIENT_NAME.describe('Name of the payer.'),
      client_name: CLIENT_NAME.describe('The same by its other name.'),
      memo: z.string().max(INVOICE_RULES.memo_chars).optional().describe('Purpose of the payment. Anyone with the invoice id can read it.'),
      ...INVOICE_SHOP,
      bank: INVOICE_BANK.optional(),
      referrer: ADDRESS.optional().describe('Address that gets a part of the protocol fee, which is zero now.'),
      signature: SIGNATURE.optional().describe(
        'Of the merchant, for an invoice that is signed from the start and never evicted. EIP-712 in the domain {name: "assay invoice", version: "1", ' +
          'chainId, verifyingContract: the USDC token} over InvoiceCreate(bytes32 request,address merchant,uint256 amount,bytes32 cart): request is the ' +
          'keccak-256 of the Idempotency-Key, amount in minor units, cart the keccak-256 of the RFC 8785 text of ' +
          '{merchant, amount_minor, memo, client_name, chain_id, token} (lower-case addresses, amount_minor as text, null for what is absent), with order_number and return_url if given.',
      ),
    })
    .check(checkInvoiceNames(NAMES))
    .meta({ anyOf: NAMES.amount.map((name) => ({ required: [name], properties: { [name]: {} } })) }),
)

const RECORD = named(
  'invoice',
  z
    .looseObject({
      invoice_id: z.string().describe('inv_ and random characters. It is a secret: anyone with the id can read the invoice.'),
      status: z.enum(INVOICE_STATES).describe('State of the invoice.'),
      amount_minor: z.string().describe('Minor units of USDC.'),
      amount_due_minor: z.string().describe('Minor units of USDC that are left to pay.'),
      merchant: z.string().describe('Address that is paid, directly.'),
      pay_url: z.string().describe('Address that takes a signed authorization.'),
      webhook_token: z
        .string()
        .optional()
        .describe('Only in answer to the creation: subscribes webhooks to the invoice, see /v1/webhooks. Keep it secret.'),
      statement_token: z
        .string()
        .optional()
        .describe(
          'Only in answer to the creation with bank details: confirms the transfer with a bank statement, see /api/invoice/statement. Keep it secret.',
        ),
      paid_by: z.enum(['chain', 'bank']).nullable().optional().describe('Rail on which it was paid; null while it is not.'),
      sign: SIGN.describe('Signature that the invoice waits for: of the merchant, or of the payer of a pilot. Null if there is none.'),
      transaction_found: z
        .boolean()
        .nullable()
        .optional()
        .describe('Only in answer to a transaction that was named: true if a block holds it; null where no chain is read.'),
    })
    .describe('The invoice: terms, links, payments and transfers seen. Further members may come.'),
)

const create = defineEndpoint({
  id: 'create-invoice',
  method: 'post',
  path: CREATE,
  summary: 'Create an invoice, for nothing.',
  description:
    'The payer pays the merchant directly on the chain. The names of create-b2b-invoice are taken too. An Idempotency-Key makes a ' +
    'retry return the first invoice. Without a signature of the merchant the invoice is unsigned: when a network (/24, /48) or all networks together ' +
    'hold as many as are taken, the oldest unsigned ones without a payment are evicted.',
  headers: {
    'Idempotency-Key': z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/)
      .optional()
      .describe('Names this request: a retry with the same content returns the first invoice, with other content it is refused.'),
  },
  rate: INVOICE_RATE,
  body: {
    schema: REQUEST,
    bounds: INVOICE_BODY,
    example: { amountUsdc: 49, merchant: '0x1000000000000000000000000000000000000001', clientName: 'Example Ltd', memo: 'May' },
  },
  answers: {
    200: { description: 'The invoice that the same Idempotency-Key made before.', json: RECORD },
    201: { description: 'The invoice.', json: RECORD },
  },
  problems: ['INVOICE_SIGNATURE_INVALID', 'INVOICE_CONFLICT', 'INVOICE_LIMIT', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async run({ body, headers, caller }, { deps }) {
    const { amountUsdc, amount_usdc, clientName, client_name, signature = null, ...content } = body
    const request_key = headers['Idempotency-Key'] ?? null
    const asker: Asker = { client: quotaClient(caller), address: caller, network: widerNetwork(caller), request_key, signature }
    const asked = { ...content, amount: amountUsdc ?? amount_usdc ?? 0, client_name: clientName ?? client_name }
    const end = await deps.invoices.service.make(asked, asker)
    if (end.kind !== 'made') return invoiceProblem(end)
    const { record, invoice } = end.view
    const statement_token = deps.invoices.service.statementToken(end.view, signature !== null)
    const tokens = { webhook_token: deps.webhooks.invoiceToken(invoice.invoice_id), ...(statement_token !== null && { statement_token }) }
    return jsonReply(end.created ? 201 : 200, JSON.stringify({ ...record, ...tokens }), { location: String(record['invoice_url']) })
  },
})

const CAMEL: Readonly<Record<string, string>> = { amount_usdc: 'amountUsdc', client_name: 'clientName' }

function invoiceProblem(end: Exclude<InvoiceEnd, { kind: 'made' }>): Problem {
  if (end.kind === 'refused') return end.problem
  const message = INVOICE_FAULTS[end.fault]
  const pointer = `/${CAMEL[end.field] ?? end.field}`
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer, code: end.fault, message }] })
}

/** Separate endpoint, so that GET does not look for an invoice with the id `create`. */
const createByGet = postOnly('create-invoice-get', CREATE)

async function withInvoice(
  { deps }: InvoiceRoom,
  id: string,
  show: (view: InvoiceView) => Promise<EndpointResult> | EndpointResult,
): Promise<EndpointResult> {
  const view = await deps.invoices.service.read(id)
  return view === null ? notFound() : show(view)
}

const read = defineEndpoint({
  id: 'read-invoice',
  method: 'get',
  path: '/api/invoice/{id}',
  summary: 'One invoice, as it was last seen on the chain.',
  parts: ID,
  unfit_path: notFound,
  answers: { 200: { description: 'The invoice; `stale` is true if the chain could not be read recently.', json: RECORD } },
  problems: ['STORE_UNAVAILABLE'],
  run: ({ parts, context }, room) =>
    withInvoice(room, parts.id, ({ record }) =>
      sendDocument(context, storedDocument(JSON_TYPE, JSON.stringify(record), { 'cache-control': 'private, no-cache' })),
    ),
})

const EVENTS = '/api/invoice/{id}/events'

const follow = defineEndpoint({
  id: 'follow-invoice',
  method: 'get',
  path: EVENTS,
  summary: 'The invoice as server-sent events: immediately, and after each change.',
  description:
    'Each event is named invoice, carries the whole record as data and its entity tag as id; Last-Event-ID spares what is known. Comments keep ' +
    'the line alive. A stream ends after ten minutes at the latest, with an event named end.',
  parts: ID,
  unfit_path: notFound,
  query: {
    last_event_id: z
      .string()
      .max(64)
      .optional()
      .catch(undefined)
      .describe('Entity tag of the record that is known, for a first connection, which cannot send Last-Event-ID from a browser.'),
  },
  answers: { 200: { description: 'The stream.', media: ['text/event-stream'] } },
  problems: ['INVOICE_RATE_LIMITED', 'STORE_UNAVAILABLE'],
  run: (request, room) =>
    withInvoice(room, request.parts.id, (view) => invoiceEvents(request, room.deps.invoices.live, request.query.last_event_id, view)),
})

const lookUp = defineEndpoint({
  id: 'name-invoice-transaction',
  method: 'post',
  path: '/api/invoice/{id}/transactions',
  summary: 'Look for payments of the invoice in one transaction, now; nothing is believed but the chain.',
  parts: ID,
  unfit_path: notFound,
  rate: INVOICE_RATE,
  body: {
    schema: named('invoice-transaction', z.strictObject({ tx_hash: BYTES_32.describe('Hash of a transaction that is said to pay it.') })),
    bounds: INVOICE_BODY,
    example: { tx_hash: `0x${'0'.repeat(64)}` },
  },
  answers: { 200: { description: 'The invoice, with `transaction_found`.', json: RECORD } },
  problems: ['UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async run({ parts, body, caller }, { deps }) {
    const end = await deps.invoices.service.submit(parts.id, body.tx_hash.toLowerCase(), caller)
    if (!end.ok) return end.problem
    return jsonReply(200, JSON.stringify({ ...end.view.record, transaction_found: end.transaction_found }))
  },
})

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
  const view = await deps.invoices.service.read(context.req.param('id') ?? '')
  if (view === null) return context.body(noInvoicePage(deps, text), 404, headers)
  const etag = tagOf(JSON.stringify(view.record))
  const body = payPage(deps, view, {
    ...text,
    now_ms: deps.call.sources.clock.now_ms(),
    carries: deps.invoices.relay?.carries === true,
    etag,
    events: `${EVENTS.replace('{id}', view.invoice.invoice_id)}?last_event_id=${encodeURIComponent(etag)}`,
  })
  return sendOnce(context, body, headers)
}

const MERCHANT_SIGNATURE = named(
  'merchant-signature',
  z.strictObject({
    signature: SIGNATURE.optional().describe(
      'EIP-712 of the merchant: 65 bytes of a key, or what a contract wallet takes (ERC-1271). Without it, the problem has the typed data in `sign`.',
    ),
  }),
)

function merchantAct(id: string, act: MerchantAct, path: string, summary: string): Endpoint<InvoiceRoom> {
  return defineEndpoint({
    id,
    method: 'post',
    path,
    summary,
    parts: ID,
    unfit_path: notFound,
    rate: INVOICE_RATE,
    body: { schema: MERCHANT_SIGNATURE, bounds: INVOICE_BODY },
    answers: { 200: { description: 'The invoice.', json: RECORD } },
    problems: ['INVOICE_SIGNATURE_INVALID', 'INVOICE_NOT_VOIDABLE', 'INVOICE_LIMIT', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
    run: async ({ parts, body, caller }, { deps }) =>
      changed(await deps.invoices.service.act(parts.id, act, body.signature ?? null, caller)),
  })
}

const sign = merchantAct('sign-invoice', 'issue', '/api/invoice/{id}/sign', 'Sign an invoice as its merchant.')
const withdraw = merchantAct('void-invoice', 'void', '/api/invoice/{id}/void', 'Void an invoice as its merchant.')

function changed(change: InvoiceChange): EndpointResult {
  return change.ok ? jsonReply(200, JSON.stringify(change.view.record)) : change.problem
}

const readDocument = defineEndpoint({
  id: 'invoice-pdf',
  method: 'get',
  path: '/api/invoice/{id}/pdf',
  summary: 'The invoice as PDF.',
  parts: ID,
  unfit_path: notFound,
  query: { lang: z.string().max(35).optional().catch(undefined).describe('Language of the texts; by default that of Accept-Language.') },
  answers: { 200: { description: 'The document.', media: ['application/pdf'] } },
  problems: ['INVOICE_NOT_PRINTABLE', 'INVOICE_RATE_LIMITED', 'STORE_UNAVAILABLE'],
  run: (request, room) => withInvoice(room, request.parts.id, (view) => invoiceDocument(request, room.deps, request.query.lang, view)),
})

const readCode = defineEndpoint({
  id: 'invoice-code',
  method: 'get',
  path: '/api/invoice/{id}/qr.svg',
  summary: 'A QR code by which a wallet pays what is due; 404 once nothing is to be paid by it.',
  parts: ID,
  unfit_path: notFound,
  query: { kind: z.enum(['epc']).optional().catch(undefined).describe('epc for the code of a bank transfer.') },
  answers: { 200: { description: 'The code.', media: ['image/svg+xml'] } },
  problems: ['NOT_FOUND', 'STORE_UNAVAILABLE'],
  run: (request, room) => withInvoice(room, request.parts.id, (view) => invoiceCode(request, request.query.kind, view)),
})

/** Endpoints of invoices: free to create, readable with the id, payable by signature. */
export const INVOICE_ENDPOINTS = [
  create,
  createByGet,
  ...MERCHANT_LIST_ENDPOINTS,
  read,
  follow,
  lookUp,
  payByGet,
  payByPage,
  pay,
  sign,
  withdraw,
  readDocument,
  readCode,
]
