import { BlockList, isIP } from 'node:net'

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

/** Inside global unicast, which is all that IPv6 gives out: Teredo and other protocols, documentation, 6to4, and what stands for IPv4. */
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
 * Whether an IP address belongs to the public internet: not loopback, link-local (where clouds keep their metadata), private, shared,
 * documentation, multicast or reserved, nor any form of IPv6 that wraps or translates IPv4. Errs towards false.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  // A zone names an interface of this machine.
  if (family !== 6 || address.includes('%')) return false
  return global_v6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
