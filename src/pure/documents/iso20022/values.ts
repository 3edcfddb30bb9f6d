import { isBic } from '../../checks/bic.ts'
import { COUNTRIES } from '../../checks/countries.ts'
import { checkCurrency } from '../../checks/currency.ts'
import { checkIban, isIban } from '../../checks/iban.ts'
import { isLei } from '../../checks/lei.ts'
import type { XmlAttribute } from '../xml/reader.ts'
import { type AmountText, isDecimalText, isSumText, scaled, TextSet } from './accumulators.ts'
import type { FindingDetails, MessageKind, RuleCode } from './rules.ts'
import { allowedCurrencies, hasCurrency, type Leaf } from './structure.ts'
import { base64Bytes, type DecimalBounds, decimalForm, lengthForm } from './value-forms.ts'

/** Checks the values of a message: form, character set, calendar, check digits. Identifiers have no spaces in messages. */

const OFFSET = '(Z|[+-](?:0\\d|1[0-3]):[0-5]\\d|[+-]14:00)?'
const DATE = new RegExp(`^[ \\t\\r\\n]*(\\d{4})-(\\d\\d)-(\\d\\d)${OFFSET}[ \\t\\r\\n]*$`)
const TIME = new RegExp(`^[ \\t\\r\\n]*(\\d{4})-(\\d\\d)-(\\d\\d)T(\\d\\d):(\\d\\d):(\\d\\d)(?:\\.\\d{1,12})?${OFFSET}[ \\t\\r\\n]*$`)
const DAY_MS = 86_400_000

export function dateFault(text: string): 'form' | 'calendar' | null {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return 'form'
  return dayNumber(`${year}-${month}-${day}`) === null ? 'calendar' : null
}

/** Fault of an xs:dateTime; `no_offset` when all else is valid. */
export function dateTimeFault(text: string): 'form' | 'calendar' | 'no_offset' | null {
  const [, year, month, day, hour = '', minute = '', second = '', offset] = TIME.exec(text) ?? []
  if (year === undefined) return 'form'
  const end_of_day = hour === '24' && minute === '00' && second === '00'
  const clock = (hour <= '23' || end_of_day) && minute <= '59' && second <= '59'
  if (!clock || dayNumber(`${year}-${month}-${day}`) === null) return 'calendar'
  return offset === undefined ? 'no_offset' : null
}

/** Days since 1970-01-01 of the date at the start of a text, ignoring its offset; null when the date does not exist. */
export function dayNumber(text: string): number | null {
  const day = text.trim().slice(0, 10)
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return null
  const time = Date.parse(`${day}T00:00:00Z`)
  // Engines may read 31 February as 3 March: the date must not change.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day) return null
  return Math.round(time / DAY_MS)
}

interface CurrencyInfo {
  /** Decimals of the currency; null where ISO 4217 states none or the code is unknown. */
  minor_units: number | null
  fault: Extract<RuleCode, 'CCY_UNKNOWN' | 'CCY_METAL' | 'CCY_HISTORIC'> | null
}

const currencies = new Map<string, CurrencyInfo>()
const CACHED = 1_024

export function currencyInfo(code: string): CurrencyInfo {
  const known = currencies.get(code)
  if (known !== undefined) return known
  const info = readCurrencyInfo(code)
  if (currencies.size < CACHED) currencies.set(code, info)
  return info
}

function readCurrencyInfo(code: string): CurrencyInfo {
  const facts = CURRENCY.test(code) ? checkCurrency(code).facts : null
  if (facts === null) return { minor_units: null, fault: 'CCY_UNKNOWN' }
  const fault = facts.status === 'withdrawn' ? 'CCY_HISTORIC' : facts.kind === 'metal' ? 'CCY_METAL' : null
  return { minor_units: facts.minor_units, fault }
}

type IbanRule = Extract<RuleCode, 'IBAN_LENGTH' | 'IBAN_FORMAT' | 'IBAN_CHECK'>

