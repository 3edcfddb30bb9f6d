/** Faults of one of two networks: what happens on one never touches the payments of the other, and each is settled once on its own chain. */
import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import { EURC, startAnvil, type Anvil } from '../support/anvil.ts'
import { FAULT_POINTS } from '../../src/service/payments/settlement.ts'
import { restCall } from '../support/app.ts'
import * as buyers from '../support/faults-buyer.ts'
import type { Running } from '../../src/assembly/start.ts'
import { heartbeat, ledgerOf, liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'
import { type Required, signTerms, termsOf } from '../support/paying.ts'
import { until } from '../support/until.ts'
import { openDesk, parsed } from '../cli/run-cli.ts'

interface Scene {
  home: Anvil
  polygon: Anvil
  live: Live
  /** Stopped at the end of the test, before the chains and the folder. */
  services: Pick<Running, 'stop'>[]
}

/** Two chains and a deployment on both; those named mine by themselves until the end of the test. */
async function scene(t: TestContext, ...beating: ('home' | 'polygon')[]): Promise<Scene> {
  const [home, polygon] = await Promise.all([startAnvil(), startAnvil({ chain_id: 137 })])
  const networks = [{ chain_id: 137, rpc_urls: [polygon.rpc_url], confirmations: 3 }]
  const live = await liveDeployment(home, { ASSAY_NETWORKS: JSON.stringify(networks) })
  await polygon.setBalance(live.gas_wallet, 10n ** 20n)
  const services: Scene['services'] = []
  const hearts = beating.map((name) => heartbeat(name === 'home' ? home : polygon))
  t.after(async () => {
    for (const service of services) await service.stop()
    await Promise.all(hearts.map((stop) => stop()))
    await Promise.all([home.stop(), polygon.stop()])
    await live.remove()
  })
  return { home, polygon, live, services }
}

/** Entry of the terms that is wanted, once it is among them. */
async function entryOf(url: string, name: string, isWanted: (entry: Required['accepts'][0]) => boolean): Promise<Required> {
  const found: Required[] = []
  await until(`${name} to be offered`, async () => {
    const terms = await termsOf(url, buyers.TOOL, buyers.INPUT)
    const entry = (terms.accepts as readonly Required['accepts'][0][]).find(isWanted)
    if (entry !== undefined) found.push({ ...terms, accepts: [entry] })
    return entry !== undefined
  })
  return found[0] ?? assert.fail()
}

const termsOn = (url: string, { chain_id }: Anvil) => entryOf(url, `chain ${chain_id}`, ({ network }) => network === `eip155:${chain_id}`)
const termsIn = (url: string, token: string) => entryOf(url, token, ({ asset }) => asset === token)

async function buyerOn(url: string, anvil: Anvil): Promise<buyers.Buyer> {
  const account = await buyers.holder(anvil)
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + 900)
  const signed = await signTerms(account, await termsOn(url, anvil), { validBefore })
  return { account, signed, price_minor: signed.message.value, met: [] }
}

async function offered(url: string): Promise<string[]> {
  const { accepts } = await termsOf(url, buyers.TOOL, buyers.INPUT)
  return (accepts as readonly { network: string }[]).map(({ network }) => network)
}

async function networksOf(url: string) {
  const { payments } = (await (await fetch(`${url}/health`)).json()) as {
    payments: { networks: { network: string; ready: boolean; detail: string | null }[] }
  }
  return payments.networks
}

/** The command proves the ledger of every network against its own chain. */
async function assertProved({ live }: Scene, count: number): Promise<void> {
  const desk = await openDesk()
  const { code, stdout } = await desk.run(['ledger', 'prove', '--format', 'json'], { settings: live.settings })
  await desk.clear()
  assert.equal(code, 0, stdout)
  const proof = parsed(stdout) as { proved: boolean; networks: { network: string; proved: boolean; settled: { count: number } }[] }
  assert.deepEqual([proof.proved, proof.networks.map(({ network, settled }) => [network, settled.count])], [true, [['eip155:137', count]]])
}

after(killLeft)

const HOME = 'eip155:8453'
const POLYGON = 'eip155:137'

test('a chain that is down leaves the terms, is named by health, and the other one takes payments', { timeout: 180_000 }, async (t) => {
  const { home, polygon, live, services } = await scene(t, 'home')
  const running = await startLive(live)
  services.push(running)
  const { url } = running
  const waiting = await buyerOn(url, polygon)
  assert.deepEqual(await offered(url), [HOME, POLYGON])
  const reply = await buyers.insist(url, await buyerOn(url, polygon))
  assert.equal((reply.body['settlement'] as { network: string }).network, POLYGON)
  await polygon.stop()
  await until('Polygon to leave the terms', async () => !(await offered(url)).includes(POLYGON), 40_000)
  assert.deepEqual(await offered(url), [HOME])
  assert.deepEqual(
    (await networksOf(url)).map(({ network, ready }) => [network, ready]),
    [
      [HOME, true],
      [POLYGON, false],
    ],
  )
  // The payment that was signed before is refused uncharged, and nothing of it is kept open.
  const refused = await buyers.send(url, waiting)
  assert.deepEqual([refused?.status, refused?.body['charged']], [503, false])
  const paid = await buyerOn(url, home)
  await buyers.assertPaidOnce(home, live, url, paid, await buyers.insist(url, paid))
  assert.deepEqual(
    ledgerOf(live)
      .map(({ state }) => state)
      .toSorted(),
    ['settled', 'settled'],
  )
})

