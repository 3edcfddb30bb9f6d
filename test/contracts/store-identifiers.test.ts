/** Ids of payment-identifier, over both databases: one payment of a payer has an id, whatever is claimed or charged at the same moment. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Channel, ChannelCharge } from '../../src/ports/channels.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'
import { address, closing, EPOCH, NOW_MS, request, word } from '../support/store-payments.ts'

const PRICE_MINOR = 5_000n
const hash = () => word().slice(2)

function channelOf(payer: string): Channel {
  return {
    channel_id: word(),
    asset: null,
    payer,
    payer_authorizer: payer,
    receiver: address(),
    receiver_authorizer: address(),
    token: address(),
    withdraw_delay_s: 86_400,
    salt: word(),
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
  }
}

function chargeOf({ channel_id, payer, receiver }: Channel, base_minor: bigint, identifier_hash: string | null): ChannelCharge {
  return {
    channel_id,
    asset: null,
    payer,
    nonce: word(),
    subject: 'iban-check',
    input_hash: '0xaa',
    to: receiver,
    value_minor: PRICE_MINOR,
    base_minor,
    signature: '0x11',
    price_class: 'check',
    network_hash: null,
    identifier_hash,
    token_hash: word(),
    answer: { sealed: 'answer', expires_ms: NOW_MS + 1_000 },
    epoch: EPOCH,
    now_ms: NOW_MS,
  }
}

for (const start of STORE_DRIVERS) {
  describe(`payment-identifier ids: ${start.name}`, () => {
    let driver: StoreDriver
    let stores: readonly [Store, Store]
    before(async () => {
      driver = await start()
      const { target } = await driver.fresh()
      stores = [await openStore(target), await openStore(target)]
    })
    after(async () => {
      await Promise.all(stores.map((store) => store.close()))
      await driver.stop()
    })

    const rich = (payer: string, identifier_hash: string) => request({ payer, identifier_hash, balance_minor: 10n ** 12n })

    test('of forty claims under one id over two handles one is granted, and the others name it', async () => {
      const [payer, id] = [address(), hash()]
      const asked = Array.from({ length: 40 }, () => rich(payer, id))
      const results = await Promise.all(asked.map((one, index) => stores[index % 2 === 0 ? 0 : 1].payments.claim(one)))
      const granted = asked.filter((_, index) => results[index]?.kind === 'claimed')
      assert.equal(granted.length, 1)
      for (const result of results) {
        assert.ok(result.kind === 'claimed' || (result.kind === 'identifier_taken' && result.payment.nonce === granted[0]?.nonce))
      }
      const [{ payments }] = stores
      assert.equal((await payments.find_by_identifier(payer, id))?.nonce, granted[0]?.nonce)
      assert.equal(await payments.find_by_identifier(address(), id), null)
      assert.equal((await payments.claim(rich(address(), id))).kind, 'claimed', 'the id of another payer')
      assert.equal((await payments.claim(rich(payer, hash()))).kind, 'claimed', 'another id')
    })

    test('charges of two channels, and claims, under one id: one of them all', async () => {
      const [payer, id] = [address(), hash()]
      const channels = [channelOf(payer), channelOf(payer)]
      for (const channel of channels) await stores[0].channels.add(channel)
      const acts = Array.from({ length: 24 }, (_, index) => {
        const { channels: charging, payments } = stores[index % 2 === 0 ? 0 : 1]
        const channel = channels[index % 2]
        assert.ok(channel !== undefined)
        if (index % 3 !== 0) return charging.charge(chargeOf(channel, 0n, id))
        return payments.claim(rich(payer, id)).then(({ kind }) => kind === 'claimed')
      })
      assert.equal((await Promise.all(acts)).filter(Boolean).length, 1)
    })

    test('a charge without an id is not held back, and the same id moves no channel twice', async () => {
      const channel = channelOf(address())
      const [{ channels }] = stores
      await channels.add(channel)
      const id = hash()
      assert.equal(await channels.charge(chargeOf(channel, 0n, id)), true)
      assert.equal(await channels.charge(chargeOf(channel, PRICE_MINOR, id)), false)
      assert.equal((await channels.find(channel.channel_id))?.charged_minor, PRICE_MINOR)
      assert.equal(await channels.charge(chargeOf(channel, PRICE_MINOR, null)), true)
    })

    test('an id is given back only from the state and the claim that were read; a deposit that arrived leaves it to the charge', async () => {
      const [{ payments, channels }] = stores
      const [payer, id] = [address(), hash()]
      const first = rich(payer, id)
      await payments.claim(first)
      const held = await payments.find(first)
      assert.ok(held !== null)
      assert.equal(await payments.free_identifier({ ...held, state: 'released' }), false)
      assert.equal(await payments.free_identifier({ ...held, fence: 2 }), false)
      await payments.release(first, 1, 'abandoned', NOW_MS)
      assert.equal((await payments.claim(rich(payer, id))).kind, 'identifier_taken')
      assert.equal(await payments.free_identifier({ ...held, state: 'released' }), true)
      const second = rich(payer, id)
      assert.equal((await payments.claim(second)).kind, 'claimed')
      assert.equal((await payments.claim({ ...first, token_hash: word() })).kind, 'identifier_taken', 'the first again')
      const channel = channelOf(payer)
      await channels.add(channel)
      const deposit = { ...rich(payer, hash()), purpose: 'deposit' as const, subject: channel.channel_id }
      await payments.claim(deposit)
      assert.equal(await channels.charge(chargeOf(channel, 0n, deposit.identifier_hash)), false, 'the deposit is on its way')
      await payments.prepare_deposit(deposit, 1, '0x', NOW_MS)
      await payments.begin_settling(deposit, 1, { method: 'self', settler: address() }, NOW_MS)
      await payments.apply_transitions([closing(deposit, 'settled')], EPOCH, NOW_MS)
      assert.equal(await channels.charge(chargeOf(channel, 0n, deposit.identifier_hash)), true)
    })
  })
}
