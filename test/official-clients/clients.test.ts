/** The official HTTP clients, unmodified, pay a sandbox on a real chain: the account that pays has read nothing but the 402. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodePaymentResponseHeader as decodeForAxios, wrapAxiosWithPayment, x402Client as AxiosClient } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios, { AxiosError } from 'axios'
import type { PrivateKeyAccount } from 'viem/accounts'
import { decodeXPaymentResponse, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { asMembers } from '../support/documents.ts'
import { readRequired } from '../support/paying.ts'
import { assertBought, assertNothingPaid, NETWORKS, openShop, recorder, type Shop } from './shop.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
/** A check costs no less than 0.005 USDC, and a sandbox that sells little sells at that. */
const CHECK_MINOR = 5_000n

const shops: Shop[] = []
before(async () => {
  for (const network of NETWORKS) shops.push(await openShop(network))
})
after(async () => {
  for (const shop of shops) await shop.stop()
})

function shopOn(chain_id: number): Shop {
  const found = shops.find(({ network }) => network.chain.id === chain_id)
  assert.ok(found !== undefined)
  return found
}

interface Got {
  status: number
  header(name: string): string
  body: Record<string, unknown>
}

interface Client {
  generation: 1 | 2
  call(url: string, payer: PrivateKeyAccount, input: unknown): Promise<Got>
  /** The client's own reader of the end of a payment. */
  decode(header: string): object
}

function post(input: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ input }) }
}

async function got(response: Response): Promise<Got> {
  const body = (await response.json()) as Record<string, unknown>
  return { status: response.status, header: (name) => response.headers.get(name) ?? '', body }
}

function second(payer: PrivateKeyAccount): x402Client {
  return new x402Client().register('eip155:*', new ExactEvmScheme(payer))
}

function both(payer: PrivateKeyAccount): x402Client {
  const client = second(payer)
  for (const { v1 } of NETWORKS) client.registerV1(v1, new ExactEvmSchemeV1(payer))
  return client
}

const CLIENTS: Record<string, Client> = {
  'x402-fetch': {
    generation: 1,
    call: async (url, payer, input) => got(await wrapFetchV1(fetch, payer)(url, post(input))),
    decode: decodeXPaymentResponse,
  },
  '@x402/fetch': {
    generation: 2,
    call: async (url, payer, input) => got(await wrapFetchWithPayment(fetch, second(payer))(url, post(input))),
    decode: decodePaymentResponseHeader,
  },
  '@x402/fetch with both generations': {
    generation: 2,
    call: async (url, payer, input) => got(await wrapFetchWithPayment(fetch, both(payer))(url, post(input))),
    decode: decodePaymentResponseHeader,
  },
  '@x402/axios': {
    generation: 2,
    call: (url, payer, input) => callByAxios(url, payer, input),
    decode: decodeForAxios,
  },
}

async function callByAxios(url: string, payer: PrivateKeyAccount, input: unknown): Promise<Got> {
  const client = new AxiosClient().register('eip155:*', new ExactEvmScheme(payer))
  const paying = wrapAxiosWithPayment(axios.create(), client)
  const answer = await paying.post<Record<string, unknown>>(url, { input }).catch((error: unknown) => {
    // Axios throws what is no 2xx, and so hands on the second 402.
    assert.ok(error instanceof AxiosError && error.response !== undefined, String(error))
    return error.response
  })
  return { status: answer.status, header: (name) => String(answer.headers[name] ?? ''), body: asMembers(answer.data) }
}

/** What a stranger without a wallet is told the call costs. */
async function quoted(shop: Shop, tool: string, input: unknown): Promise<bigint> {
  const response = await fetch(shop.callUrl(tool), post(input))
  assert.equal(response.status, 402)
  return BigInt(readRequired(response.headers.get('payment-required') ?? '').accepts[0].amount)
}

