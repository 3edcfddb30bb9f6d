/** The life of a task, over a service whose every answer the test chooses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Role, TaskState, type Message as SentMessage, type Task } from '@a2a-js/sdk'
import type { Outcome } from '../../src/service/calls/outcome.ts'
import type { CallRequest } from '../../src/service/calls/outcome.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { limits } from '../../src/service/limits.ts'
import type { PaymentResult } from '../../src/service/payments/payment-parts.ts'
import { problem } from '../../src/service/problems.ts'
import { listTasks, cancelTask, getTask, sendMessage } from '../../src/surfaces/a2a/tasks.ts'
import type { A2aParts } from '../../src/surfaces/a2a/task-call.ts'
import type { MessageExchange } from '../../src/surfaces/json-rpc.ts'
import { answerOf, dataOf, metadataOf } from '../support/a2a.ts'
import { tasksInMemory } from '../support/task-memory.ts'
import { boundedTasks } from '../../src/surfaces/a2a/task-bounds.ts'
import { createAnswerRenderer } from '../../src/service/calls/answer-detail.ts'
import { schemasOf } from '../../src/service/catalogue/wire-schemas.ts'
import { openJsonBody } from '../../src/surfaces/http/body.ts'

const catalogue = await loadCatalogue()
const CALL = { tool: 'iban-check', input: { iban: 'GB82 WEST 1234 5698 7654 32' } }
const SETTLEMENT = {
  network: 'eip155:84532',
  transaction: '0x01',
  payer: '0x02',
  amount_minor: '5000',
  method: 'self' as const,
  sold: null,
}
const PAID_TEXT = '{"result":{"valid":true},"receipt":{},"tier":"paid"}'
const PENDING = { payer: `0x${'1'.repeat(40)}`, nonce: `0x${'2'.repeat(64)}`, transaction: null, token: '3'.repeat(64) }
const ALLOWANCE = { limit: 0, remaining: 0, resets_at: '', resets_in_s: 1 }

const OUTCOMES = {
  paid: { kind: 'paid', tool: 'iban-check', text: PAID_TEXT, settlement: SETTLEMENT },
  pending: { kind: 'pending', tool: 'iban-check', problem: problem('PAYMENT_PENDING', 'Wait.', { charged: 'unknown' }), pending: PENDING },
  required: {
    kind: 'payment_required',
    tool: 'iban-check',
    problem: problem('PAYMENT_REQUIRED', 'Pay.'),
    allowance: ALLOWANCE,
    amount_minor: 5_000n,
    x402_reason: null,
  },
  unsure: { kind: 'refused', tool: 'iban-check', problem: problem('STORE_UNAVAILABLE', 'Again.', { charged: 'unknown' }) },
  down: { kind: 'refused', tool: 'iban-check', problem: problem('UPSTREAM_RPC_UNAVAILABLE', 'Down.') },
  invalid: { kind: 'refused', tool: 'iban-check', problem: problem('INPUT_SCHEMA_INVALID', 'No.') },
} as const satisfies Record<string, Outcome>

interface Bench {
  parts: A2aParts
  tasks: ReturnType<typeof tasksInMemory>
  clock: { ms: number }
  /** What the gate was asked, in order. */
  asked: { request: CallRequest; input: unknown }[]
  /** What it answers next; the last goes on. */
  next: (Outcome | Error | (() => Promise<Outcome>))[]
  /** What became of the payment behind the token. */
  end: { is: PaymentResult | null }
  faults: unknown[]
  worker: { is_running: boolean }
}

