import { readPlain } from './characters.ts'
import { type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { checkDigitFindings, layout, layoutFindings, partFinding, partText } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'

export interface JapanCorpFacts {
  check_digit: string
  /** The twelve digits behind the check digit; for a registered company its number in the commercial register. */
  base: string
  /** By range: a public body, a body without registration, or one in the commercial register. */
  kind: 'public_body' | 'unregistered_body' | 'registered'
  /** Legal affairs bureau, the first four digits of the base; null for bodies that are not in the register. */
  registry_office_code: string | null
  /** The form that a qualified invoice shows, if the body is registered for consumption tax. */
  invoice_number: string
  parts: Part[]
}

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['T'],
  label: inFront(['CORPORATE', '法人番号', '登録番号'], (value) => /^T?[0-9]{13}$/.test(value)),
  field: 'number',
}
const PRAISE = 'The check digit holds; the register was not asked.'
const LAYOUT = layout('number', 'check:1N base:12N')
const LENGTH = LAYOUT.length

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)
const READING: Reading = { options: OPTIONS, values, first_below: 10, holds }

/** Always the same answer as `checkJapanCorp(text).valid`. */
export function isJapanCorp(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== LENGTH) return false
  let any = 0
  for (let index = 0; index < LENGTH; index++) {
    const digit = read[index] ?? 0
    if (digit > 9) return false
    if (index > 0) any |= digit
  }
  return any !== 0 && read[0] === checkValue(read, 1)
}

/** 9 less the remainder modulo 9 of the base, weights 1 and 2 in turn from the right: always 1 to 9. */
function checkValue(read: Uint8Array, start: number): number {
  let sum = 0
  for (let index = start; index < start + 12; index++) sum += (read[index] ?? 0) * (1 + ((start + 11 - index) % 2))
  return 9 - (sum % 9)
}

/**
 * Decides whether text is a Japanese corporate number (National Tax Agency; ordinance 70 of 2014, article 2): a check digit 1 to 9
 * and twelve digits. Spaces, hyphens and the T of the invoice registration number are allowed. Errs towards valid: modulus 9 takes a
 * 0 for a 9, and misses swaps of digits two places apart. Twelve digits alone are the number of a company in the commercial
 * register; the suggestion then puts the check digit in front.
 */
export function checkJapanCorp(text: string): Check<JapanCorpFacts> {
  const check = checkText(text, { options: OPTIONS, praise: PRAISE, passes: isJapanCorp, judge })
  if (check.reason_code !== 'bad_length' || check.expected_check === null) return check
  return { ...check, suggestion: check.expected_check + check.normalized }
}

function judge(value: string): Judgement<JapanCorpFacts> {
  const faults = shapeFindings(value)
  if (faults.length > 0) return { findings: faults, expected_check: /^(?!0+$)[0-9]{12}$/.test(value) ? expectedCheck(value, 0) : null }
  const expected_check = expectedCheck(value, 1)
  const findings = checkDigitFindings(LAYOUT, value, expected_check)
  if (value.startsWith('0')) findings.push(partFinding(LAYOUT, 'check', value, 'checksum_out_of_range', expected_check))
  return { findings, expected_check, facts: factsOf(value) }
}

function expectedCheck(value: string, start: number): string {
  readPlain(value, values)
  return `${checkValue(values, start)}`
}

function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value, () =>
    value.length === 12 ? 'Twelve digits lack the check digit, which stands in front.' : null,
  )
  if (faults.length > 0) return faults
  return /^.0{12}$/.test(value) ? [partFinding(LAYOUT, 'base', value, 'all_zero', null)] : []
}

function factsOf(value: string): JapanCorpFacts {
  const check_digit = partText(LAYOUT.at.check, value)
  const base = partText(LAYOUT.at.base, value)
  const kind = base.startsWith('0000') ? 'public_body' : base.startsWith('7') ? 'unregistered_body' : 'registered'
  return {
    check_digit,
    base,
    kind,
    registry_office_code: kind === 'registered' ? base.slice(0, 4) : null,
    invoice_number: `T${value}`,
    parts: [...LAYOUT.parts],
  }
}
