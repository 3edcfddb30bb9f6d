/** The chain port over JSON-RPC on a real node; expectations by viem and by the node itself. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createPublicClient, encodeFunctionData, erc20Abi, http, keccak256, parseAbi, type Hex, type PublicClient } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { Chain, ChainSender } from '../../src/ports/chain.ts'
import { balanceCall, decodeTransfer, TRANSFER_TOPIC, addressTopic } from '../../src/pure/payments/token-calls.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { until } from '../support/until.ts'

const GWEI = 1_000_000_000n
const ORACLE = '0x420000000000000000000000000000000000000f'
/** An account without code, balance or history. */
const NOBODY = '0x00000000000000000000000000000000000b0d1e'

let anvil: Anvil
let chain: Chain & ChainSender
let viem: PublicClient
let payer: PrivateKeyAccount
let friend: PrivateKeyAccount
let token: string

before(async () => {
  anvil = await startAnvil()
  const [first, second] = anvil.accounts
  assert.ok(first !== undefined && second !== undefined)
  ;[payer, friend] = [first, second]
  token = anvil.token.toLowerCase()
  chain = open()
  viem = createPublicClient({ transport: http(anvil.rpc_url) })
  await anvil.mint(payer.address, 1_000n)
})
after(() => anvil.stop())

function open(beforeRead?: () => Promise<void>) {
  return createChain({ urls: [anvil.rpc_url], chain_id: 8453, clock: systemClock, ...(beforeRead && { beforeRead }) })
}

async function signed(
  change: { nonce?: number; fee?: bigint; gas?: bigint; data?: Hex; by?: PrivateKeyAccount; to?: Hex } = {},
): Promise<Hex> {
  const { by = payer, fee = 2n * GWEI, gas = 100_000n, data = '0x', to = friend.address } = change
  const nonce = change.nonce ?? (await chain.account_nonce(by.address))
  return by.signTransaction({
    chainId: 8453,
    type: 'eip1559',
    to,
    data,
    nonce,
    gas,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee,
    value: 0n,
  })
}

describe('blocks', () => {
  test('the head is the newest block, as viem reads it', async () => {
    await anvil.mine()
    const block = await viem.getBlock()
    const head = await chain.head()
    const expected = { number: block.number, hash: block.hash, parent_hash: block.parentHash, timestamp_s: Number(block.timestamp) }
    assert.deepEqual(head, expected)
    assert.deepEqual(await chain.header(head.number), head)
  })

  test('a block that is not there is null; safe and finalized are blocks', async () => {
    const { number } = await chain.head()
    assert.equal(await chain.header(number + 1_000n), null)
    for (const tag of ['safe', 'finalized'] as const) assert.ok(((await chain.header(tag))?.number ?? -1n) <= number)
  })

  test('what has to happen before a read happens before a read', async () => {
    const { number } = await chain.head()
    const mining = open(() => anvil.mine())
    assert.equal((await mining.head()).number, number + 1n)
    await mining.read([{ kind: 'code', address: token }])
    assert.equal((await chain.head()).number, number + 2n)
    const broken = open(() => Promise.reject(new Error('no')))
    await assert.rejects(broken.head(), { code: 'CHAIN_UNAVAILABLE' })
  })
})

