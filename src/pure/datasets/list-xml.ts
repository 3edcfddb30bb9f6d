import type { DatasetDefinition, FeedCollector } from './definition.ts'
import {
  isEvmAddress,
  NAME_LISTS,
  nameRow,
  ofacAddresses,
  type ListedName,
  type NameListId,
  type NameRow,
  type OfacRow,
} from './sanctions-lists.ts'

/**
 * Readers of the documents of sanctions lists, one entry at a time, so that a file of 100 MB is never in memory as a whole: SDN_ENHANCED.XML of OFAC's
 * Sanctions List Service (https://sanctionslistservice.ofac.treas.gov, exports), and the consolidated lists of the United Nations, the European Union (FSF,
 * XML 1.1) and the United Kingdom. That of the UN was tried on the file of 2026-02-27; the others follow the publishers' formats of 2026 and were not tried on
 * a real file. Elements of one tag do not contain each other in any of them.
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

const KINDS: Readonly<Record<string, NameRow['kind']>> = {
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
function publishedAt(head: string): string | null {
  return /<dataAsOf>(\d{4}-\d{2}-\d{2})/.exec(head)?.[1] ?? null
}

const UN_NAME_PARTS = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME']

/** INDIVIDUAL or ENTITY of the UN list. Aliases are `Good`, `Low`, or for entities `a.k.a.` and `f.k.a.`. */
function readUnEntry(xml: string): NameRow | null {
  const person = xml.startsWith('<INDIVIDUAL')
  const prefix = person ? 'INDIVIDUAL' : 'ENTITY'
  const aliases = elementsOf(xml, `${prefix}_ALIAS`).map((alias): ListedName => ({
    text: textOf(alias, 'ALIAS_NAME'),
    strength: textOf(alias, 'QUALITY') === 'Low' ? 'weak' : 'strong',
  }))
  const values = (tag: string) => elementsOf(xml, tag).flatMap((element) => textsOf(element, 'VALUE'))
  // Every entry has a first name; without it the format has changed.
  if (textOf(xml, 'FIRST_NAME') === '') return null
  const whole = UN_NAME_PARTS.map((part) => textOf(xml, part))
    .filter((part) => part !== '')
    .join(' ')
    .split(';')
  return nameRow({
    id: textOf(xml, 'REFERENCE_NUMBER'),
    kind: person ? 'person' : 'organisation',
    names: [
      ...whole.map((text, index): ListedName => ({ text, strength: index === 0 ? 'primary' : 'strong' })),
      { text: textOf(xml, 'NAME_ORIGINAL_SCRIPT'), strength: 'strong' },
      ...aliases.flatMap(({ text, strength }) => text.split(';').map((one) => ({ text: one, strength }))),
    ],
    countries: [...values('NATIONALITY'), ...elementsOf(xml, `${prefix}_ADDRESS`).map((address) => textOf(address, 'COUNTRY'))],
    births: elementsOf(xml, 'INDIVIDUAL_DATE_OF_BIRTH').map((birth) => {
      const [from, to] = [textOf(birth, 'FROM_YEAR'), textOf(birth, 'TO_YEAR')]
      return textOf(birth, 'DATE').slice(0, 10) || (from !== '' && to !== '' ? `${from}/${to}` : textOf(birth, 'YEAR') || from)
    }),
    programmes: [textOf(xml, 'UN_LIST_TYPE')],
  })
}

/** Date of the UN list, an attribute of its root. */
function unPublishedAt(head: string): string | null {
  return dayOf(openingAttribute(head, 'CONSOLIDATED_LIST', 'dateGenerated'))
}

const EU_KINDS: Readonly<Record<string, NameRow['kind']>> = { P: 'person', E: 'organisation' }

/** `sanctionEntity` of the EU list. */
function readEuEntry(xml: string): NameRow | null {
  const attributes = (tag: string, name: string) => elementsIn(xml, tag).map(({ head }) => attributeOf(head, name))
  const names = elementsIn(xml, 'nameAlias').map(({ head }, index): ListedName => {
    const parts = ['firstName', 'middleName', 'lastName'].map((part) => attributeOf(head, part)).filter((part) => part !== '')
    const weak = attributeOf(head, 'strong') === 'false'
    return { text: attributeOf(head, 'wholeName') || parts.join(' '), strength: weak ? 'weak' : index === 0 ? 'primary' : 'strong' }
  })
  const head = xml.slice(0, xml.indexOf('>'))
  return nameRow({
    id: attributeOf(head, 'euReferenceNumber') || attributeOf(head, 'logicalId'),
    kind: EU_KINDS[attributes('subjectType', 'classificationCode')[0] ?? ''] ?? 'unknown',
    names,
    // 00 is an unknown country.
    countries: [...attributes('citizenship', 'countryIso2Code'), ...attributes('address', 'countryIso2Code')].filter(
      (code) => code !== '00',
    ),
    births: elementsIn(xml, 'birthdate').map(({ head: birth }) => {
      const [from, to] = [attributeOf(birth, 'yearRangeFrom'), attributeOf(birth, 'yearRangeTo')]
      return attributeOf(birth, 'birthdate') || attributeOf(birth, 'year') || (from !== '' && to !== '' ? `${from}/${to}` : from || to)
    }),
    programmes: attributes('regulation', 'programme'),
  })
}

/** Date of the EU list, an attribute of its root. */
function euPublishedAt(head: string): string | null {
  return dayOf(openingAttribute(head, 'export', 'generationDate'))
}

