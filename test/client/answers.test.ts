/** What the client believes: free answers, terms and receipts, each also as a service or a hop in between would forge them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AssayError, createClient, verifyChain, type AssayClient, type Check, type ClientOptions } from '../../src/client/index.ts'
import { valueHash } from '../../src/pure/receipts/receipt.ts'
import { stranger } from '../support/paying-calls.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { startProxy, type Act, type Proxy } from './proxy.ts'
import { IMPATIENT, payingClient, spyOn } from './wallet.ts'

const INPUT = { iban: 'DE89 3704 0044 0532 0130 00' }
const LEI = { lei: '529900T8BM49AURSDO55' }
/** The example of ISO 6166. */
const ISIN = { isin: 'US0378331005' }
const PASS: Act = { kind: 'change', change: () => undefined }
const OTHER_HASH = `0x${'5'.repeat(64)}`

type Members = Record<string, unknown>

let world: World
let proxy: Proxy

before(async () => {
  // The free calls of one tool are counted apart, so that this world has paid and free calls.
  world = await startWorld({ free_daily: 0, settings: { ASSAY_FREE_DAILY_OVERRIDES: 'lei-check=3,isin-check=100' } })
  proxy = await startProxy(world.url)
})
after(async () => {
  await proxy.stop()
  await world.stop()
})

/** A client that nobody has met. */
function freeClient(more: Partial<ClientOptions> = {}): AssayClient {
  const from = stranger()
  const fetchAs: NonNullable<ClientOptions['fetch']> = (url, init) =>
    fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), 'x-forwarded-for': from } })
  return createClient({ url: world.url, fetch: fetchAs, clock: IMPATIENT, ...more })
}

async function failure(work: Promise<unknown>): Promise<AssayError> {
  const error: unknown = await work.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AssayError, String(error))
  return error
}

test('free calls need no wallet; looking at the allowance takes none; then a wallet is asked for', async () => {
  const client = freeClient()
  assert.equal((await client.allowance('lei-check'))?.remaining, 3)
  assert.equal((await client.dryRun('lei-check', LEI)).outcome, 'free')
  for (const remaining of [2, 1, 0]) {
    const answer = await client.call('lei-check', LEI)
    assert.deepEqual([answer.result['valid'], answer.tier, answer.allowance?.remaining], [true, 'free', remaining])
  }
  assert.equal((await client.allowance('lei-check'))?.remaining, 0)
  const { code, status, charged } = await failure(client.call('lei-check', LEI))
  assert.deepEqual([code, status, charged], ['PAYMENT_REQUIRED', 402, false])
})

test('three calls make a chain that verifies offline, and breaks when one is taken out or changed', async () => {
  const client = freeClient()
  for (let call = 0; call < 3; call++) await client.call('lei-check', LEI)
  const chain = client.chain.export()
  const keys = ((await (await fetch(`${world.url}/.well-known/xdr-1.json`)).json()) as { keys: unknown[] }).keys
  assert.deepEqual(verifyChain(chain, keys), { valid: true, line: true, length: 3, fault: null })
  assert.equal(client.chain.head, chain.entries[2]?.receipt_hash)
  const [first, second, third] = chain.entries
  assert.ok(first !== undefined && second !== undefined && third !== undefined)
  const fault = (entries: unknown[]) => verifyChain({ ...chain, entries }, keys).fault
  assert.deepEqual(fault([first, third]), { index: 1, code: 'follows_nothing' })
  assert.deepEqual(fault([first, third, second]), { index: 1, code: 'follows_nothing' })
  assert.deepEqual(fault([{ ...first, receipt: { ...first.receipt, amount: '1' } }, second]), { index: 0, code: 'receipt_invalid' })
  assert.deepEqual(fault([first, { ...second, receipt_hash: OTHER_HASH }]), { index: 1, code: 'hash_mismatch' })
  assert.deepEqual(fault([first, { ...second, link: third.link }]), { index: 1, code: 'link_invalid' })
  assert.equal(verifyChain(chain, []).fault?.code, 'key_unknown')
  assert.equal(verifyChain('no chain', keys).fault?.code, 'not_a_chain')
  // A client that goes on where another ended.
  const next = freeClient({ previous_receipt: third.receipt_hash })
  assert.equal((await next.call('lei-check', LEI)).chain?.prev_receipt_hash, third.receipt_hash)
  assert.equal(verifyChain(next.chain.export(), keys).line, true)
})

