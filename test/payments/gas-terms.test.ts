/** A network leaves the terms while the gas of a payment costs more than the call: on real chains, over HTTP. */
// attack: calls and deposits that cost more gas than they pay while gas is expensive

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, mock, test } from 'node:test'
import type { Running } from '../../src/assembly/start.ts'
import type { Prices } from '../../src/ports/prices.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import * as buyers from '../support/faults-buyer.ts'
import { heartbeat, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { newAjv } from '../support/json-schema.ts'
import { readRequired, termsOf } from '../support/paying.ts'
import { until } from '../support/until.ts'

const HOME = 'eip155:8453'
const POLYGON = 'eip155:137'
const GAS = { every_ms: 50, minute_ms: 400 }

interface Gas {
  network: string
  state: string
  offered: boolean
  detail: string
  payment_gas_usdc: string | null
  price_usdc: string
  since: string | null
  coin_price_origin: string | null
}

let home: Anvil
let polygon: Anvil
const stops: (() => Promise<unknown>)[] = []
before(async () => {
  ;[home, polygon] = await Promise.all([startAnvil(), startAnvil({ chain_id: 137 })])
})
after(async () => {
  for (const stop of stops.toReversed()) await stop()
  await Promise.all([home.stop(), polygon.stop()])
})

/** Base fee of the next block, which is mined; later blocks that are empty have a little less. */
async function baseFee({ rpc, mine }: Anvil, gwei: number): Promise<void> {
  await rpc('anvil_setNextBlockBaseFeePerGas', [`0x${BigInt(Math.round(gwei * 1e9)).toString(16)}`])
  await mine()
}

async function started(change: Record<string, string>): Promise<{ live: Live; running: Running }> {
  const live = await liveDeployment(home, change)
  const running = await startLive(live, { rules: { gas: GAS } })
  stops.push(live.remove, () => running.stop())
  return { live, running }
}

async function healthOf(url: string) {
  return (await (await fetch(`${url}/health`)).json()) as {
    payments: { ready: boolean; gas: Gas[]; networks?: { network: string; ready: boolean }[] }
  }
}

/** Deletes a payment as a store that failed over has lost it. */
function loseRow({ settings }: Live, nonce: string): void {
  const database = new DatabaseSync(join(settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite'), { timeout: 5_000 })
  database.prepare('delete from payment_answer where payment in (select number from payment where nonce = ?)').run(nonce)
  database.prepare('delete from payment where nonce = ?').run(nonce)
  database.close()
}

async function offered(url: string): Promise<string[]> {
  return (await termsOf(url, buyers.TOOL, buyers.INPUT)).accepts.map(({ network }) => network)
}

test(
  'one network: it leaves the terms, says why with figures, settles what was signed before, and returns',
  { timeout: 60_000 },
  async () => {
    await baseFee(home, 0.2)
    const { live, running } = await started({ ASSAY_NATIVE_USD: 'ETH=10' })
    const { url } = running
    assert.deepEqual(await offered(url), [HOME])
    const early = await buyers.newBuyer(home, url)
    const [paid, late] = [await buyers.newBuyer(home, url), await buyers.newBuyer(home, url)]
    const first = await buyers.insist(url, paid)
    // (46 + 1) gwei of 45,100 or 71,100 gas at 10 USD: 0.02 or 0.03 USDC.
    await baseFee(home, 46)
    await until('the network to leave the terms', async () => (await offered(url)).length === 0)
    const { status, headers, body } = await restCall(url, buyers.TOOL, buyers.INPUT)
    assert.deepEqual([status, body['accepts'], readRequired(headers.get('payment-required') ?? '').accepts], [402, [], []])
    const schema = (await (await fetch(`${url}/.well-known/x402-schema.json`)).json()) as object
    assert.ok(newAjv().validate(schema, body))
    assert.match(
      String(body['detail']),
      /cannot be paid now\. Gas for one payment on Base costs 0\.0\d+ USDC, above the price of 0\.005 USDC, since 20\d\d-/,
    )
    const { payments } = await healthOf(url)
    assert.equal(payments.ready, false)
    const [gas] = payments.gas
    assert.deepEqual(
      [gas?.network, gas?.state, gas?.offered, gas?.price_usdc, gas?.coin_price_origin],
      [HOME, 'above', false, '0.005', 'setting'],
    )
    assert.ok(Number(gas?.payment_gas_usdc) > 0.005 && gas?.since !== null)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    assert.match(metrics, /assay_network_gas_offered\{network="eip155:8453"\} 0/)
    assert.match(metrics, /assay_payment_gas_usdc\{network="eip155:8453"\} 0\.0\d+/)
    await buyers.assertPaidOnce(home, live, url, early, await buyers.insist(url, early))
    loseRow(live, paid.signed.message.nonce)
    const steady_ms = performance.now.bind(performance)
    const clock = mock.method(performance, 'now', () => steady_ms() + 200_000)
    const unpaid = await buyers.send(url, late)
    const again = await buyers.send(url, paid)
    clock.mock.restore()
    assert.deepEqual([unpaid?.status, unpaid?.body['code']], [503, 'SETTLEMENT_UNAVAILABLE'])
    assert.deepEqual([again?.status, again?.body['settlement']], [200, first.body['settlement']], JSON.stringify(again?.body))
    await baseFee(home, 0.01)
    await until('the network to return', async () => (await offered(url)).includes(HOME))
    assert.equal((await healthOf(url)).payments.gas[0]?.state, 'below')
  },
)

test('two networks: the one whose gas is too expensive leaves, the other stays and is paid on', { timeout: 60_000 }, async () => {
  await baseFee(home, 0.2)
  await baseFee(polygon, 0.2)
  const networks = [{ chain_id: 137, rpc_urls: [polygon.rpc_url], confirmations: 3 }]
  const hearts = [heartbeat(home), heartbeat(polygon)]
  stops.push(...hearts)
  const { live, running } = await started({ ASSAY_NETWORKS: JSON.stringify(networks), ASSAY_NATIVE_USD: 'ETH=10,POL=0.25' })
  await polygon.setBalance(live.gas_wallet, 10n ** 20n)
  const { url } = running
  await until('both networks to be offered', async () => (await offered(url)).length === 2, 20_000)
  const keepHigh = setInterval(() => void baseFee(home, 46).catch(() => undefined), 200)
  await until('Base to leave the terms', async () => !(await offered(url)).includes(HOME), 20_000)
  clearInterval(keepHigh)
  const { payments } = await healthOf(url)
  assert.deepEqual(
    payments.gas.map(({ network, state }) => [network, state]),
    [
      [HOME, 'above'],
      [POLYGON, 'below'],
    ],
  )
  const buyer = await buyers.newBuyer(polygon, url)
  const reply = await buyers.insist(url, buyer)
  assert.equal((reply.body['settlement'] as { network: string }).network, POLYGON)
})

test(
  'without a price of the coin the network stays and health says so, until even a lowest price proves a loss',
  { timeout: 60_000 },
  async () => {
    await baseFee(home, 0.2)
    const live = await liveDeployment(home, {})
    const silent: Prices = {
      source: 'public_api',
      spot: () => Promise.resolve({ kind: 'down', reason: 'too_few_sources' }),
      ready: () => Promise.resolve(false),
    }
    const running = await startLive(live, { rules: { gas: GAS }, prices: silent })
    stops.push(live.remove, () => running.stop())
    const { url } = running
    await until('the first check', async () => (await healthOf(url)).payments.gas[0]?.state === 'unknown')
    const [gas] = (await healthOf(url)).payments.gas
    assert.match(String(gas?.detail), /^The price of ETH is not known/)
    assert.deepEqual([gas?.offered, await offered(url)], [true, [HOME]])
    await baseFee(home, 46)
    await until('the network to leave the terms', async () => (await offered(url)).length === 0)
  },
)
