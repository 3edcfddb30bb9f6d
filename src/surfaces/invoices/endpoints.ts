import { z } from 'zod'
import type { Unprintable } from '../../pure/invoices/printable.ts'
import { INVOICE_STATES } from '../../pure/invoices/standing.ts'
import type { MerchantAct } from '../../pure/invoices/terms.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { checkInvoiceNames, INVOICE_AMOUNT, INVOICE_BANK, INVOICE_SHOP, SIGN, type InvoiceNames } from '../../service/catalogue/schemas.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { quotaClient, widerNetwork } from '../../service/clients.ts'
import type { InvoiceChange, InvoiceEnd } from '../../service/invoices/invoice-service.ts'
import type { InvoiceView } from '../../service/invoices/invoice-view.ts'
import type { FollowResult, InvoiceFollower, InvoiceLive } from '../../service/invoices/live.ts'
import { notFound } from '../../service/invoices/merchant-signature.ts'
import { INVOICE_RULES } from '../../service/limits.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { endpointsOf, named, type Endpoint, type EndpointResult, type Rate, type RawRequest } from '../endpoint.ts'
import { clientHas, JSON_TYPE, sendDocument, sendOnce, storedDocument } from '../http/document.ts'
import { jsonReply } from '../http/reply.ts'
import { localized } from '../pages/messages.ts'
import {
  ADDRESS,
  BYTES_32,
  ID,
  INVOICE_BODY,
  INVOICE_EVENTS_PATH,
  MERCHANT_ENDPOINTS,
  SIGNATURE,
  tagOf,
  WRITE_RATE,
  type InvoiceRoom,
} from './merchant.ts'
import { PAYMENT_ENDPOINTS } from './payment.ts'

const defineEndpoint = endpointsOf<InvoiceRoom>()

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
      paid_by: z
        .enum(['chain', 'bank'])
        .nullable()
        .optional()
        .describe('Rail on which it was paid; null while it is not. bank: confirmed by the merchant.'),
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
  path: '/api/invoice/create',
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
  rate: WRITE_RATE,
  body: {
    schema: REQUEST,
    bounds: INVOICE_BODY,
    example: { amountUsdc: 49, merchant: '0x1000000000000000000000000000000000000001', clientName: 'Example Ltd', memo: 'May' },
  },
  answers: {
    200: { description: 'The invoice that the same Idempotency-Key made before.', json: RECORD },
    201: { description: 'The invoice.', json: RECORD },
  },
  problems: [
    'INVOICE_SIGNATURE_INVALID',
    'INVOICE_CONFLICT',
    'INVOICE_LIMIT',
    'INVOICE_NETWORK_LIMIT',
    'UPSTREAM_RPC_UNAVAILABLE',
    'STORE_UNAVAILABLE',
  ],
  async run({ body, headers, caller }, { deps }) {
    const { amountUsdc, amount_usdc, clientName, client_name, signature = null, ...content } = body
    const request_key = headers['Idempotency-Key'] ?? null
    const asker = { client: quotaClient(caller), address: caller, network: widerNetwork(caller), request_key, signature }
    const asked = { ...content, amount: amountUsdc ?? amount_usdc ?? 0, client_name: clientName ?? client_name }
    const end = await deps.invoices.service.make(asked, asker)
    if (end.kind !== 'made') return invoiceProblem(end)
    const { record, invoice } = end.view
    const webhook_token = deps.webhooks.invoiceToken(invoice.invoice_id)
    return jsonReply(end.created ? 201 : 200, JSON.stringify({ ...record, webhook_token }), { location: String(record['invoice_url']) })
  },
})

const CAMEL: Readonly<Record<string, string>> = { amount_usdc: 'amountUsdc', client_name: 'clientName' }

function invoiceProblem(end: Exclude<InvoiceEnd, { kind: 'made' }>): Problem {
  if (end.kind === 'refused') return end.problem
  const { message } = end
  const pointer = `/${CAMEL[end.field] ?? end.field}`
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer, code: end.fault, message }] })
}

async function withInvoice(
  { deps }: InvoiceRoom,
  id: string,
  show: (view: InvoiceView) => Promise<EndpointResult> | EndpointResult,
): Promise<EndpointResult> {
  const view = await deps.invoices.service.read(id)
  return view === null ? deps.invoices.service.absent(id) : show(view)
}

const read = defineEndpoint({
  id: 'read-invoice',
  method: 'get',
  path: '/api/invoice/{id}',
  summary: 'One invoice, as it was last seen on the chain.',
  parts: ID,
  unfit_path: notFound,
  answers: { 200: { description: 'The invoice; `stale` is true if the chain could not be read recently.', json: RECORD } },
  problems: ['INVOICE_GONE', 'STORE_UNAVAILABLE'],
  run: ({ parts, context }, room) =>
    withInvoice(room, parts.id, ({ record }) =>
      sendDocument(context, storedDocument(JSON_TYPE, JSON.stringify(record), { 'cache-control': 'private, no-cache' })),
    ),
})

