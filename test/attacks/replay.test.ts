/** Attacks by what was good once, or elsewhere: notices of cards, credit codes, payments and receipts, against two real deployments. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { readKeyList } from '../../src/pure/receipts/keys.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { CREDIT_RULES } from '../../src/service/limits.ts'
import { ask, balance, event, notify, post, refund, session, startCreditApp, WEBHOOK_SECRET, type CreditApp } from '../support/credits.ts'
import { signTerms, termsOf, type Required } from '../support/paying.ts'

let one: CreditApp
let other: CreditApp
before(async () => {
  one = await startCreditApp('none', {}, { ASSAY_FREE_DAILY: '0' })
  other = await startCreditApp('none', {}, await otherSecret())
})
after(async () => {
  await one.stop()
  await other.stop()
})

/** The same settings with a webhook of its own. */
async function otherSecret(): Promise<Record<string, string>> {
  const path = join(one.data_dir, 'other-webhook.key')
  await writeFile(path, 'whsec_of_the_other\n', { mode: 0o600 })
  return { ASSAY_STRIPE_WEBHOOK_SECRET_FILE: path }
}

const SECRET = 's'.repeat(64)
const CLAIM = nobleCrypto.keccak256Hex(SECRET)
const now_s = Math.floor(Date.now() / 1_000)
const mac = (at: number | string, payload: string, secret = WEBHOOK_SECRET) =>
  createHmac('sha256', secret).update(`${at}.${payload}`).digest('hex')

async function deliver(app: CreditApp, payload: string, signature: string | null): Promise<number> {
  const headers: Record<string, string> = signature === null ? {} : { 'stripe-signature': signature }
  return (await ask(`${app.url}/api/credits/webhook`, { method: 'POST', body: payload, headers })).status
}

async function codeOf(app: CreditApp, id: string): Promise<unknown> {
  return (await post(`${app.url}/api/credits/code`, { session_id: id, secret: SECRET })).body['status']
}

// attack: forged, altered, old, future or repeated card notices, impossible amounts
// in: money and signatures
// asset: credits
// attacker: buyer
// defence: signature, time (past and future) and amount are checked; each payment credits once
test('a notice that Stripe did not sign for this deployment, for this text and now is refused, however its header is put', async () => {
  const payload = JSON.stringify(event('checkout.session.completed', session('forged', 10_000, CLAIM)))
  const another = JSON.stringify(event('customer.created', { id: 'cus_1', object: 'customer' }))
  const good = mac(now_s, payload)
  const old = now_s - CREDIT_RULES.notice_tolerance_s - 60
  const headers: (string | null)[] = [
    null,
    '',
    `t=${now_s}`,
    `t=${now_s},v1=`,
    `t=${now_s},v0=${good}`,
    `v1=${good}`,
    `t=,v1=${mac('', payload)}`,
    `t=NaN,v1=${mac('NaN', payload)}`,
    `t=${now_s},v1=${mac(now_s, another)}`,
    `t=${now_s},v1=${mac(now_s, payload, 'whsec_of_the_other')}`,
    `t=${now_s},v1=${mac(now_s, payload, '')}`,
    `t=${now_s},v1=${good.slice(0, -1)}`,
    `t=${now_s},v1=${good}0`,
    `t=${now_s},v1=${good.toUpperCase()}`,
    `t=${now_s + 1},v1=${good}`,
    `t=${old},v1=${mac(old, payload)}`,
    `t=${now_s},t=${old},v1=${mac(old, payload)}`,
    `t=${old},t=${now_s},v1=${mac(old, payload)}`,
    `t=${now_s},v1=${'0'.repeat(64)},v1=${'f'.repeat(64)}`,
    `t=${now_s},v1=__proto__,constructor=1`,
  ]
  for (const header of headers) assert.equal(await deliver(one, payload, header), 400, String(header))
  assert.equal(await deliver(other, payload, `t=${now_s},v1=${good}`), 400)
  for (const text of [`${payload} `, payload.replace('10000', '99999'), '{}', '[]', 'null', '']) {
    assert.equal(await deliver(one, text, `t=${now_s},v1=${good}`), 400, text.slice(0, 20))
  }
  assert.equal(await codeOf(one, 'cs_test_forged'), 'waiting')
  // While its secret is being rolled, Stripe sends the signatures of both.
  assert.equal(await deliver(one, payload, `t=${now_s},v1=${'0'.repeat(64)},v1=${good}`), 200)
  assert.equal(await codeOf(one, 'cs_test_forged'), 'ready')
})

// attack: forged, altered, old, future or repeated card notices, impossible amounts
test('a notice that is sent again, at once and under other names, credits and takes back once', async () => {
  const paid = event('checkout.session.completed', session('again', 2_000, CLAIM))
  const renamed = Array.from({ length: 5 }, () => event('checkout.session.completed', session('again', 2_000, CLAIM)))
  const sent = await Promise.all([...Array.from({ length: 15 }, () => paid), ...renamed].map((notice) => notify(one.url, notice)))
  assert.ok(sent.every(({ status }) => status === 200))
  const { body } = await post(`${one.url}/api/credits/code`, { session_id: 'cs_test_again', secret: SECRET })
  const granted = async () => (await balance(one.url, String(body['code']))).body
  assert.equal((await granted())['granted'], '20000000')
  await Promise.all(Array.from({ length: 10 }, () => notify(one.url, event('charge.refunded', refund('again', 500)))))
  assert.deepEqual([(await granted())['available'], (await granted())['reversed']], ['15000000', '5000000'])
  // An older sum of refunds that comes late gives nothing back.
  await notify(one.url, event('charge.refunded', refund('again', 200)))
  assert.ok(BigInt(String((await granted())['available'])) <= 15_000_000n)
})

