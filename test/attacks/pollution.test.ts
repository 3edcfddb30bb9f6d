/** Attacks by JSON: names that reach into the prototypes of everything, through every entrance that reads JSON. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ENDPOINT_GROUPS } from '../../src/surfaces/endpoint-groups.ts'
import { JSON_HEADERS } from '../support/mcp.ts'
import { readSources } from '../support/source.ts'
import { signedHeaders, startCreditApp, startFakeStripe, type CreditApp, type FakeStripe } from '../support/credits.ts'

let stripe: FakeStripe
let app: CreditApp
let natural: string
before(async () => {
  natural = prototypes()
  stripe = await startFakeStripe()
  app = await startCreditApp('none', { stripe_at: stripe.at }, { ASSAY_FREE_DAILY: '1000000' })
})
after(async () => {
  await app.stop()
  await stripe.stop()
})

/** Every name that any object, list, function or text would inherit. */
function prototypes(): string {
  const holders = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype, Promise.prototype]
  return holders.map((holder) => Reflect.ownKeys(holder).map(String).join()).join('|')
}

const POISON = '{"polluted":"yes","toString":"no","status":200}'
/** Ways to write it; escapes are undone before names are compared, or they are not compared at all. */
const NAMES: Record<string, string> = {
  plain: `"__proto__":${POISON}`,
  escaped: `"\\u005f_proto\\u005f_":${POISON}`,
  constructor: `"constructor":{"prototype":${POISON}}`,
  both: `"__proto__":{"constructor":{"prototype":${POISON}}}`,
  accessors: `"__defineGetter__":${POISON},"__lookupSetter__":1,"hasOwnProperty":false,"then":null,"valueOf":1,"toJSON":${POISON}`,
}

type Entrance = [path: string, body: (members: string) => string, headers?: (body: string) => Record<string, string>]

const tool = (id: string, rest: string): Entrance => [`/v1/tools/${id}/call`, (members) => `{"input":{${rest},${members}}}`]
const rpc =
  (params: (members: string) => string, method = 'tools/call') =>
  (members: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params(members)}}`
const text = (members: string) => JSON.stringify(`{${members}}`)
const sent = (part: string, more = '') =>
  `{"message":{"kind":"message","role":"user","messageId":"m1","parts":[${part}]${more === '' ? '' : `,"metadata":{${more}}`}}}`
const base64 = (members: string) =>
  Buffer.from(`{"x402Version":1,"scheme":"exact","network":"base","payload":{},${members}}`).toString('base64')
const IBAN = '"iban":"GB82WEST12345698765432"'
const MERCHANT = `"amountUsdc":"1","merchant":"0x${'1'.repeat(40)}"`

const ENTRANCES: readonly Entrance[] = [
  tool('iban-check', IBAN),
  ['/v1/tools/iban-check/call?x', (members) => `{"input":{${IBAN}},${members}}`],
  [
    '/v1/tools/batch-validate/call',
    (members) => `{"input":{"items":[{"tool":"iban-check","input":{${members}}},{"tool":"__proto__","input":{${IBAN}}}]}}`,
  ],
  ['/v1/tools/iso20022-validate/call', (members) => `{"input":{"document":${text(members)}}}`],
  ['/v1/tools/iso20022-validate/call', (members) => `{"input":{"document":{${members}}}}`],
  [
    '/v1/tools/instant-json-schema-verifier/call',
    (members) => `{"input":{"schema":{"properties":{${members}},${members}},"payload":{${members}}}}`,
  ],
  ['/v1/tools/instant-json-schema-verifier/call', (members) => `{"input":{"schema":${text(members)},"payload":${text(members)}}}`],
  ['/v1/tools/dip-file-dispute/call', (members) => `{"input":{"receipt":{${members}},"claim":{${members}}}}`],
  ['/v1/tools/aci-trust-lookup/call', (members) => `{"input":{"edges":[{${members}}],${members}}}`],
  ['/v1/tools/reconcile/call', (members) => `{"input":{"instructions":[{${members}}],"statements":[${text(members)}]}}`],
  ['/v1/receipt/verify', (members) => `{"receipt":{${members}}}`],
  ['/v1/receipt/verify', (members) => `{"receipt":${text(members)}}`],
  ['/mcp', rpc((members) => `{"name":"iban-check","arguments":{${IBAN},${members}}}`)],
  ['/mcp', rpc((members) => `{"name":"iban-check","_meta":{${members}},"arguments":{${IBAN}}}`)],
  ['/mcp', rpc((members) => `{"name":"iban-check","_meta":{"x402/payment":{${members}}},"arguments":{${IBAN}}}`)],
  [
    '/mcp',
    rpc(
      (members) => `{"protocolVersion":"2025-06-18","clientInfo":{"name":"x","version":"1",${members}},"capabilities":{${members}}}`,
      'initialize',
    ),
  ],
  ['/a2a', rpc((members) => sent(`{"kind":"data","data":{"tool":"iban-check","input":{${IBAN},${members}}}}`), 'message/send')],
  ['/a2a', rpc((members) => sent('{"kind":"text","text":"hello"}', members), 'message/send')],
  ['/a2a', rpc((members) => `{"id":"${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}","metadata":{${members}}}`, 'tasks/get')],
  ['/v1/protocols/check', (members) => `{${members}}`],
  ['/v1/protocols/check', (members) => `{"document":{${members}},"payee":{${members}}}`],
  ['/api/invoice/create', (members) => `{${MERCHANT},${members}}`],
  ['/api/invoice/statement', (members) => `{"document":"x","merchant":"0x1000000000000000000000000000000000000001",${members}}`],
  ['/api/invoice/list', (members) => `{"merchant":"0x1000000000000000000000000000000000000001",${members}}`],
  ...['sign', 'void', 'pay', 'transactions', 'credit'].map((act): Entrance => [
    `/api/invoice/inv_x/${act}`,
    (members) => `{"signature":"0x00",${members}}`,
  ]),
  ['/v1/webhooks', (members) => `{"url":"https://example.com/",${members}}`],
  ['/v1/webhooks/whs_x/redeliver', (members) => `{"event_id":"evt_x",${members}}`],
  ['/v1/webhooks/whs_x/verify', (members) => `{${members}}`],
  ['/v1/webhooks/whs_x/delete', (members) => `{${members}}`],
  ['/api/insurance/register', (members) => `{"entry":{${members}},"signature":"0x",${members}}`],
  ['/api/insurance/countersign', (members) => `{${members}}`],
  ['/api/credits/checkout', (members) => `{"pack":5,${members}}`],
  ['/api/credits/code', (members) => `{"session_id":"cs_x",${members}}`],
  [
    '/api/credits/webhook',
    (members) => `{"id":"evt_x","object":"event","livemode":false,"type":"charge.refunded","data":{"object":{${members}}},${members}}`,
    signedHeaders,
  ],
  ['/v1/sandbox/payment', (members) => `{"amount_minor":"5000",${members}}`],
  ['/v1/sandbox/fund', (members) => `{"address":"0x1000000000000000000000000000000000000001",${members}}`],
  ['/v1/sandbox/rpc', (members) => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{${members}},"latest"],${members}}`],
  ['/v1/bundle', (members) => `{"entries":[],${members}}`],
  ['/log/entries', (members) => `{"receipt":{${members}}}`],
  ['/log/add-checkpoint', (members) => `old 0\n\n__proto__\n1\nAAAA\n{${members}}\n`],
  [
    '/v1/tools/luhn-check/call',
    () => '{"input":{"number":"4242424242424242"}}',
    (body) => ({ 'x-payment': base64(NAMES['plain'] ?? ''), 'x-length': String(body.length) }),
  ],
  [
    '/v1/tools/luhn-check/call',
    () => '{"input":{"number":"4242424242424242"}}',
    (body) => ({ 'payment-signature': base64(NAMES['constructor'] ?? ''), 'x-length': String(body.length) }),
  ],
]

