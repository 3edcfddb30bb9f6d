import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asyncContexts } from '../support/async-contexts.ts'

/** Calls of a service whose operator brought the SDK of OpenTelemetry; the spans stay in memory. */

const exporter = new InMemorySpanExporter()
const IBAN = { iban: 'GB82WEST12345698765432' }
/** The example of W3C Trace Context, section 3.2.2. */
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
let app: TestApp

before(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(asyncContexts())
  app = await startTestApp({ settings: { ASSAY_TRACING: 'on' } })
})
after(async () => {
  await app.stop()
  trace.disable()
  context.disable()
})

/** The spans of one call, the call itself first. */
async function spansOf(tool: string, input: unknown, headers: Record<string, string> = {}): Promise<[ReadableSpan, ...ReadableSpan[]]> {
  exporter.reset()
  await restCall(app.url, tool, input, headers)
  const spans = exporter.getFinishedSpans()
  const call = spans.find(({ name }) => name === 'call')
  assert.ok(call !== undefined)
  return [call, ...spans.filter((span) => span !== call && span.spanContext().traceId === call.spanContext().traceId)]
}

test('a call is a span with its phases and its store inside, and says what became of it', async () => {
  const [call, ...inner] = await spansOf('iban-check', IBAN)
  assert.deepEqual(call.attributes, {
    'assay.tool': 'iban-check',
    'assay.outcome': 'answered',
    'assay.tier': 'free',
    'assay.surface': 'rest',
  })
  assert.equal(call.parentSpanContext, undefined)
  const names = inner.map(({ name }) => name)
  for (const name of ['read', 'admit', 'run', 'sign', 'store.take']) assert.ok(names.includes(name), `${name} in ${names.join()}`)
  for (const span of inner) {
    assert.equal(span.parentSpanContext?.spanId, call.spanContext().spanId)
    assert.deepEqual(span.attributes, {})
  }
})

test('reads of the chain are spans of the call that asks for them', async () => {
  const [, ...inner] = await spansOf('token-contract-risk', { address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e' })
  assert.ok(
    inner.some(({ name }) => name.startsWith('chain.')),
    inner.map(({ name }) => name).join(),
  )
})

test('the trace of the caller is continued where its header can be read, and only there', async () => {
  const with_header = async (traceparent: string) => {
    const [call] = await spansOf('iban-check', IBAN, { traceparent })
    return [call.spanContext().traceId, call.parentSpanContext?.spanId]
  }
  assert.deepEqual(await with_header(`00-${TRACE_ID}-${PARENT_ID}-01`), [TRACE_ID, PARENT_ID])
  // A later version may carry more; version 00 may not, and ff is none.
  assert.deepEqual(await with_header(`01-${TRACE_ID}-${PARENT_ID}-01-what-the-future-will-be-like`), [TRACE_ID, PARENT_ID])
  for (const broken of [
    `00-${TRACE_ID}-${PARENT_ID}-01-more`,
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`,
    'nonsense',
  ]) {
    const [trace_id, parent_id] = await with_header(broken)
    assert.notEqual(trace_id, TRACE_ID, broken)
    assert.equal(parent_id, undefined, broken)
  }
})

test('a call over the agent protocol continues the trace of its caller too', async () => {
  exporter.reset()
  const parts = [{ data: { tool: 'iban-check', input: IBAN } }]
  const message = { role: 'ROLE_USER', messageId: 'm-1', parts }
  const response = await fetch(`${app.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  })
  assert.match(await response.text(), /TASK_STATE_COMPLETED/)
  const call = exporter.getFinishedSpans().find(({ name }) => name === 'call')
  assert.deepEqual([call?.spanContext().traceId, call?.parentSpanContext?.spanId], [TRACE_ID, PARENT_ID])
  assert.equal(call?.attributes['assay.surface'], 'a2a')
})

test('faults of the caller are no errors, and no span holds what was asked', async () => {
  const [call] = await spansOf('iban-check', { iban: 5 })
  assert.equal(call.attributes['assay.outcome'], 'INPUT_SCHEMA_INVALID')
  assert.equal(call.status.code, SpanStatusCode.UNSET)
  const spans = await spansOf('iban-check', IBAN, { 'x-forwarded-for': '203.0.113.77', 'x-payment': 'a-payment' })
  const told = JSON.stringify(spans.map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links })))
  assert.doesNotMatch(told, /GB82|203\.0|127\.0\.0|a-payment/)
})
