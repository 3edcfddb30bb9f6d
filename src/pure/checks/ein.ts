import table from '../../../data/ein-prefixes.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { dataDate, datesOf } from '../datasets/table.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout, partFinding } from './identifier.ts'
import { labelInFront, normalize, type NormalizeOptions } from './normalize.ts'
import { type Check, finding, type Finding } from './verdict.ts'

export const EIN_PREFIXES = releaseTable('ein_prefixes', () => table)

/** Dates of the reference tables that an answer uses. */
export const EIN_DATA_AS_OF = datesOf([EIN_PREFIXES])

const LAYOUT = readLayout('ein', 'prefix:2N serial:7N')
const OPTIONS = {
  separators: ' -',
  prefixes: ['FEIN', 'EIN'],
  label: labelInFront(['(?:FEDERAL |US )?(?:F?EIN|TAX ID|TIN)'], (value) => /^[0-9]{9}$/.test(value)),
  field: 'ein',
} satisfies NormalizeOptions
/** Campuses that assign numbers of a prefix; several share some prefixes. Before 2001 a prefix showed the region of the business. */
const CAMPUSES: ReadonlyMap<string, readonly string[]> = new Map(table.rows.map(({ prefix, campuses }) => [prefix, campuses]))
/** 1 for each pair of first digits that is assigned. */
const IS_PREFIX = new Uint8Array(100)
for (const prefix of CAMPUSES.keys()) IS_PREFIX[Number.parseInt(prefix, 10)] = 1

const EIN = defineIdentifier({
  ...OPTIONS,
  layout: LAYOUT,
  success_reason: 'Nine digits and an assigned prefix; an EIN has no check digit, so nothing more can be verified.',
  unverifiable: true,
  first_below: 10,
  leading_zero: true,
  hasValidComponents: (values) => IS_PREFIX[(values[0] ?? 0) * 10 + (values[1] ?? 0)] === 1,
  componentFindings: (value) => (CAMPUSES.has(value.slice(0, 2)) ? [] : [partFinding(LAYOUT, 'prefix', value, 'bad_prefix', null)]),
  facts: ({ prefix, serial }) => ({
    prefix,
    campuses: [...(CAMPUSES.get(prefix) ?? [])],
    prefixes_as_of: dataDate(table),
    serial,
    print_form: `${prefix}-${serial}`,
  }),
})

/** Returns the same answer as `checkEin(text).valid`. */
export function isEin(text: string): boolean {
  return isIdentifier(text, EIN)
}

/**
 * Checks the form of a US Employer Identification Number (26 CFR 301.6109-1: nine digits written NN-NNNNNNN; IRS, "How EINs are assigned and
 * valid EIN prefixes"). Dashes and spaces are allowed anywhere; in an unusual position they are a warning, and a grouping of 3-2-4 is
 * reported as that of a social security number. There is no check digit: the verdict is well_formed_unverifiable, and most typing mistakes
 * pass. Errs towards invalid only for a prefix newer than the list.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_prefix. Warning: bad_separator.
 */
export function checkEin(text: string): Check<FactsOf<typeof EIN>> {
  const check = checkIdentifier(text, EIN)
  return check.valid ? { ...check, warnings: groupingWarnings(text) } : check
}

/** Reads the separators from the text, since the normalized value has none. */
function groupingWarnings(text: string): Finding[] {
  const grouped = normalize(text, { ...OPTIONS, separators: '' }).value
  const grouping = Array.from(grouped.matchAll(/[0-9]+/g), ([group]) => group.length).join('-')
  if (grouping === '9' || grouping === '2-7') return []
  const message =
    grouping === '3-2-4' ? 'The digits are grouped like those of a social security number.' : 'The digits are grouped unusually.'
  return [finding('bad_separator', 'ein', null, 'NN-NNNNNNN', message)]
}
