/**
 * Rebuilds data/gst-states.json from the state codes of CBIC and GSTN, copied to tab-separated lines: code, name, status.
 *
 *   node scripts/refresh-gst-states.ts --source <path or URL> --version <text> (--published | --compiled) <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

await refreshTabTable({
  path: new URL('../data/gst-states.json', import.meta.url),
  head: {
    schema: 'assay/gst-states/1',
    source: 'CBIC and GSTN: state codes of the GSTIN',
    notes:
      'legacy: old numbers remain valid, new ones are not issued. 25 was merged into 26 on 2020-01-26; 28 was Andhra Pradesh before Telangana. ' +
      '96 marks a place of supply, no registration.',
  },
  columns: { code: /^[0-9]{2}$/, name: /^[A-Z][A-Za-z0-9 ()]{2,60}$/, status: /^(current|legacy|place_of_supply)$/ },
  key: ['code'],
  rows: [38, 60],
  sentinels: ['27|Maharashtra|current', '38|Ladakh|current', '97|Other Territory|current', '99|Centre jurisdiction|current'],
})
