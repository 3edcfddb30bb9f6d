import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mock } from 'node:test'
import { keccak256, toHex } from 'viem'
import { PROBLEMS, type ProblemCode } from '../../src/service/problems.ts'
import { limits } from '../../src/service/limits.ts'
import { startAnvil } from './anvil.ts'
import { call, INPUT, read, signed, TOOL, v2, type Answered } from './paying-calls.ts'
import { startLiveWorld, type World } from './paying-world.ts'
import { headersOf, readRequired, signTerms, termsOf } from './paying.ts'
import { until } from './until.ts'

/** The code of the official packages: what they have a word for, stands there. */
const OFFICIAL = globSync('test/official-clients/node_modules/{@x402/evm/dist/esm/**/*.mjs,x402/dist/esm/**/*.mjs}')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

/** What a problem says to a program: the word of the facilitators, what it is, and when it is worth another try. */
export function assertWords(code: string, { status, headers, body }: Answered, word: string | null): void {
  assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8')
  assert.equal(body['status'], status)
  assert.equal(body['invalid_reason'] ?? null, word)
  if (word !== null) assert.ok(OFFICIAL.includes(`"${word}"`), `no facilitator says ${word}`)
  const kind = PROBLEMS[code as ProblemCode]
  assert.deepEqual([body['phase'], body['retryable'], body['title']], [kind.phase, kind.retryable, kind.title])
  // Another try at a 402 is another payment, or the same once the payer has changed something; no clock tells when.
  if (kind.retryable && status !== 402) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  if (!kind.retryable) assert.equal(headers.get('retry-after'), null)
}

/** The terms of a refusal are those of the plain 402 but for the reason, in both generations. */
export async function assertTerms(world: World, { headers, body }: Answered): Promise<void> {
  const plain = await termsOf(world.url, TOOL, INPUT)
  const required = readRequired(headers.get('payment-required') ?? '')
  const [entry] = plain.accepts
  const [found] = required.accepts
  const { pay_to } = world.chain
  // A world apart has another recipient, but the same token on the same chain, at the same price.
  assert.deepEqual({ ...found, payTo: pay_to }, { ...entry, payTo: pay_to })
  assert.match(found.payTo, /^0x[0-9a-fA-F]{40}$/)
  assert.equal(required.x402Version, 2)
  assert.equal(new URL(required.resource.url).pathname, `/v1/tools/${TOOL}/call`)
  assert.equal(body['x402Version'], 1)
  assert.equal(body['error'], required.error)
  // Version 1 says the same, under other names for the network and the amount, and with the resource inside.
  const { network: _, amount, ...same } = found
  const {
    network,
    maxAmountRequired,
    resource,
    description: __,
    mimeType,
    outputSchema: ___,
    ...v1
  } = asRecord((body['accepts'] as unknown[])[0])
  assert.deepEqual(v1, same)
  assert.deepEqual([network, maxAmountRequired, resource, mimeType], ['base-sepolia', amount, required.resource.url, 'application/json'])
}

function asRecord(value: unknown): Record<string, unknown> {
  return value as Record<string, unknown>
}

/** The public table of problems knows it, and so does its page. */
export async function assertListed({ url }: World, code: string, status: number): Promise<void> {
  const { errors } = (await read(`${url}/.well-known/x402-errors.json`)).body as { errors: { code: string; http_status: number }[] }
  assert.equal(errors.find((entry) => entry.code === code)?.http_status, status)
  assert.equal((await fetch(`${url}/problems/${code}`, { headers: { accept: 'application/json' } })).status, 200)
}

/** A service whose gas wallet has nothing, which is shown a good payment. */
export async function emptyGasWallet(own: World): Promise<Answered> {
  const { body } = await call(own.url, v2(await signed(own.url, await own.payer())))
  const { transaction } = body['settlement'] as { transaction: string }
  const { from } = (await own.chain.rpc('eth_getTransactionByHash', [transaction])) as { from: string }
  await own.chain.rpc('anvil_setBalance', [from, '0x0'])
  await until('the service sees that its wallet is empty', async () => !(await isReady(own)))
  return call(own.url, v2(await signed(own.url, await own.payer())))
}

async function isReady({ url }: World): Promise<boolean> {
  return ((await read(`${url}/health`)).body['payments'] as { ready: boolean }).ready
}

/**
 * A node goes away that was just seen to answer, and more payments come at once than may be looked up. The steady clock stands still meanwhile, so
 * that neither the budget grows back nor the node is asked anew whether it answers.
 */
export async function crowd(): Promise<Answered> {
  const anvil = await startAnvil()
  const own = await startLiveWorld({ anvil })
  const required = await termsOf(own.url, TOOL, INPUT)
  const { message, signature } = await signTerms(await own.payer(0n), required)
  const stands_ms = performance.now()
  const steady = mock.method(performance, 'now', () => stands_ms)
  try {
    assert.ok(await isReady(own))
    await anvil.stop()
    const nonces = Array.from({ length: limits.verification_round_trips_burst + 20 }, (_, index) => toHex(index, { size: 32 }))
    const answers = await Promise.all(nonces.map((nonce) => call(own.url, v2(headersOf(required, { ...message, nonce }, signature)))))
    const [silent, ...others] = answers.filter(({ body }) => body['code'] === 'UPSTREAM_RPC_UNAVAILABLE')
    const [busy, ...more] = answers.filter(({ body }) => body['code'] === 'VERIFICATION_BUSY')
    assert.ok(silent !== undefined && busy !== undefined)
    assert.deepEqual([others.length + 1, more.length + 1], [limits.verification_round_trips_burst, 20])
    assert.deepEqual([silent.status, silent.body['charged']], [503, false])
    assertWords('UPSTREAM_RPC_UNAVAILABLE', silent, 'unexpected_verify_error')
    return busy
  } finally {
    steady.mock.restore()
    await own.stop()
  }
}

/** The token's code with another name, and with the signing domain of that name. */
export function misnamed(code: string): string {
  const hash = (name: string) => keccak256(toHex(name)).slice(2)
  const found = code.replaceAll(hash('USDC'), hash('USDX')).replaceAll(toHex('USDC').slice(2), toHex('USDX').slice(2))
  assert.notEqual(found, code)
  return found
}
