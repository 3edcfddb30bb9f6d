import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import { start, type Running, type StartOptions } from '../../src/assembly/start.ts'

export const WEBHOOK_SECRET = 'whsec_of_the_tests'
const KEY = 'sk_test_of_the_tests'

/** What the library of Stripe asked, as it came over HTTP. */
interface StripeAsked {
  path: string
  idempotency_key: string | null
  authorization: string | null
  form: URLSearchParams
}

/** A server that opens checkouts as api.stripe.com does; one idempotency key opens one. */
export interface FakeStripe {
  at: { host: string; port: number; protocol: 'http' }
  asked: StripeAsked[]
  /** Answers with this status from now on; undefined: as it should. */
  fail(status: number | undefined): void
  /** Sends buyers there in place of its own pages. */
  send(url: string): void
  stop(): Promise<void>
}

export async function startFakeStripe(): Promise<FakeStripe> {
  const asked: StripeAsked[] = []
  const opened = new Map<string, string>()
  let failing: number | undefined
  let pages: string | undefined
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const idempotency_key = request.headers['idempotency-key'] ?? null
      const key = Array.isArray(idempotency_key) ? null : idempotency_key
      asked.push({
        path: request.url ?? '',
        idempotency_key: key,
        authorization: request.headers.authorization ?? null,
        form: new URLSearchParams(body),
      })
      response.setHeader('content-type', 'application/json')
      response.statusCode = failing ?? 200
      if (failing !== undefined) return response.end('{"error":{"type":"api_error","message":"on purpose"}}')
      const id = opened.get(key ?? '') ?? `cs_test_${opened.size + 1}`
      opened.set(key ?? '', id)
      return response.end(JSON.stringify({ id, object: 'checkout.session', url: pages ?? `https://checkout.stripe.com/c/pay/${id}` }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    at: { host: '127.0.0.1', port: (server.address() as AddressInfo).port, protocol: 'http' },
    asked,
    fail: (status) => (failing = status),
    send: (url) => (pages = url),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface CreditApp {
  url: string
  running: Running
  settings: Record<string, string>
  data_dir: string
  stop(): Promise<void>
}

/** Live on a test network whose node is gone: credits need no chain, and a chain of its own would take seconds to start. */
async function withoutChain(data_dir: string): Promise<Record<string, string>> {
  const gas_key = join(data_dir, 'gas.key')
  await writeFile(gas_key, `0x${'7'.repeat(64)}`, { mode: 0o600 })
  return {
    ASSAY_MODE: 'live',
    ASSAY_CHAIN_ID: '84532',
    ASSAY_RPC_URLS: 'http://127.0.0.1:9',
    ASSAY_PAY_TO: `0x${'8'.repeat(40)}`,
    ASSAY_GAS_KEY_FILE: gas_key,
  }
}

/** Settings of a deployment that takes cards, over a new folder. */
export async function creditSettings(chain: 'sandbox' | 'none'): Promise<{ settings: Record<string, string>; data_dir: string }> {
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-credits-'))
  const [key, secret] = [join(data_dir, 'stripe.key'), join(data_dir, 'stripe-webhook.key')]
  await writeFile(key, `${KEY}\n`, { mode: 0o600 })
  await writeFile(secret, `${WEBHOOK_SECRET}\n`, { mode: 0o600 })
  const settings = {
    ASSAY_PORT: '0',
    ASSAY_DATA_DIR: data_dir,
    ASSAY_LOG_LEVEL: 'silent',
    ASSAY_FREE_DAILY: '3',
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    ASSAY_STRIPE_SECRET_KEY_FILE: key,
    ASSAY_STRIPE_WEBHOOK_SECRET_FILE: secret,
    ...(chain === 'none' ? await withoutChain(data_dir) : {}),
  }
  return { settings, data_dir }
}

export async function startCreditApp(
  chain: 'sandbox' | 'none',
  options: StartOptions = {},
  change: Record<string, string> = {},
): Promise<CreditApp> {
  const { settings: given, data_dir } = await creditSettings(chain)
  const settings = { ...given, ...change }
  const read = readSettings(settings)
  if (!read.ok) throw new Error(read.message)
  const running = await start(read.settings, options)
  return {
    url: running.url,
    running,
    settings,
    data_dir,
    async stop() {
      await running.stop()
      await rm(data_dir, { recursive: true, force: true })
    },
  }
}

interface Answered {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(url, init)
  const body = await response.text()
  return { status: response.status, headers: response.headers, text: body, body: JSON.parse(body) as Record<string, unknown> }
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answered> {
  return ask(url, { method: 'POST', body: JSON.stringify(body), headers })
}

const stripe = new Stripe(KEY)
let events = 0

/** A notice as Stripe writes it, signed by its own test helper. */
export function event(type: string, object: Record<string, unknown>, id = `evt_${++events}`): Record<string, unknown> {
  return { id, object: 'event', api_version: '2026-09-30', created: 1_790_000_000, livemode: false, type, data: { object } }
}

export function signedHeaders(payload: string, { secret = WEBHOOK_SECRET, timestamp }: { secret?: string; timestamp?: number } = {}) {
  const at = timestamp === undefined ? {} : { timestamp }
  return { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret, ...at }) }
}

export function notify(url: string, notice: Record<string, unknown>): Promise<Answered> {
  const payload = JSON.stringify(notice)
  return ask(`${url}/api/credits/webhook`, { method: 'POST', body: payload, headers: signedHeaders(payload) })
}

/** A paid checkout session; `n` names it and its payment. */
export function session(
  n: number | string,
  cents: number,
  claim_hash: string,
  change: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id: `cs_test_${n}`,
    object: 'checkout.session',
    mode: 'payment',
    currency: 'usd',
    amount_total: cents,
    payment_status: 'paid',
    payment_intent: `pi_${n}`,
    metadata: { assay_claim: claim_hash },
    ...change,
  }
}

export function refund(n: number | string, refunded_cents: number): Record<string, unknown> {
  return { id: `ch_${n}`, object: 'charge', payment_intent: `pi_${n}`, amount: 500, amount_refunded: refunded_cents, currency: 'usd' }
}

export function dispute(n: number | string, cents: number, status: string): Record<string, unknown> {
  return { id: `dp_${n}`, object: 'dispute', payment_intent: `pi_${n}`, charge: `ch_${n}`, amount: cents, status, currency: 'usd' }
}

let bought = 0

/** A code that a card paid for, from the notice to the handing over. */
export async function boughtCode(url: string, cents: number): Promise<{ code: string; n: string }> {
  const n = `bought_${++bought}_${process.pid}`
  const secret = `${n}-`.padEnd(64, 's')
  const told = await notify(url, event('checkout.session.completed', session(n, cents, nobleCrypto.keccak256Hex(secret))))
  if (told.status !== 200) throw new Error(told.text)
  const { body } = await post(`${url}/api/credits/code`, { session_id: `cs_test_${n}`, secret })
  return { code: String(body['code']), n }
}

export function balance(url: string, code: string): Promise<Answered> {
  return ask(`${url}/api/credits/balance`, { headers: { 'x-credit': code } })
}

const IBAN = { iban: 'GB82WEST12345698765432' }

export function callWith(url: string, code: string, key: string | null, input: unknown = IBAN, tool = 'iban-check'): Promise<Answered> {
  const named: Record<string, string> = key === null ? {} : { 'idempotency-key': key }
  return post(`${url}/v1/tools/${tool}/call`, { input }, { 'x-credit': code, ...named })
}
