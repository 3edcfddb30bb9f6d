import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { labelInFront } from './normalize.ts'
import { type Check, finding, type Finding } from './verdict.ts'

/** Fourth letters, Income Tax Department of India; E and K are only on some lists and are accepted with a warning. */
export const PAN_HOLDERS: Readonly<Record<string, string>> = {
  A: 'Association of persons',
  B: 'Body of individuals',
  C: 'Company',
  E: 'Limited liability partnership (on some lists; others have F)',
  F: 'Firm or limited liability partnership',
  G: 'Government',
  H: 'Hindu undivided family (HUF)',
  J: 'Artificial juridical person',
  K: 'Krish trust (obsolete)',
  L: 'Local authority',
  P: 'Individual',
  T: 'Trust',
}

const LAYOUT = readLayout('pan', 'series:3A holder:1A initial:1A number:4N check:1A')
const UNUSUAL = 'EK'

/** 1 for each value of a letter that is a kind of holder. */
const IS_HOLDER = new Uint8Array(36)
for (const letter of Object.keys(PAN_HOLDERS)) IS_HOLDER[letter.charCodeAt(0) - 55] = 1

const PAN = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['PAN:'],
  label: labelInFront(['PAN'], (value) => /^[A-Z]{5}[0-9]{4}[A-Z]$/.test(value)),
  success_reason: 'The structure is valid; the calculation of the last letter is not public.',
  unverifiable: true,
  componentFindings: (value) => panComponentFindings(value, 0),
  hasValidComponents: (values) => hasValidPanComponents(values, 0),
  facts: ({ holder, initial }, { value }) => ({
    holder_code: holder,
    holder_type: PAN_HOLDERS[holder] ?? '',
    name_initial: initial,
    masked: `${value.slice(0, 2)}******${value.slice(8)}`,
  }),
  warnings: (value) => panWarnings(value, 0),
})

export type PanFacts = FactsOf<typeof PAN>

/**
 * Checks the structure of a Permanent Account Number (Income Tax Department of India; Income-tax Rules, rule 114): five letters, of which the
 * fourth is the kind of holder and the fifth an initial, four digits from 0001, and a letter. The calculation of the last letter has never
 * been published, so the verdict is never more than well_formed_unverifiable.
 */
export function checkPan(text: string): Check<PanFacts> {
  return checkIdentifier(text, PAN)
}

/** Returns the same answer as `checkPan(text).valid`. */
export function isPan(text: string): boolean {
  return isIdentifier(text, PAN)
}

/** Tests ten values from `start` on: five letters, a number other than 0000, a letter, and a known kind of holder. */
export function isPanAt(values: Uint8Array, start: number): boolean {
  for (let index = 0; index < LAYOUT.length; index++) {
    const digit = (values[start + index] ?? 0) < 10
    if (digit !== (index >= 5 && index < 9)) return false
  }
  return hasValidPanComponents(values, start)
}

function hasValidPanComponents(values: Uint8Array, start: number): boolean {
  const zeros = !(values[start + 5] || values[start + 6] || values[start + 7] || values[start + 8])
  return !zeros && IS_HOLDER[values[start + 3] ?? 0] === 1
}

/** Findings about kind of holder and number of a PAN that begins at `start` and has letters and digits where they belong. */
export function panComponentFindings(value: string, start: number): Finding[] {
  const findings: Finding[] = []
  const known = Object.keys(PAN_HOLDERS).filter((letter) => !UNUSUAL.includes(letter))
  if (PAN_HOLDERS[value.charAt(start + 3)] === undefined)
    findings.push(finding('bad_component', 'holder', { value, start: start + 3, end: start + 4 }, `one of ${known.join(' ')}`))
  if (value.slice(start + 5, start + 9) === '0000')
    findings.push(finding('reserved_range', 'number', { value, start: start + 5, end: start + 9 }, '0001 to 9999'))
  return findings
}

/** Warning about a kind of holder that only some lists have. */
export function panWarnings(value: string, start: number): Finding[] {
  if (!UNUSUAL.includes(value.charAt(start + 3))) return []
  const message = 'Only some lists have this kind of holder; the present list of the department does not.'
  return [finding('not_listed', 'holder', { value, start: start + 3, end: start + 4 }, null, message)]
}
