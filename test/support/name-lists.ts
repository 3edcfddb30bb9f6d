import rows from './name-lists.json' with { type: 'json' }
import { BUNDLED_ADDRESSES, createScreening, type Screening } from '../../src/pure/checks/ofac.ts'
import { snapshotHash } from '../../src/pure/datasets/definition.ts'
import type { NameListId, NameRow } from '../../src/pure/datasets/sanctions-lists.ts'
import { once } from '../../src/pure/once.ts'
import { buildNameIndex, buildInSlices, type NameList } from '../../src/pure/screening/name-index.ts'

/** Some entries of the SDN list of OFAC and of the list of the UN of 2026-02-27, shortened, as lists of this date. */
export function excerpt(id: 'ofac_names' | 'un_names', published_at: string): NameList {
  return listOf(id, rows[id] as NameRow[], published_at)
}

export function listOf(id: NameListId, entries: readonly NameRow[], published_at: string): NameList {
  const index = once(() => buildInSlices(buildNameIndex(entries), () => Promise.resolve()))
  return { id, published_at, count: entries.length, sha256: snapshotHash({ published_at, rows: entries }), index }
}

/** The addresses of the release, and these lists of names. */
export function screeningOf(loaded: readonly NameList[]): Screening {
  return createScreening(BUNDLED_ADDRESSES, snapshotHash(BUNDLED_ADDRESSES), { loaded })
}
