import type { Check } from './verdict.ts'
import table from '../../../data/ifsc-banks.json' with { type: 'json' }
import { dataDate } from '../data-date.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout, partFinding } from './identifier.ts'
import { labelInFront } from './normalize.ts'

/** Dates of the reference tables that an answer uses. */
export const IFSC_DATA_AS_OF = { ifsc_banks: dataDate(table) } as const

const LAYOUT = readLayout('ifsc', 'bank:4A zero:1Z branch:6X')
const ZERO_AT = LAYOUT.at.zero.start
const BANKS: ReadonlyMap<string, string> = new Map(table.rows.map(({ code, name }) => [code, name]))

const IFSC = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['IFSC:'],
  label: labelInFront(['IFSC?'], (value) => /^[A-Z]{4}[0-9A-Z]{7}$/.test(value)),
  success_reason: 'The structure is valid; there is no checksum, and branches were not looked up.',
  unverifiable: true,
  facts: ({ bank, branch }) => ({ bank_code: bank, bank_name: BANKS.get(bank) ?? null, branch_code: branch }),
  warnings(value, { bank_name }) {
    const message = 'The bank code is not in the dated list; it may be newer, or mistyped.'
    return bank_name === null ? [partFinding(LAYOUT, 'bank', value, 'not_listed', null, message)] : []
  },
})

/** Returns the same answer as `checkIfsc(text).valid`. */
export function isIfsc(text: string): boolean {
  return isIdentifier(text, IFSC)
}

/**
 * Checks the structure of an Indian Financial System Code (Reserve Bank of India): four letters for the bank, a zero, six letters or digits
 * for the branch. Spaces and hyphens are allowed. There is no checksum, so most typing mistakes pass; a bank code that the list lacks is the
 * warning `not_listed`, because banks are added. The letter O instead of the zero is the most frequent mistake: it is invalid, and the
 * suggestion corrects it.
 */
export function checkIfsc(text: string): Check<FactsOf<typeof IFSC>> {
  const check = checkIdentifier(text, IFSC)
  const { normalized, valid, suggestion } = check
  if (valid || normalized[ZERO_AT] !== 'O') return check
  // Swapping the letter with a zero behind it would be valid too, which hides the more likely repair.
  const repaired = `${normalized.slice(0, ZERO_AT)}0${normalized.slice(ZERO_AT + 1)}`
  return { ...check, suggestion: isIfsc(repaired) ? repaired : suggestion }
}