const follow = defineEndpoint({
  id: 'follow-invoice',
  method: 'get',
  path: INVOICE_EVENTS_PATH,
  summary: 'The invoice as server-sent events: immediately, and after each change.',
  description:
    'Each event is named invoice, carries the whole record as data and its entity tag as id; Last-Event-ID spares what is known. Comments keep ' +
    'the line alive. A stream ends after ten minutes at the latest, or when streams are scarce and its network has the most, with an event named end.',
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
  problems: ['INVOICE_GONE', 'INVOICE_RATE_LIMITED', 'STORE_UNAVAILABLE'],
  run: (request, room) =>
    withInvoice(room, request.parts.id, async (view) => {
      const { live } = room.deps.invoices
      const is_favoured = await live.favours(view)
      return invoiceEvents(request, live, { known: request.query.last_event_id, is_favoured }, view)
    }),
})

const LOOK_UP_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.per_minute }

const lookUp = defineEndpoint({
  id: 'name-invoice-transaction',
  method: 'post',
  path: '/api/invoice/{id}/transactions',
  summary: 'Look for payments of the invoice in one transaction, now; nothing is believed but the chain.',
  parts: ID,
  unfit_path: notFound,
  rate: LOOK_UP_RATE,
  body: {
    schema: named('invoice-transaction', z.strictObject({ tx_hash: BYTES_32.describe('Hash of a transaction that is said to pay it.') })),
    bounds: INVOICE_BODY,
    example: { tx_hash: `0x${'0'.repeat(64)}` },
  },
  answers: { 200: { description: 'The invoice, with `transaction_found`.', json: RECORD } },
  problems: ['INVOICE_GONE', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async run({ parts, body, caller }, { deps }) {
    const end = await deps.invoices.service.submit(parts.id, body.tx_hash.toLowerCase(), caller)
    if (!end.ok) return end.problem
    return jsonReply(200, JSON.stringify({ ...end.view.record, transaction_found: end.transaction_found }))
  },
})

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
    rate: WRITE_RATE,
    body: { schema: MERCHANT_SIGNATURE, bounds: INVOICE_BODY },
    answers: { 200: { description: 'The invoice.', json: RECORD } },
    problems: [
      'INVOICE_GONE',
      'INVOICE_SIGNATURE_INVALID',
      'INVOICE_NOT_VOIDABLE',
      'INVOICE_ERASED',
      'INVOICE_LIMIT',
      'INVOICE_NETWORK_LIMIT',
      'UPSTREAM_RPC_UNAVAILABLE',
      'STORE_UNAVAILABLE',
    ],
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
  problems: ['INVOICE_GONE', 'INVOICE_NOT_PRINTABLE', 'INVOICE_RATE_LIMITED', 'STORE_UNAVAILABLE'],
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
  problems: ['INVOICE_GONE', 'NOT_FOUND', 'STORE_UNAVAILABLE'],
  run: (request, room) => withInvoice(room, request.parts.id, (view) => invoiceCode(request, request.query.kind, view)),
})

/** Drawing a document costs a thousand times as much as a request. */
const DRAWING_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.documents_per_minute }

