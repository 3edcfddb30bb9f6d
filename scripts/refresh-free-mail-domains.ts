/**
 * Rebuilds data/free-mail-domains.json from a text with one domain a line: providers at which anybody may open a mailbox. There is no
 * publisher of such a list; it is compiled from the providers' own pages, and reviewed by hand.
 *
 *   node scripts/refresh-free-mail-domains.ts --domains <path or URL> --compiled 2026-11-21 --retrieved 2026-11-21
 */
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  domain: string
}

const PATH = new URL('../data/free-mail-domains.json', import.meta.url)
const PRESENT = ['gmail.com', 'outlook.com', 'yahoo.com', 'qq.com', 'gmx.de']
/** Domains of companies, which must not be on the list. */
const ABSENT = ['google.com', 'microsoft.com', 'example.com']

const lines = new TextDecoder()
  .decode(await readSource(option('domains')))
  .split(/\r?\n/)
  .map((line) => line.trim().toLowerCase())
const domains = [...new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))].sort()
const rows: Row[] = domains.map((domain) => ({ domain }))
const before = await rowsOf<Row>(PATH)
for (const domain of domains) assert(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain), `"${domain}" is not a domain`)
assert(rows.length >= 50 && rows.length <= 20_000, `${rows.length} domains`)
assert(rows.length >= before.length * 0.8, `the list shrank from ${before.length} to ${rows.length} domains`)
for (const domain of PRESENT) assert(domains.includes(domain), `${domain} should be on the list`)
for (const domain of ABSENT) assert(!domains.includes(domain), `${domain} should not be on the list`)
printDifference(before, rows, ({ domain }) => domain)
await writeTable(
  PATH,
  {
    schema: 'assay/free-mail-domains/1',
    source: "The providers' own pages",
    source_version: 'compiled by hand',
    ...tableDates(option('domains')),
    notes: 'Partial: the providers that are met most. Anybody may open a mailbox there, so the domain says nothing about its holder.',
  },
  rows,
)
