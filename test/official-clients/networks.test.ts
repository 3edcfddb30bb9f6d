/** One deployment, two networks with their own chains: official clients pay on each, and what happens to one chain does not touch the other. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { TaskState } from '@a2a-js/sdk'
import { wrapAxiosWithPayment, x402Client as AxiosClient } from '@x402/axios'
import { x402Client } from '@x402/core/client'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch'
import axios from 'axios'
import { http, createPublicClient, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { base as baseChain, polygon as polygonChain } from 'viem/chains'
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { ACTIVATE, answerOf, asking, connectA2a, metadataOf, saying, taskFor } from '../support/a2a.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { asMembers, readJson } from '../support/documents.ts'
import { heartbeat, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { connectMcp } from '../support/mcp.ts'
import { base64, fund, readRequired } from '../support/paying.ts'
import { until } from '../support/until.ts'
import { NETWORKS } from '../../src/pure/networks.ts'
import { payingClient } from '../client/wallet.ts'
import type { Running } from '../../src/assembly/start.ts'
import { assertBought, type Network, type Shop } from './shop.ts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const CHECK_MINOR = 5_000n
const HOME = { chain: baseChain, v1: 'base', v2: 'eip155:8453' } as const
const POLYGON = { chain: polygonChain, v1: 'polygon', v2: 'eip155:137' } as const

let anvils: { home: Anvil; polygon: Anvil }
let live: Live
let running: Running
let shops: { home: Shop; polygon: Shop }
const hearts: (() => Promise<void>)[] = []

before(async () => {
  const [home, polygon] = await Promise.all([startAnvil({ chain_id: 8_453 }), startAnvil({ chain_id: 137 })])
  anvils = { home, polygon }
  hearts.push(heartbeat(home), heartbeat(polygon))
  live = await liveDeployment(home, { ASSAY_NETWORKS: JSON.stringify([{ chain_id: 137, rpc_urls: [polygon.rpc_url], confirmations: 2 }]) })
  await polygon.setBalance(live.gas_wallet, 10n ** 19n)
  running = await startLive(live)
  shops = { home: shopOn(HOME, home), polygon: shopOn(POLYGON as unknown as Network, polygon) }
  await until('both networks to be offered', async () => (await terms()).accepts.length === 2)
})
after(async () => {
  await running.stop()
  for (const stop of hearts) await stop()
  await Promise.all([anvils.home.stop(), anvils.polygon.stop()])
  await live.remove()
})

function shopOn(network: Network, { rpc_url, token }: Anvil): Shop {
  return {
    url: running.url,
    network,
    rpc_url,
    token,
    pay_to: live.pay_to,
    async payer(balance_minor = 1_000_000n) {
      const payer = privateKeyToAccount(generatePrivateKey())
      await fund(rpc_url, token, payer.address, balance_minor)
      return payer
    },
    callUrl: (tool) => `${running.url}/v1/tools/${tool}/call`,
    stop: () => Promise.resolve(),
  }
}

function post(input: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ input }) }
}

interface Terms {
  accepts: { scheme: string; network: string; asset: string; amount: string; payTo: string; extra: { name: string; version: string } }[]
}

async function terms(): Promise<Terms> {
  const response = await fetch(`${running.url}/v1/tools/iban-check/call`, post(IBAN))
  assert.equal(response.status, 402)
  return readRequired(response.headers.get('payment-required') ?? '')
}

function wallet(payer: PrivateKeyAccount, network: string): x402Client {
  return new x402Client().register(network as `${string}:${string}`, new ExactEvmScheme(payer))
}

const bought = (payer: PrivateKeyAccount, answer: Record<string, unknown>) => ({
  payer: payer.address,
  amount_minor: CHECK_MINOR,
  tool: 'iban-check',
  input: IBAN,
  answer,
})

test('the terms name both networks, the home network first, in both versions', async () => {
  const response = await fetch(`${running.url}/v1/tools/iban-check/call`, post(IBAN))
  const body = asMembers(await response.json())
  const second = readRequired(response.headers.get('payment-required') ?? '')
  assert.deepEqual(
    second.accepts.map(({ network, asset, amount, extra }) => ({ network, asset, amount, extra })),
    [
      { network: 'eip155:8453', asset: anvils.home.token, amount: '5000', extra: { name: 'USD Coin', version: '2' } },
      { network: 'eip155:137', asset: anvils.polygon.token, amount: '5000', extra: { name: 'USD Coin', version: '2' } },
    ],
  )
  assert.deepEqual(
    (body['accepts'] as { network: string; asset: string }[]).map(({ network, asset }) => [network, asset]),
    [
      ['base', anvils.home.token],
      ['polygon', anvils.polygon.token],
    ],
  )
})

for (const name of ['home', 'polygon'] as const) {
  test(`${name}: @x402/fetch, @x402/axios and x402-fetch pay over REST`, async () => {
    const shop = shops[name]
    const url = shop.callUrl('iban-check')
    const one = await shop.payer()
    const response = await wrapFetchWithPayment(fetch, wallet(one, shop.network.v2))(url, post(IBAN))
    const transaction = await assertBought(shop, bought(one, asMembers(await response.json())))
    const told = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    assert.deepEqual([told.network, told.transaction, told.success], [shop.network.v2, transaction, true])
    assert.equal(decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '').network, shop.network.v1)

    const two = await shop.payer()
    const client = new AxiosClient().register(shop.network.v2, new ExactEvmScheme(two))
    const { data } = await wrapAxiosWithPayment(axios.create(), client).post<Record<string, unknown>>(url, { input: IBAN })
    await assertBought(shop, bought(two, data))

    const key = generatePrivateKey()
    const three = privateKeyToAccount(key)
    await fund(shop.rpc_url, shop.token, three.address, 1_000_000n)
    const signer = await createSigner(shop.network.v1, key)
    const first = await wrapFetchV1(fetch, signer)(url, post(IBAN))
    await assertBought(shop, bought(three, asMembers(await first.json())))
  })

  test(`${name}: the official MCP and A2A clients pay`, async () => {
    const shop = shops[name]
    const one = await shop.payer()
    const client = await connectMcp(shop.url, '2025-11-25')
    const call = (meta: Record<string, unknown> = {}) =>
      client.callTool({ name: 'iban-check', arguments: IBAN, _meta: { ...meta, 'assay/detail': 'full' } })
    const refused = await call()
    const payment = await wallet(one, shop.network.v2).createPaymentPayload(refused.structuredContent as PaymentRequired)
    const paid = await call({ 'x402/payment': payment })
    const { _meta: meta } = paid
    assert.notEqual(paid.isError, true, JSON.stringify(paid.content))
    await assertBought(shop, bought(one, asMembers(paid.structuredContent)))
    assert.equal(asMembers(asMembers(meta)['x402/payment-response'])['network'], shop.network.v2)
    await client.close()

    const two = await shop.payer()
    const agent = await connectA2a(shop.url)
    const task = await taskFor(agent, asking({ tool: 'iban-check', input: IBAN }), ACTIVATE)
    const required = metadataOf(task)['x402.payment.required'] as PaymentRequired
    const metadata = {
      'x402.payment.status': 'payment-submitted',
      'x402.payment.payload': await wallet(two, shop.network.v2).createPaymentPayload(required),
    }
    const done = await taskFor(agent, saying('Here is the payment authorization.', { taskId: task.id, metadata }), ACTIVATE)
    assert.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED, JSON.stringify(done.status))
    await assertBought(shop, bought(two, answerOf(done)))
  })
}

/** A payment signed for one network, presented as one for the other: with its terms, under the same nonce and by the same payer. */
async function presented(signed_on: Shop, shown_on: Shop, payer: PrivateKeyAccount) {
  const { accepts } = await terms()
  const [here, there] = [signed_on, shown_on].map((shop) => accepts.find(({ network }) => network === shop.network.v2))
  assert.ok(here !== undefined && there !== undefined)
  const required = { x402Version: 2, error: '', resource: { url: signed_on.callUrl('iban-check') }, accepts: [here] }
  const payment = await wallet(payer, signed_on.network.v2).createPaymentPayload(required as unknown as PaymentRequired)
  return { honest: base64(payment), false: base64({ ...payment, accepted: there }) }
}

