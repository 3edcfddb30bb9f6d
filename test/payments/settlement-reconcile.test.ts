/** Rows put right by the chain alone: reorganisations by snapshot and revert, evidence found later, time run out. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { GasWallet } from '../../src/ports/gas-wallet.ts'
import type { Payment } from '../../src/ports/payments.ts'
import { chainEvidence } from '../../src/service/payments/settlement.ts'
import { reconcileJob } from '../../src/service/payments/reconcile.ts'
import type { SelfSettler } from '../../src/service/payments/wallet-writer.ts'
import { batchAsStranger, cancelAsPayer, spendElsewhere, transferAsStranger } from '../support/token-acts.ts'
import { newWallet, startSettlement, until, type SettlementBench } from '../support/settlement.ts'

const STRANGER = '0x00000000000000000000000000000000000000aa'

let bench: SettlementBench
let wallet: GasWallet
let settler: SelfSettler

before(async () => {
  bench = await startSettlement()
})
after(() => bench.stop())
beforeEach(async () => {
  wallet = await newWallet(bench.anvil)
  settler = bench.settler({ wallets: [wallet] })
})
afterEach(() => settler.stop())

async function settled(payment: Payment): Promise<Payment> {
  const result = await settler.settle(payment, 10_000)
  assert.ok(result.kind === 'settled')
  return result.payment
}

/** Seconds of the chain's time until then. */
async function windowOf(seconds: number): Promise<bigint> {
  return BigInt((await bench.chain.head()).timestamp_s + seconds)
}

/** A row that nobody works on and whose transaction nobody knows. */
async function unknown(payer: PrivateKeyAccount, valid_before_s?: bigint): Promise<Payment> {
  const draft = { settler: 'https://nobody.example', method: 'facilitator' as const }
  const payment = await bench.settling(payer, { ...draft, valid_before_s: valid_before_s ?? (await windowOf(3_000)) })
  const { nonce } = payment
  await bench.store.payments.apply_transitions(
    [{ payer: payment.payer, nonce, to: 'unknown', reason: 'no_proof', transaction: null }],
    0,
    bench.clock.now_ms(),
  )
  return bench.row(payment)
}

/** Lets the chain's time pass, with blocks enough that all before is final. */
async function pass(seconds: number): Promise<void> {
  await bench.anvil.rpc('evm_increaseTime', [seconds])
  await bench.anvil.mine(4)
}

test('a settled row becomes final when its block does, and never before', async () => {
  settler.start()
  const row = await settled(await bench.settling(await bench.payer(), { settler: wallet.address }))
  assert.equal((await bench.reconcile()).finalized, 0)
  await bench.anvil.mine(2)
  assert.ok((await bench.reconcile()).finalized >= 1)
  assert.equal((await bench.row(row)).final, true)
})

// attack: old state, reorganised blocks, hidden logs
// in: money and signatures
// asset: income
// attacker: node
// defence: evidence from final blocks; the ledger is proved against the chain
test('a reorganisation takes the block away: the row is unknown, then settled anew by the same bytes', async () => {
  const payment = await bench.settling(await bench.payer(), { settler: wallet.address })
  const before_minor = await bench.held(bench.pay_to)
  const snapshot = await bench.anvil.snapshot()
  settler.start()
  const row = await settled(payment)
  await settler.stop()
  await bench.anvil.revert(snapshot)
  await bench.anvil.mine(2)
  assert.equal(await bench.held(bench.pay_to), before_minor)
  assert.equal((await bench.reconcile()).unknown, 1)
  const gone = await bench.row(payment)
  assert.deepEqual([gone.state, gone.reason, gone.block_hash], ['unknown', 'reorganised', null])
  settler = bench.settler({ wallets: [wallet] })
  settler.start()
  const again = await settled(payment)
  assert.equal(again.transaction, row.transaction)
  assert.notEqual(again.block_hash, row.block_hash)
  assert.equal(await bench.held(bench.pay_to), before_minor + 10_000n)
})

