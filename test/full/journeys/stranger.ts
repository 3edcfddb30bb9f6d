/**
 * A person or program that has the public URL of a sandbox, a new wallet (viem) and nothing else: no file of the service, no operator port and no node of
 * the chain. Test money comes from the faucet; the chain is read and written through the public JSON-RPC. The service is a process, over SQLite and over
 * PostgreSQL.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  keccak256,
  stringToHex,
  toHex,
  type Hex,
  type PrivateKeyAccount,
  type TypedDataDefinition,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, sign as signHash } from 'viem/accounts'
import { openPostgres } from '../../support/postgres.ts'
import { lastingPort, startService, type Service } from '../../support/service.ts'

export type Json = Record<string, unknown>

export interface Answer {
  status: number
  headers: Headers
  text: string
  body: Json
}

/** Member `sign` of an answer. */
interface Sign {
  kind: string
  signer: string | null
  method: string
  typed_data?: TypedDataDefinition
  message?: string
  submit: { method: string; url: string; headers?: Record<string, string>; body: unknown; body_is: 'complete' | 'merge_patch' }
  fill_in?: string[]
  documentation: string
}

export interface Journey {
  /** Public URL of the service. */
  url(): string
  get(path: string): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Result of a free call. */
  result(tool: string, input: unknown): Promise<Json>
  /** Key of a new account, with the test money that the faucet gave to it. */
  payer(): Promise<Hex>
  /** Ends the process without notice (SIGKILL) and starts it again on the same data. */
  crash(): Promise<void>
}

/** Runs a journey on SQLite and on PostgreSQL. */
export function journey(name: string, settings: Record<string, string>, walk: (given: Journey) => Promise<void>): void {
  for (const store of ['sqlite', 'postgres'] as const) {
    test(`${name}, on ${store}`, async () => {
      const data_dir = await mkdtemp(join(tmpdir(), 'assay-journey-'))
      const postgres = store === 'postgres' ? await openPostgres() : null
      // All processes on one PostgreSQL share their keys, so the operator names the files.
      const secrets = { ASSAY_SECRET_FILE: join(data_dir, 'secret'), ASSAY_LOG_KEY_FILE: join(data_dir, 'log.key') }
      const shared = { ASSAY_RECEIPT_KEY_FILE: join(data_dir, 'receipt-keys.json'), ...secrets }
      const database = postgres === null ? {} : { ...shared, ASSAY_STORE: await postgres.createDatabase('journey') }
      for (const file of Object.values(secrets)) await writeFile(file, randomBytes(32).toString('hex'), { mode: 0o600 })
      // The public URL stays the same over crashes.
      const lasting = { ASSAY_PORT: await lastingPort(), ASSAY_ADMIN_PORT: 'off' }
      const start = () => startService({ ASSAY_DATA_DIR: data_dir, ASSAY_FREE_DAILY: '1000', ...lasting, ...database, ...settings })
      let running: Service | null = null
      try {
        let service = (running = await start())
        await walk({
          url: () => service.url,
          get: (path) => asked(new URL(path, service.url).href),
          post: (path, body, headers = {}) => posted(new URL(path, service.url).href, body, headers),
          async result(tool, input) {
            const { status, body, text } = await posted(`${service.url}/v1/tools/${tool}/call`, { input })
            assert.equal(status, 200, text)
            return body['result'] as Json
          },
          payer: () => fundedKey(service.url),
          async crash() {
            service.process.kill('SIGKILL')
            await service.ended
            service = running = await start()
          },
        })
      } finally {
        running?.process.kill('SIGTERM')
        await running?.ended
        await postgres?.stop()
        await rm(data_dir, { recursive: true, force: true })
      }
    })
  }
}

async function fundedKey(url: string): Promise<Hex> {
  const key = generatePrivateKey()
  const { status, body, text } = await posted(`${url}/v1/sandbox/fund`, { address: privateKeyToAccount(key).address })
  assert.deepEqual([status, body['funded']], [200, true], text)
  return key
}

