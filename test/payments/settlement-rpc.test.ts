/** A node that drops answers, does not answer, or answers with old state. The chain behind it is real. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Chain, ChainFault, ChainSender } from '../../src/ports/chain.ts'
import { transferAsStranger } from '../support/token-acts.ts'
import { newWallet, startSettlement, until, type SettlementBench } from '../support/settlement.ts'

let bench: SettlementBench

before(async () => {
  bench = await startSettlement()
})
after(() => bench.stop())

function unavailable(): ChainFault {
  return Object.assign(new Error('no answer'), { code: 'CHAIN_UNAVAILABLE' as const, reason: 'unavailable' as const })
}

/** The chain with some of its methods changed. */
function chainWith(change: Partial<Chain & ChainSender>): { chain: Chain; sender: ChainSender } {
  const { chain } = bench
  const all: Chain & ChainSender = {
    chain_id: chain.chain_id,
    head: () => chain.head(),
    header: (at) => chain.header(at),
    read: (reads, at) => chain.read(reads, at),
    receipt: (hash) => chain.receipt(hash),
    logs: (filter) => chain.logs(filter),
    answers: () => chain.answers(),
    send: (raw) => chain.send(raw),
    account_nonce: (address) => chain.account_nonce(address),
    balance_wei: (address) => chain.balance_wei(address),
    fees: () => chain.fees(),
    data_fee_wei: (raw) => chain.data_fee_wei(raw),
    ...change,
  }
  return { chain: all, sender: all }
}

test('the answer to a broadcast is lost: the payment settles all the same, once', async () => {
  const wallet = await newWallet(bench.anvil)
  let sent = 0
  const send = async (raw: string) => {
    sent++
    await bench.chain.send(raw)
    throw unavailable()
  }
  const settler = bench.settler({ wallets: [wallet], ...chainWith({ send }) })
  settler.start()
  const result = await settler.settle(await bench.settling(await bench.payer(), { settler: wallet.address }), 10_000)
  await settler.stop()
  assert.equal(result.kind, 'settled')
  assert.ok(sent > 0)
  assert.equal(await bench.chain.account_nonce(wallet.address), 1)
})

test('the broadcast never arrives: the same bytes are sent again until they do', async () => {
  const wallet = await newWallet(bench.anvil)
  const tried: string[] = []
  const send = async (raw: string) => {
    tried.push(raw)
    if (tried.length < 3) throw unavailable()
    return bench.chain.send(raw)
  }
  const settler = bench.settler({ wallets: [wallet], ...chainWith({ send }) })
  settler.start()
  const result = await settler.settle(await bench.settling(await bench.payer(), { settler: wallet.address }), 10_000)
  await settler.stop()
  assert.equal(result.kind, 'settled')
  assert.deepEqual([tried.length, new Set(tried).size], [3, 1])
})

test('no receipt can be had: the call ends pending with its transaction, the row becomes unknown, and settles when the node is back', async () => {
  const wallet = await newWallet(bench.anvil)
  let back = false
  const receipt = (hash: string) => (back ? bench.chain.receipt(hash) : Promise.reject(unavailable()))
  const lost = chainWith({ receipt, read: (reads, at) => bench.chain.read(reads, at) })
  const settler = bench.settler({ wallets: [wallet], ...lost, rules: { unknown_ms: 50 } })
  settler.start()
  const payment = await bench.settling(await bench.payer(), { settler: wallet.address })
  const result = await settler.settle(payment, 300)
  assert.ok(result.kind === 'pending')
  const [open] = await bench.store.payments.open_sendings(wallet.address)
  assert.equal(result.transaction, open?.attempts[0]?.hash)
  await until('the row is unknown', async () => (await bench.row(payment)).state === 'unknown')
  back = true
  await until('the row is settled', async () => (await bench.row(payment)).state === 'settled')
  await settler.stop()
})

