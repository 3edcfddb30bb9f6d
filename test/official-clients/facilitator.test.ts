/** The official facilitator, x402Facilitator of @x402/core 2.27.0 with the schemes of @x402/evm, run as a client of our terms. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { x402Client } from '@x402/core/client'
import type { x402Facilitator } from '@x402/core/facilitator'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { readJson } from '../support/documents.ts'
import { INPUT, judged, officialFacilitator, pay, termsFor, type Generation } from './official-facilitator.ts'
import { assertBought, NETWORKS, openShop, seenOnChain, type Network, type Shop } from './shop.ts'

const CHECK_MINOR = 5_000n
const USED = 'invalid_exact_evm_nonce_already_used'

interface Place {
  shop: Shop
  facilitator: x402Facilitator
}

const places: Place[] = []
before(async () => {
  for (const network of NETWORKS) {
    const shop = await openShop(network)
    places.push({ shop, facilitator: await officialFacilitator(shop) })
  }
})
after(async () => {
  for (const { shop } of places) await shop.stop()
})

/** A payment that the official client makes of our terms. */
async function clientPays(network: Network, generation: Generation) {
  const place = places.find(({ shop }) => shop.network === network)
  assert.ok(place !== undefined)
  const { shop } = place
  const payer = await shop.payer()
  const { terms, entry } = await termsFor(shop, generation)
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(payer)).registerV1(shop.network.v1, new ExactEvmSchemeV1(payer))
  const payment = await client.createPaymentPayload(terms)
  assert.equal(payment.x402Version, generation)
  return { ...place, payer, payment, entry }
}

const CASES = NETWORKS.flatMap((network) => ([1, 2] as const).map((generation) => ({ network, generation })))

for (const { network, generation } of CASES) {
  test(`version ${generation} on ${network.chain.name}: the facilitator accepts what the client makes of our terms, and so do we`, async () => {
    const { shop, facilitator, payer, payment, entry } = await clientPays(network, generation)
    assert.deepEqual(await facilitator.verify(payment, entry), { isValid: true, invalidReason: undefined, payer: payer.address })
    const { status, body } = await pay(shop, payment, generation)
    assert.equal(status, 200, JSON.stringify(body))
    await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: INPUT, answer: body })
    // What we settled, nobody settles again.
    assert.equal(await judged(facilitator, payment, entry), USED)
    assert.equal((await facilitator.settle(payment, entry)).success, false)
    assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
  })

  test(`version ${generation} on ${network.chain.name}: the facilitator settles our terms, and what it settled buys the answer`, async () => {
    const { shop, facilitator, payer, payment, entry } = await clientPays(network, generation)
    const { success, transaction, errorMessage } = await facilitator.settle(payment, entry)
    assert.ok(success, errorMessage)
    const { transfers, used } = await seenOnChain(shop, payer.address)
    assert.deepEqual(transfers, [{ to: shop.pay_to.toLowerCase(), value: CHECK_MINOR, transaction }])

    const { status, body } = await pay(shop, payment, generation)
    assert.equal(status, 200, JSON.stringify(body))
    await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: INPUT, answer: body })
    assert.equal(await judged(facilitator, payment, entry), USED)
    assert.deepEqual(await seenOnChain(shop, payer.address), { transfers, used })
    const known = await readJson(`${shop.url}/v1/payments/${payer.address}/${String(used[0]?.nonce)}`)
    assert.deepEqual([known['state'], known['charged'], known['transaction']], ['settled', true, transaction])
  })
}
