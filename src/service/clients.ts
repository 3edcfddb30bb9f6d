import { createHmac, createSecretKey } from 'node:crypto'
import { BlockList, isIP, isIPv4 } from 'node:net'
import type { SteadyClock } from '../ports/clock.ts'
import { limits } from './limits.ts'

/**
 * The identity of a caller. Free calls are counted for an IPv4 address or an IPv6 /64 (`clientNetwork`), and bounded for its /24 or /48
 * (`widerNetwork`). Quotas that protect others count an IPv4 address or an IPv6 /48 (`quotaClient`). The address is read from a proxy's header
 * only when the proxy is configured, and is stored nowhere: stores hold a keyed hash that changes daily.
 */

/** Which peers may speak for others. */
export interface TrustedProxies {
  trusts(address: string): boolean
}

/** Reads `172.30.84.0/24`, `2001:db8::/64` or single addresses; the message names the first that is none of them. */
export function trustedProxies(entries: readonly string[]): { ok: true; proxies: TrustedProxies } | { ok: false; message: string } {
  const known = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const version = isIP(address)
    const most = version === 4 ? 32 : 128
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : NaN
    if (version === 0 || !(length >= 0 && length <= most)) {
      return {
        ok: false,
        message: 'ASSAY_TRUSTED_PROXIES must list addresses or networks such as 10.0.0.7 or 172.30.84.0/24, separated by commas.',
      }
    }
    known.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6')
  }
  return { ok: true, proxies: { trusts: (address) => known.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') } }
}

/** Prefix lengths of the widest networks that a live service trusts without `ASSAY_WIDE_PROXIES=accept`: 4,096 addresses, one IPv6 subnet. */
const WIDEST_PREFIX = { 4: 20, 6: 64 }

/** Entries wider than a network of proxies needs: each machine with an address in them can name any client, with its free calls and limits. */
export function wideProxies(entries: readonly string[]): string[] {
  return entries.filter((entry) => {
    const [address = '', bits] = entry.split('/')
    return bits !== undefined && Number(bits) < (isIP(address) === 6 ? WIDEST_PREFIX[6] : WIDEST_PREFIX[4])
  })
}

/** Refusal of the settings of a live service; null without a wide entry. */
export function wideProxyFault(entries: readonly string[]): string | null {
  const [range] = wideProxies(entries)
  const risk = 'every machine in this network could name any client in X-Forwarded-For and use its free calls and limits'
  return range === undefined
    ? null
    : `ASSAY_TRUSTED_PROXIES has ${range}, which is wider than an IPv4 /20 or IPv6 /64: ${risk}. Name the proxies themselves, or set ASSAY_WIDE_PROXIES=accept.`
}

/**
 * Address of the caller: the peer, or, behind trusted proxies, the last address in X-Forwarded-For that is not one of them. Entries further
 * left may be forged by the caller. No other header is read, neither Forwarded (RFC 7239) nor those of single providers such as
 * CF-Connecting-IP: most proxies pass on the caller's value of these.
 */
export function callerAddress(peer: string, forwarded: string | null, proxies: TrustedProxies): string {
  let address = unmapped(peer)
  if (forwarded === null || isIP(address) === 0 || !proxies.trusts(address)) return address
  for (const hop of forwarded.split(',').slice(-MAX_HOPS).toReversed()) {
    const next = hopAddress(hop.trim())
    if (next === null) return address
    address = next
    if (!proxies.trusts(address)) return address
  }
  return address
}

const MAX_HOPS = 16

/**
 * Reads one entry of X-Forwarded-For: an address, `a.b.c.d:port`, `[v6]` or `[v6]:port`; an IPv6 address may name a zone. Returns null for
 * anything else.
 */
function hopAddress(text: string): string | null {
  const [, v6, v4, port = '0'] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const address = v6 ?? v4 ?? text
  const version = isIP(address)
  if (version === 0 || (v6 !== undefined && version !== 6) || Number(port) > MAX_PORT) return null
  return unmapped(address)
}

const MAX_PORT = 65_535

/** `::ffff:192.0.2.1` is 192.0.2.1, and so is `0:0:0:0:0:ffff:c000:201`. */
function unmapped(address: string): string {
  if (!address.includes(':')) return address
  const plain = address.toLowerCase().split('%')[0] ?? ''
  if (plain.startsWith('::ffff:') && isIPv4(plain.slice(7))) return plain.slice(7)
  if (!plain.includes('ffff:') || isIP(plain) !== 6) return plain
  const [high = '', low = ''] = /^0,0,0,0,0,ffff,(.*)$/.exec(ipv6Groups(plain).join())?.[1]?.split(',') ?? []
  return low === '' ? plain : [high, low].map(octetsOf).join('.')
}

/** The two octets of a group. */
function octetsOf(group: string): string {
  const value = Number.parseInt(group, 16)
  return `${value >> 8}.${value & 255}`
}

/** The network that shares one allowance: the IPv4 address itself, the first four groups of an IPv6 address. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  return ipv6Groups(address).slice(0, 4).join(':')
}

/** The eight groups of an IPv6 address as numbers in hexadecimal. */
function ipv6Groups(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const groups = (part: string) =>
    part
      .split(':')
      .filter((group) => group !== '')
      .flatMap(groupsOf)
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16).toString(16))
}

