import { nameRow, type EntryKind, type NameRow } from './listed-names.ts'
import { isEvmAddress, type OfacRow } from './ofac-addresses.ts'
import { attributeOf, elementsOf, textOf, textsOf } from './xml-elements.ts'

/**
 * Reader of SDN_ENHANCED.XML of OFAC's Sanctions List Service (https://sanctionslistservice.ofac.treas.gov, exports): an `entity` has names, programmes
 * and features. Works on one entity at a time, so that a file of 100 MB is never in memory as a whole.
 */

/** Addresses of one entity, of every ticker: features whose type begins with "Digital Currency Address". */
export function addressesOfEntity(entity: string): OfacRow[] {
  if (!entity.includes('Digital Currency Address')) return []
  const addresses = elementsOf(entity, 'feature')
    .filter((feature) => textsOf(feature, 'type').some((type) => type.startsWith('Digital Currency Address')))
    .flatMap((feature) => textsOf(feature, 'value'))
    .filter((value) => /^[A-Za-z0-9]{20,120}$/.test(value))
  if (addresses.length === 0) return []
  const programmes = textsOf(entity, 'sanctionsProgram')
  const name = primaryName(entity)
  return addresses.map((address) => ({ address: isEvmAddress(address) ? address.toLowerCase() : address, entity: name, programmes }))
}

function primaryName(entity: string): string {
  const names = elementsOf(entity, 'name')
  const primary = names.find((name) => !/<aliasType\b/.test(name)) ?? names[0] ?? ''
  return textsOf(primary, 'formattedFullName')[0] ?? ''
}

const KINDS: Readonly<Record<string, EntryKind>> = {
  Individual: 'person',
  Entity: 'organisation',
  Vessel: 'vessel',
  Aircraft: 'aircraft',
}

/** Names of one entity in all scripts, with countries and dates of birth; null if it has none. */
export function namesOfEntity(entity: string): NameRow | null {
  const id = attributeOf(entity.slice(0, entity.indexOf('>')), 'id')
  const names = elementsOf(elementsOf(entity, 'names')[0] ?? '', 'name').flatMap((name) => {
    const weak = textOf(name, 'isLowQuality') === 'true'
    // Of a name, isPrimary comes before its translations, which have their own.
    const primary = textOf(name, 'isPrimary') === 'true'
    const strength = weak ? 'weak' : primary ? 'primary' : 'strong'
    return textsOf(name, 'formattedFullName').map((text) => ({ text, strength }) as const)
  })
  const features = elementsOf(elementsOf(entity, 'features')[0] ?? '', 'feature')
  const ofType = (pattern: RegExp) => features.filter((feature) => pattern.test(textOf(feature, 'type')))
  return nameRow({
    id,
    kind: KINDS[textOf(entity, 'entityType')] ?? 'unknown',
    names,
    countries: [
      ...ofType(/^(?:Nationality|Citizenship)/).flatMap((feature) => textsOf(feature, 'value')),
      ...elementsOf(entity, 'address').map((address) => textOf(address, 'country')),
    ],
    births: ofType(/^Birthdate$/).flatMap(birthOf),
    programmes: textsOf(entity, 'sanctionsProgram'),
  })
}

/** Of a range that covers a year or more, the years; else the day. */
function birthOf(feature: string): string[] {
  const year = /^(?:circa )?(\d{4})$/i.exec(textOf(feature, 'value'))?.[1]
  if (year !== undefined) return [year]
  const [from] = textsOf(feature, 'fromDateBegin')
  const to = textsOf(feature, 'toDateEnd')[0] ?? from
  if (from === undefined || to === undefined) return textsOf(feature, 'value').flatMap((value) => /\b\d{4}\b/.exec(value)?.[0] ?? [])
  const [first, last] = [from.slice(0, 10), to.slice(0, 10)]
  if (first === last) return [first]
  return first.slice(0, 4) === last.slice(0, 4) ? [first.slice(0, 4)] : [`${first.slice(0, 4)}/${last.slice(0, 4)}`]
}

/** One row per address, in order of address; names of several holders are joined. */
export function mergeAddresses(rows: readonly OfacRow[]): OfacRow[] {
  const byAddress = new Map<string, OfacRow>()
  for (const row of rows) {
    const known = byAddress.get(row.address)
    const entities = new Set([...(known?.entity.split('; ') ?? []), row.entity])
    const programmes = new Set([...(known?.programmes ?? []), ...row.programmes])
    byAddress.set(row.address, { address: row.address, entity: [...entities].join('; '), programmes: [...programmes].sort() })
  }
  return [...byAddress.values()].sort((one, other) => (one.address < other.address ? -1 : 1))
}

/** Date of the data as the head of the file states it; null if it does not. */
export function publishedAt(head: string): string | null {
  return /<dataAsOf>(\d{4}-\d{2}-\d{2})/.exec(head)?.[1] ?? null
}