/** QR code for a wallet, or for a bank transfer with `epc`. */
async function invoiceCode({ context }: RawRequest, kind: 'epc' | undefined, { record }: InvoiceView): Promise<EndpointResult> {
  const bank = record['bank_coordinates'] as { epc_payload: string | null } | null
  const text = kind === 'epc' ? (bank?.epc_payload ?? null) : (record['eip681_uri'] as string | null)
  const why = kind === 'epc' ? record['bank_reason'] : record['eip681_reason']
  if (text === null) return problem('NOT_FOUND', `There is no such code. ${String(why)}`)
  const { qrSvg } = await import('../../service/invoices/qr.ts')
  return sendOnce(context, qrSvg(text), { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': 'private, no-store' })
}

/** Invoice as PDF, in the requested or accepted language; 304 if the client has it already. */
async function invoiceDocument(
  { context, admit }: RawRequest,
  deps: AppDeps,
  language: string | undefined,
  view: InvoiceView,
): Promise<EndpointResult> {
  const { record, invoice } = view
  const missing = record['pdf_unprintable'] as Unprintable[] | null
  if (missing !== null) return notPrintable(view, missing)
  const text = localized(language, context.req.header('accept-language'))
  // Includes the service version, which may draw the same record differently.
  const etag = `W/"${nobleCrypto.keccak256Hex(JSON.stringify([deps.version, text.language, record])).slice(2, 34)}"`
  const headers = {
    'content-disposition': `inline; filename="payment-request-${invoice.invoice_id}.pdf"`,
    etag,
    'cache-control': 'private, no-cache',
    'content-language': text.language,
    vary: 'Accept-Language',
  }
  if (clientHas(context, etag)) return context.body(null, 304, headers)
  const limited = admit(DRAWING_RATE)
  if (limited !== null) return limited
  // The PDF library is large and rarely used, so it is loaded on first use.
  const { invoicePdf } = await import('../../service/invoices/pdf.ts')
  return context.body(await invoicePdf(record, modeMark(deps), text), 200, { ...headers, 'content-type': 'application/pdf' })
}

function notPrintable({ invoice }: InvoiceView, missing: readonly Unprintable[]): Problem {
  const errors = missing.map(({ field, characters }) => ({
    pointer: `/${field.replaceAll('.', '/')}`,
    code: 'unprintable',
    message: `The PDF does not print ${characters.join(', ')}.`,
  }))
  const listed = missing.map(({ field, characters }) => `${field}: ${characters.join(', ')}`).join('; ')
  const detail = `The PDF prints Latin, Greek, Cyrillic, Armenian and Georgian letters, and not ${listed}. The page at page_url shows every text.`
  return problem('INVOICE_NOT_PRINTABLE', detail, { errors, extra: { page_url: `/pay/${invoice.invoice_id}` } })
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // The connection serves only this stream and is closed with it.
  connection: 'close',
  'x-accel-buffering': 'no',
}

/** Maximum queue for a slow reader; above it the stream ends, and the client reconnects. */
const QUEUE_BYTES = 262_144

/**
 * Invoice as server-sent events (WHATWG HTML, "Server-sent events", 2026): the record immediately and after every change, with its entity
 * tag as event id. A record named in Last-Event-ID or `last_event_id` is not sent again. Comments keep the connection alive. HEAD starts no stream, because
 * no client would read or end it.
 */
function invoiceEvents(
  { context, caller }: RawRequest,
  live: InvoiceLive,
  { known: first_known, is_favoured }: { known: string | undefined; is_favoured: boolean },
  { invoice, record }: InvoiceView,
): Response | Problem {
  if (context.req.method === 'HEAD') return new Response(null, { headers: HEADERS })
  const text = JSON.stringify(record)
  const known = context.req.header('last-event-id') ?? first_known
  let leave = () => {}
  let limit: FollowLimit | null = null
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const follower = followerOf(controller, () => leave())
        const result = live.follow({ invoice_id: invoice.invoice_id, address: caller, is_favoured, record_json: text, follower })
        if (result.kind === 'refused') {
          limit = result.limit
          return
        }
        leave = result.leave
        controller.enqueue(bytes(`retry: ${INVOICE_RULES.live_every_ms}\n\n`))
        if (known === tagOf(text)) follower.still()
        else follower.changed(text)
      },
      cancel: () => leave(),
    },
    { highWaterMark: QUEUE_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  return limit === null
    ? new Response(stream, { headers: HEADERS })
    : problem('INVOICE_RATE_LIMITED', followLimitText(limit), { retry_after_s: 10 })
}

type FollowLimit = Extract<FollowResult, { kind: 'refused' }>['limit']

function followLimitText(limit: FollowLimit): string {
  const instead = 'Until then, poll the invoice.'
  switch (limit) {
    case 'client':
      return `Your address has ${INVOICE_RULES.followers_client} event streams open, which is the maximum of a client. Close one. ${instead}`
    case 'network':
      return `Your network (the /24 or IPv6 /48 of your address) has ${INVOICE_RULES.followers_network} event streams open, which is its maximum. ${instead}`
    case 'provider':
      return `The network of your provider (the /16 or IPv6 /32 of your address) has ${INVOICE_RULES.followers_provider} event streams open, which is its maximum. ${instead}`
    case 'service':
      return `The service has as many event streams open as it serves, ${INVOICE_RULES.followers}; your client is within its own limits. Try again later. ${instead}`
    case 'stopping':
      return `The service is restarting; your client is within its own limits. ${instead}`
  }
}

function followerOf(controller: ReadableStreamDefaultController<Uint8Array>, leave: () => void): InvoiceFollower {
  let open = true
  const end = () => {
    if (!open) return
    open = false
    controller.close()
  }
  const write = (text: string) => {
    if (!open) return
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(bytes(text))
    leave()
    end()
  }
  return {
    changed: (text) => write(`id: ${tagOf(text)}\nevent: invoice\ndata: ${text}\n\n`),
    still: () => write(': nothing new\n\n'),
    end() {
      write('event: end\ndata: {}\n\n')
      end()
    },
  }
}

const UTF8 = new TextEncoder()

function bytes(text: string): Uint8Array {
  return UTF8.encode(text)
}

/** Endpoints of invoices: free to create, readable with the id, payable by signature. */
export const INVOICE_ENDPOINTS = [
  create,
  ...MERCHANT_ENDPOINTS,
  read,
  follow,
  lookUp,
  ...PAYMENT_ENDPOINTS,
  sign,
  withdraw,
  readDocument,
  readCode,
]
