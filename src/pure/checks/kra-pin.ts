import { type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { layout, layoutFindings, partFinding, partText, structureFindings } from './layout.ts'
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
const LAYOUT = layout('pin', 'type:1A serial:9N check:1A')
const LENGTH = LAYOUT.length
const [A, P] = [10, 25]

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
  const serial = partText(LAYOUT.at.serial, value)
  const check_letter = partText(LAYOUT.at.check, value)
  const facts: KraPinFacts = {
    taxpayer_type: value.startsWith('A') ? 'individual' : 'non_individual',
    serial,
    check_letter,
    check_letter_verifiable: false,
    parts: [...LAYOUT.parts],
  }
  return { unverifiable: true, findings, facts }
}

function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value)
  if (faults.length > 0) return faults
  if (!/^[AP]/.test(value)) return [partFinding(LAYOUT, 'type', value, 'bad_prefix', 'A (individual) or P (others)')]
  const wrong = structureFindings(LAYOUT, value)
  if (wrong.length > 0) return wrong
  return /^.0{9}/.test(value) ? [partFinding(LAYOUT, 'serial', value, 'all_zero', null)] : []
}
