/** Two services over one PostgreSQL: one charge under one payment-identifier id, and rows that the database lost are rebuilt from the chain. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { runs } from '../support/counts.ts'
import { startPair, type Pair } from '../support/fault-pair.ts'
import { witnessOf } from '../support/faults-live.ts'
import * as buyers from '../support/faults-buyer.ts'
import { call, signed, v2 } from '../support/paying-calls.ts'
import { withIdentifier } from '../support/paying.ts'
import { query } from '../support/postgres.ts'

let pair: Pair
before(async () => {
  pair = await startPair()
})
after(() => pair.stop())

const CLIENT = '198.51.100.7'

test('twenty payments under one id at once, over both, are one charge', { timeout: 300_000 }, async () => {
  for (let round = 0; round < runs(2, 20); round++) {
    const [first = '', second = ''] = pair.urls()
    const payer = await buyers.holder(pair.anvil)
    const id = randomBytes(16).toString('hex')
    const payments = await Promise.all(Array.from({ length: 20 }, () => signed(first, payer)))
    const answers = await Promise.all(
      payments.map(({ v2: header }, index) => call(index % 2 === 0 ? first : second, withIdentifier(header, id), { client: CLIENT })),
    )
    const paid = answers.filter(({ status }) => status === 200)
    assert.equal(paid.length, 1, JSON.stringify(answers.map(({ status, body }) => [status, body['code']])))
    assert.ok(answers.every(({ status, body }) => status === 200 || (status === 409 && body['charged'] === false)))
    assert.equal((await witnessOf(pair.anvil).used(payer.address)).length, 1)
  }
})

test('a row that the database lost is answered by either service, and charged once', { timeout: 300_000 }, async () => {
  for (let round = 0; round < runs(4, 20); round++) {
    const [first = '', second = ''] = pair.urls()
    const buyer = await buyers.newBuyer(pair.anvil, first)
    const reply = await buyers.insist(first, buyer)
    const key = [buyer.account.address.toLowerCase(), buyer.signed.message.nonce]
    await query(
      pair.store,
      `delete from payment_answer where payment in (select number from payment where payer = '${key[0]}' and nonce = '${key[1]}')`,
    )
    await query(pair.store, `delete from payment where payer = '${key[0]}' and nonce = '${key[1]}'`)
    const url = round % 2 === 0 ? second : first
    assert.deepEqual((await buyers.statusOf(url, buyer))['charged'], 'unknown')
    const again = await buyers.insist(url, buyer)
    assert.deepEqual([again.body['result'], again.body['settlement']], [reply.body['result'], reply.body['settlement']])
    await buyers.assertPaidOnce(pair.anvil, pair.live, url, buyer, again)
    assert.deepEqual((await buyers.insist(round % 2 === 0 ? first : second, buyer)).body, again.body)
  }
  const other = await call(pair.urls()[0] ?? '', v2(await signed(pair.urls()[0] ?? '', await buyers.holder(pair.anvil))), {
    client: CLIENT,
  })
  assert.equal(other.status, 200)
})
