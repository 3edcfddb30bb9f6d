/** Account, bank, party, currency and country codes, by the checks that the identifier tools use. In a message they stand without spaces. */
import { isBic } from '../../checks/bic.ts'
import { checkCurrency } from '../../checks/currency.ts'
import { COUNTRIES } from '../../checks/countries.ts'
import { checkIban, isIban } from '../../checks/iban.ts'
import { isLei } from '../../checks/lei.ts'
import type { Details } from './findings.ts'
import type { RuleCode } from './rule-table.ts'

export interface CurrencyInfo {
  /** Digits behind the point; null where the list states none or the code is unknown. */
  minor_units: number | null
  fault: Extract<RuleCode, 'CCY_UNKNOWN' | 'CCY_METAL' | 'CCY_HISTORIC'> | null
}

const currencies = new Map<string, CurrencyInfo>()
const CACHED = 1_024

export function currencyInfo(code: string): CurrencyInfo {
  const known = currencies.get(code)
  if (known !== undefined) return known
  const info = lookedUp(code)
  if (currencies.size < CACHED) currencies.set(code, info)
  return info
}

function lookedUp(code: string): CurrencyInfo {
  const facts = /^[A-Z]{3}$/.test(code) ? checkCurrency(code).facts : null
  if (facts === null) return { minor_units: null, fault: 'CCY_UNKNOWN' }
  const fault = facts.status === 'withdrawn' ? 'CCY_HISTORIC' : facts.kind === 'metal' ? 'CCY_METAL' : null
  return { minor_units: facts.minor_units, fault }
}

export function countryExists(alpha2: string): boolean {
  return COUNTRIES.has(alpha2)
}

type IbanCode = Extract<RuleCode, 'IBAN_LENGTH' | 'IBAN_FORMAT' | 'IBAN_CHECK'>

/** Null when it is an IBAN in its electronic form, upper case. */
export function ibanFault(text: string): { code: IbanCode; says: Pick<Details, 'expected' | 'message'> } | null {
  if (!PLAIN.test(text)) return { code: 'IBAN_FORMAT', says: { expected: 'upper-case letters and digits only' } }
  if (isIban(text) && !text.startsWith('IBAN')) return null
  const [finding] = checkIban(text).findings
  const expected = finding?.expected ?? null
  const own = finding?.code === 'bad_national_checksum' ? { message: NATIONAL } : {}
  return { code: IBAN_CODES[finding?.code ?? ''] ?? 'IBAN_FORMAT', says: { expected, ...own } }
}

const NATIONAL = 'The check digits inside the national account number are wrong; those of the IBAN itself are right.'

/** What is neither length nor check digits is a matter of form. */
const IBAN_CODES: Readonly<Record<string, IbanCode>> = {
  too_short: 'IBAN_LENGTH',
  too_long: 'IBAN_LENGTH',
  bad_length: 'IBAN_LENGTH',
  bad_checksum: 'IBAN_CHECK',
  checksum_out_of_range: 'IBAN_CHECK',
  bad_national_checksum: 'IBAN_CHECK',
}

/** Digits and upper-case letters. */
const PLAIN = /^[0-9A-Z]*$/

export const BIC_COUNTRY_PLACE = 'characters 5 and 6'

/** The two forms in use: the older forbids digits in the prefix, 0 and 1 at place 7, the letter O at place 8. */
const GRAMMARS = {
  2009: /^[A-Z]{6}[A-Z2-9][A-NP-Z0-9](?:[A-Z0-9]{3})?$/,
  2014: /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/,
} as const

export function bicFault(text: string, grammar: 2009 | 2014): Extract<RuleCode, 'BIC_FORMAT' | 'BIC_COUNTRY' | 'BIC_TEST'> | null {
  // The usual case without a regular expression: the newer form is that of the check.
  if (grammar === 2014 && PLAIN.test(text) && isBic(text)) return text.charCodeAt(7) === 0x30 ? 'BIC_TEST' : null
  if (!GRAMMARS[grammar].test(text)) return 'BIC_FORMAT'
  if (!COUNTRIES.has(text.slice(4, 6))) return 'BIC_COUNTRY'
  return text.charAt(7) === '0' ? 'BIC_TEST' : null
}

export function isExactLei(text: string): boolean {
  return /^[A-Z0-9]{18}[0-9]{2}$/.test(text) && isLei(text)
}
