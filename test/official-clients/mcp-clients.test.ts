/** The official MCP client pays, with payments that the official x402 client makes of what the tool's error says. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { x402Client } from '@x402/core/client'
import { isPaymentRequiredV1, isPaymentRequiredV2, validatePaymentRequired } from '@x402/core/schemas'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { restCall } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'
import { connectMcp, MCP_VERSIONS } from '../support/mcp.ts'
import { base64 } from '../support/paying.ts'
import { assertBought, assertNothingPaid, NETWORKS, openShop, seenOnChain, type Shop } from './shop.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const OTHER = { iban: 'DE89 3704 0044 0532 0130 00' }
const CHECK_MINOR = 5_000n
const VERSION = '2025-11-25'
const PAYMENT = 'x402/payment'

let shop: Shop
before(async () => {
  shop = await openShop()
})
after(() => shop.stop())

type McpClient = Awaited<ReturnType<typeof connectMcp>>
type Result = Awaited<ReturnType<McpClient['callTool']>>
type Meta = Record<string, unknown>

/** A client that knows the output schemas, as one that has shown its model the tools. */
async function connected(version = VERSION, to = shop): Promise<McpClient> {
  const client = await connectMcp(to.url, version)
  const { tools } = await client.listTools()
  assert.ok(tools.every(({ outputSchema }) => outputSchema !== undefined))
  return client
}

function call(client: McpClient, meta: Meta = {}, input: Record<string, string> = IBAN, name = 'iban-check'): Promise<Result> {
  return client.callTool({ name, arguments: input, _meta: { ...meta, 'assay/detail': 'full' } })
}

/** All that is left to clients that drop structured content. */
function textOf({ content }: Result): string {
  const [first] = content
  assert.ok(first?.type === 'text' && content.length === 1)
  return first.text
}

function membersOf(result: Result): Record<string, unknown> {
  return asMembers(JSON.parse(textOf(result)))
}

function metaOf({ _meta: meta }: Result): Meta {
  return asMembers(meta)
}

/** An unpaid call: never a thrown error, terms in every place where a client looks. */
async function unpaid(client: McpClient): Promise<Result> {
  const result = await call(client)
  assert.equal(result.isError, true)
  // x402 transports-v2/mcp.md: the terms stand in structuredContent and, the same, in the text.
  assert.deepEqual(result.structuredContent, membersOf(result))
  assert.equal(membersOf(result)['code'], 'PAYMENT_REQUIRED')
  return result
}

function wallet(payer: PrivateKeyAccount): x402Client {
  return new x402Client()
    .register('eip155:*', new ExactEvmScheme(payer))
    .registerV1('base', new ExactEvmSchemeV1(payer))
    .registerV1('base-sepolia', new ExactEvmSchemeV1(payer))
}

/** Terms that the official schema takes, as they came. */
function termsIn(found: unknown): PaymentRequired {
  validatePaymentRequired(found)
  return found as PaymentRequired
}

/** The payment that the official client makes for a refused call: of the text, or of `_meta["x402/error"]`. */
function paymentFor(result: Result, payer: PrivateKeyAccount, generation: 1 | 2): Promise<PaymentPayload> {
  const found = generation === 2 ? membersOf(result) : metaOf(result)['x402/error']
  return wallet(payer).createPaymentPayload(termsIn(found))
}

async function paymentOf(client: McpClient, payer: PrivateKeyAccount, generation: 1 | 2 = 2): Promise<PaymentPayload> {
  return paymentFor(await unpaid(client), payer, generation)
}

/** The call was paid; resolves with the text of the answer. */
async function assertPaid(result: Result, payer: PrivateKeyAccount, at = shop): Promise<string> {
  assert.notEqual(result.isError, true, JSON.stringify(result.content))
  const answer = membersOf(result)
  const bought = { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: IBAN, answer }
  const transaction = await assertBought(at, bought)
  const end = { success: true, transaction, network: at.network.v2, payer: payer.address.toLowerCase(), amount: String(CHECK_MINOR) }
  const { extensions, ...told } = asMembers(metaOf(result)['x402/payment-response'])
  assert.deepEqual([told, Object.keys(asMembers(extensions))], [end, ['offer-receipt']])
  assert.deepEqual(metaOf(result)['x402.payment-response'], metaOf(result)['x402/payment-response'])
  assert.deepEqual(result.structuredContent, answer)
  return textOf(result)
}

for (const version of Object.keys(MCP_VERSIONS)) {
  test(`${version}: the client is told the terms, pays them and reads the receipt from the text`, async () => {
    const client = await connected(version)
    const payer = await shop.payer()
    const refused = await unpaid(client)
    const terms = membersOf(refused)
    assert.ok(isPaymentRequiredV2(terms))
    assert.equal(terms.resource.url, 'mcp://tool/iban-check')
    assert.equal(terms.accepts[0]?.amount, String(CHECK_MINOR))
    const older = metaOf(refused)['x402/error']
    assert.ok(isPaymentRequiredV1(older))
    assert.deepEqual([older.accepts[0]?.network, older.accepts[0]?.maxAmountRequired], ['base-sepolia', String(CHECK_MINOR)])

    const payment = await paymentFor(refused, payer, 2)
    await assertPaid(await call(client, { [PAYMENT]: payment }), payer)
    await client.close()
  })

  test(`${version}: a payment that fails is shown as a tool error with terms, and costs nothing`, async () => {
    const client = await connected(version)
    const payer = await shop.payer(CHECK_MINOR - 1n)
    const payment = await paymentOf(client, payer)
    const refused = await call(client, { [PAYMENT]: payment })
    assert.equal(refused.isError, true)
    const reason = 'invalid_exact_evm_insufficient_balance'
    const { code, charged, error, ...rest } = membersOf(refused)
    assert.deepEqual({ code, charged, error }, { code: 'INSUFFICIENT_FUNDS', charged: false, error: reason })
    assert.equal('result' in rest || 'receipt' in rest, false)
    assert.ok(isPaymentRequiredV2(membersOf(refused)))
    const older = metaOf(refused)['x402/error']
    assert.ok(isPaymentRequiredV1(older))
    assert.equal(older.error, reason)
    assert.equal(metaOf(refused)['x402/payment-response'], undefined)
    await assertNothingPaid(shop, payer.address)
    await client.close()
  })
}

