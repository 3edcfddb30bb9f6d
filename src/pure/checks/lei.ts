import table from '../../../data/lou-prefixes.json' with { type: 'json' }
import { datesOf, isWords, referenceTable, rowOf } from '../datasets/table.ts'
import { checkDigits97, remainder97 } from './check-digits.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { labelInFront } from './normalize.ts'
import { type Check, finding } from './verdict.ts'

interface LouPrefix {
  prefix: string
  name: string
}

/** Names of issuers by the first four characters, public domain (CC0) at GLEIF, whose register of issuers states no prefixes. */
export const LOU_PREFIXES = referenceTable(
  {
    id: 'lou_prefixes',
    source_urls: [],
    licence: 'Facts; GLEIF publishes LEI data under CC0 1.0',
    rows_min: 6,
    rows_max: 120,
    present: ['2138', '5299', '9695'],
    isRow: rowOf<LouPrefix>({ prefix: /^[0-9A-Z]{4}$/, name: isWords }),
    key: ({ prefix }) => prefix,
  },
  () => table,
  ({ rows }): ReadonlyMap<string, string> => new Map(rows.map(({ prefix, name }) => [prefix, name])),
)

/** Dates of the reference tables that an answer uses. */
export const LEI_DATA_AS_OF = datesOf([LOU_PREFIXES])

const LAYOUT = readLayout('lei', 'lou:4X entity:14X check:2N')

/** Codes under the allocation scheme of 30 November 2012 have 00 in characters 5 and 6; older codes name no issuer. */
const isLegacy = (value: string) => value.slice(4, 6) !== '00'

const LEI = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['LEI:'],
  label: labelInFront(['LEI'], (value) => /^[0-9A-Z]{20}$/.test(value)),
  success_reason: 'Structure and check digits are valid; the register was not queried.',
  nonzero: ['lou', 'entity'],
  zeros_first: true,
  checksum: {
    expected: (values) => checkDigits97(remainder97(values, 0, LAYOUT.at.check.start)),
    modulus: 97,
    least: 2,
    most: 98,
  },
  facts: ({ lou, entity, check }, { value }) => ({
    /** First issuer of the code, if it is younger than the scheme; another issuer may manage it today. */
    lou_prefix: lou,
    lou_name: isLegacy(value) ? null : (LOU_PREFIXES.view.get(lou) ?? null),
    entity_part: entity,
    check_digits: check,
    legacy_prefix: isLegacy(value),
    print_form: value,
  }),
  warnings(value) {
    if (!isLegacy(value)) return []
    const message = 'Codes under the allocation scheme of 2012 have 00 here; codes issued before it do not.'
    return [finding('bad_component', 'entity', { value, start: 4, end: 6 }, '00', message)]
  },
})

export type LeiFacts = FactsOf<typeof LEI>

/**
 * Checks a Legal Entity Identifier (ISO 17442: 18 letters or digits and two check digits 02–98 by ISO 7064 MOD 97-10).
 * Errs towards valid: a code that was never issued passes when its check digits match.
 */
export function checkLei(text: string): Check<LeiFacts> {
  return checkIdentifier(text, LEI)
}

/** Returns the same answer as `checkLei(text).valid`. */
export function isLei(text: string): boolean {
  return isIdentifier(text, LEI)
}
