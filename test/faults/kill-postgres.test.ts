/** Two services over one PostgreSQL and one gas wallet; the one that writes is killed while payments of both are on their way. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { runs } from '../support/counts.ts'
import * as buyers from '../support/faults-buyer.ts'
import type { Buyer } from '../support/faults-buyer.ts'
import { heartbeat, liveDeployment, startLive, witnessOf, type Live } from '../support/faults-live.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'
import { faults, startRpcProxy, type Fault } from '../support/faults-rpc.ts'
import { query, startPostgres, type PostgresServer } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const PAYERS = 20

let anvil: Anvil
let postgres: PostgresServer
let stopHeart: () => Promise<void>

before(async () => {
  anvil = await startAnvil()
  postgres = await startPostgres()
  stopHeart = heartbeat(anvil)
})
after(async () => {
  killLeft()
  await stopHeart()
  await postgres.stop()
  await anvil.stop()
})

/** Settings of an instance: a data folder of its own, everything else shared. */
function instance(live: Live, store: string, name: string, rpc_url: string): Record<string, string> {
  const shared = live.settings['ASSAY_DATA_DIR'] ?? ''
  return {
    ...live.settings,
    ASSAY_DATA_DIR: join(live.folder, name),
    ASSAY_STORE: store,
    ASSAY_RPC_URLS: rpc_url,
    ASSAY_RECEIPT_KEY_FILE: join(shared, 'receipt-keys.json'),
    ASSAY_SECRET_FILE: join(shared, 'secret.key'),
  }
}

async function countIn(store: string, state: string): Promise<number> {
  const [row] = await query(store, `select count(*) as count from payment where state = '${state}'`)
  return Number(row?.['count'])
}

const SEND = 'eth_sendRawTransaction'
/** What the writer's node does with a broadcast: so the writer dies before, or after, the chain has the transaction. */
const atSend = {
  'before the chain has its transaction': ({ methods }) => methods.has(SEND),
  'after the chain has its transaction': ({ methods }) => methods.has(SEND) || methods.has('eth_getTransactionReceipt'),
} satisfies Record<string, (exchange: Parameters<Fault>[0]) => boolean>

for (const [name, deaf] of Object.entries(atSend).slice(0, runs(1, 2))) {
  test(`the writer is killed ${name}: the other finishes all, each once`, { timeout: 120_000 }, async (t) => {
    const live = await liveDeployment(anvil)
    // A first start makes the keys and the secret that instances share.
    await (await startLive(live)).stop()
    const store = await postgres.createDatabase(`kill_${name.split(' ')[0] ?? ''}`)
    const proxy = await startRpcProxy(anvil.rpc_url)
    t.after(async () => {
      await proxy.stop()
      await live.remove()
    })
    const writer = await startFaulty(instance(live, store, 'writer', proxy.url))
    // Whoever comes first has the lease of the wallet, and keeps it.
    const held = async () => (await query(store, `select 1 from lease where name like 'settlement:%'`)).length === 1
    await until('the first has the lease', held)
    const other = await startFaulty(instance(live, store, 'other', anvil.rpc_url))
    const all: Buyer[] = []
    for (let count = 0; count < PAYERS; count++) all.push(await buyers.newBuyer(anvil, other.url))
    proxy.misbehave(async (exchange) => {
      if (!deaf(exchange)) return faults.none(exchange)
      if (name.startsWith('after') && exchange.methods.has(SEND)) await exchange.ask(exchange.calls)
      return faults.hang()
    })
    const first = Promise.all(all.map((buyer, index) => buyers.send(index % 2 === 0 ? writer.url : other.url, buyer)))
    await until('all payments wait for their settlement', async () => (await countIn(store, 'settling')) === PAYERS)
    writer.process.kill('SIGKILL')
    assert.equal((await writer.ended).signal, 'SIGKILL')
    await first
    assert.ok(all.every(({ met }, index) => (index % 2 === 0 ? met[0] === null : met[0] === 200 || met[0] === 202)))
    const replies = await Promise.all(all.map((buyer) => buyers.insist(other.url, buyer)))
    for (const [index, buyer] of all.entries()) {
      const reply = replies[index]
      assert.ok(reply !== undefined)
      await buyers.assertPaidOnce(anvil, live, other.url, buyer, reply)
    }
    assert.equal(await countIn(store, 'settled'), PAYERS)
    assert.equal(
      await witnessOf(anvil).received(live.pay_to),
      all.reduce((sum, { price_minor }) => sum + price_minor, 0n),
    )
    await other.stop()
  })
}
