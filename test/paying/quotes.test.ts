/** How long a quoted price stays payable. The prices of the past are written into the store before the service looks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, INPUT, TOOL, v2 } from '../support/paying-calls.ts'
import { authorizationsUsed } from '../support/paying-chain.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { signTerms, termsOf } from '../support/paying.ts'

/** A price holds for ten seconds of the store's time; terms promise 120 seconds. */
const EPOCH_MS = 10_000

/** The price that this test puts into each epoch; each differs from all others of the last quarter of an hour. */
const amountOf = (epoch: number) => 20_000n + BigInt(epoch % 100)

function writePrices(world: World, now_ms: number): void {
  const newest = Math.floor(now_ms / EPOCH_MS) + 6
  world.sql((database) => {
    const mark = database.prepare('insert into price_mark (price_class, epoch, amount_minor) values (?, ?, ?)')
    for (let epoch = newest - 30; epoch <= newest; epoch += 1) mark.run('check', epoch, amountOf(epoch))
  })
}

const quotedAgo = (seconds: number) => amountOf(Math.floor((Date.now() - seconds * 1_000) / EPOCH_MS))

test('a price quoted 100 s ago still pays, one that was quoted more than 130 s ago does not', async () => {
  const world = await startWorld()
  try {
    writePrices(world, Date.now())
    const required = await termsOf(world.url, TOOL, INPUT)
    const [entry] = required.accepts
    const asked = BigInt(entry.amount)
    assert.ok([quotedAgo(0), quotedAgo(10)].includes(asked), 'the terms ask for the price of the moment')
    const payer = await world.payer()
    // The terms as they were when that was the price.
    const pay = async (amount: bigint) =>
      call(world.url, v2(await signTerms(payer, { ...required, accepts: [{ ...entry, amount: String(amount) }] })))
    const old = quotedAgo(100)
    const paid = await pay(old)
    assert.equal(paid.status, 200)
    assert.equal((paid.body['settlement'] as { amount_minor: string }).amount_minor, String(old))
    for (const amount of [quotedAgo(131), quotedAgo(170), asked + 50n]) {
      const { status, body } = await pay(amount)
      assert.deepEqual([status, body['code'], body['charged']], [402, 'PRICE_MISMATCH', false])
    }
    assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1)
  } finally {
    await world.stop()
  }
})
