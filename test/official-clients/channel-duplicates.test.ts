/**
 * The official client of batch-settlement, unmodified, behind a network that sends each paid request twice, as a proxy does that retries: each
 * call is charged once, and both copies get the same answer.
 */
// attack: a voucher or a deposit sent twice, to one instance or to two

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as apart } from 'node:timers/promises'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { CHANNEL_PLACES, type ChannelPlace } from '../support/channel-places.ts'
import { runs, SEED } from '../support/counts.ts'
import { asMembers } from '../support/documents.ts'
import { TOOL } from '../support/faults-buyer.ts'
import { witnessOf } from '../support/faults-live.ts'

const CALLS = 120
const ROUNDS = runs(4, 20)

/** Numbers from 0 to 1 in an order that is the same in each run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Copy {
  status: number
  text: string
}

/** Answers to the two copies of a paid request; `deposits` if it carried a deposit. */
interface Pair {
  copies: Promise<[Copy, Copy]>
  deposits: boolean
}

/** Sends each paid request twice, the second copy up to `apart_ms` later; the client gets the answer that comes first. */
function doubled({ urls }: Pick<ChannelPlace, 'urls'>, apart_ms: number, seed: number) {
  const random = createRandom(seed)
  const pairs: Pair[] = []
  const fetching: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const payment = request.headers.get('payment-signature')
    if (payment === null) return fetch(request)
    const [body, path] = [await request.text(), new URL(request.url).pathname]
    const send = (origin: string) => fetch(origin + path, { method: 'POST', headers: request.headers, body })
    const [one, other] = random() < 0.5 ? urls : urls.toReversed()
    const wait_ms = Math.floor(random() * (apart_ms + 1))
    const first = send(one ?? '')
    const second = apart(wait_ms).then(() => send(other ?? ''))
    const copied = async (sent: Promise<Response>): Promise<Copy> => {
      const response = (await sent).clone()
      return { status: response.status, text: await response.text() }
    }
    const { payload } = decodePaymentSignatureHeader(payment)
    pairs.push({ copies: Promise.all([copied(first), copied(second)]), deposits: payload['type'] === 'deposit' })
    return (await Promise.race([first, second])).clone()
  }
  return { pairs, fetch: fetching }
}

function clientOf(payer: PrivateKeyAccount, fetching: typeof fetch): typeof fetch {
  const scheme = new BatchSettlementEvmScheme({
    address: payer.address,
    signTypedData: (message: Parameters<PrivateKeyAccount['signTypedData']>[0]) => payer.signTypedData(message),
  })
  return wrapFetchWithPayment(fetching, new x402Client().register('eip155:*', scheme))
}

let inputs = 0
const callOf = (): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ input: { iban: `GB82 WEST 1234 5698 76${String(++inputs).padStart(4, '0')}` } }),
})

/** Calls one after the other, each sent twice; every pair is answered alike, and each call is charged once. */
async function assertCharged(place: ChannelPlace, calls: number, apart_ms: number, seed: number): Promise<void> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await place.fund(payer.address, 10_000_000n)
  const { pairs, fetch: fetching } = doubled(place, apart_ms, seed)
  const client = clientOf(payer, fetching)
  const before_minor = await place.charged()
  for (let call = 0; call < calls; call++) {
    const response = await client(`${place.urls[0]}/v1/tools/${TOOL}/call`, callOf())
    assert.equal(response.status, 200, await response.text())
  }
  const copies = await Promise.all(pairs.map((pair) => pair.copies))
  assert.equal(copies.length, calls)
  for (const [first, second] of copies) assert.deepEqual([first.status, second], [200, first])
  const answers = [...new Set(copies.map(([first]) => first.text))]
  assert.equal(answers.length, calls)
  const paid_minor = answers.map((text) => BigInt(String(asMembers(asMembers(JSON.parse(text))['settlement'])['amount_minor'])))
  assert.equal(
    (await place.charged()) - before_minor,
    paid_minor.reduce((sum, price_minor) => sum + price_minor),
  )
  const made = (await witnessOf(place).used(payer.address)).length
  assert.equal(made, pairs.filter(({ deposits }) => deposits).length)
}

describe('each paid request is sent twice', { timeout: 600_000 }, () => {
  for (const [name, open] of CHANNEL_PLACES) {
    test(`to ${name}`, async (t) => {
      const place = await open(t)
      await assertCharged(place, CALLS, 10, SEED)
      // The first call of a channel deposits, which takes until a block.
      for (let round = 0; round < ROUNDS; round++) await assertCharged(place, 2, 300, SEED + round)
    })
  }
})
