import provinces from '../../../data/china-provinces.json' with { type: 'json' }
import authorities from '../../../data/uscc-authorities.json' with { type: 'json' }
import { readPlain } from './characters.ts'
import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { strangers } from './digits.ts'
import { isZero } from './fixed-digits.ts'
import { checkDigitFindings, layout, layoutFindings, partFinding, partText, structureFindings } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

export interface UsccFacts {
  /** Who registered: the first character. */
  authority_code: string
  authority_name: string | null
  /** What was registered: the second character. */
  category_code: string
  category_name: string | null
  /** Six digits of GB/T 2260; 100000 stands for the whole country. */
  division_code: string
  province: string | null
  /** Characters 9–17: the organization code of GB 11714, with its own check character. */
  organization_code: string
  organization_check_valid: boolean
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const USCC_DATA_AS_OF = { china_provinces: dataDate(provinces), uscc_authorities: dataDate(authorities) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['USCC:'],
  label: inFront(['USCC', 'UNIFIED SOCIAL CREDIT', '统一社会信用代码'], (value) => /^[0-9A-Z]{18}$/.test(value)),
  field: 'uscc',
}
const PRAISE = 'Structure and check character hold; the register was not asked.'
const CITIZEN_TOO = 'This is also built like the identity number of a citizen, check digit and date of birth included: ask which it is.'
const LAYOUT = layout('uscc', 'authority:1X category:1X division:6N organization:9X check:1X')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start
const ZEROS = /^0{17}/
const ALPHABET = '0123456789ABCDEFGHJKLMNPQRTUWXY'
const WEIGHTS = Uint8Array.from([1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28])

const PROVINCES: ReadonlyMap<string, string> = new Map(provinces.rows.map(({ code, name }) => [code, name]))
const AUTHORITIES: ReadonlyMap<string, string> = new Map(authorities.rows.map((row) => [row.authority, row.authority_name]))
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  authorities.rows.map(({ authority, category, category_name }) => [authority + category, category_name]),
)

/** The value modulo 31 of each letter and digit; FOREIGN for I, O, S, V and Z, which never occur. */
const FOREIGN = 0xff
const VALUE31 = new Uint8Array(36).fill(FOREIGN)
Array.from(ALPHABET).forEach((unit, value) => {
  VALUE31[Number.parseInt(unit, 36)] = value
})

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)
const READING: Reading = { options: OPTIONS, values, first_below: 36, holds }

/** Whether the text is a USCC by structure and check character. Always the same answer as `checkUscc(text).valid`. */
export function isUscc(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== LENGTH || isZero(read, CHECK_AT)) return false
  for (let index = 2; index < 8; index++) if ((read[index] ?? 0) > 9) return false
  for (let index = 0; index < LENGTH; index++) if (VALUE31[read[index] ?? 0] === FOREIGN) return false
  return VALUE31[read[CHECK_AT] ?? 0] === checkValue(read)
}

/** Weights 3^i modulo 31; the check value makes the sum divisible by 31, and may be 0. */
function checkValue(read: Uint8Array): number {
  let sum = 0
  for (let index = 0; index < CHECK_AT; index++) sum += (VALUE31[read[index] ?? 0] ?? 0) * (WEIGHTS[index] ?? 0)
  return (31 - (sum % 31)) % 31
}

/**
 * Decides whether text is a Chinese unified social credit code (GB 32100-2015): authority, category, six digits of the division, an
 * organization code of nine characters, and a check character modulo 31, which finds every single wrong character and every swap of
 * neighbours. The letters I, O, S, V and Z never occur; any other stands for an authority, as A, N and Y do since 2016.
 *
 * Errs towards valid: authorities, categories and provinces that our tables lack, and an organization code whose own check character
 * (GB 11714) is wrong, are warnings, and so is a code that could as well be the identity number of a citizen.
 */
export function checkUscc(text: string): Check<UsccFacts> {
  const check = checkText(text, { options: OPTIONS, praise: PRAISE, passes: isUscc, judge })
  return isCitizenNumber(check.normalized) ? { ...check, suggestion: null } : check
}

