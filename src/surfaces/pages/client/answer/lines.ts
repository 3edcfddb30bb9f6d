import type { BadgeVerdict } from '../../../../pure/headline.ts'
import { el } from '../dom.ts'
import type { Range } from '../shapes.ts'
import { markShape } from '../verdict.ts'

/** What is said of a place in a document. */
export interface Remark {
  severity: 'error' | 'warning' | 'info'
  /** From 1; null when the document as a whole is meant. */
  line: number | null
  /** Characters of the document; null when the line as a whole is meant. */
  range: Range | null
  message: string
  expected: string | null
  /** The place in the words of the document: a path or a pointer. */
  where: string | null
  code: string | null
}

const MARKS: Record<Remark['severity'], BadgeVerdict> = { error: 'invalid', warning: 'unverifiable', info: 'done' }

/** Remarks that are shown; all of them stand in the JSON. */
const REMARKS_SHOWN = 60
/** Lines around a line that is remarked on. */
const AROUND = 1
/** Characters of a line that are shown as they are, and around a mark in longer ones. */
const WHOLE_LINE_CHARS = 240
const AROUND_CHARS = 70
const MARK_CHARS = 240

/** A document as numbered lines, with each remark hung from the line that it is about; lines of which nothing is said are left out. */
export function linesView(title: string, text: string, remarks: readonly Remark[]): HTMLElement {
  const starts = lineStarts(text)
  const placed = remarks.slice(0, REMARKS_SHOWN).map((remark) => ({ ...remark, line: lineOf(remark, starts) }))
  const at = Map.groupBy(placed, ({ line }) => line)
  const lines = [...at.keys()].filter((line) => line !== null).toSorted((a, b) => a - b)
  const rows = windows(lines, starts.length).flatMap((window) => [
    window.skipped > 0 ? el('li', { class: 'skipped' }, skippedWords(window.skipped)) : null,
    ...window.lines.map((line) => lineRow(line, lineText(text, starts, line), starts[line - 1] ?? 0, at.get(line) ?? [])),
  ])
  const after = starts.length - (lines.at(-1) ?? 0) - AROUND
  if (lines.length > 0 && after > 0) rows.push(el('li', { class: 'skipped' }, skippedWords(after)))
  const rest = remarks.length - placed.length
  return el(
    'figure',
    { class: 'document', 'aria-label': `${title}, with what was found` },
    el('figcaption', {}, el('b', {}, title), ` ${remarks.length} ${remarks.length === 1 ? 'remark' : 'remarks'}`),
    at.has(null) ? el('ul', { class: 'said' }, ...(at.get(null) ?? []).map(sentence)) : null,
    rows.length === 0 ? null : el('ol', { class: 'lines' }, ...rows),
    rest > 0 ? el('p', { class: 'hint' }, `${rest} more stand in the JSON.`) : null,
  )
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The line in which a range starts is known better than the line that was named. */
function lineOf({ range, line }: Remark, starts: readonly number[]): number | null {
  if (range === null) return line === null || line > starts.length ? null : line
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? Infinity) <= range.start) low = middle
    else high = middle
  }
  return low + 1
}

function lineText(text: string, starts: readonly number[], line: number): string {
  return text.slice(starts[line - 1] ?? 0, (starts[line] ?? text.length + 1) - 1)
}

/** Runs of lines that are shown, each with the number of lines left out before it. */
function windows(lines: readonly number[], last: number): { skipped: number; lines: number[] }[] {
  const found: { skipped: number; lines: number[] }[] = []
  let shown = 0
  for (const line of lines) {
    const from = Math.max(shown + 1, line - AROUND)
    const to = Math.min(last, line + AROUND)
    const more = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
    const run = found.at(-1)
    if (run === undefined || from > shown + 1) found.push({ skipped: from - shown - 1, lines: more })
    else run.lines.push(...more)
    shown = Math.max(shown, to)
  }
  return found
}

function skippedWords(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`
}

function lineRow(line: number, text: string, start: number, remarks: readonly Remark[]): HTMLElement {
  const ranges = remarks.flatMap(({ range, severity }) => (range === null ? [] : [{ ...cut(range, start, text.length), severity }]))
  return el(
    'li',
    { class: remarks.length > 0 ? 'remarked' : false },
    el('span', { class: 'number' }, String(line)),
    el('code', {}, ...marked(text, ranges)),
    remarks.length === 0 ? null : el('ul', { class: 'said' }, ...remarks.map(sentence)),
  )
}

function cut({ start, end }: Range, from: number, length: number): Range {
  return { start: Math.max(0, start - from), end: Math.min(length, end - from, start - from + MARK_CHARS) }
}

type Marked = Range & { severity: Remark['severity'] }

/** The line with its marks; of a long one only what is around them. */
function marked(text: string, ranges: readonly Marked[]): (Node | string)[] {
  const pieces: (Node | string)[] = []
  const margin = text.length > WHOLE_LINE_CHARS ? AROUND_CHARS : text.length
  let shown = 0
  const plain = (from: number, to: number) => {
    if (from > shown) pieces.push('…')
    pieces.push(text.slice(Math.max(from, shown), to))
    shown = Math.max(shown, to)
  }
  for (const { start, end, severity } of ranges.toSorted((a, b) => a.start - b.start)) {
    // Marks do not overlap on the page: what an earlier one covers is not marked again.
    const from = Math.max(start, shown)
    if (end <= from) continue
    plain(Math.max(shown, from - margin), from)
    pieces.push(el('mark', { class: MARKS[severity] }, text.slice(from, end)))
    shown = end
    plain(end, nextStop(text, ranges, end, margin))
  }
  if (ranges.length === 0) plain(0, Math.min(text.length, WHOLE_LINE_CHARS))
  if (shown < text.length) pieces.push('…')
  return pieces
}

/** Where the plain text after a mark ends: before the next mark, at most a margin on. */
function nextStop(text: string, ranges: readonly Marked[], from: number, margin: number): number {
  const next = Math.min(...ranges.filter(({ start }) => start >= from).map(({ start }) => start))
  return Math.min(text.length, from + margin, next)
}

function sentence({ severity, message, expected, where, code }: Remark): HTMLElement {
  const mark = MARKS[severity]
  const word = severity === 'info' ? 'note' : severity
  return el(
    'li',
    {},
    el('span', { class: `verdict small ${mark}` }, markShape(mark), word),
    ` ${message}${expected === null ? '' : ` Expected: ${expected}.`} `,
    el('span', { class: 'hint' }, [code, where].filter((part) => part !== null && part !== '').join(' · ')),
  )
}
