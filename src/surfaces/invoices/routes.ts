import type { Context, Hono } from 'hono'
import { once } from '../../pure/once.ts'
import type { Env } from '../http/env.ts'
import { jsonReply, type Reply, response } from '../http/reply.ts'
import { wantsPage } from '../http/wants-page.ts'
import { HTML_TYPE, PAGE_HEADERS } from '../pages/layout.ts'
import { noInvoicePage, payPage } from '../pages/pay-page.ts'
import { bodyOf, type Caller, guarded, type InvoiceRoutes, refuse } from './exchange.ts'
import { payInvoice } from './pay.ts'
import type { Unprintable } from '../../pure/invoices/printable.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import type { MerchantAct } from '../../pure/invoices/signing.ts'
import { quotaClient, widerNetwork } from '../../service/clients.ts'
import type { Asker } from '../../service/invoices/create.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { type InvoiceChange, type InvoiceEnd, notFound } from '../../service/invoices/desk.ts'
import { INVOICE_RULES } from '../../service/invoices/rules.ts'
import type { InvoiceView } from '../../service/invoices/view.ts'
import { createRateGuard } from '../../service/admission/rate.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { isKnown, JSON_TYPE, sendDocument, storedDocument } from '../discovery/document.ts'
import type { PaymentWords } from '../payment.ts'
import { invoiceEvents } from './events.ts'
import { contentProblem, MERCHANT_SIGNATURE, readInvoiceRequest } from './request.ts'

const EVENTS = '/api/invoice/:id/events'

/** Whoever has the address sees the invoice: it goes into no cache, no index and no Referer. */
const CHECKOUT_HEADERS = {
  ...PAGE_HEADERS,
  'content-type': HTML_TYPE,
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
}

/**
 * One address for people and for programs: `pay_url` is the page to whoever prefers HTML, and an x402 resource to everybody else. `/pay/{id}`,
 * which people hand on, is the page unless JSON is asked for or a payment is sent.
 */
function checkoutRoutes(app: Hono<Env>, routes: InvoiceRoutes): void {
  const offersEvents = once(() => app.routes.some(({ path }) => path === EVENTS))
  const serve = (context: Context<Env>, usual: 'json' | 'page') =>
    guarded(routes, context, async () => {
      const paying = ['payment-signature', 'x-payment'].some((name) => context.req.header(name) !== undefined)
      const answer =
        !paying && wantsPage(context, usual) ? await page(routes, context, offersEvents()) : response(await payInvoice(routes, context))
      answer.headers.append('vary', 'Accept')
      return answer
    })
  app.get('/api/invoice/:id/pay', (context) => serve(context, 'json'))
  app.get('/pay/:id', (context) => serve(context, 'page'))
}

async function page({ deps, desk }: InvoiceRoutes, context: Context<Env>, events: boolean): Promise<Response> {
  const view = await desk.read(context.req.param('id') ?? '')
  if (view === null) return context.body(noInvoicePage(deps), 404, CHECKOUT_HEADERS)
  const text = payPage(deps, view, {
    now_ms: deps.call.sources.clock.now_ms(),
    carries: deps.invoices.relay?.carries === true,
    events: events ? EVENTS.replace(':id', view.invoice.invoice_id) : null,
  })
  return context.body(text, 200, CHECKOUT_HEADERS)
}

const CREATE = '/api/invoice/create'
const ALLOW = { allow: 'POST, OPTIONS' }

