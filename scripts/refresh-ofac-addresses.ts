/**
 * Rebuilds data/ofac-addresses.json: the EVM addresses of OFAC's list of Specially Designated Nationals. From the publisher's own export
 * (Sanctions List Service, SDN_ENHANCED.ZIP, unpacked; its head contains the date of publication):
 *
 *   node scripts/refresh-ofac-addresses.ts --xml <path or URL of SDN_ENHANCED.XML> --published 2026-06-25 --retrieved 2026-11-21
 *
 * or, where only that is at hand, from the CSV that ultrasoundmoney/ofac-ethereum-addresses (MIT) derives from it; a CSV names no programmes:
 *
 *   node scripts/refresh-ofac-addresses.ts --csv <path or URL of data.csv> --published 2026-06-25 --retrieved 2026-11-21
 */
import type { OfacRow } from '../src/pure/datasets/sanctions-lists.ts'
import { proveOfac, rowsFromCsv, rowsFromXml } from './support/ofac-sources.ts'
import { option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

const PATH = new URL('../data/ofac-addresses.json', import.meta.url)
const xml = process.argv.includes('--xml')
const text = new TextDecoder().decode(await readSource(option(xml ? 'xml' : 'csv')))
const rows = xml ? rowsFromXml(text) : rowsFromCsv(text)
/** The export states the day of its data. */
const stated = xml ? (/<dataAsOf>(\d{4}-\d{2}-\d{2})/.exec(text)?.[1] ?? null) : null
const before = await rowsOf<OfacRow>(PATH)
proveOfac(rows, before)
printDifference(before, rows, ({ address }) => address)
await writeTable(
  PATH,
  {
    schema: 'assay/ofac-addresses/1',
    source: xml
      ? 'US Treasury, OFAC Sanctions List Service: SDN_ENHANCED.XML'
      : 'US Treasury, OFAC: SDN_ENHANCED.XML by way of ultrasoundmoney/ofac-ethereum-addresses data.csv (MIT)',
    source_version: `SDN list as of ${option('published')}`,
    ...tableDates(option(xml ? 'xml' : 'csv'), stated),
    notes:
      'Addresses of the EVM regardless of the ticker of the feature. Tornado Cash contracts are absent since 2025-03-21. No names are screened.',
  },
  rows,
)
