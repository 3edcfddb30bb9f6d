import type { Context } from 'hono'
import { notRelayedText } from '../../pure/invoices/record.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { notFound } from '../../service/invoices/invoice-service.ts'
import { fullyPendingProblem } from '../../service/invoices/relay.ts'
import { INVOICE_RULES, limits } from '../../service/limits.ts'
import { transferTypedData } from '../../pure/signing/transfer.ts'
import { type SignRequest, signRequest } from '../../pure/signing/sign-request.ts'
import { relayMinimum, type InvoiceView } from '../../service/invoices/invoice-view.ts'
import { exactOnly, readPayment, readPaymentFields, type X402Payment } from '../../service/payments/payment-header.ts'
import {
  isPaymentProblem,
  paymentsNotConfigured,
  refusalForCheck,
  pendingProblem,
  acceptsNewPayment,
} from '../../service/payments/payment-refusals.ts'
import { caip2, challengeOf } from '../../service/payments/terms.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { readJson, type Rate, type RawRequest, type EndpointResult } from '../endpoint.ts'
import { type Env, jsonReply, type Reply } from '../http/reply.ts'
import { localized } from '../pages/messages.ts'
import type { PaymentRenderer } from '../payment.ts'
import { resendSecretsIn } from '../rest.ts'
import type { Unprintable } from '../../pure/invoices/printable.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { clientHas, JSON_TYPE, sendOnce, storedDocument } from '../http/document.ts'
import { quotaClient } from '../../service/clients.ts'
import type { InvoiceFollower, InvoiceLive } from '../../service/invoices/live.ts'

/** Dependencies of the invoice endpoints. */
export interface InvoiceRoom {
  deps: AppDeps
  words: PaymentRenderer
}

/** Rate limit of writes and payments, with one count for all of them. */
export const INVOICE_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.per_minute }

export const INVOICE_BODY: ReadBounds = { body_bytes: INVOICE_RULES.body_bytes, depth: 8, nodes: 100, unsafe_numbers: 'refuse' }

/**
 * Pays an invoice by a signed transfer (EIP-3009): an x402 header, or `{authorization, signature}` in the body. Without either it returns
 * the terms, as x402 resources do.
 */
export async function payInvoice(request: RawRequest, room: InvoiceRoom): Promise<Reply | Problem> {
  const { context, caller } = request
  const view = await room.deps.invoices.service.read(context.req.param('id') ?? '')
  if (view === null) return notFound()
  const given = await givenPayment(request, view)
  if (given.kind === 'problem') return withTerms(request, room, view, given.problem)
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

type Given = { kind: 'payment'; payment: X402Payment } | { kind: 'problem'; problem: Problem }

async function givenPayment({ context, admit }: RawRequest, view: InvoiceView): Promise<Given> {
  const [name, second] = (['payment-signature', 'x-payment'] as const).filter((header) => context.req.header(header) !== undefined)
  if (second !== undefined) return { kind: 'problem', problem: problem('PAYMENT_CONFLICT', 'Send one payment, in one header.') }
  if (name !== undefined) {
    const limited = admit(INVOICE_RATE)
    if (limited !== null) return { kind: 'problem', problem: limited }
    const read = exactOnly(readPayment({ kind: 'header', name, text: context.req.header(name) ?? '' }))
    return read.ok ? { kind: 'payment', payment: read.payment } : { kind: 'problem', problem: refusalForCheck(read).problem }
  }
  if (context.req.method === 'GET' || isEmpty(context)) return { kind: 'problem', problem: unpaid() }
  const limited = admit(INVOICE_RATE)
  if (limited !== null) return { kind: 'problem', problem: limited }
  const body = await readJson(context, INVOICE_BODY)
  if (!body.ok) return { kind: 'problem', problem: body.problem }
  return bodyPayment(body.value, view)
}

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
function notPayable({ standing: { status, due_minor }, transfer_way }: InvoiceView, carries: boolean): Problem {
  const open = due_minor > 0n && status !== 'VOID' && status !== 'EXPIRED'
  const small = notRelayedText(transfer_way, relayMinimum({ carries }))
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
  if (record['x402'] === null || relay === null) return notPayable(view, relay?.carries === true)
  const amount_minor = await relay.payableNow(view)
  if (amount_minor === 0n) return fullyPendingProblem()
  if (amount_minor < INVOICE_RULES.relay_minimum_minor) return notPayable(view, true)
  const description = `Invoice ${invoice.invoice_id}`
  const offer = { resource: String(record['pay_url']), description, amount_minor }
  const challenge = challengeOf({ ...deps.terms, pay_to: terms.merchant, ...offer }, 'payment required')
  const signed = { ...found, extra: { ...found.extra, ...paymentSignature(view, deps, amount_minor) } }
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

/** Drawing a document costs a thousand times as much as a request. */
const DRAWING_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.documents_per_minute }

/** QR code for a wallet, or for a bank transfer with `epc`. */
export async function invoiceCode({ context }: RawRequest, kind: 'epc' | undefined, { record }: InvoiceView): Promise<EndpointResult> {
  const bank = record['bank_coordinates'] as { epc_payload: string | null } | null
  const text = kind === 'epc' ? (bank?.epc_payload ?? null) : (record['eip681_uri'] as string | null)
  const why = kind === 'epc' ? record['bank_reason'] : record['eip681_reason']
  if (text === null) return problem('NOT_FOUND', `There is no such code. ${String(why)}`)
  const { qrSvg } = await import('../../service/invoices/qr.ts')
  return sendOnce(context, qrSvg(text), { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': 'private, no-store' })
}

/** Invoice as PDF, in the requested or accepted language; 304 if the client has it already. */
export async function invoiceDocument(
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
  const named = missing.map(({ field, characters }) => `${field}: ${characters.join(', ')}`).join('; ')
  const detail = `The PDF prints Latin, Greek, Cyrillic, Armenian and Georgian letters, and not ${named}. The page at page_url shows every text.`
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
export function invoiceEvents(
  { context, caller }: RawRequest,
  live: InvoiceLive,
  last_event_id: string | undefined,
  { invoice, record }: InvoiceView,
): Response | Problem {
  if (context.req.method === 'HEAD') return new Response(null, { headers: HEADERS })
  const text = JSON.stringify(record)
  const known = context.req.header('last-event-id') ?? last_event_id
  const client = quotaClient(caller)
  let leave: (() => void) | null = null
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const follower = followerOf(controller, () => leave?.())
        leave = live.follow(invoice.invoice_id, client, text, follower)
        if (leave === null) return
        controller.enqueue(bytes(`retry: ${INVOICE_RULES.live_every_ms}\n\n`))
        if (known === tagOf(text)) follower.still()
        else follower.changed(text)
      },
      cancel: () => leave?.(),
    },
    { highWaterMark: QUEUE_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  if (leave !== null) return new Response(stream, { headers: HEADERS })
  const detail = `A client may follow ${INVOICE_RULES.followers_client} invoices simultaneously, all clients together ${INVOICE_RULES.followers}. Read it again later.`
  return problem('INVOICE_RATE_LIMITED', detail, { retry_after_s: 10 })
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

/** The record is JSON on one line, so it needs one data line. */
export function tagOf(text: string): string {
  return storedDocument(JSON_TYPE, text).headers['etag'] ?? ''
}

const UTF8 = new TextEncoder()

function bytes(text: string): Uint8Array {
  return UTF8.encode(text)
}