/** `/api/invoice/…`: made by anybody for nothing, read by whoever has the id, paid by whoever signs. */
export function invoiceRoutes(app: Hono<Env>, deps: AppDeps, words: PaymentWords, caller: Caller): void {
  const { desk } = deps.invoices
  const admit = createRateGuard(deps.call.sources.clock, INVOICE_RULES.per_minute)
  const refuseRate = (address: string) => {
    const admitted = admit(address)
    if (admitted.ok) return null
    const detail = `A client may send ${INVOICE_RULES.per_minute} such requests a minute.`
    return problem('INVOICE_RATE_LIMITED', detail, { retry_after_s: admitted.retry_after_s })
  }
  const routes: InvoiceRoutes = { deps, desk, words, caller, refuseRate }
  const serve = (context: Context<Env>, work: () => Promise<Reply>) => guarded(routes, context, async () => response(await work()))
  app.post(CREATE, (context) => serve(context, () => create(routes, context)))
  // An address of its own, and no invoice of that name.
  app.get(CREATE, (context) => response(refuse(routes, context, problem('METHOD_NOT_ALLOWED', 'This address takes POST.'), ALLOW)))
  app.get('/api/invoice/:id', (context) =>
    withInvoice(routes, context, ({ record }) => {
      const headers = { 'cache-control': 'private, no-cache' }
      return Promise.resolve(sendDocument(context, storedDocument(JSON_TYPE, JSON.stringify(record), headers)))
    }),
  )
  app.get('/api/invoice/:id/events', (context) =>
    withInvoice(routes, context, (view) => Promise.resolve(invoiceEvents(routes, context, view))),
  )
  app.get('/api/invoice/:id/qr.svg', (context) => withInvoice(routes, context, async (view) => qr(routes, context, view)))
  const admitDrawing = createRateGuard(deps.call.sources.clock, INVOICE_RULES.documents_per_minute)
  app.get('/api/invoice/:id/pdf', (context) =>
    withInvoice(routes, context, async (view) => {
      const missing = view.record['pdf_unprintable'] as Unprintable[] | null
      if (missing !== null) return response(refuse(routes, context, notPrintable(view, missing)))
      const headers = pdfHeaders(deps, view)
      if (isKnown(context, headers.etag)) return context.body(null, 304, headers)
      const admitted = admitDrawing(caller(context))
      if (!admitted.ok) return response(refuse(routes, context, drawnTooOften(admitted.retry_after_s)))
      return context.body(await pdf(deps, view), 200, { ...headers, 'content-type': 'application/pdf' })
    }),
  )
  checkoutRoutes(app, routes)
  app.post('/api/invoice/:id/pay', (context) => serve(context, () => payInvoice(routes, context)))
  app.post('/api/invoice/:id/sign', (context) => serve(context, () => act(routes, context, 'issue')))
  app.post('/api/invoice/:id/void', (context) => serve(context, () => act(routes, context, 'void')))
  app.post('/api/invoice/:id/transactions', (context) => serve(context, () => submit(routes, context)))
}

function withInvoice(routes: InvoiceRoutes, context: Context<Env>, show: (view: InvoiceView) => Promise<Response>): Promise<Response> {
  return guarded(routes, context, async () => {
    const view = await routes.desk.read(context.req.param('id') ?? '')
    return view === null ? response(refuse(routes, context, notFound())) : show(view)
  })
}

async function create(routes: InvoiceRoutes, context: Context<Env>): Promise<Reply> {
  const body = await bodyOf(routes, context)
  if (!body.ok) return refuse(routes, context, body.problem)
  const read = readInvoiceRequest(body.value)
  if (!read.ok) return refuse(routes, context, read.problem)
  const request_key = context.req.header('idempotency-key') ?? null
  if (request_key !== null && !/^[\x21-\x7e]{1,128}$/.test(request_key)) {
    return refuse(routes, context, problem('INPUT_SCHEMA_INVALID', 'Idempotency-Key takes 1 to 128 printable characters without spaces.'))
  }
  const address = routes.caller(context)
  const { signature } = read
  const asker: Asker = { client: quotaClient(address), address, network: widerNetwork(address), request_key, signature }
  return made(routes, context, await routes.desk.make(read.asked, asker))
}

function made(routes: InvoiceRoutes, context: Context<Env>, end: InvoiceEnd): Reply {
  switch (end.kind) {
    case 'refused':
      return refuse(routes, context, end.problem)
    case 'invalid':
      return refuse(routes, context, contentProblem(end.fault, end.field))
    case 'made': {
      const { record } = end.view
      return jsonReply(end.created ? 201 : 200, JSON.stringify(record), { location: String(record['invoice_url']) })
    }
  }
}

