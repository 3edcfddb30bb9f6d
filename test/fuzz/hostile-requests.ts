import type { Tool } from '../../src/service/catalogue/define.ts'
import { limits } from '../../src/service/limits.ts'
import { damaged, encoded, hostileJson } from './hostile-json.ts'
import { hostileText } from './hostile-text.ts'
import { seeded, type Random } from './random.ts'
import { hostileInput, knownInput, TOOLS } from './tool-inputs.ts'

/** A request that a server should survive, and what to hold its answer against. */
export interface HostileRequest {
  /** What it tries, for the message of a failing test. */
  kind: string
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer
  chunked: boolean
  /** Texts that stand in the request and must not stand in a problem. */
  marks: string[]
  /** The input, where the request is a proper call. */
  input: Record<string, unknown> | null
}

/** Not made of letters, digits, _ and - alone, so that not even a field name may bring it back. */
export const MARK = 'zq<'
/** Plain, so that it may come back as the name of a field; it only ever stands where a value does. */
export const PLAIN_MARK = 'zq-plain-value'

type Part = Pick<HostileRequest, 'body'> & Partial<HostileRequest>
type Kind = (random: Random, tool: Tool, mark: string) => Part

/** Draws one request; the same seed and index draw the same one. */
export function hostileRequest(seed: number, index: number): HostileRequest {
  const random = seeded(seed, index)
  const tool = random.pick(TOOLS)
  const name = random.pick(NAMES)
  const path = `/v1/tools/${random.chance(0.2) ? tool.id.replaceAll('-', '_') : tool.id}/call`
  const base = { kind: name, method: 'POST', path, headers: {}, chunked: random.chance(0.2), marks: [MARK, PLAIN_MARK], input: null }
  return { ...base, ...KINDS[name](random, tool, `${MARK}${index}>`) }
}

const KINDS = {
  input: (random, tool) => {
    const input = hostileInput(random, tool)
    return { body: wrapped(input), input }
  },
  marked: (random, tool, mark) => ({ body: wrapped(marked(random, knownInput(random, tool), mark)) }),
  json: (random, _tool, mark) => ({ body: Buffer.from(hostileJson(random, innerValue(random, mark))) }),
  // Where accidents happen, a value may become the name of a field.
  damaged: (random, tool, mark) => ({ body: damaged(random, wrapped(marked(random, knownInput(random, tool), mark))), marks: [MARK] }),
  encoded: (random, tool) => {
    const { bytes, headers } = encoded(random, JSON.stringify({ input: knownInput(random, tool) }))
    return { body: bytes, headers }
  },
  random: (random) => ({ body: random.bytes(random.below(random.chance(0.9) ? 400 : 5_000)) }),
  receipt: (random, _tool, mark) => ({ path: '/v1/receipt/verify', body: Buffer.from(hostileReceipt(random, mark)), marks: [] }),
  typed: (random, tool) => ({ body: wrapped(hostileInput(random, tool)), headers: { 'content-type': random.pick(TYPES) } }),
  headers: (random, tool, mark) => ({ body: wrapped(knownInput(random, tool)), headers: hostileHeaders(random, mark) }),
  path: (random, tool, mark) => ({ body: wrapped(knownInput(random, tool)), path: hostilePath(random, mark), marks: [MARK, 'zq%3C'] }),
  method: (random, _tool, mark) => ({
    method: random.pick(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'LINK', 'M-SEARCH']),
    path: random.chance(0.5) ? hostilePath(random, mark) : random.pick(PAGES),
    headers: pageHeaders(random),
    body: Buffer.alloc(0),
    chunked: false,
    marks: [MARK],
  }),
} as const satisfies Record<string, Kind>

type KindName = keyof typeof KINDS

/** How often each comes. */
const NAMES: readonly KindName[] = Object.entries({
  input: 8,
  marked: 4,
  json: 8,
  damaged: 6,
  encoded: 2,
  random: 3,
  receipt: 4,
  typed: 1,
  headers: 3,
  path: 2,
  method: 1,
}).flatMap(([name, weight]) => Array.from({ length: weight }, () => name as KindName))

function wrapped(input: unknown): Buffer {
  return Buffer.from(JSON.stringify({ input }))
}

/** A known input with the marks as values, and the one that is not plain also as names. */
export function marked(random: Random, input: Record<string, unknown>, mark: string): Record<string, unknown> {
  const own = Object.fromEntries(
    Object.keys(input).map((key) => [key, random.pick([mark, PLAIN_MARK, { [mark]: PLAIN_MARK }, [mark], 7, null, true])]),
  )
  return random.chance(0.5) ? { ...input, [random.pick([mark, `${mark}/~`, `zq${'x'.repeat(80)}<`])]: PLAIN_MARK } : own
}

function innerValue(random: Random, mark: string): string {
  return random.pick(['0', 'null', '"x"', '[]', '{}', `"${mark}"`, `{"${mark}":"${PLAIN_MARK}"}`, `["${PLAIN_MARK}",{"${mark}":[]}]`])
}

