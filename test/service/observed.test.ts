import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { EndedCall } from '../../src/ports/telemetry.ts'
import type { CallDeps } from '../../src/service/calls/call.ts'
import { createInstrumentedCalls } from '../../src/service/calls/instrumented-call.ts'
import type { CallRequest, InputRead } from '../../src/service/calls/outcome.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { catalogueOf } from '../../src/service/catalogue/load.ts'
import { limits } from '../../src/service/limits.ts'
import { problem } from '../../src/service/problems.ts'

/** Calls of a tool that end when the test lets them, always in the same refusal. */
function observed() {
  const counted: Omit<EndedCall, 'duration_ms'>[] = []
  const away: string[] = []
  const phases: string[] = []
  const lines: Record<string, unknown>[] = []
  const holds: (() => void)[] = []
  const catalogue = catalogueOf([{ id: 'slow-check', price: 'check', bounds: {}, sources: [] as const } as unknown as Tool])
  const telemetry = {
    call: ({ duration_ms, ...ended }: EndedCall) => {
      assert.ok(duration_ms >= 0)
      counted.push(ended)
    },
    phase: (phase: string) => void phases.push(phase),
    turned_away: (reason: string, outcome: string, surface: string) => void away.push(`${reason} ${outcome} ${surface}`),
  }
  const calls = createInstrumentedCalls({ catalogue } as CallDeps, {
    telemetry,
    log: { info: (fields) => lines.push(fields) },
    tracing: null,
    lag_ms: () => 0,
    time_ms: () => 0,
    client_free: limits.client_calls,
    nextTurn: (step) => void globalThis.setImmediate(step),
    later: (step) => void globalThis.setImmediate(step),
    hold: () => new Promise((resolve) => holds.push(resolve)),
  })
  const inFlight = () => calls.in_flight().free + calls.in_flight().paid
  return { calls, serve: calls.on('rest'), inFlight, counted, away, phases, lines, holds }
}

function requestFor(tool: string, read: () => Promise<InputRead>): CallRequest {
  return { tool, read, address: '198.51.100.1', payments: [], credit: null, prev_receipt_hash: null }
}

const refused: InputRead = { ok: false, problem: problem('PARSE_ERROR', 'No.') }
const refuse = () => Promise.resolve(refused)

test('each call is counted and logged once, by the id of its tool and without its input', async () => {
  const { calls, serve, counted, phases, lines } = observed()
  await serve(requestFor('slow_check', refuse), 'r-1')
  await calls.on('mcp')({ ...requestFor('slow-check', refuse), credit: { code: 'a secret code', key: null } }, 'r-2')
  await serve(requestFor('what a stranger wrote', refuse), 'r-3')
  assert.deepEqual(counted, [
    { tool: 'slow-check', outcome: 'PARSE_ERROR', tier: 'free', surface: 'rest' },
    { tool: 'slow-check', outcome: 'PARSE_ERROR', tier: 'paid', surface: 'mcp' },
    { tool: 'unknown', outcome: 'TOOL_NOT_FOUND', tier: 'free', surface: 'rest' },
  ])
  assert.deepEqual(phases, ['wait', 'read', 'wait', 'read'])
  assert.deepEqual(
    lines.map(({ request_id, tool, outcome }) => [request_id, tool, outcome]),
    [
      ['r-1', 'slow-check', 'PARSE_ERROR'],
      ['r-2', 'slow-check', 'PARSE_ERROR'],
      ['r-3', 'unknown', 'TOOL_NOT_FOUND'],
    ],
  )
  assert.deepEqual(new Set(lines.flatMap(Object.keys)), new Set(['request_id', 'tool', 'outcome', 'duration_ms']))
  assert.ok(!/stranger|secret|198\.51/.test(JSON.stringify(lines)))
})

// attack: more concurrent calls than one process serves
// in: requests
// asset: the process
// attacker: client
// defence: a bound for each client, slots that only payers get
test('beyond its bound a client is refused, after a pause and without a line in the log, until another call ends', async () => {
  const { serve, inFlight, away, lines, holds } = observed()
  const gate = Promise.withResolvers<InputRead>()
  const wait = () =>
    serve(
      requestFor('slow-check', () => gate.promise),
      'r',
    )
  const running = Array.from({ length: limits.client_calls }, wait)
  await setImmediate()
  assert.equal(inFlight(), limits.client_calls)
  const over = wait()
  await setImmediate()
  assert.deepEqual(away, ['client CLIENT_BUSY rest'])
  holds[0]?.()
  const told = await over
  assert.ok(told.kind === 'refused' && told.problem.code === 'CLIENT_BUSY')
  assert.deepEqual(lines, [])
  gate.resolve(refused)
  await Promise.all(running)
  assert.equal(inFlight(), 0)
  assert.equal((await wait()).kind, 'refused')
  assert.equal(away.length, 1)
})

test('a call that breaks gives its place back', async () => {
  const { serve, inFlight } = observed()
  const broken = serve(
    requestFor('slow-check', () => Promise.reject(new Error('gone'))),
    'r',
  )
  await assert.rejects(broken, /gone/)
  assert.equal(inFlight(), 0)
})

test('a call holds no slot while its body arrives', async () => {
  const { serve, inFlight } = observed()
  const body = Promise.withResolvers<null>()
  const request = { ...requestFor('slow-check', refuse), receive: () => body.promise }
  const running = serve(request, 'r')
  await setImmediate()
  assert.equal(inFlight(), 0)
  body.resolve(null)
  assert.equal((await running).kind, 'refused')
})

// attack: payments that fail, to take the priority of payers
test('a payment that fails gives nobody priority: free calls start as many at a time as before', async () => {
  const { calls, serve } = observed()
  const garbage = { kind: 'header', name: 'x-payment', text: 'bm90IGEgcGF5bWVudA==' } as const
  const paying = { ...requestFor('slow-check', refuse), payments: [garbage] }
  assert.equal((await serve(paying, 'r')).kind, 'refused')
  let started = 0
  const burst = Array.from({ length: 48 }, () =>
    serve(
      requestFor('slow-check', () => {
        started++
        return Promise.resolve(refused)
      }),
      'r',
    ),
  )
  // The requests enter in the first turn of the event loop, and start in the second; while somebody pays only four would.
  await setImmediate()
  await setImmediate()
  assert.equal(started, 48)
  await Promise.all(burst)
  assert.deepEqual(calls.in_flight(), { free: 0, paid: 0 })
})
