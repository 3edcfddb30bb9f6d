import type { FeedCollector } from './definition.ts'
import { isEvmAddress, ofacAddresses, type OfacRow } from './sanctions-lists.ts'

/**
 * Reader of SDN_ENHANCED.XML of OFAC's Sanctions List Service (https://sanctionslistservice.ofac.treas.gov, exports), one entry at a time, so that a file of
 * 100 MB is never in memory as a whole. Elements of one tag do not contain each other in it.
 */

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Text with its references replaced; those of unknown names disappear. */
function xmlText(text: string): string {
  if (!text.includes('&')) return text.trim()
  return text.trim().replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g, (_, decimal?: string, hex?: string, name?: string) => {
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    if (name !== undefined) return ENTITIES[name] ?? ''
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
  })
}

interface XmlElement {
  /** Text of the attributes. */
  head: string
  content: string
}

/** All elements with this tag, in one pass. */
function elementsIn(xml: string, tag: string): XmlElement[] {
  const found: XmlElement[] = []
  const opening = new RegExp(`<${tag}(?=[\\s/>])`, 'g')
  const close = `</${tag}>`
  for (let start = opening.exec(xml); start !== null; start = opening.exec(xml)) {
    const name_end = start.index + tag.length + 1
    const bracket = xml.indexOf('>', name_end)
    if (bracket === -1) return found
    if (xml[bracket - 1] === '/') {
      found.push({ head: xml.slice(name_end, bracket - 1), content: '' })
      opening.lastIndex = bracket
      continue
    }
    const end = xml.indexOf(close, bracket)
    if (end === -1) return found
    found.push({ head: xml.slice(name_end, bracket), content: xml.slice(bracket + 1, end) })
    opening.lastIndex = end
  }
  return found
}

/** Contents of all elements with this tag. */
function elementsOf(xml: string, tag: string): string[] {
  return elementsIn(xml, tag).map(({ content }) => content)
}

/** Texts of all elements with this tag that contain no others. */
function textsOf(xml: string, tag: string): string[] {
  return elementsIn(xml, tag)
    .filter(({ content }) => !content.includes('<'))
    .map(({ content }) => xmlText(content))
}

/** Text of the first element with this tag; '' without one. */
export function textOf(xml: string, tag: string): string {
  return textsOf(xml, tag)[0] ?? ''
}

/** Value of an attribute; '' without one. */
function attributeOf(head: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(head)
  return xmlText(value?.[1] ?? value?.[2] ?? '')
}

/** Attribute of the first element with this tag, whose end may be missing. */
export function openingAttribute(xml: string, tag: string, name: string): string {
  const start = xml.indexOf(`<${tag} `)
  const end = xml.indexOf('>', start)
  return start === -1 || end === -1 ? '' : attributeOf(xml.slice(start + tag.length + 1, end), name)
}

/** Longest part of an unreadable value in the notes of a snapshot. */
const SHOWN_CHARS = 60

/** An address as it is looked up: without a scheme, and of the EVM in lower case with 0x, which the publisher sometimes leaves out; null if it is none. */
function listedAddress(value: string, type: string): string | null {
  const plain = value.replace(/^[a-z][a-z0-9-]{2,15}:(?:\/\/)?/i, '').trim()
  const evm = /^[0-9a-f]{40}$/i.test(plain) && !/\bXBT\b|\bTRX\b/.test(type) ? `0x${plain}` : plain
  if (isEvmAddress(evm)) return evm.toLowerCase()
  return /^[A-Za-z0-9]{20,120}$/.test(plain) ? plain : null
}

/** Addresses of one entity, of every ticker: features whose type begins with "Digital Currency Address". `unread` are values that could not be read as an address. */
export function addressesOfEntity(entity: string): { rows: OfacRow[]; unread: string[] } {
  if (!entity.includes('Digital Currency Address')) return { rows: [], unread: [] }
  const values = elementsOf(entity, 'feature').flatMap((feature) => {
    const type = textsOf(feature, 'type').find((one) => one.startsWith('Digital Currency Address'))
    return type === undefined ? [] : textsOf(feature, 'value').map((value) => ({ value, address: listedAddress(value, type) }))
  })
  const programmes = textsOf(entity, 'sanctionsProgram')
  const name = primaryName(entity)
  return {
    rows: values.flatMap(({ address }) => (address === null ? [] : [{ address, entity: name, programmes }])),
    unread: values.filter(({ address }) => address === null).map(({ value }) => value.slice(0, SHOWN_CHARS).toWellFormed()),
  }
}

function primaryName(entity: string): string {
  const names = elementsOf(entity, 'name')
  const primary = names.find((name) => !/<aliasType\b/.test(name)) ?? names[0] ?? ''
  return textsOf(primary, 'formattedFullName')[0] ?? ''
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
function publishedAt(head: string): string | null {
  return /<dataAsOf>(\d{4}-\d{2}-\d{2})/.exec(head)?.[1] ?? null
}

/** Unreadable values that the notes of a snapshot show. */
const UNREAD_SHOWN = 5

function unreadNote(unread: readonly string[]): string {
  const shown = unread.slice(0, UNREAD_SHOWN).map((value) => `"${value}"`)
  const more = unread.length > shown.length ? ` and ${unread.length - shown.length} more` : ''
  return `${unread.length === 1 ? '1 address' : `${unread.length} addresses`} of the document could not be read and cannot match: ${shown.join(', ')}${more}.`
}

/** Collects the addresses of the SDN list. */
export function collectOfac(): FeedCollector {
  const addresses: OfacRow[] = []
  const unread: string[] = []
  return {
    element(xml) {
      const found = addressesOfEntity(xml)
      addresses.push(...found.rows)
      unread.push(...found.unread)
    },
    finish(head, retrieved_at) {
      const published_at = publishedAt(head)
      if (published_at === null) return 'The document does not state its date; expected <dataAsOf>YYYY-MM-DD… before the first entity.'
      const rows = mergeAddresses(addresses)
      const snapshot = {
        schema: ofacAddresses.schema,
        source: 'US Treasury, OFAC Sanctions List Service: SDN_ENHANCED.XML',
        source_version: `SDN list as of ${published_at}`,
        published_at,
        retrieved_at,
        ...(unread.length > 0 && { notes: unreadNote(unread) }),
        count: rows.length,
        rows,
      }
      return [{ dataset: ofacAddresses.id, snapshot }]
    },
  }
}