function hostileReceipt(random: Random, mark: string): string {
  const receipt = knownInput(random, TOOLS.find(({ id }) => id === 'receipt-verify') ?? random.pick(TOOLS))['receipt']
  const spoil = random.pick([mark, PLAIN_MARK, hostileText(random), 7, null, [], {}, 2 ** 53, -1, `${mark}|`, 'x'.repeat(2_000)])
  if (typeof receipt !== 'object' || receipt === null) return JSON.stringify({ receipt: random.pick([receipt, spoil]) })
  const name = random.pick([...Object.keys(receipt), mark, 'constructor'])
  const changed = { ...receipt, [name]: spoil }
  const text = JSON.stringify(random.chance(0.3) ? { receipt: random.chance(0.5) ? JSON.stringify(changed) : changed } : changed)
  return random.chance(0.2) ? damaged(random, Buffer.from(text)).toString() : text
}

const TYPES = [
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/json; charset=ebcdic',
  '*',
  ';;;=',
  'a'.repeat(500),
]

/** Only what HTTP lets through; the rest is for raw sockets. */
export function headerText(random: Random): string {
  return hostileText(random, random.pick([10, 60, 3_000])).replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
}

function hostileHeaders(random: Random, mark: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (let count = 1 + random.below(3); count > 0; count--) {
    const name = random.pick(HEADER_NAMES)
    found[name] = random.chance(0.3) ? mark : random.chance(0.5) ? headerText(random) : random.pick(HEADER_VALUES)
  }
  return found
}

const HEADER_NAMES = (
  'x-prev-receipt-hash x-request-id x-forwarded-for x-payment payment-signature x-credit idempotency-key authorization accept ' +
  'accept-encoding cookie origin referer user-agent if-none-match range mcp-session-id forwarded x-forwarded-host __proto__ constructor'
).split(' ')

const HEADER_VALUES = [
  `0x${'44'.repeat(32)}`,
  `0X${'AB'.repeat(32)}`,
  `0x${'4'.repeat(63)}`,
  `0x${'g'.repeat(64)}`,
  '::',
  '::1',
  '1.2.3.4, ::ffff:1.2.3.4',
  '[::1]:80',
  'fe80::1%eth0',
  '127.0.0.1,'.repeat(200),
  ','.repeat(3_000),
  '999.999.999.999',
  '1:2:3:4:5:6:7:8:9',
  '::ffff:127.0.0.1, 10.0.0.1, ::ffff:7f00:1',
  'e30=',
  Buffer.from('{"x402Version":1,"payload":{}}').toString('base64'),
  '=',
  '',
  ' ',
  'a b<script>',
  'q=0.1;q=2;;;,,*/*;q=x',
  'bytes=0-0,-1,99999999999-',
]

function hostilePath(random: Random, mark: string): string {
  const part = random.pick([
    mark,
    '..',
    '.',
    '%2e%2e',
    '%2F',
    '%5c',
    '%00',
    '%ff',
    '%zz',
    '%',
    '+',
    ';',
    '*',
    '__proto__',
    'constructor',
    'iban-check%2Fcall',
  ])
  const text = random.chance(0.5) ? part : hostileText(random, random.pick([5, 60, 2_000]))
  const safe = random.chance(0.7) ? encodeURIComponent(text.toWellFormed()) : text.replace(/[^\x21-\x7e]|[\\#]/g, '')
  return random.pick(PLACES).replace('?', () => safe)
}

/** Each with a place for the hostile part. */
const PLACES = [
  '/v1/tools/?/call',
  '/v1/tools/?',
  '/?',
  '/badge/?/valid/0x00.svg',
  '/badge/iban-check/?/x.svg',
  '/problems/?',
  '/v1/?/call',
  '/?/../health',
  '/.well-known/?',
  '//?',
  '/v1/tools/iban-check/call/?',
]

const PAGES = [
  '/',
  '/health',
  '/status',
  '/metrics',
  '/v1/tools',
  '/openapi.json',
  '/llms.txt',
  '/problems',
  '/robots.txt',
  '/v1/tools/iban-check/call',
  '/v1/receipt/verify',
  '/mcp',
]

function pageHeaders(random: Random): Record<string, string> {
  return {
    [random.pick(['accept', 'if-none-match', 'range', 'accept-language', 'x-request-id'])]: random.chance(0.5)
      ? headerText(random)
      : random.pick(HEADER_VALUES),
  }
}

/** Bodies around the bounds on bytes; few, since each is large. */
export function largeRequests(): HostileRequest[] {
  const sizes = [limits.unpaid_body_bytes, limits.body_bytes, limits.document_body_bytes].flatMap((bound) => [bound - 1, bound, bound + 1])
  const fills = ['a', '[', '"', '\\', '\u0301', ' ']
  return sizes.flatMap((size, index) =>
    ['iban-check', 'context-distill', 'receipt-verify'].flatMap((tool) =>
      [false, true].map((chunked) => {
        const fill = fills[index % fills.length] ?? 'a'
        const body = Buffer.alloc(size, `{"input":{"text":"${fill.repeat(5)}`)
        const kind = `${size} bytes of ${JSON.stringify(fill)}`
        return { kind, method: 'POST', path: `/v1/tools/${tool}/call`, headers: {}, body, chunked, marks: [], input: null }
      }),
    ),
  )
}
