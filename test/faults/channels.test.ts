/** Payment channels under kill -9, reorganisations and several instances: nothing is answered without a charge, charged twice, or claimed beyond the last voucher. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { Hex } from 'viem'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { FaultPoint } from '../../src/service/payments/settlement.ts'
import { proveLedger } from '../../src/service/payments/prove-ledger.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import { channelFor, channelEntry, type PayingChannel, SETTLEMENT, settlementIn } from '../support/channels.ts'
import { repeats } from '../support/counts.ts'
import { holder, INPUT, TOOL } from '../support/faults-buyer.ts'
import { chainAhead, heartbeat, ledgerOf, liveDeployment, startLive, type Live, witnessOf } from '../support/faults-live.ts'
import { killLeft, startFaulty, type FaultyService } from '../support/faults-process.ts'
import { held } from '../support/paying.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { placeChannelContracts } from '../../src/adapters/chain/sandbox-contracts.ts'

const PRICE_MINOR = 5_000n
const BOUND_MS = 90_000
const AHEAD_MS = 61_000
const REPEATS = repeats()

let anvil: Anvil
let stopHeart: () => Promise<void>
before(async () => {
  anvil = await startAnvil()
  await placeChannelContracts(anvil.rpc_url)
  // A service that follows one that died with an unsent claim lives in a time when that claim is over.
  await chainAhead(anvil, AHEAD_MS)
  stopHeart = heartbeat(anvil)
})
after(async () => {
  killLeft()
  await stopHeart()
  await anvil.stop()
})

const live_settings = { ASSAY_BATCH_SETTLEMENT: 'on' }
const paying = (url: string, header: string, input: object = INPUT) => restCall(url, TOOL, input, { 'payment-signature': header })
const isBroken = () => null

/** Sends the same payment until it is answered. */
async function insist(service: FaultyService, header: string, input: object = INPUT) {
  const found: Awaited<ReturnType<typeof paying>>[] = []
  await until(
    'an answer',
    async () => {
      const reply = await paying(service.url, header, input).catch(isBroken)
      if (reply?.status === 200) found.push(reply)
      if (reply !== null && reply.status !== 200) assert.ok([202, 503].includes(reply.status), JSON.stringify(reply.body))
      return found.length > 0
    },
    BOUND_MS,
  )
  const [reply] = found
  assert.ok(reply !== undefined)
  return reply
}

async function sums(id: Hex): Promise<[balance: bigint, claimed: bigint]> {
  const data = String(await anvil.rpc('eth_call', [{ to: SETTLEMENT, data: `0x7a7ebd7b${id.slice(2)}` }, 'latest']))
  return [BigInt(data.slice(0, 66)), BigInt(`0x${data.slice(66)}`)]
}

