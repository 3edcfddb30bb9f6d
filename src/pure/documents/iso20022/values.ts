import { BIC_COUNTRY_PLACE, bicFault, countryExists, currencyInfo, type CurrencyInfo, ibanFault, isExactLei } from './identifiers.ts'
import type { XmlAttribute } from '../xml/reader.ts'
import { dateFault, dateTimeFault } from './dates.ts'
import { isDecimalText, isSumText } from './decimal.ts'
import { hasCurrency, type Leaf } from './leaves.ts'
import type { Node } from './node.ts'
import type { MessageKind } from './rule.ts'
import type { RuleContext } from './rule-engine.ts'
import type { RuleCode } from './rule-table.ts'
import { TextSet } from './text-set.ts'

/** What a text consists of, seen in one pass: a sum of the bits below. */

/** Nothing but what every network carries: letters, digits and / - ? : ( ) . , ' + and white space. */
const BASIC = 0
/** A slash, or white space: then an identification is looked at more closely. */
const SLASH_OR_SPACE = 1
/** A character of extended Latin, or the euro sign that keyboards have. */
const LATIN = 2
/** A character of another script. */
const FOREIGN = 4
/** A character of Greek or Cyrillic. */
const EUROPEAN = 8

const TRAITS = new Uint8Array(128).fill(LATIN)
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-?:().,'+") TRAITS[character.charCodeAt(0)] = BASIC
for (const character of '/ \r\n') TRAITS[character.charCodeAt(0)] = SLASH_OR_SPACE
TRAITS[0x09] = LATIN + SLASH_OR_SPACE

/** End of Latin Extended-B. */
const LATIN_END = 0x24f
const GREEK_START = 0x370
const CYRILLIC_END = 0x4ff
const EURO = 0x20ac

function traitsOf(text: string): number {
  let traits = BASIC
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 128) traits |= TRAITS[code] ?? 0
    else if (code <= LATIN_END || code === EURO) traits |= LATIN
    else traits |= code >= GREEK_START && code <= CYRILLIC_END ? EUROPEAN : FOREIGN
  }
  return traits
}

/** Reads the values of a message: form, character set, calendar, check digits. */

const UETR = /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/
const CURRENCY = /^[A-Z]{3}$/
/** IBAN2007Identifier of the message definitions: what a masked account still has. */
const IBAN_FORM = /^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$/

export class Values {
  /** Of the amount that is open. */
  currency = ''
  private info: CurrencyInfo | null = null
  private readonly context: RuleContext
  private readonly kind: MessageKind
  private readonly uetrs = new TextSet()

  constructor(context: RuleContext, kind: MessageKind) {
    this.context = context
    this.kind = kind
  }

  /** Only amounts and prices have an attribute of their own, the currency. */
  attributes({ leaf }: Node, attributes: readonly XmlAttribute[]): void {
    const amount = hasCurrency(leaf)
    let currency = ''
    for (const attribute of attributes) {
      if (amount && attribute.local === 'Ccy' && attribute.namespace === '') currency = attribute.value
      else if (!isSchemaHint(attribute)) this.context.report('STRUCT_ATTRIBUTE', { found: shownName(attribute) })
    }
    if (!amount) return
    if (currency !== this.currency || this.info === null) {
      this.currency = currency
      this.info = currencyInfo(currency)
    }
    if (this.info.fault !== null) this.reportCurrency(currency, this.info)
  }

  private reportCurrency(currency: string, { fault }: CurrencyInfo): void {
    if (currency === '') this.context.report('STRUCT_ATTRIBUTE', { expected: 'Ccy' })
    else if (!CURRENCY.test(currency)) this.context.report('STRUCT_LEXICAL', { found: currency, expected: 'three letters' })
    else if (fault !== null) this.context.report(fault, { found: currency })
  }

