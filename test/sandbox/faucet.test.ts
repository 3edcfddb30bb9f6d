/** The faucet of a sandbox: test money for any address, within bounds, with nothing but the public URL. */
// attack: draining the faucet, changing the node, or keeping it busy
// in: money and signatures
// asset: the chain of a public sandbox
// attacker: client
// defence: budgets by address, client, network and day; a list of allowed methods, bounded gas, log ranges, batches and rates

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createPublicClient, defineChain, erc20Abi, getAddress, http, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { sandboxNode } from '../../src/adapters/chain/sandbox-node.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { SandboxNode } from '../../src/ports/sandbox.ts'
import type { Store } from '../../src/ports/store.ts'
import { FAUCET_RULES } from '../../src/service/limits.ts'
import { createFaucet } from '../../src/service/sandbox/faucet.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startCreditApp } from '../support/credits.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'

interface Amount {
  token: string
  amount_minor: string
  transaction: Hex
}

interface Answer {
  status: number
  body: Record<string, unknown> & {
    given: Amount[]
    balances: Amount[]
    contracts: Record<string, Hex>
    errors: { pointer: string; message: string }[]
  }
}

let app: TestApp
before(async () => {
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

async function post(url: string, body: unknown, client = '192.0.2.1'): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': client }
  const response = await fetch(`${url}/v1/sandbox/fund`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address

function viemAt(url: string) {
  const rpcUrls = { default: { http: [`${url}/v1/sandbox/rpc`] } }
  const chain = defineChain({ id: 84_532, name: 'test', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 }, rpcUrls })
  return createPublicClient({ chain, transport: http() })
}

test('a new address gets USDC, EURC and ether once a day, and viem sees them on the chain', async () => {
  const address = newAddress()
  const funded = await post(app.url, { address })
  assert.deepEqual([funded.status, funded.body['funded'], funded.body['address']], [200, true, address])
  const { usdc, eurc, eth } = FAUCET_RULES.amounts
  const expected = [
    ['usdc', usdc],
    ['eurc', eurc],
    ['eth', eth],
  ].map(([token, amount]) => [token, String(amount)])
  for (const list of [funded.body.given, funded.body.balances])
    assert.deepEqual(
      list.map((one) => [one.token, one.amount_minor]),
      expected,
    )
  const client = viemAt(app.url)
  for (const { transaction } of funded.body.given) {
    assert.equal((await client.getTransactionReceipt({ hash: transaction })).status, 'success')
  }
  const held = (token: Hex | undefined) =>
    client.readContract({ address: getAddress(token ?? '0x'), abi: erc20Abi, functionName: 'balanceOf', args: [address] })
  const { contracts } = funded.body
  assert.deepEqual([await held(contracts['usdc']), await held(contracts['eurc']), await client.getBalance({ address })], [usdc, eurc, eth])

  const again = await post(app.url, { address: address.toLowerCase() })
  assert.deepEqual([again.status, again.body['funded'], again.body.given], [200, false, []])
  assert.deepEqual(again.body['already_given'], ['usdc', 'eurc', 'eth'])
  assert.deepEqual(
    again.body.balances.map((one) => [one.token, one.amount_minor]),
    expected,
  )
  assert.equal(await held(contracts['usdc']), usdc)
})

test('one token can be asked for; the others are still due', async () => {
  const address = newAddress()
  const first = await post(app.url, { address, token: 'eurc' })
  assert.deepEqual(
    first.body.given.map(({ token }) => token),
    ['eurc'],
  )
  const second = await post(app.url, { address })
  assert.deepEqual([second.body.given.map(({ token }) => token), second.body['already_given']], [['usdc', 'eth'], ['eurc']])
})

test('requests at the same time do not collide', async () => {
  const addresses = Array.from({ length: 40 }, newAddress)
  const answers = await Promise.all(addresses.map((address, index) => post(app.url, { address }, `198.51.100.${index}`)))
  assert.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body.given.length}`)), new Set(['200 3']))
  const hashes = answers.flatMap(({ body }) => body.given.map(({ transaction }) => transaction))
  assert.equal(new Set(hashes).size, 120)
  // The same address twice is given once.
  const address = newAddress()
  const both = await Promise.all([post(app.url, { address }), post(app.url, { address })])
  assert.equal(both.filter(({ body }) => body['funded'] === true).length, 1)
})

test('an address that nobody can use, or a wrong one, is refused with its field', async () => {
  const { usdc, eurc, pay_to } = ((await (await fetch(`${app.url}/health`)).json()) as { sandbox: Record<string, Hex> }).sandbox
  const mixed = getAddress(newAddress())
  const flipped = mixed.replace(/[a-f]/, (letter) => letter.toUpperCase())
  for (const address of [`0x${'0'.repeat(40)}`, usdc, eurc, pay_to, flipped, '0x12', 7, undefined]) {
    const refused = await post(app.url, { address })
    assert.deepEqual(
      [refused.status, refused.body['code'], refused.body.errors[0]?.pointer],
      [400, 'INPUT_SCHEMA_INVALID', '/address'],
      String(address),
    )
  }
  assert.equal((await post(app.url, { address: newAddress(), token: 'usdt' })).body.errors[0]?.pointer, '/token')
})

test('a client may ask only so often a minute', async () => {
  const ask = () => post(app.url, { address: newAddress(), token: 'usdt' }, '203.0.113.9')
  // The minute of the clock may end meanwhile.
  const answers = await Promise.all(Array.from({ length: 2 * FAUCET_RULES.per_minute + 1 }, ask))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0 && answers.length - refused.length >= FAUCET_RULES.per_minute)
  assert.equal(refused[0]?.body['code'], 'TEST_NETWORK_RATE_LIMITED')
})

test('elsewhere than in a sandbox both addresses answer 404 with the reason, and OpenAPI does not list them', async () => {
  const live = await startCreditApp('none')
  try {
    for (const path of ['/v1/sandbox/fund', '/v1/sandbox/rpc']) {
      const response = await fetch(live.url + path, { method: 'POST', body: '{}' })
      const body = (await response.json()) as { code: string; detail: string }
      assert.deepEqual([response.status, body.code], [404, 'NOT_FOUND'])
      assert.match(body.detail, /exists only in a sandbox/)
      for (const [url, listed] of [
        [live.url, false],
        [app.url, true],
      ] as const) {
        const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }
        assert.equal(path in paths, listed, `${path} at ${url}`)
        assert.equal((await (await fetch(`${url}/llms.txt`)).text()).includes('/v1/sandbox/fund'), listed)
      }
    }
  } finally {
    await live.stop()
  }
})

/** The faucet over a store of its own and the node of the sandbox, at a settable time. */
async function faucetAt(driver: StoreDriver, node: Pick<SandboxNode, 'give' | 'balances'>) {
  const store: Store = await openStore((await driver.fresh()).target)
  const clock = { ms: Date.UTC(2026, 10, 28, 12) }
  const faults: unknown[] = []
  const faucet = createFaucet({
    node,
    store,
    clock: { now_ms: () => clock.ms },
    secret: new Uint8Array(32),
    onFault: (error) => faults.push(error),
  })
  return { faucet, store, clock, faults }
}

function nodeOfApp(): SandboxNode {
  const { sandbox } = app.running.app.deps
  assert.ok(sandbox !== null)
  return sandboxNode({ rpc_url: sandbox.rpc_url, tokens: { usdc: sandbox.usdc, eurc: sandbox.eurc } })
}

test('bounds of a client, its network and all, which end with the day', async (t) => {
  const driver = await sqliteDriver()
  t.after(() => driver.stop())
  const { faucet, store, clock } = await faucetAt(driver, nodeOfApp())
  const ask = async (caller: string) => {
    const end = await faucet.fund(newAddress().toLowerCase(), 'eth', caller)
    return end.ok ? 'given' : `${end.problem.code}: ${end.problem.detail}`
  }
  const { client_daily, network_daily } = FAUCET_RULES
  for (let count = 0; count < client_daily; count++) assert.equal(await ask('192.0.2.1'), 'given')
  assert.match(await ask('192.0.2.1'), /^TEST_NETWORK_RATE_LIMITED: This client has used its 50/)
  // Addresses of one IPv6 /64 are one client, networks of one /48 share their bound.
  for (let count = 0; count < network_daily; count++)
    assert.equal(await ask(`2001:db8:1:${Math.floor(count / client_daily)}::${count}`), 'given')
  assert.match(await ask('2001:db8:1:ffff::1'), /^TEST_NETWORK_RATE_LIMITED: The network of this client/)
  assert.equal(await ask('2001:db8:2::1'), 'given')
  clock.ms += 12 * 3_600_000
  assert.equal(await ask('192.0.2.1'), 'given')
  assert.equal(await ask('2001:db8:1:ffff::1'), 'given')
  await store.close()
})

test('a node that fails gives nothing away: what was not given is due again, what was given is not', async (t) => {
  const driver = await sqliteDriver()
  t.after(() => driver.stop())
  const real = nodeOfApp()
  let broken: string | null = 'eurc'
  const node: Pick<SandboxNode, 'give' | 'balances'> = {
    balances: (address) => real.balances(address),
    give: (token, to, amount) => (token === broken ? Promise.reject(new Error('cut off')) : real.give(token, to, amount)),
  }
  const { faucet, store, faults } = await faucetAt(driver, node)
  const address = newAddress().toLowerCase()
  const failed = await faucet.fund(address, null, '192.0.2.1')
  assert.ok(!failed.ok)
  assert.deepEqual([failed.problem.code, faults.length], ['UPSTREAM_RPC_UNAVAILABLE', 1])
  broken = null
  const end = await faucet.fund(address, null, '192.0.2.1')
  assert.ok(end.ok)
  assert.deepEqual([end.funded.given.map(({ token }) => token), end.funded.already], [['eurc', 'eth'], ['usdc']])
  assert.equal(end.funded.balances.usdc, FAUCET_RULES.amounts.usdc)
  await store.close()
})

test('the queue is bounded for one client and for all', async (t) => {
  const driver = await sqliteDriver()
  t.after(() => driver.stop())
  const real = nodeOfApp()
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  const node: Pick<SandboxNode, 'give' | 'balances'> = {
    balances: (address) => real.balances(address),
    give: async (token, to, amount) => {
      await gate
      return real.give(token, to, amount)
    },
  }
  const { faucet, store } = await faucetAt(driver, node)
  const { client_queue, queue } = FAUCET_RULES
  const ask = (caller: string) => faucet.fund(newAddress().toLowerCase(), 'eth', caller)
  const waiting = Array.from({ length: client_queue }, () => ask('192.0.2.1'))
  const refused = await ask('192.0.2.1')
  assert.deepEqual([refused.ok, !refused.ok && refused.problem.code], [false, 'OVERLOADED'])
  for (let count = client_queue; count < queue; count++) waiting.push(ask(`198.51.100.${count}`))
  assert.equal((await ask('203.0.113.1')).ok, false)
  open()
  assert.deepEqual(new Set((await Promise.all(waiting)).map(({ ok }) => ok)), new Set([true]))
  assert.equal((await ask('203.0.113.1')).ok, true)
  await store.close()
})

test('health names the public JSON-RPC where the service has a public URL, and the node itself on its own machine', async () => {
  const published = await startTestApp({ settings: { ASSAY_API_URL: 'https://sandbox.example' } })
  const sandboxAt = async (url: string) =>
    ((await (await fetch(`${url}/health`)).json()) as { sandbox: Record<string, string> & { faucet: { url: string } } }).sandbox
  try {
    const [public_one, local_one] = [await sandboxAt(published.url), await sandboxAt(app.url)]
    const rpc = 'https://sandbox.example/v1/sandbox/rpc'
    assert.deepEqual([public_one['rpc_url'], public_one['public_rpc_url']], [rpc, rpc])
    assert.equal(public_one.faucet.url, 'https://sandbox.example/v1/sandbox/fund')
    assert.deepEqual(
      [local_one['rpc_url'], local_one['public_rpc_url']],
      [app.running.app.deps.sandbox?.rpc_url, `${app.url}/v1/sandbox/rpc`],
    )
    assert.doesNotMatch(JSON.stringify(public_one), /127\.0\.0\.1/)
  } finally {
    await published.stop()
  }
})