test('a brief answer names the hashes of the whole one, which is fetched by its link and verified', async () => {
  const signer = spyOn(await world.payer())
  const client = payingClient(world.url, signer, { detail: 'brief' })
  const brief = await client.call('iban-check', INPUT)
  assert.deepEqual([brief.headline.word, brief.price.tier, brief.payment?.nonce], ['valid', 'paid', signer.signed[0]?.nonce])
  assert.equal(client.chain.head, null)
  // As JSON, in another process, without a wallet.
  const stored = JSON.parse(JSON.stringify(brief)) as typeof brief
  const whole = await createClient({ url: world.url }).whole(stored)
  assert.deepEqual([whole.verification.ok, whole.result['valid'], whole.payment], [true, true, brief.payment])
  assert.deepEqual([whole.receipt_hash, whole.receipt.output_hash], [brief.receipt_digest, brief.output_hash])
  assert.equal(valueHash(whole.result), brief.output_hash)
  assert.equal((await client.whole(brief)).receipt_hash, client.chain.head)
  const second = await client.call('iban-check', INPUT, { detail: 'standard' })
  assert.deepEqual([second.chain?.prev_receipt_hash, signer.signed.length], [whole.receipt_hash, 2])
  const free = await freeClient().call('isin-check', ISIN, { detail: 'brief' })
  assert.deepEqual([free.price, free.payment], [{ tier: 'free', amount_minor: '0', method: null }, null])
  assert.equal((await freeClient().whole(free)).receipt_hash, free.receipt_digest)
})

test('a brief answer that names another result, tool or price is refused, and so is one that is not stored', async () => {
  const client = freeClient()
  const brief = await client.call('isin-check', ISIN, { detail: 'brief' })
  for (const change of [{ output_hash: OTHER_HASH }, { receipt_digest: OTHER_HASH }, { input_hash: OTHER_HASH }, { tool: 'lei-check' }])
    assert.equal((await failure(client.whole({ ...brief, ...change }))).code, 'RECEIPT_INVALID', Object.keys(change)[0])
  assert.deepEqual(client.chain.entries, [])
  assert.equal((await failure(client.whole({ ...brief, answer_url: null }))).code, 'NOT_STORED')
  assert.equal((await failure(client.whole({ ...brief, answer_url: `https://x.example/v1/answers/${'0'.repeat(64)}` }))).status, 404)
  assert.equal((await failure(client.whole({ ...brief, output_hash: 'x' }))).code, 'BAD_OPTIONS')
  // A tool that is free without limit is not stored.
  const unlimited = await client.call('receipt-verify', { receipt: {} }, { detail: 'brief' })
  assert.equal((await failure(client.whole(unlimited))).code, 'NOT_STORED')
  assert.throws(() => createClient({ url: world.url, detail: 'short' as 'brief' }), { code: 'BAD_OPTIONS' })
  const signer = spyOn(await world.payer())
  const paying = payingClient(proxy.url, signer, { detail: 'brief' })
  const lies: ((body: Members) => void)[] = [
    (body) => (body['tool'] = 'lei-check'),
    (body) => (body['price'] = { tier: 'paid', amount_minor: '1', method: null }),
  ]
  for (const change of lies) {
    proxy.plan(PASS, { kind: 'change', change })
    const { code, charged, payment } = await failure(paying.call('iban-check', INPUT))
    assert.deepEqual([code, charged, payment?.nonce], ['BAD_RESPONSE', 'unknown', signer.signed.at(-1)?.nonce])
  }
  // A service that does not know brief answers.
  const whole = JSON.stringify(await client.call('isin-check', ISIN))
  proxy.plan(PASS, { kind: 'instead', status: 200, body: whole })
  const old = await failure(paying.call('iban-check', INPUT))
  assert.deepEqual([old.code, old.charged], ['BAD_RESPONSE', 'unknown'])
  assert.ok(old.payment !== null)
  assert.equal((await paying.resume(old.payment)).verification.ok, true)
})

