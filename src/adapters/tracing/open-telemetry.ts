import type * as OpenTelemetry from '@opentelemetry/api'
import type { Context, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { isObject } from '../../pure/is-object.ts'
import type { TracedCall, Tracing } from '../../ports/tracing.ts'

type Api = typeof OpenTelemetry

/** Tracing by the API of OpenTelemetry; null where that package is not installed. Without a provider of the operator it leads nowhere. */
export async function openTracing(version: string): Promise<Tracing | null> {
  const api = await import('@opentelemetry/api').catch(() => null)
  return api === null ? null : createTracing(api, version)
}

function createTracing(api: Api, version: string): Tracing {
  const tracer = api.trace.getTracer('assay', version)
  return {
    call: (traceparent, work) => {
      const remote = readTraceparent(traceparent)
      const parent = remote === null ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, remote)
      const span = tracer.startSpan('call', { kind: api.SpanKind.SERVER }, parent)
      const inside = api.trace.setSpan(parent, span)
      return api.context.with(inside, () => work(tracedCall(api, tracer, span, inside))).finally(() => span.end())
    },
    around: (name, target) => around(api, tracer, name, target, DEPTH),
  }
}

function tracedCall(api: Api, tracer: Tracer, span: Span, inside: Context): TracedCall {
  return {
    phase(name, duration_ms) {
      const now_ms = performance.timeOrigin + performance.now()
      tracer.startSpan(name, { startTime: now_ms - duration_ms }, inside).end(now_ms)
    },
    ended(attributes, failed) {
      for (const [name, value] of Object.entries(attributes)) span.setAttribute(`assay.${name}`, value)
      if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR })
    },
  }
}

/** Objects inside objects: the store has its payments, its log and so on. */
const DEPTH = 1

function around<Target extends object>(api: Api, tracer: Tracer, name: string, target: Target, depth: number): Target {
  const made = new Map<PropertyKey, unknown>()
  return new Proxy(target, {
    get(whole, key) {
      const known = made.get(key)
      if (known !== undefined) return known
      const found: unknown = Reflect.get(whole, key, whole)
      const wrapped = wrap(api, tracer, { name: `${name}.${String(key)}`, owner: whole, found, depth })
      if (wrapped !== found) made.set(key, wrapped)
      return wrapped
    },
  })
}

interface Member {
  name: string
  owner: object
  found: unknown
  depth: number
}

function wrap(api: Api, tracer: Tracer, { name, owner, found, depth }: Member): unknown {
  if (typeof found === 'function') {
    return (...values: unknown[]) => {
      const work = () => Reflect.apply(found, owner, values) as unknown
      return api.trace.getActiveSpan() === undefined ? work() : spanned(api, tracer, name, work)
    }
  }
  return depth > 0 && isObject(found) ? around(api, tracer, name, found, depth - 1) : found
}

/** The span ends with the promise of the work; an error is marked without its message, which may contain private data. */
function spanned(api: Api, tracer: Tracer, name: string, work: () => unknown): unknown {
  const span = tracer.startSpan(name)
  const failed = () => span.setStatus({ code: api.SpanStatusCode.ERROR })
  let given: unknown
  try {
    given = api.context.with(api.trace.setSpan(api.context.active(), span), work)
  } catch (error) {
    failed().end()
    throw error
  }
  if (given instanceof Promise) {
    void given.then(
      () => span.end(),
      () => failed().end(),
    )
  } else span.end()
  return given
}

/** Version 00, and later ones as far as they look like it; the specification asks to read those so. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

function readTraceparent(text: string | null): SpanContext | null {
  const [, version, traceId, spanId, flags, more] = (text !== null && text.length <= 256 ? TRACEPARENT.exec(text) : null) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  if (version === '00' && more !== undefined) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}