test('a node without receipts for it makes the row unknown after its time, and the writer goes on', async () => {
  const wallet = await newWallet(bench.anvil)
  let shown = false
  const receipt = (hash: string) => (shown ? bench.chain.receipt(hash) : Promise.resolve(null))
  const settler = bench.settler({ wallets: [wallet], ...chainWith({ receipt }), rules: { unknown_ms: 100 } })
  settler.start()
  const payment = await bench.settling(await bench.payer(), { settler: wallet.address })
  await until('the row is unknown', async () => (await bench.row(payment)).state === 'unknown')
  assert.equal((await bench.row(payment)).reason, 'no_receipt')
  shown = true
  const result = await settler.settle(payment, 10_000)
  await settler.stop()
  assert.equal(result.kind, 'settled')
})

test('a node with old state says unused: what a stranger has settled meanwhile is found by the receipt and counted once', async () => {
  const wallet = await newWallet(bench.anvil)
  const payment = await bench.settling(await bench.payer(), { settler: wallet.address })
  const before_minor = await bench.held(bench.pay_to)
  const hash = await transferAsStranger(bench.anvil, payment)
  let lies = 2
  const unused = { ok: true as const, data: `0x${'0'.repeat(64)}` }
  const read: Chain['read'] = async (reads, at) => {
    const truth = await bench.chain.read(reads, at)
    const asks = reads.some((one) => one.kind === 'call' && one.data.startsWith('0xe94a0102'))
    return asks && at === undefined && lies-- > 0 ? truth.map(() => unused) : truth
  }
  const settler = bench.settler({ wallets: [wallet], ...chainWith({ read }) })
  settler.start()
  const result = await settler.settle(payment, 10_000)
  await settler.stop()
  assert.ok(result.kind === 'settled')
  assert.equal(result.payment.transaction, hash)
  assert.equal(await bench.held(bench.pay_to), before_minor + 10_000n)
})

test('a node that is down keeps payments waiting, unsent and not refused; nobody new is taken', async () => {
  const wallet = await newWallet(bench.anvil)
  let down = true
  const guard = <T>(task: () => Promise<T>) => (down ? Promise.reject<T>(unavailable()) : task())
  const parts = chainWith({
    answers: () => Promise.resolve(!down),
    read: (reads, at) => guard(() => bench.chain.read(reads, at)),
    send: (raw) => guard(() => bench.chain.send(raw)),
    balance_wei: (address) => guard(() => bench.chain.balance_wei(address)),
    fees: () => guard(() => bench.chain.fees()),
  })
  const settler = bench.settler({ wallets: [wallet], ...parts })
  settler.start()
  const payment = await bench.settling(await bench.payer(), { settler: wallet.address })
  assert.equal((await settler.ready(payment.payer)).ok, false)
  assert.deepEqual(await settler.settle(payment, 300), { kind: 'pending', transaction: null })
  assert.equal((await bench.row(payment)).state, 'settling')
  down = false
  bench.clock.ahead_ms += 3_000
  assert.equal((await settler.settle(payment, 10_000)).kind, 'settled')
  await settler.stop()
})

test('a wallet that cannot pay for the next batch is not ready, says so aloud, and another takes its payers', async () => {
  const [poor, rich] = [await newWallet(bench.anvil, 1_000n), await newWallet(bench.anvil)]
  const lone = bench.settler({ wallets: [poor] })
  assert.deepEqual(await lone.ready('0x2'), { ok: false, detail: 'The gas wallet cannot pay for the next settlement.', retry_after_s: 60 })
  assert.ok(bench.logged.some((line) => line.startsWith('the gas wallet cannot settle') && line.includes(poor.address)))
  const both = bench.settler({ wallets: [poor, rich] })
  for (const payer of ['0x2', '0x3']) assert.deepEqual(await both.ready(payer), { ok: true, settler: rich.address })
})

// attack: settlements that fail on chain
test('payers keep their wallet, and a spent daily budget closes it', async () => {
  const wallets = [await newWallet(bench.anvil), await newWallet(bench.anvil)]
  const settler = bench.settler({ wallets })
  const taken = await Promise.all(['0x2', '0x3', '0x4', '0x5'].map((payer) => settler.ready(payer)))
  const [even, odd] = wallets.map(({ address }) => ({ ok: true as const, settler: address }))
  assert.deepEqual(taken, [even, odd, even, odd])
  const capped = bench.settler({ wallets, rules: { daily_gas_wei: 0n } })
  assert.equal((await capped.ready('0x2')).ok, false)
})
