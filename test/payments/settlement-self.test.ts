/** Payments through our own gas wallet, on a real node and a real store; signatures by viem. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Payment } from '../../src/ports/payments.ts'
import type { SelfSettler } from '../../src/service/payments/wallet-writer.ts'
import { transferAsStranger } from '../support/token-acts.ts'
import { startSettlement, type SettlementBench } from '../support/settlement.ts'

let bench: SettlementBench
let settler: SelfSettler

before(async () => {
  bench = await startSettlement()
  settler = bench.settler()
  settler.start()
})
after(async () => {
  await settler.stop()
  await bench.stop()
})

async function settledBy(payment: Payment): Promise<Payment> {
  const result = await settler.settle(payment, 10_000)
  assert.equal(
    result.kind,
    'settled',
    JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  )
  assert.ok(result.kind === 'settled')
  return result.payment
}

test('one payment settles: the money moved, and the row says in which transaction and block', async () => {
  const payer = await bench.payer()
  assert.deepEqual(await settler.ready(payer.address.toLowerCase()), { ok: true, settler: bench.wallet.address })
  const before_minor = await bench.held(bench.pay_to)
  const row = await settledBy(await bench.settling(payer, { value_minor: 12_345n }))
  assert.equal(await bench.held(bench.pay_to), before_minor + 12_345n)
  const receipt = (await bench.anvil.rpc('eth_getTransactionReceipt', [row.transaction])) as {
    blockHash: string
    blockNumber: string
    from: string
  }
  assert.equal(receipt.blockHash, row.block_hash)
  assert.equal(Number(receipt.blockNumber), row.block_number)
  assert.equal(receipt.from, bench.wallet.address)
})

test('sixty payments at once settle in few transactions, and the chain holds the sum', async () => {
  const payers = await Promise.all(Array.from({ length: 60 }, () => bench.payer()))
  const before_minor = await bench.held(bench.pay_to)
  const payments = await Promise.all(payers.map((payer, index) => bench.settling(payer, { value_minor: 10_000n + BigInt(index) })))
  const rows = await Promise.all(payments.map(settledBy))
  const sum = payments.reduce((total, { value_minor }) => total + value_minor, 0n)
  assert.equal(await bench.held(bench.pay_to), before_minor + sum)
  const transactions = new Set(rows.map(({ transaction }) => transaction))
  assert.ok(transactions.size <= 4, `${transactions.size} transactions`)
})

test('an authorization that a stranger sent, paying us, is ours', async () => {
  const payment = await bench.settling(await bench.payer())
  const hash = await transferAsStranger(bench.anvil, payment)
  const row = await settledBy(payment)
  assert.equal(row.transaction, hash)
})

test('what has too little life left is refused and never sent', async () => {
  const payer = await bench.payer()
  const before_nonce = await bench.chain.account_nonce(bench.wallet.address)
  const payment = await bench.settling(payer, { valid_before_s: BigInt(Math.floor(bench.clock.now_ms() / 1_000) + 3) })
  const result = await settler.settle(payment, 10_000)
  assert.ok(result.kind === 'refused')
  assert.equal(result.payment.reason, 'out_of_time')
  assert.equal(await bench.chain.account_nonce(bench.wallet.address), before_nonce)
})
