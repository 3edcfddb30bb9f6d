import { iso31661 } from 'iso-3166/1.js'

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
