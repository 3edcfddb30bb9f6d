import type { Check } from './verdict.ts'
import table from '../../../data/ifsc-banks.json' with { type: 'json' }
import { datesOf, isWords, referenceTable, rowOf } from '../datasets/table.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout, partFinding } from './identifier.ts'
import { labelInFront } from './normalize.ts'

interface IfscBank {
  code: string
  name: string
}

/** Names of banks by the first four characters. */
export const IFSC_BANKS = referenceTable(
  {
    id: 'ifsc_banks',
    source_urls: ['https://raw.githubusercontent.com/razorpay/ifsc/master/src/banknames.json'],
    licence: 'MIT (razorpay/ifsc)',
    rows_min: 1_200,
    rows_max: 3_000,
    removed_share_max: 0.05,
    undated: true,
    present: ['SBIN', 'HDFC', 'ICIC', 'UTIB', 'YESB', 'PUNB'],
    isRow: rowOf<IfscBank>({ code: /^[A-Z]{4}$/, name: isWords }),
    key: ({ code }) => code,
  },
  () => table,
  ({ rows }): ReadonlyMap<string, string> => new Map(rows.map(({ code, name }) => [code, name])),
)

/** Dates of the reference tables that an answer uses. */
export const IFSC_DATA_AS_OF = datesOf([IFSC_BANKS])

const LAYOUT = readLayout('ifsc', 'bank:4A zero:1Z branch:6X')
const ZERO_AT = LAYOUT.at.zero.start

const IFSC = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['IFSC:'],
  label: labelInFront(['IFSC?'], (value) => /^[A-Z]{4}[0-9A-Z]{7}$/.test(value)),
  success_reason: 'The structure is valid; there is no checksum, and branches were not looked up.',
  unverifiable: true,
  facts: ({ bank, branch }) => ({ bank_code: bank, bank_name: IFSC_BANKS.view.get(bank) ?? null, branch_code: branch }),
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
