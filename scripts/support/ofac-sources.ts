/** The two forms in which OFAC's digital currency addresses come: the publisher's own XML, and a CSV that others derive from it. */
import { assert } from './table.ts'

export interface OfacRow {
  /** 0x and 40 hexadecimal digits, lower case. */
  address: string
  entity: string
  programmes: string[]
}

/** Of the Lazarus Group, on the list since April 2022; a source without them is not this list. */
export const PRESENT = ['0x098b716b8aaf21512996dc57eb0615e2383e2f96', '0xa0e1c89ef1a489c9c7de96311ed5ce5d32c20e4b']
/** Contracts of Tornado Cash (router, 0.1 ETH and 100 ETH pools), taken off the list on 2025-03-21. A source that has one is older than that. */
export const ABSENT = [
  '0xd90e2f925da726b50c4ed8d0fb90ad053324f31b',
  '0x12d66f87a04a9e220743712ce6d9bb1b5616b8fc',
  '0xa160cdab225685da1d56aa342ad8841c3b53f291',
]

const LEAST_ROWS = 60
const MOST_ROWS = 2_000
/** A list that loses more than this share at once was cut off, or needs a human look. */
const SHRINK_MAX = 0.2

/** `address,"name"` with a head line (ultrasoundmoney/ofac-ethereum-addresses data.csv); it names no programmes. */
export function rowsFromCsv(text: string): OfacRow[] {
  const [head, ...lines] = text.trim().split(/\r?\n/)
  assert(head === 'address,name', 'the head line is not address,name')
  return merged(
    lines.map((line) => {
      const match = /^(0x[0-9a-fA-F]{40}),(?:"((?:[^"]|"")*)"|([^",]*))$/.exec(line)
      assert(match?.[1] !== undefined, `not a row: ${line.slice(0, 80)}`)
      return { address: match[1].toLowerCase(), entity: (match[2]?.replaceAll('""', '"') ?? match[3] ?? '').trim(), programmes: [] }
    }),
  )
}

/**
 * SDN_ENHANCED.XML of OFAC's Sanctions List Service: an `entity` has names, programmes and features; the features whose type begins with
 * "Digital Currency Address" hold addresses of any chain, of which those of the EVM are kept, whatever the ticker.
 */
export function rowsFromXml(text: string): OfacRow[] {
  const rows: OfacRow[] = []
  for (const [, entity = ''] of text.matchAll(/<entity\b[^>]*>([\s\S]*?)<\/entity>/g)) {
    const addresses = [...entity.matchAll(/<feature\b[^>]*>([\s\S]*?)<\/feature>/g)]
      .map(([, feature = '']) => feature)
      .filter((feature) => textsOf(feature, 'type').some((type) => type.startsWith('Digital Currency Address')))
      .flatMap((feature) => textsOf(feature, 'value'))
      .filter((value) => /^0x[0-9a-fA-F]{40}$/.test(value))
    const programmes = textsOf(entity, 'sanctionsProgram')
    for (const address of addresses) rows.push({ address: address.toLowerCase(), entity: primaryName(entity), programmes })
  }
  return merged(rows)
}

/** The name that is no alias. */
function primaryName(entity: string): string {
  const names = [...entity.matchAll(/<name\b[^>]*>([\s\S]*?)<\/name>/g)].map(([, name = '']) => name)
  const primary = names.find((name) => !/<aliasType\b/.test(name)) ?? names[0] ?? ''
  return textsOf(primary, 'formattedFullName')[0] ?? ''
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function textsOf(xml: string, tag: string): string[] {
  const found = xml.matchAll(new RegExp(`<${tag}(?:\\s[^>]*)?>([^<]*)</${tag}>`, 'g'))
  return [...found].map(([, text = '']) => text.trim().replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? ''))
}

/** One row an address, in order of address; names of several holders are joined. */
function merged(rows: readonly OfacRow[]): OfacRow[] {
  const byAddress = new Map<string, OfacRow>()
  for (const row of rows) {
    const known = byAddress.get(row.address)
    const entities = new Set([...(known?.entity.split('; ') ?? []), row.entity])
    const programmes = new Set([...(known?.programmes ?? []), ...row.programmes])
    byAddress.set(row.address, { address: row.address, entity: [...entities].join('; '), programmes: [...programmes].sort() })
  }
  return [...byAddress.values()].sort((one, other) => (one.address < other.address ? -1 : 1))
}

/** Throws unless the rows can be OFAC's list of today. */
export function proveOfac(rows: readonly OfacRow[], before: readonly OfacRow[]): void {
  assert(rows.length >= LEAST_ROWS && rows.length <= MOST_ROWS, `${rows.length} addresses`)
  assert(rows.length >= before.length * (1 - SHRINK_MAX), `the list shrank from ${before.length} to ${rows.length} addresses`)
  const addresses = new Set(rows.map(({ address }) => address))
  for (const address of PRESENT) assert(addresses.has(address), `${address} should be on the list`)
  for (const address of ABSENT) assert(!addresses.has(address), `${address} was taken off the list on 2025-03-21`)
  for (const { address, entity } of rows) assert(entity !== '', `${address} has no holder`)
}