for (const [from, to] of [
  ['home', 'polygon'],
  ['polygon', 'home'],
] as const) {
  test(`a signature for ${from} is refused on ${to}, before and after it was used, and moves nothing there`, async () => {
    const payer = await shops[from].payer()
    await fund(shops[to].rpc_url, shops[to].token, payer.address, 1_000_000n)
    const { honest, false: replayed } = await presented(shops[from], shops[to], payer)
    const send = (header: string) => fetch(shops[from].callUrl('iban-check'), post(IBAN, { 'payment-signature': header }))
    const before_use = await send(replayed)
    assert.deepEqual([before_use.status, asMembers(await before_use.json())['code']], [402, 'BAD_SIGNATURE'])
    const paid = await send(honest)
    assert.equal(paid.status, 200)
    await assertBought(shops[from], bought(payer, asMembers(await paid.json())))
    const after_use = await send(replayed)
    assert.deepEqual([after_use.status, asMembers(await after_use.json())['code']], [409, 'NONCE_BOUND'])
    assert.equal(await received(shops[to], payer.address), 0)
  })
}

test('our client pays on the network that the caller prefers, of those that are offered, and on that of the service without a preference', async () => {
  for (const [networks, shop] of [
    [undefined, shops.home],
    [['eip155:137', 'eip155:8453'], shops.polygon],
    [['eip155:1', 'eip155:8453', 'eip155:137'], shops.home],
  ] as const) {
    const payer = await shop.payer()
    const client = payingClient(shop.url, payer, networks === undefined ? {} : { networks })
    const answer = await client.call('iban-check', IBAN)
    assert.deepEqual([answer.verification.ok, answer.payment?.chain_id], [true, shop.network.chain.id])
    await assertBought(shop, bought(payer, { ...answer }))
    assert.equal((await client.verify(answer, IBAN)).ok, true)
  }
  const payer = await shops.home.payer()
  const elsewhere = payingClient(running.url, payer, { networks: ['eip155:1'] })
  await assert.rejects(elsewhere.call('iban-check', IBAN), { code: 'TERMS_REFUSED' })
  for (const networks of [[], ['polygon'], ['eip155:137', 'eip155:999']])
    assert.throws(() => payingClient(running.url, payer, { networks }), { code: 'BAD_OPTIONS' })
})

