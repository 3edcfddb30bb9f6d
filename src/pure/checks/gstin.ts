import table from '../../../data/gst-states.json' with { type: 'json' }
import { readPlain } from './characters.ts'
import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { checkDigitFindings, layout, layoutFindings } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import { holdsPan, PAN_HOLDERS, panComponentFindings, panWarnings } from './pan.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

/**
 * Kinds of registration by shape, as in the patterns that GSTN publishes for its returns interface. `regular` stands for normal,
 * composite and casual taxpayers.
 */
type GstinKind = 'regular' | 'tcs_collector' | 'tds_deductor' | 'government' | 'uin' | 'non_resident' | 'oidar'

const [C, D, J, N, O, R, S, U, Z] = [12, 13, 19, 23, 24, 27, 28, 30, 35]

export interface GstinFacts {
  kind: GstinKind
  state_code: string
  state_name: string
  /** `legacy`: the number may stand, new ones are not given. */
  state_status: string
  /** Characters 3–12; null for kinds that carry none. */
  pan: string | null
  /** What the fourth letter of the PAN stands for. */
  pan_holder_type: string | null
  /** The tax deduction account number in the place of the PAN. */
  tan: string | null
  /** Which registration of this PAN in this state; null for kinds without PAN. */
  entity_number: string | null
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const GSTIN_DATA_AS_OF = { gst_states: dataDate(table) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['GSTIN:'],
  label: inFront(['GSTIN/UIN', 'GSTIN', 'GST'], (value) => /^[0-9A-Z]{15}$/.test(value)),
  field: 'gstin',
}
const PRAISE = 'State, PAN and check character hold; the registration was not looked up.'
const WITH_PAN = layout('gstin', 'state:2N pan:10X entity:1X kind:1X check:1X')
/** Kinds of registration that carry neither a PAN nor a TAN. */
const WITHOUT_PAN = layout('gstin', 'state:2N year:2N country:3A number:5N kind:2A check:1X')
const LENGTH = WITH_PAN.length
const CHECK_AT = WITH_PAN.at.check.start
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const STATES = new Map(table.rows.map((row) => [row.code, row]))
const NO_REGISTRATION = 'place_of_supply'

/** 1 for each state number under which registrations exist. */
const IS_STATE = new Uint8Array(100)
for (const { code, status } of table.rows) if (status !== NO_REGISTRATION) IS_STATE[Number.parseInt(code, 10)] = 1

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)
const READING: Reading = { options: OPTIONS, values, first_below: 36, holds }

/** Whether the text is a GSTIN by state, shape and check character. Always the same answer as `checkGstin(text).valid`. */
export function isGstin(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== LENGTH) return false
  const kind = gstinKind(read)
  return kind !== null && IS_STATE[stateOf(read)] === 1 && panFits(kind, read) && read[CHECK_AT] === checkValue(read)
}

function stateOf(read: Uint8Array): number {
  return (read[0] ?? 0) * 10 + (read[1] ?? 0)
}

/** Luhn's method in base 36: every second value from the left is doubled and its two base-36 digits are added up. */
function checkValue(read: Uint8Array): number {
  let sum = 0
  for (let index = 0; index < CHECK_AT; index++) {
    const product = (read[index] ?? 0) * (1 + (index % 2))
    sum += product < 36 ? product : product - 35
  }
  return (36 - (sum % 36)) % 36
}

/**
 * Decides whether text is an Indian Goods and Services Tax Identification Number (CGST Rules 2017, rule 10): state code, PAN, number
 * of the registration, a letter for the kind, and a check character (Luhn's method in base 36, which finds every single wrong
 * character). Kinds without PAN are read too: UIN of embassies and UN bodies, non-residents, online services from abroad (OIDAR),
 * deductors with a TAN. Their check character follows the same rule (held against a dozen published numbers).
 * Errs towards valid: the legacy states 25 and 28 and the unusual letters that GSTN's own pattern reserves are warnings.
 */
export function checkGstin(text: string): Check<GstinFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isGstin, judge })
}

function judge(value: string): Judgement<GstinFacts> {
  const unreadable = layoutFindings(WITH_PAN, value)
  if (unreadable.length > 0) return { findings: unreadable }
  readPlain(value, values)
  const kind = gstinKind(values)
  if (kind === null) return { findings: structureFindings(value) }
  const withPan = carriesPan(kind, values)
  const state = STATES.get(value.slice(0, 2))
  const faults = [...stateFindings(value), ...(withPan ? panComponentFindings(value, 2) : [])]
  if (state === undefined || faults.length > 0) return { findings: faults }
  const expected_check = ALPHABET.charAt(checkValue(values))
  const findings = checkDigitFindings(WITH_PAN, value, expected_check)
  const warnings = [...stateWarnings(value, state.status), ...(withPan ? panWarnings(value, 2) : []), ...kindWarnings(value, kind)]
  return { findings, warnings, expected_check, facts: factsOf(value, kind, withPan, state) }
}

