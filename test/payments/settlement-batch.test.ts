/** What happens to payments between the last look and the block, on a real node: one never fails another. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { BATCH_SETTLER } from '../../src/pure/contracts/deployment.ts'
import { cancelAsPayer, placeSmartWallet, spendElsewhere, transferAsStranger } from '../support/token-acts.ts'
import { newWallet, startSettlement, until, type SettlementBench } from '../support/settlement.ts'

const MOOD_REFUSING = encodeFunctionData({ abi: parseAbi(['function setMood(uint8)']), args: [1] })
const STRANGER = '0x00000000000000000000000000000000000000aa'

let bench: SettlementBench

before(async () => {
  bench = await startSettlement()
})
after(() => bench.stop())

async function people(count: number): Promise<PrivateKeyAccount[]> {
  return Promise.all(Array.from({ length: count }, () => bench.payer()))
}

test('each item of a batch ends as its own authorization does', async () => {
  const [first, cancelled, drained, delegated, elsewhere, helped, last] = await people(7)
  assert.ok(first && cancelled && drained && delegated && elsewhere && helped && last)
  const wallet = await newWallet(bench.anvil)
  const all = [first, cancelled, drained, delegated, elsewhere, helped, last]
  const payments = await Promise.all(all.map((payer) => bench.settling(payer, { settler: wallet.address })))
  const nonceOf = (payer: PrivateKeyAccount) => payments[all.indexOf(payer)]?.nonce ?? ''
  const [, , , , , sent_by_stranger] = payments
  assert.ok(sent_by_stranger !== undefined)
  const before_minor = await bench.held(bench.pay_to)
  let acted = false
  const reach = async (point: string) => {
    if (point !== 'before_send' || acted) return
    acted = true
    await cancelAsPayer(bench.anvil, cancelled, nonceOf(cancelled))
    await spendElsewhere(bench.anvil, drained, STRANGER, 1_000_000n)
    await bench.anvil.setCode(delegated.address, `0xef0100${bench.anvil.token.slice(2)}`)
    await spendElsewhere(bench.anvil, elsewhere, STRANGER, 10_000n, nonceOf(elsewhere))
    await transferAsStranger(bench.anvil, sent_by_stranger)
  }
  const settler = bench.settler({ wallets: [wallet], reach })
  settler.start()
  const results = await Promise.all(payments.map((payment) => settler.settle(payment, 10_000)))
  await settler.stop()
  assert.deepEqual(
    results.map((result) => ('payment' in result ? [result.kind, result.payment.reason] : [result.kind])),
    [
      ['settled', null],
      ['refused', 'authorization_cancelled'],
      ['refused', 'insufficient_balance'],
      ['refused', 'signature_withdrawn'],
      ['refused', 'authorization_used_elsewhere'],
      ['settled', null],
      ['settled', null],
    ],
  )
  assert.equal(await bench.held(bench.pay_to), before_minor + 30_000n)
  assert.equal(await bench.chain.account_nonce(wallet.address), 1)
})

test('two authorizations of one payer: a transfer of one proves nothing for the other', async () => {
  const [payer] = await people(1)
  assert.ok(payer !== undefined)
  const wallet = await newWallet(bench.anvil)
  const [one, two] = [await bench.settling(payer, { settler: wallet.address }), await bench.settling(payer, { settler: wallet.address })]
  let acted = false
  const reach = async (point: string) => {
    if (point !== 'before_send' || acted) return
    acted = true
    await spendElsewhere(bench.anvil, payer, STRANGER, 985_000n)
  }
  const settler = bench.settler({ wallets: [wallet], reach })
  settler.start()
  const results = await Promise.all([one, two].map((payment) => settler.settle(payment, 10_000)))
  await settler.stop()
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['settled', 'refused'],
  )
})

test('a contract wallet settles alone, by the form that takes any signature; when it changes its mind, nobody else is hurt', async () => {
  const [owner, other] = await people(2)
  assert.ok(owner && other)
  const wallet = await newWallet(bench.anvil)
  const smart = await placeSmartWallet(bench.anvil, owner.address, '0x0000000000000000000000000000000000000abc')
  await bench.anvil.mint(smart, 1_000_000n)
  const account = { ...owner, address: smart } as PrivateKeyAccount
  const payments = [
    await bench.settling(account, { settler: wallet.address, contract_payer: true }),
    await bench.settling(other, { settler: wallet.address }),
  ]
  const settler = bench.settler({ wallets: [wallet] })
  settler.start()
  const results = await Promise.all(payments.map((payment) => settler.settle(payment, 10_000)))
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['settled', 'settled'],
  )
  await bench.anvil.rpc('eth_sendTransaction', [{ from: bench.anvil.owner, to: smart, data: MOOD_REFUSING, gas: '0x30d40' }])
  await bench.anvil.mine()
  const refused = await settler.settle(await bench.settling(account, { settler: wallet.address, contract_payer: true }), 10_000)
  await settler.stop()
  assert.ok(refused.kind === 'refused')
  assert.equal(refused.payment.reason, 'signature_withdrawn')
})

test('where the batch contract is missing it is deployed once, and payments settle singly until it is there', async () => {
  await bench.anvil.setCode(BATCH_SETTLER.address, '0x')
  const wallet = await newWallet(bench.anvil)
  const settler = bench.settler({ wallets: [wallet] })
  const payments = await Promise.all((await people(3)).map((payer) => bench.settling(payer, { settler: wallet.address })))
  settler.start()
  const results = await Promise.all(payments.map((payment) => settler.settle(payment, 10_000)))
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['settled', 'settled', 'settled'],
  )
  await until('the contract is there', async () => (await bench.anvil.rpc('eth_getCode', [BATCH_SETTLER.address, 'latest'])) !== '0x')
  const more = await Promise.all((await people(3)).map((payer) => bench.settling(payer, { settler: wallet.address })))
  const again = await Promise.all(more.map((payment) => settler.settle(payment, 10_000)))
  const transactions = new Set(again.map((result) => (result.kind === 'settled' ? result.payment.transaction : result.kind)))
  await settler.stop()
  assert.equal(transactions.size, 1)
})
