import { isEvmAddress, type OfacRow } from './ofac-addresses.ts'

/**
 * Reader of SDN_ENHANCED.XML of OFAC's Sanctions List Service (https://sanctionslistservice.ofac.treas.gov, exports): an `entity` has names, programmes
 * and features. Works on one entity at a time, so that a file of 100 MB is never in memory as a whole.
 */

/** Addresses of one entity, of every ticker: features whose type begins with "Digital Currency Address". */
export function addressesOfEntity(entity: string): OfacRow[] {
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

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Contents of all elements with this tag, in one pass; elements of one tag do not contain each other. */
function elementsOf(xml: string, tag: string): string[] {
  const contents: string[] = []
  const opening = new RegExp(`<${tag}(?=[\\s>])`, 'g')
  const close = `</${tag}>`
  for (let start = opening.exec(xml); start !== null; start = opening.exec(xml)) {
    const content = xml.indexOf('>', start.index) + 1
    const end = xml.indexOf(close, content)
    if (content === 0 || end === -1) return contents
    contents.push(xml.slice(content, end))
    opening.lastIndex = end
  }
  return contents
}

/** Texts of all elements with this tag. */
function textsOf(xml: string, tag: string): string[] {
  const found = xml.matchAll(new RegExp(`<${tag}(?:\\s[^>]*)?>([^<]*)</${tag}>`, 'g'))
  return [...found].map(([, text = '']) => text.trim().replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? ''))
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
