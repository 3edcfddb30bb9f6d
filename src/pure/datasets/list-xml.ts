import { nameRow, type EntryKind, type ListedName, type NameRow } from './listed-names.ts'
import { attributeOf, elementsIn, elementsOf, openingAttribute, textOf, textsOf } from './xml-elements.ts'

/**
 * Readers of the consolidated lists of the United Nations, the European Union (FSF, XML 1.1) and the United Kingdom, one entry at a time. That of the UN
 * was tried on the file of 2026-02-27; the other two follow the publishers' formats of 2026 and were not tried on a real file.
 */

const UN_NAME_PARTS = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME']

/** INDIVIDUAL or ENTITY of the UN list. Aliases are `Good`, `Low`, or for entities `a.k.a.` and `f.k.a.`. */
export function readUnEntry(xml: string): NameRow | null {
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
export function unPublishedAt(head: string): string | null {
  return dayOf(openingAttribute(head, 'CONSOLIDATED_LIST', 'dateGenerated'))
}

const EU_KINDS: Readonly<Record<string, EntryKind>> = { P: 'person', E: 'organisation' }

/** `sanctionEntity` of the EU list. */
export function readEuEntry(xml: string): NameRow | null {
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
export function euPublishedAt(head: string): string | null {
  return dayOf(openingAttribute(head, 'export', 'generationDate'))
}

const UK_KINDS: Readonly<Record<string, EntryKind>> = { Individual: 'person', Entity: 'organisation', Ship: 'vessel' }
const UK_NAME_PARTS = ['Name1', 'Name2', 'Name3', 'Name4', 'Name5', 'Name6']

/** `Designation` of the UK list: given names are Name1 to Name5, the family name or the name of an entity is Name6. */
export function readUkEntry(xml: string): NameRow | null {
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
export function ukPublishedAt(head: string): string | null {
  const text = textOf(head, 'DateGenerated')
  const date = ukDate(text.slice(0, 10))
  if (date.length === 10) return date
  return dayOf(text)
}

function dayOf(time: string): string | null {
  return /^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? null
}
