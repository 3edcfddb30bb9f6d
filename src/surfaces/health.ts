import { z } from 'zod'
import type { Tool } from '../service/catalogue/define.ts'
import { priceBounds, priceOf, type PricesNow } from '../service/payments/price-book.ts'
import { publicGas } from '../service/payments/gas-report.ts'
import { FAUCET_PATH, SANDBOX_RPC_PATH, sandboxRpcUrl } from '../service/sandbox/faucet-text.ts'
import { standingNow } from '../service/telemetry/history.ts'
import { USDC_DECIMALS, usdcDecimal } from '../pure/payments/usdc.ts'
import { RESUME_ADVICE, stopWords } from '../service/log/log-history.ts'
import type { LogState } from '../service/log/receipts-log.ts'
import type { AppDeps, PaymentHealth } from './deps.ts'
import { endpointsOf, wholeNumber } from './endpoint.ts'
import { jsonReply, wantsPage } from './http/reply.ts'
import { JSON_TYPE, sendDocument, storedDocument } from './http/document.ts'
import { HTML_TYPE, PAGE_HEADERS } from './pages/layout.ts'
import { statusPage } from './pages/status-page.ts'
import { statusSources, statusBody } from './status.ts'

/** Returns the current prices; null if the store does not answer, so that the other facts of a document are still served. */
export async function pricesNow({ prices }: Pick<AppDeps, 'prices'>): Promise<PricesNow | null> {
  return prices.prices().catch(() => null)
}

/** Current price of a tool; the amount is for the cheapest input. */
export function publicPrice(tool: Pick<Tool, 'price'>, prices: PricesNow | null) {
  const { floor_minor, cap_minor, formula } = priceBounds(tool.price)
  const amount_minor = tool.price === 'free' ? 0n : prices === null ? null : priceOf(tool.price, null, prices).amount_minor
  return {
    class: tool.price,
    amount_minor: amount_minor?.toString() ?? null,
    amount_usdc: amount_minor === null ? null : usdcDecimal(amount_minor),
    floor_minor: floor_minor.toString(),
    cap_minor: cap_minor.toString(),
    formula,
  }
}

const defineEndpoint = endpointsOf<AppDeps>()

/** Schema of an object with these members, each with its description. */
function membersSchema(words: Readonly<Record<string, string>>): z.ZodType {
  return z.looseObject(Object.fromEntries(Object.entries(words).map(([name, description]) => [name, z.unknown().describe(description)])))
}

const HEALTH = membersSchema({
  ok: 'True if the service works.',
  mode: 'sandbox or live.',
  sandbox: 'JSON-RPC, tokens and faucet of the sandbox’s chain; null in a live deployment.',
  chain: 'The chain that payments and receipts belong to.',
  signer: 'Key that signs receipts.',
  store:
    'Kind of store, whether it answers, and whether its circuit breaker is open: calls are then refused without waiting for it; and the state of its replication, read every minute.',
  payments: 'State of payments, their recipient, and gas against prices on each network.',
  log: 'Public log of receipts, null where there is none: running, or stopped because the store does not continue what was published; calls are not affected.',
  registers: 'Live registers that are on; paused: failed several times, and not asked for a while.',
  datasets:
    'Age and limit of each list that limits clean answers; aging from two thirds of the limit, old beyond it; refresh says what the operator does.',
  free_daily: 'Free calls per client and day, and tools with a different number.',
  tools: 'Each tool with its price now.',
})

const STATUS = membersSchema({
  ok: 'True.',
  mode: 'sandbox or live.',
  version: 'Version of the service.',
  uptime_s: 'Seconds since the start.',
  in_flight: 'Number of running calls.',
  calls: 'Calls in all, by outcome, and by tool and outcome.',
  latency_ms: 'Latency percentiles p50, p95 and p99 in milliseconds; null before the first call.',
  history: 'Address of the last hour and the last day.',
})

const HISTORY = membersSchema({
  span: 'hour or day.',
  every_s: 'Seconds that one point covers. All lists have the same length, oldest first.',
  at_s: 'Start of each interval, in seconds since 1970.',
  counted_s: 'Seconds of each interval for which calls were counted.',
  calls: 'Calls by class of outcome.',
  latency_ms: 'Latency percentiles p50, p95 and p99; null for an interval without calls.',
  prices_minor: 'Prices of the variable price classes in minor units of USDC, as text.',
  sources: 'True for each source that answered; null for one that was not queried.',
  settlement: 'Number of pending payments, and of those that are overdue.',
  chain_head_age_s: 'Age of the newest block.',
})

const readHealth = defineEndpoint({
  id: 'health',
  method: 'get',
  path: '/health',
  summary: 'State of the service and current prices.',
  answers: {
    200: { description: 'The service works.', json: HEALTH },
    503: { description: 'The store does not answer; `ok` is false.', json: HEALTH },
  },
  async run(_, deps) {
    const { ok, body } = await healthNow(deps)
    return jsonReply(ok ? 200 : 503, JSON.stringify(body))
  },
})

