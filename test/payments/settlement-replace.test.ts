/** Transactions that no block takes: fees, cancels and gaps, on a real node that mines when told. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { parseTransaction, type Hex } from 'viem'
import type { GasWallet } from '../../src/ports/gas-wallet.ts'
import type { Payment, WalletSending } from '../../src/ports/payments.ts'
import type { SelfSettler } from '../../src/service/payments/wallet-writer.ts'
import type { WriterRules } from '../../src/service/payments/writer-rules.ts'
import { newWallet, startSettlement, until, type SettlementBench } from '../support/settlement.ts'

let bench: SettlementBench
let wallet: GasWallet
let settler: SelfSettler | null = null

before(async () => {
  bench = await startSettlement()
})
after(() => bench.stop())
beforeEach(async () => {
  wallet = await newWallet(bench.anvil)
})
afterEach(async () => {
  await settler?.stop()
  settler = null
  await bench.anvil.automine(true)
})

function started(rules: Partial<WriterRules>): SelfSettler {
  settler = bench.settler({ wallets: [wallet], rules })
  settler.start()
  return settler
}

async function pending(): Promise<Payment> {
  const payer = await bench.payer()
  return bench.settling(payer, { settler: wallet.address })
}

async function opened(words: string, holds: (sending: WalletSending) => boolean): Promise<WalletSending> {
  let found: WalletSending | undefined
  await until(words, async () => {
    found = (await bench.store.payments.open_sendings(wallet.address)).find(holds)
    return found !== undefined
  })
  assert.ok(found !== undefined)
  return found
}

/** The sending is cancelled, and the node has the cancel in place of the payment: what is mined now is the cancel. */
async function cancelled(): Promise<WalletSending> {
  const cancel = await opened('the cancel', ({ kind }) => kind === 'cancel')
  const hash = cancel.attempts.at(-1)?.hash
  await until('the node has the cancel', async () => (await bench.anvil.rpc('eth_getTransactionByHash', [hash])) !== null)
  return cancel
}

test('a stuck transaction is replaced by one that pays at least 12.5 % more on both fees, with the same nonce and payments', async () => {
  const payment = await pending()
  await bench.anvil.automine(false)
  const writer = started({ bump_after_ms: 100, rebroadcast_ms: 50, bumps_max: 100 })
  const sending = await opened('a replacement', ({ attempts }) => attempts.length >= 3)
  const [first, second] = sending.attempts.map(({ raw }) => parseTransaction(raw as Hex))
  assert.ok(first !== undefined && second !== undefined)
  assert.equal(second.nonce, first.nonce)
  assert.equal(second.data, first.data)
  assert.ok((second.maxFeePerGas ?? 0n) * 8n >= (first.maxFeePerGas ?? 0n) * 9n)
  assert.ok((second.maxPriorityFeePerGas ?? 0n) * 8n >= (first.maxPriorityFeePerGas ?? 0n) * 9n)
  await bench.anvil.automine(true)
  await bench.anvil.mine()
  const result = await writer.settle(payment, 10_000)
  assert.ok(result.kind === 'settled')
  assert.notEqual(result.payment.transaction, sending.attempts[0]?.hash)
  assert.equal(await bench.chain.account_nonce(wallet.address), 1)
})

