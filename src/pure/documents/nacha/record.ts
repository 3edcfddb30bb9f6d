import type { Findings } from './findings.ts'
import { RECORD_CHARS, WHOLE } from './layout.ts'

const UNPRINTABLE = /[^\x20-\x7E]/u
/** The last column that must be filled: headers and controls of files end in fields that may be blank, all others in numbers. */
const LAST_FILLED: Readonly<Record<string, number>> = { '1': 40, '9': 55 }

export function isFiller(text: string): boolean {
  return /^9+$/.test(text)
}

/** Judges a line as such and gives it the 94 characters of a record. */
export function judgeLine(text: string, line: number, findings: Findings): string {
  const unmarked = line === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text
  const odd = UNPRINTABLE.exec(text)
  if (odd !== null) {
    const column = odd.index + 1
    findings.add('N_CHARSET', { line, place: { field: 'record', from: column, to: column }, found: odd[0], expected: 'printable ASCII' })
  }
  if (unmarked.length !== RECORD_CHARS) {
    const trimmed = unmarked.length < RECORD_CHARS && unmarked.length >= (LAST_FILLED[unmarked.charAt(0)] ?? RECORD_CHARS)
    const severity = trimmed ? 'warning' : 'error'
    findings.add('N_LEN', { line, place: WHOLE, found: `${unmarked.length} characters`, expected: '94 characters', severity })
  }
  return unmarked.slice(0, RECORD_CHARS).padEnd(RECORD_CHARS)
}
