import type { ReceiverUrl } from '../../ports/webhooks.ts'
import { isPublicAddress } from './guarded-request.ts'

/** Top-level names that public DNS never has (RFC 6761, 6762 and 8375, ICANN's reservation of .internal, and names that collide with local ones). */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa|intranet|private|corp|home|lan|test|invalid|onion)$/
const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '[::1]', 'localhost']

const EXPECTED_RECEIVER =
  'an https address on port 443 of a public host, such as https://example.com/hooks, without user, password or fragment'

/**
 * Reads the address of a receiver. It is returned as the URL standard spells it, so that one receiver has one address: 0x7f000001 is 127.0.0.1. No
 * name is resolved here; where a name leads is checked with each request.
 */
export function readReceiverUrl(text: string, { loopback }: { loopback: boolean }): ReceiverUrl {
  const url = URL.parse(text)
  if (url === null) return unusable('is not a URL')
  if (url.username !== '' || url.password !== '') return unusable('has a user or a password')
  if (url.hash !== '') return unusable('has a fragment')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return unusable(`has the scheme ${url.protocol.slice(0, -1)}`)
  if (loopback && LOOPBACK_HOSTS.includes(url.hostname)) return { ok: true, url: url.href }
  const host = hostFault(url.hostname)
  if (host !== null) return unusable(host)
  if (url.protocol === 'http:') return unusable('has the scheme http')
  return url.port === '' ? { ok: true, url: url.href } : unusable(`has the port ${url.port}`)
}

/** Fault of a host in the spelling of the URL standard; null for one that may be public. */
function hostFault(host: string): string | null {
  const [, six, four] = /^(?:\[(.+)\]|(\d+\.\d+\.\d+\.\d+))$/.exec(host) ?? []
  const address = six ?? four
  if (address !== undefined) return isPublicAddress(address) ? null : `leads to ${address}, which is not a public address`
  if (host.endsWith('.')) return `has the host ${host}, which ends with a dot`
  if (LOCAL_NAMES.test(host)) return `has the host ${host}, which exists in local networks only`
  return host.includes('.') ? null : `has the host ${host}, which is not a full domain name`
}

function unusable(found: string): ReceiverUrl {
  return { ok: false, found, expected: EXPECTED_RECEIVER }
}
