import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runs, SEED } from '../support/counts.ts'
import { mcpRequest, MCP_VERSIONS } from '../support/mcp.ts'
import { startService, type Service } from '../support/service.ts'
import { damaged, encoded, hostileJson } from './hostile-json.ts'
import { headerText, MARK, marked, PLAIN_MARK } from './hostile-requests.ts'
import { hostileText } from './hostile-text.ts'
import { assertUnmarked, judgeProblemText, judgeResult } from './judge.ts'
import { seeded, type Random } from './random.ts'
import { hostileInput, knownInput, TOOLS } from './tool-inputs.ts'
import { createSender, type Answer } from './transport.ts'

/** Hostile JSON-RPC: every answer is a result, or one of the errors that JSON-RPC and MCP define. */

const COUNT = runs(400, 20_000)
const CONNECTIONS = 8

let folder: string
let service: Service
let sender: ReturnType<typeof createSender>

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-fuzz-mcp-'))
  service = await startService({ ASSAY_DATA_DIR: folder, ASSAY_FREE_DAILY: '1000000000' })
  sender = createSender(service.url, CONNECTIONS)
})
after(async () => {
  sender.close()
  service.process.kill('SIGKILL')
  await service.ended
  await rm(folder, { recursive: true, force: true })
})

interface Sent {
  body: Buffer
  headers: Record<string, string>
  marks: string[]
  /** The arguments, where the message is a proper call. */
  input: Record<string, unknown> | null
}

type Message = ReturnType<typeof mcpRequest>
type Params = Record<string, unknown>

const VERSIONS = Object.keys(MCP_VERSIONS)
const METHODS = (
  'initialize ping tools/list tools/call server/discover resources/list resources/read prompts/get completion/complete logging/setLevel ' +
  'notifications/initialized notifications/cancelled notifications/progress tasks/get sampling/createMessage rpc.discover constructor __proto__'
).split(' ')

const KINDS: readonly ((random: Random, mark: string) => Sent)[] = [
  (random) => {
    const tool = random.pick(TOOLS)
    const input = hostileInput(random, tool)
    const message = mcpRequest(random.pick(VERSIONS), 'tools/call', { name: tool.id, arguments: input })
    return { ...sent(message), input: input }
  },
  (random, mark) => {
    const tool = random.pick(TOOLS)
    return sent(
      mcpRequest(random.pick(VERSIONS), 'tools/call', { name: tool.id, arguments: marked(random, knownInput(random, tool), mark) }),
    )
  },
  (random, mark) => sent(mcpRequest(random.pick(VERSIONS), 'tools/call', strangeParams(random, mark))),
  (random, mark) =>
    sent(mcpRequest(random.pick(VERSIONS), random.pick([...METHODS, mark, hostileText(random)]), strangeParams(random, mark))),
  (random, mark) => {
    const { headers, message } = mcpRequest(random.pick(VERSIONS), random.pick(METHODS), strangeParams(random, mark))
    const name = random.pick(['jsonrpc', 'method', 'params', 'id', mark])
    return { ...sent({ headers, message }), body: json({ ...message, [name]: strangeValue(random, mark) }) }
  },
  (random, mark) => ({ ...sent(call(random)), body: json(strangeMessage(random, mark)) }),
  (random) => {
    const { headers, message } = call(random)
    return { ...sent({ headers, message }), body: damaged(random, json(message)) }
  },
  (random) => {
    const { headers, message } = call(random)
    const { bytes, headers: more } = encoded(random, JSON.stringify(message))
    return { ...sent({ headers, message }), body: bytes, headers: { ...headers, ...more } }
  },
  (random, mark) => ({ ...sent(call(random)), body: Buffer.from(hostileJson(random, JSON.stringify(call(random, mark).message))) }),
  (random) => {
    const { headers, message } = call(random)
    return {
      ...sent({ headers, message }),
      headers: { ...headers, [random.pick(HEADER_NAMES)]: random.pick([headerText(random), '', '2026-07-28', 'x']) },
    }
  },
]

/** What selects a protocol version is spelled out in the package's refusals, so it bears no mark. */
const HEADER_NAMES = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'x-request-id',
  'x-credit',
]

function call(random: Random, mark?: string): Message {
  const tool = random.pick(TOOLS)
  const input = knownInput(random, tool)
  return mcpRequest(random.pick(VERSIONS), 'tools/call', {
    name: tool.id,
    arguments: mark === undefined ? input : { ...input, [mark]: PLAIN_MARK },
  })
}

function sent({ headers, message }: Message): Sent {
  return { body: json(message), headers: header(headers), marks: [MARK, PLAIN_MARK], input: null }
}

/** A hostile name may hold what no header can. */
function header(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.includes(MARK) ? 'x' : value.replace(/[^\x20-\x7e]/g, '')]),
  )
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value) ?? '')
}

function strangeValue(random: Random, mark: string): unknown {
  return random.pick([null, true, 0, -1, 1.5, 2 ** 53 - 1, '', mark, [], [mark], {}, { [mark]: mark }, [[[[]]]], 'x'.repeat(3_000)])
}

