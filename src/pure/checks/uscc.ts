import provinces from '../../../data/china-provinces.json' with { type: 'json' }
import authorities from '../../../data/uscc-authorities.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { datesOf } from '../datasets/table.ts'
import { complement11 } from './check-digits.ts'
import { foreignCharacters } from './check-text.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout, partFinding } from './identifier.ts'
import { labelInFront } from './normalize.ts'
import { type Check, finding, type Finding } from './verdict.ts'

export const CHINA_PROVINCES = releaseTable('china_provinces', () => provinces)
export const USCC_AUTHORITIES = releaseTable('uscc_authorities', () => authorities)

/** Dates of the reference tables that an answer uses. */
export const USCC_DATA_AS_OF = datesOf([CHINA_PROVINCES, USCC_AUTHORITIES])

const LAYOUT = readLayout('uscc', 'authority:1X category:1X division:6N organization:9X check:1X')
const CHECK_AT = LAYOUT.at.check.start
const ALPHABET = '0123456789ABCDEFGHJKLMNPQRTUWXY'
const WEIGHTS = Uint8Array.from([1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28])
const ALSO_CITIZEN =
  'The value is also valid as the identity number of a citizen, check digit and date of birth included: ask which of the two it is.'

const PROVINCES: ReadonlyMap<string, string> = new Map(provinces.rows.map(({ code, name }) => [code, name]))
const AUTHORITIES: ReadonlyMap<string, string> = new Map(authorities.rows.map((row) => [row.authority, row.authority_name]))
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  authorities.rows.map(({ authority, category, category_name }) => [authority + category, category_name]),
)

/** Value modulo 31 of each letter and digit; FOREIGN for I, O, S, V and Z, which never occur. */
const FOREIGN = 0xff
const VALUE31 = new Uint8Array(36).fill(FOREIGN)
const BASE36 = Uint8Array.from(ALPHABET, (unit) => Number.parseInt(unit, 36))
for (const [value, unit] of BASE36.entries()) VALUE31[unit] = value

const USCC = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['USCC:'],
  label: labelInFront(['USCC', 'UNIFIED SOCIAL CREDIT', '统一社会信用代码'], (value) => /^[0-9A-Z]{18}$/.test(value)),
  success_reason: 'Structure and check character are valid; the register was not queried.',
  nonzero: ['authority', 'category', 'division', 'organization'],
  zeros_first: true,
  checksum: { expected: (values) => BASE36[(31 - (weightedSum31(values) % 31)) % 31] ?? 0, mismatchMessage: otherNumber },
  lengthHint: otherNumber,
  earlyFindings: (value) => foreignCharacters(value, 'uscc', /[IOSVZ]+/gu, 'no I, O, S, V or Z'),
  hasValidComponents(values) {
    for (let index = 0; index < LAYOUT.length; index++) if (VALUE31[values[index] ?? 0] === FOREIGN) return false
    return true
  },
  facts: ({ authority, category, division, organization }) => ({
    authority_code: authority,
    authority_name: AUTHORITIES.get(authority) ?? null,
    category_code: category,
    category_name: CATEGORIES.get(authority + category) ?? null,
    division_code: division,
    province: PROVINCES.get(division.slice(0, 2)) ?? null,
    organization_code: organization,
    organization_check_valid: organizationCheck(organization) === organization.charAt(8),
  }),
  warnings(value, { authority_name, category_name, province, organization_code, organization_check_valid }, checked) {
    const warnings: Finding[] = []
    const unlisted = (label: 'authority' | 'category', message: string) =>
      warnings.push(partFinding(LAYOUT, label, value, 'not_listed', null, message))
    if (checked && isCitizenNumber(value)) warnings.push(finding('bad_component', 'uscc', null, null, ALSO_CITIZEN))
    if (authority_name === null) unlisted('authority', 'The table has no authority with this code.')
    else if (category_name === null) unlisted('category', 'The table has no category with this code.')
    if (province === null) warnings.push(finding('not_listed', 'division', { value, start: 2, end: 4 }, null, 'No province has this code.'))
    if (!organization_check_valid) {
      const message = 'The check character of the organization code does not match.'
      const range = { value, start: CHECK_AT - 1, end: CHECK_AT }
      warnings.push(finding('bad_component', 'organization', range, organizationCheck(organization_code), message))
    }
    return warnings
  },
})

/** Returns the same answer as `checkUscc(text).valid`. */
export function isUscc(text: string): boolean {
  return isIdentifier(text, USCC)
}

/**
 * Checks a Chinese unified social credit code (GB 32100-2015): authority, category, six digits of the division, an organization code of nine
 * characters, and a check character modulo 31, which finds every single wrong character and every swap of neighbours. The letters I, O, S,
 * V and Z never occur; any other may be an authority, as A, N and Y are since 2016.
 *
 * Errs towards valid: authorities, categories and provinces that the tables lack, and an organization code whose own check character
 * (GB 11714) is wrong, are warnings, and so is a code that could be the identity number of a citizen.
 */
export function checkUscc(text: string): Check<FactsOf<typeof USCC>> {
  const check = checkIdentifier(text, USCC)
  return isCitizenNumber(check.normalized) ? { ...check, suggestion: null } : check
}

/** Weights 3^i modulo 31; the check value makes the sum divisible by 31, and may be 0. */
function weightedSum31(values: Uint8Array): number {
  let sum = 0
  for (let index = 0; index < CHECK_AT; index++) sum += (VALUE31[values[index] ?? 0] ?? 0) * (WEIGHTS[index] ?? 0)
  return sum
}

/**
 * The check character of an organization code (GB 11714-1997): the first eight characters, letters as 10–35, with weights 3, 7, 9, 10,
 * 5, 8, 4, 2 modulo 11; 10 is written X.
 */
function organizationCheck(code: string): string {
  const weights = [3, 7, 9, 10, 5, 8, 4, 2]
  const sum = weights.reduce((total, weight, index) => total + weight * Number.parseInt(code.charAt(index), 36), 0)
  const check = complement11(sum)
  return check === 10 ? 'X' : `${check}`
}

/** Names the other number that the value is built like; null for none. */
function otherNumber(value: string): string | null {
  if (/^[0-9]{15}$/.test(value))
    return 'Fifteen digits are a registration number of before 2015, or an old citizen number; ask for the new code.'
  if (/^[0-9A-Z]{8}[0-9X]$/.test(value) && organizationCheck(value) === value.charAt(8))
    return 'Nine characters are an organization code, which is only one part of the code.'
  return isCitizenNumber(value) ? 'This is the identity number of a citizen, not the code of an organization.' : null
}

/** GB 11643-1999: six digits of the division, date of birth, three digits, and a check character ISO 7064 MOD 11-2. */
function isCitizenNumber(value: string): boolean {
  if (!/^[1-8][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9X]$/.test(value)) return false
  let remainder = 0
  for (let index = 0; index < 17; index++) remainder = ((remainder + Number.parseInt(value.charAt(index), 10)) * 2) % 11
  return '10X98765432'.charAt(remainder) === value.charAt(17)
}