  /** Whether the value has its form, so that rules may rely on it. What is wrong has been reported. */
  read(node: Node, leaf: Leaf, text: string): boolean {
    if (node.empty !== null && isBlank(text)) {
      this.context.report(node.empty, { found: text })
      return false
    }
    const form = this.readKind(leaf, text)
    if (form === null) return true
    if (form !== '') this.context.report(node.lexical ?? 'STRUCT_LEXICAL', { found: text, expected: form })
    return false
  }

  /** Null when the form is right, the form that it should have when it is wrong, '' when that has been reported already. */
  private readKind(leaf: Leaf, text: string): string | null {
    switch (leaf.kind) {
      case 'text':
        return this.readText(text, leaf.most, false)
      case 'id':
        return this.readText(text, leaf.most, true)
      case 'external':
        return text.length > 0 && text.length <= leaf.most ? null : sizeText(leaf.most)
      case 'pattern':
        return leaf.pattern.test(text) ? null : leaf.form
      case 'codes':
        return leaf.codes.has(text) ? null : [...leaf.codes].join(', ')
      case 'amount':
        return this.readAmount(text)
      case 'sum':
        return isSumText(text) ? null : 'a decimal of at most 18 digits, 17 of them behind the point'
      case 'decimal':
        return readDecimal(text, leaf)
      case 'date':
      case 'date_time':
        return this.readDate(text, leaf.kind)
      case 'currency':
      case 'country':
      case 'iban':
      case 'bic':
      case 'lei':
      case 'uetr':
        return this.readIdentifier(leaf, text)
    }
  }

  private readText(text: string, most: number, id: boolean): string | null {
    const { length } = text
    if (length === 0 || (length > most && Array.from(text).length > most)) return sizeText(most)
    const traits = traitsOf(text)
    if (traits === 0) return null
    const rule = charsetRule(traits, id)
    if (rule !== null) this.context.report(rule, { found: text })
    if (id && (traits & SLASH_OR_SPACE) !== 0) this.readId(text)
    return null
  }

  private readId(text: string): void {
    if (text.startsWith('/') || text.endsWith('/') || text.includes('//')) this.context.report('ID_SLASH', { found: text })
    if (text.charCodeAt(0) <= 0x20 || text.charCodeAt(text.length - 1) <= 0x20 || text.includes('  ')) {
      this.context.report('ID_WHITESPACE', { found: text })
    }
  }

  private readAmount(text: string): '' | null {
    const { amount } = this.context
    const fault = amount.read(text)
    if (fault === null) {
      const digits = this.info?.minor_units ?? null
      if (digits !== null && amount.written_fraction > digits) this.reportFraction(text, digits)
      return null
    }
    if (fault === 'digits') this.reported('AMT_DIGITS', text, 'at most 18 digits, 5 of them behind the point')
    else this.reported('AMT_LEXICAL', text, fault === 'negative' ? 'at least 0' : 'a decimal such as 1234.56')
    return ''
  }

  private reportFraction(text: string, digits: number): void {
    const rule = this.context.amount.fraction > digits ? 'AMT_FRACTION' : 'AMT_FRACTION_ZEROS'
    this.context.report(rule, { found: text, expected: `${digits} digits behind the point in ${this.currency}` })
  }

  private readDate(text: string, kind: 'date' | 'date_time'): string | null {
    const fault = kind === 'date' ? dateFault(text) : dateTimeFault(text)
    switch (fault) {
      case null:
        return null
      case 'form':
        return kind === 'date' ? 'a date such as 2026-11-21' : 'a time such as 2026-11-21T10:00:00+01:00'
      case 'calendar':
        return this.reported('DATE_INVALID', text, 'a day of the calendar')
      case 'no_offset':
        this.context.report('DATETIME_NO_OFFSET', { found: text, expected: 'an offset such as +01:00, or Z' })
        return null
    }
  }