function bench(...next: Bench['next']): Bench {
  const tasks = tasksInMemory()
  const made: Omit<Bench, 'parts'> = {
    tasks,
    clock: { ms: 1_795_262_400_000 },
    asked: [],
    next,
    end: { is: null },
    faults: [],
    worker: { is_running: true },
  }
  const challenge = { header: '', required_json: '{"x402Version":2}', body_members_json: '"x402Version":1' }
  const words = { challenge: () => challenge, responseHeaders: () => ({}), failureHeaders: () => ({}), response: () => ({ success: true }) }
  const parts: A2aParts = {
    async serve(request) {
      const tool = catalogue.find(request.tool)
      const read = tool === undefined ? null : await request.read(tool.bounds)
      made.asked.push({ request, input: read?.ok === true ? read.input : null })
      const outcome = made.next.length > 1 ? made.next.shift() : made.next[0]
      if (outcome === undefined) throw new Error('nothing was chosen')
      if (outcome instanceof Error) throw outcome
      return typeof outcome === 'function' ? outcome() : outcome
    },
    context: { words, api_url: 'https://assay.example', network: 'eip155:84532', catalogue },
    render: createAnswerRenderer({
      catalogue,
      schemas: schemasOf(catalogue),
      sealer: { token: () => PENDING.token },
      stored_answers: { keep: () => Promise.resolve(null) },
      origins: { api_url: 'https://assay.example' },
    }),
    tasks: boundedTasks(tasks, () => made.clock.ms),
    catalogue,
    desk: {
      fetch: (token) => Promise.resolve(token === PENDING.token ? made.end.is : null),
      tokenOf: () => PENDING.token,
      releaseAbandoned: () => Promise.resolve(),
    },
    instances: { join: () => Promise.resolve('this process'), isRunning: () => Promise.resolve(made.worker.is_running) },
    clock: { now_ms: () => made.clock.ms },
    origin: (address) => ({ client: `client of ${address}`, network: `network of ${address}`, provider: `provider of ${address}` }),
    onFault: (error) => made.faults.push(error),
  }
  return { ...made, parts }
}

function exchangeOf(part: unknown): MessageExchange {
  const value = { params: { message: { parts: [part] } } }
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  const message = { kind: 'whole' as const, value, body_bytes: bytes.length, json: openJsonBody(bytes, []) }
  return { message, request_id: 'r-1', address: '198.51.100.1', header: () => null }
}

function say({ parts }: Bench, part: unknown, change: Partial<SentMessage> = {}): Promise<Task> {
  const ids = { messageId: 'm', contextId: '', taskId: '' }
  const sent = { ...ids, role: Role.ROLE_USER, parts: [], metadata: undefined, extensions: [], referenceTaskIds: [], ...change }
  return sendMessage(parts, exchangeOf(part), sent, {})
}

const ask = (at: Bench, change: Partial<SentMessage> = {}) => say(at, { data: CALL }, change)
const pay = (at: Bench, task: Task, payment: unknown = { signature: 1 }) =>
  say(at, { text: 'Paid.' }, { taskId: task.id, metadata: { 'x402.payment.payload': payment } })
const stateOf = ({ status }: Task) => TaskState[status?.state ?? -1]

test('a payment on its way is asked for until it has settled, and nothing runs again', async () => {
  const at = bench(OUTCOMES.required, OUTCOMES.pending)
  const task = await ask(at)
  assert.equal(stateOf(task), 'TASK_STATE_INPUT_REQUIRED')
  const working = await pay(at, task)
  assert.equal(stateOf(working), 'TASK_STATE_WORKING')
  assert.equal(metadataOf(working)['x402.payment.status'], 'payment-verified')
  at.end.is = { kind: 'pending', pending: PENDING }
  assert.equal(stateOf(await getTask(at.parts, exchangeOf(null), task.id)), 'TASK_STATE_WORKING')
  // Another payment for the same task is not used.
  assert.equal(stateOf(await pay(at, task, { signature: 2 })), 'TASK_STATE_WORKING')
  await assert.rejects(cancelTask(at.parts, exchangeOf(null), task.id), { name: 'TaskNotCancelableError' })
  at.end.is = { kind: 'paid', text: PAID_TEXT, settlement: SETTLEMENT }
  const done = await getTask(at.parts, exchangeOf(null), task.id)
  assert.equal(stateOf(done), 'TASK_STATE_COMPLETED')
  assert.deepEqual(metadataOf(done), { 'x402.payment.status': 'payment-completed', 'x402.payment.receipts': [{ success: true }] })
  assert.deepEqual(answerOf(done), JSON.parse(PAID_TEXT))
  assert.equal(at.asked.length, 2)
  assert.deepEqual(at.asked[1]?.input, CALL.input)
})