function judge(value: string): Judgement<UsccFacts> {
  const faults = shapeFindings(value)
  if (faults.length > 0) return { findings: faults }
  readPlain(value, values)
  const expected_check = ALPHABET.charAt(checkValue(values))
  const matches = value.endsWith(expected_check)
  const findings = matches ? [] : checkDigitFindings(LAYOUT, value, expected_check, otherNumber(value) ?? undefined)
  const either = matches && isCitizenNumber(value) ? [finding('bad_component', 'uscc', null, null, CITIZEN_TOO)] : []
  const facts = usccFacts(value)
  return { findings, warnings: [...either, ...warningsOf(value, facts)], expected_check, facts }
}

function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value, otherNumber)
  if (faults.length > 0) return faults
  if (ZEROS.test(value)) return [finding('all_zero', 'uscc', null, null)]
  const unused = strangers(value, 'uscc', /[IOSVZ]+/gu, 'no I, O, S, V or Z')
  return unused.length > 0 ? unused : structureFindings(LAYOUT, value)
}

function warningsOf(value: string, facts: UsccFacts): Finding[] {
  const warnings: Finding[] = []
  if (facts.authority_name === null)
    warnings.push(partFinding(LAYOUT, 'authority', value, 'not_listed', null, 'We know no authority of this code.'))
  else if (facts.category_name === null)
    warnings.push(partFinding(LAYOUT, 'category', value, 'not_listed', null, 'We know no category of this code.'))
  if (facts.province === null)
    warnings.push(finding('not_listed', 'division', { value, start: 2, end: 4 }, null, 'No province has this code.'))
  if (!facts.organization_check_valid) {
    const expected = organizationCheck(facts.organization_code)
    warnings.push(
      finding(
        'bad_component',
        'organization',
        { value, start: 16, end: 17 },
        expected,
        'The organization code has another check character.',
      ),
    )
  }
  return warnings
}

function usccFacts(value: string): UsccFacts {
  const authority = partText(LAYOUT.at.authority, value)
  const category = partText(LAYOUT.at.category, value)
  const division = partText(LAYOUT.at.division, value)
  const organization = partText(LAYOUT.at.organization, value)
  return {
    authority_code: authority,
    authority_name: AUTHORITIES.get(authority) ?? null,
    category_code: category,
    category_name: CATEGORIES.get(authority + category) ?? null,
    division_code: division,
    province: PROVINCES.get(value.slice(2, 4)) ?? null,
    organization_code: organization,
    organization_check_valid: organizationCheck(organization) === organization.charAt(8),
    parts: [...LAYOUT.parts],
  }
}

/**
 * The check character of an organization code (GB 11714-1997): the first eight characters, letters as 10–35, with weights 3, 7, 9, 10,
 * 5, 8, 4, 2 modulo 11; ten is written X.
 */
function organizationCheck(code: string): string {
  const weights = [3, 7, 9, 10, 5, 8, 4, 2]
  const sum = weights.reduce((total, weight, index) => total + weight * Number.parseInt(code.charAt(index), 36), 0)
  const check = (11 - (sum % 11)) % 11
  return check === 10 ? 'X' : `${check}`
}

/** A sentence when the value is built like another number; null otherwise. */
function otherNumber(value: string): string | null {
  if (/^[0-9]{15}$/.test(value))
    return 'Fifteen digits are a registration number of before 2015, or an old citizen number; ask for the new code.'
  if (/^[0-9A-Z]{8}[0-9X]$/.test(value) && organizationCheck(value) === value.charAt(8))
    return 'Nine characters are an organization code, which is only one part of the code.'
  return isCitizenNumber(value) ? 'This is built like the identity number of a citizen, not like the code of an organization.' : null
}

/** GB 11643-1999: six digits of the division, date of birth, three digits, and a check character ISO 7064 MOD 11-2. */
function isCitizenNumber(value: string): boolean {
  if (!/^[1-8][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9X]$/.test(value)) return false
  let remainder = 0
  for (let index = 0; index < 17; index++) remainder = ((remainder + Number.parseInt(value.charAt(index), 10)) * 2) % 11
  return '10X98765432'.charAt(remainder) === value.charAt(17)
}
