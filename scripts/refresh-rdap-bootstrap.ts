/**
 * Rebuilds data/rdap-bootstrap.json from IANA's bootstrap file for domain names (RFC 9224) and the reviewed overrides.
 *
 *   node scripts/refresh-rdap-bootstrap.ts --bootstrap https://data.iana.org/rdap/dns.json --retrieved 2026-11-21
 *
 * `--source-version <words>` names a source that is not the whole file. Only https servers are kept: a service without one is left out.
 */
import { RDAP_OVERRIDES } from './support/rdap-overrides.ts'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  tld: string
  url: string
  /** `iana`, or `override` where IANA names no server. */
  origin: string
}

interface Bootstrap {
  publication: string
  services: [string[], string[]][]
}

const PATH = new URL('../data/rdap-bootstrap.json', import.meta.url)
/** Under contract with ICANN since 2019 to answer RDAP, or in the file for years. */
const PRESENT = ['com', 'net', 'org', 'info', 'uk', 'fr', 'nl', 'no', 'br']
const SHRINK_MAX = 0.1

const { publication, services } = JSON.parse(new TextDecoder().decode(await readSource(option('bootstrap')))) as Bootstrap
const found = new Map<string, Row>()
for (const [tlds, urls] of services) {
  const url = urls.find((one) => one.startsWith('https://'))
  if (url === undefined) continue
  for (const tld of tlds) found.set(tld.toLowerCase(), { tld: tld.toLowerCase(), url: url.endsWith('/') ? url : `${url}/`, origin: 'iana' })
}
for (const [tld, url] of Object.entries(RDAP_OVERRIDES)) if (!found.has(tld)) found.set(tld, { tld, url, origin: 'override' })

const rows = [...found.values()].sort((one, other) => (one.tld < other.tld ? -1 : 1))
const before = await rowsOf<Row>(PATH)
assert(rows.length >= 60 && rows.length <= 5_000, `${rows.length} rows`)
assert(rows.length >= before.length * (1 - SHRINK_MAX), `the file shrank from ${before.length} to ${rows.length} rows`)
for (const tld of PRESENT) assert(found.get(tld)?.origin === 'iana', `${tld} is missing from the bootstrap file`)
for (const { tld, url } of rows) assert(/^[a-z0-9.-]+$/.test(tld) && new URL(url).port === '', `${tld}: not a server`)
printDifference(before, rows, ({ tld }) => tld)
const partial = process.argv.includes('--source-version')
await writeTable(
  PATH,
  {
    schema: 'assay/rdap-bootstrap/1',
    source: 'IANA, Bootstrap Service Registry for Domain Name Space (https://data.iana.org/rdap/dns.json), and reviewed overrides',
    source_version: partial ? option('source-version') : `publication ${publication}`,
    ...tableDates(option('bootstrap'), partial ? null : publication.slice(0, 10)),
    notes: partial
      ? 'Partial: compiled by hand without the file at hand; run the script with the file of IANA. A domain that is missing here has an unknown age.'
      : 'A domain that is missing here has an unknown age.',
  },
  rows,
)
