/**
 * The structure of messages, read from tables that `scripts/iso20022-tables.ts` makes from message schemas. A row of `types` lists the
 * elements of a type, in order:
 *
 *   Name=Type    exactly once            Name?=Type   at most once
 *   Name+=Type   once or more            Name*=Type   any number
 *   Name+2=Type  one or two              A=x|B=y      exactly one of them; optional if one of them is
 *   any          one element of any name
 *
 * A row of `values` describes a type of texts: `text 1 35` characters, `codes` one of the words, `pattern` minimum, maximum and expression,
 * `decimal` total digits, decimals, minimum and maximum, `base64` bytes, `currency` code type and amount type, or the name of a type of XML
 * Schema. `-` means unbounded.
 */
import { type DecimalBounds, patternForm } from './value-forms.ts'

export interface StructureTables {
  /** By message, for example pain.001.001.09: `root=type`. */
  readonly messages: Readonly<Record<string, string>>
  readonly types: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, string>>
}

/** One element of a type. Alternatives of a choice share a slot. */
export interface Member {
  readonly name: string
  readonly type: string
  readonly slot: number
  readonly max: number
  /** It is an alternative of a choice. */
  readonly alternative: boolean
  /** The bit of its slot among those of its type, in two words of 31. */
  readonly low: number
  readonly high: number
}

export interface TypeDefinition {
  readonly members: ReadonlyMap<string, Member>
  /** Bits of the slots that are required. */
  readonly required_low: number
  readonly required_high: number
  /** By slot: its names for a finding. */
  readonly labels: readonly string[]
}

type Content = { kind: 'leaf'; leaf: Leaf } | { kind: 'complex'; type: TypeDefinition } | { kind: 'any' }

/** Types of all messages. Each is parsed when it is first needed and then kept. */
export class Schema {
  private readonly tables: StructureTables
  private readonly contents = new Map<string, Content>()

  constructor(tables: StructureTables) {
    this.tables = tables
  }

  /** Root element and its type; null for a message that the tables do not have. */
  rootOf(message: string): { name: string; type: string } | null {
    const [name = '', type = ''] = (this.tables.messages[message] ?? '').split('=')
    return type === '' ? null : { name, type }
  }

  contentOf(type: string): Content {
    const kept = this.contents.get(type)
    if (kept !== undefined) return kept
    const content = this.parseContent(type)
    this.contents.set(type, content)
    return content
  }

  private parseContent(type: string): Content {
    const line = this.tables.types[type]
    if (line === 'any') return { kind: 'any' }
    if (line !== undefined) return { kind: 'complex', type: parseType(line) }
    return { kind: 'leaf', leaf: this.parseLeaf(type) }
  }

  private parseLeaf(type: string): Leaf {
    const value = this.tables.values[type] ?? ''
    const [kind, first = '', second = ''] = value.split(' ')
    if (kind !== 'currency') return parseValue(type, value)
    const codes = parseValue(first, this.tables.values[first] ?? '')
    const amount = parseValue(second, this.tables.values[second] ?? '')
    if (amount.kind !== 'decimal') throw new Error(`${type} is not an amount in the structure tables.`)
    const { total, fraction, least, most } = amount
    const currencies = codes.kind === 'codes' ? codes.codes : null
    const is_plain = total === 18 && fraction === 5 && least === '0' && most === null
    if (is_plain || total < 18) return { kind: 'amount', currencies, bounds: is_plain ? null : amount }
    return { ...amount, currencies }
  }
}

function parseType(line: string): TypeDefinition {
  const members = new Map<string, Member>()
  const labels: string[] = []
  let required_low = 0
  let required_high = 0
  for (const word of line.split(' ')) {
    const alternatives = word.split('|').map(parseElement)
    const slot = labels.length
    const low = slot < 31 ? 1 << slot : 0
    const high = slot < 31 ? 0 : 1 << (slot - 31)
    const alternative = alternatives.length > 1
    for (const { name, max, type } of alternatives) members.set(name, { name, type, slot, max, alternative, low, high })
    if (alternatives.every(({ min }) => min > 0)) {
      required_low |= low
      required_high |= high
    }
    labels.push(alternatives.map(({ name }) => name).join(' or '))
  }
  return { members, required_low, required_high, labels }
}

const ELEMENT = /^([\w.]+)([?*+]?)(\d*)=([\w.~-]+)$/

function parseElement(text: string): { name: string; type: string; min: number; max: number } {
  const [, name = '', mark = '', most = '', type = ''] = ELEMENT.exec(text) ?? []
  if (name === '') throw new Error(`Unreadable word in the structure tables: ${text}.`)
  const min = mark === '?' || mark === '*' ? 0 : 1
  const many = mark === '*' || mark === '+'
  return { name, type, min, max: !many ? 1 : most === '' ? Infinity : Number.parseInt(most, 10) }
}

/** Versions of a type differ in number: `PostalAddress24`, `PostalAddressSEPA` and `PostalAddress6-CH` are the family PostalAddress. */
export function typeFamily(type: string): string {
  return type.replace(/(?:SEPA)?\d*(?:-CH\w*)?(?:~\d+)?$/, '')
}