test('a payment that will never settle ends its task', async () => {
  const at = bench(OUTCOMES.pending)
  const task = await ask(at, { metadata: { 'x402.payment.payload': {} } })
  at.end.is = { kind: 'refused', problem: problem('SETTLEMENT_FAILED', 'It moved nothing.'), x402_reason: null }
  const failed = await getTask(at.parts, exchangeOf(null), task.id)
  assert.equal(stateOf(failed), 'TASK_STATE_FAILED')
  assert.deepEqual(
    [metadataOf(failed)['x402.payment.status'], metadataOf(failed)['x402.payment.error']],
    ['payment-failed', 'SETTLEMENT_FAILED'],
  )
})

test('of two payments at once one is used, and who comes second sees the task at work', async () => {
  const gate = Promise.withResolvers<Outcome>()
  const at = bench(OUTCOMES.required, () => gate.promise)
  const task = await ask(at)
  const first = pay(at, task, { signature: 1 })
  const second = await pay(at, task, { signature: 2 })
  assert.equal(stateOf(second), 'TASK_STATE_WORKING')
  gate.resolve(OUTCOMES.paid)
  assert.equal(stateOf(await first), 'TASK_STATE_COMPLETED')
  assert.deepEqual(
    at.asked.map(({ request }) => request.payments.length),
    [0, 1],
  )
})

test('a task whose worker went away is finished by the very same payment, once', async () => {
  const at = bench(OUTCOMES.required, () => new Promise<Outcome>(() => undefined), OUTCOMES.paid)
  const task = await ask(at)
  void pay(at, task, { signature: 7 })
  while (at.asked.length < 2) await Promise.resolve()
  assert.equal(stateOf(await getTask(at.parts, exchangeOf(null), task.id)), 'TASK_STATE_WORKING')
  at.clock.ms += limits.claim_ms + 1
  const [one, other] = await Promise.all([getTask(at.parts, exchangeOf(null), task.id), getTask(at.parts, exchangeOf(null), task.id)])
  assert.ok([one, other].some((seen) => stateOf(seen) === 'TASK_STATE_COMPLETED'))
  assert.deepEqual(
    at.asked.map(({ request }) => request.payments),
    [[], [{ kind: 'value', value: { signature: 7 } }], [{ kind: 'value', value: { signature: 7 } }]],
  )
  assert.deepEqual(at.asked[2]?.input, CALL.input)
})

test('a task whose worker was killed is finished at the next look', async () => {
  const at = bench(OUTCOMES.required, () => new Promise<Outcome>(() => undefined), OUTCOMES.paid)
  const task = await ask(at)
  void pay(at, task, { signature: 7 })
  while (at.asked.length < 2) await Promise.resolve()
  assert.equal(stateOf(await getTask(at.parts, exchangeOf(null), task.id)), 'TASK_STATE_WORKING')
  at.worker.is_running = false
  assert.equal(stateOf(await getTask(at.parts, exchangeOf(null), task.id)), 'TASK_STATE_COMPLETED')
  assert.deepEqual(at.asked[2]?.request.payments, [{ kind: 'value', value: { signature: 7 } }])
})

test('a payment of which nobody can tell whether it was settled has not failed: the very same one is tried again', async () => {
  const given = [{ kind: 'value', value: { signature: 8 } }]
  for (const goes_on of [true, false]) {
    const at = bench(...(goes_on ? [OUTCOMES.required] : []), OUTCOMES.unsure, OUTCOMES.unsure, OUTCOMES.paid)
    const begun = goes_on ? await ask(at) : null
    const task =
      begun === null ? await ask(at, { metadata: { 'x402.payment.payload': { signature: 8 } } }) : await pay(at, begun, { signature: 8 })
    assert.deepEqual([stateOf(task), dataOf(task)['charged']], ['TASK_STATE_WORKING', 'unknown'])
    assert.deepEqual(metadataOf(task), { 'x402.payment.status': 'payment-submitted' })
    for (const state of ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']) {
      at.clock.ms += limits.claim_ms + 1
      assert.equal(stateOf(await pay(at, task, { signature: 8 })), state)
    }
    const paying = at.asked.slice(goes_on ? 1 : 0)
    assert.deepEqual(
      paying.map(({ request, input }) => [request.payments, input]),
      paying.map(() => [given, CALL.input]),
    )
    assert.equal(paying.length, 3)
  }
})

