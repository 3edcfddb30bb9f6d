import isbn3 from 'isbn3'

/** The release whose copy of the International ISBN Agency's range message is read; the copy itself carries no date. */
export const ISBN_RANGES_RELEASE = 'isbn3 2.0.11'

/** The elements between prefix and check digit; null where the range message assigns nothing. */
export interface IsbnElements {
  /** Registration group: a country, region or language area. */
  group: string | null
  group_name: string | null
  registrant: string | null
  publication: string | null
}

const LONGEST_GROUP = 5

/** Splits the nine digits between prefix and check digit, where the range message (ISO 2108) lets one say where the parts end. */
export function splitIsbn(prefix: string, body: string): IsbnElements {
  for (let length = 1; length <= LONGEST_GROUP; length++) {
    const group = body.slice(0, length)
    const found = isbn3.groups[`${prefix}-${group}`]
    if (found === undefined) continue
    const rest = body.slice(length)
    const range = found.ranges.find(([first, last]) => isBetween(rest.slice(0, first.length), first, last))
    const registrant = range === undefined ? null : rest.slice(0, range[0].length)
    const publication = registrant === null ? null : rest.slice(registrant.length)
    return { group, group_name: found.name, registrant, publication }
  }
  return { group: null, group_name: null, registrant: null, publication: null }
}

/** Digits of one length sort as text the way they sort as numbers. */
function isBetween(digits: string, first: string, last: string): boolean {
  return first <= digits && digits <= last
}
