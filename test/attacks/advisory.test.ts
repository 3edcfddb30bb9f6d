/** A receipt is public once it is handed on: whoever has it can neither fix its terms nor use up its dispute. */
// attack: being first to fix its terms, or to file and lose its dispute
// in: money and signatures
// asset: terms and disputes of a receipt
// attacker: client with the receipt
// defence: terms and disputes are bound by the payer's signature; unsigned ones yield, rejected ones are not kept

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PrivateKeyAccount } from 'viem/accounts'
import { call, INPUT, signed, v2 } from '../support/paying-calls.ts'
import { signTerms, termsOf } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Assured {
  created: boolean
  binding: string
  reason_code: string
  typed_data: TypedData
  record: { binding: string; signed_by: string | null; state: string; terms: { notional_minor: string } } | null
}

type TypedData = Parameters<PrivateKeyAccount['signTypedData']>[0]

async function paidTool<Result>(tool: string, input: Record<string, unknown>): Promise<Result> {
  const payer = await world.payer()
  const answer = await call(world.url, v2(await signTerms(payer, await termsOf(world.url, tool, input))), { tool, input })
  assert.equal(answer.status, 200, answer.text)
  return answer.body['result'] as Result
}

const create = (input: Record<string, unknown>) => paidTool<Assured>('assured-create', input)
const file = (input: Record<string, unknown>) => paidTool<Record<string, unknown>>('dip-file-dispute', input)

/** A receipt, and the account that paid for it. */
async function paidReceipt(): Promise<{ payer: PrivateKeyAccount; receipt: Record<string, unknown> }> {
  const payer = await world.payer()
  const { status, body } = await call(world.url, v2(await signed(world.url, payer)), { input: INPUT })
  assert.equal(status, 200)
  return { payer, receipt: body['receipt'] as Record<string, unknown> }
}

const FOREIGN = { notional_minor: '1000000000000', rail: 'fiat', counterparty_tier: 'T1' }
const OWN = { notional_minor: '50000000000', rail: 'crypto', counterparty_tier: 'T2' }

test('a stranger records terms first: the payer signs the typed data of its own answer, and its terms are bound for good', async () => {
  const { payer, receipt } = await paidReceipt()
  const stranger = await create({ ...FOREIGN, receipt })
  assert.deepEqual([stranger.created, stranger.binding, stranger.record?.binding], [true, 'advisory', 'advisory'])
  const asked = await create({ ...OWN, receipt })
  assert.deepEqual([asked.created, asked.binding], [false, 'advisory'])
  const bound = await create({ ...OWN, receipt, terms_signature: await payer.signTypedData(asked.typed_data) })
  assert.deepEqual([bound.created, bound.binding, bound.record?.terms.notional_minor], [true, 'signed', OWN.notional_minor])
  assert.equal(bound.record?.signed_by, payer.address.toLowerCase())
  for (const terms of [FOREIGN, OWN]) {
    const later = await create({ ...terms, receipt })
    assert.deepEqual([later.created, later.binding, later.record], [false, 'signed', bound.record])
  }
})

test('the payer signs first, or at the same moment as many strangers: its terms are bound', async () => {
  const { payer, receipt } = await paidReceipt()
  const { typed_data } = await create({ ...OWN, receipt })
  const terms_signature = await payer.signTypedData(typed_data)
  const stranger = await world.payer()
  const forged = await create({ ...FOREIGN, receipt, terms_signature: await stranger.signTypedData(typed_data) })
  assert.deepEqual([forged.reason_code, forged.binding, forged.record], ['terms_signature_invalid', 'none', null])
  const calls = Array.from({ length: 9 }, (_, at) => create(at === 4 ? { ...OWN, receipt, terms_signature } : { ...FOREIGN, receipt }))
  const answers = await Promise.all(calls)
  assert.equal(answers.filter(({ binding, created }) => binding === 'signed' && created).length, 1)
  const last = await create({ ...FOREIGN, receipt })
  assert.deepEqual([last.created, last.binding, last.record?.terms.notional_minor], [false, 'signed', OWN.notional_minor])
})

test('a stranger’s rejected dispute marks nothing and takes no name; the payer’s own of that name is filed', async () => {
  const { payer, receipt } = await paidReceipt()
  await create({ ...OWN, receipt })
  const refused = await file({ dispute_id: 'D-1', receipt, claim: 'NOT_DELIVERED' })
  assert.deepEqual(
    [refused['verdict'], refused['binding'], refused['created'], refused['assured_state']],
    ['REJECTED', 'none', false, 'OPEN'],
  )
  assert.equal(world.sql((database) => database.prepare('select count(*) as disputes from dispute').get())?.['disputes'], 0)
  const mismatch = { dispute_id: 'D-1', receipt, claim: 'OUTPUT_MISMATCH', delivered_output: { other: true } }
  const unsigned = await file(mismatch)
  assert.deepEqual([unsigned['binding'], unsigned['assured_state']], ['advisory', 'OPEN'])
  // Another body under the name that a stranger has taken: the payer's signature takes it back.
  const own = { dispute_id: 'D-1', receipt, claim: 'OUTPUT_MISMATCH', delivered_output: { mine: true } }
  const { typed_data } = (await file({ ...own, dispute_id: 'D-2' })) as { typed_data: TypedData & { message: object } }
  const renamed = { ...typed_data, message: { ...typed_data.message, dispute_id: 'D-1' } } as TypedData
  const filed = await file({ ...own, claimant_signature: await payer.signTypedData(renamed) })
  assert.deepEqual([filed['created'], filed['binding'], filed['assured_state']], [true, 'signed', 'DISPUTED'])
})