test('a transaction that a reorganisation moved to another block is booked there', async () => {
  const payment = await bench.settling(await bench.payer(), { settler: wallet.address })
  const snapshot = await bench.anvil.snapshot()
  settler.start()
  const row = await settled(payment)
  await settler.stop()
  const raw = (await bench.anvil.rpc('eth_getRawTransactionByHash', [row.transaction])) as string
  await bench.anvil.revert(snapshot)
  await bench.anvil.mine(2)
  await bench.anvil.rpc('eth_sendRawTransaction', [raw])
  await bench.anvil.mine()
  const summary = await bench.reconcile()
  assert.deepEqual([summary.unknown, summary.settled], [1, 1])
  const moved = await bench.row(payment)
  assert.equal(moved.state, 'settled')
  assert.equal(moved.transaction, row.transaction)
  assert.notEqual(moved.block_number, row.block_number)
})

test('what a reorganisation took away and then ran out unused is lost, and never called refused', async () => {
  const payment = await bench.settling(await bench.payer(), { settler: wallet.address, valid_before_s: await windowOf(300) })
  const snapshot = await bench.anvil.snapshot()
  settler.start()
  await settled(payment)
  await settler.stop()
  await bench.anvil.revert(snapshot)
  await bench.anvil.mine(2)
  await bench.reconcile()
  await pass(301)
  assert.equal((await bench.reconcile()).lost, 1)
  assert.equal((await bench.row(payment)).state, 'lost')
})

/** An answered payment that a reorganisation took away, whose same bytes are then mined and move nothing. */
async function failsAfterReorganisation(): Promise<Payment> {
  const payer = await bench.payer()
  const payment = await bench.settling(payer, { settler: wallet.address, valid_before_s: await windowOf(300) })
  const snapshot = await bench.anvil.snapshot()
  settler.start()
  await settled(payment)
  await settler.stop()
  await bench.anvil.revert(snapshot)
  await spendElsewhere(bench.anvil, payer, STRANGER, await bench.held(payer.address))
  await bench.anvil.mine(2)
  assert.equal((await bench.reconcile()).unknown, 1)
  settler = bench.settler({ wallets: [wallet] })
  settler.start()
  const sent = () => bench.anvil.rpc('eth_getTransactionCount', [wallet.address, 'latest'])
  const sent_before = await sent()
  await until('the same bytes are mined', async () => (await sent()) !== sent_before)
  await until('the sending is done', async () => (await bench.store.payments.open_sendings(wallet.address)).length === 0)
  await settler.stop()
  return payment
}

test('an answered payment that a reorganisation took away and that then fails is lost, whatever it failed for', async () => {
  const payment = await failsAfterReorganisation()
  assert.equal((await bench.row(payment)).state, 'unknown', 'it can still be executed by anybody')
  await pass(301)
  await bench.reconcile()
  assert.equal((await bench.row(payment)).state, 'lost')
})

test('and settled, when somebody sends it while it is valid', async () => {
  const payment = await failsAfterReorganisation()
  await bench.anvil.mint(payment.payer, 1_000_000n)
  await transferAsStranger(bench.anvil, payment)
  await bench.reconcile()
  assert.equal((await bench.row(payment)).state, 'settled')
})

test('an unknown payment settles by whoever sent it, and is refused when cancelled or spent elsewhere', async () => {
  const payers = await Promise.all([bench.payer(), bench.payer(), bench.payer()])
  const [paid, cancelled, elsewhere] = payers
  assert.ok(paid && cancelled && elsewhere)
  const rows = await Promise.all(payers.map((payer) => unknown(payer)))
  const [one, two, three] = rows
  assert.ok(one && two && three)
  assert.equal((await bench.reconcile()).settled, 0)
  const hash = await transferAsStranger(bench.anvil, one)
  await cancelAsPayer(bench.anvil, cancelled, two.nonce)
  await spendElsewhere(bench.anvil, elsewhere, STRANGER, 10_000n, three.nonce)
  await bench.reconcile()
  const ends = await Promise.all(rows.map((row) => bench.row(row)))
  assert.deepEqual(
    ends.map(({ state, reason }) => [state, reason]),
    [
      ['settled', null],
      ['refused', 'authorization_cancelled'],
      ['refused', 'authorization_used_elsewhere'],
    ],
  )
  assert.equal(ends[0]?.transaction, hash)
})

test('time alone refuses nothing: only a final block after the window, with the authorization unused, does', async () => {
  const payment = await unknown(await bench.payer(), await windowOf(200))
  await bench.anvil.rpc('evm_increaseTime', [201])
  await bench.anvil.mine()
  assert.deepEqual(await chainEvidence(bench.source, payment), { kind: 'open', used: false })
  await bench.reconcile()
  assert.equal((await bench.row(payment)).state, 'unknown')
  await bench.anvil.mine(3)
  await bench.reconcile()
  const row = await bench.row(payment)
  assert.deepEqual([row.state, row.reason], ['refused', 'expired_unused'])
})

