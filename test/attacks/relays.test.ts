/** Free relays of invoice payments: coins that circle among wallets of one actor use up neither the relays of payers nor those of known merchants. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { invoiceUrl, issue, issueSigned, newMerchant, send, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { restCall } from '../support/app.ts'
import { signTerms, termsOf } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

type Payer = Awaited<ReturnType<World['payer']>>

const IBAN = { iban: 'GB82WEST12345698765432' }
const ONE = 1_000_000n
const TODAY = Math.floor(Date.now() / 86_400_000)

async function pay(payer: Payer, invoice: InvoiceShown, address: string) {
  const { body } = await signFor(world.chain, payer, invoice)
  return send(`${invoiceUrl(world, invoice)}/pay`, body, { 'x-forwarded-for': address })
}

/** Sets what of a budget of the day is used, as payments of so many wallets would. */
function setUsed(bucket: string, used: number): void {
  const text = 'update allowance set used = ? where bucket = ? and day = ?'
  assert.ok(world.sql((database) => database.prepare(text).run(used, bucket, TODAY).changes) > 0, bucket)
}

const NEW_UNSIGNED = INVOICE_RULES.relays_daily / INVOICE_RULES.relay_new_parts

// attack: one coin that circles among new wallets until the relays of the day are used up
// in: money and signatures
// asset: invoice relay
// attacker: payer with many wallets and networks
// defence: new payers and merchants share half of the day; the rest is kept for payers with a paid call and merchants paid a week ago;
//   shares by /24 and /16
test('new payers and merchants share a half of the day; a payer that has paid for a call, and a merchant that was paid days ago, have the rest', async () => {
  const [payer, other] = [await world.payer(10n * ONE), await world.payer(10n * ONE)]
  assert.equal((await pay(payer, await issue(world, '1'), '198.51.100.7')).status, 200)
  // The rest of the day's attack: every wallet is new, and the same coin comes back each time.
  setUsed('invoice-relay-new-unsigned', NEW_UNSIGNED)
  setUsed('invoice-relay-unsigned', NEW_UNSIGNED)
  const refused = await pay(payer, await issue(world, '1'), '192.0.2.7')
  assert.deepEqual([refused.status, refused.body['code']], [429, 'INVOICE_RATE_LIMITED'])
  assert.match(
    String(refused.body['detail']),
    /used up for payers and merchants of unsigned invoices that are new here; a payer that has paid for a call is not/,
  )

  const { v2 } = await signTerms(other, await termsOf(world.url, 'iban-check', IBAN))
  assert.equal((await restCall(world.url, 'iban-check', IBAN, { 'payment-signature': v2 })).status, 200)
  assert.equal((await pay(other, await issue(world, '1'), '192.0.2.8')).status, 200)

  const merchant = newMerchant()
  assert.equal((await pay(payer, await issueSigned(world, '1', merchant), '192.0.2.9')).status, 200)
  setUsed('invoice-relay-new', NEW_UNSIGNED)
  setUsed('invoice-relay', NEW_UNSIGNED)
  assert.equal((await pay(payer, await issueSigned(world, '1', merchant), '192.0.2.10')).status, 429, 'paid today alone')
  const days_ago = 'update invoice_payment set block_time_s = block_time_s - ? where merchant = ?'
  world.sql((database) => database.prepare(days_ago).run(INVOICE_RULES.known_merchant_s + 60, merchant.address.toLowerCase()))
  assert.equal((await pay(payer, await issueSigned(world, '1', merchant), '192.0.2.11')).status, 200)
  setUsed('invoice-relay-new', 0)
  setUsed('invoice-relay', 0)
})

// attack: one coin that circles among new wallets until the relays of the day are used up
test('many networks of one provider have one share of the day', async () => {
  const payer = await world.payer(10n * ONE)
  assert.equal((await pay(payer, await issueSigned(world, '1'), '203.0.113.7')).status, 200)
  const text = `update allowance set used = ? where bucket = 'invoice-relay-provider' and day = ?`
  world.sql((database) => database.prepare(text).run(INVOICE_RULES.relays_daily_provider, TODAY))
  const refused = await pay(payer, await issueSigned(world, '1'), '203.0.7.9')
  assert.equal(refused.status, 429)
  assert.match(String(refused.body['detail']), /used up for the network of the provider of this client \(its \/16, or IPv6 \/32\)/)
  assert.equal((await pay(payer, await issueSigned(world, '1'), '203.1.113.9')).status, 200)
})
