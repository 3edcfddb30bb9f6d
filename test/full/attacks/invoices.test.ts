/** Unsigned invoices by the ten thousand, from one network and from many, over HTTP: merchants still create, sign and are paid. */
// attack: unsigned invoices by the thousand that name it, from one network or many
// in: money and signatures
// asset: invoices of a merchant
// attacker: client
// defence: bounds by creating network and in all, the oldest without money evicted; signed ones count apart

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { INVOICE_RULES } from '../../../src/service/limits.ts'
import { invoiceUrl, newMerchant, send, signAsMerchant, signCreation, signFor, type InvoiceShown } from '../../support/invoicing.ts'
import { startWorld, type World } from '../../support/paying-world.ts'

const TEN = 10_000_000n
const AT_ONCE = 20

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

/** One creation by a client, as a trusted proxy names it. */
function create(client: string, merchant: string, more: object = {}, headers: Record<string, string> = {}) {
  const body = { amountUsdc: '10', merchant, ...more }
  return send(`${world.url}/api/invoice/create`, body, { 'x-forwarded-for': client, ...headers })
}

async function created(client: string, merchant: string): Promise<InvoiceShown> {
  const { status, body, text } = await create(client, merchant)
  assert.equal(status, 201, text)
  return body as InvoiceShown
}

/** So many creations, some of them together; each client stays below its requests of a minute. */
async function flood(many: number, clientOf: (at: number) => string, merchantOf: () => string): Promise<void> {
  for (let start = 0; start < many; start += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, many - start) }, (_, at) => created(clientOf(start + at), merchantOf()))
    await Promise.all(batch)
  }
}

/** An address of one /24: 256 clients, each below its 30 requests of a minute. */
const inOneNetwork = (at: number) => `203.0.113.${at & 255}`
const FLOOD = 7_000
/** A /48 for every 20 invoices. */
const inManyNetworks = (at: number) => `2001:db8:${(0x1000 + Math.floor(at / 20)).toString(16)}::1`

/** Straight into the store, since it is the bound that takes so many and not the way to it. */
async function fill(many: number): Promise<void> {
  const now_ms = Date.now()
  const seconds = Math.floor(now_ms / 1_000)
  const times = { created_ms: now_ms, expires_s: seconds + INVOICE_RULES.open_s, watch_until_s: seconds + INVOICE_RULES.open_s }
  const word = () => `0x${randomBytes(32).toString('hex')}`
  for (let start = 0; start < many; start += 500) {
    const batch = Array.from({ length: 500 }, (_, at) => ({
      ...times,
      invoice_id: `inv_${randomBytes(10).toString('hex')}`,
      merchant: word().slice(0, 42),
      amount_minor: TEN,
      terms: '{}',
      deposit_address: word().slice(0, 42),
      nonces: [word()],
      content_hash: word(),
      request_key: null,
      network: `network ${Math.floor((start + at) / 20)}`,
      issue_signature: null,
      bank_reference: null,
    }))
    await Promise.all(batch.map((invoice) => world.store.invoices.keep(invoice, INVOICE_RULES)))
  }
}

async function exists(invoice: InvoiceShown): Promise<boolean> {
  return (await send(invoiceUrl(world, invoice))).status === 200
}

function unsignedOf(merchant: string): number {
  const text = 'select count(*) as number from invoice where merchant = ? and issue_signature is null'
  return Number(world.sql((database) => database.prepare(text).get(merchant.toLowerCase()))?.['number'])
}

test(
  '7,000 invoices of one /24 name a merchant: it creates, signs and is paid; other networks keep theirs',
  { timeout: 900_000 },
  async () => {
    const merchant = newMerchant()
    const neighbour = await created('192.0.2.7', merchant.address)
    const own = await created('198.51.100.7', merchant.address)
    const first = await created(inOneNetwork(0), merchant.address)
    // A payment on one of the flood's own oldest keeps it.
    const paid = await created(inOneNetwork(0), merchant.address)
    const payer = await world.payer(TEN)
    const { body } = await signFor(world.chain, payer, paid)
    const answer = await send(`${invoiceUrl(world, paid)}/pay`, body)
    assert.equal(answer.status, 200, answer.text)
    await flood(
      FLOOD,
      (at) => inOneNetwork(at + 16),
      () => merchant.address,
    )
    assert.deepEqual(await Promise.all([neighbour, own, first, paid].map(exists)), [true, true, false, true])
    // Its bound, the two of other networks, and the one with a payment.
    assert.equal(unsignedOf(merchant.address), INVOICE_RULES.network_unsigned + 3)
    const signed = await send(`${invoiceUrl(world, own)}/sign`, { signature: await signAsMerchant(world.chain, merchant, own, 'Issue') })
    assert.deepEqual([signed.status, signed.body['merchant_verified']], [200, true])
    const key = randomBytes(8).toString('hex')
    const signature = await signCreation(world.chain, merchant, key)
    const direct = await create('198.51.100.7', merchant.address, { signature }, { 'idempotency-key': key })
    assert.deepEqual([direct.status, direct.body['merchant_verified']], [201, true], direct.text)
    // The signature creates one invoice, from wherever it is sent again.
    const again = await create('192.0.2.9', merchant.address, { signature }, { 'idempotency-key': key })
    assert.deepEqual([again.status, again.body['invoice_id']], [200, direct.body['invoice_id']])
    for (const headers of [{}, { 'idempotency-key': 'other' }]) {
      const refused = await create('198.51.100.7', merchant.address, { signature }, headers)
      assert.deepEqual([refused.status, refused.body['charged']], ['idempotency-key' in headers ? 403 : 400, false], refused.text)
    }
  },
)

test('one /48 creates no more invoices in a minute than one client', async () => {
  const merchant = newMerchant().address
  const answers = await Promise.all(Array.from({ length: 120 }, (_, at) => create(`2001:db8:bad:${at.toString(16)}::1`, merchant)))
  const made = answers.filter(({ status }) => status === 201).length
  // A test may see two minutes of the clock.
  assert.ok(made >= 30 && made <= 60, String(made))
  assert.equal(answers.filter(({ status }) => status === 429).length, 120 - made)
})

test('as many as all networks may hold, from many networks: the oldest go, signed ones stay', { timeout: 900_000 }, async () => {
  const merchant = newMerchant()
  const key = randomBytes(8).toString('hex')
  const early = await created('198.51.100.8', merchant.address)
  const signed = await create(
    '198.51.100.8',
    merchant.address,
    { signature: await signCreation(world.chain, merchant, key) },
    { 'idempotency-key': key },
  )
  assert.equal(signed.status, 201, signed.text)
  await fill(INVOICE_RULES.all_unsigned - 1_000)
  await flood(1_000, inManyNetworks, () => newMerchant().address)
  assert.deepEqual(await Promise.all([exists(early), exists(signed.body as InvoiceShown)]), [false, true])
  const all = world.sql((database) =>
    database.prepare('select count(*) as number from invoice where issue_signature is null and held = 0 and closed = 0').get(),
  )
  assert.equal(Number(all?.['number']), INVOICE_RULES.all_unsigned)
  // After the flood there is room for both.
  await created('198.51.100.8', merchant.address)
  const next = randomBytes(8).toString('hex')
  const late = await create(
    '198.51.100.8',
    merchant.address,
    { signature: await signCreation(world.chain, merchant, next) },
    { 'idempotency-key': next },
  )
  assert.equal(late.status, 201, late.text)
})
