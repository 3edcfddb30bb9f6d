/** Payment channels on two networks: the official client deposits, pays and gets its refund on each, and no channel touches the other network. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { createPublicClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { Running } from '../../src/assembly/start.ts'
import { openDesk, parsed } from '../cli/run-cli.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import { CHANNEL_ABI, channelEntry, type ChannelEntry, PayingChannel, SETTLEMENT } from '../support/channels.ts'
import { heartbeat, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { fund, held, readRequired } from '../support/paying.ts'
import { until } from '../support/until.ts'
import { placeChannelContracts } from '../../src/adapters/chain/sandbox-contracts.ts'

const TOOL = 'iban-check'
const PRICE_MINOR = 5_000n
const HOME = 'eip155:8453'
const POLYGON = 'eip155:137'

let home: Anvil
let polygon: Anvil
let live: Live
let running: Running
const hearts: (() => Promise<void>)[] = []

before(async () => {
  ;[home, polygon] = await Promise.all([startAnvil({ chain_id: 8_453 }), startAnvil({ chain_id: 137 })])
  await placeChannelContracts(home.rpc_url)
  hearts.push(heartbeat(home), heartbeat(polygon))
  const networks = [{ chain_id: 137, rpc_urls: [polygon.rpc_url], confirmations: 2 }]
  live = await liveDeployment(home, { ASSAY_NETWORKS: JSON.stringify(networks), ASSAY_BATCH_SETTLEMENT: 'on' })
  await polygon.setBalance(live.gas_wallet, 10n ** 19n)
  running = await startLive(live, { rules: { channels: { claim_every_ms: 0 } } })
})
after(async () => {
  await running.stop()
  for (const stop of hearts) await stop()
  await Promise.all([home.stop(), polygon.stop()])
  await live.remove()
})

let calls = 0
const newInput = () => ({ iban: `GB82 WEST 1234 5698 7654 ${++calls}` })
const callUrl = () => `${running.url}/v1/tools/${TOOL}/call`

interface Accepts {
  accepts: (ChannelEntry & { scheme: string })[]
}

async function offered(): Promise<Accepts['accepts']> {
  const { headers } = await restCall(running.url, TOOL, newInput())
  return (readRequired(headers.get('payment-required') ?? '') as unknown as Accepts).accepts
}

const waysOf = async () => (await offered()).map(({ scheme, network }) => `${scheme} ${network}`)

async function entryOn(network: string): Promise<ChannelEntry> {
  return (await offered()).find((entry) => entry.scheme === 'batch-settlement' && entry.network === network) ?? assert.fail(network)
}

async function payerOn({ rpc_url, token }: Anvil, payer = privateKeyToAccount(generatePrivateKey())): Promise<PrivateKeyAccount> {
  await fund(rpc_url, token, payer.address, 1_000_000n)
  return payer
}

function clientOn({ rpc_url }: Anvil, network: string, payer: PrivateKeyAccount) {
  const chain = createPublicClient({ transport: http(rpc_url) })
  const scheme = new BatchSettlementEvmScheme({
    address: payer.address,
    signTypedData: (message: Parameters<PrivateKeyAccount['signTypedData']>[0]) => payer.signTypedData(message),
    readContract: (args: Parameters<typeof chain.readContract>[0]) => chain.readContract(args),
  })
  const client = new x402Client().register(network as `${string}:${string}`, scheme)
  return { scheme, fetch: wrapFetchWithPayment(fetch, client) }
}

async function paid(client: { fetch: typeof fetch }): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ input: newInput() })
  const response = await client.fetch(callUrl(), { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const { settlement } = JSON.parse(text) as { settlement: Record<string, unknown> }
  const told = { ...decodePaymentResponseHeader(response.headers.get('payment-response') ?? '') }
  assert.deepEqual([settlement['method'], settlement['network']], ['channel', told['network']])
  return told
}

async function onChain({ rpc_url }: Anvil, id: `0x${string}`) {
  return createPublicClient({ transport: http(rpc_url) }).readContract({
    address: SETTLEMENT,
    abi: CHANNEL_ABI,
    functionName: 'channels',
    args: [id],
  })
}

/** The same account in the types of the viem that the test support uses. */
function channelOf(payer: PrivateKeyAccount, entry: ChannelEntry): PayingChannel {
  return new PayingChannel(payer as unknown as PayingChannel['payer'], entry)
}

const paying = (header: string) => restCall(running.url, TOOL, newInput(), { 'payment-signature': header })

test('channels are offered on a network once its contracts are there', async () => {
  const exact = [`exact ${HOME}`, `batch-settlement ${HOME}`, `exact ${POLYGON}`]
  await until('the second network', async () => (await waysOf()).includes(`exact ${POLYGON}`))
  assert.deepEqual(await waysOf(), exact)
  const unknown = await fetch(`${running.url}/v1/channels/refund?network=${POLYGON}`)
  assert.deepEqual([unknown.status, ((await unknown.json()) as Record<string, unknown>)['code']], [400, 'INPUT_SCHEMA_INVALID'])
  await placeChannelContracts(polygon.rpc_url)
  await until('its channels', async () => (await waysOf()).length === 4, 30_000)
  assert.deepEqual(await waysOf(), [...exact, `batch-settlement ${POLYGON}`])
})

