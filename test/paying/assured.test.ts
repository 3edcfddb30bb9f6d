/** The receipt of a paid call is bound to assured terms over REST: once, whoever asks and however often. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, INPUT, signed, v2, type Answered } from '../support/paying-calls.ts'
import { signTerms, termsOf } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Bound {
  status: string
  reason_code: string
  created: boolean
  record: { assured_id: string; receipt_hash: string; terms: { nonce: string; premium_minor: string } } | null
  warnings: { code: string }[]
}

/** Binds a receipt by a paid call of its own. */
async function bind(input: Record<string, unknown>): Promise<Bound> {
  const payer = await world.payer()
  const payment = await signTerms(payer, await termsOf(world.url, 'assured-create', input))
  const answer = await call(world.url, v2(payment), { tool: 'assured-create', input })
  assert.equal(answer.status, 200, answer.text)
  return answer.body['result'] as Bound
}

async function paidCall(): Promise<{ answer: Answered; receipt: Record<string, unknown> & { nonce: string } }> {
  const payer = await world.payer()
  const answer = await call(world.url, v2(await signed(world.url, payer)), { input: INPUT })
  assert.equal(answer.status, 200)
  return { answer, receipt: answer.body['receipt'] as Record<string, unknown> & { nonce: string } }
}

test('the receipt of a paid call is bound once, and a second call brings the first record', async () => {
  const { receipt } = await paidCall()
  const input = { notional_minor: '50000000000', rail: 'crypto', counterparty_tier: 'T2', receipt }
  const first = await bind(input)
  assert.deepEqual([first.status, first.created, first.warnings], ['RECORDED', true, []])
  assert.deepEqual([first.record?.terms.nonce, first.record?.terms.premium_minor], [receipt.nonce, '100000000'])
  const again = await bind(input)
  assert.deepEqual([again.status, again.created, again.record], ['RECORDED', false, first.record])
  const other = await bind({ ...input, notional_minor: '60000000000' })
  assert.deepEqual([other.created, other.record], [false, first.record])
  assert.deepEqual(
    other.warnings.map(({ code }) => code),
    ['terms_differ'],
  )
  const rows = world.sql((database) => database.prepare('select receipt_hash from assured_record').all())
  assert.deepEqual(
    rows.map((row) => row['receipt_hash']),
    [first.record?.receipt_hash],
  )
})

test('twenty calls at once bind one receipt once', async () => {
  const { receipt } = await paidCall()
  const input = { notional_minor: '1000000', rail: 'fiat', counterparty_tier: 'T1', receipt }
  const bound = await Promise.all(Array.from({ length: 20 }, () => bind(input)))
  assert.equal(bound.filter(({ created }) => created).length, 1)
  assert.equal(new Set(bound.map(({ record }) => record?.assured_id)).size, 1)
})

test('a receipt that was altered, or a counterparty of T0, binds nothing', async () => {
  const { receipt } = await paidCall()
  const input = { notional_minor: '1000000', rail: 'crypto', counterparty_tier: 'T1', receipt: { ...receipt, amount: '1' } }
  const altered = await bind(input)
  assert.deepEqual([altered.status, altered.reason_code, altered.record], ['REFUSED', 'receipt_invalid', null])
  const refused = await bind({ ...input, receipt, counterparty_tier: 'T0' })
  assert.deepEqual([refused.status, refused.reason_code, refused.record], ['REFUSED', 'tier_refused', null])
})
