import { characterFindings } from './characters.ts'
import { finding, lengthFinding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'

export interface KraPinFacts {
  taxpayer_type: 'individual' | 'non_individual'
  /** The nine digits. */
  serial: string
  check_letter: string
  /** False: the authority has not published how the letter is computed. */
  check_letter_verifiable: boolean
  parts: Part[]
}

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['PIN:'],
  label: inFront(['(?:KRA )?PIN'], (value) => /^[0-9A-Z]{11}$/.test(value)),
  field: 'pin',
}
const PRAISE = 'The structure holds; how the check letter is computed is not public.'
const LENGTH = 11
const [A, P] = [10, 25]
const PARTS: readonly Part[] = [
  { label: 'type', start: 0, end: 1 },
  { label: 'serial', start: 1, end: 10 },
  { label: 'check', start: 10, end: LENGTH },
].map((part) => Object.freeze(part))

const READING: Reading = { options: OPTIONS, values: new Uint8Array(LENGTH), first_below: 36, holds }

/** Whether the text has the structure of a PIN. Always the same answer as `checkKraPin(text).valid`. */
export function isKraPin(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== LENGTH || (read[0] !== A && read[0] !== P) || (read[10] ?? 0) < 10) return false
  let any = 0
  for (let index = 1; index < 10; index++) {
    const digit = read[index] ?? 0
    if (digit > 9) return false
    any |= digit
  }
  return any !== 0
}

/**
 * Decides whether text is built like a PIN of the Kenya Revenue Authority: A for individuals or P for others, nine digits, a letter.
 * The letter is said to be a check letter, but no algorithm has been published, so any letter passes and the verdict is never more
 * than well_formed_unverifiable. Spaces and hyphens are allowed.
 */
export function checkKraPin(text: string): Check<KraPinFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isKraPin, judge })
}

function judge(value: string): Judgement<KraPinFacts> {
  const findings = shapeFindings(value)
  if (findings.length > 0) return { findings }
  const facts: KraPinFacts = {
    taxpayer_type: value.startsWith('A') ? 'individual' : 'non_individual',
    serial: value.slice(1, 10),
    check_letter: value.charAt(10),
    check_letter_verifiable: false,
    parts: [...PARTS],
  }
  return { unverifiable: true, findings, facts }
}

function shapeFindings(value: string): Finding[] {
  const foreign = characterFindings(value, 'pin')
  if (foreign.length > 0) return foreign
  if (value.length !== LENGTH) return [lengthFinding('pin', value, `${LENGTH} characters`)]
  if (!/^[AP]/.test(value)) return [finding('bad_prefix', 'type', { value, start: 0, end: 1 }, 'A (individual) or P (others)')]
  const wrong: Finding[] = []
  if (!/^[0-9]{9}$/.test(value.slice(1, 10))) wrong.push(finding('bad_structure', 'serial', { value, start: 1, end: 10 }, 'nine digits'))
  if (!/[A-Z]$/.test(value)) wrong.push(finding('bad_structure', 'check', { value, start: 10, end: LENGTH }, 'a letter'))
  if (wrong.length > 0) return wrong
  return /^.0{9}/.test(value) ? [finding('all_zero', 'serial', { value, start: 1, end: 10 }, null)] : []
}
