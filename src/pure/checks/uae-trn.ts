import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, isZero, readLayout } from './identifier.ts'
import { labelInFront } from './normalize.ts'
import { type Check, finding } from './verdict.ts'

const LAYOUT = readLayout('trn', 'tin:10N suffix:5N')
/** Series of the numbers that the Federal Tax Authority documents. */
const SERIES = '100'

const UAE_TRN = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['TRN'],
  label: labelInFront(['TRN'], (value) => /^[0-9]{15}$/.test(value)),
  success_reason: 'The form is valid; no check digit is published for this number.',
  first_below: 10,
  componentFindings(value) {
    if (!/^10[0-9]/.test(value)) return [finding('bad_prefix', 'tin', { value, start: 0, end: 3 }, SERIES)]
    return /^...0*$/.test(value) ? [finding('all_zero', 'trn', { value, start: 3, end: LAYOUT.length }, null)] : []
  },
  hasValidComponents: (values) => values[0] === 1 && values[1] === 0 && values[2] === 0 && !isZero(values, 3, LAYOUT.length),
  facts: ({ tin, suffix }) => ({
    tin,
    suffix,
    /** The TIN as a Peppol participant, scheme 0235. */
    peppol_participant_id: `0235:${tin}`,
  }),
  unconfirmed(value) {
    if (value.startsWith(SERIES)) return null
    const message =
      `The number begins with ${value.slice(0, 3)}; the documented series is ${SERIES}. Series 104 and 105 are in use, ` +
      'but no published list confirms the newer series.'
    return finding('series_newer', 'tin', { value, start: 0, end: 3 }, SERIES, message)
  },
})

export type UaeTrnFacts = FactsOf<typeof UAE_TRN>

/**
 * Checks the form of a tax registration number of the United Arab Emirates (Federal Tax Authority): fifteen digits that begin with 100, with
 * not only zeros behind it. A number of series 101 to 109 is `well_formed_unverifiable` with the finding `series_newer`, because numbers of
 * series 104 and 105 are on invoices of registered businesses and no published list names the newer series. No check digit has been
 * published, so a mistyped digit goes unnoticed. Spaces, hyphens and the word TRN in front are allowed.
 */
export function checkUaeTrn(text: string): Check<UaeTrnFacts> {
  return checkIdentifier(text, UAE_TRN)
}

/** Returns the same answer as `checkUaeTrn(text).valid`. */
export function isUaeTrn(text: string): boolean {
  return isIdentifier(text, UAE_TRN)
}
