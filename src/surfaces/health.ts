import type { Hono } from 'hono'
import type { Tool } from '../service/catalogue/define.ts'
import { priceBounds, priceOf, usdcText, type PricesNow } from '../service/payments/price.ts'
import { standingNow } from '../service/telemetry/standing.ts'
import { USDC_DECIMALS } from '../pure/payments/usdc.ts'
import type { AppDeps, PaymentHealth } from './deps.ts'
import type { Env } from './http/env.ts'
import { wantsPage } from './http/wants-page.ts'
import { JSON_TYPE, sendDocument, storedDocument } from './discovery/document.ts'
import { HTML_TYPE, PAGE_HEADERS } from './pages/layout.ts'
import { statusPage } from './pages/status-page.ts'
import { standingOf, statusBody } from './status.ts'

/** The prices now; null while they cannot be known because the store is down. The rest of a document is good without them. */
export async function pricesNow({ prices }: Pick<AppDeps, 'prices'>): Promise<PricesNow | null> {
  return prices.prices().catch(() => null)
}

/** The price of a tool as a document shows it that is made for one reader; the amount is that of the cheapest input. */
export function priceShown(tool: Pick<Tool, 'price'>, prices: PricesNow | null) {
  const { floor_minor, cap_minor, formula } = priceBounds(tool.price)
  const amount_minor = tool.price === 'free' ? 0n : prices === null ? null : priceOf(tool.price, null, prices).amount_minor
  return {
    class: tool.price,
    amount_minor: amount_minor?.toString() ?? null,
    amount_usdc: amount_minor === null ? null : usdcText(amount_minor),
    floor_minor: floor_minor.toString(),
    cap_minor: cap_minor.toString(),
    formula,
  }
}

/** `/health`, `/status` and `/metrics`: what an operator, a monitor and a stranger may know of the running service. */
export function healthRoutes(app: Hono<Env>, deps: AppDeps): void {
  app.get('/health', async (context) => {
    const { ok, body } = await healthNow(deps)
    return context.json(body, ok ? 200 : 503, { 'cache-control': 'no-store' })
  })
  app.get('/status', async (context) => {
    const headers = { 'cache-control': 'no-store', vary: 'Accept' }
    if (!wantsPage(context)) return context.json(await statusBody(deps), 200, headers)
    const [body, standing] = await Promise.all([statusBody(deps), standingNow(standingOf(deps))])
    return sendDocument(context, storedDocument(HTML_TYPE, statusPage(deps, body, standing), { ...PAGE_HEADERS, ...headers }))
  })
  // What cannot be read of the query counts as not said.
  app.get('/status/history.json', (context) => {
    const { span, after } = context.req.query()
    const after_s = after !== undefined && /^\d{1,12}$/.test(after) ? Number(after) : undefined
    const view = JSON.stringify(deps.history.view(span === 'day' ? 'day' : 'hour', after_s))
    return sendDocument(context, storedDocument(JSON_TYPE, view, { 'cache-control': 'no-store' }))
  })
  app.get('/metrics', async (context) =>
    context.text(await deps.telemetry.text(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  )
}

/** Whether the service can serve, and its prices now. */
export async function healthNow(deps: AppDeps): Promise<{ ok: boolean; body: object }> {
  const [ok, prices, payments] = await Promise.all([answers(deps), pricesNow(deps), deps.paymentHealth()])
  return { ok, body: healthBody(deps, ok, prices, payments) }
}

async function answers(deps: AppDeps): Promise<boolean> {
  try {
    await deps.store.ping()
    return true
  } catch {
    // The reason is the operator's, not the public's: `assay doctor` tells it.
    return false
  }
}

/** Where payments go, and whether one could be taken now: free calls do without. */
function paymentsShown({ place }: AppDeps, { enabled, method, chain_ok, ready, overdue }: PaymentHealth) {
  return { enabled, method, ready, chain_ok, overdue, recipient: place.pay_to, currency: 'USDC', decimals: USDC_DECIMALS }
}

function healthBody(deps: AppDeps, store_ok: boolean, prices: PricesNow | null, payments: PaymentHealth) {
  const { signer } = deps.call.stamp
  return {
    ok: store_ok,
    mode: deps.mode,
    sandbox: deps.sandbox,
    chain: { id: deps.chain_id, network: `eip155:${deps.chain_id}` },
    signer: { address: signer.address, implementation: signer.implementation },
    store: { kind: deps.store.kind, ok: store_ok },
    payments: paymentsShown(deps, payments),
    free_daily: deps.free,
    tools: deps.call.catalogue.tools.map((tool) => ({ name: tool.id, version: tool.version, price: priceShown(tool, prices) })),
  }
}
