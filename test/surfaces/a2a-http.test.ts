/** The agent protocol over real HTTP: cards, versions, errors, bounds, and messages that are none. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { limits } from '../../src/service/limits.ts'
import { X402_EXTENSION } from '../../src/surfaces/a2a/message.ts'
import { METHODS } from '../../src/surfaces/a2a/routes.ts'
import { A2A_CARDS, answerOf, asking, connectA2a, metadataOf, taskFor, type A2aVersion } from '../support/a2a.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { runs, SEED } from '../support/counts.ts'
import { asList, asMembers } from '../support/documents.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const CALL = { tool: 'iban-check', input: IBAN }

let app: TestApp
before(async () => {
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

interface Replied {
  status: number
  headers: Headers
  text: string
  error: { code: number; message: string } | undefined
  result: Record<string, unknown> | undefined
}

async function post(body: unknown, headers: Record<string, string> = {}): Promise<Replied> {
  const response = await fetch(`${app.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const stream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const reply = asMembers(JSON.parse(stream ? (text.split('\n')[0] ?? '').replace(/^data: /, '') : text))
  assert.equal(reply['jsonrpc'], '2.0')
  const error = reply['error'] as Replied['error']
  return { status: response.status, headers: response.headers, text, error, result: reply['result'] as Replied['result'] }
}

const OLD = { kind: 'message', role: 'user', messageId: 'm-1', parts: [{ kind: 'data', data: CALL }] }
const NEW = { role: 'ROLE_USER', messageId: 'm-1', parts: [{ data: CALL }] }
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params })

for (const version of Object.keys(A2A_CARDS) as A2aVersion[]) {
  test(`${version}: a free call is answered with a receipt that verifies, and the task can be read again`, async () => {
    const client = await connectA2a(app.url, version)
    const task = await taskFor(client, asking(CALL))
    const answer = answerOf(task)
    const receipt = asMembers(answer['receipt'])
    assert.deepEqual([verifyReceipt(receipt).valid, receipt['tool'], receipt['tier']], [true, 'iban-check', 'free'])
    assert.deepEqual(answerOf(await client.getTask({ tenant: '', id: task.id })), answer)
    const linked = answerOf(await taskFor(client, asking(CALL, { metadata: { 'assay/prev-receipt-hash': verifyReceipt(receipt).digest } })))
    assert.equal(asMembers(linked['chain'])['prev_receipt_hash'], verifyReceipt(receipt).digest)
    await assert.rejects(client.cancelTask({ tenant: '', id: task.id, metadata: undefined }))
    assert.deepEqual(metadataOf(task), {})
  })

  test(`${version}: the card passes the preflight and lists a skill a tool`, async () => {
    for (const asked of ['', version]) {
      const headers: Record<string, string> = asked === '' ? {} : { 'a2a-version': asked }
      const text = await (await fetch(`${app.url}${A2A_CARDS[version]}`, { headers })).text()
      const card = asMembers(JSON.parse(text))
      const body = JSON.stringify({ protocol: 'a2a', document: card })
      const report = asMembers(await (await fetch(`${app.url}/v1/protocols/check`, { method: 'POST', body })).json())
      assert.deepEqual(report['errors'], [])
      const skills = card['skills'] as { id: string; tags: string[] }[]
      assert.deepEqual(
        skills.map(({ id }) => id),
        app.running.app.deps.call.catalogue.tools.map(({ id }) => id),
      )
      assert.ok(skills.every(({ tags }) => tags.length > 0))
      assert.ok(text.length < 64_000, `a card of ${text.length} characters`)
    }
  })
}

test('a card that names no version is read by clients of both', async () => {
  for (const version of Object.keys(A2A_CARDS) as A2aVersion[]) {
    const response = await fetch(`${app.url}/.well-known/agent-card.json`, { headers: version === '1.0' ? {} : { 'a2a-version': '0.3' } })
    assert.equal(response.headers.get('vary')?.includes('A2A-Version'), true)
    const card = asMembers(await response.json())
    assert.equal(card['url'], `${app.url}/a2a`)
  }
})

test('the version is that of the header; without one it is that of the method', async () => {
  assert.equal(asMembers((await post(rpc('message/send', { message: OLD }))).result)['kind'], 'task')
  assert.ok((await post(rpc('SendMessage', { message: NEW }))).result?.['task'] !== undefined)
  assert.ok((await post(rpc('SendMessage', { message: NEW }), { 'a2a-version': '1.0.3' })).result?.['task'] !== undefined)
  assert.equal((await post(rpc('SendMessage', { message: NEW }), { 'a2a-version': '0.3' })).error?.code, -32601)
  for (const version of ['2.0', '0.2', 'x'.repeat(900)]) {
    const { error, text } = await post(rpc('SendMessage', { message: NEW }), { 'a2a-version': version })
    assert.equal(error?.code, -32009)
    assert.ok(text.length < 500)
  }
})

test('the extension is named back to those who ask for it', async () => {
  for (const name of ['a2a-extensions', 'x-a2a-extensions']) {
    const { headers } = await post(rpc('message/send', { message: OLD }), { [name]: `https://example.com/other, ${X402_EXTENSION}` })
    assert.deepEqual([headers.get('a2a-extensions'), headers.get('x-a2a-extensions')], [X402_EXTENSION, X402_EXTENSION])
  }
  assert.equal((await post(rpc('message/send', { message: OLD }))).headers.get('x-a2a-extensions'), null)
  assert.equal(
    (await post(rpc('message/send', { message: OLD }), { 'a2a-extensions': 'https://example.com' })).headers.get('a2a-extensions'),
    null,
  )
})

test('what the protocol knows and this service does not is refused by its own errors', async () => {
  const id = crypto.randomUUID()
  for (const [old, current, code] of [
    ['tasks/get', 'GetTask', -32001],
    ['tasks/cancel', 'CancelTask', -32001],
    ['tasks/resubscribe', 'SubscribeToTask', -32001],
    ['tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig', -32003],
    ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard', -32004],
    ['tasks/list', 'ListTasks', null],
    ['nothing', 'Nothing', -32601],
    ['message/nothing', 'SendNothing', -32601],
  ] as const) {
    const [older, newer] = [await post(rpc(old, { id, pushNotificationConfigId: 'x' })), await post(rpc(current, { id, taskId: id }))]
    // Version 0.3 has no list of tasks; that of 1.0 wants a context.
    assert.deepEqual([older.error?.code, newer.error?.code], code === null ? [-32601, -32602] : [code, code], old)
  }
})

test('tasks are listed by their context, a page at a time, and no other context shows', async () => {
  const begun = async (contextId?: string) => {
    const message = { ...NEW, messageId: crypto.randomUUID(), ...(contextId === undefined ? {} : { contextId }) }
    const task = asMembers((await post(rpc('SendMessage', { message }))).result?.['task'])
    return { id: String(task['id']), contextId: String(task['contextId']) }
  }
  const first = await begun()
  const [second, third] = [await begun(first.contextId), await begun(first.contextId)]
  const stranger = await begun()
  const listed = async (params: object) => {
    const { result, error } = await post(rpc('ListTasks', params))
    return { error, page: asMembers(result ?? {}), ids: asList(result?.['tasks'] ?? []).map(({ id }) => id) }
  }
  const own = await listed({ contextId: first.contextId })
  assert.deepEqual(new Set(own.ids), new Set([first.id, second.id, third.id]))
  assert.ok(!JSON.stringify(own.page).includes(stranger.id) && !JSON.stringify(own.page).includes('"artifacts":[{'))
  assert.deepEqual([own.page['totalSize'], own.page['nextPageToken'], own.page['pageSize']], [3, '', 50])
  const [one] = asList((await listed({ contextId: first.contextId, includeArtifacts: true })).page['tasks'])
  assert.equal(asList(one?.['artifacts']).length, 1)
  const page_1 = await listed({ contextId: first.contextId, pageSize: 2 })
  const page_2 = await listed({ contextId: first.contextId, pageSize: 2, pageToken: page_1.page['nextPageToken'] })
  assert.deepEqual([page_1.ids.length, [...page_1.ids, ...page_2.ids], page_2.page['nextPageToken']], [2, own.ids, ''])
  assert.deepEqual((await listed({ contextId: first.contextId, status: 'TASK_STATE_FAILED' })).ids, [])
  assert.deepEqual((await listed({ contextId: first.contextId, status: 'TASK_STATE_COMPLETED' })).ids, own.ids)
  assert.deepEqual((await listed({ contextId: first.contextId, statusTimestampAfter: '2099-01-01T00:00:00Z' })).ids, [])
  assert.deepEqual((await listed({ contextId: crypto.randomUUID() })).ids, [])
  // A context whose name can be guessed is no capability.
  await begun('chat-1')
  for (const params of [
    {},
    { contextId: 'chat-1' },
    { contextId: first.contextId, pageSize: 0 },
    { contextId: first.contextId, pageSize: 101 },
    { contextId: first.contextId, pageSize: 'two' },
    { contextId: first.contextId, pageToken: 'bm9uc2Vuc2U' },
    { contextId: first.contextId, status: 'done' },
    { contextId: first.contextId, statusTimestampAfter: 'yesterday' },
  ])
    assert.equal((await listed(params)).error?.code, -32602, JSON.stringify(params))
})

test('a media type that is not read is ContentTypeNotSupportedError, and a message without a known role is refused', async () => {
  for (const [method, message] of [
    ['message/send', OLD],
    ['SendMessage', NEW],
  ] as const) {
    const codeOf = async (change: object) => (await post(rpc(method, { message: { ...message, ...change } }))).error?.code
    assert.equal(await codeOf({ role: undefined }), -32602, method)
    for (const role of ['', 'robot', 7, null, {}]) assert.equal(await codeOf({ role }), -32602, `${method} ${JSON.stringify(role)}`)
  }
  // A2A 1.0, 9.5 and 0.3, 8.2: -32005.
  const parts: [string, object][] = [
    ['SendMessage', { raw: 'AAAA', mediaType: 'image/png' }],
    ['SendMessage', { url: 'https://example.com/a.png', mediaType: 'image/png' }],
    ['SendMessage', { text: 'a,b', mediaType: 'text/csv' }],
    ['message/send', { kind: 'file', file: { uri: 'https://example.com/a.png', mimeType: 'image/png' } }],
  ]
  for (const [method, part] of parts) {
    const message = { ...(method === 'SendMessage' ? NEW : OLD), parts: [part] }
    assert.equal((await post(rpc(method, { message }))).error?.code, -32005, JSON.stringify(part))
  }
  const right = { ...NEW, parts: [{ data: CALL, mediaType: 'application/json; charset=utf-8' }] }
  assert.equal((await post(rpc('SendMessage', { message: right }))).error, undefined)
})

test('what is no request, names no method, or lacks its parameters is told apart as JSON-RPC does it', async () => {
  // JSON-RPC 2.0, 5.1: -32600 is not a valid request object, -32601 the method does not exist, -32602 invalid parameters.
  for (const [version, sending, asking_for, message] of [
    ['0.3', 'message/send', 'tasks/get', OLD],
    ['1.0', 'SendMessage', 'GetTask', NEW],
  ] as const) {
    const good = rpc(sending, { message })
    const codeOf = async (body: unknown) => (await post(body, { 'a2a-version': version })).error?.code
    for (const body of [
      { id: 1, method: sending, params: { message } },
      { ...good, jsonrpc: '1.0' },
      { ...good, jsonrpc: 2 },
      { jsonrpc: '2.0', id: 1, params: { message } },
      { ...good, method: 5 },
      { ...good, id: {} },
      { ...good, id: 1.5 },
      { ...good, id: true },
      [],
      [good],
      5,
      '"text"',
      'null',
    ]) {
      assert.equal(await codeOf(body), -32600, `${version} ${JSON.stringify(body)}`)
    }
    for (const body of [{ jsonrpc: '2.0', id: 1, method: 'none' }, rpc('none', []), rpc('no method at all', {})])
      assert.equal(await codeOf(body), -32601, `${version} ${JSON.stringify(body)}`)
    for (const body of [
      { jsonrpc: '2.0', id: 1, method: sending },
      rpc(sending, 'x'),
      rpc(sending, {}),
      rpc(asking_for, {}),
      rpc(asking_for, { id: '' }),
    ])
      assert.equal(await codeOf(body), -32602, `${version} ${JSON.stringify(body)}`)
  }
})

test('every method that a version is said to have is one of the official package', async () => {
  for (const [version, methods] of Object.entries(METHODS)) {
    for (const method of methods)
      assert.notEqual((await post(rpc(method, { id: 'x' }), { 'a2a-version': version })).error?.code, -32601, method)
  }
})

test('bodies are read as strictly as everywhere', async () => {
  assert.equal((await post('not json')).error?.code, -32700)
  const twice = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","kind":"message","role":"user","parts":[{"kind":"data","data":{"tool":"iban-check","input":{"iban":"a","iban":"b"}}}]}}}`
  assert.equal((await post(twice)).error?.code, -32600)
  assert.equal((await post([rpc('message/send', { message: OLD })])).error?.code, -32600)
  assert.equal((await post(JSON.stringify('x'.repeat(limits.document_body_bytes + 1)))).status, 413)
  const typed = await fetch(`${app.url}/a2a`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' })
  assert.equal(typed.status, 415)
  const wrong = await fetch(`${app.url}/a2a`)
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST'])
  const foreign = await post(rpc('message/send', { message: OLD }), { origin: 'https://elsewhere.example' })
  assert.equal(foreign.status, 403)
})

test('a long message is read for who brings a credit, as it is over REST and MCP, and not for who has nothing left', async () => {
  const none = await startTestApp({ settings: { ASSAY_FREE_DAILY: '0' } })
  const input = { iban: 'x'.repeat(limits.unpaid_body_bytes) }
  const body = JSON.stringify(rpc('message/send', { message: { ...OLD, parts: [{ kind: 'data', data: { tool: 'iban-check', input } }] } }))
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(`${none.url}/a2a`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })).status
  assert.equal(await statusOf({}), 402)
  assert.equal(await statusOf({ 'x-credit': 'ac_none', 'idempotency-key': 'k' }), 200)
  await none.stop()
})

test('an input as deep as REST takes it is taken here too, and none deeper', async () => {
  for (const [levels, code] of [
    [limits.json_depth - 2, 'INPUT_SCHEMA_INVALID'],
    [limits.json_depth - 1, 'JSON_TOO_DEEP'],
  ] as const) {
    const input = { iban: JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown }
    assert.equal((await restCall(app.url, 'iban-check', input)).body['code'], code)
    const replied = await post(rpc('message/send', { message: { ...OLD, parts: [{ kind: 'data', data: { tool: 'iban-check', input } }] } }))
    assert.ok(replied.text.includes(`"code":"${code}"`), replied.text.slice(0, 300))
  }
})

/** Whatever stands in place of a part of a good message. */
const STRANGE = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, '', '\u0000', 'constructor', [], {}, [[[]]], { $case: 'data' }, 'x'.repeat(3_000)),
  fc.string({ maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
)

const PLACES: readonly (readonly string[])[] = [
  ['method'],
  ['id'],
  ['params'],
  ['jsonrpc'],
  ['params', 'id'],
  ['params', 'metadata'],
  ['params', 'tenant'],
  ['params', 'configuration'],
  ['params', 'message'],
  ...['messageId', 'taskId', 'contextId', 'role', 'kind', 'parts', 'metadata', 'extensions', 'referenceTaskIds'].map((name) => [
    'params',
    'message',
    name,
  ]),
  ...['data', 'text', 'kind', 'metadata', 'raw', 'file', 'url'].map((name) => ['params', 'message', 'parts', '0', name]),
  ...['tool', 'input'].map((name) => ['params', 'message', 'parts', '0', 'data', name]),
  ...['x402.payment.payload', 'x402.payment.status', 'assay/prev-receipt-hash', 'assay/credit'].map((name) => [
    'params',
    'message',
    'metadata',
    name,
  ]),
]

function put(target: unknown, [step, ...rest]: readonly string[], value: unknown): void {
  if (typeof target !== 'object' || target === null || step === undefined) return
  const record = target as Record<string, unknown>
  if (rest.length > 0) put((record[step] ??= {}), rest, value)
  else record[step] = value
}

const HOSTILE_METHODS =
  'message/send message/stream tasks/get tasks/cancel tasks/resubscribe SendMessage SendStreamingMessage GetTask CancelTask'.split(' ')
const CODES = new Set([-32700, -32600, -32601, -32602, -32001, -32002, -32003, -32004, -32005, -32007, -32009])

test('hostile messages meet tasks or the errors of the protocol, never a fault', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...HOSTILE_METHODS),
    fc.array(fc.tuple(fc.constantFrom(...PLACES), STRANGE), { minLength: 1, maxLength: 3 }),
    async (method, changes) => {
      const message: unknown = structuredClone(rpc(method, { message: { ...(method.includes('/') ? OLD : NEW), metadata: {} } }))
      for (const [place, value] of changes) put(message, place, value)
      const replied = await post(message, { 'x-forwarded-for': `10.0.${Math.abs(changes.length) % 250}.1` })
      if (replied.error === undefined) return
      assert.ok(CODES.has(replied.error.code), replied.text.slice(0, 300))
      // Only the id comes back, as JSON-RPC wants it.
      assert.ok(replied.error.message.length <= 300, replied.error.message.slice(0, 400))
    },
  )
  await fc.assert(property, { numRuns: runs(250, 5_000), seed: SEED })
})
