import table from '../../../data/ifsc-banks.json' with { type: 'json' }
import { type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { layout, layoutFindings, partFinding, partText, structureFindings } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check } from './verdict.ts'
import { dataDate } from '../data-date.ts'

export interface IfscFacts {
  bank_code: string
  /** Null when the snapshot lacks the bank code. */
  bank_name: string | null
  /** Characters 6–11; leading zeros belong to it. */
  branch_code: string
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const IFSC_DATA_AS_OF = { ifsc_banks: dataDate(table) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['IFSC:'],
  label: inFront(['IFSC?'], (value) => /^[A-Z]{4}[0-9A-Z]{7}$/.test(value)),
  field: 'ifsc',
}
const PRAISE = 'The structure holds; there is no checksum, and branches were not looked up.'
const LAYOUT = layout('ifsc', 'bank:4A zero:1Z branch:6X')
const LENGTH = LAYOUT.length
const ZERO_AT = LAYOUT.at.zero.start
const BANKS: ReadonlyMap<string, string> = new Map(table.rows.map(({ code, name }) => [code, name]))

const READING: Reading = { options: OPTIONS, values: new Uint8Array(LENGTH), first_below: 36, holds }

/** Whether the text has the structure of an IFSC. Always the same answer as `checkIfsc(text).valid`. */
export function isIfsc(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== LENGTH || read[ZERO_AT] !== 0) return false
  for (let index = 0; index < ZERO_AT; index++) if ((read[index] ?? 0) < 10) return false
  return true
}

/**
 * Decides whether text is built like an Indian Financial System Code (Reserve Bank of India): four letters for the bank, a zero,
 * six letters or digits for the branch. Spaces and hyphens are allowed. There is no checksum, so most mistypings pass; a bank code
 * that the snapshot lacks is the warning `not_listed`, because banks are added. The letter O for the zero is the classic mistake:
 * it fails, and the suggestion puts it right.
 */
export function checkIfsc(text: string): Check<IfscFacts> {
  const check = checkText(text, { options: OPTIONS, praise: PRAISE, passes: isIfsc, judge })
  const { normalized, valid, suggestion } = check
  if (valid || normalized[ZERO_AT] !== 'O') return check
  // Swapping the letter with a zero behind it would pass as well, which hides the likelier repair.
  const repaired = `${normalized.slice(0, ZERO_AT)}0${normalized.slice(ZERO_AT + 1)}`
  return { ...check, suggestion: isIfsc(repaired) ? repaired : suggestion }
}

function judge(value: string): Judgement<IfscFacts> {
  const faults = layoutFindings(LAYOUT, value)
  const findings = faults.length > 0 ? faults : structureFindings(LAYOUT, value)
  if (findings.length > 0) return { findings }
  const bank_code = partText(LAYOUT.at.bank, value)
  const branch_code = partText(LAYOUT.at.branch, value)
  const bank_name = BANKS.get(bank_code) ?? null
  const message = 'The bank code is not in our snapshot; it may be newer, or mistyped.'
  const warnings = bank_name === null ? [partFinding(LAYOUT, 'bank', value, 'not_listed', null, message)] : []
  return { unverifiable: true, findings, warnings, facts: { bank_code, bank_name, branch_code, parts: [...LAYOUT.parts] } }
}
