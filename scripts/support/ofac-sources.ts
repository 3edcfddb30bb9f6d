/** The two forms in which OFAC's digital currency addresses come: the publisher's own XML, and a CSV that others derive from it. */
import { ofacAddresses, type OfacRow } from '../../src/pure/datasets/sanctions-lists.ts'
import { addressesOfEntity, mergeAddresses } from '../../src/pure/datasets/list-xml.ts'
import { assert } from './table.ts'

/** `address,"name"` with a head line (ultrasoundmoney/ofac-ethereum-addresses data.csv); it names no programmes. */
export function rowsFromCsv(text: string): OfacRow[] {
  const [head, ...lines] = text.trim().split(/\r?\n/)
  assert(head === 'address,name', 'the head line is not address,name')
  return mergeAddresses(
    lines.map((line) => {
      const match = /^(0x[0-9a-fA-F]{40}),(?:"((?:[^"]|"")*)"|([^",]*))$/.exec(line)
      assert(match?.[1] !== undefined, `not a row: ${line.slice(0, 80)}`)
      return { address: match[1].toLowerCase(), entity: (match[2]?.replaceAll('""', '"') ?? match[3] ?? '').trim(), programmes: [] }
    }),
  )
}

/** Rows of SDN_ENHANCED.XML. */
export function rowsFromXml(text: string): OfacRow[] {
  return mergeAddresses(
    [...text.matchAll(/<entity\b[^>]*>([\s\S]*?)<\/entity>/g)].flatMap(([, entity = '']) => addressesOfEntity(entity).rows),
  )
}

/** Throws unless the rows can be OFAC's list of today. */
export function proveOfac(rows: readonly OfacRow[], before: readonly OfacRow[]): void {
  const { rows_min, rows_max, removed_share_max, present, absent } = ofacAddresses
  assert(rows.length >= rows_min && rows.length <= rows_max, `${rows.length} addresses`)
  assert(rows.length >= before.length * (1 - removed_share_max), `the list shrank from ${before.length} to ${rows.length} addresses`)
  const addresses = new Set(rows.map(({ address }) => address))
  for (const address of present) assert(addresses.has(address), `${address} should be on the list`)
  for (const address of absent) assert(!addresses.has(address), `${address} was taken off the list on 2025-03-21`)
  for (const { address, entity } of rows) assert(entity !== '', `${address} has no holder`)
}
