import type { Check } from './verdict.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { labelInFront, readPlain } from './normalize.ts'

const LAYOUT = readLayout('number', 'check:1N base:12N')
const BASE_DIGITS = LAYOUT.length - 1

/** Kinds by range of the base: public bodies, bodies without registration, companies of the commercial register. */
type CorporationKind = 'public_body' | 'unregistered_body' | 'registered'

const JAPAN_CORP = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['T'],
  label: labelInFront(['CORPORATE', '法人番号', '登録番号'], (value) => /^T?[0-9]{13}$/.test(value)),
  success_reason: 'The check digit is valid; the register was not queried.',
  nonzero: ['base'],
  first_below: 10,
  checksum: { expected: (values) => expectedCheck(values, 1), least: 1 },
  lengthHint: (value) => (value.length === BASE_DIGITS ? 'Twelve digits lack the check digit, which comes first.' : null),
  facts({ check, base }, { value }) {
    const kind: CorporationKind = base.startsWith('0000') ? 'public_body' : base.startsWith('7') ? 'unregistered_body' : 'registered'
    return {
      check_digit: check,
      base,
      kind,
      /** Code of the registry office; bodies outside the register have none. */
      registry_office_code: kind === 'registered' ? base.slice(0, 4) : null,
      /** Number on qualified invoices, if the body is registered for consumption tax. */
      invoice_number: `T${value}`,
    }
  },
})

/** Returns the same answer as `checkJapanCorp(text).valid`. */
export function isJapanCorp(text: string): boolean {
  return isIdentifier(text, JAPAN_CORP)
}

/** 9 less the remainder modulo 9 of the base, weights 1 and 2 alternating from the right: always 1 to 9. */
function expectedCheck(values: Uint8Array, start: number): number {
  let sum = 0
  for (let index = 0; index < BASE_DIGITS; index++) sum += (values[start + index] ?? 0) * (2 - (index % 2))
  return 9 - (sum % 9)
}

/**
 * Checks a Japanese corporate number (National Tax Agency; ordinance 70 of 2014, article 2): a check digit 1 to 9 and twelve digits. Spaces,
 * hyphens and the T of the invoice registration number are allowed. Errs towards valid: modulus 9 takes a 0 for a 9, and misses swaps of
 * digits two positions apart. Twelve digits alone are the number of a company in the commercial register; the suggestion then adds the
 * check digit in front.
 */
export function checkJapanCorp(text: string): Check<FactsOf<typeof JAPAN_CORP>> {
  const check = checkIdentifier(text, JAPAN_CORP)
  if (check.reason_code !== 'bad_length' || !/^(?!0+$)[0-9]{12}$/.test(check.normalized)) return check
  const base = new Uint8Array(BASE_DIGITS)
  readPlain(check.normalized, base)
  const expected_check = `${expectedCheck(base, 0)}`
  return { ...check, expected_check, suggestion: expected_check + check.normalized }
}