for (const [name, { generation, call, decode }] of Object.entries(CLIENTS)) {
  for (const { chain } of NETWORKS) {
    test(`${name} pays on ${chain.name}`, async () => {
      const shop = shopOn(chain.id)
      const payer = await shop.payer()
      const amount_minor = await quoted(shop, 'iban-check', IBAN)
      assert.equal(amount_minor, CHECK_MINOR)
      const { status, header, body } = await call(shop.callUrl('iban-check'), payer, IBAN)
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(asMembers(body['result'])['valid'], true)
      const bought = { payer: payer.address, amount_minor, tool: 'iban-check', input: IBAN, answer: body }
      const transaction = await assertBought(shop, bought)

      const end = { success: true, transaction, payer: payer.address.toLowerCase() }
      const first = { ...end, network: shop.network.v1 }
      const newer = { ...end, network: shop.network.v2, amount: String(amount_minor) }
      const of_its_own = decode(header(generation === 1 ? 'x-payment-response' : 'payment-response'))
      assert.partialDeepStrictEqual(of_its_own, generation === 1 ? first : newer)
      // Both are sent, whoever asks.
      assert.deepEqual(decodeXPaymentResponse(header('x-payment-response')), first)
      const { extensions, ...told } = decodePaymentResponseHeader(header('payment-response'))
      assert.deepEqual(told, newer)
      assert.deepEqual(Object.keys(extensions ?? {}), ['offer-receipt'])
    })
  }

  test(`${name} pays for a batch by its items`, async () => {
    const shop = shopOn(84_532)
    const payer = await shop.payer()
    const items = Array.from({ length: 23 }, (_, index) => ({ tool: 'iban-check', value: `${IBAN.iban}${index}` }))
    // 23 items at a tenth of a check each.
    const amount_minor = 11_500n
    assert.equal(await quoted(shop, 'batch-validate', { items }), amount_minor)
    const { status, body } = await call(shop.callUrl('batch-validate'), payer, { items })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(asMembers(body['result'])['count'], 23)
    await assertBought(shop, { payer: payer.address, amount_minor, tool: 'batch-validate', input: { items }, answer: body })
  })

  test(`${name} pays for a text that is not read for nothing`, async () => {
    const shop = shopOn(84_532)
    const payer = await shop.payer()
    const text = { text: 'word '.repeat(20_000) }
    const { status, body } = await call(shop.callUrl('context-distill'), payer, text)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(asMembers(body['result'])['word_count'], 20_000)
    await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'context-distill', input: text, answer: body })
  })

  test(`${name} is shown why a payment was refused, in a second 402 with terms`, async () => {
    const shop = shopOn(84_532)
    const payer = await shop.payer(CHECK_MINOR - 1n)
    const { status, header, body } = await call(shop.callUrl('iban-check'), payer, IBAN)
    const reason = 'invalid_exact_evm_insufficient_balance'
    assert.equal(status, 402)
    const { code, charged, phase, invalid_reason } = body
    assert.deepEqual(
      { code, charged, phase, invalid_reason },
      { code: 'INSUFFICIENT_FUNDS', charged: false, phase: 'signature', invalid_reason: reason },
    )
    // Each generation finds the word in its own place, beside terms that can be paid.
    const required = readRequired(header('payment-required'))
    assert.equal(required.error, reason)
    assert.equal(required.accepts[0].amount, String(CHECK_MINOR))
    assert.equal(body['error'], reason)
    assert.equal(asMembers((body['accepts'] as unknown[])[0])['maxAmountRequired'], String(CHECK_MINOR))
    assert.equal(header('payment-response') + header('x-payment-response'), '')
    assert.equal('result' in body || 'receipt' in body, false)
    await assertNothingPaid(shop, payer.address)
  })
}

test('x402-fetch loses the headers of a Headers object on its paid retry, and is answered all the same', async () => {
  const shop = shopOn(84_532)
  const payer = await shop.payer()
  const watched = recorder()
  const headers = new Headers({ 'content-type': 'application/json', authorization: 'Bearer caller' })
  const response = await wrapFetchV1(watched.fetch, payer)(shop.callUrl('iban-check'), { ...post(IBAN), headers })
  const [asked, paid] = watched.requests
  assert.deepEqual([asked?.get('content-type'), asked?.get('authorization')], ['application/json', 'Bearer caller'])
  // As the package is; should it ever keep them, this test has had its day.
  assert.deepEqual([paid?.get('content-type'), paid?.get('authorization')], ['text/plain;charset=UTF-8', null])
  const { status, body } = await got(response)
  assert.equal(status, 200)
  await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: IBAN, answer: body })
})

test('a client is asked once and pays once, call by call', async () => {
  const shop = shopOn(84_532)
  const payer = await shop.payer()
  const watched = recorder()
  const paying = wrapFetchWithPayment(watched.fetch, second(payer))
  const isbn = { isbn: '978-0-306-40615-7' }
  const first = await got(await paying(shop.callUrl('iban-check'), post(IBAN)))
  await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: IBAN, answer: first.body })
  const other = await got(await paying(shop.callUrl('isbn-check'), post(isbn)))
  assert.deepEqual(
    watched.responses.map(({ status }) => status),
    [402, 200, 402, 200],
  )
  const nonces = [first, other].map(({ body }) => asMembers(body['receipt'])['nonce'])
  assert.equal(new Set(nonces).size, 2)
})
