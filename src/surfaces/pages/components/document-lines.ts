import type { VNode } from 'preact'
import type { BadgeVerdict } from '../../../pure/headline.ts'
import type { Range } from '../../../service/catalogue/answer-view.ts'
import { html } from '../html.ts'
import { SmallVerdict } from './verdict.ts'

/** A finding about a place in a document. */
export interface DocumentFinding {
  severity: 'error' | 'warning' | 'info'
  /** From 1; null for the document as a whole. */
  line: number | null
  /** Characters of the document; null for the line as a whole. */
  range: Range | null
  message: string
  expected: string | null
  /** Path or pointer in the document. */
  where: string | null
  code: string | null
}

const MARKS: Record<DocumentFinding['severity'], BadgeVerdict> = { error: 'invalid', warning: 'unverifiable', info: 'done' }

/** Findings that are shown; the JSON has all of them. */
const FINDINGS_SHOWN = 60
/** Lines shown around a line with findings. */
const AROUND = 1
/** Characters of a line that are shown as they are, and around a mark in longer ones. */
const WHOLE_LINE_CHARS = 240
const AROUND_CHARS = 70
const MARK_CHARS = 240

export interface DocumentLinesProps {
  title: string
  text: string
  findings: readonly DocumentFinding[]
}

/** A document as numbered lines, each finding below the line that it is about; other lines are left out. */
export function DocumentLines({ title, text, findings }: DocumentLinesProps) {
  const starts = lineStarts(text)
  const shown = findings.slice(0, FINDINGS_SHOWN).map((finding) => ({ ...finding, line: lineOf(finding, starts) }))
  const byLine = Map.groupBy(shown, ({ line }) => line)
  const lines = [...byLine.keys()].filter((line) => line !== null).toSorted((a, b) => a - b)
  const after = starts.length - (lines.at(-1) ?? 0) - AROUND
  const rest = findings.length - shown.length
  return html`<figure class="document" aria-label=${`${title}, with findings`}>
    <figcaption><b>${title}</b>${` ${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`}</figcaption>
    ${byLine.has(null) && html`<${FindingList} findings=${byLine.get(null) ?? []} />`}
    ${
      lines.length > 0 &&
      html`<ol class="lines">
        ${windows(lines, starts.length).map(
          (window) => html`
            ${window.skipped > 0 && html`<${Skipped} lines=${window.skipped} />`}
            ${window.lines.map(
              (line) =>
                html`<${Line}
                  line=${line}
                  text=${lineText(text, starts, line)}
                  start=${starts[line - 1] ?? 0}
                  findings=${byLine.get(line) ?? []}
                />`,
            )}
          `,
        )}
        ${after > 0 && html`<${Skipped} lines=${after} />`}
      </ol>`
    }
    ${rest > 0 && html`<p class="hint">${rest} more are in the JSON.</p>`}
  </figure>`
}

function Skipped({ lines }: { lines: number }) {
  return html`<li class="skipped">${lines === 1 ? '1 line' : `${lines} lines`}</li>`
}

interface LineProps {
  line: number
  text: string
  start: number
  findings: readonly DocumentFinding[]
}

function Line({ line, text, start, findings }: LineProps) {
  const ranges = findings.flatMap(({ range, severity }) => (range === null ? [] : [{ ...cut(range, start, text.length), severity }]))
  return html`<li class=${findings.length > 0 ? 'remarked' : undefined}>
    <span class="number">${line}</span>
    <code>${marked(text, ranges)}</code>
    ${findings.length > 0 && html`<${FindingList} findings=${findings} />`}
  </li>`
}

function FindingList({ findings }: { findings: readonly DocumentFinding[] }) {
  return html`<ul class="said">
    ${findings.map(
      ({ severity, message, expected, where, code }) => html`<li>
        <${SmallVerdict} mark=${MARKS[severity]} word=${severity === 'info' ? 'note' : severity} />
        ${` ${message}${expected === null ? '' : ` Expected: ${expected}.`} `}
        <span class="hint">${[code, where].filter((part) => part !== null && part !== '').join(' · ')}</span>
      </li>`,
    )}
  </ul>`
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The line of the range, which is more exact than the named line. */
function lineOf({ range, line }: DocumentFinding, starts: readonly number[]): number | null {
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

function cut({ start, end }: Range, from: number, length: number): Range {
  return { start: Math.max(0, start - from), end: Math.min(length, end - from, start - from + MARK_CHARS) }
}

type Marked = Range & { severity: DocumentFinding['severity'] }

/** The line with its marks; of a long one only what is around them. */
function marked(text: string, ranges: readonly Marked[]): (VNode | string)[] {
  const pieces: (VNode | string)[] = []
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
    pieces.push(html`<mark class=${MARKS[severity]}>${text.slice(from, end)}</mark>`)
    shown = end
    plain(end, nextStop(text, ranges, end, margin))
  }
  if (ranges.length === 0) plain(0, Math.min(text.length, WHOLE_LINE_CHARS))
  if (shown < text.length) pieces.push('…')
  return pieces
}

/** Returns the end of the plain text after a mark: the start of the next mark, at most `margin` characters further. */
function nextStop(text: string, ranges: readonly Marked[], from: number, margin: number): number {
  const next = Math.min(...ranges.filter(({ start }) => start >= from).map(({ start }) => start))
  return Math.min(text.length, from + margin, next)
}
