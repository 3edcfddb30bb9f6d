import { iso31661 } from 'iso-3166/1.js'
import { dataDate, datesOf, isWords, referenceTable, rowOf } from '../datasets/table.ts'
import table from '../../../data/prohibited-jurisdictions.json' with { type: 'json' }

export interface Country {
  alpha2: string
  alpha3: string
  /** The short name of ISO 3166-1. */
  name: string
}

/** Kosovo has no ISO 3166 entry; XK is the user-assigned code that ISO 13616 and ISO 9362 use, XKX its common alpha-3. */
const KOSOVO: Country = { alpha2: 'XK', alpha3: 'XKX', name: 'Kosovo' }

/** ISO 3166-1 as in the package iso-3166 4.4.0 (2026-03), and Kosovo, by alpha-2 code. */
export const COUNTRIES: ReadonlyMap<string, Country> = new Map(
  [...iso31661, KOSOVO].map(({ alpha2, alpha3, name }) => [alpha2, { alpha2, alpha3, name }]),
)

export type JurisdictionLevel = 'comprehensive' | 'elevated' | 'needs_review'

/** Jurisdiction under a programme of OFAC, with the names by which texts are searched for it. */
export interface JurisdictionRow {
  code: string
  kind: 'country' | 'region'
  level: JurisdictionLevel
  name: string
  aliases: string[]
  names_alone: string[]
  towns: string[]
  small_towns: string[]
  programme: string
}

/** Prohibited for decades or by order; a table without them, or with another level, is not this one. */
const COMPREHENSIVE = ['CU', 'IR', 'KP', 'UA-40', 'UA-43']
const NAMES_MAX = 500
const areNames = (value: unknown) => Array.isArray(value) && value.length <= NAMES_MAX && value.every(isWords)
const isJurisdictionRow = rowOf<JurisdictionRow>({
  code: /^[A-Z]{2}(?:-[A-Z0-9]{1,3})?$/,
  kind: /^(?:country|region)$/,
  level: /^(?:comprehensive|elevated|needs_review)$/,
  name: isWords,
  aliases: areNames,
  names_alone: areNames,
  towns: areNames,
  small_towns: areNames,
  programme: isWords,
})

/**
 * OFAC "does not maintain a specific list of countries" (ofac.treasury.gov, Where is OFAC's Country List?), and the SDN list does not say how far a programme
 * goes, so no feed can fill this table: a person reads the programme pages, and `published_at` is the day up to which that person knows them. A later review
 * without a change is an import of the same rows with its date.
 */
export const PROHIBITED_JURISDICTIONS = referenceTable(
  {
    id: 'prohibited_jurisdictions',
    source_urls: [],
    licence: 'Public domain (facts of 31 CFR chapter V and of executive orders)',
    limit_days: 30,
    rows_min: 10,
    rows_max: 60,
    present: COMPREHENSIVE,
    // The Syrian programme ended on 2025-07-01 (Executive Order 14312).
    absent: ['SY'],
    isRow: (value): value is JurisdictionRow =>
      isJurisdictionRow(value) &&
      (value.kind === 'region') === value.code.includes('-') &&
      (value.level === 'comprehensive' || !COMPREHENSIVE.includes(value.code)),
    key: ({ code }) => code,
  },
  () => table as typeof table & { rows: JurisdictionRow[] },
  (snapshot) => {
    const as_of = dataDate(snapshot)
    const countries = snapshot.rows.filter(({ kind }) => kind === 'country')
    return {
      published_at: as_of,
      count: snapshot.count,
      rows: snapshot.rows,
      hints: new Map(
        countries.map(({ code, level }): [string, SanctionsHint] => [
          code,
          { as_of, level: level === 'comprehensive' ? level : 'elevated' },
        ]),
      ),
    }
  },
)

/** OFAC programmes of a country code. It decides nothing about a person, a bank or a region. */
export interface SanctionsHint {
  /** `comprehensive`: nearly all dealings are prohibited. `elevated`: list-based or sectoral programmes exist. */
  level: 'comprehensive' | 'elevated'
  as_of: string
}

/** Date of the table, for answers that read it. */
export const JURISDICTIONS_AS_OF = datesOf([PROHIBITED_JURISDICTIONS])

/** Errs towards null: programmes begun after `as_of` are missing. */
export function sanctionsHint(country: string): SanctionsHint | null {
  return PROHIBITED_JURISDICTIONS.view.hints.get(country) ?? null
}
