import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { encodeFunctionData, getContractAddress, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { DEPOSIT_FACTORY } from '../../src/pure/contracts/deployment.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { contract } from '../support/contracts.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

const PAY_TO = `0x${'2b'.repeat(20)}` as const
const ETHER = 10n ** 18n
/** Stands for the key of a provider, and for whatever else must never be shown. */
const SECRET = 'hunter2'

let anvil: Anvil
let desk: Desk
before(async () => {
  anvil = await startAnvil({ accounts: 0 })
  desk = await openDesk()
})
after(async () => {
  await desk.clear()
  await anvil.stop()
})

type Checks = { name: string; state: string; words: string }[]

async function gasFile(name: string, ...keys: string[]): Promise<string> {
  const path = await desk.file(name, keys.join('\n'))
  chmodSync(path, 0o600)
  return path
}

/** The checks of payments alone. */
async function examine(changes: Record<string, string>): Promise<{ code: number | null; checks: Checks }> {
  await anvil.mine()
  const live = { ASSAY_MODE: 'live', ASSAY_PORT: '0', ASSAY_RPC_URLS: `${anvil.rpc_url}/?key=${SECRET}`, ASSAY_PAY_TO: PAY_TO }
  const { code, stdout, stderr } = await desk.run(['doctor'], { settings: { ...live, ...changes } })
  assert.ok(!`${stdout}${stderr}`.includes(SECRET))
  const all = parsed(stdout)['checks'] as Checks
  return { code, checks: all.filter(({ name }) => /^(rpc|token|pay-to|deposits|gas|batches|facilitator|chain)$/.test(name)) }
}

test('public origins of this machine are told in live mode', async () => {
  const gas = await gasFile('origins.key', generatePrivateKey())
  const live = { ASSAY_MODE: 'live', ASSAY_PORT: '0', ASSAY_RPC_URLS: anvil.rpc_url, ASSAY_PAY_TO: PAY_TO, ASSAY_GAS_KEY_FILE: gas }
  const origins = async (changes: Record<string, string>) => {
    const { stdout } = await desk.run(['doctor'], { settings: { ...live, ...changes } })
    return (parsed(stdout)['checks'] as Checks).find(({ name }) => name === 'origins')
  }
  const local = await origins({ ASSAY_API_URL: 'https://api.example' })
  assert.equal(local?.state, 'warning')
  assert.match(local?.words ?? '', /^ASSAY_BASE_URL, ASSAY_SITE_URL, ASSAY_MCP_URL: /)
  const all = Object.fromEntries(['BASE', 'API', 'SITE', 'MCP'].map((name) => [`ASSAY_${name}_URL`, 'https://assay.example']))
  assert.equal((await origins(all))?.state, 'ok')
})

test('each further network has its own checks, named by the network, and its own wallet and coin', async () => {
  const polygon = await startAnvil({ accounts: 0, chain_id: 137 })
  const key = generatePrivateKey()
  const wallet = privateKeyToAccount(key).address
  await anvil.setBalance(wallet, 10n * ETHER)
  const networks = [
    { chain_id: 137, rpc_urls: [`${polygon.rpc_url}/?key=${SECRET}`] },
    { chain_id: 10, rpc_urls: [polygon.rpc_url] },
  ]
  const settings = { ASSAY_GAS_KEY_FILE: await gasFile('networks.key', key), ASSAY_NETWORKS: JSON.stringify(networks) }
  const poor = await examine(settings)
  await polygon.setBalance(wallet, 1_000n * ETHER)
  await polygon.mine()
  const rich = await examine(settings)
  await polygon.stop()
  const of = ({ checks }: typeof poor, name: string) => checks.filter(({ words }) => words.startsWith(`${name}: `))
  assert.deepEqual(states(of(poor, 'Polygon')), ['rpc ok', 'token ok', 'pay-to ok', 'gas failed', 'batches ok'])
  assert.deepEqual(states(of(rich, 'Polygon')), ['rpc ok', 'token ok', 'pay-to ok', 'gas ok', 'batches ok'])
  assert.match(
    of(rich, 'Polygon')
      .map(({ words }) => words)
      .join('\n'),
    /holds 1000\.000000 POL/,
  )
  // The endpoint of another chain.
  assert.equal(of(rich, 'OP Mainnet')[0]?.state, 'failed')
  assert.equal(rich.code, 1)
})

const states = (checks: Checks) => checks.map(({ name, state }) => `${name} ${state}`)

test('a live deployment in order: endpoint, token, pay-to, gas and batch contract', async () => {
  const key = generatePrivateKey()
  await anvil.setBalance(privateKeyToAccount(key).address, 10n * ETHER)
  const { code, checks } = await examine({ ASSAY_GAS_KEY_FILE: await gasFile('good.key', key) })
  assert.deepEqual(states(checks), ['rpc ok', 'token ok', 'pay-to ok', 'deposits ok', 'gas ok', 'batches ok'])
  assert.equal(code, 0)
  const words = checks.map((check) => check.words).join('\n')
  for (const one of [/chain 8453; block \d+ is \d+ s old/, /USD Coin, version 2, decimals 6/, /holds 10\.000000 ETH/])
    assert.match(words, one)
  assert.ok(!words.includes(key.slice(2)))
})

test('what is wrong is said, each by itself', async () => {
  const [poor, same] = [generatePrivateKey(), generatePrivateKey()]
  const cases: [string, Record<string, string>, RegExp][] = [
    [
      'an endpoint that is not there',
      { ASSAY_RPC_URLS: `${anvil.rpc_url},http://user:${SECRET}@127.0.0.1:9/${SECRET}` },
      /Endpoint 2 of 2, 127\.0\.0\.1, does not serve/,
    ],
    ['another chain', { ASSAY_CHAIN_ID: '84532' }, /it serves another chain/],
    ['an empty wallet', { ASSAY_GAS_KEY_FILE: await gasFile('poor.key', poor) }, /holds 0\.000000 ETH, .*settles nothing until/],
    [
      'a wallet that is paid',
      { ASSAY_GAS_KEY_FILE: await gasFile('same.key', same), ASSAY_PAY_TO: privateKeyToAccount(same).address },
      /The gas wallet 0x[0-9a-f]{40} is pay-to/,
    ],
    ['no key file', { ASSAY_GAS_KEY_FILE: '/nowhere/gas.key' }, /cannot be read/],
  ]
  const key = generatePrivateKey()
  await anvil.setBalance(privateKeyToAccount(key).address, 10n * ETHER)
  const good = await gasFile('other.key', key)
  for (const [name, changes, expected] of cases) {
    const { code, checks } = await examine({ ASSAY_GAS_KEY_FILE: good, ...changes })
    const failed = checks.filter(({ state }) => state === 'failed')
    assert.equal(code, 1, name)
    assert.ok(
      failed.some(({ words }) => expected.test(words)),
      `${name}: ${JSON.stringify(failed)}`,
    )
  }
})

test('a blacklisted payee, a paused token and a missing batch contract are found', async () => {
  const key = generatePrivateKey()
  await anvil.setBalance(privateKeyToAccount(key).address, 10n * ETHER)
  const file = { ASSAY_GAS_KEY_FILE: await gasFile('third.key', key) }
  const snapshot = await anvil.snapshot()
  const { abi } = contract('test-usdc')
  await anvil.asOwner(encodeFunctionData({ abi, functionName: 'blacklist', args: [PAY_TO] }))
  await anvil.asOwner(encodeFunctionData({ abi, functionName: 'pause' }))
  const { BATCH_SETTLER } = await import('../../src/pure/contracts/deployment.ts')
  await anvil.setCode(BATCH_SETTLER.address, '0x')
  await anvil.setCode(DEPOSIT_FACTORY.address, '0x')
  const bad = await examine(file)
  assert.deepEqual(states(bad.checks), ['rpc ok', 'token failed', 'pay-to failed', 'deposits warning', 'gas ok', 'batches warning'])
  assert.match(bad.checks[1]?.words ?? '', /paused/)
  assert.match(bad.checks[2]?.words ?? '', /blacklist: it cannot be paid/)
  assert.equal(await anvil.revert(snapshot), undefined)
  await anvil.setCode(anvil.token, '0x')
  const none = await examine(file)
  assert.match(none.checks.find(({ name }) => name === 'token')?.words ?? '', /name none, .*this is not USDC/)
})

test('the transaction that "assay invoice factory" prints deploys the factory', async () => {
  const placed = await anvil.rpc('eth_getCode', [DEPOSIT_FACTORY.address, 'latest'])
  const implementation = getContractAddress({ opcode: 'CREATE', from: DEPOSIT_FACTORY.address as Hex, nonce: 1n })
  for (const address of [DEPOSIT_FACTORY.address, implementation]) {
    await anvil.setCode(address, '0x')
    await anvil.rpc('anvil_setNonce', [address, '0x0'])
  }
  await anvil.mine()
  const live = {
    ASSAY_MODE: 'live',
    ASSAY_PORT: '0',
    ASSAY_RPC_URLS: anvil.rpc_url,
    ASSAY_PAY_TO: PAY_TO,
    ASSAY_GAS_KEY_FILE: '/nowhere/gas.key',
  }
  const show = () => desk.run(['invoice', 'factory'], { settings: live })
  const missing = await show()
  assert.deepEqual([missing.code, parsed(missing.stdout)['deployed']], [1, false], missing.stderr)
  const { to, data } = parsed(missing.stdout)['transaction'] as { to: string; data: string }
  const sender = '0x00000000000000000000000000000000000000a1'
  await anvil.setBalance(sender, ETHER)
  await anvil.rpc('anvil_impersonateAccount', [sender])
  const hash = await anvil.rpc('eth_sendTransaction', [{ from: sender, to, data, gas: '0x1e8480' }])
  await anvil.mine()
  const receipt = (await anvil.rpc('eth_getTransactionReceipt', [hash])) as { status: string; gasUsed: string }
  assert.deepEqual([receipt.status, await anvil.rpc('eth_getCode', [DEPOSIT_FACTORY.address, 'latest'])], ['0x1', placed])
  assert.ok(Number(receipt.gasUsed) < 800_000 && Number(receipt.gasUsed) > 600_000, receipt.gasUsed)
  const there = await show()
  assert.deepEqual([there.code, parsed(there.stdout)['deployed'], parsed(there.stdout)['factory']], [0, true, DEPOSIT_FACTORY.address])
})

test('a node whose newest block is old is not good enough', async () => {
  const old = { number: '0x10', hash: `0x${'11'.repeat(32)}`, parentHash: `0x${'22'.repeat(32)}`, timestamp: '0x68e77800' }
  const node = await answering((body) => {
    const { id, method } = JSON.parse(body) as { id: number; method: string }
    return { jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x2105' : old }
  })
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  const { checks } = await examine({ ASSAY_RPC_URLS: `${anvil.rpc_url},${url}`, ASSAY_GAS_KEY_FILE: '/nowhere/gas.key' })
  node.close()
  assert.deepEqual(states(checks).slice(0, 2), ['rpc ok', 'rpc failed'])
  assert.match(checks[1]?.words ?? '', /Endpoint 2 of 2, .*block 16 is \d+ s old\. That is stale/)
})

test('facilitators are asked for the network of this deployment', async () => {
  // What the x402 specification (version 2, "GET /supported") has a facilitator say.
  const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }]
  const server = await answering((_, path) => (path.endsWith('/supported') ? { kinds, extensions: [], signers: {} } : {}))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/v2/${SECRET}`
  const asked = await examine({ ASSAY_FACILITATOR_URLS: `${url},http://127.0.0.1:9/${SECRET}` })
  server.close()
  assert.deepEqual(states(asked.checks).slice(-2), ['facilitator ok', 'facilitator failed'])
  assert.match(asked.checks.at(-2)?.words ?? '', /settles exact payments on eip155:8453/)
})

test('the sandbox needs the program of its chain', async () => {
  const { stdout } = await desk.run(['doctor'], { settings: { ASSAY_PORT: '0' } })
  const found = (parsed(stdout)['checks'] as Checks).filter(({ name }) => name === 'chain')
  assert.deepEqual(states(found), ['chain ok'])
})

/** A server that answers every request with what becomes of its body. */
async function answering(answer: (body: string, path: string) => unknown): Promise<Server> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer(Buffer.concat(parts).toString(), request.url ?? '')))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
