import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { startTestApp, restCall, type TestApp } from '../support/app.ts'
import { type RdapServer, says, startRdapServer } from '../support/rdap-server.ts'
import { COMPANY, companyProfile, LEI, leiRecord, NO_LEI, VAT, viesAnswer } from '../support/register-records.ts'
import { openDesk, parsed, type Desk } from '../cli/run-cli.ts'

const KEY = 'test-key-of-companies-house'
const WARM_UP: Readonly<Record<string, object>> = {
  'lei-check': { lei: '529900T8BM49AURSDO55', register: true },
  'vat-mod97-check': { vat_number: 'BE0403170701', register: true },
  'company-number-format': { company_number: '00445790', register: true },
}
let server: RdapServer
let app: TestApp
/** The same service without registers. */
let off: TestApp
let folder: string
let settings: Record<string, string>

before(async () => {
  server = await startRdapServer()
  folder = await mkdtemp(join(tmpdir(), 'assay-registers-'))
  const key_file = join(folder, 'key')
  await writeFile(key_file, `${KEY}\n`, { mode: 0o600 })
  settings = {
    ASSAY_REGISTERS: 'vies,gleif,companies-house',
    ASSAY_REGISTER_URLS: ['vies', 'gleif', 'companies-house'].map((id) => `${id}=${server.url}`).join(','),
    ASSAY_COMPANIES_HOUSE_KEY_FILE: key_file,
  }
  app = await startTestApp({ settings })
  off = await startTestApp()
  // The first calls of a process load modules, which on a busy machine takes longer than an answer waits for its register.
  for (const [tool, input] of Object.entries(WARM_UP)) await restCall(app.url, tool, input)
})
after(async () => {
  await Promise.all([app.stop(), off.stop()])
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  server.asked.length = 0
  server.manner.set(LEI, says(leiRecord()))
  server.manner.set(VAT.number, says(viesAnswer()))
  server.manner.set(COMPANY, says(companyProfile()))
})

type Answer = Record<string, Record<string, unknown>>

const registerOf = (body: Record<string, unknown>) => (body as Answer)['result']?.['register'] as Record<string, unknown>

test('REST: each of the three tools asks its register', async () => {
  const calls: [string, object, string, string][] = [
    ['lei-check', { lei: LEI }, 'gleif', `https://api.gleif.org/api/v1/lei-records/${LEI}`],
    [
      'vat-mod97-check',
      { vat_number: 'BE 0428.759.497' },
      'vies',
      'https://ec.europa.eu/taxation_customs/vies/rest-api/ms/BE/vat/0428759497',
    ],
    [
      'company-number-format',
      { company_number: COMPANY },
      'companies-house',
      `https://api.company-information.service.gov.uk/company/${COMPANY}`,
    ],
  ]
  for (const [tool, input, id, url] of calls) {
    const { status, body } = await restCall(app.url, tool, { ...input, register: true })
    assert.equal(status, 200, JSON.stringify(body))
    const register = registerOf(body)
    assert.deepEqual([register['status'], register['register']], ['found', id])
    // The address of a mirror is not published.
    assert.equal(register['url'], url)
    assert.ok(!JSON.stringify(body).includes(server.place))
    const data_as_of = (body as Answer)['result']?.['data_as_of'] as Record<string, string>
    assert.equal(data_as_of[id.replace('-', '_')], `${String(register['checked_at'])} from ${url}`)
    assert.doesNotMatch(JSON.stringify(body), new RegExp(KEY))
  }
  assert.equal(server.asked.length, 3)
})

test('without register: true the answer is byte for byte that of a service without registers', async () => {
  for (const [tool, input] of [
    ['lei-check', { lei: LEI }],
    ['vat-mod97-check', { vat_number: 'BE 0428.759.497' }],
    ['company-number-format', { company_number: COMPANY }],
  ] as const) {
    const [on, without] = await Promise.all([restCall(app.url, tool, input), restCall(off.url, tool, input)])
    assert.equal(JSON.stringify(on.body['result']), JSON.stringify(without.body['result']))
    assert.equal((on.body as Answer)['receipt']?.['input_hash'], (without.body as Answer)['receipt']?.['input_hash'])
  }
  assert.deepEqual(server.asked, [])
})