/** Clients of a wallet library for the chain of the sandbox, over its public JSON-RPC. */
export function clientsAt(url: string, chain_id: number, account: PrivateKeyAccount) {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  const chain = defineChain({ id: chain_id, name: 'sandbox', nativeCurrency, rpcUrls: { default: { http: [`${url}/v1/sandbox/rpc`] } } })
  return {
    reader: createPublicClient({ chain, transport: http(), pollingInterval: 200 }),
    writer: createWalletClient({ account, chain, transport: http() }),
  }
}

async function asked(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { ...init, headers: { accept: 'application/json', ...(init.headers as Record<string, string>) } })
  const text = await response.text()
  const is_json = (response.headers.get('content-type') ?? '').includes('json')
  return { status: response.status, headers: response.headers, text, body: is_json ? (JSON.parse(text) as Json) : {} }
}

function posted(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return asked(url, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } })
}

/** Payment of x402 version 1 for the first terms of a 402. */
export async function paymentOf({ body, headers }: Answer, key: Hex): Promise<string> {
  const [terms] = body['accepts'] as { network: string; maxAmountRequired: string; payTo: Hex; asset: Hex; extra: Record<string, string> }[]
  assert.ok(terms !== undefined)
  const account = privateKeyToAccount(key)
  const valid_before = Math.floor(Date.parse(headers.get('date') ?? '') / 1_000) + 100
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(32)))
  const value = terms.maxAmountRequired
  const authorization = { from: account.address, to: terms.payTo, value, validAfter: '0', validBefore: String(valid_before), nonce }
  const signature = await account.signTypedData({
    domain: { name: terms.extra['name'], version: terms.extra['version'], chainId: 84_532, verifyingContract: terms.asset },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: { ...authorization, value: BigInt(value), validAfter: 0n, validBefore: BigInt(valid_before) },
  })
  const payment = { x402Version: 1, scheme: 'exact', network: terms.network, payload: { signature, authorization } }
  return Buffer.from(JSON.stringify(payment)).toString('base64')
}

/** Signs as the answer asks, and sends the signature where it says. `request` is the request that was answered. */
export async function follow(answer: Json, key: Hex, request: unknown = {}): Promise<Answer> {
  const sign = answer['sign'] as Sign
  assert.ok(sign !== null && sign !== undefined, JSON.stringify(answer))
  const account = privateKeyToAccount(key)
  if (sign.signer !== null) assert.equal(sign.signer.toLowerCase(), account.address.toLowerCase())
  for (const pointer of sign.fill_in ?? []) put(sign, pointer.split('/').slice(1), account.address)
  const { url, headers = {}, body, body_is } = sign.submit
  const filled = filledIn(body, await signatureOf(sign, key))
  return posted(url, body_is === 'merge_patch' ? merged(request, filled) : filled, headers)
}

async function signatureOf({ method, typed_data, message = '' }: Sign, key: Hex): Promise<Hex> {
  const account = privateKeyToAccount(key)
  switch (method) {
    case 'eth_signTypedData_v4':
      assert.ok(typed_data !== undefined)
      return account.signTypedData(typed_data)
    case 'personal_sign':
      return account.signMessage({ message })
    default:
      return signText(message, key)
  }
}

/** Signature of the keccak-256 of a text, without a prefix. */
export function signText(message: string, key: Hex): Promise<Hex> {
  return signHash({ hash: keccak256(stringToHex(message)), privateKey: key, to: 'hex' })
}

function put(value: unknown, [name = '', ...rest]: string[], filled: string): void {
  const members = value as Json
  if (rest.length === 0) members[name] = filled
  else put(members[name], rest, filled)
}

function filledIn(value: unknown, signature: Hex): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('{signature}', signature))
}

/** JSON Merge Patch (RFC 7396) for objects. */
function merged(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const base = typeof value === 'object' && value !== null ? (value as Json) : {}
  return { ...base, ...Object.fromEntries(Object.entries(patch).map(([name, one]) => [name, merged(base[name], one)])) }
}
