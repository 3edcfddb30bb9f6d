import type { Hono } from 'hono'
import type { Tool } from '../service/catalogue/define.ts'
import { priceNow, usdcText } from '../service/payments/price.ts'
import { usdcOn } from '../service/payments/usdc.ts'
import type { AppDeps } from './deps.ts'
import type { Env } from './http/env.ts'

/** The price of a tool as documents show it. */
export function priceShown(tool: Tool) {
  const price = priceNow(tool.price)
  return {
    class: price.class,
    amount_minor: price.amount_minor.toString(),
    amount_usdc: usdcText(price.amount_minor),
    floor_minor: price.floor_minor.toString(),
    cap_minor: price.cap_minor.toString(),
    formula: price.formula,
  }
}

/** `/health`, `/status` and `/metrics`: what an operator, a monitor and a stranger may know of the running service. */
export function healthRoutes(app: Hono<Env>, deps: AppDeps): void {
  app.get('/health', async (context) => {
    const store_ok = await answers(deps)
    return context.json(healthBody(deps, store_ok), store_ok ? 200 : 503, { 'cache-control': 'no-store' })
  })
  app.get('/status', async (context) => context.json(await statusBody(deps), 200, { 'cache-control': 'no-store' }))
  app.get('/metrics', async (context) =>
    context.text(await deps.telemetry.text(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  )
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

function healthBody(deps: AppDeps, store_ok: boolean) {
  const { signer } = deps.call.stamp
  return {
    ok: store_ok,
    mode: deps.mode,
    sandbox:
      deps.mode === 'sandbox' ? { chain_id: deps.chain_id, usdc: usdcOn(deps.chain_id).address, pay_to: deps.call.stamp.recipient } : null,
    chain: { id: deps.chain_id, network: `eip155:${deps.chain_id}` },
    signer: { address: signer.address, implementation: signer.implementation },
    store: { kind: deps.store.kind, ok: store_ok },
    payments: { enabled: false, recipient: deps.call.stamp.recipient, currency: 'USDC', decimals: 6 },
    free_daily: deps.free,
    tools: deps.call.catalogue.tools.map((tool) => ({ name: tool.id, version: tool.version, price: priceShown(tool) })),
  }
}

async function statusBody(deps: AppDeps) {
  const { calls, latency_ms } = await deps.telemetry.snapshot()
  const uptime_s = Math.floor((deps.call.stamp.clock.now_ms() - deps.started_ms) / 1000)
  const total = calls.reduce((sum, { count }) => sum + count, 0)
  return {
    ok: true,
    mode: deps.mode,
    version: deps.version,
    uptime_s,
    in_flight: deps.inFlight(),
    calls: { total, by_tool: calls },
    latency_ms,
  }
}
