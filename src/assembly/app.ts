import type { Log } from '../ports/log.ts'
import { once } from '../pure/once.ts'
import { createBodies } from '../service/admission/bodies.ts'
import { createHold } from '../service/admission/hold.ts'
import { loopLag } from '../service/admission/lag.ts'
import { isSigned, observedCalls, type ObservedParts } from '../service/calls/observed.ts'
import { modeWord } from '../service/catalogue/text.ts'
import { callerAddress, quotaClient, type TrustedProxies } from '../service/clients.ts'
import { limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import { watchFlow } from '../service/telemetry/gauges.ts'
import { createHistory } from '../service/telemetry/history.ts'
import { standingNow } from '../service/telemetry/standing.ts'
import type { AppDeps } from '../surfaces/deps.ts'
import { Connections } from '../surfaces/http/connections.ts'
import { inTurns } from '../surfaces/http/in-turns.ts'
import { unwrapInput } from '../surfaces/http/json-body.ts'
import type { Handlers } from '../surfaces/http/node-server.ts'
import { commonHeaders, problemReply, type Reply } from '../surfaces/http/reply.ts'
import { restWords } from '../surfaces/payment.ts'
import { restCall, type RestCalls } from '../surfaces/rest.ts'
import { standingOf } from '../surfaces/status.ts'

export interface App extends Handlers {
  readonly deps: AppDeps
  /** The first calls come first; soon after them is loaded what they did not need, before somebody asks for it. Returns what stops it. */
  loadRestSoon(): () => void
}

const LOAD_REST_AFTER_MS = 500

/** The surfaces that bring the most with them, to be loaded one by one. */
const LARGE_SURFACES = [
  () => import('../surfaces/preflight/routes.ts'),
  () => import('../surfaces/pages/routes.ts'),
  () => import('../surfaces/mcp/routes.ts'),
  () => import('../surfaces/a2a/routes.ts'),
]

/**
 * The application: every surface over one set of dependencies. It opens no port and reads no environment. Calls are served at once; the
 * other surfaces are loaded when one of them is first asked for.
 */
export function createApp(given: Omit<AppDeps, 'inFlight' | 'history'>, proxies: TrustedProxies, log: Log): App {
  const calls = observedCalls(given.call, observedParts(given, log))
  const bodies = createBodies({ time_ms: () => performance.now(), later: (step, delay_ms) => void setTimeout(step, delay_ms).unref() })
  watchFlow(given.telemetry, calls, bodies, loopLag)
  const history = createHistory({
    telemetry: given.telemetry,
    clock: given.call.stamp.clock,
    standing: () => standingNow(standingOf(given)),
  })
  const inFlight = () => {
    const { free, paid } = calls.in_flight()
    return free + paid
  }
  const deps: AppDeps = { ...given, inFlight, history }
  const fault = (error: unknown, request_id: string): Reply => {
    log.error({ request_id, error: error instanceof Error ? error.stack : String(error) }, 'a request failed')
    return problemReply(problem('INTERNAL_ERROR', 'The fault is ours and has been noted.'), request_id, deps.origins)
  }
  const headers = commonHeaders(modeWord(deps), deps.origins)
  const { heavy } = deps.call
  const rest: RestCalls = {
    serve: calls.on('rest'),
    origins: deps.origins,
    words: restWords(deps),
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
      return lane === 'reads' ? inTurns(response, () => calls.turn(lane, address)) : response
    },
    call: (exchange) => restCall(rest, exchange, unwrapInput),
    openBody: (address, body) => bodies.open({ ...body, client: quotaClient(address) }),
    callerAddress: callerOf,
    requestId: (text) => (text !== null && /^[\w-]+$/.test(text) && text.length <= limits.request_id_chars ? text : crypto.randomUUID()),
    fault,
  }
}

/**
 * Lane in which a request that is no call waits, so that unpaid traffic cannot delay payers. Health checks, payments of invoices and paid answers
 * have a lane of their own. Null where the surface waits itself, once it has read whether the request pays.
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
): ObservedParts {
  return {
    telemetry,
    tracing,
    log,
    lag_ms: loopLag,
    time_ms: () => performance.now(),
    client_free: client_calls ?? limits.client_calls,
    nextTurn: (step) => void setImmediate(step),
    later: (step, delay_ms) => void setTimeout(step, delay_ms),
    hold: createHold((pause_ms) => new Promise((resolve) => void setTimeout(resolve, pause_ms))),
  }
}