/** Rules for the findings of the IBAN check; all others concern the form. */
const IBAN_RULES: Readonly<Record<string, IbanRule>> = {
  too_short: 'IBAN_LENGTH',
  too_long: 'IBAN_LENGTH',
  bad_length: 'IBAN_LENGTH',
  bad_checksum: 'IBAN_CHECK',
  checksum_out_of_range: 'IBAN_CHECK',
  bad_national_checksum: 'IBAN_CHECK',
}
const NATIONAL_CHECK = 'The check digits inside the national account number are wrong; those of the IBAN itself are right.'
const UPPER_CASE_OR_DIGITS = /^[0-9A-Z]*$/

/** Fault of an IBAN in its electronic form, upper case; null when valid. */
export function ibanFault(text: string): { code: IbanRule; details: Pick<FindingDetails, 'expected' | 'message'> } | null {
  if (!UPPER_CASE_OR_DIGITS.test(text)) return { code: 'IBAN_FORMAT', details: { expected: 'upper-case letters and digits only' } }
  if (isIban(text) && !text.startsWith('IBAN')) return null
  const [finding] = checkIban(text).findings
  const expected = finding?.expected ?? null
  const message = finding?.code === 'bad_national_checksum' ? { message: NATIONAL_CHECK } : {}
  return { code: IBAN_RULES[finding?.code ?? ''] ?? 'IBAN_FORMAT', details: { expected, ...message } }
}

/** The two forms in use: that of 2009 forbids digits in the prefix, 0 and 1 as character 7, the letter O as character 8. */
const BIC_FORMS = {
  2009: /^[A-Z]{6}[A-Z2-9][A-NP-Z0-9](?:[A-Z0-9]{3})?$/,
  2014: /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/,
} as const

export function bicFault(text: string, form: 2009 | 2014): Extract<RuleCode, 'BIC_FORMAT' | 'BIC_COUNTRY' | 'BIC_TEST'> | null {
  // The common case without a regular expression: the form of 2014 is that of the BIC check.
  if (form === 2014 && UPPER_CASE_OR_DIGITS.test(text) && isBic(text)) return text.charCodeAt(7) === 0x30 ? 'BIC_TEST' : null
  if (!BIC_FORMS[form].test(text)) return 'BIC_FORMAT'
  if (!COUNTRIES.has(text.slice(4, 6))) return 'BIC_COUNTRY'
  return text.charAt(7) === '0' ? 'BIC_TEST' : null
}

export function isExactLei(text: string): boolean {
  return /^[A-Z0-9]{18}[0-9]{2}$/.test(text) && isLei(text)
}

/** Character classes of a text, as bits. Without a bit: letters, digits and - ? : ( ) . , ' +, which every network carries. */
const SLASH_OR_SPACE = 1
/** Extended Latin, or the euro sign. */
const LATIN = 2
const FOREIGN = 4
const EUROPEAN = 8

const ASCII_CLASSES = new Uint8Array(128).fill(LATIN)
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-?:().,'+")
  ASCII_CLASSES[character.charCodeAt(0)] = 0
for (const character of '/ \r\n') ASCII_CLASSES[character.charCodeAt(0)] = SLASH_OR_SPACE
ASCII_CLASSES[0x09] = LATIN + SLASH_OR_SPACE

const LATIN_END = 0x24f
const GREEK_START = 0x370
const CYRILLIC_END = 0x4ff
const EURO = 0x20ac

function characterClasses(text: string): number {
  let classes = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 128) classes |= ASCII_CLASSES[code] ?? 0
    else if (code <= LATIN_END || code === EURO) classes |= LATIN
    else classes |= code >= GREEK_START && code <= CYRILLIC_END ? EUROPEAN : FOREIGN
  }
  return classes
}

