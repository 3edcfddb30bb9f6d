import type { Log } from '../ports/log.ts'
import { once } from '../pure/once.ts'
import { createBodies } from '../service/admission/bodies.ts'
import { createRefusalDelay, eventLoopDelay } from '../service/admission/slots.ts'
import { createAnswerRenderer } from '../service/calls/answer-detail.ts'
import { createInstrumentedCalls, isSigned } from '../service/calls/instrumented-call.ts'
import { modeWord } from '../service/catalogue/text.ts'
import { callerAddress, quotaClient, type TrustedProxies, widerNetwork } from '../service/clients.ts'
import { limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import { watchFlow } from '../service/telemetry/gauges.ts'
import { createHistory, standingNow } from '../service/telemetry/history.ts'
import type { AppDeps } from '../surfaces/deps.ts'
import { unwrapInput } from '../surfaces/http/body.ts'
import { Connections } from '../surfaces/http/connections.ts'
import type { Handlers } from '../surfaces/http/node-server.ts'
import { afterTurns, commonHeaders, problemReply, type Reply } from '../surfaces/http/reply.ts'
import type { RequestIds } from '../surfaces/http/request-ids.ts'
import { restPaymentRenderer } from '../surfaces/payment.ts'
import { restCall, type RestCalls } from '../surfaces/rest.ts'
import { statusSources } from '../surfaces/status.ts'

export interface App extends Handlers {
  readonly deps: AppDeps
  /**
   * Starts loading the surfaces and tools that the first calls did not need, so that later requests do not wait for them. Returns a
   * function that stops the loading.
   */
  loadRestSoon(): () => void
}

const LOAD_REST_AFTER_MS = 500

/** The surfaces that bring the most with them, to be loaded one by one. */
const LARGE_SURFACES = [
  () => import('../surfaces/preflight/endpoints.ts'),
  () => import('../surfaces/pages/routes.ts'),
  () => import('../surfaces/mcp/routes.ts'),
  () => import('../surfaces/a2a/routes.ts'),
]

/**
 * The application: every surface over one set of dependencies. It opens no port and reads no environment. Calls can be served immediately;
 * each other surface is loaded on its first request.
 */
export function createApp(given: Omit<AppDeps, 'inFlight' | 'history'>, proxies: TrustedProxies, log: Log): App {
  const calls = createInstrumentedCalls(given.call, observedParts(given, log))
  const bodies = createBodies({ time_ms: () => performance.now(), later: (step, delay_ms) => void setTimeout(step, delay_ms).unref() })
  watchFlow(given.telemetry, calls, bodies, eventLoopDelay)
  const history = createHistory({
    telemetry: given.telemetry,
    clock: given.call.issuer.clock,
    standing: () => standingNow(statusSources(given)),
  })
  const inFlight = () => {
    const { free, paid } = calls.in_flight()
    return free + paid
  }
  const deps: AppDeps = { ...given, inFlight, history }
  const fault = (error: unknown, ids: RequestIds): Reply => {
    const { request_id, client_request_id } = ids
    log.error(
      {
        request_id,
        ...(client_request_id === null ? {} : { client_request_id }),
        error: error instanceof Error ? error.stack : String(error),
      },
      'a request failed',
    )
    return problemReply(problem('INTERNAL_ERROR', 'Internal error; it was logged.'), request_id, deps.origins)
  }
  const headers = commonHeaders(modeWord(deps), deps.origins)
  const { heavy } = deps.call
  const render = createAnswerRenderer({ ...deps, catalogue: deps.call.catalogue })
  const rest: RestCalls = {
    serve: calls.on('rest'),
    render,
    origins: deps.origins,
    words: restPaymentRenderer(deps),
    heavy,
    isSigned: (payments) => isSigned(deps.call, payments),
  }
  const callerOf: Handlers['callerAddress'] = (peer, forwarded) => callerAddress(peer, forwarded, proxies)
  const routes = once(async () => {
    const { createRoutes } = await import('../surfaces/routes.ts')
    return createRoutes(deps, { calls, rest, headers, callerAddress: callerOf, fault })
  })
  return {
    deps,
    headers,
    connections: new Connections({ total: limits.connections, network: limits.network_connections }, proxies),
    loadRestSoon: () => loadSoon([() => deps.telemetry.text(), ...LARGE_SURFACES, routes], log),
    fetch: async (request, env) => {
      const lane = laneOf(request)
      const address = callerOf(env.peer, request.headers.get('x-forwarded-for'))
      if (lane !== null) await calls.turn(lane, address)
      const response = await (await routes()).fetch(request, env)
      return lane === 'reads' ? afterTurns(response, () => calls.turn(lane, address)) : response
    },
    call: (exchange) => restCall(rest, exchange, unwrapInput),
    openBody: (address, body) => bodies.open({ ...body, client: quotaClient(address), network: widerNetwork(address) }),
    callerAddress: callerOf,
    fault,
  }
}

/**
 * Lane in which a request other than a call waits, so that unpaid traffic cannot delay payers. Health checks, payments of invoices and paid
 * answers share a separate lane. Null where the surface itself queues the request after it has read whether the request pays.
 */
function laneOf({ method, url }: Request): 'reads' | 'probes' | null {
  if (method === 'POST' && READS_FIRST.test(url)) return null
  return PROBE.test(url) ? 'probes' : 'reads'
}

const PROBE = /^https?:\/\/[^/]*\/(?:health|metrics|v1\/answers\/[^/]*|api\/invoice\/[^/]*\/pay)$/
const READS_FIRST = /^https?:\/\/[^/]*\/(?:mcp|a2a|v1\/protocols\/check|v1\/receipt\/verify|v1\/tools\/[^/]*\/call)(?:\?|$)/

type Load = () => unknown

/** One piece a turn of the event loop, so that calls are served in between. */
function loadSoon(pieces: readonly Load[], log: Log): () => void {
  let stopped = false
  const loadAll = async () => {
    for (const load of pieces) {
      if (stopped) return
      await load()
      await new Promise((resolve) => void setImmediate(resolve))
    }
  }
  const failed = (error: unknown) => log.error({ error: error instanceof Error ? error.stack : String(error) }, 'a part did not load')
  const timer = setTimeout(() => void loadAll().catch(failed), LOAD_REST_AFTER_MS)
  timer.unref()
  return () => {
    clearTimeout(timer)
    stopped = true
  }
}

function observedParts(
  { telemetry, tracing = null, client_calls }: Pick<AppDeps, 'telemetry' | 'tracing' | 'client_calls'>,
  log: Log,
): Parameters<typeof createInstrumentedCalls>[1] {
  return {
    telemetry,
    tracing,
    log,
    lag_ms: eventLoopDelay,
    time_ms: () => performance.now(),
    client_free: client_calls ?? limits.client_calls,
    nextTurn: (step) => void setImmediate(step),
    later: (step, delay_ms) => void setTimeout(step, delay_ms),
    hold: createRefusalDelay((pause_ms) => new Promise((resolve) => void setTimeout(resolve, pause_ms))),
  }
}
