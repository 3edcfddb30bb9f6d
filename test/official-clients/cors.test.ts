/** A page of another origin can pay: what the official clients send passes the preflight, and what they read is exposed (Fetch standard, §3.3). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { openShop, recorder, type Shop } from './shop.ts'

const ORIGIN = 'https://app.example'
const CALL: RequestInit = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ input: { iban: 'GB82 WEST 1234 5698 7654 32' } }),
}
/** Headers that a browser sends to other origins without asking. Content-Type is among them for the types of forms only. */
const SAFELISTED = ['accept', 'accept-language', 'content-language']

let shop: Shop
before(async () => {
  shop = await openShop()
})
after(() => shop.stop())

function words(header: string | null): string[] {
  return (header ?? '').split(',').map((word) => word.trim().toLowerCase())
}

/** What a browser asks before it sends a request with these headers. */
async function preflight(url: string, headers: string[]): Promise<Response> {
  const asked = headers.map((name) => name.toLowerCase()).toSorted()
  return fetch(url, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': asked.join(',') },
  })
}

async function assertAllowed(url: string, headers: string[]): Promise<void> {
  const response = await preflight(url, headers)
  assert.equal(response.status, 204)
  assert.equal(await response.text(), '')
  assert.ok(['*', ORIGIN].includes(response.headers.get('access-control-allow-origin') ?? ''))
  assert.ok(words(response.headers.get('access-control-allow-methods')).includes('post'))
  // A star would not cover Authorization, so each name must be there.
  const allowed = words(response.headers.get('access-control-allow-headers'))
  assert.deepEqual(
    headers.filter((name) => !allowed.includes(name.toLowerCase())),
    [],
  )
}

function assertExposes(response: Response | undefined, names: string[]): void {
  assert.ok(response !== undefined)
  assert.ok(['*', ORIGIN].includes(response.headers.get('access-control-allow-origin') ?? ''))
  const exposed = words(response.headers.get('access-control-expose-headers'))
  for (const name of names) {
    assert.ok(response.headers.has(name), `${name} was not sent with ${response.status}`)
    assert.ok(exposed.includes(name), `${name} is not exposed`)
  }
}

function namesOf(headers: Headers): string[] {
  return Array.from(headers.keys()).filter((name) => !SAFELISTED.includes(name))
}

type Pay = (watched: typeof fetch, payer: PrivateKeyAccount, url: string) => Promise<Response>

const CLIENTS: Record<string, { header: string; required: string[]; pay: Pay }> = {
  'x402-fetch': {
    header: 'x-payment',
    // Its terms are in the body.
    required: [],
    pay: (watched, payer, url) => wrapFetchV1(watched, payer)(url, CALL),
  },
  '@x402/fetch': {
    header: 'payment-signature',
    required: ['payment-required'],
    pay: (watched, payer, url) =>
      wrapFetchWithPayment(watched, new x402Client().register('eip155:*', new ExactEvmScheme(payer)))(url, CALL),
  },
}

for (const [name, { header, required, pay }] of Object.entries(CLIENTS)) {
  test(`${name}: what it sends is allowed, what it reads is exposed`, async () => {
    const url = shop.callUrl('iban-check')
    const watched = recorder()
    assert.equal((await pay(watched.fetch, await shop.payer(), url)).status, 200)
    const [asked, paid] = watched.requests
    assert.ok(asked !== undefined && paid !== undefined)
    // Both clients send a response header by mistake; a browser asks for leave all the same.
    assert.ok(paid.has(header) && paid.has('access-control-expose-headers'))
    for (const headers of [asked, paid]) await assertAllowed(url, namesOf(headers))
    const [refused, answered] = watched.responses
    assertExposes(refused, required)
    assertExposes(answered, ['payment-response', 'x-payment-response'])
  })
}

test('the headers of both generations are allowed wherever a call is taken', async () => {
  const ours = ['content-type', 'payment-signature', 'x-payment', 'access-control-expose-headers', 'authorization', 'x-prev-receipt-hash']
  const mcp = ['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'last-event-id']
  await assertAllowed(shop.callUrl('iban-check'), ours)
  await assertAllowed(shop.callUrl('batch-validate'), ours)
  await assertAllowed(`${shop.url}/mcp`, [...ours, ...mcp])
})

test('a header of nobody is not allowed, so that the test above means something', async () => {
  const response = await preflight(shop.callUrl('iban-check'), ['x-nobody'])
  assert.equal(words(response.headers.get('access-control-allow-headers')).includes('x-nobody'), false)
})
