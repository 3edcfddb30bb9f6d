/** The x402 extensions of this service, as the official package of extensions reads them: all paid tools, over REST and MCP. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { sanitizeResourceServiceMetadata, validateAndExtract, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar'
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  isEIP712SignedOffer,
  isEIP712SignedReceipt,
  verifyOfferSignatureEIP712,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureEIP712,
} from '@x402/extensions/offer-receipt'
import { appendPaymentIdentifierToExtensions, generatePaymentId, isPaymentIdentifierExtension } from '@x402/extensions/payment-identifier'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { x402Client } from '@x402/fetch'
import { asMembers, readJson } from '../support/documents.ts'
import { openShop, type Shop } from './shop.ts'

type Required = ReturnType<typeof decodePaymentRequiredHeader>

/** Small proxies refuse headers of more than 4 kB; only examples that are documents themselves go beyond. */
const HEADER_CHARS = 4_096
const LONGEST_HEADER_CHARS = 6_144

let shop: Shop
let tools: { id: string; example: Record<string, unknown> }[]
let signing_address: string

before(async () => {
  shop = await openShop()
  const listed = (await readJson(`${shop.url}/v1/tools`))['tools'] as { id: string }[]
  tools = await Promise.all(
    listed.map(async ({ id }) => {
      const tool = await readJson(`${shop.url}/v1/tools/${id}`)
      return { id, example: asMembers(asMembers(tool['example'])['input']) }
    }),
  )
  signing_address = String((await readJson(`${shop.url}/.well-known/xdr-1.json`))['signing_address'])
})
after(() => shop.stop())

function post(tool: string, input: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(shop.callUrl(tool), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ input }),
  })
}

