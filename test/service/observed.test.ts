import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallDeps } from '../../src/service/calls/call.ts'
import { observedCalls } from '../../src/service/calls/observed.ts'
import type { CallRequest, InputRead } from '../../src/service/calls/outcome.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { catalogueOf } from '../../src/service/catalogue/load.ts'
import { limits } from '../../src/service/limits.ts'
import { problem } from '../../src/service/problems.ts'

/** Calls of a tool that end when the test lets them, always in the same refusal. */
function observed() {
  const counted: string[] = []
  const lines: Record<string, unknown>[] = []
  const catalogue = catalogueOf([{ id: 'slow-check', price: 'check', bounds: {} } as Tool])
  const telemetry = {
    call: (tool: string, outcome: string, duration_ms: number) => {
      assert.ok(duration_ms >= 0)
      counted.push(`${tool} ${outcome}`)
    },
    text: () => Promise.resolve(''),
    snapshot: () => Promise.reject(new Error('unused')),
  }
  const calls = observedCalls({ catalogue } as CallDeps, telemetry, { info: (fields) => lines.push(fields) })
  return { ...calls, counted, lines }
}

function requestFor(tool: string, read: () => Promise<InputRead>): CallRequest {
  return { tool, read, address: '198.51.100.1', payments: [], credit: false, prev_receipt_hash: null }
}

const refused: InputRead = { ok: false, problem: problem('PARSE_ERROR', 'No.') }

test('each call is counted and logged once, by the id of its tool and without its input', async () => {
  const { serve, counted, lines } = observed()
  await serve(
    requestFor('slow_check', () => Promise.resolve(refused)),
    'r-1',
  )
  await serve(
    requestFor('what a stranger wrote', () => Promise.resolve(refused)),
    'r-2',
  )
  assert.deepEqual(counted, ['slow-check PARSE_ERROR', 'unknown TOOL_NOT_FOUND'])
  assert.deepEqual(
    lines.map(({ request_id, tool, outcome }) => [request_id, tool, outcome]),
    [
      ['r-1', 'slow-check', 'PARSE_ERROR'],
      ['r-2', 'unknown', 'TOOL_NOT_FOUND'],
    ],
  )
  assert.ok(!JSON.stringify(lines).includes('stranger'))
})

test('beyond the bound a call is refused at once, until another one ends', async () => {
  const { serve, inFlight } = observed()
  const gate = Promise.withResolvers<InputRead>()
  const running = Array.from({ length: limits.calls_in_flight }, () =>
    serve(
      requestFor('slow-check', () => gate.promise),
      'r',
    ),
  )
  assert.equal(inFlight(), limits.calls_in_flight)
  const over = await serve(
    requestFor('slow-check', () => gate.promise),
    'r',
  )
  assert.ok(over.kind === 'refused' && over.problem.code === 'OVERLOADED')
  gate.resolve(refused)
  await Promise.all(running)
  assert.equal(inFlight(), 0)
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
