/** A settled payment is public: whoever reads it on the chain gets neither the answer nor a hint at the input that it paid for. */
// attack: a payment header rebuilt from the chain, inputs tried until one fits
// in: money and signatures
// asset: paid answers
// attacker: reader of the chain
// defence: the network of the first request or a secret that never was on chain; one refusal for any input

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { decodeFunctionData, parseAbi, serializeSignature, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import { dataOf, asking, connectA2a, taskFor } from '../support/a2a.ts'
import type { Authorization } from '../support/authorization.ts'
import { contract } from '../support/contracts.ts'
import { call, INPUT, read, signed, statusUrl, TOOL, v2, type Answered } from '../support/paying-calls.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { headersOf, termsOf, withIdentifier, type Signed } from '../support/paying.ts'
import { type Challenge, signIn } from '../support/sign-in.ts'

const PAYER = '198.51.100.7'
const NEIGHBOUR = '198.51.100.200'
const OTHER = { iban: 'DE89 3704 0044 0532 0130 00' }
/** Official example of ISO 13616 for Germany, and inputs that a guesser may try. */
const WRONG = [OTHER, { iban: 'FR14 2004 1010 0505 0001 3M02 606' }, { iban: 'nothing like one' }]
const SINGLE = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'])
const HOUR_MS = 3_600_000

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

let strangers = 0
/** A client of a network of its own. */
function elsewhere(): string {
  strangers += 1
  return `203.${strangers >> 8}.${strangers & 255}.9`
}

interface Bought {
  payer: PrivateKeyAccount
  payment: Signed
  text: string
}

/** A call that was paid from the network of the payer, with the payment-identifier id where one is given. */
async function buy(identifier?: string): Promise<Bought> {
  const payer = await world.payer()
  const payment = await signed(world.url, payer)
  const answer = await call(world.url, identifier === undefined ? v2(payment) : withIdentifier(payment.v2, identifier), { client: PAYER })
  assert.equal(answer.status, 200, answer.text)
  return { payer, payment, text: answer.text }
}

/** The payment as the chain shows it, without a byte of what the payer sent to the service. */
async function rebuilt({ payment }: Bought): Promise<Signed> {
  const status = (await read(statusUrl(world.url, payment))).body
  const transaction = (await world.chain.rpc('eth_getTransactionByHash', [status['transaction']])) as { input: Hex }
  const { message, v, r, s } = transferIn(transaction.input)
  const signature = serializeSignature({ r, s, yParity: v - 27 })
  const required = await termsOf(world.url, TOOL, OTHER)
  return { message, signature, ...headersOf(required, message, signature) }
}

function transferIn(data: Hex): { message: Authorization; v: number; r: Hex; s: Hex } {
  try {
    const { args } = decodeFunctionData({ abi: SINGLE, data })
    const [from, to, value, validAfter, validBefore, nonce, v, r, s] = args
    return { message: { from, to, value, validAfter, validBefore, nonce }, v, r, s }
  } catch {
    const { args } = decodeFunctionData({ abi: contract('batch-settler').abi, data })
    const [, [item]] = args as unknown as [Hex, [Authorization & { v: number; r: Hex; s: Hex }]]
    const { v, r, s, ...message } = item
    return { message, v, r, s }
  }
}

/** Everything that a caller sees, but for what differs from one answer to the next. */
function shown({ status, headers, body }: Answered): unknown {
  const { request_id: _id, instance: _instance, extensions: _challenge, ...members } = body
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
  return { status, headers: kept, members, length: JSON.stringify(body).length }
}

function assertRefused(answer: Answered): void {
  assert.deepEqual([answer.status, answer.body['code'], answer.body['charged']], [409, 'PAYMENT_ALREADY_USED', true], answer.text)
  for (const way of ['X-ANSWER-TOKEN', 'payment-identifier', 'SIGN-IN-WITH-X']) assert.ok(String(answer.body['detail']).includes(way))
}

test('from another network the rebuilt payment opens nothing, and the right input is refused like a wrong one', async () => {
  const chain = await rebuilt(await buy())
  const client = elsewhere()
  const right = await call(world.url, v2(chain), { client })
  assertRefused(right)
  assert.equal(right.headers.get('payment-required'), null)
  for (const input of WRONG) assert.deepEqual(shown(await call(world.url, v2(chain), { client, input })), shown(right))
  // Another tool, the header of version 1, and more tries than a guesser of wrong inputs has.
  assert.deepEqual(
    shown(await call(world.url, v2(chain), { client, tool: 'lei-check', input: { lei: '5493001KJTIIGC8Y1R12' } })),
    shown(right),
  )
  assert.deepEqual(shown(await call(world.url, { 'x-payment': chain.v1 }, { client })), shown(right))
  for (let times = 0; times < 12; times += 1)
    assert.deepEqual(shown(await call(world.url, v2(chain), { client, input: OTHER })), shown(right))
  assert.deepEqual(shown(await call(world.url, v2(chain), { client })), shown(right))
})

test('two real networks of the loopback interface are told apart in the same way', { skip: process.platform !== 'linux' }, async () => {
  const payment = await signed(world.url, await world.payer())
  const from = (localAddress: string, input: unknown = INPUT) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...v2(payment), 'content-type': 'application/json' }
      const sent = request(`${world.url}/v1/tools/${TOOL}/call`, { method: 'POST', localAddress, headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      sent.on('error', reject)
      sent.end(JSON.stringify({ input }))
    })
  assert.equal(await from('127.1.0.1'), 200)
  assert.deepEqual([await from('127.2.0.1'), await from('127.2.0.1', OTHER)], [409, 409])
  assert.equal(await from('127.1.0.77'), 200)
})