function strangeParams(random: Random, mark: string): Params {
  const params: Params = {
    name: random.pick(['iban-check', 'iban_check', 'constructor', mark, hostileText(random)]),
    arguments: { iban: 'x' },
  }
  const name = random.pick([
    'name',
    'arguments',
    '_meta',
    'task',
    'cursor',
    'protocolVersion',
    'capabilities',
    'clientInfo',
    'uri',
    'inputResponses',
    mark,
  ])
  params[name] = strangeValue(random, mark)
  if (random.chance(0.4))
    params['_meta'] = { [random.pick(META_NAMES)]: strangeValue(random, mark), progressToken: random.pick([1, 'a', null, {}]) }
  return params
}

const META_NAMES = [
  'assay/prev-receipt-hash',
  'x402/payment',
  'x402.payment',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
  'a/b',
  '__x',
]

function strangeMessage(random: Random, mark: string): unknown {
  const { message } = call(random, mark)
  return random.pick<unknown>([
    [message],
    [],
    [message, message],
    Array.from({ length: 500 }, () => message),
    { ...message, jsonrpc: '1.0' },
    { jsonrpc: '2.0', id: 1, result: { [mark]: mark } },
    { jsonrpc: '2.0', id: 1, error: { code: 1, message: mark } },
    { jsonrpc: '2.0', id: 1, method: 'ping', result: {}, error: {} },
    { jsonrpc: '2.0', method: mark, params: { [mark]: mark } },
    { [mark]: message },
    mark,
    7,
    null,
  ])
}

/** Parse error, invalid request, method not found, invalid parameters (JSON-RPC 2.0 §5.1); refusals of the transport; MCP's own two. */
const HEADER_MISMATCH = -32020
const ERRORS = [-32700, -32600, -32601, -32602, -32000, HEADER_MISMATCH, -32022]
const STATUSES = [200, 202, 400, 404, 406, 413, 415]

function judgeMessage({ status, headers, text }: Answer, { marks, body, input }: Sent, thorough: boolean): void {
  assert.ok(STATUSES.includes(status), `status ${status}: ${text.slice(0, 300)}`)
  if (status === 202) {
    assert.equal(text, '')
    return
  }
  assert.equal(headers['content-type'], 'application/json')
  const answer = JSON.parse(text) as Record<string, unknown>
  assert.equal(answer['jsonrpc'], '2.0')
  assert.ok(answer['id'] === null || body.includes(JSON.stringify(answer['id'])), `a foreign id: ${text.slice(0, 300)}`)
  if (answer['error'] !== undefined) judgeError(answer['error'] as RpcError, marks)
  else judgeToolResult(answer['result'] as ToolResult, marks, thorough ? input : null)
}

interface RpcError {
  code: number
  message: string
  data?: Record<string, unknown>
}

function judgeError({ code, message, data }: RpcError, marks: readonly string[]): void {
  // Where headers and message disagree, the official package names both sides, which are the caller's own.
  if (code !== HEADER_MISMATCH) assertUnmarked(JSON.stringify({ message, data }), marks)
  if (data?.['code'] !== undefined) judgeProblemText(JSON.stringify(data), marks)
  // The official package calls parameters that fit no schema an internal error; one of ours would bear the problem as its data.
  const misfit = code === -32603 && data === undefined && message.startsWith('[')
  assert.ok(misfit || ERRORS.includes(code), `error ${code}: ${message.slice(0, 200)}`)
}

interface ToolResult {
  isError?: boolean
  content?: { text: string }[]
  structuredContent?: unknown
}

function judgeToolResult(
  { isError, content, structuredContent }: ToolResult,
  marks: readonly string[],
  input: Record<string, unknown> | null,
): void {
  const text = content?.[0]?.text
  if (text === undefined) return
  if (isError === true) {
    judgeProblemText(text, marks)
    return
  }
  assert.match(text, /\nReceipt 0x[0-9a-f]{64}, output_hash 0x[0-9a-f]{64}$/)
  if (input !== null) judgeResult(JSON.stringify(structuredContent), input)
}

// attack: broken input that ends in a 500
test('hostile messages draw results and documented errors only', async () => {
  let next = 0
  const worker = async () => {
    for (let index = next++; index < COUNT; index = next++) {
      const random = seeded(SEED, index)
      const message = random.pick(KINDS)(random, `${MARK}${index}>`)
      const { body, headers } = message
      const answer = await sender.send({ method: 'POST', path: '/mcp', headers, body, chunked: random.chance(0.2) })
      try {
        judgeMessage(answer, message, index % 10 === 0)
      } catch (error) {
        throw new Error(`message ${index}: ${JSON.stringify(headers)} ${body.subarray(0, 500).toString()}`, { cause: error })
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
})

test('afterwards a call is answered, no fault was logged, and the service stops cleanly', async () => {
  const { headers, message } = mcpRequest('2026-07-28', 'tools/call', {
    name: 'iban-check',
    arguments: { iban: 'GB82WEST12345698765432' },
    _meta: { 'assay/detail': 'full' },
  })
  const { status, text } = await sender.send({ method: 'POST', path: '/mcp', headers, body: json(message), chunked: false })
  assert.equal(status, 200)
  judgeResult((JSON.parse(text) as { result: { content: [{ text: string }] } }).result.content[0].text, { iban: 'GB82WEST12345698765432' })
  sender.close()
  service.process.kill('SIGTERM')
  assert.deepEqual(await service.ended, { code: 0, signal: null })
  assert.equal(service.log(), '')
  // The three lines that name what listens, and no more.
  assert.ok(!service.notes().includes('Error'), service.notes())
})
