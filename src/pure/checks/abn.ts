import { readPlain } from './characters.ts'
import { finding, lengthFinding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { digitAt } from './digits.ts'
import { areDigits } from './fixed-digits.ts'
import { twoDigits } from './mod97.ts'
import { layout, layoutFindings, partFinding, partText } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'

export interface AbnFacts {
  /** Digits 1 and 2. */
  check_digits: string
  /** Digits 3–11. */
  identifier: string
  /** The identifier also passes as an Australian Company Number; one in ten does so by chance. */
  acn_embedded: boolean
  /** In groups of three, or null when it does not pass. */
  acn: string | null
  /** 2-3-3-3. */
  print_form: string
  parts: Part[]
}

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['ABN'],
  label: inFront(['ABN', 'A\\.B\\.N'], (value) => /^[0-9]{11}$/.test(value)),
  field: 'abn',
}
const PRAISE = 'The check digits hold; the Australian Business Register was not asked.'
const LAYOUT = layout('abn', 'check:2N identifier:9N')
const LENGTH = LAYOUT.length
const MODULUS = 89
const WEIGHTS = Uint8Array.of(10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)
/** The calculation never gives check digits below this; each pair below has the same remainder as one 89 higher. */
const LEAST_CHECK = 11

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)
const READING: Reading = { options: OPTIONS, values, first_below: 10, holds }

/** Whether the text is an ABN by its check digits 11–99. Always the same answer as `checkAbn(text).valid`. */
export function isAbn(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (!areDigits(read, length, LENGTH) || (read[0] ?? 0) * 10 + (read[1] ?? 0) < LEAST_CHECK) return false
  // The weight 10 of the digit from which 1 is taken.
  return (weightedSum(read, 0) - 10) % MODULUS === 0
}

function weightedSum(read: Uint8Array, start: number): number {
  let sum = 0
  for (let index = start; index < LENGTH; index++) sum += (read[index] ?? 0) * (WEIGHTS[index] ?? 0)
  return sum
}

/**
 * Decides whether text is an Australian Business Number (Australian Business Register, "Format of the ABN"): eleven digits; with 1 taken
 * from the first, the sum with the weights 10, 1, 3, 5 … 19 is a multiple of 89. The two check digits in front come out as 11–99, so a
 * number that begins with 00–10 is refused even where the sum fits. Spaces and hyphens are allowed. The nine digits of a company number
 * (ACN) are told as such, with the ABN that a company of this number has.
 *
 * Every single wrong digit and every swap of neighbours is found. Errs towards valid: a number that was never issued, or was cancelled,
 * passes. Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, all_zero, bad_checksum,
 * checksum_out_of_range.
 */
export function checkAbn(text: string): Check<AbnFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isAbn, judge })
}

function judge(value: string): Judgement<AbnFacts> {
  const faults = layoutFindings(LAYOUT, value)
  if (/^(?!0+$)[0-9]{9}$/.test(value) && isAcn(value)) return { findings: [companyFinding(value)] }
  if (faults.length > 0) return { findings: faults }
  if (!/[^0]/.test(value)) return { findings: [finding('all_zero', 'abn', null, null)] }
  readPlain(value, values)
  const expected_check = expectedCheck()
  return { findings: checksumFindings(value, Number.parseInt(expected_check, 10)), expected_check, facts: abnFacts(value) }
}

function companyFinding(acn: string): Finding {
  readPlain(`00${acn}`, values)
  const message = `Nine digits that hold as an Australian Company Number (ACN); the ABN of such a company is usually ${expectedCheck()}${acn}.`
  return lengthFinding('abn', acn, `${LENGTH} digits`, { hint: message })
}

/** The pair adds itself less 10 to the rest, and all together 89 must divide. */
function expectedCheck(): string {
  const least = (10 * MODULUS + 10 - weightedSum(values, 2)) % MODULUS
  return twoDigits(least < LEAST_CHECK ? least + MODULUS : least)
}

function checksumFindings(value: string, expected: number): Finding[] {
  const check = Number.parseInt(value.slice(0, 2), 10)
  const findings: Finding[] = []
  if ((check - expected) % MODULUS !== 0) findings.push(partFinding(LAYOUT, 'check', value, 'bad_checksum', twoDigits(expected)))
  if (check < LEAST_CHECK) findings.push(partFinding(LAYOUT, 'check', value, 'checksum_out_of_range', twoDigits(expected)))
  return findings
}

function abnFacts(value: string): AbnFacts {
  const check_digits = partText(LAYOUT.at.check, value)
  const identifier = partText(LAYOUT.at.identifier, value)
  const groups = [identifier.slice(0, 3), identifier.slice(3, 6), identifier.slice(6)].join(' ')
  const acn_embedded = isAcn(identifier)
  return {
    check_digits,
    identifier,
    acn_embedded,
    acn: acn_embedded ? groups : null,
    print_form: `${check_digits} ${groups}`,
    parts: [...LAYOUT.parts],
  }
}

/** Weights 8 down to 1 and modulus 10 (Corporations Regulations 2001, schedule 1A). */
function isAcn(identifier: string): boolean {
  let sum = 0
  for (let index = 0; index < 8; index++) sum += digitAt(identifier, index) * (8 - index)
  return (10 - (sum % 10)) % 10 === digitAt(identifier, 8)
}