/** Against the shape of the regular kind: nine of ten mistyped numbers are that. */
function structureFindings(value: string): Finding[] {
  const rules: [label: string, start: number, end: number, pattern: RegExp, expected: string][] = [
    ['state', 0, 2, /^[0-9]{2}$/, 'two digits'],
    ['pan', 2, 12, /^[A-Z]{5}[0-9]{4}[A-Z]$/, 'a PAN: five letters, four digits, a letter'],
    ['entity', 12, 13, /^[1-9A-Z]$/, '1-9 or a letter'],
    ['kind', 13, 14, /^[Z1-9A-J]$/, 'Z; C for collectors, D for deductors'],
  ]
  return rules
    .filter(([, start, end, pattern]) => !pattern.test(value.slice(start, end)))
    .map(([label, start, end, , expected]) => finding('bad_structure', label, { value, start, end }, expected))
}

function stateFindings(value: string): Finding[] {
  const status = STATES.get(value.slice(0, 2))?.status
  if (status !== undefined && status !== NO_REGISTRATION) return []
  const expected = status === undefined ? '01-38, 97 or 99' : '01-38, 97 or 99; 96 only marks a place of supply abroad'
  return [finding('bad_component', 'state', { value, start: 0, end: 2 }, expected)]
}

function stateWarnings(value: string, status: string): Finding[] {
  if (status !== 'legacy') return []
  return [finding('withdrawn', 'state', { value, start: 0, end: 2 }, null, 'New registrations no longer carry this state code.')]
}

function kindWarnings(value: string, kind: GstinKind): Finding[] {
  if (kind !== 'regular' || value.charAt(13) === 'Z') return []
  return [
    finding('reserved_range', 'kind', { value, start: 13, end: 14 }, 'Z', 'The pattern reserves this character; numbers in use have Z.'),
  ]
}

function factsOf(value: string, kind: GstinKind, withPan: boolean, state: { code: string; name: string; status: string }): GstinFacts {
  const withTan = kind === 'government' || (kind === 'tds_deductor' && !withPan)
  return {
    kind,
    state_code: state.code,
    state_name: state.name,
    state_status: state.status,
    pan: withPan ? value.slice(2, 12) : null,
    pan_holder_type: withPan ? (PAN_HOLDERS[value.charAt(5)] ?? null) : null,
    tan: withTan ? value.slice(2, 12) : null,
    entity_number: withPan || withTan ? value.charAt(12) : null,
    parts: [...(withPan || withTan ? WITH_PAN : WITHOUT_PAN).parts],
  }
}

/** The kind whose shape the 15 values have, or null. A PAN or TAN inside is not judged any further. */
function gstinKind(read: Uint8Array): GstinKind | null {
  if (!allDigits(read, 0, 2)) return null
  return (read[2] ?? 0) < 10 ? kindWithoutPan(read) : kindWithPan(read)
}

/** Two digits for the year, three letters, five digits, and two letters that name the kind. */
function kindWithoutPan(read: Uint8Array): GstinKind | null {
  if (!allDigits(read, 2, 4) || !allLetters(read, 4, 7) || !allDigits(read, 7, 12)) return null
  const [first, second] = [read[12], read[13]]
  if ((first === U || first === O) && second === N) return 'uin'
  if (first === N && second === R) return 'non_resident'
  return first === O && second === S && read[0] === 9 && read[1] === 9 ? 'oidar' : null
}

/** PAN (or, for deductors and departments, TAN), number of the registration, and a letter that names the kind. */
function kindWithPan(read: Uint8Array): GstinKind | null {
  if (!allLetters(read, 2, 6) || !allDigits(read, 7, 11) || !allLetters(read, 11, 12)) return null
  const entity = read[12] ?? 0
  const marker = read[13] ?? 0
  if (marker === D) return entity > 0 ? 'tds_deductor' : null
  if ((read[6] ?? 0) < 10) return marker === Z && entity < 10 ? 'government' : null
  if (entity === 0) return null
  if (marker === C) return 'tcs_collector'
  return marker === Z || (marker >= 1 && marker <= J) ? 'regular' : null
}

/** Whether a PAN stands in characters 3–12: everywhere but in kinds without one, and in those that hold a TAN instead. */
function carriesPan(kind: GstinKind, read: Uint8Array): boolean {
  return kind === 'regular' || kind === 'tcs_collector' || (kind === 'tds_deductor' && (read[6] ?? 0) >= 10)
}

function panFits(kind: GstinKind, read: Uint8Array): boolean {
  return !carriesPan(kind, read) || holdsPan(read, 2)
}

function allDigits(read: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if ((read[index] ?? 0) > 9) return false
  return true
}

function allLetters(read: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if ((read[index] ?? 0) < 10) return false
  return true
}