/** A dotted quad at the end of an IPv6 address is two groups. */
function groupsOf(group: string): string[] {
  if (!group.includes('.')) return [group]
  const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
}

/** The name of a network on a day. */
export type NetworkHash = (day: number, address: string) => string

/** The wider network of a client: the /24 of an IPv4 address, the /48 of an IPv6 address, which one customer of a provider often has whole. */
export function widerNetwork(address: string): string {
  if (isIP(address) !== 6) return address.split('.').slice(0, 3).join('.')
  return ipv6Groups(address).slice(0, 3).join(':')
}

/**
 * The network of a provider: the /16 of an IPv4 address, the /32 of an IPv6 address, which is what registries allocate. Bounds on it keep an
 * actor with many small networks from using up what all share.
 */
export function providerNetwork(address: string): string {
  if (isIP(address) !== 6) return address.split('.').slice(0, 2).join('.')
  return ipv6Groups(address).slice(0, 2).join(':')
}

/**
 * Names a caller in quotas that protect others, such as slots, rates and failures: the IPv4 address, or the /48 of an IPv6 address. Free calls are
 * counted by `clientNetwork` instead, and bounded by the wider network.
 */
export function quotaClient(address: string): string {
  return address.includes(':') ? widerNetwork(address) : address
}

/** Names under which wider networks are counted on a day, made as those of clients are. */
export function networkHasher(secret: Uint8Array): NetworkHash {
  return dailyHasher(secret, 'network', widerNetwork)
}

/** Names under which networks of providers are counted on a day. */
export function providerHasher(secret: Uint8Array): NetworkHash {
  return dailyHasher(secret, 'provider', providerNetwork)
}

function dailyHasher(secret: Uint8Array, kind: string, networkOf: (address: string) => string): NetworkHash {
  const key = createSecretKey(secret)
  return (day, address) =>
    createHmac('sha256', key)
      .update(`${kind}|${day}|${networkOf(address)}`)
      .digest('hex')
      .slice(0, 32)
}

/** Names under which clients are counted on a day: 128 bits of an HMAC under the deployment's secret. */
export function clientHasher(secret: Uint8Array): (day: number, address: string) => string {
  // A key object made once: node:crypto spends far longer on wrapping raw bytes than on the hash.
  const key = createSecretKey(secret)
  return (day, address) =>
    createHmac('sha256', key)
      .update(`client|${day}|${clientNetwork(address)}`)
      .digest('hex')
      .slice(0, 32)
}

const MINUTE_MS = 60_000

/** Decision of the rate limit; when it refuses, the time until the next request is admitted. */
type Admitted = { ok: true } | { ok: false; retry_after_s: number }

/**
 * Counts what each client sends within a minute of the clock. It guards this process against work that is free, so it is kept in this
 * process; addresses leave memory when their minute is over. Errs towards letting a client in when more are met than are kept.
 */
export function createRateGuard(clock: SteadyClock, per_minute: number): (address: string) => Admitted {
  const counts = new Map<string, number>()
  let minute = -1
  return (address) => {
    const now_ms = clock.steady_ms()
    const current = Math.floor(now_ms / MINUTE_MS)
    if (current !== minute) counts.clear()
    minute = current
    const client = quotaClient(address)
    const count = (counts.get(client) ?? 0) + 1
    if (count > per_minute) return { ok: false, retry_after_s: Math.ceil(((minute + 1) * MINUTE_MS - now_ms) / 1_000) }
    const [oldest] = counts.size >= limits.preflight_clients && !counts.has(client) ? counts.keys() : []
    if (oldest !== undefined) counts.delete(oldest)
    counts.set(client, count)
    return { ok: true }
  }
}

/** Returns true for an IP address with or without a port; one of IPv6 with a port is in brackets. */
export function isServerAddress(text: string): boolean {
  if (isIP(text) !== 0) return true
  const [, bracketed = '', plain = ''] = /^(?:\[([^\]]+)\]|([^:]+)):\d{1,5}$/.exec(text) ?? []
  return isIP(bracketed) === 6 || isIP(plain) === 4
}
