import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { keccak256, toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { anvilBinary, rpcRequest, SandboxChainError, sandboxFiles } from '../../src/adapters/chain/sandbox-process.ts'
import { BATCH_SETTLER } from '../../src/pure/contracts/deployment.ts'
import { USDC } from '../support/anvil.ts'
import { running } from '../support/until.ts'
import { CHAIN_ID, gas_wallet, options, pay, payer, PAYEE, record, startChain, usdcOf } from './chain.ts'

const ETHER = 10n ** 18n

test('a new sandbox has a token, a batch contract and two funded wallets, and nothing that anybody else has the key of', async (t) => {
  const chain = await startChain(t, options(t))
  const rpc = rpcRequest(chain.rpc_url)
  const ether = async (address: string) => BigInt(String(await rpc('eth_getBalance', [address, 'latest'])))
  assert.equal(chain.owned, true)
  assert.match(chain.rpc_url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal(Number(await rpc('eth_chainId')), CHAIN_ID)
  assert.equal(await usdcOf(chain.rpc_url, payer.address), 1_000_000_000n)
  assert.deepEqual([await ether(payer.address), await ether(gas_wallet.address)], [10n * ETHER, 10n * ETHER])
  assert.notEqual(await rpc('eth_getCode', [BATCH_SETTLER.address, 'latest']), '0x')
  assert.deepEqual(await rpc('eth_accounts'), [])
  // The mnemonic that anvil's documentation publishes.
  for (let index = 0; index < 10; index += 1) {
    const published = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: index })
    assert.equal(await ether(published.address), 0n)
  }
})

test('the funding is a transfer that the log shows', async (t) => {
  const chain = await startChain(t, options(t))
  const topics = [
    keccak256(toHex('Transfer(address,address,uint256)')),
    null,
    `0x${payer.address.slice(2).toLowerCase().padStart(64, '0')}`,
  ]
  const logs = (await rpcRequest(chain.rpc_url)('eth_getLogs', [{ fromBlock: '0x0', topics }])) as { data: string }[]
  assert.deepEqual(
    logs.map(({ data }) => BigInt(data)),
    [1_000_000_000n],
  )
})

test('a chain of id 8453 has its token where Base has it', async (t) => {
  const token = { address: USDC[8453] ?? '' }
  const chain = await startChain(t, options(t, { chain_id: 8453, token }))
  const rpc = rpcRequest(chain.rpc_url)
  assert.equal(Number(await rpc('eth_chainId')), 8453)
  assert.notEqual(await rpc('eth_getCode', [token.address, 'latest']), '0x')
})

for (const keeping of ['guarded', 'bare'] as const) {
  test(`a stop leaves no process and no record, and the next start goes on from the last block (${keeping})`, async (t) => {
    const order = options(t, { keeping })
    const first = await startChain(t, order)
    const { pid, guard_pid } = record(order)
    assert.ok(running(pid) && (guard_pid === null) === (keeping === 'bare'))
    const hash = await pay(first.rpc_url)
    const receipt = await rpcRequest(first.rpc_url)('eth_getTransactionReceipt', [hash])
    assert.equal((receipt as { status: string }).status, '0x1')
    await Promise.all([first.stop(), first.stop()])
    assert.deepEqual([running(pid), guard_pid !== null && running(guard_pid)], [false, false])
    assert.equal(existsSync(sandboxFiles(order.directory).record), false)

    const second = await startChain(t, order)
    const rpc = rpcRequest(second.rpc_url)
    assert.deepEqual(await rpc('eth_getTransactionReceipt', [hash]), receipt)
    const { blockHash } = receipt as { blockHash: string }
    const logs = (await rpc('eth_getLogs', [{ blockHash }])) as { transactionHash: string }[]
    assert.deepEqual(
      logs.map(({ transactionHash }) => transactionHash),
      [hash, hash],
    )
    const { transactions } = (await rpc('eth_getBlockByHash', [blockHash, false])) as { transactions: string[] }
    assert.deepEqual(transactions, [hash])
    assert.equal(((await rpc('eth_getTransactionByHash', [hash])) as { from: string }).from, gas_wallet.address.toLowerCase())
    await pay(second.rpc_url)
    assert.deepEqual([await usdcOf(second.rpc_url, PAYEE), await usdcOf(second.rpc_url, payer.address)], [2_000_000n, 998_000_000n])
  })
}

test('a chain that was stopped goes on at the time of day, even when its last block lay ahead', async (t) => {
  const order = options(t)
  const first = await startChain(t, order)
  await rpcRequest(first.rpc_url)('evm_increaseTime', [3_600])
  await rpcRequest(first.rpc_url)('evm_mine')
  await first.stop()
  const second = await startChain(t, order)
  const rpc = rpcRequest(second.rpc_url)
  await rpc('evm_mine')
  const { timestamp } = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
  const age_s = Date.now() / 1_000 - Number(timestamp)
  assert.ok(age_s > -5 && age_s < 60, `the head is ${age_s} s old`)
})

test('a machine without a binary is told so', () => {
  assert.ok(existsSync(anvilBinary()))
  assert.throws(() => anvilBinary('sunos', 'sparc'), new SandboxChainError(noBinary('sunos-sparc')))
  assert.throws(() => anvilBinary('win32', 'x64'), /optional package @foundry-rs\/anvil-win32-amd64, which is not installed/)
})

function noBinary(machine: string): string {
  const known = 'darwin-arm64, darwin-x64, linux-arm64, linux-x64, win32-x64'
  return `The sandbox chain runs on ${known}, not on ${machine}; use ASSAY_MODE=live with an RPC URL.`
}