const readState = defineEndpoint({
  id: 'status',
  method: 'get',
  path: '/status',
  summary: 'Counts and latencies since the start.',
  answers: { 200: { description: 'The counts, as JSON or as a page.', json: STATUS, media: ['text/html'] } },
  async run({ context }, deps) {
    const headers = { 'cache-control': 'no-store', vary: 'Accept' }
    if (!wantsPage(context)) return jsonReply(200, JSON.stringify(await statusBody(deps)), headers)
    const [body, standing] = await Promise.all([statusBody(deps), standingNow(statusSources(deps))])
    return sendDocument(context, storedDocument(HTML_TYPE, statusPage(deps, body, standing), { ...PAGE_HEADERS, ...headers }))
  },
})

const readHistory = defineEndpoint({
  id: 'status-history',
  method: 'get',
  path: '/status/history.json',
  summary: 'Counts of the last hour or day.',
  // A value that cannot be read counts as absent.
  query: {
    span: z.enum(['hour', 'day']).catch('hour').describe('Span of time.'),
    after: wholeNumber(0, 999_999_999_999)
      .optional()
      .catch(undefined)
      .describe('Return only points that start later, in seconds since 1970.'),
  },
  answers: { 200: { description: 'The counts.', json: HISTORY } },
  run: ({ query, context }, deps) => {
    const view = JSON.stringify(deps.history.view(query.span, query.after))
    return sendDocument(context, storedDocument(JSON_TYPE, view, { 'cache-control': 'no-store' }))
  },
})

const readMetrics = defineEndpoint({
  id: 'metrics',
  method: 'get',
  path: '/metrics',
  summary: 'Metrics in the Prometheus text format, without balances, budgets, memory and event-loop delay: those are on the operator port.',
  answers: { 200: { description: 'The metrics.', media: ['text/plain'] } },
  run: async ({ context }, deps) =>
    context.text(await deps.telemetry.text(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
})

/** State, counts and metrics of the running service. */
export const HEALTH_ENDPOINTS = [readHealth, readState, readHistory, readMetrics]

/** State of the service and current prices; `of_payments` has further members for the operator. */
export async function healthNow(deps: AppDeps, of_payments: object = {}): Promise<{ ok: boolean; body: object }> {
  const [ok, prices, payments] = await Promise.all([answers(deps), pricesNow(deps), deps.paymentHealth()])
  return { ok, body: healthBody(deps, ok, prices, { ...publicPayments(deps, payments), ...of_payments }) }
}

async function answers(deps: AppDeps): Promise<boolean> {
  try {
    await deps.store.ping()
    return true
  } catch {
    // The reason is not public; `assay doctor` shows it to the operator.
    return false
  }
}

/** Recipient of payments, and if a payment can be taken now: on the network of the deployment, and on each where there are several. */
function publicPayments({ terms, paymentNetworks, operator }: AppDeps, { enabled, method, chain_ok, ready, overdue }: PaymentHealth) {
  const own = { enabled, method, ready, chain_ok, overdue, recipient: terms.pay_to, currency: 'USDC', decimals: USDC_DECIMALS }
  const networks = paymentNetworks?.() ?? []
  const gas = operator.gas_prices().map(publicGas)
  return { ...own, gas, ...(networks.length === 0 ? {} : { networks }) }
}

/** A stopped log stops no call, so `ok` stays true. */
function logHealth({ stopped, highest }: LogState) {
  const published = highest === null ? null : { size: highest.size, root: highest.root }
  if (stopped === null) return { state: 'running', published }
  const { reason, store, stopped_ms } = stopped
  const { size, root } = stopped.published
  const stopped_at = new Date(stopped_ms).toISOString()
  return { state: 'stopped', published: { size, root }, store, reason, stopped_at, detail: stopWords(stopped), action: RESUME_ADVICE }
}

/** Facts that a payer in the sandbox needs, for clients of the public address. */
function publicSandbox({ sandbox, origins: { api_url } }: AppDeps) {
  if (sandbox === null) return null
  const { rpc_url, chain_id, usdc, eurc, payer, pay_to, chain } = sandbox
  const faucet = { method: 'POST', url: api_url + FAUCET_PATH, body: { address: '0x…' } }
  return {
    rpc_url: sandboxRpcUrl(api_url, rpc_url),
    public_rpc_url: api_url + SANDBOX_RPC_PATH,
    chain_id,
    usdc,
    eurc,
    payer,
    pay_to,
    faucet,
    chain,
  }
}

function healthBody(deps: AppDeps, store_ok: boolean, prices: PricesNow | null, payments: object) {
  const { signer } = deps.call.issuer
  return {
    ok: store_ok,
    mode: deps.mode,
    sandbox: publicSandbox(deps),
    chain: { id: deps.chain_id, network: `eip155:${deps.chain_id}` },
    signer: { address: signer.address, implementation: signer.implementation },
    store: { kind: deps.store.kind, ok: store_ok, breaker: deps.store.breaker_open() ? 'open' : 'closed', replication: deps.replication() },
    payments,
    log: deps.log === null ? null : logHealth(deps.log.state()),
    datasets: deps.datasets.ages(),
    registers: deps.call.registers?.states() ?? [],
    free_daily: deps.free,
    tools: deps.call.catalogue.tools.map((tool) => ({ name: tool.id, version: tool.version, price: publicPrice(tool, prices) })),
  }
}
