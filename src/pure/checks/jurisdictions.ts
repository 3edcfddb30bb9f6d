import table from '../../../data/prohibited-jurisdictions.json' with { type: 'json' }
import { COUNTRIES } from './countries.ts'

export type JurisdictionLevel = 'comprehensive' | 'elevated' | 'needs_review'

/** A row of the table. */
interface Jurisdiction {
  code: string
  kind: 'country' | 'region'
  level: JurisdictionLevel
  name: string
  programme: string
}

/** What a text says about a place: places of the table, else a country that is not in it, else nothing that is known here. */
export type JurisdictionReading =
  | { kind: 'listed'; places: Jurisdiction[] }
  | { kind: 'unlisted'; code: string; name: string; listed_regions: string[] }
  | { kind: 'unknown' }

export const JURISDICTIONS = { published_at: table.published_at, count: table.count } as const

const ROWS: readonly Jurisdiction[] = table.rows.map(({ code, kind, level, name, programme }) => ({
  code,
  kind: kind === 'region' ? kind : 'country',
  level: level === 'comprehensive' || level === 'needs_review' ? level : 'elevated',
  name,
  programme,
}))
const BY_CODE: ReadonlyMap<string, Jurisdiction> = new Map(ROWS.map((row) => [row.code, row]))
const BY_NAME: ReadonlyMap<string, Jurisdiction> = new Map(
  table.rows.flatMap(({ code, name, aliases }) => {
    const row = BY_CODE.get(code)
    return row === undefined ? [] : [name, ...aliases].map((one) => [folded(one), row] as const)
  }),
)

/** Names by which people know countries, beside those of ISO 3166-1 and of CLDR. */
const ALIASES: Readonly<Record<string, string>> = {
  uk: 'GB',
  'great britain': 'GB',
  britain: 'GB',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  usa: 'US',
  america: 'US',
  'united states of america': 'US',
  'republic of korea': 'KR',
  uae: 'AE',
  'czech republic': 'CZ',
  holland: 'NL',
  'ivory coast': 'CI',
  turkey: 'TR',
  palestine: 'PS',
  'hong kong': 'HK',
  macau: 'MO',
  macao: 'MO',
  'cape verde': 'CV',
}

/** Built when first asked for: the names of CLDR take a moment to load. */
let country_codes: ReadonlyMap<string, string> | null = null

function countryCodes(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'region' })
  return new Map([
    ...[...COUNTRIES.values()].flatMap(({ alpha2, alpha3, name }) => [
      [alpha2.toLowerCase(), alpha2] as const,
      [alpha3.toLowerCase(), alpha2] as const,
      [folded(name), alpha2] as const,
      // "Korea, Republic of" and "Iran (Islamic Republic of)" are known by what stands before.
      [folded(name.replace(/\s*[(,].*$/, '')), alpha2] as const,
      [folded(names.of(alpha2) ?? name), alpha2] as const,
    ]),
    // Before these words stand two countries each.
    ...Object.entries({ korea: '', congo: '', 'virgin islands': '' }),
    ...Object.entries(ALIASES),
  ])
}

/**
 * Reads a country (ISO 3166-1 alpha-2 or alpha-3 code, or English name), a region (ISO 3166-2 code, or name) or a place written with its
 * country behind a comma. Errs towards listed: one listed part is enough. Names of persons and companies are unknown.
 */
export function readJurisdiction(text: string): JurisdictionReading {
  const parts = [text, ...text.split(/[,;/\n]/)].map((part) => part.trim()).filter((part) => part !== '')
  const places = new Set(parts.map(listed).filter((row) => row !== null))
  if (places.size > 0) return { kind: 'listed', places: [...places] }
  const last = parts.at(-1) ?? ''
  // Behind a comma only names: two letters there are as likely a state of the US.
  const code = countryCode(text.trim()) ?? (last.length > 3 ? countryCode(last) : null)
  if (code === null) return { kind: 'unknown' }
  const listed_regions = ROWS.filter((row) => row.kind === 'region' && row.code.startsWith(`${code}-`)).map((row) => row.code)
  return { kind: 'unlisted', code, name: COUNTRIES.get(code)?.name ?? code, listed_regions }
}

/** The alpha-2 code of a country by code or English name; null when it is none, or could be two. */
export function countryCode(text: string): string | null {
  const subdivision = /^([A-Za-z]{2})-[A-Za-z0-9]{1,3}$/.exec(text)
  country_codes ??= countryCodes()
  return country_codes.get(subdivision?.[1]?.toLowerCase() ?? folded(text)) || null
}

function listed(text: string): Jurisdiction | null {
  const code = text.toUpperCase()
  const country = countryCode(text)
  return BY_CODE.get(code) ?? BY_NAME.get(folded(text)) ?? (country === null ? null : (BY_CODE.get(country) ?? null))
}

/** Lower case, no accents, words only: so that a name can be looked up however it is written. */
function folded(name: string): string {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').replace(/['’]/g, '').toLowerCase()
  return plain
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^(?:the|so called) /, '')
}