async function act(routes: InvoiceRoutes, context: Context<Env>, what: MerchantAct): Promise<Reply> {
  const body = await bodyOf(routes, context)
  if (!body.ok) return refuse(routes, context, body.problem)
  const signature = textIn(body.value, 'signature', MERCHANT_SIGNATURE)
  if (signature === null) return refuse(routes, context, problem('INPUT_SCHEMA_INVALID', 'Send {"signature": "0x…"}, of 1 to 4096 bytes.'))
  return changed(routes, context, await routes.desk.act(context.req.param('id') ?? '', what, signature, routes.caller(context)))
}

async function submit(routes: InvoiceRoutes, context: Context<Env>): Promise<Reply> {
  const body = await bodyOf(routes, context)
  if (!body.ok) return refuse(routes, context, body.problem)
  const tx_hash = textIn(body.value, 'tx_hash', /^0x[0-9a-fA-F]{64}$/)
  if (tx_hash === null) return refuse(routes, context, problem('INPUT_SCHEMA_INVALID', 'Send {"tx_hash": "0x…"}, of 32 bytes.'))
  const end = await routes.desk.submit(context.req.param('id') ?? '', tx_hash.toLowerCase(), routes.caller(context))
  if (!end.ok) return refuse(routes, context, end.problem)
  return jsonReply(200, JSON.stringify({ ...end.view.record, transaction_found: end.transaction_found }))
}

function changed(routes: InvoiceRoutes, context: Context<Env>, change: InvoiceChange): Reply {
  return change.ok ? jsonReply(200, JSON.stringify(change.view.record)) : refuse(routes, context, change.problem)
}

/** The one member of a body. */
function textIn(body: unknown, name: string, pattern: RegExp): string | null {
  if (typeof body !== 'object' || body === null || Object.keys(body).length !== 1 || !Object.hasOwn(body, name)) return null
  const value: unknown = Object.getOwnPropertyDescriptor(body, name)?.value
  return typeof value === 'string' && pattern.test(value) ? value : null
}

async function qr(routes: InvoiceRoutes, context: Context<Env>, { record }: InvoiceView): Promise<Response> {
  const bank = record['bank_coordinates'] as { epc_payload: string | null } | null
  const text = context.req.query('kind') === 'epc' ? (bank?.epc_payload ?? null) : (record['eip681_uri'] as string | null)
  const why = context.req.query('kind') === 'epc' ? record['bank_reason'] : record['eip681_reason']
  if (text === null) return response(refuse(routes, context, problem('NOT_FOUND', `There is no such code. ${String(why)}`)))
  const { qrSvg } = await import('../../service/invoices/qr.ts')
  return context.body(qrSvg(text), 200, { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': 'private, no-store' })
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

/** Drawing a document costs a thousand times what asking for it does. */
function drawnTooOften(retry_after_s: number): Problem {
  const detail = `A client may ask for ${INVOICE_RULES.documents_per_minute} documents a minute; each stays the same until its invoice changes.`
  return problem('INVOICE_RATE_LIMITED', detail, { retry_after_s })
}

/** The tag names the version too, since another one may draw the same record otherwise. */
function pdfHeaders({ version }: AppDeps, { record, invoice }: InvoiceView) {
  const drawn_from = JSON.stringify([version, record])
  return {
    'content-disposition': `inline; filename="payment-request-${invoice.invoice_id}.pdf"`,
    etag: `W/"${nobleCrypto.keccak256Hex(drawn_from).slice(2, 34)}"`,
    'cache-control': 'private, no-cache',
  }
}

async function pdf(deps: AppDeps, { record }: InvoiceView): Promise<Uint8Array<ArrayBuffer>> {
  // Its library is the heaviest of all, and most services never draw one: it is loaded for the first.
  const { invoicePdf } = await import('../../service/invoices/pdf.ts')
  return invoicePdf(record, modeMark(deps))
}