test('the chain of the deployment is down: the other one is offered alone and takes payments', { timeout: 180_000 }, async (t) => {
  const { home, polygon, live, services } = await scene(t, 'polygon')
  const running = await startLive(live)
  services.push(running)
  const { url } = running
  const early = await buyerOn(url, polygon)
  await home.stop()
  await until('Base to leave the terms', async () => !(await offered(url)).includes(HOME), 40_000)
  assert.deepEqual(await offered(url), [POLYGON])
  const { body } = await restCall(url, buyers.TOOL, buyers.INPUT)
  assert.deepEqual(
    (body['accepts'] as { network: string }[]).map(({ network }) => network),
    ['polygon'],
  )
  for (const buyer of [early, await buyerOn(url, polygon)]) {
    await buyers.assertPaidOnce(polygon, live, url, buyer, await buyers.insist(url, buyer))
  }
})

// Each has chains and a deployment of its own.
describe('killed during a payment', { concurrency: 4, timeout: 600_000 }, () => {
  for (const die_at of ['before_send', 'after_send', 'before_settled_row'] as const) {
    test(
      `killed at ${die_at} of a payment on the second network: answered after the restart, charged once`,
      { timeout: 180_000 },
      async (t) => {
        const at = await scene(t, 'home', 'polygon')
        const { home, polygon, live } = at
        const first = await startFaulty(live.settings, { die_at })
        const buyer = await buyerOn(first.url, polygon)
        await until('the service to die of the payment', async () => (await buyers.send(first.url, buyer)) === null)
        assert.equal((await first.ended).signal, 'SIGKILL')
        const second = await startFaulty(live.settings)
        const reply = await buyers.insist(second.url, buyer, 90_000)
        await buyers.assertPaidOnce(polygon, live, second.url, buyer, reply)
        const other = await buyerOn(second.url, home)
        await buyers.assertPaidOnce(home, live, second.url, other, await buyers.insist(second.url, other))
        await assertProved(at, 1)
        await second.stop()
      },
    )
  }

  for (const die_at of FAULT_POINTS) {
    test(
      `killed at ${die_at} of a payment in EURC: answered after the restart at another rate, charged once`,
      { timeout: 180_000 },
      async (t) => {
        const home = await startAnvil()
        const live = await liveDeployment(home, { ASSAY_ASSETS: 'usdc,eurc' })
        const stopHeart = heartbeat(home)
        t.after(async () => {
          await stopHeart()
          await home.stop()
          await live.remove()
        })
        const euro = EURC[8453] ?? assert.fail()
        const euros: Anvil = { ...home, token: euro, mint: (to, amount_minor) => home.mint(to, amount_minor, euro) }
        const account = await buyers.holder(euros)
        const first = await startFaulty(live.settings, { die_at, euro_rate: '1.25' })
        const validBefore = BigInt(Math.floor(Date.now() / 1_000) + 900)
        const signed = await signTerms(account, await termsIn(first.url, euro), { validBefore })
        assert.equal(signed.message.value, 4_000n)
        const buyer: buyers.Buyer = { account, signed, price_minor: signed.message.value, met: [] }
        await until('the service to die of the payment', async () => (await buyers.send(first.url, buyer)) === null)
        assert.equal((await first.ended).signal, 'SIGKILL')
        // 3,994 units now, which is within the tolerance of what the process before has offered.
        const second = await startFaulty(live.settings, { euro_rate: '1.252' })
        const reply = await buyers.insist(second.url, buyer, 90_000)
        await buyers.assertPaidOnce(euros, live, second.url, buyer, reply)
        assert.equal(
          (reply.body['receipt'] as Record<string, string>)['amount'],
          `eip155:8453/erc20:${euro.toLowerCase()} 4000 for 0.005 USD`,
        )
        await second.stop()
        const desk = await openDesk()
        const { code, stdout } = await desk.run(['ledger', 'prove', '--format', 'json'], { settings: live.settings })
        await desk.clear()
        const proof = parsed(stdout) as { networks: { settled: { count: number; amount_eurc: string } }[] }
        assert.deepEqual(
          [code, proof.networks.map(({ settled }) => settled)],
          [0, [{ count: 1, amount_eurc: '0.004', amount_minor: '4000' }]],
        )
      },
    )
  }
})

test(
  'blocks of the second network are taken back: its payment is settled again, that of the other stays',
  { timeout: 180_000 },
  async (t) => {
    const at = await scene(t)
    const { home, polygon, live, services } = at
    const running = await startLive(live, { rules: { reconcile_every_ms: 250, reconcile: { recheck_ms: 250 } } })
    services.push(running)
    const { url } = running
    const safe = await buyerOn(url, home)
    const safe_reply = await buyers.insist(url, safe)
    const buyer = await buyerOn(url, polygon)
    const snapshot = await polygon.snapshot()
    const reply = await buyers.insist(url, buyer)
    await polygon.revert(snapshot)
    await buyers.assertUntouched(polygon, live, buyer)
    await polygon.automine(false)
    await polygon.mine()
    await until('the payment is pending again', async () => (await buyers.statusOf(url, buyer))['state'] === 'pending', 30_000)
    assert.equal((await buyers.statusOf(url, safe))['state'], 'settled')
    await polygon.automine(true)
    await until('the payment is settled again', async () => (await buyers.statusOf(url, buyer))['state'] === 'settled', 30_000)
    const again = await buyers.insist(url, buyer)
    assert.deepEqual(again.body, reply.body)
    await buyers.assertPaidOnce(polygon, live, url, buyer, again)
    await buyers.assertPaidOnce(home, live, url, safe, safe_reply)
    await assertProved(at, 1)
  },
)
