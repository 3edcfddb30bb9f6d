/** Payment channels, over both databases: one order of charges, never above the balance, and charge, payment and answer together or not at all. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Channel, ChannelCharge } from '../../src/ports/channels.ts'
import type { Store } from '../../src/ports/store.ts'
import { runs, SEED } from '../support/counts.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const NOW_MS = 1_800_000_000_000
const PRICE_MINOR = 5_000n
let made = 0
const word = (number: number | bigint) => `0x${number.toString(16).padStart(64, '0')}`
const account = (number: number) => `0x${number.toString(16).padStart(40, '0')}`

const channelOf = (change: Partial<Channel> = {}): Channel => ({
  channel_id: word(++made),
  asset: null,
  payer: account(1),
  payer_authorizer: account(2),
  receiver: account(3),
  receiver_authorizer: account(4),
  token: account(5),
  withdraw_delay_s: 86_400,
  salt: word(0),
  balance_minor: 50_000n,
  claimed_minor: 0n,
  withdraw_minor: 0n,
  withdraw_requested_s: 0,
  refund_nonce: 0n,
  opened_minor: 0n,
  charged_minor: 0n,
  signature: '',
  refund_minor: 0n,
  synced_ms: NOW_MS,
  created_ms: NOW_MS,
  used_ms: 0,
  last_nonce: null,
  last_network_hash: null,
  ...change,
})

const stateOf = ({ balance_minor, claimed_minor, withdraw_minor, withdraw_requested_s, refund_nonce }: Channel) => ({
  balance_minor,
  claimed_minor,
  withdraw_minor,
  withdraw_requested_s,
  refund_nonce,
})

/** The charge of a voucher: each has a nonce of its own, as the digests of different vouchers have. */
const chargeOf = (
  { channel_id, asset, payer, receiver }: Channel,
  base_minor: bigint,
  change: Partial<ChannelCharge> = {},
): ChannelCharge => {
  const nonce = word(BigInt(++made) << 64n)
  return {
    channel_id,
    asset,
    payer,
    nonce,
    subject: 'iban-check',
    input_hash: '0xaa',
    to: receiver,
    value_minor: PRICE_MINOR,
    base_minor,
    signature: `0x${nonce.slice(-4)}`,
    price_class: 'check',
    network_hash: null,
    identifier_hash: null,
    token_hash: nonce.slice(2),
    answer: { sealed: `answer of ${nonce}`, expires_ms: NOW_MS + 1_000 },
    epoch: 7,
    now_ms: NOW_MS,
    ...change,
  }
}