test('an answer that was changed on its way is thrown, not returned', async () => {
  const signer = spyOn(await world.payer())
  const of = (name: string) => (body: Members) => body[name] as Members
  const [receipt, settlement, result, chain] = ['receipt', 'settlement', 'result', 'chain'].map(of)
  assert.ok(receipt !== undefined && settlement !== undefined && result !== undefined && chain !== undefined)
  const changes: ['free' | 'paid', Check['name'], (body: Members) => void][] = [
    ['free', 'signature', (body) => (receipt(body)['signature'] = `0x${'1'.repeat(128)}1b`)],
    ['free', 'signature', (body) => (receipt(body)['ts'] = 1)],
    ['free', 'result', (body) => (result(body)['valid'] = false)],
    ['free', 'result', (body) => (result(body)['more'] = '\ud800')],
    ['free', 'link', (body) => (chain(body)['prev_receipt_hash'] = `0x${'6'.repeat(64)}`)],
    ['free', 'link', (body) => delete body['chain']],
    ['free', 'payment', (body) => (body['tier'] = 'paid')],
    ['paid', 'settlement', (body) => (settlement(body)['amount_minor'] = '1')],
    ['paid', 'settlement', (body) => (body['settlement'] = null)],
  ]
  for (const [tier, name, change] of changes) {
    const client = payingClient(proxy.url, signer)
    const tool = tier === 'free' ? 'isin-check' : 'iban-check'
    proxy.plan(...(tier === 'free' ? [] : [PASS]), { kind: 'change', change })
    const error = await failure(client.callUntyped(tool, tier === 'free' ? ISIN : INPUT, { previous_receipt: OTHER_HASH }))
    const faults = error.answer?.verification.checks.filter(({ ok }) => !ok).map((check) => check.name) ?? []
    assert.deepEqual([error.code, faults.includes(name)], ['RECEIPT_INVALID', true], name)
    assert.deepEqual([error.charged, error.payment === null], tier === 'free' ? [false, true] : ['unknown', false])
    assert.deepEqual(client.chain.entries, [])
  }
})

test('an honest answer to another call is no answer to this one', async () => {
  const mine = await freeClient().call('lei-check', LEI)
  const { receipt, result, embeddable_badge, proof_summary_markdown } = mine
  const body = JSON.stringify({
    receipt,
    result,
    tier: 'free',
    settlement: null,
    allowance: null,
    embeddable_badge,
    proof_summary_markdown,
  })
  proxy.plan({ kind: 'instead', status: 200, body })
  const { answer } = await failure(createClient({ url: proxy.url }).call('iban-check', INPUT))
  const faults = answer?.verification.checks.filter(({ ok }) => !ok).map(({ name }) => name)
  assert.deepEqual(faults, ['tool', 'input'])
})

test('a key that is pinned and not the one that signs is refused; a pinned one is believed without asking', async () => {
  const stranger_key = `0x${'7'.repeat(40)}`
  const error = await failure(freeClient({ keys: [stranger_key] }).call('lei-check', LEI))
  assert.equal(error.answer?.verification.checks.find(({ ok }) => !ok)?.name, 'key')
  const { signing_address } = (await (await fetch(`${world.url}/.well-known/xdr-1.json`)).json()) as { signing_address: string }
  const asked = proxy.others.length
  const signer = spyOn(await world.payer())
  const pinned = { keys: [signing_address], pay_to: world.chain.pay_to, chain_id: 84532 } as const
  await payingClient(proxy.url, signer, pinned).call('iban-check', INPUT)
  assert.equal(proxy.others.length, asked)
})