test('MCP and A2A refuse the rebuilt payment in the same words, whatever the input', async () => {
  const chain = await rebuilt(await buy())
  const payment: unknown = JSON.parse(Buffer.from(chain.v2, 'base64').toString())
  const mcp = async (input: unknown) => {
    const params = { name: TOOL, arguments: input, _meta: { 'x402/payment': payment } }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'x-forwarded-for': elsewhere() }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const text = await (await fetch(`${world.url}/mcp`, { method: 'POST', headers, body })).text()
    assert.ok(text.includes('PAYMENT_ALREADY_USED') && !text.includes('verdict'), text)
    return text.length
  }
  assert.equal(await mcp(INPUT), await mcp(OTHER))
  const client = await connectA2a(world.url)
  for (const input of [INPUT, OTHER]) {
    // From the loopback address itself, which is another network than that of the payer.
    const task = await taskFor(client, asking({ tool: TOOL, input }, { metadata: { 'x402.payment.payload': payment } }))
    assert.deepEqual([dataOf(task)['code'], task.artifacts], ['PAYMENT_ALREADY_USED', []])
  }
})

test('the network of the first request is answered again for 24 hours, and then refused like any other', async () => {
  const bought = await buy()
  for (const client of [PAYER, NEIGHBOUR]) assert.equal((await call(world.url, v2(bought.payment), { client })).text, bought.text)
  assert.equal((await call(world.url, v2(await rebuilt(bought)), { client: NEIGHBOUR })).text, bought.text)
  await aged(bought, 24 * HOUR_MS - 60_000)
  assert.equal((await call(world.url, v2(bought.payment), { client: PAYER })).text, bought.text)
  await aged(bought, 60_000)
  assertRefused(await call(world.url, v2(bought.payment), { client: PAYER }))
  // The job that forgets answers forgets the network too.
  await world.payments.purge_payments(Date.now(), 0)
  assert.equal((await world.payments.find(keyOf(bought)))?.network_hash, null)
})

test('a guesser inside the network of the payer has ten wrong inputs an hour, and then the right one is refused as well', async () => {
  const bought = await buy()
  const guess = (input: unknown, client = NEIGHBOUR) => call(world.url, v2(bought.payment), { client, input })
  for (let times = 0; times < 10; times += 1) assert.equal((await guess(OTHER)).body['code'], 'NONCE_BOUND')
  for (const input of [OTHER, INPUT])
    assert.deepEqual([(await guess(input)).status, (await guess(input)).body['code']], [429, 'RATE_LIMITED'])
  assert.equal((await guess(INPUT, PAYER)).text, bought.text)
})

test('the id of the first request opens the answer from anywhere; another id does not', async () => {
  const id = randomBytes(16).toString('hex')
  const bought = await buy(id)
  const { v2: header } = await rebuilt(bought)
  assert.equal((await call(world.url, withIdentifier(header, id), { client: elsewhere() })).text, bought.text)
  const client = elsewhere()
  const wrong = withIdentifier(header, `${id.slice(1)}x`)
  for (let times = 0; times < 10; times += 1) assertRefused(await call(world.url, wrong, { client }))
  for (const headers of [wrong, withIdentifier(header, id)]) assert.equal((await call(world.url, headers, { client })).status, 429)
  // The answer is gone after its day: only who may have it is told so.
  world.sql((database) => database.exec('update payment_answer set expires_ms = 1'))
  assert.equal((await call(world.url, withIdentifier(header, id), { client: elsewhere() })).body['code'], 'ANSWER_EXPIRED')
  assertRefused(await call(world.url, v2(bought.payment), { client: elsewhere() }))
})

