import table from '../../../data/gst-states.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { datesOf } from '../datasets/table.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { labelInFront, readPlain } from './normalize.ts'
import { isPanAt, PAN_HOLDERS, panComponentFindings, panWarnings } from './pan.ts'
import { type Check, finding, type Finding } from './verdict.ts'

/**
 * Kinds of registration by shape, as in the patterns that GSTN publishes for its returns interface. `regular` includes normal, composite and
 * casual taxpayers.
 */
type GstinKind = 'regular' | 'tcs_collector' | 'tds_deductor' | 'government' | 'uin' | 'non_resident' | 'oidar'

const [C, D, J, N, O, R, S, U, Z] = [12, 13, 19, 23, 24, 27, 28, 30, 35]

export const GST_STATES = releaseTable('gst_states', () => table)

/** Dates of the reference tables that an answer uses. */
export const GSTIN_DATA_AS_OF = datesOf([GST_STATES])

const LAYOUT = readLayout('gstin', 'state:2X pan:10X entity:1X kind:1X check:1X')
/** Layout of registrations with neither a PAN nor a TAN. */
const WITHOUT_PAN = readLayout('gstin', 'state:2N year:2N country:3A number:5N kind:2A check:1X')
const STATES = new Map(table.rows.map((row) => [row.code, row]))
const NO_REGISTRATION = 'place_of_supply'

/** 1 for each state number that registrations have. */
const IS_STATE = new Uint8Array(100)
for (const { code, status } of table.rows) if (status !== NO_REGISTRATION) IS_STATE[Number.parseInt(code, 10)] = 1

const GSTIN = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['GSTIN:'],
  label: labelInFront(['GSTIN/UIN', 'GSTIN', 'GST'], (value) => /^[0-9A-Z]{15}$/.test(value)),
  success_reason: 'State, PAN and check character are valid; the registration was not looked up.',
  checksum: { expected: luhn36 },
  earlyFindings: (value) => (gstinKind(valuesOf(value)) === null ? kindFindings(value) : []),
  componentFindings(value) {
    const values = valuesOf(value)
    const kind = gstinKind(values)
    return [...stateFindings(value), ...(kind !== null && hasPan(kind, values) ? panComponentFindings(value, 2) : [])]
  },
  hasValidComponents(values) {
    const kind = gstinKind(values)
    if (kind === null || IS_STATE[(values[0] ?? 0) * 10 + (values[1] ?? 0)] !== 1) return false
    return !hasPan(kind, values) || isPanAt(values, 2)
  },
  facts(text, { value, values }) {
    const [kind, state] = [gstinKind(values), STATES.get(text.state)]
    if (kind === null || state === undefined) return null
    const with_pan = hasPan(kind, values)
    const with_tan = kind === 'government' || (kind === 'tds_deductor' && !with_pan)
    return {
      kind,
      state_code: state.code,
      state_name: state.name,
      /** `legacy`: existing numbers stay valid, new ones are not issued. */
      state_status: state.status,
      pan: with_pan ? text.pan : null,
      pan_holder_type: with_pan ? (PAN_HOLDERS[value.charAt(5)] ?? null) : null,
      /** Tax deduction account number in the place of the PAN. */
      tan: with_tan ? text.pan : null,
      /** Number of the registration among those of this PAN in this state. */
      entity_number: with_pan || with_tan ? text.entity : null,
    }
  },
  parts: ({ pan, tan }) => (pan === null && tan === null ? WITHOUT_PAN : LAYOUT).parts,
  warnings: (value, { kind, state_status, pan }) => [
    ...stateWarnings(value, state_status),
    ...(pan === null ? [] : panWarnings(value, 2)),
    ...kindWarnings(value, kind),
  ],
})

export type GstinFacts = FactsOf<typeof GSTIN>

/**
 * Checks an Indian Goods and Services Tax Identification Number (CGST Rules 2017, rule 10): state code, PAN, number of the registration, a
 * letter for the kind, and a check character (Luhn's method in base 36, which finds every single wrong character). Kinds without PAN are
 * read too: UIN of embassies and UN bodies, non-residents, online services from abroad (OIDAR), deductors with a TAN. Their check character
 * follows the same rule (compared with a dozen published numbers). Errs towards valid: the legacy states 25 and 28 and the unusual letters
 * that GSTN's own pattern reserves are warnings.
 */
export function checkGstin(text: string): Check<GstinFacts> {
  return checkIdentifier(text, GSTIN)
}

/** Returns the same answer as `checkGstin(text).valid`. */
export function isGstin(text: string): boolean {
  return isIdentifier(text, GSTIN)
}

function valuesOf(value: string): Uint8Array {
  const values = new Uint8Array(LAYOUT.length)
  readPlain(value, values)
  return values
}

/** Luhn's method in base 36: every second value from the left is doubled and its two base-36 digits are added up. */
function luhn36(values: Uint8Array): number {
  let sum = 0
  for (let index = 0; index < LAYOUT.length - 1; index++) {
    const product = (values[index] ?? 0) * (1 + (index % 2))
    sum += product < 36 ? product : product - 35
  }
  return (36 - (sum % 36)) % 36
}

/** Compares with the regular kind, since nine of ten mistyped numbers are of that kind. */
function kindFindings(value: string): Finding[] {
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
  return [finding('withdrawn', 'state', { value, start: 0, end: 2 }, null, 'New registrations no longer get this state code.')]
}

function kindWarnings(value: string, kind: GstinKind): Finding[] {
  if (kind !== 'regular' || value.charAt(13) === 'Z') return []
  return [finding('reserved_range', 'kind', { value, start: 13, end: 14 }, 'Z', 'This character is reserved; numbers in use have Z.')]
}

/** Returns the kind of 15 values by their shape, or null. A PAN or TAN inside is not validated further. */
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

/** Tests for a PAN in characters 3–12: all kinds have one but those without, and those with a TAN instead. */
function hasPan(kind: GstinKind, read: Uint8Array): boolean {
  return kind === 'regular' || kind === 'tcs_collector' || (kind === 'tds_deductor' && (read[6] ?? 0) >= 10)
}

function allDigits(read: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if ((read[index] ?? 0) > 9) return false
  return true
}

function allLetters(read: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if ((read[index] ?? 0) < 10) return false
  return true
}
