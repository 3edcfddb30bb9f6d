import places from '../../../data/prohibited-places.json' with { type: 'json' }
import towns from '../../../data/world-towns.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { datesOf } from '../datasets/table.ts'
import { once } from '../once.ts'
import { COUNTRY_NAMES } from './country-names.ts'

/** Divisions and towns of prohibited jurisdictions, and large towns of other countries; of GeoNames. Rebuilt by `scripts/place-tables.ts`. */

/** A division or town of a prohibited jurisdiction. */
export interface ProhibitedPlace {
  /** Code of the jurisdiction. */
  code: string
  kind: string
  name: string
  /** Names that mean this place. */
  names: string[]
  /** Names that a place elsewhere has too. */
  shared: string[]
}

export const PROHIBITED_PLACES: readonly ProhibitedPlace[] = places.rows

const PROHIBITED_PLACES_TABLE = releaseTable('prohibited_places', () => places)
const WORLD_TOWNS_TABLE = releaseTable('world_towns', () => towns)
/** Tables from which places are read, in addition to that of the jurisdictions. */
export const PLACE_TABLES = [COUNTRY_NAMES, PROHIBITED_PLACES_TABLE, WORLD_TOWNS_TABLE] as const

/** Dates of these tables, for answers that read a place. */
export const PLACES_AS_OF = datesOf(PLACE_TABLES)

/** Country of a name that several countries share. */
export const SEVERAL_COUNTRIES = 'ZZ'

/** Alpha-2 code of the country of each large town elsewhere, by its folded name. */
export const worldTowns = once(
  (): ReadonlyMap<string, string> =>
    new Map(towns.rows.flatMap(({ country, towns: names }) => names.map((name) => [name, country] as const))),
)