for (const start of STORE_DRIVERS) {
  describe(`channels: ${start.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let stores: [Store, Store]

    before(async () => {
      driver = await start()
      fresh = await driver.fresh()
      stores = [await openStore(fresh.target), await openStore(fresh.target)]
    })
    after(async () => {
      await Promise.all(stores.map((store) => store.close()))
      await driver.stop()
    })

    async function added(change: Partial<Channel> = {}): Promise<Channel> {
      const channel = channelOf(change)
      await stores[0].channels.add(channel)
      return channel
    }

    test('a channel is kept as it was added, and added once', async () => {
      const channel = await added({ withdraw_minor: 7n, refund_nonce: 2n ** 200n, signature: '0xab' })
      await stores[0].channels.add({ ...channel, balance_minor: 1n })
      assert.deepEqual(await stores[1].channels.find(channel.channel_id), channel)
      assert.equal(await stores[0].channels.find(word(0)), null)
    })

    test('a charge writes the voucher, the payment, the answer and the sale', async () => {
      const channel = await added()
      const charge = chargeOf(channel, 0n, { network_hash: 'ab'.repeat(32) })
      const [store] = stores
      assert.equal(await store.channels.charge(charge), true)
      const after_charge = {
        ...channel,
        charged_minor: PRICE_MINOR,
        signature: charge.signature,
        used_ms: NOW_MS,
        last_nonce: charge.nonce,
        last_network_hash: charge.network_hash,
      }
      assert.deepEqual(await store.channels.find(channel.channel_id), after_charge)
      const payment = await store.payments.find(charge)
      assert.partialDeepStrictEqual(payment, {
        purpose: 'call',
        subject: 'iban-check',
        state: 'settled',
        method: 'channel',
        settler: channel.channel_id,
        value_minor: PRICE_MINOR,
        cumulative_minor: PRICE_MINOR,
        signature: charge.signature,
        transaction: null,
        final: true,
        settled_ms: NOW_MS,
        network_hash: charge.network_hash,
      })
      assert.deepEqual(await store.payments.answer(charge), charge.answer)
      assert.deepEqual((await store.payments.find_by_token(charge.token_hash))?.nonce, charge.nonce)
      assert.equal(await store.channels.charges(channel), PRICE_MINOR)
      assert.ok((await store.payments.sales(7)).some(({ price_class, payers }) => price_class === 'check' && payers === 1))
    })

    test('what may not be charged writes nothing', async () => {
      const cases: [name: string, change: Partial<Channel>, base_minor: bigint][] = [
        ['another total', { charged_minor: 5_000n }, 0n],
        ['a total ahead', {}, 5_000n],
        ['too little balance', { balance_minor: PRICE_MINOR - 1n }, 0n],
        ['a withdrawal', { balance_minor: 7_000n, withdraw_minor: 3_000n }, 0n],
        ['a refund', { refund_minor: 1n }, 0n],
      ]
      for (const [name, change, base_minor] of cases) {
        const channel = await added(change)
        const charge = chargeOf(channel, base_minor)
        assert.equal(await stores[0].channels.charge(charge), false, name)
        assert.deepEqual(await stores[0].channels.find(channel.channel_id), channel, name)
        assert.equal(await stores[0].payments.find(charge), null, name)
        assert.equal(await stores[0].payments.answer(charge), null, name)
      }
    })

    test('fifty vouchers at once, on two connections: each total is charged once, and nothing is lost', async () => {
      const channel = await added({ balance_minor: 100n * PRICE_MINOR })
      const charges = Array.from({ length: 50 }, (_, index) => chargeOf(channel, BigInt(index % 25) * PRICE_MINOR))
      const charged: ChannelCharge[] = []
      // Again and again, as clients do: each is taken when its turn has come, or never.
      for (let round = 0; round < 50; round++) {
        const open = charges.filter((charge) => !charged.includes(charge))
        const results = await Promise.all(open.map((charge, index) => stores[index % 2 === 0 ? 0 : 1].channels.charge(charge)))
        charged.push(...open.filter((_, index) => results[index] === true))
      }
      assert.deepEqual(
        charged.map(({ base_minor }) => base_minor).toSorted((one, other) => Number(one - other)),
        Array.from({ length: 25 }, (_, index) => BigInt(index) * PRICE_MINOR),
      )
      const found = await stores[1].channels.find(channel.channel_id)
      const last = charged.find(({ base_minor }) => base_minor === 24n * PRICE_MINOR)
      assert.deepEqual([found?.charged_minor, found?.signature], [25n * PRICE_MINOR, last?.signature])
      assert.equal(await stores[0].channels.charges(channel), 25n * PRICE_MINOR)
      for (const charge of charged) assert.deepEqual(await stores[0].payments.answer(charge), charge.answer)
    })

    test('the newest state of the chain stays, and a refund that happened is no longer on its way', async () => {
      const channel = await added({ refund_minor: 9_000n })
      const [store] = stores
      const state = { ...stateOf(channel), balance_minor: 60_000n, claimed_minor: 5n }
      await store.channels.mirror(channel.channel_id, state, NOW_MS + 10)
      await store.channels.mirror(channel.channel_id, stateOf(channel), NOW_MS + 9)
      assert.deepEqual(await store.channels.find(channel.channel_id), { ...channel, ...state, synced_ms: NOW_MS + 10 })
      const refunded = { ...state, balance_minor: 51_000n, refund_nonce: 1n }
      await store.channels.mirror(channel.channel_id, refunded, NOW_MS + 11)
      assert.partialDeepStrictEqual(await store.channels.find(channel.channel_id), { refund_minor: 0n, balance_minor: 51_000n })
    })

    test('one refund at a time begins, from the total that it was asked for', async () => {
      const { channel_id } = await added({ charged_minor: 10_000n })
      const [{ channels }] = stores
      assert.equal(await channels.begin_refund(channel_id, 5_000n, 1n), false)
      const begun = await Promise.all(stores.map((store) => store.channels.begin_refund(channel_id, 10_000n, 40_000n)))
      assert.equal(begun.filter(Boolean).length, 1)
      assert.deepEqual(
        (await channels.refunding(null, 100)).filter((row) => row.channel_id === channel_id).map((row) => row.refund_minor),
        [40_000n],
      )
      await channels.end_refund(channel_id, 1n)
      assert.equal((await channels.find(channel_id))?.refund_minor, 40_000n)
      await channels.end_refund(channel_id, 0n)
      assert.equal((await channels.find(channel_id))?.refund_minor, 0n)
    })

    test('channels are found for claims, for reads and for the proof', async () => {
      const [{ channels }] = stores
      const open = await added({ charged_minor: 2_000_000n, signature: '0x1', balance_minor: 3_000_000n })
      const leaving = await added({ charged_minor: 10n, signature: '0x2', withdraw_minor: 5n })
      const done = await added({ charged_minor: 10n, claimed_minor: 10n })
      const ids = (await channels.claimable(null, 100)).map(({ channel_id }) => channel_id)
      assert.ok(ids.indexOf(leaving.channel_id) < ids.indexOf(open.channel_id) && !ids.includes(done.channel_id))
      const rules = { watch_ms: 60_000, watch_idle_ms: 3_600_000, watch_used_ms: 172_800_000, watch_channels: 1_000 }
      const stale = (await channels.stale(null, NOW_MS + 60_001, rules)).map(({ channel_id }) => channel_id)
      assert.ok(stale.includes(open.channel_id) && !stale.includes(done.channel_id))
      assert.deepEqual(
        (await channels.stale(null, NOW_MS + 60_000, rules)).filter(({ channel_id }) => channel_id === open.channel_id),
        [],
      )
      const listed = await channels.list(null, '', 1_000)
      const sums = await channels.sums()
      assert.deepEqual(sums, {
        channels: listed.length,
        charged_minor: listed.reduce((sum, { charged_minor }) => sum + charged_minor, 0n),
        claimed_minor: listed.reduce((sum, { claimed_minor }) => sum + claimed_minor, 0n),
      })
      const [first, second] = listed
      assert.deepEqual(await channels.list(null, first?.channel_id ?? '', 1), [second])
    })

    test('channels and charges of another asset are found under it alone', async () => {
      const [store] = stores
      const { channels } = store
      const asset = `eip155:137/erc20:${account(9)}`
      const channel = await added({ asset, synced_ms: 0 })
      const charge = chargeOf(channel, 0n)
      assert.equal(await channels.charge(charge), true)
      assert.equal((await store.payments.find(charge))?.asset, asset)
      const rules = { watch_ms: 1, watch_idle_ms: 1, watch_used_ms: 1, watch_channels: 1_000 }
      const found = async (of: string | null) => [
        await channels.claimable(of, 1_000),
        await channels.stale(of, NOW_MS, rules),
        await channels.list(of, '', 1_000),
      ]
      for (const rows of await found(asset)) assert.deepEqual(rows, [await channels.find(channel.channel_id)])
      for (const rows of await found(null)) assert.ok(rows.every((row) => row.asset === null))
      assert.equal(await channels.begin_refund(channel.channel_id, PRICE_MINOR, 1n), true)
      assert.equal((await channels.refunding(asset, 10)).length, 1)
      assert.ok((await channels.refunding(null, 1_000)).every((row) => row.asset === null))
    })

    test('the client network of the last charge or deposit is kept until it is forgotten', async () => {
      const [{ channels }] = stores
      const [old, recent] = [await added({ created_ms: 5, used_ms: 6 }), await added({ created_ms: 5, used_ms: 7 })]
      const networks = async () =>
        [await channels.find(old.channel_id), await channels.find(recent.channel_id)].map((row) => row?.last_network_hash)
      const [nonce, network_hash] = [word(7), 'cd'.repeat(32)]
      for (const { channel_id } of [old, recent]) await channels.note_deposit(channel_id, { nonce, network_hash })
      assert.partialDeepStrictEqual(await channels.find(old.channel_id), { last_nonce: nonce, last_network_hash: network_hash })
      await channels.forget_networks(7)
      assert.deepEqual(await networks(), [null, network_hash])
      assert.equal((await channels.find(old.channel_id))?.last_nonce, nonce)
    })

    test('channels that never had a deposit are forgotten', async () => {
      const empty = await added({ balance_minor: 0n, created_ms: 5 })
      const used = await added({ charged_minor: 5n, created_ms: 5 })
      await stores[0].channels.purge(6)
      assert.equal(await stores[0].channels.find(empty.channel_id), null)
      assert.deepEqual(await stores[0].channels.find(used.channel_id), used)
    })

    test('any vouchers, refunds and states in any order: the total is the sum of the charges and is covered when it is charged', async () => {
      const step = fc.oneof(
        fc.record({ kind: fc.constant('charge' as const), base: fc.bigInt(0n, 6n) }),
        fc.record({ kind: fc.constant('mirror' as const), balance: fc.bigInt(0n, 8n), nonce: fc.bigInt(0n, 1n) }),
        fc.record({ kind: fc.constant('refund' as const), charged: fc.bigInt(0n, 6n) }),
      )
      const check = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const channel = await added({ balance_minor: 4n * PRICE_MINOR })
        const model = { charged: 0n, balance: 4n * PRICE_MINOR, refund: 0n, nonce: 0n, ms: NOW_MS }
        const [{ channels }] = stores
        for (const one of steps) {
          if (one.kind === 'charge') {
            const base_minor = one.base * PRICE_MINOR
            const expected = model.refund === 0n && base_minor === model.charged && base_minor + PRICE_MINOR <= model.balance
            assert.equal(await channels.charge(chargeOf(channel, base_minor)), expected)
            if (expected) model.charged += PRICE_MINOR
          } else if (one.kind === 'mirror') {
            model.ms += 1
            model.balance = one.balance * PRICE_MINOR
            if (one.nonce !== model.nonce) model.refund = 0n
            model.nonce = one.nonce
            await channels.mirror(
              channel.channel_id,
              { ...stateOf(channel), balance_minor: model.balance, refund_nonce: model.nonce },
              model.ms,
            )
          } else {
            const expected = model.refund === 0n && one.charged * PRICE_MINOR === model.charged
            assert.equal(await channels.begin_refund(channel.channel_id, one.charged * PRICE_MINOR, 3n), expected)
            if (expected) model.refund = 3n
          }
        }
        assert.equal((await channels.find(channel.channel_id))?.charged_minor, model.charged)
        assert.equal(await channels.charges(channel), model.charged)
      })
      await fc.assert(check, { numRuns: runs(10, 100), seed: SEED })
    })
  })
}
