/** Insurance from registration to the certificate that verifies offline, over HTTP, as strangers use it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { RECORD_PROBLEMS } from '../../src/service/problems.ts'
import { registerUnderwriter } from '../../src/service/records/insurance.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asList, at } from '../support/documents.ts'
import { insurer, type Card } from '../support/insurer.ts'
import { openDesk, parsed, type Desk } from '../cli/run-cli.ts'

let app: TestApp
let desk: Desk
let now_s: number
before(async () => {
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
  desk = await openDesk()
  now_s = Math.floor(app.running.app.deps.call.sources.clock.now_ms() / 1_000)
})
after(async () => {
  await desk.clear()
  await app.stop()
})

let strangers = 0

async function posted(path: string, body: unknown, client = `10.1.0.${++strangers % 250}`) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(app.url + path, { method: 'POST', body: text, headers: { 'x-forwarded-for': client } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const register = (body: unknown) => posted('/api/insurance/register', body)

async function ran(tool: string, input: unknown): Promise<Record<string, unknown>> {
  const { status, body } = await restCall(app.url, tool, input)
  assert.equal(status, 200, JSON.stringify(body))
  return body['result'] as Record<string, unknown>
}

const UNDERWRITER = insurer(generatePrivateKey())
const ID = `uw_${UNDERWRITER.address.slice(2).toLowerCase()}`

test('the directory starts empty, and zero underwriters give zero quotes', async () => {
  const { count, insurers } = await ran('list-approved-insurers', {})
  assert.deepEqual([count, insurers], [0, []])
  const { quote_count, quotes } = await ran('quote-3rd-party-insurance', { amount_usdc: 100 })
  assert.deepEqual([quote_count, quotes], [0, []])
  for (const tool of ['quote-3rd-party-insurance', 'bind-insurance-policy']) {
    const asked = (amounts: object) => restCall(app.url, tool, { ...(tool.startsWith('bind') ? { underwriter_id: ID } : {}), ...amounts })
    assert.equal((await asked({ amount: 0.1, amount_usdc: '0.100' })).status, 200)
    for (const amounts of [{}, { amount: 0.1, amount_usdc: '0.11' }, { amount: 0 }, { amount_usdc: '0.0' }])
      assert.equal((await asked(amounts)).body['code'], 'INPUT_SCHEMA_INVALID', JSON.stringify(amounts))
  }
  assert.equal((await ran('bind-insurance-policy', { underwriter_id: ID, amount: 100 }))['reason_code'], 'unknown_underwriter')
})

test('register, list, quote, bind, countersign, verify offline', async () => {
  const given = await UNDERWRITER.registration(app.url, now_s)
  const registered = await register(given)
  assert.deepEqual([registered.status, registered.body['status'], registered.body['vetted']], [201, 'registered', false])
  assert.deepEqual([registered.body['underwriter_id'], (await register(given)).status], [ID, 200])
  const directory = await fetch(`${app.url}/api/insurance/register`)
  const shown = (await directory.json()) as Record<string, unknown>
  assert.deepEqual([shown['count'], asList(shown['underwriters'])[0]?.['entry_hash']], [1, registered.body['entry_hash']])
  const known = { 'if-none-match': directory.headers.get('etag') ?? '' }
  assert.equal((await fetch(`${app.url}/api/insurance/register`, { headers: known })).status, 304)

  const listed = await ran('list-approved-insurers', { min_coverage_usdc: 50_000 })
  assert.deepEqual(asList(listed['insurers'])[0]?.['underwriter_id'], ID)
  const [quote] = asList((await ran('quote-3rd-party-insurance', { amount: 20_000 }))['quotes'])
  // 150 basis points of 20,000 USDC.
  assert.deepEqual([quote?.['underwriter_id'], quote?.['premium_minor']], [ID, '300000000'])

  const wish = { underwriter_id: ID, amount: 20_000, invoice_id: 'INV-7', policyholder_address: `0x${'7'.repeat(40)}` }
  const bound = await ran('bind-insurance-policy', wish)
  const certificate = bound['certificate'] as Record<string, unknown>
  assert.deepEqual([bound['status'], bound['created'], certificate['premium_minor']], ['PENDING_UNDERWRITER', true, '300000000'])
  const keys = await desk.file('keys.json', await (await fetch(`${app.url}/.well-known/xdr-1.json`)).json())
  const verify = async (document: unknown) => {
    const { code, stdout } = await desk.run(['verify', await desk.file('policy.json', document), '--keys', keys])
    const report = parsed(stdout)
    return [code, report['verified'], report['status_proved'], report['reason_code'], report['registrar_published']]
  }
  assert.deepEqual(await verify(certificate), [0, true, 'PENDING_UNDERWRITER', 'ok', true])
  assert.deepEqual(await verify({ ...certificate, status: 'BOUND' }), [1, false, 'PENDING_UNDERWRITER', 'status_not_proved', true])

  const { policy_id } = certificate
  const digest = String(bound['policy_digest'])
  const stranger = await insurer(generatePrivateKey()).countersign(certificate, digest)
  assert.equal((await posted('/api/insurance/countersign', { policy_id, signature: stranger })).body['code'], 'INSURANCE_REQUEST_INVALID')
  const signature = await UNDERWRITER.countersign(certificate, digest)
  const countersigned = await posted('/api/insurance/countersign', { policy_id, signature })
  assert.deepEqual([countersigned.status, at(countersigned.body, 'certificate', 'status')], [201, 'BOUND'])
  assert.equal((await posted('/api/insurance/countersign', { policy_id, signature })).status, 200)
  const again = await ran('bind-insurance-policy', wish)
  assert.deepEqual([again['status'], again['created']], ['BOUND', false])
  const fetched = (await (await fetch(String(again['certificate_url']))).json()) as Record<string, unknown>
  assert.deepEqual(fetched['certificate'], again['certificate'])
  assert.deepEqual(await verify(fetched), [0, true, 'BOUND', 'ok', true])
  const altered = { ...(again['certificate'] as object), premium_minor: '1' }
  assert.deepEqual(await verify(altered), [1, false, null, 'registrar_signature_invalid', true])
})

test('the entry that was signed last holds, and one for another place or time is refused', async () => {
  const one = insurer(generatePrivateKey())
  const entryOf = (change: Partial<Card> = {}) => one.registration(app.url, now_s - 50, change)
  assert.equal((await register(await entryOf())).status, 201)
  assert.equal((await register(await entryOf({ rate_bps: 1, issued_at: now_s - 51 }))).body['code'], 'INSURANCE_REQUEST_INVALID')
  assert.equal((await register(await entryOf({ rate_bps: 2, issued_at: now_s - 49 }))).status, 201)
  const refused: [Partial<Card>, string][] = [
    [{ origin: 'https://other.example' }, '/entry/origin'],
    [{ valid_until: now_s - 1 }, '/entry/valid_until'],
    [{ valid_until: now_s + 400 * 86_400 }, '/entry/valid_until'],
    [{ issued_at: now_s + 3_600 }, '/entry/issued_at'],
    [{ name: 'a<b' }, '/entry/name'],
    [{ name: 'safe\u202Eefas' }, '/entry/name'],
    [{ terms_uri: 'http://rueck.example/' }, '/entry/terms_uri'],
    [{ jurisdictions: [] }, '/entry/jurisdictions'],
    [{ min_coverage_minor: '50000000001' }, '/entry/min_coverage_minor'],
  ]
  for (const [change, pointer] of refused) {
    const { status, body } = await register(await entryOf({ issued_at: now_s, ...change }))
    assert.deepEqual([status, body['code'], asList(body['errors'])[0]?.['pointer']], [400, 'INSURANCE_REQUEST_INVALID', pointer])
  }
  const { entry, signature } = await entryOf({ issued_at: now_s })
  const changed = await register({ entry: { ...entry, rate_bps: 0 }, signature })
  assert.equal(asList(changed.body['errors'])[0]?.['pointer'], '/signature')
})

test('what is no registration is refused in our own words', async () => {
  for (const body of [null, 7, [], {}, { entry: 1 }, { entry: {}, signature: 'zq7-canary' }, { entry: { 'zq7-canary': 1 } }]) {
    const { status, body: found } = await register(body)
    assert.deepEqual([status, found['code']], [400, 'INSURANCE_REQUEST_INVALID'])
    assert.ok(!JSON.stringify(found).includes('canary'))
  }
  assert.equal((await register('{')).body['code'], 'PARSE_ERROR')
  assert.equal((await register(JSON.stringify('a'.repeat(20_000)))).body['code'], 'PAYLOAD_TOO_LARGE')
  for (const body of [null, {}, { policy_id: `0x${'0'.repeat(32)}` }, { policy_id: `pol_${'0'.repeat(31)}`, signature: '0x' }]) {
    const { status, body: found } = await posted('/api/insurance/countersign', body)
    assert.deepEqual(
      [status, found['code'], asList(found['errors'])[0]?.['pointer']],
      [400, 'INSURANCE_REQUEST_INVALID', body === null ? '' : '/policy_id'],
    )
    // Whoever reads it knows what to send.
    if (body !== null && 'policy_id' in body) assert.match(String(found['detail']), /must be .* certificate: pol_ and 32 digits/)
  }
  const unknown = { policy_id: `pol_${'0'.repeat(32)}`, signature: `0x${'0'.repeat(130)}` }
  assert.equal((await posted('/api/insurance/countersign', unknown)).body['code'], 'POLICY_NOT_FOUND')
  assert.equal((await fetch(`${app.url}/api/insurance/policies/pol_1`)).status, 404)
})

test('a full directory says so, and so does its page', async () => {
  const parts = app.running.app.deps.insurance
  for (const full of ['full', 'unproven_full'] as const) {
    const insurance = { ...parts.insurance, register: () => Promise.resolve(full) }
    const registration = await insurer(generatePrivateKey()).registration(app.url, now_s)
    const end = await registerUnderwriter({ ...parts, insurance }, registration, '127.0.0.1')
    assert.equal(end.ok ? null : end.problem.code, 'INSURANCE_DIRECTORY_FULL')
  }
  const { errors } = (await (await fetch(`${app.url}/.well-known/x402-errors.json`)).json()) as { errors: { code: string }[] }
  const listed = new Set(errors.map(({ code }) => code))
  assert.deepEqual(
    Object.keys(RECORD_PROBLEMS).filter((code) => !listed.has(code)),
    [],
  )
})

test('a client may write so often, others go on', async () => {
  const codes: unknown[] = []
  for (let call = 0; call < 31; call++) codes.push((await posted('/api/insurance/register', {}, '10.9.9.9')).body['code'])
  assert.deepEqual([codes[29], codes[30]], ['INSURANCE_REQUEST_INVALID', 'INSURANCE_RATE_LIMITED'])
  assert.equal((await posted('/api/insurance/register', {}, '10.9.9.8')).body['code'], 'INSURANCE_REQUEST_INVALID')
})

test('a dispute of another body under the same id is a conflict, which costs nothing', async () => {
  const { receipt } = (await restCall(app.url, 'iban-check', { iban: 'GB29 NWBK 6016 1331 9268 19' })).body as { receipt: object }
  const file = (claim: string) => restCall(app.url, 'dip-file-dispute', { dispute_id: 'D-1', receipt, claim })
  const first = await file('OUTPUT_MISMATCH')
  assert.deepEqual([first.status, at(first.body, 'result', 'rule'), at(first.body, 'result', 'remedy')], [200, 'DIP-O4', 'none'])
  const second = await file('TIMEOUT_UNDELIVERED')
  assert.deepEqual([second.status, second.body['code'], second.body['charged']], [409, 'DISPUTE_CONFLICT', false])
})