// attack: trying codes
// in: money and signatures
// asset: credits
// attacker: client
// defence: wrong codes are rate limited for each client
test('codes are not found by trying, and one deployment’s code is nothing at another', async () => {
  await notify(one.url, event('checkout.session.completed', session('mine', 500, CLAIM)))
  const { body } = await post(`${one.url}/api/credits/code`, { session_id: 'cs_test_mine', secret: SECRET })
  const code = String(body['code'])
  const asked = (app: CreditApp, given: string, client: string) =>
    ask(`${app.url}/api/credits/balance`, { headers: { 'x-credit': given, 'x-forwarded-for': client } })
  assert.equal((await asked(one, code, '198.51.100.1')).status, 200)
  assert.notEqual((await asked(other, code, '198.51.100.1')).status, 200)
  const statuses: number[] = []
  for (let tries = 0; tries <= CREDIT_RULES.wrong_codes_per_minute * 2; tries++)
    statuses.push((await asked(one, `ac_${tries}`, '198.51.100.2')).status)
  assert.ok(statuses.includes(429))
  assert.ok(!statuses.includes(200))
  assert.equal((await asked(one, code, '198.51.100.3')).status, 200)
})

/** The terms, changed; they are signed as they then stand. */
async function payingFor(app: CreditApp, change: (required: Required) => void): Promise<Record<string, unknown>> {
  const required = await termsOf(app.url, 'iban-check', { iban: 'GB82WEST12345698765432' })
  change(required)
  const { v2 } = await signTerms(privateKeyToAccount(generatePrivateKey()), required)
  const headers = { 'payment-signature': v2, 'x-forwarded-for': `198.51.100.${50 + (Math.floor(performance.now()) % 100)}` }
  const { body } = await post(`${app.url}/v1/tools/iban-check/call`, { input: { iban: 'GB82WEST12345698765432' } }, headers)
  return body
}

// attack: another network, token, payee or price
// in: money and signatures
// asset: income
// attacker: payer
// defence: compared with the terms before the chain is asked
test('a payment for another network, token, payee or price is refused', async () => {
  const changes: Record<string, (required: Required) => void> = {
    'another network': ({ accepts: [terms] }) => void Object.assign(terms, { network: 'eip155:8453' }),
    'a network that is none': ({ accepts: [terms] }) => void Object.assign(terms, { network: 'eip155:1' }),
    'another token': ({ accepts: [terms] }) => void Object.assign(terms, { asset: `0x${'9'.repeat(40)}` }),
    'another payee': ({ accepts: [terms] }) => void Object.assign(terms, { payTo: `0x${'9'.repeat(40)}` }),
    'a smaller price': ({ accepts: [terms] }) => void Object.assign(terms, { amount: '1' }),
    'another token name': ({ accepts: [terms] }) => void Object.assign(terms.extra, { name: 'Bridged USDC' }),
  }
  for (const [name, change] of Object.entries(changes)) {
    const body = await payingFor(one, change)
    // Prices move, so the chain is asked whether it was paid before; these deployments cannot read theirs.
    const refused = name === 'a smaller price' ? [503, 'unknown'] : [402, false]
    assert.deepEqual([body['status'], body['charged']], refused, `${name} ${String(body['code'])}`)
    assert.equal(body['result'], undefined, name)
  }
})

// attack: authorizations and acts replayed on another network or deployment
// attack: a receipt altered, of another signer, or of a revoked key
test('a receipt of one deployment is none of the other’s, and its log takes no stranger’s', async () => {
  const answer = await post(
    `${other.url}/v1/tools/luhn-check/call`,
    { input: { number: '4242424242424242' } },
    { 'x-forwarded-for': '198.51.100.9' },
  )
  const { receipt } = answer.body as { receipt: Record<string, unknown> }
  const handed = (app: CreditApp, given: unknown) => post(`${app.url}/log/entries`, { receipt: given })
  assert.equal((await handed(other, receipt)).status, 202)
  for (const [app, given] of [
    [one, receipt],
    [other, { ...receipt, tier: 'paid' }],
    [other, { ...receipt, signer: `0x${'9'.repeat(40)}` }],
  ] as const) {
    const refused = await handed(app, given)
    assert.deepEqual([refused.status, refused.body['code']], [422, 'LOG_RECEIPT_REFUSED'])
  }
  const keysOf = async (app: CreditApp) => {
    const keys = readKeyList((await ask(`${app.url}/.well-known/xdr-1.json`)).body)
    assert.ok(keys !== null)
    return keys
  }
  const judged = async (app: CreditApp) => verifyReceipt(receipt, await keysOf(app))
  assert.deepEqual([(await judged(other)).valid, (await judged(other)).signer_published], [true, true])
  assert.deepEqual([(await judged(one)).valid, (await judged(one)).signer_published], [true, false])
})