for (const [name, network] of [
  ['home', HOME],
  ['polygon', POLYGON],
] as const) {
  test(`${name}: the official client deposits, pays, and gets back what is left`, { timeout: 120_000 }, async () => {
    const anvil = name === 'home' ? home : polygon
    const payer = await payerOn(anvil)
    const client = clientOn(anvil, network, payer)
    const { id } = channelOf(payer, await entryOn(network))
    const received = await held(anvil.rpc_url, anvil.token, live.pay_to)
    assert.partialDeepStrictEqual(await paid(client), { success: true, network, amount: '50000' })
    for (const total of ['10000', '15000']) {
      const told = await paid(client)
      assert.partialDeepStrictEqual(told, {
        network,
        transaction: '',
        extra: { channelState: { channelId: id, chargedCumulativeAmount: total } },
      })
    }
    await until('the claim', async () => (await onChain(anvil, id))[1] === 15_000n)
    await until('the payout', async () => (await held(anvil.rpc_url, anvil.token, live.pay_to)) === received + 15_000n)
    const back = await client.scheme.refund(`${callUrl()}?network=${network}`)
    assert.partialDeepStrictEqual(back, { success: true, network, amount: '35000' })
    assert.equal(await held(anvil.rpc_url, anvil.token, payer.address), 1_000_000n - 15_000n)
  })
}

test('a client that lost its state on the second network is corrected with the terms of that network', async () => {
  const payer = await payerOn(polygon)
  for (let call = 0; call < 2; call++) await paid(clientOn(polygon, POLYGON, payer))
  const channel = channelOf(payer, await entryOn(POLYGON))
  const { headers } = await paying(await channel.voucher(PRICE_MINOR))
  const { network, extra } = channelEntry(headers.get('payment-required'))
  assert.deepEqual([network, extra.channelState?.['chargedCumulativeAmount']], [POLYGON, '10000'])
})

test('one config on two networks is two channels, and a voucher of one buys nothing on the other', async () => {
  const payer = await payerOn(polygon, await payerOn(home))
  const [here, there] = [channelOf(payer, await entryOn(HOME)), channelOf(payer, await entryOn(POLYGON))]
  assert.notEqual(here.id, there.id)
  for (const channel of [here, there]) assert.equal((await paying(await channel.deposit(50_000n, PRICE_MINOR))).status, 200)
  assert.equal((await paying(await here.voucher(2n * PRICE_MINOR))).status, 200)
  // The voucher of one under the terms of the other.
  const foreign = { ...JSON.parse(Buffer.from(await here.voucher(3n * PRICE_MINOR), 'base64').toString()), accepted: there.entry } as object
  const refused = await paying(Buffer.from(JSON.stringify(foreign)).toString('base64'))
  assert.deepEqual([refused.status, refused.body['charged']], [402, false], JSON.stringify(refused.body))
  const totals = [here, there].map(async (channel) => {
    const { headers } = await paying(await channel.voucher(PRICE_MINOR - 1n))
    return channelEntry(headers.get('payment-required'))
  })
  assert.deepEqual(
    (await Promise.all(totals)).map(({ network, extra }) => [network, extra.channelState?.['chargedCumulativeAmount']]),
    [
      [HOME, '10000'],
      [POLYGON, '5000'],
    ],
  )
})

test('the ledger proves the channels of both networks', { timeout: 60_000 }, async () => {
  const desk = await openDesk()
  const { code, stdout } = await desk.run(['ledger', 'prove', '--format', 'json'], { settings: live.settings })
  await desk.clear()
  assert.equal(code, 0, stdout)
  interface Proof {
    proved: boolean
    channels: { proved: boolean; channels: number; charged: { amount_minor: string } }
  }
  const proof = parsed(stdout) as unknown as Proof & { networks: (Proof & { network: string })[] }
  const [second] = proof.networks
  // At home 15,000 and 10,000 were charged, on the second network 15,000, 10,000 and 5,000.
  assert.deepEqual([proof.proved, proof.channels.channels, proof.channels.charged.amount_minor], [true, 2, '25000'])
  assert.deepEqual([second?.network, second?.channels.channels, second?.channels.charged.amount_minor], [POLYGON, 3, '30000'])
})

test('while the second chain is down, channels of the first are used', { timeout: 120_000 }, async () => {
  const payer = await payerOn(home)
  const client = clientOn(home, HOME, payer)
  await paid(client)
  await hearts[1]?.()
  hearts.length = 1
  await polygon.stop()
  for (const total of ['10000', '15000']) {
    assert.partialDeepStrictEqual(await paid(client), { network: HOME, extra: { channelState: { chargedCumulativeAmount: total } } })
  }
  await until('the second network to leave the terms', async () => (await waysOf()).length === 2, 60_000)
  assert.deepEqual(await waysOf(), [`exact ${HOME}`, `batch-settlement ${HOME}`])
  const { id } = channelOf(payer, await entryOn(HOME))
  await until('the claim', async () => (await onChain(home, id))[1] === 15_000n, 60_000)
})