/** Types of values, which decide the form of a text and the rules for it. */
export type Leaf =
  /** Free text: length and character set. */
  | { kind: 'text'; least: number; most: number }
  /** An identification: like text, and slashes and spaces are checked. */
  | { kind: 'id'; least: number; most: number; pattern: RegExp | null; form: string }
  /** A code of an external list, which changes faster than the schemas: length only. */
  | { kind: 'external'; least: number; most: number }
  | { kind: 'pattern'; pattern: RegExp; form: string; least: number; most: number }
  | { kind: 'codes'; codes: ReadonlySet<string> }
  /** `currencies`: the only ones that the type allows; `bounds`: narrower ones than those of an amount. */
  | { kind: 'amount'; currencies: ReadonlySet<string> | null; bounds: DecimalBounds | null }
  | { kind: 'sum' }
  /** A decimal has a currency, for a price, if `currencies` is defined. */
  | ({ kind: 'decimal'; currencies?: ReadonlySet<string> | null } & DecimalBounds)
  | { kind: 'base64'; least: number; most: number }
  | { kind: 'date' }
  | { kind: 'date_time' }
  | { kind: 'currency' }
  | { kind: 'country' }
  | { kind: 'iban'; pattern: RegExp }
  | { kind: 'bic'; form: 2009 | 2014 }
  | { kind: 'lei' }
  | { kind: 'uetr' }

/** Types of XML Schema itself. */
const BASES: Readonly<Record<string, Leaf>> = {
  date: { kind: 'date' },
  dateTime: { kind: 'date_time' },
  boolean: plainPattern(/^[ \t\r\n]*(?:true|false|1|0)[ \t\r\n]*$/, 'true, false, 1 or 0'),
  gYearMonth: plainPattern(/^\s*\d{4}-(?:0[1-9]|1[0-2])(?:Z|[+-]\d\d:\d\d)?\s*$/, 'a month such as 2026-11'),
  gYear: plainPattern(/^-?\d{4,6}(?:Z|[+-]\d\d:\d\d)?$/, 'a year such as 2026'),
  time: plainPattern(
    /^\s*(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,12})?|24:00:00)(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?\s*$/,
    'a time of day such as 17:00:00Z',
  ),
}

function plainPattern(pattern: RegExp, form: string): Leaf {
  return { kind: 'pattern', pattern, form, least: 0, most: Infinity }
}

function parseValue(type: string, value: string): Leaf {
  const [kind = '', first = '-', second = '-', third = '-', fourth = '-'] = value.split(' ')
  const base = BASES[kind]
  if (base !== undefined) return base
  const least = bound(first, 0)
  const most = bound(second, Infinity)
  switch (kind) {
    case 'text':
      return { kind: type.startsWith('External') ? 'external' : 'text', least, most }
    case 'codes':
      return { kind: 'codes', codes: new Set(value.split(' ').slice(1)) }
    case 'base64':
      return { kind: 'base64', least, most }
    case 'decimal':
      return parseDecimal(bound(first, 0), bound(second, 0), third === '-' ? null : third, fourth === '-' ? null : fourth)
    case 'pattern':
      return parsePattern(type, value.split(' ').slice(3).join(' '), least, most)
    default:
      throw new Error(`Unknown type in the structure tables: ${type}.`)
  }
}

function bound(text: string, none: number): number {
  return text === '-' ? none : Number.parseInt(text, 10)
}

function parseDecimal(total: number, fraction: number, least: string | null, most: string | null): Leaf {
  if (total === 18 && fraction === 17 && least === null) return { kind: 'sum' }
  return { kind: 'decimal', total, fraction, least, most }
}

const BIC_2009 = '[A-Z]{6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3}){0,1}'
const BIC_2014 = '[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3}){0,1}'
const UUID = '[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}'

function parsePattern(type: string, text: string, least: number, most: number): Leaf {
  if (text === BIC_2009) return { kind: 'bic', form: 2009 }
  if (text === BIC_2014) return { kind: 'bic', form: 2014 }
  if (text === UUID) return { kind: 'uetr' }
  if (text === '[A-Z0-9]{18}[0-9]{2}') return { kind: 'lei' }
  if (text === '[A-Z]{3}' && type.includes('Currency')) return { kind: 'currency' }
  if (text === '[A-Z]{2}' && type.startsWith('Country')) return { kind: 'country' }
  const pattern = new RegExp(`^(?:${text})$`, 'u')
  if (type.startsWith('IBAN')) return { kind: 'iban', pattern }
  return { kind: 'pattern', pattern, form: patternForm(text), least, most }
}

/** Parents and names of the elements that identify a message or a payment to banks. */
const IDENTIFICATIONS = new Set(
  'GrpHdr/MsgId PmtInf/PmtInfId PmtId/InstrId PmtId/EndToEndId PmtId/TxId Stmt/Id Rpt/Id Ntfctn/Id Assgnmt/Id'.split(' '),
)
const PLAIN_UUID = plainPattern(new RegExp(`^(?:${UUID})$`), 'a version 4 UUID in lower case')

/** The leaf of an element: its name decides whether a text is an identification and whether a UUID is a UETR. */
export function leafOf(leaf: Leaf, parent: string, name: string): Leaf {
  if (leaf.kind === 'uetr' && !name.endsWith('UETR')) return PLAIN_UUID
  if ((leaf.kind !== 'text' && leaf.kind !== 'pattern') || !IDENTIFICATIONS.has(`${parent}/${name}`)) return leaf
  const { least, most } = leaf
  return { kind: 'id', least, most, ...(leaf.kind === 'text' ? { pattern: null, form: '' } : { pattern: leaf.pattern, form: leaf.form }) }
}

/** Returns whether a value has its currency as an attribute. */
export function hasCurrency(leaf: Leaf | null): boolean {
  return leaf !== null && (leaf.kind === 'amount' || (leaf.kind === 'decimal' && leaf.currencies !== undefined))
}

/** The currencies that an amount is restricted to; null for any. */
export function allowedCurrencies(leaf: Leaf | null): ReadonlySet<string> | null {
  return leaf !== null && (leaf.kind === 'amount' || leaf.kind === 'decimal') ? (leaf.currencies ?? null) : null
}