test('where no register is on, the field is unknown, and nothing is charged', async () => {
  const { status, body } = await restCall(off.url, 'lei-check', { lei: LEI, register: true })
  assert.equal(status, 400)
  assert.deepEqual([body['code'], body['charged']], ['INPUT_SCHEMA_INVALID', false])
  assert.match(String(body['detail']), /"register" is not offered here: .* Leave it out\./)
  const schemas = await Promise.all([app, off].map(async ({ url }) => (await fetch(`${url}/v1/tools/lei-check`)).text()))
  assert.deepEqual(
    schemas.map((text) => text.includes('live register')),
    [true, false],
  )
})

test('a body of more than 64 KiB, which a thread reads, asks the register too', async () => {
  const response = await fetch(`${app.url}/v1/tools/lei-check/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"input":{"lei":"${LEI}","register":true}}${' '.repeat(100_000)}`,
  })
  assert.equal(registerOf((await response.json()) as Record<string, unknown>)['status'], 'found')
})

test('MCP and A2A: structured content with the record, and the headline of the register in the text', async () => {
  const rpc = async (path: string, method: string, params: object) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'a2a-version': '1.0' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const text = await (await fetch(`${app.url}${path}`, { method: 'POST', headers, body })).text()
    return text
  }
  const called = await rpc('/mcp', 'tools/call', { name: 'lei-check', arguments: { lei: LEI, register: true } })
  assert.match(called, /Registered in GLEIF and active on/)
  assert.match(called, /Bloomberg Finance L\.P\./)
  const listed = JSON.parse((await rpc('/mcp', 'tools/list', {})).replace(/^[^{]*/, '')) as {
    result: { tools: { name: string; annotations: { openWorldHint: boolean }; inputSchema: { properties: object } }[] }
  }
  for (const { name, annotations, inputSchema } of listed.result.tools.filter((tool) => /^(?:lei|iban)-check$/.test(tool.name)))
    assert.deepEqual(
      [annotations.openWorldHint, 'register' in inputSchema.properties],
      name === 'lei-check' ? [true, true] : [false, false],
    )
  const parts = [{ data: { tool: 'lei-check', input: { lei: LEI, register: true } } }]
  const sent = await rpc('/a2a', 'SendMessage', { message: { messageId: 'm1', role: 'ROLE_USER', parts } })
  assert.match(sent, /"status":"found"/)
})

test('a register that is down changes nothing but its own block, and is shown to the operator', async () => {
  const other = await startRdapServer()
  const lone = await startTestApp({ settings: { ASSAY_REGISTERS: 'gleif', ASSAY_REGISTER_URLS: `gleif=${other.url}` } })
  try {
    other.manner.set(LEI, says('', 500))
    for (let turn = 0; turn < 6; turn++) {
      const { status, body } = await restCall(lone.url, 'lei-check', { lei: LEI, register: true })
      const result = (body as Answer)['result']
      assert.deepEqual([status, result?.['valid'], registerOf(body)['status']], [200, true, 'not_reached'])
      assert.equal(registerOf(body)['reason_code'], turn < 5 ? 'down' : 'paused')
    }
    const health = (await (await fetch(`${lone.url}/health`)).json()) as Record<string, unknown>
    assert.deepEqual(health['registers'], [{ id: 'gleif', state: 'paused' }])
    const metrics = await (await fetch(`${lone.url}/metrics`)).text()
    assert.match(metrics, /^assay_register_answers_total\{register="gleif",outcome="not_reached"\} 6$/m)
    assert.match(metrics, /^assay_register_up\{register="gleif"\} 0$/m)
    assert.deepEqual(((await (await fetch(`${off.url}/health`)).json()) as Record<string, unknown>)['registers'], [])
    assert.doesNotMatch(await (await fetch(`${off.url}/metrics`)).text(), /assay_register/)
    const vat = await restCall(lone.url, 'vat-mod97-check', { vat_number: 'BE 0428.759.497', register: true })
    assert.match(String(vat.body['detail']), /"register" is not offered here/)
  } finally {
    await Promise.all([lone.stop(), other.stop()])
  }
})

