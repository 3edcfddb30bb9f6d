import { foreignCharacterFindings, alphanumericValue, checkText, foreignCharacters, withLeadingZero } from './check-text.ts'
import { checkCharacters } from './check-digits.ts'
import { MAX_CHARS, normalize, type NormalizeOptions, readPlain } from './normalize.ts'
import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'

/** Kinds of character in a layout: the noun for messages, and the range of values 0–35 that a part takes. */
const KINDS = {
  N: { one: 'a digit', many: 'digits', least: 0, most: 9 },
  A: { one: 'a letter', many: 'letters', least: 10, most: 35 },
  X: { one: 'a letter or digit', many: 'letters or digits', least: 0, most: 35 },
  Z: { one: 'the digit 0', many: 'zeros', least: 0, most: 0 },
} as const
const COUNTS = ['', '', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

type Labels<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? Labels<First> | Labels<Rest>
  : Text extends `${infer Label}:${string}`
    ? Label
    : never

/** A part that takes only some letters and digits. */
interface RestrictedPart {
  part: IdentifierPart
  expected: string
  least: number
  most: number
}

/** Fixed format of an identifier, read from one text. */
interface Layout<Label extends string = string> {
  /** Name of the whole value in findings. */
  field: string
  length: number
  /** Parts in order; together they cover the whole value. */
  parts: readonly IdentifierPart[]
  /** Position of each part. */
  at: Readonly<Record<Label, IdentifierPart>>
  restricted: readonly RestrictedPart[]
  /** Every part consists of digits. */
  digits: boolean
}

/**
 * Reads a layout: the parts in order as `label:count` and the kind of their characters, for example `lou:4X entity:14X check:2N`.
 * Kinds: N digits, A letters, X letters or digits, Z zeros. The part `check` holds the check characters.
 */
export function readLayout<const Text extends string>(field: string, text: Text): Layout<Labels<Text>> {
  let end = 0
  const kinds = text.split(' ').map((segment) => {
    const [label = '', size = ''] = segment.split(':')
    const start = end
    const count = Number.parseInt(size, 10)
    end += count
    const { one, many, least, most } = KINDS[size.slice(-1) as keyof typeof KINDS]
    const part = Object.freeze({ label, start, end })
    return { part, expected: count === 1 ? one : `${COUNTS[count] ?? count} ${many}`, least, most }
  })
  const parts = kinds.map(({ part }) => part)
  return {
    field,
    length: end,
    parts,
    at: Object.fromEntries(parts.map((part) => [part.label, part])) as Record<Labels<Text>, IdentifierPart>,
    restricted: kinds.filter(({ least, most }) => least !== KINDS.X.least || most !== KINDS.X.most),
    digits: kinds.every(({ most }) => most <= KINDS.N.most),
  }
}

/** Check characters of an identifier, computed from its other characters. */
interface Checksum {
  /** Value of the check characters: 0–35 for a digit or letter, a number for two digits. `values` are 0–35 for each character. */
  expected(values: Uint8Array): number
  /** Modulus that leaves the same remainder for the expected check digits and for some outside `least` to `most`. */
  modulus?: number
  /** Range of check digits that the calculation can give. */
  least?: number
  most?: number
  /** Message of a mismatch, instead of the one of `bad_checksum`. */
  mismatchMessage?(value: string): string | null
}

/** A value of the right form, as facts and warnings are made from it. */
interface ReadIdentifier {
  value: string
  /** 0–35 for each character. */
  values: Uint8Array
  /** The check characters are the expected ones; true for an identifier without checksum. */
  checked: boolean
}

interface IdentifierRule<Label extends string, Facts extends object> extends Required<Omit<NormalizeOptions, 'field'>> {
  layout: Layout<Label>
  /** Sentence that answers for a valid value. */
  success_reason: string
  checksum?: Checksum
  /** The identifier has no checksum at all, so a value of the right form is `well_formed_unverifiable`. */
  unverifiable?: boolean
  /** Parts that are never all zero together. */
  nonzero?: readonly NoInfer<Label>[]
  /** All zeros are reported before characters of the wrong kind. */
  zeros_first?: boolean
  /** A missing zero in front is suggested, which spreadsheets drop. */
  leading_zero?: boolean
  /** Values of the first character from here on need normalizing: 10 where a letter in front may be a prefix. */
  first_below?: 10 | 36
  /** Explains a wrong length. */
  lengthHint?(value: string): string | null
  /** Changes the findings about characters and length. */
  refineFindings?(findings: Finding[], value: string): Finding[]
  /** Findings before, and after, those about the kinds of characters that the layout names. */
  earlyFindings?(value: string): Finding[]
  componentFindings?(value: string): Finding[]
  /** The same rules as `earlyFindings` and `componentFindings`, over values 0–35. */
  hasValidComponents?(values: Uint8Array): boolean
  /** Null where a table that `componentFindings` looked the value up in has no row. */
  facts(text: Readonly<Record<Label, string>>, read: ReadIdentifier): Facts | null
  /** Parts of this value, where they are not those of the layout. */
  parts?(facts: Facts): readonly IdentifierPart[]
  warnings?(value: string, facts: Facts, checked: boolean): Finding[]
  /** Finding that keeps a value of the right form from being valid. */
  unconfirmed?(value: string): Finding | null
}

/** An identifier of fixed length, prepared for the checks. */
export interface Identifier<Facts> {
  options: NormalizeOptions
  success_reason: string
  /** Reused by the synchronous checks. */
  values: Uint8Array
  first_below: 10 | 36
  /** For each part that takes only some characters: start, end, least and most value. */
  ranges: Uint8Array
  zero_start: number
  zero_end: number
  /** Null for an identifier without rules about its parts. */
  hasValidComponents: ((values: Uint8Array) => boolean) | null
  /** Null for an identifier without check characters. */
  expectedCheck: ((values: Uint8Array) => number) | null
  check_start: number
  check_end: number
  leading_zero: boolean
  validate(value: string): Validation<Facts>
}

/** Prepares an identifier of fixed length from its layout, its checksum and what else is special. */
export function defineIdentifier<Label extends string, Facts extends object>(
  rule: IdentifierRule<Label, Facts>,
): Identifier<Facts & { parts: IdentifierPart[] }> {
  const form = rule.layout
  const zeros = nonzeroRange(rule)
  const check = checkPart(form)
  const { separators, prefixes, label } = rule
  const values = new Uint8Array(form.length)
  const validateFormed = validation(rule, values)
  const identifier: Identifier<Facts & { parts: IdentifierPart[] }> = {
    options: { separators, prefixes, label, field: form.field },
    success_reason: rule.success_reason,
    values,
    first_below: rule.first_below ?? 36,
    ranges: Uint8Array.from(form.restricted.flatMap(({ part: { start, end }, least, most }) => [start, end, least, most])),
    zero_start: zeros.start,
    zero_end: zeros.end,
    hasValidComponents: rule.hasValidComponents ?? null,
    expectedCheck: rule.checksum?.expected ?? null,
    check_start: check.start,
    check_end: check.end,
    leading_zero: rule.leading_zero === true,
    validate(value) {
      const plain = value.length === values.length && matchesFormat(values, readPlain(value, values), identifier)
      return validateFormed(value, plain ? [] : formatFindings(rule, value))
    },
  }
  return identifier
}

/** Facts of an identifier. */
export type FactsOf<Defined extends Identifier<unknown>> = Defined extends Identifier<infer Facts> ? Facts : never

/** Checks text with all details. */
export function checkIdentifier<Facts>(text: string, identifier: Identifier<Facts>): Check<Facts> {
  const isValid = (candidate: string) => isIdentifier(candidate, identifier)
  const { options, success_reason, leading_zero } = identifier
  const check = checkText(text, { options, success_reason, isValid, validate: identifier.validate })
  return leading_zero ? withLeadingZero(check, isValid) : check
}

/** Returns the same answer as `checkIdentifier(text, identifier).valid`, several times as fast. */
export function isIdentifier(text: string, identifier: Identifier<unknown>): boolean {
  if (text.length > MAX_CHARS) return false
  const { options, values, first_below } = identifier
  const length = readPlain(text, values)
  // A separator may follow a label such as "IBAN"; more characters than the identifier has may begin with a word such as "SEDOL".
  if (length === text.length && length <= values.length && (values[0] ?? 0) < first_below)
    return hasValidCheckDigits(values, length, identifier)
  const { value, finding: unreadable } = normalize(text, options)
  return unreadable === null && hasValidCheckDigits(values, readPlain(value, values), identifier)
}

function hasValidCheckDigits(values: Uint8Array, length: number, identifier: Identifier<unknown>): boolean {
  if (!matchesFormat(values, length, identifier)) return false
  const { expectedCheck, check_start, check_end } = identifier
  return expectedCheck === null || expectedCheck(values) === foundCheck(check_start, check_end, values)
}

/** Tests values 0–35 for everything but the checksum. */
function matchesFormat(values: Uint8Array, length: number, identifier: Identifier<unknown>): boolean {
  const {
    ranges,
    zero_start,
    zero_end,
    values: { length: expected_length },
  } = identifier
  if (length !== expected_length) return false
  for (let at = 0; at < ranges.length; at += 4) {
    const end = ranges[at + 1] ?? 0
    const least = ranges[at + 2] ?? 0
    const most = ranges[at + 3] ?? 0
    for (let index = ranges[at] ?? 0; index < end; index++) {
      const value = values[index] ?? 0
      if (value < least || value > most) return false
    }
  }
  if (zero_end > 0 && isZero(values, zero_start, zero_end)) return false
  const { hasValidComponents } = identifier
  return hasValidComponents === null || hasValidComponents(values)
}

const NO_PART = { start: 0, end: 0 } as const

function checkPart({ at }: Layout): { start: number; end: number } {
  return at['check'] ?? NO_PART
}

/** Value of the check characters that a value has: of one character, or of two digits as a number. */
function foundCheck(start: number, end: number, values: Uint8Array): number {
  const last = values[end - 1] ?? 0
  return end - start === 1 ? last : (values[start] ?? 0) * 10 + last
}

function nonzeroRange<Label extends string>({ layout: { at }, nonzero = [] }: { layout: Layout<Label>; nonzero?: readonly Label[] }) {
  const parts = nonzero.map((label) => at[label])
  return { start: Math.min(...parts.map(({ start }) => start)), end: Math.max(0, ...parts.map(({ end }) => end)) }
}

/** Tests whether all values from `start` to `end` are 0. */
export function isZero(values: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (values[index] !== 0) return false
  return true
}

/** Builds the validation of a value whose findings about its format are known; without any, `values` are those of the value. */
function validation<Label extends string, Facts extends object>(rule: IdentifierRule<Label, Facts>, values: Uint8Array) {
  const { layout: form, checksum, facts: factsFrom, parts: partsFrom, warnings: warningsAbout, unconfirmed, unverifiable = false } = rule
  const { start, end } = checkPart(form)
  return (value: string, faults: Finding[]): Validation<Facts & { parts: IdentifierPart[] }> => {
    if (faults.length > 0 && (checksum === undefined || faults.some(({ field }) => field !== 'check'))) return { findings: faults }
    readPlain(value, values)
    const expected = checksum === undefined ? null : checksum.expected(values)
    const expected_check = expected === null ? null : checkCharacters(expected, end - start)
    if (faults.length > 0) return { findings: faults, expected_check }
    const checked = expected === null || expected === foundCheck(start, end, values)
    const findings = checked || checksum === undefined ? [] : checksumFindings(checksum, { start, end }, expected, { value, values })
    const facts = factsFrom(partTexts(form, value), { value, values, checked })
    if (facts === null) return { findings, expected_check }
    const warnings = warningsAbout === undefined ? [] : warningsAbout(value, facts, checked)
    const parts = [...(partsFrom === undefined ? form.parts : partsFrom(facts))]
    return {
      findings,
      warnings,
      expected_check,
      facts: Object.assign(facts, { parts }),
      unverifiable,
      unconfirmed: unconfirmed === undefined ? null : unconfirmed(value),
    }
  }
}

function partTexts<Label extends string>({ parts }: Layout<Label>, value: string): Record<Label, string> {
  const texts: Record<string, string> = {}
  for (const { label, start, end } of parts) texts[label] = value.slice(start, end)
  return texts
}

/** Characters, length, kinds of characters, zeros and components: the first stage with findings answers. */
function formatFindings<Label extends string, Facts extends object>(rule: IdentifierRule<Label, Facts>, value: string): Finding[] {
  const { layout: form, zeros_first } = rule
  const unread = layoutFindings(form, value, rule.lengthHint)
  const stages = [
    () => rule.refineFindings?.(unread, value) ?? unread,
    () => (zeros_first === true ? zeroFindings(rule, value) : []),
    () => rule.earlyFindings?.(value) ?? [],
    () => structureFindings(form, value),
    () => zeroFindings(rule, value),
    () => rule.componentFindings?.(value) ?? [],
  ]
  for (const stage of stages) {
    const findings = stage()
    if (findings.length > 0) return findings
  }
  return []
}

/** Findings about characters that the identifier never has; without any, about the length. */
function layoutFindings({ field, length, digits }: Layout, value: string, hint?: (value: string) => string | null): Finding[] {
  const foreign = digits ? foreignCharacters(value, field, /[^0-9]+/gu, 'digits 0-9') : foreignCharacterFindings(value, field)
  if (foreign.length > 0 || value.length === length) return foreign
  return [lengthFinding(field, value, `${length} ${digits ? 'digits' : 'characters'}`, { hint: hint?.(value) ?? null })]
}

/** A finding for each part whose characters are of the wrong kind; for values of letters and digits and of the right length. */
export function structureFindings({ restricted }: Layout, value: string): Finding[] {
  return restricted
    .filter(({ part: { start, end }, least, most }) => {
      for (let index = start; index < end; index++) {
        const unit = alphanumericValue(value, index)
        if (unit < least || unit > most) return true
      }
      return false
    })
    .map(({ part, expected }) => finding('bad_structure', part.label, { value, ...part }, expected))
}

function zeroFindings<Label extends string>(rule: { layout: Layout<Label>; nonzero?: readonly Label[] }, value: string): Finding[] {
  const { start, end } = nonzeroRange(rule)
  if (end === 0 || !/^0+$/.test(value.slice(start, end))) return []
  const [label, another] = rule.nonzero ?? []
  return [
    label === undefined || another !== undefined
      ? finding('all_zero', rule.layout.field, null, null)
      : partFinding(rule.layout, label, value, 'all_zero', null),
  ]
}

/** Findings about check characters other than the expected ones. */
function checksumFindings(
  { modulus = Infinity, least = 0, most = Infinity, mismatchMessage }: Checksum,
  part: { start: number; end: number },
  expected: number,
  { value, values }: { value: string; values: Uint8Array },
): Finding[] {
  const found = foundCheck(part.start, part.end, values)
  const expected_check = checkCharacters(expected, part.end - part.start)
  const checkFinding = (code: Finding['code'], message?: string) => finding(code, 'check', { value, ...part }, expected_check, message)
  const findings: Finding[] = []
  if ((found - expected) % modulus !== 0) findings.push(checkFinding('bad_checksum', mismatchMessage?.(value) ?? undefined))
  if (found < least || found > most) findings.push(checkFinding('checksum_out_of_range'))
  return findings
}

/** A finding about one part of a value. */
export function partFinding<Label extends string>(
  { at }: { at: Readonly<Record<Label, IdentifierPart>> },
  label: Label,
  value: string,
  code: Finding['code'],
  expected: string | null,
  message?: string,
): Finding {
  return finding(code, label, { value, ...at[label] }, expected, message)
}