  private readIdentifier(
    leaf: Extract<Leaf, { kind: 'currency' | 'country' | 'iban' | 'bic' | 'lei' | 'uetr' }>,
    text: string,
  ): string | null {
    switch (leaf.kind) {
      case 'currency': {
        if (!CURRENCY.test(text)) return 'three letters'
        const { fault } = currencyInfo(text)
        if (fault !== null) this.context.report(fault, { found: text })
        return null
      }
      case 'country':
        if (!/^[A-Z]{2}$/.test(text)) return 'two letters'
        return countryExists(text) ? null : this.reported('ADDR_COUNTRY', text, null)
      case 'iban':
        return this.readIban(text)
      case 'bic':
        return this.readBic(text, leaf.grammar)
      case 'lei':
        return isExactLei(text) ? null : this.reported('LEI_CHECK', text, '18 letters or digits and their check digits')
      case 'uetr':
        return this.readUetr(text)
    }
  }

  private readIban(text: string): string | null {
    const fault = ibanFault(text)
    if (fault === null) return null
    if (this.kind === 'camt.053' && !IBAN_FORM.test(text)) return 'two letters, two digits, at most 30 letters or digits'
    if (this.kind === 'camt.053') return this.reported('S_IBAN_MASKED', text, fault.says.expected ?? null)
    this.context.report(fault.code, { found: text, ...fault.says })
    return ''
  }

  private readBic(text: string, grammar: 2009 | 2014): '' | null {
    const fault = bicFault(text, grammar)
    if (fault === null) return null
    if (fault === 'BIC_TEST') this.context.report('BIC_TEST', { found: text })
    else return this.reported(fault, text, fault === 'BIC_COUNTRY' ? `a country in ${BIC_COUNTRY_PLACE}` : '8 or 11 characters')
    return null
  }

  private readUetr(text: string): '' | null {
    if (!UETR.test(text)) return this.reported('UETR_FORMAT', text, 'a UUID of version 4 in lower case')
    if (this.uetrs.push(text).add() === 'same') this.context.report('UETR_DUPLICATE', { found: text })
    return null
  }

  private reported(code: RuleCode, found: string, expected: string | null): '' {
    this.context.report(code, { found, expected })
    return ''
  }
}

function charsetRule(traits: number, id: boolean): RuleCode | null {
  if ((traits & FOREIGN) !== 0) return 'TEXT_CHARSET_FOREIGN'
  if ((traits & EUROPEAN) !== 0) return id ? 'TEXT_CHARSET_FOREIGN' : 'TEXT_CHARSET_EUROPEAN'
  if ((traits & LATIN) === 0) return null
  return id ? 'TEXT_CHARSET_ID' : 'TEXT_CHARSET'
}

function readDecimal(text: string, { total, behind_point, least }: Extract<Leaf, { kind: 'decimal' }>): string | null {
  if (isDecimalText(text, total, behind_point)) {
    if (least === undefined) return null
    const has_digit = /[1-9]/.test(text)
    if (least === 0 ? !has_digit || !text.includes('-') : has_digit && !text.includes('-')) return null
    return `at least ${least}`
  }
  return behind_point === 0 ? `at most ${total} digits` : `a decimal of at most ${total} digits, ${behind_point} of them behind the point`
}

const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance'
const SCHEMA_HINTS: ReadonlySet<string> = new Set(['schemaLocation', 'noNamespaceSchemaLocation', 'type'])

/**
 * Whether an attribute belongs to XML Schema itself and may stand on any element (XML Schema Part 1, 2.6). `nil` may not: no element of
 * these messages is nillable. Which type `type` names is not checked.
 */
export function isSchemaHint({ namespace, local }: XmlAttribute): boolean {
  return namespace === SCHEMA_INSTANCE && SCHEMA_HINTS.has(local)
}

/** Name of an attribute for a finding: with its namespace, where it has one. */
export function shownName({ namespace, local }: XmlAttribute): string {
  return namespace === '' ? local : `${local} of ${namespace}`
}

function sizeText(most: number): string {
  return `1 to ${most} characters`
}

function isBlank(text: string): boolean {
  return text === '' || (text.charCodeAt(0) <= 0x20 && text.trim() === '')
}
