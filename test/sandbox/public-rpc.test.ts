/** JSON-RPC of a sandbox's chain for anyone: reads and signed transactions, and nothing that changes the node. */
// attack: draining the faucet, changing the node, or keeping it busy

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createPublicClient, createWalletClient, defineChain, erc20Abi, getAddress, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { SANDBOX_RPC_RULES } from '../../src/service/limits.ts'
import { createPublicRpc } from '../../src/service/sandbox/public-rpc.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'

let app: TestApp
before(async () => {
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

async function send(body: unknown, client = '192.0.2.1') {
  const response = await fetch(`${app.url}/v1/sandbox/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': client },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown }
}

async function ask(method: string, params: unknown[] = []) {
  const { status, body } = await send({ jsonrpc: '2.0', id: 1, method, params })
  assert.equal(status, 200)
  return asMembers(body)
}

const errorOf = async (method: string, params: unknown[] = []) => asMembers((await ask(method, params))['error'] ?? {})

test('a wallet library reads balances and sends transactions that it signed', async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const funded = await fetch(`${app.url}/v1/sandbox/fund`, { method: 'POST', body: JSON.stringify({ address: account.address }) })
  const { contracts, rpc_url, chain_id } = (await funded.json()) as { contracts: Record<string, string>; rpc_url: string; chain_id: number }
  assert.equal(rpc_url, `${app.url}/v1/sandbox/rpc`)
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  const chain = defineChain({ id: chain_id, name: 'test', nativeCurrency, rpcUrls: { default: { http: [rpc_url] } } })
  const reader = createPublicClient({ chain, transport: http(rpc_url, { batch: true }), pollingInterval: 50 })
  const wallet = createWalletClient({ account, chain, transport: http() })
  const to = privateKeyToAccount(generatePrivateKey()).address
  const address = getAddress(contracts['usdc'] ?? '')
  const hash = await wallet.writeContract({ address, abi: erc20Abi, functionName: 'transfer', args: [to, 25_000_000n] })
  assert.equal((await reader.waitForTransactionReceipt({ hash })).status, 'success')
  const ether = await wallet.sendTransaction({ to, value: parseEther('0.001') })
  assert.equal((await reader.waitForTransactionReceipt({ hash: ether })).status, 'success')
  const balanceOf = { address, abi: erc20Abi, functionName: 'balanceOf', args: [to] } as const
  const read = await Promise.all([reader.readContract(balanceOf), reader.getBalance({ address: to }), reader.getChainId()])
  assert.deepEqual(read, [25_000_000n, parseEther('0.001'), chain_id])
  // A revert comes with its data, so that the library can name the reason.
  await assert.rejects(
    reader.simulateContract({ address, abi: erc20Abi, functionName: 'transfer', args: [to, 10n ** 12n], account }),
    /revert/i,
  )
})

test('methods that change the node, sign, trace or keep state are refused', async () => {
  const refused = [
    'anvil_mine anvil_setBalance anvil_setCode anvil_impersonateAccount anvil_dumpState anvil_loadState anvil_reset anvil_setLoggingEnabled',
    'evm_mine evm_increaseTime evm_snapshot evm_revert evm_setIntervalMining evm_setAutomine hardhat_setBalance hardhat_reset',
    'debug_traceTransaction debug_traceCall trace_block trace_filter ots_getBlockDetails erigon_getHeaderByNumber txpool_content',
    'eth_sendTransaction eth_sendUnsignedTransaction eth_sign eth_signTransaction eth_signTypedData_v4 eth_accounts personal_sign wallet_addEthereumChain',
    'eth_newFilter eth_newBlockFilter eth_newPendingTransactionFilter eth_getFilterChanges eth_getFilterLogs eth_uninstallFilter eth_subscribe',
    'eth_simulateV1 eth_createAccessList eth_getProof eth_mining ANVIL_MINE Anvil_mine __proto__ constructor toString',
  ].flatMap((line) => line.split(' '))
  const head = (await ask('eth_blockNumber'))['result']
  for (const method of refused) assert.equal((await errorOf(method))['code'], -32_601, method)
  assert.equal((await ask('eth_blockNumber'))['result'], head)
})

test('simulated calls are bounded in gas and cannot override the state', async () => {
  // JUMPDEST PUSH1 0 JUMP: a loop without end.
  const loop = { data: '0x5b600056' }
  for (const gas of [undefined, '0xffffffffffffffff', '0x5f5e100']) {
    const error = await errorOf('eth_call', [{ ...loop, ...(gas === undefined ? {} : { gas }) }, 'latest'])
    assert.match(String(error['message']), /gas/i)
  }
  for (const method of ['eth_call', 'eth_estimateGas']) {
    assert.equal((await errorOf(method, [loop, 'latest', { [`0x${'1'.repeat(40)}`]: { balance: '0x1' } }]))['code'], -32_602)
    assert.equal((await errorOf(method, ['latest']))['code'], -32_602)
    assert.equal((await errorOf(method, [{ ...loop, gas: -1 }]))['code'], -32_602)
  }
  assert.equal((await errorOf('eth_feeHistory', ['0x400', 'latest', []]))['code'], -32_602)
})

test('log queries are bounded in blocks', async () => {
  const logs = await ask('eth_getLogs', [{ fromBlock: 'earliest', toBlock: 'latest' }])
  assert.ok(Array.isArray(logs['result']))
  const far = `0x${(SANDBOX_RPC_RULES.log_blocks + 1n).toString(16)}`
  assert.match(String((await errorOf('eth_getLogs', [{ fromBlock: '0x0', toBlock: far }]))['message']), /at most 10000 blocks apart/)
  // The node reads "0X0" and a padded zero as block 0, so a range must not hide behind such a spelling.
  for (const fromBlock of ['0X0', `0x${'0'.repeat(20)}`, '0x', 0, {}])
    assert.match(
      String((await errorOf('eth_getLogs', [{ fromBlock, toBlock: 'latest' }]))['message']),
      /must be quantities/,
      JSON.stringify(fromBlock),
    )
  assert.match(
    String((await errorOf('eth_getLogs', [{ blockHash: null, fromBlock: '0x0', toBlock: far }]))['message']),
    /at most 10000 blocks apart/,
  )
})

test('simulations reach the node a few at a time, and one client cannot use all places', async () => {
  const { at_node, batch, client_in_flight, in_flight } = SANDBOX_RPC_RULES
  let [working, most] = [0, 0]
  const relay = async (calls: readonly unknown[]) => {
    working += calls.length
    most = Math.max(most, working)
    await new Promise((resolve) => void setImmediate(resolve))
    working -= calls.length
    return calls.map(() => ({ result: '0x' }))
  }
  const rpc = createPublicRpc({ node: { relay }, clock: { steady_ms: () => 0 }, onFault: (error) => assert.fail(String(error)) })
  const calls = Array.from({ length: batch }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_call', params: [{ data: '0x5b600056' }] }))
  const flooded = (client: string, count: number) => Array.from({ length: count }, () => rpc.answer(calls, client))
  const [flood, other] = [flooded('203.0.113.1', client_in_flight), flooded('198.51.100.1', 1)]
  const refused = await rpc.answer(calls, '203.0.113.1')
  assert.deepEqual([refused.ok, !refused.ok && refused.problem.code], [false, 'OVERLOADED'])
  assert.ok(client_in_flight < in_flight)
  for (const end of await Promise.all([...flood, ...other]))
    assert.deepEqual([end.ok, end.ok && (end.body as unknown[]).length], [true, batch])
  assert.equal(most, at_node)
})

test('what is not JSON-RPC is refused with the reason', async () => {
  const malformed = [{}, [], 7, null, 'text', { method: 7 }, { method: 'eth_call', params: {} }, [[]]]
  for (const body of malformed) {
    const end = await send(JSON.stringify(body))
    const [first] = Array.isArray(end.body) ? (end.body as unknown[]) : [end.body]
    assert.deepEqual([end.status, asMembers(asMembers(first)['error'])['code']], [200, -32_600], JSON.stringify(body))
  }
  assert.equal(asMembers((await send('{"jsonrpc":')).body)['code'], 'PARSE_ERROR')
  const large = await send({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: ['0'.repeat(SANDBOX_RPC_RULES.body_bytes)] })
  assert.deepEqual([large.status, asMembers(large.body)['code']], [413, 'PAYLOAD_TOO_LARGE'])
  const batch = Array.from({ length: SANDBOX_RPC_RULES.batch + 1 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }))
  assert.match(String(asMembers(asMembers((await send(batch)).body)['error'])['message']), /1 to 20 calls; found 21/)
  // Ids come back as they were, answers in their order.
  const mixed = await send([
    { jsonrpc: '2.0', id: 'one', method: 'eth_chainId' },
    { jsonrpc: '2.0', id: 2, method: 'evm_mine' },
    { jsonrpc: '2.0', id: null, method: 'net_version', params: [] },
  ])
  const shown = (mixed.body as Record<string, unknown>[]).map(({ id, result, error }) => [id, result ?? asMembers(error)['code']])
  assert.deepEqual(shown, [
    ['one', '0x14a34'],
    [2, -32_601],
    [null, '84532'],
  ])
})

test('calls are counted for a client and its network, also those of a batch, until the minute ends', async () => {
  const { batch, client_per_minute, network_per_minute } = SANDBOX_RPC_RULES
  const { sandbox } = app.running.app.deps
  assert.ok(sandbox !== null)
  const clock = { ms: 60_000 }
  const rpc = createPublicRpc({ node: sandbox.node, clock: { steady_ms: () => clock.ms }, onFault: (error) => assert.fail(String(error)) })
  const calls = Array.from({ length: batch }, (_, id) => ({ jsonrpc: '2.0', id, method: 'evm_mine' }))
  /** Calls that a client could send before it was refused. */
  const admitted = async (client: string) => {
    for (let sent = 0; sent <= network_per_minute; sent += batch) {
      const end = await rpc.answer(calls, client)
      if (end.ok) continue
      assert.deepEqual([end.problem.code, end.problem.retry_after_s], ['TEST_NETWORK_RATE_LIMITED', 60])
      return sent
    }
    return assert.fail('it was not refused')
  }
  assert.equal(await admitted('203.0.113.1'), client_per_minute)
  assert.equal(await admitted('203.0.113.2'), client_per_minute)
  const rest = await admitted('203.0.113.3')
  assert.ok(rest < client_per_minute && rest <= network_per_minute - 2 * client_per_minute, String(rest))
  assert.equal((await rpc.answer(calls, '198.51.100.1')).ok, true)
  clock.ms += 60_000
  assert.equal((await rpc.answer(calls, '203.0.113.1')).ok, true)
})
