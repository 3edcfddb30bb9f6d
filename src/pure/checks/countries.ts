import { iso31661 } from 'iso-3166/1.js'
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

/** OFAC programmes of a country code. It decides nothing about a person, a bank or a region. */
export interface SanctionsHint {
  /** `comprehensive`: nearly all dealings are prohibited. `elevated`: list-based or sectoral programmes exist. */
  level: 'comprehensive' | 'elevated'
  as_of: string
}

export const SANCTIONS_AS_OF = table.published_at

const HINTS: ReadonlyMap<string, SanctionsHint> = new Map(
  table.rows
    .filter(({ kind }) => kind === 'country')
    .map(({ code, level }) => [code, { as_of: SANCTIONS_AS_OF, level: level === 'comprehensive' ? level : 'elevated' }]),
)

/** Errs towards null: programmes begun after `as_of` are missing. */
export function sanctionsHint(country: string): SanctionsHint | null {
  return HINTS.get(country) ?? null
}
