import { finding } from './check-result.ts'
import type { Finding } from './verdict.ts'

/** Findings that one answer lists at most. */
const LISTED = 8

/** A finding for every run of foreign characters in a value made of digits: ASCII signs are separators out of place. */
export function strangers(value: string, field: string, foreign: RegExp, expected: string): Finding[] {
  return [...value.matchAll(foreign)].slice(0, LISTED).map((run) => {
    const code = /^[ -/:-@[-`{-~]+$/.test(run[0]) ? 'bad_separator' : 'bad_charset'
    return finding(code, field, { value, start: run.index, end: run.index + run[0].length }, expected)
  })
}

/** The digit 0-9 at an index of text that holds digits there. */
export function digitAt(text: string, index: number): number {
  return text.charCodeAt(index) - 0x30
}