async function overMcp(tool: string, input: unknown): Promise<Required | null> {
  const response = await fetch(`${shop.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: input } }),
  })
  const result = asMembers(asMembers(await response.json())['result'])
  const told = asMembers(result['structuredContent'] ?? {})
  return told['x402Version'] === 2 ? (told as unknown as Required) : null
}

/** Checks the members that every 402 has, over REST and MCP alike. */
async function assertExtensions(tool: string, required: Required, type: 'http' | 'mcp'): Promise<void> {
  const { bazaar, 'payment-identifier': identifier } = (required.extensions ?? {}) as Record<
    string,
    Parameters<typeof validateAndExtract>[0]
  >
  assert.ok(bazaar !== undefined, tool)
  assert.deepEqual(validateDiscoveryExtensionSpec(bazaar as unknown as Record<string, unknown>), { valid: true }, tool)
  const { valid, info, errors } = validateAndExtract(bazaar)
  assert.ok(valid, `${tool}: ${errors?.join()}`)
  assert.equal(info?.input.type, type)
  assert.ok(isPaymentIdentifierExtension(identifier), tool)
  const { serviceName, tags } = sanitizeResourceServiceMetadata(required.resource)
  assert.equal(serviceName, 'assay')
  assert.deepEqual(tags, (required.resource as { tags?: string[] }).tags, 'the package would drop a tag')
  const offers = extractOffersFromPaymentRequired(required)
  assert.deepEqual(
    required.accepts.map(({ scheme }) => scheme),
    ['exact', 'batch-settlement'],
  )
  assert.equal(offers.length, required.accepts.length, tool)
  for (const [index, offer] of offers.entries()) {
    assert.ok(isEIP712SignedOffer(offer), tool)
    const { signer, payload } = await verifyOfferSignatureEIP712(offer)
    assert.equal(signer.toLowerCase(), signing_address)
    assert.equal(payload.resourceUrl, required.resource?.url)
    assert.equal(findAcceptsObjectFromSignedOffer(offer, required.accepts), required.accepts[index])
    const left_s = payload.validUntil - Date.now() / 1_000
    assert.ok(left_s > 80 && left_s <= 120, `valid for ${left_s} s`)
  }
}

test('the 402 of every paid tool over REST is read by the official package, in a header that proxies pass', async () => {
  const sizes: [string, number][] = []
  for (const { id, example } of tools) {
    const response = await post(id, example)
    const header = response.headers.get('payment-required')
    await response.body?.cancel()
    if (response.status !== 402) continue
    assert.ok(header !== null, id)
    sizes.push([id, header.length])
    await assertExtensions(id, decodePaymentRequiredHeader(header), 'http')
  }
  assert.ok(sizes.length > 55, `only ${sizes.length} tools asked for payment`)
  const long = sizes.filter(([, chars]) => chars > HEADER_CHARS)
  assert.ok(long.length <= 9, `over ${HEADER_CHARS} characters: ${long.join(' ')}`)
  assert.ok(Math.max(...sizes.map(([, chars]) => chars)) <= LONGEST_HEADER_CHARS, long.join(' '))
})

test('the 402 of every paid tool over MCP is read by the official package', async () => {
  let asked = 0
  for (const { id, example } of tools) {
    const required = await overMcp(id, example)
    if (required === null) continue
    asked++
    await assertExtensions(id, required, 'mcp')
  }
  assert.ok(asked > 55, `only ${asked} tools asked for payment`)
})

/** Pays with all extensions echoed and an id of the client, as the official client does. */
async function paid(tool: string, example: Record<string, unknown>) {
  const payer = await shop.payer()
  const required = decodePaymentRequiredHeader((await post(tool, example)).headers.get('payment-required') ?? '')
  const id = generatePaymentId()
  appendPaymentIdentifierToExtensions(required.extensions ?? {}, id)
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(payer))
  const payload = await client.createPaymentPayload(required)
  const sent = asMembers(payload.extensions)
  assert.deepEqual(Object.keys(sent), ['payment-identifier', 'bazaar', 'offer-receipt'], 'the client echoes all of them')
  assert.equal(asMembers(asMembers(sent['payment-identifier'])['info'])['id'], id)
  const header = encodePaymentSignatureHeader(payload)
  return { payer, required, header, response: await post(tool, example, { 'payment-signature': header }) }
}

test('a payment is answered with a receipt that matches the offer, and a resend with the same answer', async () => {
  const example = { iban: 'GB82 WEST 1234 5698 7654 32' }
  const { payer, required, header, response } = await paid('iban-check', example)
  assert.equal(response.status, 200)
  const receipt = extractReceiptFromResponse(response)
  assert.ok(receipt !== undefined && isEIP712SignedReceipt(receipt))
  const { signer, payload } = await verifyReceiptSignatureEIP712(receipt)
  assert.equal(signer.toLowerCase(), signing_address)
  assert.match(payload.transaction, /^0x[0-9a-f]{64}$/)
  const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(required))
  assert.ok(offer !== undefined)
  assert.ok(verifyReceiptMatchesOffer(receipt, offer, [payer.address]))
  assert.ok(!verifyReceiptMatchesOffer(receipt, offer, [shop.pay_to]))
  const again = await post('iban-check', example, { 'payment-signature': header })
  assert.equal(await again.text(), await response.text())
})

test('the longest example is paid too: its extensions fit into the header of the payment', async () => {
  const [longest] = tools.toSorted((one, other) => JSON.stringify(other.example).length - JSON.stringify(one.example).length)
  assert.ok(longest !== undefined)
  const { header, response } = await paid(longest.id, longest.example)
  assert.equal(response.status, 200, `${longest.id}: ${await response.text()}`)
  assert.ok(header.length < 8_192, `${header.length}`)
})

test('the DID document of the host names the key that signs offers', async () => {
  const response = await fetch(`${shop.url}/.well-known/did.json`)
  assert.equal(response.headers.get('content-type'), 'application/did+json; charset=utf-8')
  const document = asMembers(await response.json())
  const { host } = new URL(shop.url)
  assert.equal(document['id'], `did:web:${host.replace(':', '%3A')}`)
  const [method] = document['verificationMethod'] as Record<string, string>[]
  assert.equal(method?.['blockchainAccountId']?.toLowerCase(), `eip155:${shop.network.chain.id}:${signing_address}`)
  assert.deepEqual(document['assertionMethod'], [method?.['id']])
})
