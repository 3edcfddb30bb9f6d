import type { PaymentTerms } from './bulk-payments.ts'
import { FREE_CALL, hostileAddresses, startAttack, type Attack, type Claim, type HostileRequest } from './hostile.ts'
import { insurer } from './insurer.ts'

/** The attacks that the service has to withstand, one function each; each leaves its bounds to the caller. */

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' }
const MCP_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }

/** How many clients attack: so many networks, and connections of each. */
export interface Crowd {
  networks: number
  each: number
}

/** Calls that say that they are paid for, and never send their body. */
export function heldCalls(
  port: number,
  { networks, each }: Crowd,
  { claim, terms, drip_ms }: { claim: Claim; terms?: PaymentTerms; drip_ms?: number },
): Promise<Attack> {
  return startAttack({
    port,
    addresses: hostileAddresses(networks),
    connections: each,
    requests: [{ path: FREE_CALL.path, headers: JSON_TYPE, body: '{', declared_bytes: 40 }],
    claim,
    held: true,
    ...(terms === undefined ? {} : { terms }),
    ...(drip_ms === undefined ? {} : { drip_ms }),
  })
}

const DOCUMENT_BYTES = 5 * 1_048_576

/** Addresses that read a body, each with as much as it reads. */
export const BODY_READERS = {
  rest: { path: '/v1/tools/context-distill/call', headers: JSON_TYPE, declared_bytes: DOCUMENT_BYTES },
  mcp: { path: '/mcp', headers: MCP_TYPE, declared_bytes: DOCUMENT_BYTES },
  a2a: { path: '/a2a', headers: JSON_TYPE, declared_bytes: DOCUMENT_BYTES },
  check: { path: '/v1/protocols/check', headers: JSON_TYPE, declared_bytes: 262_144 },
  invoice: { path: '/api/invoice/create', headers: JSON_TYPE, declared_bytes: 16_384 },
} as const

/** Bodies of which all but the last byte is sent. */
export function heldBodies(
  port: number,
  { networks, each }: Crowd,
  readers: readonly (keyof typeof BODY_READERS)[],
  sent_bytes_max: number,
): Promise<Attack> {
  const requests = readers.map((reader) => ({ ...BODY_READERS[reader], fill_bytes: BODY_READERS[reader].declared_bytes - 1 }))
  return startAttack({ port, addresses: hostileAddresses(networks), connections: each, requests, held: true, sent_bytes_max })
}

/** Connections of one address on which nothing is sent. */
export function idleConnections(port: number, connections: number): Promise<Attack> {
  return startAttack({ port, addresses: hostileAddresses(1), connections, requests: [] })
}

const CLAIM_EVERY_MS = 700
const CLAIMANTS = 8

/** One call with a payment that fails every 0.7 s, from several clients in turn, none of which fails often. */
export function failingClaims(port: number, claim: Claim, terms?: PaymentTerms): Promise<Attack> {
  return startAttack({
    port,
    addresses: hostileAddresses(CLAIMANTS),
    requests: [{ ...FREE_CALL, headers: JSON_TYPE }],
    claim,
    pause_ms: CLAIMANTS * CLAIM_EVERY_MS,
    open_every_ms: CLAIM_EVERY_MS,
    ...(terms === undefined ? {} : { terms }),
  })
}

/** 512 connections of four honest clients, each of which sends one free call after the other. */
export function freeLoad(port: number): Promise<Attack> {
  const addresses = ['127.100.0.1', '127.100.1.1', '127.100.2.1', '127.100.3.1']
  return startAttack({ port, addresses, connections: 128, requests: [{ ...FREE_CALL, headers: JSON_TYPE }] })
}

/** 64 connections in a closed loop, of four clients. */
export function repeated(port: number, requests: HostileRequest[]): Promise<Attack> {
  return startAttack({ port, addresses: hostileAddresses(4), connections: 16, requests })
}

/** Two connections in a closed loop. */
export function twice(port: number, requests: HostileRequest[]): Promise<Attack> {
  return startAttack({ port, addresses: hostileAddresses(2), requests })
}

/** What costs the reader nothing, by what is read. */
export function cheapReads(invoice_id: string): Record<string, HostileRequest> {
  const get = (path: string, accept = 'application/json'): HostileRequest => ({ method: 'GET', path, headers: { accept } })
  return {
    'log/consistency': get('/log/consistency/1'),
    invoice: get(`/api/invoice/${invoice_id}`),
    'insurance directory': get('/api/insurance/register'),
    'openapi.json': get('/openapi.json'),
    docs: get('/docs', 'text/html'),
    payments: get(`/v1/payments/0x${'1'.repeat(40)}/0x${'2'.repeat(64)}`),
  }
}

/** A JSON Schema of many branches over an object of many keys. */
export function manyBranches(): HostileRequest {
  const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, 1]))
  const branch = { properties: { none: true }, additionalProperties: true }
  const schema = { allOf: Array.from({ length: 5_000 }, () => branch) }
  return { path: '/v1/tools/instant-json-schema-verifier/call', headers: JSON_TYPE, body: JSON.stringify({ input: { data, schema } }) }
}

/** 190,000 keys with escapes in them, over each surface. */
export function escapedKeys(): Record<'rest' | 'mcp' | 'a2a', HostileRequest> {
  const keys = Array.from({ length: 190_000 }, (_, index) => `"\\u0061${index}":1`).join(',')
  const input = `{"data":{${keys}},"schema":true}`
  const tool = 'instant-json-schema-verifier'
  const part = `{"kind":"data","data":{"tool":"${tool}","input":${input}}}`
  const message = `{"kind":"message","messageId":"1","role":"user","parts":[${part}]}`
  return {
    rest: { path: `/v1/tools/${tool}/call`, headers: JSON_TYPE, body: `{"input":${input}}` },
    mcp: {
      path: '/mcp',
      headers: MCP_TYPE,
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${input}}}`,
    },
    a2a: { path: '/a2a', headers: JSON_TYPE, body: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":${message}}}` },
  }
}

/** A text of 500,000 Chinese characters, which holds no space. */
export function chineseText(): HostileRequest {
  const text = '价格与数量的说明'.repeat(62_500)
  return { path: '/v1/tools/context-distill/call', headers: JSON_TYPE, body: JSON.stringify({ input: { text } }) }
}

/** One of 65,536 networks (/64) of a /48, named by a trusted proxy. */
export function ofOneSite(network: number, site = '2001:db8:7'): Record<string, string> {
  return { 'x-forwarded-for': `${site}:${network.toString(16)}::1` }
}

/** One of many IPv4 clients, each in a /24 of its own, named by a trusted proxy. */
export function ofAnyNetwork(number: number): Record<string, string> {
  return { 'x-forwarded-for': `198.${18 + ((number >> 8) & 1)}.${number & 255}.1` }
}

/** An invoice that nobody has signed. */
export function unsignedInvoice(merchant: string, number: number): HostileRequest {
  const body = JSON.stringify({ amountUsdc: '1', merchant, memo: String(number) })
  return { path: '/api/invoice/create', headers: { ...JSON_TYPE, ...ofAnyNetwork(number) }, body }
}

/** A new underwriter with an entry of its own. */
export async function newUnderwriter(number: number, origin: string): Promise<HostileRequest> {
  const key = `0x${(number + 1).toString(16).padStart(64, '0')}` as const
  const body = JSON.stringify(await insurer(key).registration(origin, Math.floor(Date.now() / 1_000)))
  return { path: '/api/insurance/register', headers: { ...JSON_TYPE, ...ofAnyNetwork(number) }, body }
}