test('an ended task takes no more messages, but for the one that ended it', async () => {
  const at = bench(OUTCOMES.required, OUTCOMES.paid)
  const task = await ask(at)
  const paid = await pay(at, task, { signature: 1 })
  assert.deepEqual(await pay(at, task, { signature: 1 }), paid)
  await assert.rejects(pay(at, task, { signature: 2 }), { name: 'UnsupportedOperationError' })
  await assert.rejects(ask(at, { taskId: task.id }), { name: 'UnsupportedOperationError' })
  await assert.rejects(cancelTask(at.parts, exchangeOf(null), task.id), { name: 'TaskNotCancelableError' })
  assert.equal(at.asked.length, 2)
})

test('a task that waits can be cancelled, once', async () => {
  const at = bench(OUTCOMES.required)
  const task = await ask(at)
  assert.equal(stateOf(await cancelTask(at.parts, exchangeOf(null), task.id)), 'TASK_STATE_CANCELED')
  await assert.rejects(cancelTask(at.parts, exchangeOf(null), task.id), { name: 'TaskNotCancelableError' })
  await assert.rejects(pay(at, task), { name: 'UnsupportedOperationError' })
})

test('a wrong input waits for a better one; what the service lacks fails', async () => {
  const at = bench(OUTCOMES.invalid, OUTCOMES.paid)
  const task = await ask(at)
  assert.deepEqual([stateOf(task), dataOf(task)['code']], ['TASK_STATE_INPUT_REQUIRED', 'INPUT_SCHEMA_INVALID'])
  assert.equal(stateOf(await ask(at, { taskId: task.id, contextId: task.contextId })), 'TASK_STATE_COMPLETED')
  assert.equal(stateOf(await ask(bench(OUTCOMES.down))), 'TASK_STATE_FAILED')
  const broken = bench(new Error('secret words'))
  const failed = await ask(broken)
  assert.deepEqual([stateOf(failed), dataOf(failed)['code'], broken.faults.length], ['TASK_STATE_FAILED', 'INTERNAL_ERROR', 1])
  assert.ok(!JSON.stringify(failed).includes('secret'))
})

test('tasks are found by their ids alone, for a day', async () => {
  const at = bench(OUTCOMES.required)
  const task = await ask(at)
  for (const id of ['', 'nothing', crypto.randomUUID(), `${task.id} `, 'x'.repeat(10_000), '\u0000'])
    await assert.rejects(getTask(at.parts, exchangeOf(null), id), { name: 'TaskNotFoundError' })
  await assert.rejects(ask(at, { taskId: task.id, contextId: 'other' }), { name: 'RequestMalformedError' })
  at.clock.ms += limits.a2a_task_ms + 1
  await assert.rejects(getTask(at.parts, exchangeOf(null), task.id), { name: 'TaskNotFoundError' })
})

test('no client keeps more than its share, and no address is kept', async () => {
  const at = bench(OUTCOMES.required)
  for (let sent = 0; sent < limits.a2a_tasks_client + 5; sent++) {
    at.clock.ms += 1
    await ask(at)
  }
  assert.equal(at.tasks.records.size, limits.a2a_tasks_client)
  assert.ok([...at.tasks.records.values()].every(({ body }) => !body.includes('198.51.100.1')))
})

const LIST = {
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: '',
  statusTimestampAfter: undefined,
  pageSize: 100,
}

