import type { VNode } from 'preact'
import { pointerStep } from '../../../pure/documents/json-schema/json.ts'
import { findJsonRanges } from '../../../pure/documents/json-text.ts'
import type { BadgeVerdict } from '../../../pure/headline.ts'
import { objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import { labelOf, type Range } from '../../../service/catalogue/answer-view.ts'
import { html } from '../html.ts'
import type { DocumentViews } from './answer.ts'
import { SmallVerdict } from './verdict.ts'

/**
 * Findings at their place in the input, recognized by the form of the answer alone: findings that have a line (payment messages), errors that
 * have a pointer (data against a schema), fields of a receipt. `input` has the texts of the form's fields; null where no finding has a place.
 */
export function documentFindings(result: Members, input: ReadonlyMap<string, string>): DocumentViews | null {
  const sources = [linedFindings(result), pointedErrors(result), receiptFields(result, input)].filter((one) => one !== null)
  const views = sources.flatMap(({ inputs }) =>
    [...inputs].flatMap(([name, found]) => {
      const text = input.get(name) ?? ''
      return text === '' || found.length === 0
        ? []
        : [html`<${DocumentLines} title=${labelOf(name)} text=${text} findings=${located(text, found)} />`]
    }),
  )
  return views.length === 0 ? null : { views, shown: sources.flatMap(({ shown }) => shown) }
}

/** A finding before its characters are looked up. */
type UnlocatedFinding = Omit<DocumentFinding, 'range'> & { pointer: string | null; path: string | null }

interface FindingSource {
  /** By the name of the input. */
  inputs: Map<string, UnlocatedFinding[]>
  /** Members of the result that need not be shown again. */
  shown: string[]
}

/** Findings with a line or a path; `file` is an index into `files`; an answer without `files` has one input. */
function linedFindings(result: Members): FindingSource | null {
  const findings = objectsIn(result['findings']).filter((one) => 'line' in one)
  if (findings.length === 0) return null
  const files: unknown[] = Array.isArray(result['files']) ? result['files'] : ['raw_payload']
  const inputs = Map.groupBy(findings, ({ file }) => textOf(files[typeof file === 'number' ? file : 0]) ?? '')
  return { inputs: new Map([...inputs].map(([name, list]) => [name, list.map(lined)])), shown: ['finding_count', 'finding_counts'] }
}

function lined({ severity, line, path, message, expected, code }: Members): UnlocatedFinding {
  return {
    severity: severity === 'warning' || severity === 'info' ? severity : 'error',
    line: typeof line === 'number' ? line : null,
    message: textOf(message) ?? '',
    expected: textOf(expected),
    where: textOf(path),
    code: textOf(code),
    pointer: null,
    path: textOf(path),
  }
}

/** Errors with a pointer into the data. */
function pointedErrors(result: Members): FindingSource | null {
  const errors = objectsIn(result['errors']).filter(({ instance_path }) => typeof instance_path === 'string')
  if (errors.length === 0) return null
  const found = errors.map(({ instance_path, keyword, message }) => pointed(textOf(instance_path) ?? '', textOf(message), textOf(keyword)))
  return { inputs: new Map([['data', found]]), shown: ['errors', 'error_count'] }
}

/** Findings that name a field of the verified receipt. */
function receiptFields(result: Members, input: ReadonlyMap<string, string>): FindingSource | null {
  const findings = input.has('receipt') && 'signer_recovered' in result ? objectsIn(result['findings']) : []
  if (findings.length === 0) return null
  const found = findings.map(({ field, message, code }) => pointed(pointerTo(textOf(field)), textOf(message), textOf(code)))
  return { inputs: new Map([['receipt', found]]), shown: [] }
}

function pointerTo(field: string | null): string {
  return field === null ? '' : pointerStep(field)
}

function pointed(pointer: string, message: string | null, code: string | null): UnlocatedFinding {
  return {
    severity: 'error',
    line: null,
    message: message ?? '',
    expected: null,
    where: pointer === '' ? 'the root' : pointer,
    code,
    pointer,
    path: null,
  }
}

/** Finds the characters that each finding is about. */
function located(text: string, found: readonly UnlocatedFinding[]): DocumentFinding[] {
  const pointers = findJsonRanges(
    text,
    found.flatMap(({ pointer }) => pointer ?? []),
  )
  const isXml = text.trimStart().startsWith('<')
  const elements = elementPlaces(
    isXml ? text : '',
    found.flatMap(({ path }) => path ?? []),
  )
  return found.map(({ pointer, path, ...finding }) => {
    const range = pointer === null ? elements.get(path ?? '') : pointers.get(pointer)
    return { ...finding, range: range === undefined ? null : { start: range.start, end: range.end } }
  })
}

/** A finding about a place in a document. */
interface DocumentFinding {
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

interface DocumentLinesProps {
  title: string
  text: string
  findings: readonly DocumentFinding[]
}

/** A document as numbered lines, each finding below the line that it is about; other lines are left out. */
function DocumentLines({ title, text, findings }: DocumentLinesProps) {
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

/**
 * Finds the ranges of XML elements by paths such as /Document/GrpHdr/NbOfTxs or /Document/PmtInf[2]: the text of an element that contains
 * only text, else its opening tag. One pass over the text; if the XML is not well-formed, ranges may be missing.
 */
export function elementPlaces(text: string, paths: Iterable<string>): Map<string, Range> {
  const wanted = new Map<string, string[]>()
  for (const path of paths) wanted.set(plainPath(path), [...(wanted.get(plainPath(path)) ?? []), path])
  const found = new Map<string, Range>()
  const open: Open[] = [{ path: '', tag: { start: 0, end: 0 }, bare: false, counts: new Map() }]
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const end = endOfMarkup(text, at)
    if (end === -1) break
    const mark = text.charAt(at + 1)
    const around = open.at(-1)
    if (around === undefined) break
    if (mark === '/') close(open, around, text, at)
    else if (mark !== '!' && mark !== '?') openElement(open, around, text, { start: at, end })
    at = end
  }
  return found

  function openElement(stack: Open[], parent: Open, source: string, tag: Range): void {
    const name = localName(source, tag.start + 1)
    const count = (parent.counts.get(name) ?? 0) + 1
    parent.counts.set(name, count)
    parent.bare = false
    const path = `${parent.path}/${name}${count === 1 ? '' : `[${count}]`}`
    const element = { path, tag, bare: true, counts: new Map<string, number>() }
    if (source.charAt(tag.end - 2) === '/') settle(element, tag)
    else stack.push(element)
  }

  function close(stack: Open[], element: Open, source: string, at: number): void {
    if (stack.length === 1) return
    stack.pop()
    const inner = { start: element.tag.end, end: at }
    settle(element, element.bare && source.slice(inner.start, inner.end).trim() !== '' ? inner : element.tag)
  }

  function settle({ path }: Open, range: Range): void {
    for (const asked of wanted.get(path) ?? []) found.set(asked, range)
  }
}

interface Open {
  path: string
  tag: Range
  /** It holds no other element. */
  bare: boolean
  /** Elements within it, by name. */
  counts: Map<string, number>
}

/** The first of its name may be counted or not. */
function plainPath(path: string): string {
  return path.replaceAll('[1]', '')
}

function localName(text: string, from: number): string {
  const name = /[^\s/>]*/y
  name.lastIndex = from
  const whole = name.exec(text)?.[0] ?? ''
  return whole.slice(whole.indexOf(':') + 1)
}

/** The end of what begins with `<` here; -1 when it does not end. */
function endOfMarkup(text: string, at: number): number {
  const until = (word: string) => {
    const end = text.indexOf(word, at)
    return end === -1 ? -1 : end + word.length
  }
  if (text.startsWith('<!--', at)) return until('-->')
  if (text.startsWith('<![CDATA[', at)) return until(']]>')
  if (text.startsWith('<?', at)) return until('?>')
  return endOfTag(text, at)
}

/** Returns the offset after the `>` that closes the tag, skipping quoted attribute values; -1 if there is none. */
function endOfTag(text: string, at: number): number {
  let quote = ''
  for (let index = at + 1; index < text.length; index++) {
    const character = text.charAt(index)
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '>') return index + 1
  }
  return -1
}
