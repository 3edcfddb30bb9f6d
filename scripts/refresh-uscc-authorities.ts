/**
 * Rebuilds data/uscc-authorities.json from the table of registering authorities and categories in GB 32100, copied to tab-separated
 * lines: authority, category, authority_name, category_name.
 *
 *   node scripts/refresh-uscc-authorities.ts --source <path or URL> --version <text> (--published | --compiled) <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

await refreshTabTable({
  path: new URL('../data/uscc-authorities.json', import.meta.url),
  head: {
    schema: 'assay/uscc-authorities/1',
    source: 'GB 32100-2015, table of registering authorities and categories, with the amendment of 2016',
    notes: 'English names are ours. A code that is missing here is a warning, since authorities and categories are added.',
  },
  columns: {
    authority: /^[0-9A-HJ-NP-RTUWXY]$/,
    category: /^[0-9A-HJ-NP-RTUWXY]$/,
    authority_name: /^[A-Z].{3,60}$/,
    category_name: /^[A-Z].{2,60}$/,
  },
  key: ['authority', 'category'],
  rows: [30, 120],
  sentinels: ['9|1|Market regulation|Company', '5|3|Civil affairs|Foundation', 'N|2|Agriculture|Collective of a village'],
})