function charsetRule(classes: number, is_id: boolean): RuleCode | null {
  if ((classes & FOREIGN) !== 0) return 'TEXT_CHARSET_FOREIGN'
  if ((classes & EUROPEAN) !== 0) return is_id ? 'TEXT_CHARSET_FOREIGN' : 'TEXT_CHARSET_EUROPEAN'
  if ((classes & LATIN) === 0) return null
  return is_id ? 'TEXT_CHARSET_ID' : 'TEXT_CHARSET'
}

const UETR = /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/
const CURRENCY = /^[A-Z]{3}$/
const DECIMAL_COMMA = /^\d{1,15},\d{1,5}$/

/** Messages in which a bank lists bookings. */
const STATEMENTS: ReadonlySet<MessageKind> = new Set<MessageKind>(['camt.052', 'camt.053', 'camt.054'])
/** Messages that answer others and repeat parts of them. */
const REPORTS: ReadonlySet<MessageKind> = new Set<MessageKind>(['pain.002', 'pain.014', 'pacs.002', 'camt.029', 'head.001'])

/** An element with a value; `empty` and `lexical` replace STRUCT_LEXICAL for blank and for other malformed values. */
interface ValueElement {
  readonly name: string
  readonly leaf: Leaf | null
  readonly empty: RuleCode | null
  readonly lexical: RuleCode | null
}

interface ValueContext {
  readonly amount: AmountText
  report(code: RuleCode, details?: FindingDetails): void
}

export class ValueReader {
  currency = ''
  private info: CurrencyInfo | null = null
  private readonly context: ValueContext
  /** Statements and reports repeat what others wrote: its characters are not theirs, and a return has the UETR of its payment. */
  private readonly is_report: boolean
  private readonly is_statement: boolean
  private readonly uetrs = new TextSet()

  constructor(context: ValueContext, kind: MessageKind) {
    this.context = context
    this.is_statement = STATEMENTS.has(kind)
    this.is_report = this.is_statement || REPORTS.has(kind)
  }

  /** The only attribute of a message is the currency of amounts and prices. */
  readAttributes({ leaf }: ValueElement, attributes: readonly XmlAttribute[]): void {
    const amount = hasCurrency(leaf)
    let currency = ''
    for (const attribute of attributes) {
      if (amount && attribute.local === 'Ccy' && attribute.namespace === '') currency = attribute.value
      else if (!isSchemaAttribute(attribute)) this.context.report('STRUCT_ATTRIBUTE', { found: attributeName(attribute) })
    }
    if (!amount) return
    if (currency !== this.currency || this.info === null) {
      this.currency = currency
      this.info = currencyInfo(currency)
    }
    const allowed = allowedCurrencies(leaf)
    if (allowed !== null && !allowed.has(currency)) {
      this.context.report('STRUCT_LEXICAL', { found: currency, expected: [...allowed].join(', ') })
      return
    }
    const { fault } = this.info
    if (fault === null) return
    if (currency === '') this.context.report('STRUCT_ATTRIBUTE', { expected: 'Ccy, for example Ccy="EUR"' })
    else if (!CURRENCY.test(currency)) this.context.report('STRUCT_LEXICAL', { found: currency, expected: CURRENCY_CODE })
    else this.context.report(fault, { found: currency })
  }

  /** Returns whether the value has its form, so that rules may use it. Otherwise the fault was reported. */
  read({ name, empty, lexical }: ValueElement, leaf: Leaf, text: string): boolean {
    if (empty !== null && isBlank(text)) {
      this.context.report(empty, { found: text })
      return false
    }
    const form = this.readLeaf(leaf, text, name)
    if (form === null) return true
    if (form !== '') this.context.report(lexical ?? 'STRUCT_LEXICAL', { found: text, expected: form })
    return false
  }