const UK_KINDS: Readonly<Record<string, NameRow['kind']>> = { Individual: 'person', Entity: 'organisation', Ship: 'vessel' }
const UK_NAME_PARTS = ['Name1', 'Name2', 'Name3', 'Name4', 'Name5', 'Name6']

/** `Designation` of the UK list: given names are Name1 to Name5, the family name or the name of an entity is Name6. */
function readUkEntry(xml: string): NameRow | null {
  const names = elementsOf(elementsOf(xml, 'Names')[0] ?? '', 'Name').map((name): ListedName => {
    const parts = UK_NAME_PARTS.map((part) => textOf(name, part)).filter((part) => part !== '')
    const weak = /low|weak/i.test(textOf(name, 'AliasStrength'))
    const primary = /^primary name$/i.test(textOf(name, 'NameType'))
    return { text: parts.join(' '), strength: weak ? 'weak' : primary ? 'primary' : 'strong' }
  })
  // Every primary name has a Name6; without it the format has changed.
  if (!xml.includes('<Name6>')) return null
  const other = textsOf(xml, 'NameNonLatinScript').map((text): ListedName => ({ text, strength: 'strong' }))
  return nameRow({
    id: textOf(xml, 'UniqueID'),
    kind: UK_KINDS[textOf(xml, 'IndividualEntityShip')] ?? 'unknown',
    names: [...names, ...other],
    countries: [...textsOf(xml, 'Nationality'), ...textsOf(xml, 'AddressCountry')],
    births: textsOf(xml, 'DOB').map(ukDate),
    programmes: [textOf(xml, 'RegimeName')],
  })
}

/** dd/mm/yyyy, where unknown parts are written as letters (dd/mm/1960). */
function ukDate(text: string): string {
  const [, day, month, year] = /^(\d{2}|dd)\/(\d{2}|mm)\/(\d{4})$/i.exec(text) ?? []
  if (year === undefined) return ''
  return day !== undefined && month !== undefined && /^\d/.test(day) && /^\d/.test(month) ? `${year}-${month}-${day}` : year
}

/** Date of the UK list, an element before the first designation. */
function ukPublishedAt(head: string): string | null {
  const text = textOf(head, 'DateGenerated')
  const date = ukDate(text.slice(0, 10))
  if (date.length === 10) return date
  return dayOf(text)
}

function dayOf(time: string): string | null {
  return /^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? null
}

/** Largest share of entries without a name or an identifier. */
const UNREAD_SHARE_MAX = 0.01
const NAMES_NOTE = 'Names, aliases, countries and dates of birth of each entry; everything else of the document is left out.'

function collectOfac(): FeedCollector {
  const addresses: OfacRow[] = []
  const names = collectNames(
    NAME_LISTS.ofac_names,
    'US Treasury, OFAC Sanctions List Service: SDN_ENHANCED.XML',
    namesOfEntity,
    publishedAt,
  )
  return {
    element(xml, file) {
      addresses.push(...addressesOfEntity(xml))
      names.element(xml, file)
    },
    finish(head, retrieved_at, heads) {
      const published_at = publishedAt(head)
      if (published_at === null) return 'The document does not state its date; expected <dataAsOf>YYYY-MM-DD… before the first entity.'
      const rows = mergeAddresses(addresses)
      const snapshot = {
        schema: ofacAddresses.schema,
        source: 'US Treasury, OFAC Sanctions List Service: SDN_ENHANCED.XML',
        source_version: `SDN list as of ${published_at}`,
        published_at,
        retrieved_at,
        count: rows.length,
        rows,
      }
      const found = names.finish(head, retrieved_at, heads)
      return typeof found === 'string' ? found : [{ dataset: ofacAddresses.id, snapshot }, ...found]
    },
  }
}

function collectNames(
  { id, schema }: Pick<DatasetDefinition<NameRow>, 'id' | 'schema'>,
  source: string,
  read: (xml: string) => NameRow | null,
  dateOf: (head: string) => string | null,
): FeedCollector {
  const rows: NameRow[] = []
  let unread = 0
  return {
    element(xml) {
      const row = read(xml)
      if (row === null) unread++
      else rows.push(row)
    },
    finish(head, retrieved_at) {
      const published_at = dateOf(head)
      if (published_at === null) return 'The document does not state its date before the first entry.'
      // A change of the format must not empty a list entry by entry.
      if (unread > rows.length * UNREAD_SHARE_MAX) return `${unread} entries have no name or no identifier: the format may have changed.`
      const source_version = `list of ${published_at}`
      const snapshot = { schema, source, source_version, published_at, retrieved_at, notes: NAMES_NOTE, count: rows.length, rows }
      return [{ dataset: id, snapshot }]
    },
  }
}

/** Collectors of the lists, by the dataset of their names; that of OFAC makes the dataset of addresses too. */
export const LIST_COLLECTORS = {
  ofac_names: collectOfac,
  un_names: () => collectNames(NAME_LISTS.un_names, 'United Nations Security Council: consolidated list, XML', readUnEntry, unPublishedAt),
  eu_names: () =>
    collectNames(NAME_LISTS.eu_names, 'European Commission: consolidated financial sanctions file 1.1', readEuEntry, euPublishedAt),
  uk_names: () => collectNames(NAME_LISTS.uk_names, 'FCDO: UK sanctions list, XML', readUkEntry, ukPublishedAt),
} satisfies Record<NameListId, () => FeedCollector>
