import { RECORD_CHARS } from './layout.ts'

const LF = 10
const CR = 13
const TWO_RECORDS = 2 * RECORD_CHARS

/** Fed with text in pieces of any size; `end` gives out what is left. */
export interface LineSplitter {
  write(text: string): void
  end(): void
}

/**
 * Splits text into records: at LF, CRLF or CR, and every 94 characters in a line that is longer than two records, or exactly two, as in
 * files without line ends. A line of any other length comes as it is. What comes out does not depend on how the text was cut into pieces,
 * and never more than two records are held back.
 */
export function lineSplitter(emit: (text: string, line: number) => void): LineSplitter {
  let held = ''
  /** The line under way is longer than two records and given out in slices. */
  let unbroken = false
  let after_cr = false
  let line = 0

  function endLine(rest: string): void {
    if (!unbroken && rest.length === TWO_RECORDS) {
      emit(rest.slice(0, RECORD_CHARS), ++line)
      emit(rest.slice(RECORD_CHARS), ++line)
    } else if (!unbroken || rest !== '') emit(rest, ++line)
    unbroken = false
  }

  /** The start of what is left, when the line that begins at `start` is too long to be one record. */
  function slice(text: string, start: number, at: number): number {
    const chars = at - start
    if (unbroken && chars === RECORD_CHARS) {
      emit(text.slice(start, at), ++line)
      return at
    }
    if (unbroken || chars < TWO_RECORDS) return start
    unbroken = true
    emit(text.slice(start, start + RECORD_CHARS), ++line)
    emit(text.slice(start + RECORD_CHARS, at), ++line)
    return at
  }

  function write(chunk: string): void {
    if (chunk === '') return
    let at = held.length
    let start = 0
    const text = held + chunk
    if (after_cr && text.charCodeAt(0) === LF) start = ++at
    after_cr = false
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code !== LF && code !== CR) {
        start = slice(text, start, at)
        continue
      }
      endLine(text.slice(start, at))
      start = at + 1
      if (code !== CR) continue
      if (start === text.length) after_cr = true
      else if (text.charCodeAt(start) === LF) start = ++at + 1
    }
    held = text.slice(start)
  }

  function end(): void {
    if (held !== '') endLine(held)
    held = ''
  }

  return { write, end }
}