  /** Null when the form is right; else the expected form, or '' when the fault was already reported. */
  private readLeaf(leaf: Leaf, text: string, name: string): string | null {
    switch (leaf.kind) {
      case 'text':
        return isSized(text, leaf) ? this.checkCharacters(text, false) : lengthForm(leaf.least, leaf.most)
      case 'id':
        return this.readId(text, leaf)
      case 'external':
        return isSized(text, leaf) ? null : lengthForm(leaf.least, leaf.most)
      case 'pattern':
        if (!isSized(text, leaf)) return lengthForm(leaf.least, leaf.most)
        return leaf.pattern.test(text) ? null : leaf.form
      case 'base64':
        return readBase64(text, leaf)
      case 'codes':
        return leaf.codes.has(text) ? null : [...leaf.codes].join(', ')
      case 'amount':
        return this.readAmount(text, leaf.bounds)
      case 'sum':
        return isSumText(text) ? null : 'a decimal of at most 18 digits, 17 of them after the point'
      case 'decimal':
        return isWithin(text, leaf) ? null : decimalForm(leaf)
      case 'date':
      case 'date_time':
        return this.readDate(text, leaf.kind)
      case 'currency':
        return this.readCurrency(text)
      case 'country':
        if (!/^[A-Z]{2}$/.test(text)) return 'a country code of two letters, for example DE'
        return COUNTRIES.has(text) ? null : this.reported('ADDR_COUNTRY', text, null)
      case 'iban':
        return this.readIban(text, leaf.pattern)
      case 'bic':
        return this.readBic(text, leaf.form)
      case 'lei':
        return isExactLei(text) ? null : this.reported('LEI_CHECK', text, '18 letters or digits and two check digits')
      case 'uetr':
        return this.readUetr(text, name)
    }
  }

  private readId(text: string, { least, most, pattern, form }: Extract<Leaf, { kind: 'id' }>): string | null {
    if (!isSized(text, { least, most })) return lengthForm(least, most)
    if (pattern !== null && !pattern.test(text)) return form
    return this.checkCharacters(text, true)
  }

  private checkCharacters(text: string, is_id: boolean): null {
    const classes = characterClasses(text)
    if (classes === 0) return null
    const rule = this.is_report ? null : charsetRule(classes, is_id)
    if (rule !== null) this.context.report(rule, { found: text })
    if (is_id && (classes & SLASH_OR_SPACE) !== 0) this.checkId(text)
    return null
  }

  private checkId(text: string): void {
    if (text.startsWith('/') || text.endsWith('/') || text.includes('//')) this.context.report('ID_SLASH', { found: text })
    if (text.charCodeAt(0) <= 0x20 || text.charCodeAt(text.length - 1) <= 0x20 || text.includes('  ')) {
      this.context.report('ID_WHITESPACE', { found: text })
    }
  }

  private readAmount(text: string, bounds: DecimalBounds | null): string | null {
    const { amount } = this.context
    const fault = amount.read(text)
    if (fault === 'digits') return this.reported('AMT_DIGITS', text, 'at most 18 digits, 5 of them after the point')
    if (fault !== null) {
      const message = DECIMAL_COMMA.test(text) ? `"${text}" is not a valid amount; use a decimal point: ${text.replace(',', '.')}.` : null
      const expected = fault === 'negative' ? 'at least 0' : 'a decimal such as 1234.56'
      this.context.report('AMT_LEXICAL', { found: text, expected, ...(message !== null && { message }) })
      return ''
    }
    if (bounds !== null && !isWithin(text, bounds)) return decimalForm(bounds)
    const digits = this.info?.minor_units ?? null
    if (digits !== null && amount.written_fraction > digits) this.reportFraction(text, digits)
    return null
  }