describe('reads', () => {
  test('calls, code and balances come in the order in which they were asked for', async () => {
    const [balance, code, wei, none, nothing] = await chain.read([
      { kind: 'call', to: token, data: balanceCall(payer.address) },
      { kind: 'code', address: token },
      { kind: 'balance', address: friend.address },
      { kind: 'code', address: NOBODY },
      { kind: 'call', to: NOBODY, data: '0x12345678' },
    ])
    const held = await viem.readContract({ address: anvil.token, abi: erc20Abi, functionName: 'balanceOf', args: [payer.address] })
    assert.deepEqual(balance, { ok: true, data: `0x${held.toString(16).padStart(64, '0')}` })
    assert.deepEqual(code, { ok: true, data: await viem.getCode({ address: anvil.token }) })
    assert.deepEqual(wei, { ok: true, data: `0x${(await viem.getBalance({ address: friend.address })).toString(16)}` })
    assert.deepEqual(
      [none, nothing],
      [
        { ok: true, data: '0x' },
        { ok: true, data: '0x' },
      ],
    )
  })

  test('more reads than a batch holds, and none', async () => {
    const many = await chain.read(
      Array.from({ length: 45 }, () => ({ kind: 'call' as const, to: token, data: balanceCall(payer.address) })),
    )
    assert.deepEqual(new Set(many.map((result) => result.ok && BigInt(result.data))), new Set([1_000n]))
    assert.equal(many.length, 45)
    assert.deepEqual(await chain.read([]), [])
  })

  test('an earlier block is read as it was', async () => {
    const { number } = await chain.head()
    await anvil.mint(friend.address, 77n)
    const read = { kind: 'call' as const, to: token, data: balanceCall(friend.address) }
    const [then, now] = await Promise.all([chain.read([read], number), chain.read([read])])
    assert.deepEqual(
      [then, now].map(([one]) => one?.ok === true && BigInt(one.data)),
      [0n, 77n],
    )
    await assert.rejects(chain.read([read], number + 1_000n), { code: 'CHAIN_UNAVAILABLE' })
  })

  test('a revert is a value: with a text, with nothing, and without gas', async () => {
    const at = '0x00000000000000000000000000000000000005e1'
    const [text] = await chain.read([{ kind: 'call', to: token, data: TRANSFER_TOO_MUCH, from: payer.address }])
    assert.ok(text?.ok === false && text.revert.startsWith('0x08c379a0') && text.message === 'ERC20: transfer amount exceeds balance')
    // REVERT(0, 0); INVALID; an endless loop; an opcode that is none; POP of an empty stack.
    for (const code of ['0x60006000fd', '0xfe', '0x5b600056', '0x0c', '0x50']) {
      await anvil.setCode(at, code)
      const [result] = await chain.read([{ kind: 'call', to: at, data: '0x', gas: 100_000n }])
      assert.ok(result?.ok === false && result.revert === '0x', code)
    }
  })
})

const TRANSFER_TOO_MUCH = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [NOBODY, 10n ** 30n] })

