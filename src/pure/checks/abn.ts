import type { Check } from './verdict.ts'
import { checkCharacters, weightedSum } from './check-digits.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { digitAt, labelInFront, readPlain } from './normalize.ts'

const LAYOUT = readLayout('abn', 'check:2N identifier:9N')
const MODULUS = 89
/** Weights of the nine digits behind the check digits. */
const WEIGHTS = [3, 5, 7, 9, 11, 13, 15, 17, 19]
/** Lowest pair of check digits that the calculation gives; each pair below it has the same remainder as one 89 higher. */
const LEAST_CHECK = 11

const ABN = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['ABN'],
  label: labelInFront(['ABN', 'A\\.B\\.N'], (value) => /^[0-9]{11}$/.test(value)),
  success_reason: 'The check digits are valid; the Australian Business Register was not queried.',
  nonzero: ['check', 'identifier'],
  first_below: 10,
  checksum: { expected: expectedCheck, modulus: MODULUS, least: LEAST_CHECK, most: 99 },
  lengthHint(value) {
    if (!/^(?!0+$)[0-9]{9}$/.test(value) || !isAcn(value)) return null
    const values = new Uint8Array(LAYOUT.length)
    readPlain(`00${value}`, values)
    const abn = checkCharacters(expectedCheck(values), 2) + value
    return `Nine digits that are valid as an Australian Company Number (ACN); the ABN of such a company is usually ${abn}.`
  },
  facts({ check, identifier }) {
    const groups = [identifier.slice(0, 3), identifier.slice(3, 6), identifier.slice(6)].join(' ')
    const acn_embedded = isAcn(identifier)
    return { check_digits: check, identifier, acn_embedded, acn: acn_embedded ? groups : null, print_form: `${check} ${groups}` }
  },
})

type AbnFacts = FactsOf<typeof ABN>

/**
 * Checks an Australian Business Number (Australian Business Register, "Format of the ABN"): eleven digits; with 1 subtracted from the first,
 * the sum with the weights 10, 1, 3, 5 … 19 is a multiple of 89. The two check digits in front are 11–99, so a number that begins with
 * 00–10 is invalid even where the sum fits. Spaces and hyphens are allowed. Nine digits that are a company number (ACN) are reported as
 * such, with the ABN of a company of this number.
 *
 * Finds every single wrong digit and every swap of neighbours. Errs towards valid: a number that was never issued, or was cancelled,
 * passes. Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, all_zero, bad_checksum,
 * checksum_out_of_range.
 */
export function checkAbn(text: string): Check<AbnFacts> {
  return checkIdentifier(text, ABN)
}

/** Returns the same answer as `checkAbn(text).valid`. */
export function isAbn(text: string): boolean {
  return isIdentifier(text, ABN)
}

/** `checkPair - 10 + weightedSum(rest)` must be divisible by 89. */
function expectedCheck(values: Uint8Array): number {
  const least = (10 * MODULUS + 10 - weightedSum(values, WEIGHTS, 2)) % MODULUS
  return least < LEAST_CHECK ? least + MODULUS : least
}

/** Check digit of a company number: weights 8 down to 1, modulus 10 (Corporations Regulations 2001, schedule 1A). */
function isAcn(identifier: string): boolean {
  let sum = 0
  for (let index = 0; index < 8; index++) sum += digitAt(identifier, index) * (8 - index)
  return (10 - (sum % 10)) % 10 === digitAt(identifier, 8)
}
