/**
 * Rebuilds data/china-provinces.json from the division codes of GB/T 2260, first two digits, copied to tab-separated lines: code, name.
 *
 *   node scripts/refresh-china-provinces.ts --source <path or URL> --version <text> (--published | --compiled) <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

await refreshTabTable({
  path: new URL('../data/china-provinces.json', import.meta.url),
  head: {
    schema: 'assay/china-provinces/1',
    source: 'GB/T 2260: division codes, first two digits; 10 means the whole country (100000)',
    notes: 'Two digits only: lists of counties change, and real codes keep divisions that are gone.',
  },
  columns: { code: /^[1-8][0-9]$/, name: /^[A-Z][A-Za-z ]{3,30}$/ },
  key: ['code'],
  rows: [35, 40],
  sentinels: ['10|National', '11|Beijing', '31|Shanghai', '44|Guangdong', '65|Xinjiang', '82|Macao'],
})