/** The first entry of the terms. */
function entry(required: Members): Members {
  return (required['accepts'] as Members[])[0] ?? {}
}

const FORGED: [string, (required: Members) => void][] = [
  ['version', (required) => (required['x402Version'] = 1)],
  ['scheme', (required) => (entry(required)['scheme'] = 'upto')],
  ['network', (required) => (entry(required)['network'] = 'eip155:8453')],
  ['asset', (required) => (entry(required)['asset'] = `0x${'8'.repeat(40)}`)],
  ['recipient', (required) => (entry(required)['payTo'] = `0x${'8'.repeat(40)}`)],
  ['domain', (required) => (entry(required)['extra'] = { name: 'USD Coin', version: '2' })],
  ['flow', (required) => (entry(required)['extra'] = { name: 'USDC', version: '2', paymentFlow: 'upfront' })],
  ['amount as number', (required) => (entry(required)['amount'] = 5_000)],
  ['amount with a sign', (required) => (entry(required)['amount'] = '-5000')],
  ['no amount', (required) => (entry(required)['amount'] = '0')],
  ['window', (required) => (entry(required)['maxTimeoutSeconds'] = 86_400)],
  ['other call', (required) => (required['resource'] = { url: 'https://assay.example/v1/tools/lei-check/call' })],
  ['nothing offered', (required) => (required['accepts'] = [])],
]

test('terms that are not those of the service and the call are not signed', async () => {
  const signer = spyOn(await world.payer())
  const client = payingClient(proxy.url, signer)
  for (const [name, change] of FORGED) {
    const act: Act = { kind: 'terms', change }
    proxy.plan(act)
    const { code, charged } = await failure(client.call('iban-check', INPUT))
    assert.deepEqual([code, charged], ['TERMS_REFUSED', false], name)
  }
  proxy.plan({ kind: 'terms', change: (required) => (entry(required)['amount'] = '50001') })
  assert.equal((await failure(client.call('iban-check', INPUT))).code, 'ABOVE_CALL_CAP')
  const elsewhere = payingClient(proxy.url, signer, { pay_to: `0x${'9'.repeat(40)}` })
  assert.equal((await failure(elsewhere.call('iban-check', INPUT))).code, 'TERMS_REFUSED')
  assert.deepEqual([signer.signed, client.spending()?.signed_usdc], [[], '0'])
})

test('options and inputs that make no sense are refused before anything is sent', async () => {
  const signer = spyOn(await world.payer(0n))
  const made = (options: Partial<ClientOptions>) => () => createClient({ url: world.url, ...options })
  const cap = { per_call_usdc: '0.05', session_usdc: '1' }
  const bad: Partial<ClientOptions>[] = [
    { url: 'ftp://assay.example' },
    { url: 'https://user:secret@assay.example' },
    { signer },
    { spend_cap: cap },
    { signer, spend_cap: { ...cap, session_usdc: '1e3' } },
    { signer, spend_cap: { ...cap, per_call_usdc: '0.0000001' } },
    { keys: [] },
    { keys: ['0x12'] },
    { pay_to: 'somebody' },
    { previous_receipt: '0x12' },
  ]
  for (const options of bad) assert.throws(made(options), { code: 'BAD_OPTIONS' }, JSON.stringify(options))
  const client = createClient({ url: world.url })
  assert.equal((await failure(client.callUntyped('iban-check', { iban: Number.NaN }))).code, 'INPUT_NOT_JSON')
  assert.equal((await failure(client.callUntyped('../health', {}))).code, 'BAD_OPTIONS')
  assert.equal((await failure(client.resume({} as never))).code, 'BAD_OPTIONS')
})