test('a refused payment that a stranger sends after all is settled; one that has run out unused is final', async () => {
  const [late, never] = await Promise.all([unknown(await bench.payer()), unknown(await bench.payer(), await windowOf(200))])
  const refusal = { to: 'refused' as const, reason: 'transfer_refused', transaction: null }
  const keys = [late, never].map(({ payer, nonce }) => ({ payer, nonce }))
  await bench.store.payments.apply_transitions(
    keys.map((key) => ({ ...key, ...refusal })),
    0,
    bench.clock.now_ms() - 60_000,
  )
  await bench.reconcile()
  assert.deepEqual([(await bench.row(late)).state, (await bench.row(never)).final], ['refused', false])
  const hash = await transferAsStranger(bench.anvil, late)
  await pass(201)
  await bench.reconcile()
  const [paid, gone] = await Promise.all([bench.row(late), bench.row(never)])
  assert.deepEqual([paid.state, paid.transaction], ['settled', hash])
  assert.deepEqual([gone.state, gone.final], ['refused', true])
})

// attack: old state, reorganised blocks, hidden logs
test('a node whose newest state is old refuses nothing that its final state has as used', async () => {
  const payment = await unknown(await bench.payer(), await windowOf(200))
  const hash = await transferAsStranger(bench.anvil, payment)
  await pass(201)
  const { chain } = bench
  const unused = { ok: true as const, data: `0x${'0'.repeat(64)}` }
  const read: typeof chain.read = async (reads, at) => (at === undefined ? reads.map(() => unused) : chain.read(reads, at))
  const views = {
    head: () => chain.head(),
    header: chain.header.bind(chain),
    receipt: chain.receipt.bind(chain),
    logs: chain.logs.bind(chain),
  }
  assert.deepEqual(await chainEvidence({ ...bench.source, chain: { ...views, read } }, payment), { kind: 'open', used: true })
  await bench.reconcile()
  assert.equal((await bench.row(payment)).transaction, hash)
})

test('one transaction with two authorizations of a payer proves only the one that pays us', async () => {
  const payer = await bench.payer()
  const [paid, other] = [await unknown(payer), await unknown(payer)]
  // The same nonce and value, signed for another recipient, right before the transfer to us.
  const hash = await batchAsStranger(bench.anvil, payer, [{ ...other, to: STRANGER }, paid])
  const proof = await chainEvidence(bench.source, paid)
  assert.ok(proof.kind === 'settled')
  assert.equal(proof.at.transaction, hash)
  const elsewhere = { kind: 'used_without_transfer', reason: 'authorization_used_elsewhere', transaction: hash }
  assert.deepEqual(await chainEvidence(bench.source, other), elsewhere)
})

test('a facilitated row whose caller died is called unknown; what is open for ten minutes is reported, by count alone', async () => {
  const valid_before_s = await windowOf(3_000)
  const draft = { method: 'facilitator' as const, settler: 'https://nobody.example', valid_before_s }
  const payment = await bench.settling(await bench.payer(), draft)
  await bench.reconcile()
  assert.equal((await bench.row(payment)).state, 'unknown')
  bench.clock.ahead_ms += 600_001
  const { overdue } = await bench.reconcile()
  assert.ok(overdue >= 1)
  const said = bench.logged.filter((line) => line.startsWith('payments are open for too long'))
  assert.deepEqual(said.at(-1), `payments are open for too long ${JSON.stringify({ payments: overdue, minutes: 10 })}`)
})

test('a chain that does not answer is told in the summary, and claims that ran out are released all the same', async () => {
  const down = () => Promise.reject(Object.assign(new Error('no answer'), { code: 'CHAIN_UNAVAILABLE' }))
  const chain = { head: down, header: down, read: down, receipt: down, logs: down }
  let told = null as boolean | null
  const { store, clock } = bench
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  await unknown(await bench.payer())
  const job = reconcileJob({ store, source: { ...bench.source, chain }, clock, log }, (summary) => (told = summary.chain_answered))
  await job.run(clock.now_ms())
  assert.equal(told, false)
})
