import table from '../../../data/lou-prefixes.json' with { type: 'json' }
import { readPlain } from './characters.ts'
import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { isZero } from './fixed-digits.ts'
import { checkDigits97, inRange97, remainder97, twoDigits } from './mod97.ts'
import { layout, layoutFindings, partFinding, partText, structureFindings } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

export interface LeiFacts {
  /** Characters 1–4: who first issued the code, for codes since 30 November 2012; another issuer may manage it today. */
  lou_prefix: string
  /** Null when the prefix is not in our partial table, or names no issuer since the code is older than the scheme. */
  lou_name: string | null
  /** Characters 5–18. */
  entity_part: string
  check_digits: string
  /** Characters 5 and 6 are not 00, as they are in codes that follow the allocation scheme of 2012. */
  legacy_prefix: boolean
  /** An LEI is written without spaces. */
  print_form: string
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const LEI_DATA_AS_OF = { lou_prefixes: dataDate(table) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['LEI:'],
  label: inFront(['LEI'], (value) => /^[0-9A-Z]{20}$/.test(value)),
  field: 'lei',
}
const PRAISE = 'Structure and check digits hold; the register was not asked.'
const LAYOUT = layout('lei', 'lou:4X entity:14X check:2N')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start
const ZEROS = /^0{18}/
const LOU_NAMES: ReadonlyMap<string, string> = new Map(table.rows.map(({ prefix, name }) => [prefix, name]))

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)
const READING: Reading = { options: OPTIONS, values, first_below: 36, holds }

/** Whether the text is an LEI by structure and check digits 02–98. Always the same answer as `checkLei(text).valid`. */
export function isLei(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  const tens = read[CHECK_AT] ?? 0
  const ones = read[CHECK_AT + 1] ?? 0
  return (
    length === LENGTH &&
    !isZero(read, CHECK_AT) &&
    tens < 10 &&
    ones < 10 &&
    inRange97(tens * 10 + ones) &&
    remainder97(read, 0, LENGTH) === 1
  )
}

/**
 * Decides whether text is a Legal Entity Identifier (ISO 17442: 18 letters or digits and two check digits by ISO 7064 MOD 97-10)
 * and reads its parts. Errs towards valid: a code that was never issued passes when its digits agree.
 */
export function checkLei(text: string): Check<LeiFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isLei, judge })
}

function judge(value: string): Judgement<LeiFacts> {
  const faults = shapeFindings(value)
  if (faults.some(({ field }) => field !== 'check')) return { findings: faults }
  readPlain(value, values)
  const expected_check = twoDigits(checkDigits97(remainder97(values, 0, CHECK_AT)))
  if (faults.length > 0) return { findings: faults, expected_check }
  const findings = checksumFindings(value, expected_check)
  return { findings, warnings: legacyWarnings(value), expected_check, facts: leiFacts(value) }
}

function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value)
  if (faults.length > 0) return faults
  return ZEROS.test(value) ? [finding('all_zero', 'lei', null, null)] : structureFindings(LAYOUT, value)
}

function checksumFindings(value: string, expected_check: string): Finding[] {
  const check = Number.parseInt(value.slice(CHECK_AT), 10)
  const findings: Finding[] = []
  if (check % 97 !== Number.parseInt(expected_check, 10) % 97)
    findings.push(partFinding(LAYOUT, 'check', value, 'bad_checksum', expected_check))
  if (!inRange97(check)) findings.push(partFinding(LAYOUT, 'check', value, 'checksum_out_of_range', expected_check))
  return findings
}

function isLegacy(value: string): boolean {
  return value.slice(4, 6) !== '00'
}

function legacyWarnings(value: string): Finding[] {
  if (!isLegacy(value)) return []
  const message = 'Codes under the allocation scheme of 2012 have 00 here; codes issued before it do not.'
  return [finding('bad_component', 'entity', { value, start: 4, end: 6 }, '00', message)]
}

function leiFacts(value: string): LeiFacts {
  const lou_prefix = partText(LAYOUT.at.lou, value)
  const entity_part = partText(LAYOUT.at.entity, value)
  const check_digits = partText(LAYOUT.at.check, value)
  return {
    lou_prefix,
    lou_name: isLegacy(value) ? null : (LOU_NAMES.get(lou_prefix) ?? null),
    entity_part,
    check_digits,
    legacy_prefix: isLegacy(value),
    print_form: value,
    parts: [...LAYOUT.parts],
  }
}