test('a client that lists no tools first is told the same', async () => {
  const client = await connectMcp(shop.url, VERSION)
  const payer = await shop.payer()
  await assertPaid(await call(client, { [PAYMENT]: await paymentOf(client, payer) }), payer)
  await client.close()
})

test('both generations on Base', async () => {
  const base = await openShop(NETWORKS[1])
  try {
    const client = await connected(VERSION, base)
    for (const generation of [1, 2] as const) {
      const payer = await base.payer()
      await assertPaid(await call(client, { [PAYMENT]: await paymentOf(client, payer, generation) }), payer, base)
    }
    await client.close()
  } finally {
    await base.stop()
  }
})

/** What other client packages send: the key and the form of each. */
const FORMS: [string, 1 | 2, (payment: PaymentPayload) => Meta][] = [
  ['version 1 in Base64 under x402.payment', 1, (payment) => ({ 'x402.payment': base64(payment) })],
  ['version 1 in Base64', 1, (payment) => ({ [PAYMENT]: base64(payment) })],
  ['version 2 in Base64', 2, (payment) => ({ [PAYMENT]: base64(payment) })],
  ['version 1 as an object', 1, (payment) => ({ [PAYMENT]: payment })],
  ['version 2 among keys of others', 2, (payment) => ({ progressToken: 7, 'example/key': { a: 1 }, [PAYMENT]: payment })],
]

for (const [name, generation, form] of FORMS) {
  test(`a payment of ${name}`, async () => {
    const client = await connected()
    const payer = await shop.payer()
    const payment = await paymentOf(client, payer, generation)
    assert.equal(payment.x402Version, generation)
    await assertPaid(await call(client, form(payment)), payer)
    await client.close()
  })
}

test('two payments in one message are refused, and neither is used', async () => {
  const client = await connected()
  const payer = await shop.payer()
  const [one, other] = [await paymentOf(client, payer), await paymentOf(client, payer, 1)]
  const refused = await call(client, { [PAYMENT]: one, 'x402.payment': base64(other) })
  assert.equal(refused.isError, true)
  assert.equal(membersOf(refused)['code'], 'PAYMENT_CONFLICT')
  await assertNothingPaid(shop, payer.address)
  await client.close()
})

/** The same payment over REST, in the header of its generation. */
async function overRest(payment: PaymentPayload, input: unknown = IBAN) {
  const response = await fetch(shop.callUrl('iban-check'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'payment-signature': base64(payment) },
    body: JSON.stringify({ input }),
  })
  return { status: response.status, text: await response.text() }
}

test('a payment over MCP buys the same answer again over REST, and nothing else', async () => {
  const client = await connected()
  const payer = await shop.payer()
  const payment = await paymentOf(client, payer)
  const text = await assertPaid(await call(client, { [PAYMENT]: payment }), payer)
  assert.deepEqual(await overRest(payment), { status: 200, text })
  assert.equal(textOf(await call(client, { [PAYMENT]: payment })), text)
  const elsewhere = await overRest(payment, OTHER)
  assert.deepEqual([elsewhere.status, asMembers(JSON.parse(elsewhere.text))['code']], [409, 'NONCE_BOUND'])
  assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
  await client.close()
})

test('a payment over REST buys the same answer again over MCP, and nothing else', async () => {
  const client = await connected()
  const payer = await shop.payer()
  const asked = await restCall(shop.url, 'iban-check', IBAN)
  const header = asked.headers.get('payment-required') ?? ''
  const terms = termsIn(JSON.parse(Buffer.from(header, 'base64').toString()))
  const payment = await wallet(payer).createPaymentPayload(terms)
  const first = await overRest(payment)
  assert.equal(first.status, 200, first.text)
  const again = await call(client, { [PAYMENT]: payment })
  assert.equal(await assertPaid(again, payer), first.text)
  for (const [input, name] of [
    [OTHER, 'iban-check'],
    [{ isbn: '978-0-306-40615-7' }, 'isbn-check'],
  ] as const) {
    const refused = await call(client, { [PAYMENT]: payment }, input, name)
    assert.equal(refused.isError, true)
    assert.equal(membersOf(refused)['code'], 'NONCE_BOUND')
  }
  assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
  await client.close()
})

test('a large call is paid in the HTTP header, by the official x402 fetch under the official MCP client', async () => {
  const large = { text: 'word '.repeat(60_000) }
  const payer = await shop.payer()
  const paying = wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(payer)))
  const client = await connectMcp(shop.url, '2026-07-28', {}, paying)
  const tool = 'context-distill'
  const result = await client.callTool({ name: tool, arguments: large, _meta: { 'assay/detail': 'full' } })
  assert.equal(result.isError, undefined, textOf(result))
  const bought = { payer: payer.address, amount_minor: CHECK_MINOR, tool, input: large, answer: membersOf(result) }
  await assertBought(shop, bought)
  await client.close()
})