test('the page of a tool offers the register where it is on', async () => {
  const [on, without] = await Promise.all([app, off].map(async ({ url }) => (await fetch(`${url}/tools/lei-check`)).text()))
  assert.match(on ?? '', /name="register"/)
  assert.doesNotMatch(without ?? '', /name="register"/)
})

let desk: Desk | null = null
after(() => desk?.clear())

test('command line: the register is asked, and a replay repeats the offline part and says so', async () => {
  desk = await openDesk()
  Object.assign(desk.settings, settings)
  const { code, stdout } = await desk.run(['call', 'lei-check', JSON.stringify({ lei: LEI, register: true })])
  assert.equal(code, 0)
  const answer = parsed(stdout)
  assert.equal(registerOf(answer)['status'], 'found')
  const text = await desk.run(['call', 'lei-check', JSON.stringify({ lei: LEI, register: true }), '--text'])
  assert.match(text.stdout, /registered[^]*registered_name\s+Bloomberg Finance L\.P\./)
  const replay = async (file: unknown) => {
    const files = [await desk?.file('a.json', file), await desk?.file('i.json', { lei: LEI, register: true })]
    const ended = await desk?.run(['replay', ...files.map(String)])
    return [ended?.code, parsed(ended?.stdout ?? '')['outcome']]
  }
  // The answer of the register is signed, so the register is not asked again.
  server.manner.set(LEI, says(NO_LEI, 404))
  server.asked.length = 0
  assert.deepEqual(await replay(answer), [0, 'agrees_offline'])
  assert.deepEqual(await replay((await restCall(app.url, 'lei-check', { lei: LEI, register: true })).body), [0, 'agrees_offline'])
  assert.deepEqual(await replay({ receipt: answer['receipt'] }), [3, 'not_reproducible'])
  const forged = { ...answer, result: { ...(answer['result'] as object), register: { ...registerOf(answer), status: 'not_found' } } }
  assert.deepEqual(await replay(forged), [3, 'not_reproducible'])
  assert.deepEqual(server.asked, [])
  const lines = await desk.run(['call', 'lei-check', '--jsonl'], { input: `${JSON.stringify({ lei: LEI, register: true })}\n` })
  assert.match(lines.stdout, /"register\\" is not offered here/)
})

test('the doctor asks each register once, names what it refuses, and shows neither key nor path of a mirror', async () => {
  server.manner.set(COMPANY, says({ errors: [{ error: 'invalid-key' }] }, 401))
  const own = await openDesk()
  try {
    const { stdout } = await own.run(['doctor'], { settings })
    const { checks, settings: shown } = parsed(stdout) as {
      checks: { name: string; state: string; words: string }[]
      settings: { name: string; value: unknown }[]
    }
    assert.deepEqual(
      checks.filter(({ name }) => name === 'register').map(({ state, words }) => `${state}: ${words.split(';')[0]}`),
      ['ok: vies answers.', 'ok: gleif answers.', 'warning: companies-house was not reached (not_authorized)'],
    )
    const urls = shown.find(({ name }) => name === 'ASSAY_REGISTER_URLS')?.value
    assert.deepEqual(urls, Object.fromEntries(['vies', 'gleif', 'companies-house'].map((id) => [id, `http://${server.place}/***`])))
    assert.ok(!stdout.includes(KEY))
  } finally {
    await own.clear()
  }
})