test('a context leads to its tasks alone, at most to the newest, and the store shows neither', async () => {
  const at = bench(OUTCOMES.required)
  const first = await ask(at)
  const context = first.contextId
  const later: Task[] = []
  for (let number = 0; number < 5; number++) {
    at.clock.ms += 1 + number
    later.push(await ask(at, { contextId: context }))
  }
  const other = await ask(at)
  const page = (contextId: string) => listTasks(at.parts, { ...LIST, contextId })
  assert.deepEqual(
    (await page(context)).tasks.map(({ id }) => id),
    [...later.toReversed(), first].map(({ id }) => id),
  )
  assert.deepEqual(
    (await page(other.contextId)).tasks.map(({ id }) => id),
    [other.id],
  )
  // Neither the id of a task nor that of its client opens the list.
  assert.deepEqual((await page(first.id)).tasks, [])
  await assert.rejects(getTask(at.parts, exchangeOf({}), `context:${context}`), /No task has this id/)
  at.clock.ms += limits.a2a_task_ms + 1
  assert.deepEqual((await page(context)).tasks, [])
  for (let number = 0; number < limits.a2a_tasks_context + 3; number++) {
    at.clock.ms += 1
    await ask(at, { contextId: context })
  }
  const all = await page(context)
  assert.ok(all.totalSize <= limits.a2a_tasks_context + 1, String(all.totalSize))
})

/** Each part with the tool and input that it asks for; null where it asks for none. */
const PARTS: [unknown, { tool: string; input: unknown } | null][] = [
  [{ data: CALL }, CALL],
  [{ kind: 'data', data: CALL, mediaType: 'application/json' }, CALL],
  [{ text: `iban-check ${JSON.stringify(CALL.input)}` }, CALL],
  [{ text: ` call iban-check: ${JSON.stringify(CALL.input)} ` }, CALL],
  [{ text: JSON.stringify(CALL) }, CALL],
  [{ text: 'iban-check {"iban":"a","iban":"b"}' }, { tool: 'iban-check', input: null }],
  [{ data: { ...CALL, more: 1 } }, null],
  [{ data: { tool: 7, input: {} } }, null],
  [{ data: { tool: 'iban-check', input: 'text' } }, null],
  [{ text: 'Is GB82WEST12345698765432 a good IBAN?' }, null],
  [{ text: '{"tool":"iban-check"}' }, null],
  [{ text: `iban-check${' '.repeat(50_000)}{}` }, null],
  [{ text: `${' '.repeat(60_000)}x` }, null],
  [{ file: {} }, null],
  [null, null],
  [[], null],
]

test('a part asks for exactly one call or for none; nothing is guessed', async () => {
  for (const [part, wanted] of PARTS) {
    const at = bench(OUTCOMES.paid)
    const task = await say(at, part)
    const [asked] = at.asked
    assert.deepEqual(
      asked === undefined ? null : { tool: asked.request.tool, input: asked.input },
      wanted,
      JSON.stringify(part)?.slice(0, 99),
    )
    if (wanted !== null) continue
    assert.equal(stateOf(task), 'TASK_STATE_INPUT_REQUIRED')
    assert.deepEqual(dataOf(task)['expected'], { tool: 'id of a skill', input: {} })
  }
})

test('words choose which skills are named, and a better message goes on with the task', async () => {
  const at = bench(OUTCOMES.paid)
  const task = await say(at, { text: 'Is GB82WEST12345698765432 a good IBAN?' })
  const [first] = dataOf(task)['skills'] as { tool: string; example_input: unknown }[]
  assert.equal(first?.tool, 'iban-check')
  assert.equal(stateOf(await ask(at, { taskId: task.id })), 'TASK_STATE_COMPLETED')
})

test('the receipt before is handed on, with a payment too', async () => {
  const at = bench(OUTCOMES.required, OUTCOMES.paid)
  const digest = `0x${'a'.repeat(64)}`
  const task = await ask(at, { metadata: { 'assay/prev-receipt-hash': digest } })
  await pay(at, task)
  assert.deepEqual(
    at.asked.map(({ request }) => request.prev_receipt_hash),
    [digest, digest],
  )
  const wrong = bench(OUTCOMES.paid)
  await ask(wrong, { metadata: { 'assay/prev-receipt-hash': 7 } })
  assert.equal(wrong.asked[0]?.request.prev_receipt_hash, '')
})
