import { BlockList, isIP } from 'node:net'
import { lookup, type LookupAddress } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { readBoundedText } from '../../pure/read-bounded.ts'
import type { Resolve } from './outside-names.ts'

/** Special-purpose ranges of IPv4 (IANA registry, RFC 6890 and later), multicast and the reserved class: none of them is a registry. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * Excluded ranges of global unicast, the only assigned IPv6 space: Teredo and other protocols, documentation, 6to4, and addresses that
 * embed IPv4.
 */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']
const GLOBAL_V6 = ['2000::/3']

const special = listOf([...SPECIAL_V4, ...SPECIAL_V6])
const global_v6 = listOf(GLOBAL_V6)

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', prefix = ''] = range.split('/')
    list.addSubnet(network, Number(prefix), network.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}

/**
 * True when an IP address belongs to the public internet: not loopback, link-local (where clouds keep their metadata), private, shared,
 * documentation, multicast or reserved, nor any form of IPv6 that wraps or translates IPv4. Errs towards false.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  // A zone names an interface of this machine.
  if (family !== 6 || address.includes('%')) return false
  return global_v6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

export interface Guard {
  resolve: Resolve
  /** Client that caused the request: its host names are resolved one after the other. */
  party?: string
  /** `address:port` pairs that may be reached although they are not public, and without TLS: a registry on the operator's own machine. */
  exempt: Pick<ReadonlySet<string>, 'has'>
  /** False when nothing may be sent to the address now. */
  admit?: (address: string) => boolean
}

export type GuardedResponse =
  | { kind: 'answer'; status: number; text: string }
  /** It led to where nothing may be asked, or too far. */
  | { kind: 'refused' }
  | { kind: 'too_long' }

/** Bounds of one request, and the media types that it accepts. */
interface OpenBounds {
  redirects: number
  accept: string
}

/** Bounds of one reading. */
interface GetBounds extends OpenBounds {
  answer_bytes: number
}

/** Resolver of the system, hosts file included: for hosts that the operator or a publisher named. */
export const systemResolve = (host: string): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })

/** GET that cannot be steered (see `guardedAttempt`), with a bounded body. Rejects when the server does not answer or the signal fires. */
export async function guardedGet(address: string, guard: Guard, signal: AbortSignal, bounds: GetBounds): Promise<GuardedResponse> {
  const response = await guardedOpen(address, guard, signal, bounds)
  if (response === null) return { kind: 'refused' }
  const text = await readBoundedText(response, bounds.answer_bytes)
  return text === null ? { kind: 'too_long' } : { kind: 'answer', status: response.statusCode ?? 0, text }
}

/** The response with its body unread, or why there is none: the address may not be requested, or it led further than allowed. */
export type GuardedAttempt = { response: IncomingMessage } | { refused: 'not_public' | 'not_admitted' | 'redirect' }

/** `guardedAttempt` without the reason: null if the address may not be requested, or led too far. */
export async function guardedOpen(...request: Parameters<typeof guardedAttempt>): Promise<IncomingMessage | null> {
  const attempt = await guardedAttempt(...request)
  return 'response' in attempt ? attempt.response : null
}

/**
 * Request that cannot be steered (POST with a body, otherwise GET): https only, no credentials, no other port, a bounded number of redirects;
 * at each hop the host is resolved once, all its addresses must be public, and the connection goes to the address that was checked.
 */
export async function guardedAttempt(
  address: string,
  guard: Guard,
  signal: AbortSignal,
  { redirects, accept }: OpenBounds,
  headers: Readonly<Record<string, string>> = {},
  body: string | null = null,
): Promise<GuardedAttempt> {
  let url = new URL(address)
  for (let hop = 0; hop <= redirects; hop++) {
    const target = await checked(url, guard, signal)
    if (target === null) return { refused: 'not_public' }
    if (guard.admit?.(target.address) === false) return { refused: 'not_admitted' }
    const response = await send(url, target, signal, { ...headers, accept }, body)
    const status = response.statusCode ?? 0
    const location = response.headers.location
    if (status < 300 || status > 399 || location === undefined) return { response }
    response.destroy()
    if (!URL.canParse(location, url)) break
    url = new URL(location, url)
  }
  return { refused: 'redirect' }
}

interface Target extends LookupAddress {
  exempt: boolean
}

/** The address to connect to; null when this must not be asked. */
async function checked(url: URL, { resolve, exempt, party }: Guard, signal: AbortSignal): Promise<Target | null> {
  if (url.username !== '' || url.password !== '') return null
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const addresses = family === 0 ? await unlessAborted(resolve(host, signal, party), signal) : [{ address: host, family }]
  const [first] = addresses
  if (first === undefined) return null
  const exempted = addresses.every(({ address }) => exempt.has(`${address}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`))
  if (exempted && /^https?:$/.test(url.protocol)) return { ...first, exempt: true }
  if (url.protocol !== 'https:' || url.port !== '') return null
  return addresses.every(({ address }) => isPublicAddress(address)) ? { ...first, exempt: false } : null
}

/** A name server that never answers must not hold a call beyond its time. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('the time is up', { cause: signal.reason }))
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function send(
  url: URL,
  { address, family, exempt }: Target,
  signal: AbortSignal,
  headers: Record<string, string>,
  body: string | null,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: body === null ? 'GET' : 'POST',
    // A pooled connection could belong to another address.
    agent: false,
    headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': 'assay' },
    maxHeaderSize: 16_384,
    signal,
    // The connection goes to the address that was checked, even if the host resolves to another one by now.
    lookup: (_host, asked, done) => {
      if (asked.all === true) done(null, [{ address, family }])
      else done(null, address, family)
    },
  }
  const request = exempt && url.protocol === 'http:' ? requestHttp : requestHttps
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url, options, resolve)
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}