test('the answer token opens the answer from anywhere, beside the payment or by itself; another token does not', async () => {
  const bought = await buy()
  const secret = Buffer.from((await readFile(join(world.data_dir, 'secret.key'), 'utf8')).trim(), 'hex')
  const { payer, nonce } = keyOf(bought)
  const token = createSealer(secret).token(`${payer}:${nonce}`)
  assert.equal((await read(`${world.url}/v1/answers/${token}`)).text, bought.text)
  const again = (value: string, input: unknown = INPUT) =>
    call(world.url, { ...v2(bought.payment), 'x-answer-token': value }, { client: elsewhere(), input })
  assert.equal((await again(token)).text, bought.text)
  assert.equal((await again(token, OTHER)).body['code'], 'NONCE_BOUND')
  assertRefused(await again('0'.repeat(64)))
})

test('a fresh sign-in of the payer opens the answer from anywhere, once; nothing else that is signed does', async () => {
  const [bought, other] = [await buy(), await buy()]
  const send = (header: string) => call(world.url, { ...v2(bought.payment), 'sign-in-with-x': header }, { client: elsewhere() })
  const challenge = async ({ payment }: Bought) => {
    const { body } = await call(world.url, v2(payment), { client: elsewhere() })
    const { info, supportedChains } = (body['extensions'] as { 'sign-in-with-x': Challenge })['sign-in-with-x']
    assert.deepEqual(supportedChains, [{ chainId: 'eip155:84532', type: 'eip191' }])
    return info
  }
  const proof = await signIn(bought.payer, await challenge(bought))
  assert.equal((await send(proof)).text, bought.text)
  assertRefused(await send(proof))
  assertRefused(await send(await signIn(other.payer, await challenge(bought))))
  assertRefused(await send(await signIn(bought.payer, await challenge(other))))
  assertRefused(await send(await signIn(bought.payer, { ...(await challenge(bought)), domain: 'evil.example' })))
  const own_nonce = { ...(await challenge(bought)), nonce: randomBytes(16).toString('hex') }
  assertRefused(await send(await signIn(bought.payer, own_nonce)))
  for (const broken of ['e30=', 'what?', '']) assertRefused(await send(broken))
})

test('a stranger is given no token while the payment is on its way, and rows of older releases open by a secret alone', async () => {
  const bought = await buy()
  for (const state of ['settling', 'unknown']) {
    setRow(bought, `state = '${state}'`)
    const answer = await call(world.url, v2(bought.payment), { client: elsewhere() })
    assert.deepEqual([answer.body['code'], answer.body['charged']], ['PAYMENT_ALREADY_USED', 'unknown'])
    assert.ok(!answer.text.includes('/v1/answers/'))
  }
  setRow(bought, `state = 'settled', network_hash = null`)
  assertRefused(await call(world.url, v2(bought.payment), { client: PAYER }))
})

test('the public state of a payment names neither tool nor input', async () => {
  const bought = await buy()
  const { text, body } = await read(statusUrl(world.url, bought.payment))
  assert.equal(body['state'], 'settled')
  const row = world.sql((database) =>
    database.prepare('select input_hash, network_hash, token_hash from payment order by number desc').get(),
  )
  for (const secret of [TOOL, 'iban', String(row?.['input_hash']), String(row?.['network_hash']), String(row?.['token_hash'])])
    assert.ok(!text.includes(secret), text)
})

function keyOf({ payment }: Bought) {
  return { payer: payment.message.from.toLowerCase(), nonce: payment.message.nonce }
}

function setRow(bought: Bought, change: string): void {
  const { payer, nonce } = keyOf(bought)
  world.sql((database) => database.prepare(`update payment set ${change} where payer = ? and nonce = ?`).run(payer, nonce))
}

/** Moves the payment into the past. */
async function aged(bought: Bought, ms: number): Promise<void> {
  setRow(bought, `created_ms = created_ms - ${ms}`)
}
