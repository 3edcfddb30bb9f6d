/**
 * Any order of calls, copies of calls, deposits and refunds on one payment channel, while what was charged is claimed all the time: each voucher
 * is charged once, every copy of a request gets the one answer, and the ledger adds up with the chain.
 */
// attack: a voucher or a deposit sent twice, to one instance or to two
// in: money and signatures
// asset: payment channels
// attacker: client
// defence: one conditional write charges it; the other copy gets the stored answer

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as apart } from 'node:timers/promises'
import fc from 'fast-check'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { restCall } from '../support/app.ts'
import { CHANNEL_PLACES, type ChannelPlace } from '../support/channel-places.ts'
import { channelFor, type PayingChannel, SETTLEMENT } from '../support/channels.ts'
import { runs, SEED } from '../support/counts.ts'
import { asMembers } from '../support/documents.ts'
import { held } from '../support/paying.ts'
import { until } from '../support/until.ts'

const TOOL = 'iban-check'
const BALANCE_MINOR = 1_000_000n
/** Claims as soon as they are searched, so that they come between all other steps. */
const START = { rules: { channels: { claim_every_ms: 0, search_every_ms: 50 } } }

/** Copies of one request: where each is sent, and after how many ms. */
const copies = fc.array(fc.record({ at: fc.constantFrom(0, 1), after_ms: fc.integer({ min: 0, max: 30 }) }), { minLength: 2, maxLength: 4 })

/** Acts that run concurrently: a call, paid with a deposit or not, a refund, and an earlier request once more. */
const step = fc.record({
  copies,
  deposits: fc.boolean(),
  refunds_minor: fc.option(fc.bigInt(1n, 20_000n), { freq: 2 }),
  repeats: fc.option(fc.nat(), { freq: 2 }),
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
type Answered = Awaited<ReturnType<typeof restCall>>

/** A request that was answered, with its answer. */
interface Bought {
  header: string
  input: object
  answer: Answered['body']
}

interface Client {
  place: ChannelPlace
  channel: PayingChannel
  price_minor: bigint
  charged_minor: bigint
  bought: Bought[]
}

let inputs = 0
const newInput = () => ({ iban: `GB82WEST1234569876${String(++inputs).padStart(4, '0')}` })

async function newClient(place: ChannelPlace): Promise<Client> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await place.fund(payer.address, BALANCE_MINOR)
  const channel = await channelFor(place.urls[0], TOOL, newInput(), payer)
  return { place, channel, price_minor: BigInt(channel.entry.amount), charged_minor: 0n, bought: [] }
}

async function balanceOf({ place, channel }: Client): Promise<bigint> {
  const found = String(
    await rpcRequest(place.rpc_url)('eth_call', [{ to: SETTLEMENT, data: `0x7a7ebd7b${channel.id.slice(2)}` }, 'latest']),
  )
  return BigInt(found.slice(0, 66))
}

function send({ place }: Client, at: number, header: string, input: object): Promise<Answered> {
  return restCall(place.urls[at] ?? place.urls[0], TOOL, input, { 'payment-signature': header })
}

async function run(client: Client, { copies: places, deposits, refunds_minor, repeats }: Step): Promise<void> {
  const { channel, price_minor, bought } = client
  const total_minor = client.charged_minor + price_minor
  const must_deposit = (await balanceOf(client)) < total_minor
  const header = deposits || must_deposit ? await channel.deposit(10n * price_minor, total_minor) : await channel.voucher(total_minor)
  const input = newInput()
  const earlier = repeats === null ? undefined : bought[repeats % Math.max(1, bought.length)]
  const refunding = refunds_minor === null || bought.length === 0 ? null : await channel.refund(client.charged_minor, refunds_minor)
  const [answers, again] = await Promise.all([
    Promise.all(places.map(({ at, after_ms }) => apart(after_ms).then(() => send(client, at, header, input)))),
    earlier === undefined ? null : send(client, 0, earlier.header, earlier.input),
    refunding === null ? null : fetch(`${client.place.urls[1]}/v1/channels/refund`, { headers: { 'payment-signature': refunding } }),
  ])
  if (earlier !== undefined && again !== null)
    assert.deepEqual([again.status, again.body], [200, earlier.answer], JSON.stringify(again.body))
  // A call that met the refund is not charged, and says so; the same request again is then answered or refused for good.
  if (refunding !== null) await until('the refund to end', async () => !(await isRefunding(client)))
  const last = await send(client, 0, header, input)
  for (const { status, body } of [...answers, last]) {
    if (status === 200) assert.deepEqual(body, last.body)
    else assert.ok(refunding !== null && body['charged'] === false, JSON.stringify(body))
  }
  if (last.status !== 200) return
  client.charged_minor = total_minor
  bought.push({ header, input, answer: last.body })
}

/** True while the channel is busy with a refund: a voucher that could never be charged says so. */
async function isRefunding(client: Client): Promise<boolean> {
  const { body } = await send(client, 0, await client.channel.voucher(10n ** 20n), {})
  return body['code'] === 'CHANNEL_BUSY'
}

async function assertExact(client: Client): Promise<void> {
  const { place, channel, bought, charged_minor } = client
  const paid_minor = bought.map(({ answer }) => BigInt(String(asMembers(answer['settlement'])['amount_minor'])))
  assert.equal(
    paid_minor.reduce((sum, price_minor) => sum + price_minor, 0n),
    charged_minor,
  )
  // What the payer no longer holds is in the channel, or was claimed from it.
  const away_minor = BALANCE_MINOR - (await held(place.rpc_url, place.token, channel.payer.address))
  assert.equal(away_minor, await balanceOf(client))
  for (const { header, input, answer } of bought) assert.deepEqual((await send(client, 1, header, input)).body, answer)
}

for (const [name, open] of CHANNEL_PLACES) {
  describe(name, { timeout: 900_000 }, () => {
    test('any calls, copies, deposits, claims and refunds: one charge a voucher, one answer a request, and a proved ledger', async (t) => {
      const place = await open(t, START)
      let charged_minor = 0n
      const check = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const client = await newClient(place)
        try {
          for (const one of steps) await run(client, one)
          await assertExact(client)
        } finally {
          charged_minor += client.charged_minor
        }
      })
      await fc.assert(check, { numRuns: runs(6, 60), seed: SEED, endOnFailure: true })
      assert.equal(await place.charged(), charged_minor)
      await until('the ledger to be proved', async () => (await place.prove()).proved)
    })
  })
}
