import table from '../../../data/prohibited-jurisdictions.json' with { type: 'json' }

/** What a country code alone says about OFAC programmes. It decides nothing about a person, a bank or a region. */
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
