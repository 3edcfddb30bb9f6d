import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { layout, layoutFindings, structureFindings } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'

export interface PanFacts {
  holder_code: string
  /** What kind of person the fourth letter stands for. */
  holder_type: string
  /** First letter of the surname of a person, or of the name of anybody else. */
  name_initial: string
  /** For display: the first two and the last two characters. */
  masked: string
  parts: Part[]
}

/** Fourth letters, Income Tax Department of India; E and K stand only on some lists and are accepted with a warning. */
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

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['PAN:'],
  label: inFront(['PAN'], (value) => /^[A-Z]{5}[0-9]{4}[A-Z]$/.test(value)),
  field: 'pan',
}
const PRAISE = 'The structure holds; how the last letter is computed is not public.'
const LAYOUT = layout('pan', 'series:3A holder:1A initial:1A number:4N check:1A')
const LENGTH = LAYOUT.length
const UNUSUAL = 'EK'

/** 1 for each value of a letter that stands for a kind of holder. */
const IS_HOLDER = new Uint8Array(36)
for (const letter of Object.keys(PAN_HOLDERS)) IS_HOLDER[letter.charCodeAt(0) - 55] = 1

const READING: Reading = { options: OPTIONS, values: new Uint8Array(LENGTH), first_below: 36, holds }

/** Whether the text has the structure of a PAN. Always the same answer as `checkPan(text).valid`. */
export function isPan(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  return length === LENGTH && holdsPan(read, 0)
}

/** Whether ten values from `start` on make a PAN: five letters, a number that is not 0000, a letter, and a known kind of holder. */
export function holdsPan(read: Uint8Array, start: number): boolean {
  for (let index = 0; index < LENGTH; index++) {
    const digit = (read[start + index] ?? 0) < 10
    if (digit !== (index >= 5 && index < 9)) return false
  }
  const zeros = !(read[start + 5] || read[start + 6] || read[start + 7] || read[start + 8])
  return !zeros && IS_HOLDER[read[start + 3] ?? 0] === 1
}

/**
 * Decides whether text is built like a Permanent Account Number (Income Tax Department of India; Income-tax Rules, rule 114): five
 * letters, of which the fourth tells the kind of holder and the fifth is an initial, four digits from 0001 on, and a letter. How the
 * last letter follows from the rest has never been published, so the verdict is never more than well_formed_unverifiable.
 */
export function checkPan(text: string): Check<PanFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isPan, judge })
}

function judge(value: string): Judgement<PanFacts> {
  const faults = layoutFindings(LAYOUT, value)
  const wrong = faults.length > 0 ? faults : kindFindings(value)
  if (wrong.length > 0) return { findings: wrong }
  const findings = panComponentFindings(value, 0)
  const holder_code = value.charAt(3)
  const holder_type = PAN_HOLDERS[holder_code]
  if (holder_type === undefined || findings.length > 0) return { findings }
  const warnings = panWarnings(value, 0)
  const masked = `${value.slice(0, 2)}******${value.slice(8)}`
  return {
    unverifiable: true,
    findings,
    warnings,
    facts: { holder_code, holder_type, name_initial: value.charAt(4), masked, parts: [...LAYOUT.parts] },
  }
}

function kindFindings(value: string): Finding[] {
  return structureFindings(LAYOUT, value).map((fault) => (fault.field === 'number' ? fault : { ...fault, expected: 'letters' }))
}

/** Kind of holder and number of a PAN that begins at `start` and whose letters and digits stand right. */
export function panComponentFindings(value: string, start: number): Finding[] {
  const findings: Finding[] = []
  const known = Object.keys(PAN_HOLDERS).filter((letter) => !UNUSUAL.includes(letter))
  if (PAN_HOLDERS[value.charAt(start + 3)] === undefined)
    findings.push(finding('bad_component', 'holder', { value, start: start + 3, end: start + 4 }, `one of ${known.join(' ')}`))
  if (value.slice(start + 5, start + 9) === '0000')
    findings.push(finding('reserved_range', 'number', { value, start: start + 5, end: start + 9 }, '0001 to 9999'))
  return findings
}

/** A remark on a kind of holder that only some lists have. */
export function panWarnings(value: string, start: number): Finding[] {
  if (!UNUSUAL.includes(value.charAt(start + 3))) return []
  const message = 'Only some lists have this kind of holder; the present list of the department does not.'
  return [finding('not_listed', 'holder', { value, start: start + 3, end: start + 4 }, null, message)]
}