/** The proof of the command line, over the store of a service that has ended. */
async function assertProved(live: Live, expected: { charged_minor: bigint; claimed_minor: bigint; paid_out_minor: bigint }): Promise<void> {
  const store = await openStore(join(live.settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite'))
  const chain = createChain({ urls: [anvil.rpc_url], chain_id: anvil.chain_id, clock: systemClock })
  const place = { token: anvil.token.toLowerCase(), pay_to: live.pay_to.toLowerCase() }
  try {
    const proof = await proveLedger({
      payments: store.payments,
      channels: { store: store.channels, chain },
      chain,
      ...place,
      onProgress: () => undefined,
    })
    assert.equal(
      proof.proved,
      true,
      JSON.stringify(proof, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    )
    assert.partialDeepStrictEqual(proof.channels, { ...expected, foreign_minor: 0n, differences: [] })
    assert.equal(await witnessOf(anvil).received(live.pay_to), expected.paid_out_minor)
  } finally {
    await store.close()
  }
}

/** Sends the same request until the service dies of it: a busy machine may refuse one that is then sent again. */
async function dies({ ended }: FaultyService, act: () => Promise<unknown>): Promise<void> {
  let is_dead = false
  void ended.then(() => (is_dead = true))
  await until('the service to die', async () => (await act().catch(isBroken), is_dead), BOUND_MS)
  assert.equal((await ended).signal, 'SIGKILL')
}

const options = { concurrency: 4, timeout: Math.max(2, REPEATS) * 200_000 }

describe('killed at a step, then started again', options, () => {
  const deposits: [at: FaultPoint, deposits: number][] = [
    ['after_claim', 0],
    ['after_prepare', 0],
    ['before_send', 0],
    ['after_send', 1],
    ['before_settled_row', 1],
    ['before_charge', 1],
    ['after_charge', 1],
  ]
  for (const [die_at, made] of deposits) {
    test(`a deposit at ${die_at}: the same payment is answered, deposited once and charged once`, async (t) => {
      for (let run = 0; run < REPEATS; run++) {
        const live = await liveDeployment(anvil, live_settings)
        t.after(live.remove)
        const service = await startFaulty(live.settings, { die_at })
        const channel = await channelFor(service.url, TOOL, INPUT, await holder(anvil))
        const header = await channel.deposit(50_000n, PRICE_MINOR)
        await dies(service, () => paying(service.url, header))
        assert.equal((await witnessOf(anvil).used(channel.payer.address)).length, made)
        const next = await startFaulty(live.settings, { ahead_ms: made === 0 ? AHEAD_MS : 0 })
        const reply = await insist(next, header)
        const again = await insist(next, header)
        assert.deepEqual(again.body, reply.body)
        assert.equal((await witnessOf(anvil).used(channel.payer.address)).length, 1)
        assert.equal(await held(anvil.rpc_url, anvil.token, channel.payer.address), 950_000n)
        await until('the claim', async () => (await sums(channel.id))[1] === PRICE_MINOR, BOUND_MS)
        await next.stop()
        await assertProved(live, { charged_minor: PRICE_MINOR, claimed_minor: PRICE_MINOR, paid_out_minor: PRICE_MINOR })
      }
    })
  }

  for (const die_at of ['before_charge', 'after_charge'] as const) {
    test(`a voucher at ${die_at}: it is charged once, and the answer is had by sending it again`, async (t) => {
      for (let run = 0; run < REPEATS; run++) {
        const live = await liveDeployment(anvil, live_settings)
        t.after(live.remove)
        const service = await startFaulty(live.settings, { die_at, die_nth: 2 })
        const channel = await channelFor(service.url, TOOL, INPUT, await holder(anvil))
        await insist(service, await channel.deposit(50_000n, PRICE_MINOR))
        const header = await channel.voucher(2n * PRICE_MINOR)
        await dies(service, () => paying(service.url, header))
        const next = await startFaulty(live.settings)
        // After the charge its answer is stored, so another input does not buy another one.
        const other = await paying(next.url, header, { iban: 'DE89370400440532013000' })
        assert.equal(other.status, die_at === 'after_charge' ? 402 : 200)
        if (die_at === 'after_charge') await insist(next, header)
        else assert.partialDeepStrictEqual(settlementIn(other.headers)['extra'], { channelState: { chargedCumulativeAmount: '10000' } })
        assert.equal((await paying(next.url, await channel.voucher(3n * PRICE_MINOR))).status, 200)
        await next.stop()
        const charged_minor = 3n * PRICE_MINOR
        const [, claimed_minor] = await sums(channel.id)
        assert.ok(claimed_minor <= charged_minor)
        await assertProved(live, { charged_minor, claimed_minor, paid_out_minor: claimed_minor })
      }
    })
  }

  for (const die_at of ['before_send', 'after_send'] as const) {
    test(`a claim at ${die_at}: what was charged is claimed once`, async (t) => {
      for (let run = 0; run < REPEATS; run++) {
        const live = await liveDeployment(anvil, live_settings)
        t.after(live.remove)
        // The first transaction of the wallet is the deposit; the claim comes after the charge.
        const service = await startFaulty(live.settings, { die_at, die_nth: 2 })
        const channel = await channelFor(service.url, TOOL, INPUT, await holder(anvil))
        const header = await channel.deposit(50_000n, PRICE_MINOR)
        await dies(service, () => paying(service.url, header))
        const next = await startFaulty(live.settings)
        await until('the claim', async () => (await sums(channel.id))[1] === PRICE_MINOR, BOUND_MS)
        assert.equal((await paying(next.url, await channel.voucher(2n * PRICE_MINOR))).status, 200)
        await next.stop()
        const [, claimed_minor] = await sums(channel.id)
        await assertProved(live, { charged_minor: 2n * PRICE_MINOR, claimed_minor, paid_out_minor: claimed_minor })
      }
    })
  }

  for (const die_at of ['after_refund_row', 'before_send', 'after_send'] as const) {
    test(`a refund at ${die_at}: the payer gets it once, and no voucher is taken on top of it`, async (t) => {
      for (let run = 0; run < REPEATS; run++) {
        const live = await liveDeployment(anvil, live_settings)
        t.after(live.remove)
        const first = await startFaulty(live.settings)
        const channel = await channelFor(first.url, TOOL, INPUT, await holder(anvil))
        await insist(first, await channel.deposit(50_000n, PRICE_MINOR))
        await until('the claim', async () => (await sums(channel.id))[1] === PRICE_MINOR, BOUND_MS)
        await first.stop()
        const service = await startFaulty(live.settings, { die_at })
        const header = await channel.refund(PRICE_MINOR)
        const refund = (url: string) => fetch(`${url}/v1/channels/refund`, { headers: { 'payment-signature': header } })
        await dies(service, () => refund(service.url))
        const next = await startFaulty(live.settings)
        await until('the refund', async () => (await held(anvil.rpc_url, anvil.token, channel.payer.address)) === 995_000n, BOUND_MS)
        assert.deepEqual(await sums(channel.id), [PRICE_MINOR, PRICE_MINOR])
        await until('the channel to be usable', async () => {
          const reply = await paying(next.url, await channel.voucher(2n * PRICE_MINOR))
          assert.equal(reply.status, 402, JSON.stringify(reply.body))
          return reply.body['invalid_reason'] === 'invalid_batch_settlement_evm_cumulative_exceeds_balance'
        })
        await next.stop()
        await assertProved(live, { charged_minor: PRICE_MINOR, claimed_minor: PRICE_MINOR, paid_out_minor: PRICE_MINOR })
      }
    })
  }
})

test('two instances over PostgreSQL: vouchers of one channel sent to both are charged in one order', { timeout: 240_000 }, async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const store = await postgres.createDatabase('channels')
  const live = await liveDeployment(anvil, live_settings)
  t.after(live.remove)
  // A first start makes the keys and the secret that instances share.
  await (await startFaulty(live.settings)).stop()
  const folder = live.settings['ASSAY_DATA_DIR'] ?? ''
  const keys = { ASSAY_RECEIPT_KEY_FILE: join(folder, 'receipt-keys.json'), ASSAY_SECRET_FILE: join(folder, 'secret.key') }
  const instance = (name: string) => startFaulty({ ...live.settings, ...keys, ASSAY_STORE: store, ASSAY_DATA_DIR: join(live.folder, name) })
  const [first, second] = [await instance('one'), await instance('two')]
  const channel = await channelFor(first.url, TOOL, INPUT, await holder(anvil))
  await insist(first, await channel.deposit(500_000n, PRICE_MINOR))
  const order: bigint[] = []
  const vouchers = Array.from({ length: 50 }, (_, index) => BigInt(index + 2) * PRICE_MINOR)
  let open = vouchers
  await until(
    'every voucher to be charged',
    async () => {
      const answers = await Promise.all(
        open.map(async (total, index) => ({
          total,
          reply: await paying((index % 2 === 0 ? first : second).url, await channel.voucher(total)),
        })),
      )
      for (const { total, reply } of answers) {
        if (reply.status === 200) order.push(total)
        else assert.ok(reply.body['charged'] === false, JSON.stringify(reply.body))
      }
      open = open.filter((total) => !order.includes(total))
      return open.length === 0
    },
    BOUND_MS,
  )
  assert.deepEqual(
    order.toSorted((one, other) => Number(one - other)),
    vouchers,
  )
  await chargedIs(first, channel, 51n * PRICE_MINOR)
  await chargedIs(second, channel, 51n * PRICE_MINOR)
  // Each instance has the total of its last charge in memory. The same voucher is answered again by the other one, and charged once.
  for (const [index, pair] of [[first, second] as const, [second, first] as const].entries()) {
    const voucher = await channel.voucher(BigInt(52 + index) * PRICE_MINOR)
    const [one, other] = [await paying(pair[0].url, voucher), await paying(pair[1].url, voucher)]
    assert.deepEqual([one.status, other.status], [200, 200], JSON.stringify(other.body))
    assert.deepEqual(other.body, one.body)
  }
  await chargedIs(second, channel, 53n * PRICE_MINOR)
  await Promise.all([first.stop(), second.stop()])
})

async function chargedIs({ url }: FaultyService, channel: PayingChannel, total_minor: bigint): Promise<void> {
  const { headers } = await paying(url, await channel.voucher(PRICE_MINOR), { iban: 'none' })
  assert.equal(channelEntry(headers.get('payment-required')).extra.channelState?.['chargedCumulativeAmount'], String(total_minor))
}

describe('a reorganisation takes back a deposit after the answer', { timeout: 120_000 }, () => {
  /** A call that was paid with a deposit, on a chain that has forgotten it and mines nothing unasked. */
  async function forgotten(t: TestContext) {
    const own = await startAnvil()
    await placeChannelContracts(own.rpc_url)
    const live = await liveDeployment(own, live_settings)
    const rules = { reconcile_every_ms: 250, reconcile: { recheck_ms: 250 }, channels: { claim_every_ms: 3_600_000, fresh_ms: 0 } }
    const running = await startLive(live, { rules })
    t.after(async () => {
      await running.stop()
      await own.stop()
      await live.remove()
    })
    const channel = await channelFor(running.url, TOOL, INPUT, await holder(own))
    const snapshot = await own.snapshot()
    const reply = await paying(running.url, await channel.deposit(50_000n, PRICE_MINOR))
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    await own.revert(snapshot)
    await own.automine(false)
    await own.mine()
    return { own, live, running, channel }
  }

  test('the same transaction deposits again, and the next voucher pays', async (t) => {
    const { own, live, running, channel } = await forgotten(t)
    const next = await channel.voucher(2n * PRICE_MINOR)
    // Without the deposit nothing covers a voucher.
    const refused = await paying(running.url, next)
    assert.equal(refused.body['invalid_reason'], 'invalid_batch_settlement_evm_channel_not_found', JSON.stringify(refused.body))
    await until('the deposit to be missed', () => Promise.resolve(ledgerOf(live).some(({ state }) => state === 'unknown')), 30_000)
    await own.automine(true)
    await until('the deposit', async () => (await witnessOf(own).used(channel.payer.address)).length === 1, 30_000)
    const paid = await paying(running.url, next)
    assert.equal(paid.status, 200, JSON.stringify(paid.body))
    assert.partialDeepStrictEqual(settlementIn(paid.headers)['extra'], {
      channelState: { chargedCumulativeAmount: '10000', balance: '50000' },
    })
  })

  test('a deposit that is gone for good: nothing more is answered, and no claim is sent in vain', async (t) => {
    const { own, live, running, channel } = await forgotten(t)
    await own.rpc('evm_setNextBlockTimestamp', [`0x${(Math.floor(Date.now() / 1_000) + 1_000).toString(16)}`])
    await own.mine()
    await own.mine(70)
    await own.automine(true)
    await until('the deposit to be lost', () => Promise.resolve(ledgerOf(live).some(({ state }) => state === 'lost')), 60_000)
    const refused = await paying(running.url, await channel.voucher(2n * PRICE_MINOR))
    assert.notEqual(refused.status, 200)
    assert.equal(await held(own.rpc_url, own.token, channel.payer.address), 1_000_000n)
    assert.equal(await witnessOf(own).received(live.pay_to), 0n)
  })
})
