import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { encodeFunctionData, type Hex } from 'viem'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { BATCH_SETTLER } from '../../src/pure/contracts/deployment.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { authorization, signTransfer, type Authorization } from '../support/authorization.ts'
import { contract } from '../support/contracts.ts'
import { until } from '../support/until.ts'
import { EPOCH, paymentIn } from '../support/store-payments.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

const PAY_TO = `0x${'2b'.repeat(20)}` as const

let anvil: Anvil
let desk: Desk
let store: Store
before(async () => {
  anvil = await startAnvil({ accounts: 3 })
  desk = await openDesk()
  store = await openStore(join(desk.settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite'))
  await store.identity({ mode: 'live', chain_id: 8453, pay_to: PAY_TO })
  for (const { address } of anvil.accounts) await anvil.mint(address, 1_000_000n)
})
after(async () => {
  await store.close()
  await desk.clear()
  await anvil.stop()
})

const settings = () => ({
  ASSAY_MODE: 'live',
  ASSAY_RPC_URLS: `${anvil.rpc_url}/?key=hunter2`,
  ASSAY_PAY_TO: PAY_TO,
  ASSAY_GAS_KEY_FILE: '/nowhere/gas.key',
})

async function prove(...args: string[]) {
  const { code, stdout, stderr } = await desk.run(['ledger', 'prove', ...args], { settings: settings() })
  assert.ok(!`${stdout}${stderr}`.includes('hunter2'))
  return { code, stdout }
}

interface Mined {
  transactionHash: string
  blockNumber: string
  blockHash: string
  status: string
}

/** Sends as the token's owner, whom the node acts for. */
async function send(to: string, data: Hex): Promise<Mined> {
  const hash = await anvil.rpc('eth_sendTransaction', [{ from: anvil.owner, to, data, gas: '0x7a120' }])
  const receipts: Mined[] = []
  // The node mines by itself, a moment after it has answered.
  await until('mined', async () => {
    const found = (await anvil.rpc('eth_getTransactionReceipt', [hash])) as Mined | null
    if (found !== null) receipts.push(found)
    return found !== null
  })
  const [receipt] = receipts
  assert.equal(receipt?.status, '0x1')
  return receipt
}

const usdc = contract('test-usdc').abi

async function signed(index: number, value: bigint): Promise<{ message: Authorization; signature: Hex }> {
  const payer = anvil.accounts[index] ?? assert.fail()
  const message = authorization(payer.address, PAY_TO, value)
  return { message, signature: await signTransfer(payer, anvil.chain_id, anvil.token, message) }
}

/** A row in state settled, where the chain has it. */
async function book({ from, nonce, value }: Authorization, { transactionHash, blockNumber, blockHash }: Mined): Promise<void> {
  const key = { payer: from.toLowerCase(), nonce }
  const now_ms = Date.now()
  await paymentIn(store, 'settling', { ...key, to: PAY_TO, value_minor: value, balance_minor: 1_000_000n, now_ms })
  const settled_at = { transaction: transactionHash, block_number: Number(blockNumber), block_hash: blockHash }
  assert.deepEqual(await store.payments.apply_transitions([{ ...key, to: 'settled', settled_at }], EPOCH, now_ms), [true])
}

async function paySingle(index: number, value: bigint): Promise<[Authorization, Mined]> {
  const { message, signature } = await signed(index, value)
  const args = [message.from, message.to, value, message.validAfter, message.validBefore, message.nonce, signature]
  return [message, await send(anvil.token, encodeFunctionData({ abi: usdc, functionName: 'transferWithAuthorization', args }))]
}

async function payBatch(values: bigint[]): Promise<[Authorization[], Mined]> {
  const parts = await Promise.all(values.map((value, index) => signed(index, value)))
  const items = parts.map(({ message, signature }) => ({
    ...message,
    v: Number(`0x${signature.slice(130)}`),
    r: `0x${signature.slice(2, 66)}`,
    s: `0x${signature.slice(66, 130)}`,
  }))
  const { abi } = contract('batch-settler')
  const data = encodeFunctionData({ abi, functionName: 'settle', args: [anvil.token, items] })
  return [parts.map(({ message }) => message), await send(BATCH_SETTLER.address, data)]
}

test('single and batched payments are proved, gifts are told apart, and a row without its money is found', async () => {
  await book(...(await paySingle(0, 5_000n)))
  const [messages, mined] = await payBatch([6_000n, 7_000n, 8_000n])
  for (const message of messages) await book(message, mined)
  // A gift, and an authorization to pay-to that nobody brought here.
  await anvil.mint(PAY_TO, 123n)
  const stranger = await paySingle(1, 1_000n)
  const held = encodeFunctionData({ abi: usdc, functionName: 'balanceOf', args: [PAY_TO] })
  assert.equal(BigInt(String(await anvil.rpc('eth_call', [{ to: anvil.token, data: held }, 'latest']))), 27_123n)

  const good = await prove()
  const proof = parsed(good.stdout) as Record<string, { count: number; amount_minor: string; first: Record<string, unknown>[] }>
  assert.deepEqual([good.code, proof['proved']], [0, true])
  const tally = (name: string) => [proof[name]?.count, proof[name]?.amount_minor]
  assert.deepEqual(
    [tally('settled'), tally('transfers'), tally('foreign')],
    [
      [4, '26000'],
      [6, '27123'],
      [2, '1123'],
    ],
  )
  assert.deepEqual(
    [tally('differences'), tally('not_final')],
    [
      [0, '0'],
      [4, '26000'],
    ],
  )
  assert.deepEqual(
    proof['foreign']?.first.map(({ from, nonce }) => [from, nonce]),
    [
      [`0x${'0'.repeat(40)}`, null],
      [stranger[0].from.toLowerCase(), stranger[0].nonce],
    ],
  )

  await book({ ...stranger[0], value: 1_001n }, stranger[1])
  const bad = await prove()
  assert.equal(bad.code, 1)
  const found = parsed(bad.stdout) as { proved: boolean; differences: { first: { kind: string; row: { amount_minor: string } }[] } }
  assert.equal(found.proved, false)
  assert.deepEqual(
    found.differences.first.map(({ kind, row }) => [kind, row.amount_minor]),
    [['other_value', '1001']],
  )
  const people = await prove('--text')
  assert.equal(people.code, 1)
  for (const words of [
    /○ not proved/,
    /settled rows +5 +0\.027001 USDC/,
    /transfers +6 +0\.027123 USDC/,
    /another value was moved/,
    /Not final/,
  ])
    assert.match(people.stdout, words)
})