// attack: `__proto__` and `constructor` through any endpoint
// in: requests
// asset: every object of the process
// attacker: client
// defence: reserved names; own properties only; the tested endpoints are compared with the routes
test('no entrance lets a name of JSON reach a prototype, break an answer or be our fault', async () => {
  for (const [path, body, headers] of ENTRANCES) {
    for (const [way, members] of Object.entries(NAMES)) {
      const written = body(members)
      const response = await fetch(app.url + path, { method: 'POST', body: written, headers: { ...JSON_HEADERS, ...headers?.(written) } })
      const answer = await response.text()
      const shown = `${path} ${way} ${response.status}: ${answer.slice(0, 300)}`
      // Live on a chain that is not there: what needs it says so.
      assert.ok(response.status < 500 || response.status === 503, shown)
      assert.ok(!/INTERNAL_ERROR|-32603/.test(answer), shown)
      assert.equal(prototypes(), natural, shown)
      assert.equal(Reflect.get({}, 'polluted'), undefined, shown)
    }
  }
})

// attack: `__proto__` and `constructor` through any endpoint
test('these are all entrances', () => {
  const written = readSources('src/surfaces/**/*.ts', 'src/assembly/app.ts').flatMap(({ text: source }) =>
    [...source.matchAll(/\.post\(\s*(?:'([^']+)'|([A-Z_0-9]+))/g)].map(([, path, name]) => path ?? (name === 'A2A_PATH' ? '/a2a' : '/mcp')),
  )
  const defined = ENDPOINT_GROUPS.flatMap(({ endpoints }) => endpoints).flatMap(({ method, path }) =>
    method === 'post' ? [path.replaceAll(/\{(\w+)\}/g, ':$1')] : [],
  )
  const routes = [...written, ...defined]
  assert.ok(routes.length > 15)
  const fits = (route: string, path: string) => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}(?:\\?.*)?$`).test(path)
  assert.deepEqual(
    routes.filter((route) => !ENTRANCES.some(([path]) => fits(route, path))),
    [],
  )
})

test('names of addresses and of methods that every object has name nothing here', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf', 'then']
  for (const name of names) {
    for (const path of [
      `/v1/tools/${name}`,
      `/problems/${name}`,
      `/docs/${name}`,
      `/assets/${name}`,
      `/v1/payments/${name}/${name}`,
      `/.well-known/${name}`,
    ]) {
      const { status } = await fetch(app.url + path)
      assert.ok(status === 404 || status === 400, `${path} ${status}`)
    }
    const call = await fetch(`${app.url}/v1/tools/${name}/call`, { method: 'POST', body: '{"input":{}}' })
    assert.equal(call.status, 404, name)
    for (const path of ['/mcp', '/a2a']) {
      for (const message of [
        { method: name, params: {} },
        { method: 'tools/call', params: { name, arguments: {} } },
        { method: 'message/send', params: { message: { [name]: 1 } } },
      ]) {
        const response = await fetch(app.url + path, {
          method: 'POST',
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
          headers: JSON_HEADERS,
        })
        const { error, result } = (await response.json()) as { error?: { code: number }; result?: { isError?: boolean } }
        assert.ok((error !== undefined && error.code !== -32603) || result?.isError === true, `${path} ${JSON.stringify(message)}`)
      }
    }
  }
  assert.equal(prototypes(), natural)
})
