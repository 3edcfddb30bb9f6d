import table from '../../../data/rdap-bootstrap.json' with { type: 'json' }
import { dataDate } from '../data-date.ts'

export const RDAP_SERVERS_AS_OF = dataDate(table)

const SERVERS: ReadonlyMap<string, string> = new Map(table.rows.map(({ tld, url }) => [tld, url]))

/**
 * Base URL of the RDAP server for a domain, by the longest suffix in IANA's bootstrap file (RFC 9224, March 2022) and our overrides; null
 * when none is known. Ends in a slash.
 */
export function rdapServer(domain: string): string | null {
  let suffix = domain
  while (suffix !== '') {
    const server = SERVERS.get(suffix)
    if (server !== undefined) return server
    const dot = suffix.indexOf('.')
    suffix = dot < 0 ? '' : suffix.slice(dot + 1)
  }
  return null
}
