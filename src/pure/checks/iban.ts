import { characterFindings, NEEDS_NORMALIZING, readPlain } from './characters.ts'
import { finding, lengthFinding, type Judgement } from './check-result.ts'
import { checkText } from './check-text.ts'
import { ibanFacts, type IbanFacts } from './iban-facts.ts'
import { DIGIT, formatOf, hostOf, type IbanFormat, LETTER } from './iban-format.ts'
import { checkDigits97, inRange97, POWERS97, remainder97, twoDigits } from './mod97.ts'
import { nationalCheck, nationalHolds, type NationalCheck } from './national-check.ts'
import { inFront, MAX_CHARS, normalize, type NormalizeOptions } from './normalize.ts'
import type { Check, Finding } from './verdict.ts'

const OPTIONS: NormalizeOptions = {
  separators: ' -.',
  prefixes: ['IBAN'],
  label: inFront(['IBAN'], (value) => /^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$/.test(value)),
  field: 'iban',
}
const PRAISE = 'Country format and check digits hold; this proves no account.'
const SHORTEST = 15

/** Scratch of the synchronous checks below; longer than the longest IBAN behind the word IBAN. */
const values = new Uint8Array(40)

/**
 * Whether the text is an IBAN of the registry: country, length, kinds of characters, check digits 02–98 (ISO 13616, ISO 7064)
 * and, where one algorithm binds the whole country, national check digits. Always the same answer as `checkIban(text).valid`.
 */
export function isIban(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  const length = readPlain(text, values)
  if (length === NEEDS_NORMALIZING) return isIbanNormalized(text)
  const format = formatOf(values[0] ?? 0, values[1] ?? 0)
  if (format !== undefined) return holds(values, length, format)
  return length > SHORTEST && startsWithWord(values) && isIbanNormalized(text)
}

function isIbanNormalized(text: string): boolean {
  const { value, finding: unreadable } = normalize(text, OPTIONS)
  if (unreadable !== null) return false
  const length = readPlain(value, values)
  const format = formatOf(values[0] ?? 0, values[1] ?? 0)
  return format !== undefined && holds(values, length, format)
}

/** I, B, A, N. */
function startsWithWord(read: Uint8Array): boolean {
  return read[0] === 18 && read[1] === 11 && read[2] === 10 && read[3] === 23
}

/** Structure, checksum and binding national digits in one pass over the values. */
function holds(read: Uint8Array, length: number, format: IbanFormat): boolean {
  if (length !== format.length || !format.registry) return false
  const { kinds } = format
  const check = (read[2] ?? 0) * 10 + (read[3] ?? 0)
  if ((read[2] ?? 0) > 9 || (read[3] ?? 0) > 9 || !inRange97(check)) return false
  // Rotated, the country and the check digits are the last six decimal digits; the BBAN stands before them.
  let sum = check + (read[1] ?? 0) * 100 + (read[0] ?? 0) * 10_000
  let place = 6
  for (let index = length - 1; index > 3; index--) {
    const value = read[index] ?? 0
    // A digit is one decimal digit long and a letter two, as DIGIT and LETTER are.
    const kind = value < 10 ? DIGIT : LETTER
    if (((kinds[index] ?? 0) & kind) === 0) return false
    sum += value * (POWERS97[place] ?? 0)
    place += kind
  }
  if (sum % 97 !== 1) return false
  return format.national === null || !format.national.binding || nationalHolds(format.national, read)
}

/**
 * Decides whether text is an IBAN and says why not, with all that can be read off it. Formats: SWIFT IBAN registry (release in
 * the facts). Errs towards valid: bank codes are not looked up, and national check digits are fatal only where they bind every
 * account of a country. A digit typed as a letter, where both may stand, goes unnoticed once in 97 times.
 */
export function checkIban(text: string): Check<IbanFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isIban, judge })
}

