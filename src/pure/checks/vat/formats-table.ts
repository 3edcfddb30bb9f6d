import { releaseTable } from '../../datasets/release-table.ts'
import type { Snapshot } from '../../datasets/definition.ts'
import { VAT_COUNTRY_ROWS } from './countries.ts'

/** Day on which the formats were compiled: VIES, "VAT identification number structure", with NL as since 2020, XI as since 2021, BE as since 2023. */
const COMPILED_AT = '2026-11-21'

/** Formats of VAT numbers by country, as the check reads them. The calculations of check digits are code, which the version of the tool names. */
export const VAT_FORMATS = releaseTable('vat_formats', snapshot)

function snapshot(): Snapshot {
  const rows = Object.entries(VAT_COUNTRY_ROWS).map(([code, row]) => {
    const { name, prefixes = [code], eu_member = true, formats, structure, tax_name, number_name, print = null, suffixes = [] } = row
    const vies = row.vies ?? (eu_member ? code : null)
    return { code, name, prefixes, eu_member, vies, formats, structure, tax_name, number_name, print, suffixes }
  })
  return {
    schema: 'assay/vat-formats/1',
    source: 'European Commission, VIES, VAT identification number structure; national tax authorities',
    source_version: 'compiled by hand',
    published_at: null,
    compiled_at: COMPILED_AT,
    retrieved_at: COMPILED_AT,
    notes: 'In formats: 9 a digit, L a letter, X a letter or digit, S a letter, digit, + or *; other characters are literal.',
    count: rows.length,
    rows,
  }
}
