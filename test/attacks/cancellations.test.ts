/** Payers who make accepted payments fail cost their own standing and their network's share of the gas, and nobody else's; delays cost nobody. */
// attack: cancelling or draining accepted payments by the hundred, so that no other payer is served
// in: money and signatures
// asset: settlement
// attacker: payers
// defence: a payer who does so twice in a day is shut out, a network when it has cost its share of the gas; delays do not count

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '../../src/service/limits.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { call, signed, v2, type Answered } from '../support/paying-calls.ts'
import { startLiveWorld, type World } from '../support/paying-world.ts'
import { EPOCH, keyOf, paymentIn } from '../support/store-payments.ts'
import { cancelAsPayer } from '../support/token-acts.ts'
import { until } from '../support/until.ts'

/** The attackers' /24, and somebody elsewhere. */
const ATTACKERS = (host: number) => `198.51.100.${host}`
const HONEST = '203.0.113.7'
/** So little that one network's twentieth pays for few failures at the chain's price for gas. */
const GAS_DAILY_WEI = 10n ** 16n

let anvil: Anvil
let world: World
before(async () => {
  anvil = await startAnvil()
  world = await startLiveWorld({ anvil, settings: { ASSAY_GAS_DAILY_WEI: String(GAS_DAILY_WEI) } })
})
after(async () => {
  await world.stop()
  await anvil.stop()
})

type Payer = Awaited<ReturnType<World['payer']>>

/** Pays, and cancels when the payment has been accepted. */
async function cancelling(payer: Payer, client: string): Promise<Answered> {
  const payment = await signed(world.url, payer)
  world.at('after_prepare', () => cancelAsPayer(anvil, payer, payment.message.nonce))
  return call(world.url, v2(payment), { client })
}

const paying = async (payer: Payer, client: string): Promise<Answered> => call(world.url, v2(await signed(world.url, payer)), { client })

test('510 cancelled authorizations of one day keep nobody else from paying', async () => {
  const now_ms = Date.now()
  for (let count = 0; count < 510; count++) {
    const asked = await paymentIn(world.store, 'settling', { now_ms, claim_until_ms: now_ms + limits.claim_ms })
    const closing = { ...keyOf(asked), to: 'refused' as const, reason: 'authorization_cancelled', transaction: null }
    assert.deepEqual(await world.payments.apply_transitions([closing], EPOCH, now_ms), [true])
  }
  const { status, body } = await paying(await world.payer(), HONEST)
  assert.deepEqual([status, body['tier']], [200, 'paid'])
})

test('a payer who cancels twice is shut out, and the network whose payers cancel when its share of the gas is spent; others pay on', async () => {
  const twice = await world.payer()
  for (let times = 0; times < 2; times++) {
    const { body } = await cancelling(twice, `192.0.2.${times}`)
    assert.deepEqual([body['code'], body['reason']], ['SETTLEMENT_FAILED', 'authorization_cancelled'])
  }
  const shut_out = await paying(twice, HONEST)
  assert.deepEqual([shut_out.status, shut_out.body['code'], shut_out.body['charged']], [429, 'PAYER_SHUT_OUT', false])

  // Each with an account of its own and another address of the /24.
  let last: Answered | null = null
  let accepted = 0
  for (; accepted < 20 && last?.status !== 429; accepted++) last = await cancelling(await world.payer(), ATTACKERS(accepted))
  assert.deepEqual([last?.status, last?.body['code']], [429, 'PAYER_SHUT_OUT'])
  assert.match(String(last?.body['detail']), /your network/)
  const day = Math.floor(Date.now() / 86_400_000)
  const shares = world.sql((database) =>
    database.prepare(`select wei from gas_spent where wallet like 'share:%' and day >= ?`).all(day - 1),
  )
  const dearest = shares.map(({ wei }) => BigInt(String(wei))).toSorted((one, other) => (one < other ? 1 : -1))[0] ?? 0n
  // Within the share, but for the last one that was accepted.
  assert.ok(dearest >= GAS_DAILY_WEI / limits.gas_share_parts && dearest < (2n * GAS_DAILY_WEI) / limits.gas_share_parts, String(dearest))

  const { status, body } = await paying(await world.payer(), HONEST)
  assert.deepEqual([status, body['tier']], [200, 'paid'])
})

test('a payer whose payments are mined too late, through a delay of the chain, goes on paying', async () => {
  const payer = await world.payer()
  // The clocks of chain and service may differ by 30 s.
  const valid_before = Math.floor(Date.now() / 1_000) + limits.payment_least_left_s + 7
  const late = await Promise.all([0, 1, 2].map(() => signed(world.url, payer, { validBefore: BigInt(valid_before) })))
  await anvil.rpc('evm_setAutomine', [false])
  const answers = late.map((payment) => call(world.url, v2(payment), { client: HONEST }))
  try {
    await until('all three are on their way', async () => {
      const states = await Promise.all(
        late.map(({ message }) => world.payments.find({ payer: message.from.toLowerCase(), nonce: message.nonce })),
      )
      return states.every((row) => row?.transaction !== null && row?.transaction !== undefined)
    })
    await anvil.rpc('evm_setNextBlockTimestamp', [valid_before + 1])
    await anvil.rpc('evm_mine', [])
  } finally {
    await anvil.rpc('evm_setAutomine', [true])
  }
  for (const { status, body } of await Promise.all(answers)) {
    assert.deepEqual([status, body['code'], body['reason']], [402, 'SETTLEMENT_FAILED', 'authorization_expired'])
  }
  const { status, body } = await paying(payer, HONEST)
  assert.deepEqual([status, body['tier']], [200, 'paid'])
})