test('official clients pay by default only in the tokens that @x402/evm knows, which leaves out some networks', () => {
  const scheme = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()))
  const isDefault = (chain_id: number, address: string) => scheme.findDefaultAsset(address, `eip155:${chain_id}`) !== undefined
  const refused = NETWORKS.filter(({ chain_id, usdc }) => !isDefault(chain_id, usdc.address)).map(({ name }) => name)
  assert.deepEqual(refused, ['Ethereum Sepolia', 'OP Mainnet', 'OP Sepolia', 'Polygon Amoy', 'Avalanche Fuji'])
  assert.ok(NETWORKS.every(({ chain_id, eurc }) => eurc === null || !isDefault(chain_id, eurc.address)))
})

async function received({ rpc_url, token, network }: Shop, payer: Hex): Promise<number> {
  const client = createPublicClient({ chain: network.chain, transport: http(rpc_url) })
  const event = { type: 'event', name: 'AuthorizationUsed', inputs: [{ type: 'address', indexed: true, name: 'authorizer' }] } as const
  return (await client.getLogs({ address: token, fromBlock: 0n, event, args: { authorizer: payer } })).length
}

test('health names both networks, and the status of a payment names its own', async () => {
  const health = asMembers(asMembers(await readJson(`${running.url}/health`))['payments'])
  const networks = health['networks'] as { network: string; ready: boolean; detail: string | null }[]
  assert.deepEqual(
    networks.map(({ network, ready, detail }) => ({ network, ready, detail })),
    [
      { network: 'eip155:8453', ready: true, detail: null },
      { network: 'eip155:137', ready: true, detail: null },
    ],
  )
})
