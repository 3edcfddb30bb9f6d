import table from '../../../data/ein-prefixes.json' with { type: 'json' }
import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { areDigits, withLeadingZero } from './fixed-digits.ts'
import { layout, layoutFindings, partFinding, partText } from './layout.ts'
import { inFront, normalize, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

export interface EinFacts {
  /** Digits 1 and 2. */
  prefix: string
  /** Who may assign numbers with this prefix; several campuses share some. Before 2001 it told where the business was. */
  campuses: string[]
  /** Date of the list of prefixes. */
  prefixes_as_of: string
  /** Digits 3–9. */
  serial: string
  /** NN-NNNNNNN. */
  print_form: string
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const EIN_DATA_AS_OF = { ein_prefixes: dataDate(table) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['FEIN', 'EIN'],
  label: inFront(['(?:FEDERAL |US )?(?:F?EIN|TAX ID|TIN)'], (value) => /^[0-9]{9}$/.test(value)),
  field: 'ein',
}
const PRAISE = 'Nine digits and an assigned prefix; an EIN has no check digit, so more cannot be told.'
const FORM = 'NN-NNNNNNN'
const LAYOUT = layout('ein', 'prefix:2N serial:7N')
const LENGTH = LAYOUT.length

const CAMPUSES: ReadonlyMap<string, readonly string[]> = new Map(table.rows.map(({ prefix, campuses }) => [prefix, campuses]))
/** 1 for each pair of first digits that is assigned. */
const IS_PREFIX = new Uint8Array(100)
for (const prefix of CAMPUSES.keys()) IS_PREFIX[Number.parseInt(prefix, 10)] = 1

const READING: Reading = { options: OPTIONS, values: new Uint8Array(LENGTH), first_below: 10, holds }

/** Whether the text is well formed as an EIN. Always the same answer as `checkEin(text).valid`. */
export function isEin(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  return areDigits(read, length, LENGTH) && IS_PREFIX[(read[0] ?? 0) * 10 + (read[1] ?? 0)] === 1
}

/**
 * Decides whether text is well formed as a US Employer Identification Number (26 CFR 301.6109-1: nine digits written NN-NNNNNNN; IRS,
 * "How EINs are assigned and valid EIN prefixes"). Dashes and spaces may stand anywhere; in an unusual place they are a warning, and a
 * grouping of 3-2-4 is named as that of a social security number. There is no check digit: the verdict is well_formed_unverifiable, and
 * most typing mistakes pass. Errs towards invalid only for a prefix newer than the list.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_prefix. Warning: bad_separator.
 */
export function checkEin(text: string): Check<EinFacts> {
  const check = withLeadingZero(checkText(text, { options: OPTIONS, praise: PRAISE, passes: isEin, judge }), isEin)
  return check.valid ? { ...check, warnings: groupingWarnings(text) } : check
}

function judge(value: string): Judgement<EinFacts> {
  const faults = layoutFindings(LAYOUT, value)
  if (faults.length > 0) return { findings: faults }
  const prefix = partText(LAYOUT.at.prefix, value)
  const serial = partText(LAYOUT.at.serial, value)
  const campuses = CAMPUSES.get(prefix)
  if (campuses === undefined) return { findings: [partFinding(LAYOUT, 'prefix', value, 'bad_prefix', null)] }
  const facts = { prefix, campuses: [...campuses], prefixes_as_of: dataDate(table), serial, print_form: `${prefix}-${serial}` }
  return { unverifiable: true, findings: [], facts: { ...facts, parts: [...LAYOUT.parts] } }
}

/** What the separators of a readable value say; looked up in the text, since the normalized value has none. */
function groupingWarnings(text: string): Finding[] {
  const written = normalize(text, { ...OPTIONS, separators: '' }).value
  const grouping = Array.from(written.matchAll(/[0-9]+/g), ([group]) => group.length).join('-')
  if (grouping === '9' || grouping === '2-7') return []
  const message =
    grouping === '3-2-4' ? 'The digits are grouped like those of a social security number.' : 'The digits are grouped unusually.'
  return [finding('bad_separator', 'ein', null, FORM, message)]
}
