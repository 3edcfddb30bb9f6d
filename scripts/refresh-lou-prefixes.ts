/**
 * Rebuilds data/lou-prefixes.json, the first four characters of LEIs by issuer, from tab-separated lines: prefix, name. The issuers and
 * GLEIF's list of LEI issuers publish the prefixes, so manually collected rows need --compiled. node scripts/refresh-lou-prefixes.ts
 * --source <path or URL> --version <text> (--published | --compiled) <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

await refreshTabTable({
  path: new URL('../data/lou-prefixes.json', import.meta.url),
  head: {
    schema: 'assay/lou-prefixes/1',
    source: "GLEIF and the issuers' own publications",
    notes:
      'Partial: the issuers whose prefix is commonly known. The prefix names who first issued a code since 2012-11-30, not who manages it today.',
  },
  columns: { prefix: /^[0-9A-Z]{4}$/, name: /^\S.{1,78}\S$/ },
  key: ['prefix'],
  rows: [6, 120],
  sentinels: ['2138|London Stock Exchange', '5299|WM Datenservice', '9695|INSEE'],
})
