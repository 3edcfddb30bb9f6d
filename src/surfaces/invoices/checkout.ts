import type { Context, Hono } from 'hono'
import { once } from '../../pure/once.ts'
import type { Env } from '../http/env.ts'
import { response } from '../http/reply.ts'
import { wantsPage } from '../http/wants-page.ts'
import { HTML_TYPE, PAGE_HEADERS } from '../pages/layout.ts'
import { noInvoicePage, payPage } from '../pages/pay-page.ts'
import { guarded, type InvoiceRoutes } from './exchange.ts'
import { payInvoice } from './pay.ts'

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
export function checkoutRoutes(app: Hono<Env>, routes: InvoiceRoutes): void {
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
