/** Thousands of invoices that keys without a history sign, from one network and from 400: deposits of others are seen as before. */
// attack: invoices that random keys sign, by the thousand, from one network or from 400
// in: money and signatures
// asset: watch of payments
// attacker: client
// defence: merchants paid on the chain are looked at first, others with growing pauses, many in one search; daily budgets by network;
//   unpaid ones deleted

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { INVOICE_RULES } from '../../../src/service/limits.ts'
import { startAnvil, type Anvil } from '../../support/anvil.ts'
import { startRpcProxy, type RpcProxy } from '../../support/faults-rpc.ts'
import { newMerchant, send, signCreation, transferPlainly, type InvoiceShown } from '../../support/invoicing.ts'
import { startLiveWorld, type World } from '../../support/paying-world.ts'
import { until } from '../../support/settlement.ts'

// row: new_signed_invoices, invoice_searches

const TEN = 10_000_000n
const AT_ONCE = 20
const NETWORKS = 400
const EACH = 5
const FROM_ONE = 2_000

let anvil: Anvil
let proxy: RpcProxy
let world: World
let payer: PrivateKeyAccount
before(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.rpc_url)
  world = await startLiveWorld({ anvil, rpc_url: proxy.url })
  payer = await world.payer(100n * TEN)
})
after(async () => {
  await world.stop()
  await proxy.stop()
  await anvil.stop()
})

async function create(client: string, merchant = newMerchant()) {
  const key = randomBytes(8).toString('hex')
  const [memo, client_name] = ['M'.repeat(500), 'C'.repeat(120)]
  const signature = await signCreation(world.chain, merchant, key, { memo, client_name })
  const body = { amountUsdc: '10', merchant: merchant.address, signature, memo, clientName: client_name }
  return send(`${world.url}/api/invoice/create`, body, { 'x-forwarded-for': client, 'idempotency-key': key })
}

async function created(client: string, merchant?: PrivateKeyAccount): Promise<InvoiceShown> {
  const { status, body, text } = await create(client, merchant)
  assert.equal(status, 201, text)
  return body as InvoiceShown
}

/** Answers to so many signed creations, some of them together. */
async function flood(many: number, clientOf: (at: number) => string) {
  const answers: Awaited<ReturnType<typeof create>>[] = []
  for (let start = 0; start < many; start += AT_ONCE)
    answers.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, many - start) }, (_, at) => create(clientOf(start + at))))))
  return answers
}

/** Pays through the deposit address. Returns the milliseconds until the payment is stored, which is read without asking for the record. */
async function seenAfter(invoice: InvoiceShown): Promise<number> {
  const began_ms = performance.now()
  await transferPlainly(world.chain, payer, (invoice['deposit'] as { address: Hex }).address, TEN)
  await anvil.mine(3)
  await until('the deposit is seen', async () => (await world.store.invoices.payments(invoice.invoice_id)).length > 0, 300_000)
  return performance.now() - began_ms
}

const fileBytes = () =>
  ['', '-wal'].reduce((sum, end) => sum + (statSync(join(world.data_dir, `assay.sqlite${end}`), { throwIfNoEntry: false })?.size ?? 0), 0)
const signedNow = () => Number(world.sql((database) => database.prepare('select count(*) as number from invoice').get())?.['number'])
const searches = () => proxy.asked.filter((method) => method === 'eth_getLogs').length
const lookedSince = (time_ms: number) =>
  Number(
    world.sql((database) => database.prepare('select count(*) as number from merchant_watch where looked_ms > ?').get(time_ms))?.['number'],
  )

test(
  'deposits are seen as fast as before, although 2,000 keys of 400 networks signed an invoice and one network tries as many',
  { timeout: 900_000 },
  async (t: TestContext) => {
    const quiet = await created('198.51.100.1')
    const known = newMerchant()
    const control = [await seenAfter(await created('198.51.100.2', known)), await seenAfter(await created('198.51.100.3'))]
    const most_ms = 5 * Math.max(...control, INVOICE_RULES.watch_every_ms)

    const spread = await flood(NETWORKS * EACH, (at) =>
      `10.${(at / EACH) & 255}.${at % 250}.7`.replace(/^10/, String(11 + Math.floor(at / EACH / 256))),
    )
    assert.deepEqual(new Set(spread.map(({ status }) => status)), new Set([201]), spread.find(({ status }) => status !== 201)?.text)
    const [signed, bytes] = [signedNow(), fileBytes()]
    const one = await flood(FROM_ONE, (at) => `203.0.113.${at & 255}`)
    const [made, made_bytes] = [signedNow() - signed, fileBytes() - bytes]
    const refused = one.filter(({ status }) => status !== 201)
    assert.ok(made <= INVOICE_RULES.new_signed_network, String(made))
    assert.equal(refused.length, FROM_ONE - made)
    for (const { status, body, text } of refused) {
      assert.equal(status, 429, text)
      assert.ok(['INVOICE_NETWORK_LIMIT', 'INVOICE_RATE_LIMITED'].includes(String(body['code'])), text)
      assert.match(text, /network \(\/24, \/48\)/)
    }

    const fresh = await created('198.51.100.4')
    const more = await created('198.51.100.2', known)
    const waits = { fresh: await seenAfter(fresh), known: await seenAfter(more), quiet: await seenAfter(quiet) }
    t.diagnostic(`control ${control.map(Math.round).join(', ')} ms; under attack ${JSON.stringify(waits)}`)
    t.diagnostic(`one /24: ${made} invoices, ${made_bytes} bytes of files`)
    for (const [which, waited_ms] of Object.entries(waits))
      assert.ok(waited_ms <= most_ms, `${which}: ${waited_ms} ms, control ${control.join(', ')}`)

    // All merchants are looked at, many in one search.
    const [time_ms, asked, requests] = [Date.now(), searches(), proxy.asked.length]
    world.sql((database) => database.exec('update merchant_watch set due_ms = 0, rank_ms = 0'))
    const merchants = lookedSince(-1)
    await until('all merchants are looked at', () => lookedSince(time_ms) >= merchants, 60_000)
    const each = { searches: searches() - asked, calls: proxy.asked.length - requests }
    t.diagnostic(`${merchants} merchants were looked at with ${JSON.stringify(each)}`)
    // Two addresses each, 500 in a search, and a search for payments in another token; a round may have begun before.
    assert.ok(each.searches <= 3 * Math.ceil((2 * merchants) / INVOICE_RULES.deposits_page) + 10, JSON.stringify(each))
  },
)