test('when the base fee has risen above what was offered, the replacement pays it', async () => {
  const payment = await pending()
  await bench.anvil.automine(false)
  const writer = started({ bump_after_ms: 100, rebroadcast_ms: 50, bumps_max: 100, max_fee_wei: 10n ** 13n })
  const sending = await opened('the sending', () => true)
  const risen = 4n * (sending.attempts[0]?.max_fee_wei ?? 0n)
  await bench.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${risen.toString(16)}`])
  await bench.anvil.mine()
  assert.equal((await bench.row(payment)).state, 'settling')
  await opened('a fee above it', ({ attempts }) => (attempts.at(-1)?.max_fee_wei ?? 0n) > risen)
  await until('it is settled', async () => {
    await bench.anvil.mine()
    return (await bench.row(payment)).state === 'settled'
  })
  assert.equal((await writer.settle(payment, 100)).kind, 'settled')
  await bench.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00'])
  await bench.anvil.mine()
})

test('after three replacements the slot is freed by a transfer of nothing, and the payment goes out again', async () => {
  const payment = await pending()
  await bench.anvil.automine(false)
  const writer = started({ bump_after_ms: 60, rebroadcast_ms: 30 })
  const cancel = await cancelled()
  const [, , , , last] = cancel.attempts.map(({ raw }) => parseTransaction(raw as Hex))
  assert.deepEqual([last?.to, last?.data, last?.value, last?.gas], [wallet.address, undefined, undefined, 21_000n])
  assert.equal((await bench.row(payment)).state, 'settling')
  await bench.anvil.mine()
  await opened('the payment under the next account nonce', ({ account_nonce }) => account_nonce === 1)
  await until('it is settled', async () => {
    await bench.anvil.mine()
    return (await bench.row(payment)).state === 'settled'
  })
  const result = await writer.settle(payment, 100)
  assert.ok(result.kind === 'settled')
  assert.equal(result.payment.account_nonce, 1)
})

test('a payment that was cancelled with too little life left is refused', async () => {
  const payment = await bench.settling(await bench.payer(), {
    settler: wallet.address,
    valid_before_s: BigInt(Math.floor(bench.clock.now_ms() / 1_000) + 60),
  })
  await bench.anvil.automine(false)
  const writer = started({ bump_after_ms: 60, rebroadcast_ms: 30 })
  await cancelled()
  bench.clock.ahead_ms += 57_000
  await bench.anvil.mine()
  const result = await writer.settle(payment, 10_000)
  assert.ok(result.kind === 'refused')
  assert.equal(result.payment.reason, 'out_of_time')
})

test('a transaction that the node forgot is sent again as it is, and those behind it follow', async () => {
  const first = await pending()
  const second = await pending()
  await bench.anvil.automine(false)
  const writer = started({ batch_items: 1, bump_after_ms: 60_000 })
  await opened('both are sent', ({ account_nonce }) => account_nonce === 1)
  const [lost] = await bench.store.payments.open_sendings(wallet.address)
  await bench.anvil.rpc('anvil_dropTransaction', [lost?.attempts[0]?.hash])
  await until('both are settled', async () => {
    await bench.anvil.mine()
    return (await bench.row(second)).state === 'settled' && (await bench.row(first)).state === 'settled'
  })
  const result = await writer.settle(first, 100)
  assert.ok(result.kind === 'settled')
  assert.equal(result.payment.transaction, lost?.attempts[0]?.hash)
})

test('a gap before the first open transaction is closed: with stored bytes where there are some, else with nothing', async () => {
  const guard = { lease: `settlement:${wallet.address}`, fence: 0 }
  guard.fence = (await bench.store.lease(guard.lease, 'earlier', bench.clock.now_ms(), bench.clock.now_ms() + 1_000)) ?? 0
  const call = { to: wallet.address, data: '0x', gas: 21_000n }
  const fees = { max_fee_wei: 5_000_000_000n, priority_fee_wei: 1_000_000_000n }
  const stored = wallet.sign({ account_nonce: 1, ...call, ...fees })
  const attempt = { ...stored, ...fees, stored_ms: bench.clock.now_ms() }
  const sending = { wallet: wallet.address, account_nonce: 1, kind: 'cancel' as const, ...call, created_ms: bench.clock.now_ms() }
  assert.ok(await bench.store.payments.add_sending(sending, attempt, [], guard))
  assert.ok(await bench.store.payments.finish_sending(wallet.address, 1, guard))
  bench.clock.ahead_ms += 1_001
  const writer = started({})
  const result = await writer.settle(await pending(), 10_000)
  assert.ok(result.kind === 'settled')
  assert.equal(result.payment.account_nonce, 2)
  assert.equal(await bench.chain.account_nonce(wallet.address), 3)
  assert.ok((await bench.chain.receipt(stored.hash)) !== null)
})

test('an account nonce that somebody else used is given up, and the payment goes out again', async () => {
  const payment = await pending()
  await bench.anvil.automine(false)
  const writer = started({ bump_after_ms: 60_000, slot_lost_ms: 300 })
  const sending = await opened('the sending', () => true)
  await bench.anvil.rpc('anvil_dropTransaction', [sending.attempts[0]?.hash])
  const fees = { max_fee_wei: 50_000_000_000n, priority_fee_wei: 20_000_000_000n }
  const other = wallet.sign({ account_nonce: 0, to: wallet.address, data: '0x', gas: 21_000n, ...fees })
  await bench.anvil.rpc('eth_sendRawTransaction', [other.raw])
  await bench.anvil.automine(true)
  await bench.anvil.mine()
  const result = await writer.settle(payment, 10_000)
  assert.ok(result.kind === 'settled')
  assert.equal(result.payment.account_nonce, 1)
})