function judge(value: string): Judgement<IbanFacts> {
  const shape = shapeOf(value)
  if (shape.format !== null) return judgeFormed(value, shape.format)
  const { findings } = shape
  return { findings, expected_check: findings.every(({ field }) => field === 'check') ? expectedCheck(value) : null }
}

type Shape = { format: IbanFormat } | { format: null; findings: Finding[] }

/** Characters, country, length and structure: the first stage that fails answers. */
function shapeOf(value: string): Shape {
  const foreign = characterFindings(value, 'iban')
  if (foreign.length > 0) return { format: null, findings: foreign }
  const country = { value, start: 0, end: 2 }
  if (value.length < 4)
    return { format: null, findings: [lengthFinding('iban', value, `at least ${SHORTEST} characters`, { code: 'too_short' })] }
  if (!/^[A-Z]{2}/.test(value)) return { format: null, findings: [finding('bad_structure', 'country', country, 'two letters')] }
  const format = formatOf(value.charCodeAt(0) - 55, value.charCodeAt(1) - 55)
  if (format === undefined) return { format: null, findings: [finding('bad_country', 'country', country, hostOf(value.slice(0, 2)))] }
  const findings = value.length === format.length ? structureFindings(value, format) : [wrongLength(value, format)]
  if (findings.length === 0) return { format }
  return { format: null, findings: format.registry ? findings : [unsupported(value)] }
}

function unsupported(value: string): Finding {
  return finding('unsupported_country', 'country', { value, start: 0, end: 2 }, null)
}

function wrongLength(value: string, { length }: IbanFormat): Finding {
  return lengthFinding('iban', value, `${length} characters`, { code: value.length < length ? 'too_short' : 'too_long' })
}

/** Runs of characters of the wrong kind, part by part. */
function structureFindings(value: string, { parts, kinds }: IbanFormat): Finding[] {
  const wrong: Finding[] = []
  for (const { label, start, end } of parts) {
    for (let from = start; from < end; from++) {
      const kind = kinds[from] ?? 0
      let to = from
      while (to < end && kinds[to] === kind && !fits(value, to, kind)) to++
      if (to === from) continue
      wrong.push(finding('bad_structure', label, { value, start: from, end: to }, kind === DIGIT ? 'digits' : 'letters'))
      from = to - 1
    }
  }
  return wrong
}

function fits(value: string, index: number, kind: number): boolean {
  return (kind & (value.charCodeAt(index) < 0x40 ? DIGIT : LETTER)) !== 0
}

/** The check digits for country and BBAN, whatever stands in their place. */
function expectedCheck(value: string): string {
  readPlain(value, values)
  return twoDigits(checkDigits97(remainder97(values, 0, 2, remainder97(values, 4, value.length))))
}

/** Check digits, registry membership and facts of a value whose structure holds. */
function judgeFormed(value: string, format: IbanFormat): Judgement<IbanFacts> {
  const expected_check = expectedCheck(value)
  const check = (values[2] ?? 0) * 10 + (values[3] ?? 0)
  const national = format.national === null ? null : nationalCheck(format.national, values)
  const place = { value, start: 2, end: 4 }
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const matches = Number.parseInt(expected_check, 10) % 97 === check % 97
  if (!format.registry) findings.push(unsupported(value))
  else {
    if (!matches) findings.push(finding('bad_checksum', 'check', place, expected_check))
    if (!inRange97(check)) findings.push(finding('checksum_out_of_range', 'check', place, expected_check))
  }
  if (national !== null && !national.valid && findings.length === 0) {
    const found = nationalFinding(value, format, national)
    if (format.national?.binding === true) findings.push(found)
    else warnings.push(found)
  }
  return { findings, warnings, expected_check, facts: ibanFacts(value, format, national, matches && inRange97(check)) }
}

function nationalFinding(value: string, { parts }: IbanFormat, { expected }: NationalCheck): Finding {
  const [part, another] = parts.filter(({ label }) => label === 'national_check')
  const place = part === undefined || another !== undefined ? null : { value, ...part }
  return finding('bad_national_checksum', 'national_check', place, expected)
}
