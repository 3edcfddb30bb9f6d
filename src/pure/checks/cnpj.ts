import { readPlain } from './characters.ts'
import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { twoDigits } from './mod97.ts'
import { withLeadingZero } from './fixed-digits.ts'
import { checkDigitFindings, layout, layoutFindings, partText, structureFindings } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'

export interface CnpjFacts {
  /** Characters 1–8: the enterprise. */
  root: string
  /** Characters 9–12: the establishment. */
  branch: string
  is_head_office: boolean
  check_digits: string
  /** Letters stand in it, as in numbers given out since July 2026. */
  alphanumeric: boolean
  print_form: string
  parts: Part[]
}

const OPTIONS: NormalizeOptions = {
  separators: ' -./',
  prefixes: ['CNPJ:'],
  label: inFront(['CNPJ(?:/MF)?(?: N[º°])?'], (value) => /^[0-9A-Z]{12}[0-9]{2}$/.test(value)),
  field: 'cnpj',
}
const PRAISE = 'Both check digits hold; the register was not asked.'
const PERSON = 'Eleven digits that hold as a CPF, the number of a natural person; companies have a CNPJ.'
const LAYOUT = layout('cnpj', 'root:8X branch:4X check:2N')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)
const READING: Reading = { options: OPTIONS, values, first_below: 36, holds }

/** Whether the text is a CNPJ by its check digits, letters included. Always the same answer as `checkCnpj(text).valid`. */
export function isCnpj(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  const [tens, ones] = [read[CHECK_AT] ?? 0, read[CHECK_AT + 1] ?? 0]
  if (length !== LENGTH || tens > 9 || ones > 9 || tens * 10 + ones !== checkValue(read)) return false
  for (let index = 0; index < CHECK_AT; index++) if (read[index] !== 0) return true
  return false
}

/** Both digits: weights 2 to 9 from the right, over and over; a character counts its ASCII code less 48, so A is 17. */
function checkValue(read: Uint8Array): number {
  let first = 0
  let second = 0
  for (let index = 0; index < CHECK_AT; index++) {
    const value = read[index] ?? 0
    const worth = value < 10 ? value : value + 7
    first += worth * (2 + ((11 - index) % 8))
    second += worth * (2 + ((12 - index) % 8))
  }
  const tens = digitOf(first)
  return tens * 10 + digitOf(second + tens * 2)
}

function digitOf(sum: number): number {
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}

/**
 * Decides whether text is a Brazilian CNPJ (Receita Federal; IN RFB 2229/2024 adds letters from July 2026): eight characters for the
 * enterprise, four for the establishment, two check digits modulo 11 with the weights 2 to 9. Spaces, dots, the slash and hyphens
 * are allowed. All letters A-Z are accepted; I, O, Q, U and F, which some programs refuse, are a warning. Errs towards valid: a
 * number that was never given out passes, and remainders 0 and 1 share the digit 0, so a few single mistakes go unnoticed.
 */
export function checkCnpj(text: string): Check<CnpjFacts> {
  return withLeadingZero(checkText(text, { options: OPTIONS, praise: PRAISE, passes: isCnpj, judge }), isCnpj)
}

function judge(value: string): Judgement<CnpjFacts> {
  const faults = shapeFindings(value)
  if (faults.some(({ field }) => field !== 'check')) return { findings: faults }
  readPlain(value, values)
  const expected_check = twoDigits(checkValue(values))
  if (faults.length > 0) return { findings: faults, expected_check }
  const findings = checkDigitFindings(LAYOUT, value, expected_check)
  return { findings, warnings: letterWarnings(value), expected_check, facts: cnpjFacts(value) }
}

const personHint = (value: string) => (isCpf(value) ? PERSON : null)

function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value, personHint)
  const wrong = faults.length > 0 ? faults : structureFindings(LAYOUT, value)
  if (wrong.length > 0) return wrong
  return /^0{12}/.test(value) ? [finding('all_zero', 'cnpj', null, null)] : []
}

/** Two digits modulo 11 with the weights 2 upward from the right; a CPF of one digit alone is never given out. */
function isCpf(value: string): boolean {
  if (!/^(?!([0-9])\1{10})[0-9]{11}$/.test(value)) return false
  const digit = (end: number) => {
    let sum = 0
    for (let index = 0; index < end; index++) sum += Number(value.charAt(index)) * (end + 1 - index)
    return `${digitOf(sum)}`
  }
  return value.slice(9) === digit(9) + digit(10)
}

function letterWarnings(value: string): Finding[] {
  const first = value.search(/[FIOQU]/)
  if (first < 0) return []
  const message = 'The rule takes every letter, but some programs refuse F, I, O, Q and U.'
  return [finding('reserved_range', 'cnpj', { value, start: first, end: first + 1 }, null, message)]
}

function cnpjFacts(value: string): CnpjFacts {
  const root = partText(LAYOUT.at.root, value)
  const branch = partText(LAYOUT.at.branch, value)
  const check_digits = partText(LAYOUT.at.check, value)
  return {
    root,
    branch,
    is_head_office: branch === '0001',
    check_digits,
    alphanumeric: /[A-Z]/.test(value),
    print_form: `${root.slice(0, 2)}.${root.slice(2, 5)}.${root.slice(5)}/${branch}-${check_digits}`,
    parts: [...LAYOUT.parts],
  }
}