  /** Zeros after the last decimal are valid, but some banks reject them. */
  private reportFraction(text: string, digits: number): void {
    const rule = this.context.amount.fraction > digits ? 'AMT_FRACTION' : 'AMT_FRACTION_ZEROS'
    this.context.report(rule, { found: text, expected: decimalsText(digits, this.currency) })
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

  private readCurrency(text: string): string | null {
    if (!CURRENCY.test(text)) return CURRENCY_CODE
    const { fault } = currencyInfo(text)
    if (fault !== null) this.context.report(fault, { found: text })
    return null
  }

  private readIban(text: string, pattern: RegExp): string | null {
    const fault = ibanFault(text)
    if (fault === null) return null
    if (this.is_statement && !pattern.test(text)) return 'two letters, two digits, at most 30 letters or digits'
    if (this.is_statement) return this.reported('S_IBAN_MASKED', text, fault.details.expected ?? null)
    this.context.report(fault.code, { found: text, ...fault.details })
    return ''
  }

  private readBic(text: string, form: 2009 | 2014): '' | null {
    const fault = bicFault(text, form)
    if (fault === null) return null
    if (fault !== 'BIC_TEST')
      return this.reported(fault, text, fault === 'BIC_COUNTRY' ? 'a country in characters 5 and 6' : '8 or 11 characters')
    this.context.report('BIC_TEST', { found: text })
    return null
  }

  private readUetr(text: string, name: string): '' | null {
    if (!UETR.test(text)) return this.reported('UETR_FORMAT', text, 'a version 4 UUID in lower case')
    if (name === 'UETR' && !this.is_report && this.uetrs.push(text).add() === 'same') this.context.report('UETR_DUPLICATE', { found: text })
    return null
  }

  private reported(code: RuleCode, found: string, expected: string | null): '' {
    this.context.report(code, { found, expected })
    return ''
  }
}

const CURRENCY_CODE = 'a currency code of three letters, for example EUR'

export function decimalsText(digits: number, currency: string): string {
  return digits === 0 ? `no decimals in ${currency}` : `at most ${digits} decimals in ${currency}`
}

/** Decimals of the largest scale of a type. */
const LONGEST_FRACTION = 30

function isWithin(text: string, { total, fraction, least, most }: DecimalBounds): boolean {
  if (!isDecimalText(text, total, fraction)) return false
  if (least === null && most === null) return true
  const value = scaled(text.trim(), LONGEST_FRACTION)
  if (value === null) return false
  const is_enough = least === null || value >= (scaled(least, LONGEST_FRACTION) ?? 0n)
  return is_enough && (most === null || value <= (scaled(most, LONGEST_FRACTION) ?? 0n))
}

function isSized(text: string, { least, most }: { least: number; most: number }): boolean {
  const { length } = text
  // Characters beyond the basic plane are two units.
  if (length < least || length > most * 2) return false
  return length <= most && least <= 1 ? true : isBetween(Array.from(text).length, least, most)
}

function isBetween(count: number, least: number, most: number): boolean {
  return count >= least && count <= most
}

function readBase64(text: string, { least, most }: { least: number; most: number }): string | null {
  const bytes = base64Bytes(text)
  return bytes !== null && isBetween(bytes, least, most) ? null : `base64 text of ${least} to ${most} bytes`
}

export const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance'
const SCHEMA_ATTRIBUTES: ReadonlySet<string> = new Set(['schemaLocation', 'noNamespaceSchemaLocation', 'type'])

/**
 * Returns whether an attribute belongs to XML Schema itself and is allowed on any element (XML Schema Part 1, 2.6). `nil` is not: no
 * element of these messages is nillable. The type that `type` names is not checked.
 */
export function isSchemaAttribute({ namespace, local }: XmlAttribute): boolean {
  return namespace === SCHEMA_INSTANCE && SCHEMA_ATTRIBUTES.has(local)
}

/** Name of an attribute for a finding, with its namespace if any. */
export function attributeName({ namespace, local }: XmlAttribute): string {
  return namespace === '' ? local : `${local} of ${namespace}`
}

function isBlank(text: string): boolean {
  return text === '' || (text.charCodeAt(0) <= 0x20 && text.trim() === '')
}
