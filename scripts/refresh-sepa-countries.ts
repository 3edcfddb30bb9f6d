/**
 * Rebuilds data/sepa-countries.json from EPC409-09, the list of SEPA scheme countries of the European Payments Council, copied to lines under
 * the header line "country": the IBAN country code of each country inside the geographical scope. Territories that share the IBAN code of
 * their state (GG, JE, IM, AX, the French overseas territories) have no line.
 *
 *   node scripts/refresh-sepa-countries.ts --source <path or URL> --version <text> --published <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

await refreshTabTable({
  path: new URL('../data/sepa-countries.json', import.meta.url),
  head: {
    schema: 'assay/sepa-countries/1',
    source: 'European Payments Council, EPC409-09, list of SEPA scheme countries',
    notes:
      'IBAN country codes inside the geographical scope of the SEPA schemes: 41 countries and Gibraltar. FO and GL have IBANs but are ' +
      'outside. AL, MD, ME and MK became operational in October 2025, RS in 2026.',
  },
  // The Faroe Islands and Greenland have separate IBANs and are not part of SEPA.
  columns: { country: /^(?!FO|GL)[A-Z]{2}$/ },
  key: ['country'],
  rows: [40, 60],
  sentinels: ['AL', 'CH', 'DE', 'GB', 'GI', 'MD', 'ME', 'MK', 'RS', 'SM', 'VA'],
})