describe('transactions', () => {
  test('a transfer is accepted, found with its log, and known afterwards', async () => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [friend.address, 5n] })
    const raw = await signed({ data, to: anvil.token })
    assert.deepEqual(await chain.send(raw), { kind: 'accepted' })
    await until('mined', async () => (await chain.receipt(keccak256(raw))) !== null)
    const receipt = await chain.receipt(keccak256(raw))
    const expected = await viem.getTransactionReceipt({ hash: keccak256(raw) })
    assert.ok(receipt !== null)
    assert.deepEqual(
      [receipt.succeeded, receipt.block_number, receipt.block_hash, receipt.gas_used, receipt.effective_gas_price],
      [true, expected.blockNumber, expected.blockHash, expected.gasUsed, expected.effectiveGasPrice],
    )
    const transfers = receipt.logs.map(decodeTransfer)
    assert.deepEqual(transfers, [{ from: payer.address.toLowerCase(), to: friend.address.toLowerCase(), value_minor: 5n }])
    const filter = { address: token, topics: [TRANSFER_TOPIC, null, addressTopic(friend.address)] }
    const found = await chain.logs({ ...filter, from_block: receipt.block_number, to_block: receipt.block_number })
    assert.deepEqual(found, receipt.logs)
    assert.equal((await chain.send(raw)).kind, 'nonce_used')
  })

  test('a failed transaction has a receipt that says so, an unknown one has none', async () => {
    const raw = await signed({ data: TRANSFER_TOO_MUCH, to: anvil.token })
    await chain.send(raw)
    // The node mines by itself, a moment after it has answered.
    await until('mined', async () => (await chain.receipt(keccak256(raw))) !== null)
    assert.equal((await chain.receipt(keccak256(raw)))?.succeeded, false)
    assert.equal(await chain.receipt(keccak256('0x1234')), null)
  })

  test('logs beyond the head are not found by silence', async () => {
    const { number } = await chain.head()
    const beyond = { address: token, topics: [TRANSFER_TOPIC], from_block: number, to_block: number + 5n }
    await assert.rejects(chain.logs(beyond), { code: 'CHAIN_UNAVAILABLE' })
  })

  test('what waits in the pool is known, underpriced beside it, and used once mined', async () => {
    await anvil.automine(false)
    const nonce = await chain.account_nonce(payer.address)
    const raw = await signed({ nonce, fee: 20n * GWEI })
    assert.deepEqual(await chain.send(raw), { kind: 'accepted' })
    assert.deepEqual(await chain.send(raw), { kind: 'known' })
    assert.deepEqual(await chain.send(await signed({ nonce, fee: 10n * GWEI })), { kind: 'underpriced' })
    assert.equal(await chain.receipt(keccak256(raw)), null)
    assert.equal(await chain.account_nonce(payer.address), nonce)
    await anvil.automine(true)
    await anvil.mine()
    assert.equal(await chain.account_nonce(payer.address), nonce + 1)
    assert.deepEqual(await chain.send(await signed({ nonce, fee: 30n * GWEI })), { kind: 'nonce_used' })
  })

  test('what cannot be sent is refused in our words', async () => {
    const [, , poor] = anvil.accounts
    assert.ok(poor !== undefined)
    await anvil.setBalance(poor.address, 1n)
    assert.deepEqual(await chain.send(await signed({ by: poor })), { kind: 'refused', message: 'the account cannot pay for the gas' })
    assert.equal((await chain.send('0x02')).kind, 'refused')
  })

  test('fees, balance and the count of transactions are those that viem reads', async () => {
    const fees = await chain.fees()
    assert.equal(fees.base_fee_wei, (await viem.getBlock()).baseFeePerGas)
    assert.equal(fees.priority_fee_wei, await viem.estimateMaxPriorityFeePerGas())
    assert.equal(await chain.balance_wei(payer.address), await viem.getBalance({ address: payer.address }))
    assert.equal(await chain.account_nonce(payer.address), await viem.getTransactionCount({ address: payer.address }))
  })
})

describe('the data fee of OP chains', () => {
  test('is what the oracle bounds for the length, and nothing where there is no oracle', async () => {
    const raw = `0x${'ab'.repeat(300)}`
    const chain_without = open()
    assert.equal(await chain_without.data_fee_wei(raw), 0n)
    // Answers the word after the selector: getL1FeeUpperBound(n) = n.
    await anvil.setCode(ORACLE, '0x60043560005260206000f3')
    assert.equal(await open().data_fee_wei(raw), 300n)
    // That nothing is there is remembered.
    assert.equal(await chain_without.data_fee_wei(raw), 0n)
    // Before Fjord there is getL1Fee alone: reverts for calls of 36 bytes, answers 9 to longer ones.
    await anvil.setCode(ORACLE, '0x60243614601257600960005260206000f35b60006000fd')
    const selectors = parseAbi(['function getL1Fee(bytes) view returns (uint256)'])
    assert.equal(await viem.readContract({ address: ORACLE, abi: selectors, functionName: 'getL1Fee', args: [raw as Hex] }), 9n)
    assert.equal(await open().data_fee_wei(raw), 9n)
  })
})

describe('a process that was busy', () => {
  test('does not take its own lateness for that of the node', async () => {
    const busy = open()
    const asked = [busy.head(), busy.account_nonce(payer.address), busy.balance_wei(payer.address)]
    await new Promise(setImmediate)
    // Nothing else runs meanwhile, and the time of the requests passes.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_300)
    const outcomes = await Promise.allSettled(asked)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    )
    assert.equal(await busy.balance_wei(payer.address), await viem.getBalance({ address: payer.address }))
  })
})
