import { complement10, weightedSum, isinCheckValue } from './check-digits.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout, structureFindings } from './identifier.ts'
import { labelInFront, readPlain } from './normalize.ts'
import { type Check, finding } from './verdict.ts'

const LAYOUT = readLayout('sedol', 'code:6X check:1N')
const CHECK_AT = LAYOUT.at.check.start
const WEIGHTS = [1, 3, 1, 7, 3, 9]
/** Regions where numeric codes with this first digit were usually issued. */
const REGIONS: Readonly<Record<string, string>> = {
  0: 'United Kingdom and Ireland',
  2: 'Americas',
  3: 'United Kingdom and Ireland',
  4: 'Europe',
  5: 'Europe',
  6: 'Asia and Africa',
  7: 'Europe',
}

/** 1 for A, E, I, O and U, as 10–34. */
const IS_VOWEL = new Uint8Array(36)
for (const vowel of 'AEIOU') IS_VOWEL[vowel.charCodeAt(0) - 55] = 1

/** `numeric`: issued before 26 January 2004. `alphanumeric`: since. `user_defined`: begins with 9, issued by its users. */
type SedolForm = 'numeric' | 'alphanumeric' | 'user_defined'

const SEDOL = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  // A SEDOL has no vowels, so the word in front is never part of one.
  prefixes: ['SEDOL'],
  label: labelInFront(['SEDOL'], (value) => /^[0-9A-Z]{7}$/.test(value)),
  success_reason: 'Characters and check digit are valid; the SEDOL masterfile was not queried.',
  checksum: { expected: (values) => complement10(weightedSum(values, WEIGHTS)) },
  /** A vowel is reported before a wrong length. */
  refineFindings(findings, value) {
    const vowel = value.search(/[AEIOU]/)
    if (vowel < 0 || findings.some(({ code }) => code !== 'bad_length')) return findings
    return [finding('bad_charset', 'sedol', { value, start: vowel, end: vowel + 1 }, 'no vowels')]
  },
  earlyFindings(value) {
    if (!/^[0-9]/.test(value) || !/[A-Z]/.test(value.slice(1, CHECK_AT))) return []
    const mixed = finding('bad_structure', 'code', { value, start: 0, end: 1 }, 'a letter first, or digits only')
    return [mixed, ...structureFindings(LAYOUT, value)]
  },
  hasValidComponents(values) {
    const begins_with_digit = (values[0] ?? 0) < 10
    for (let index = 0; index < CHECK_AT; index++) {
      const value = values[index] ?? 0
      if (value > 9 && (begins_with_digit || IS_VOWEL[value] === 1)) return false
    }
    return true
  },
  facts({ check }, { value, checked }) {
    const first = value.charAt(0)
    const numeric = /[0-9]/.test(first)
    const form: SedolForm = first === '9' ? 'user_defined' : numeric ? 'numeric' : 'alphanumeric'
    const nsin = `GB00${value}`
    return {
      form,
      region_hint: numeric ? (REGIONS[first] ?? null) : null,
      check_digit: check,
      /** The ISIN of this code, if the security is numbered in the United Kingdom. */
      gb_isin: checked && form !== 'user_defined' ? nsin + isinCheckDigit(nsin) : null,
    }
  },
  warnings(value) {
    if (value.startsWith('9')) {
      const message = 'Codes that begin with 9 are issued by their users and mean nothing elsewhere.'
      return [finding('reserved_range', 'code', { value, start: 0, end: 1 }, null, message)]
    }
    return /[^0]/.test(value) ? [] : [finding('all_zero', 'sedol', null, null)]
  },
})

/** The check digit for the first eleven characters of an ISIN, which are letters and digits. */
function isinCheckDigit(eleven: string): string {
  const values = new Uint8Array(eleven.length)
  return `${isinCheckValue(values, readPlain(eleven, values))}`
}

type SedolFacts = FactsOf<typeof SEDOL>

/**
 * Checks a SEDOL (London Stock Exchange, SEDOL Masterfile technical specification): six characters and a check digit by modulus 10 with the
 * weights 1, 3, 1, 7, 3, 9. Codes since 26 January 2004 begin with a letter and have no vowels; older ones are all digits. Codes that begin
 * with 9 are issued by users and get the warning reserved_range; zeros alone get all_zero.
 *
 * Errs towards valid: a code that was never issued passes, and so does a letter for one ten positions off, which has the same remainder.
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, bad_checksum.
 */
export function checkSedol(text: string): Check<SedolFacts> {
  return checkIdentifier(text, SEDOL)
}

/** Returns the same answer as `checkSedol(text).valid`. */
export function isSedol(text: string): boolean {
  return isIdentifier(text, SEDOL)
}
