import type { TargetedEvent } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { FindingSeverity } from '../../../pure/protocols/protocol.ts'
import { dropArea } from '../client/files.ts'
import { html } from '../html.ts'
import { MarkShape } from './verdict.ts'

/** Range of the text that a finding is about. */
export interface Mark {
  start: number
  end: number
  severity: FindingSeverity
}

export interface DocumentEditorProps {
  /** Current text of the field. The field is uncontrolled, so that typing never waits for a render. */
  text: string
  /** Offsets refer to `text`. */
  marks: readonly Mark[]
  /** Mark to move to; a new object moves again. */
  target: { mark: Mark } | null
  field: { current: HTMLTextAreaElement | null }
  onInput(text: string): void
  onFile(file: File): void
}

/** Height of a line in pixels, as in the style sheet. */
const LINE = 20
/** Lines that are drawn above and below the visible ones. */
const MARGIN = 2
/** Lines that stay above one that is jumped to. */
const ABOVE = 4

/** Visible part of the field, in pixels; null until measured. */
type Viewport = { top: number; left: number; height: number } | null

/**
 * Text field over a sheet with line numbers and marks. Draws only the visible lines, so that a document of any length scrolls like a short
 * one; lines do not wrap, so that each is one line high.
 */
export function DocumentEditor({ text, marks, target, field, onInput, onFile }: DocumentEditorProps) {
  const [viewport, setViewport] = useState<Viewport>(null)
  const under = useRef<HTMLPreElement>(null)
  const lines = useMemo(() => new Lines(text), [text])
  const measure = () => {
    if (field.current === null) return
    const { scrollTop: top, scrollLeft: left, clientHeight: height } = field.current
    setViewport({ top, left, height })
  }
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure)
    if (field.current !== null) observer.observe(field.current)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (target !== null && field.current !== null) moveTo(field.current, lines, target.mark, under.current)
  }, [target])
  return html`<div class="editor" id="editor" ...${dropArea(([file]) => file !== undefined && onFile(file))}>
    <${Sheets} lines=${lines} marks=${marks} current=${target?.mark ?? null} viewport=${viewport} under=${under}>
      <textarea
        id="document"
        ref=${field}
        aria-describedby="about-document"
        wrap="off"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        placeholder="Paste a document, or drop a file here."
        onInput=${(event: TargetedEvent<HTMLTextAreaElement>) => onInput(event.currentTarget.value)}
        onScroll=${measure}
      ></textarea>
    <//>
  </div>`
}

interface SheetsProps {
  lines: Lines
  marks: readonly Mark[]
  current: Mark | null
  viewport: Viewport
  under: { current: HTMLPreElement | null }
  children: unknown
}

/** Line numbers and the sheet under the field. Nothing is drawn before the field is measured, so the server writes no style attribute. */
function Sheets({ lines, marks, current, viewport, under, children }: SheetsProps) {
  const { top, left, height } = viewport ?? { top: 0, left: 0, height: 0 }
  const first = Math.max(0, Math.floor(top / LINE) - MARGIN)
  const last = viewport === null ? -1 : Math.min(lines.count - 1, Math.ceil((top + height) / LINE) + MARGIN)
  const byLine = marksByLine(lines, marks, first, last)
  const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
  const scroll = viewport === null ? undefined : { '--scroll': `${-top}px` }
  return html`
    <div class="gutter" aria-hidden="true" style=${scroll}>
      ${shown.map((line) => {
        const found = byLine.get(line) ?? []
        return html`<span key=${line} class=${classOf(found)} style=${{ '--line': String(line) }}
          >${found.length > 0 && html`<${MarkShape} mark=${isError(found) ? 'invalid' : 'unverifiable'} />`}${String(line + 1)}</span
        >`
      })}
    </div>
    <div class="sheet">
      <pre class="under" aria-hidden="true" ref=${under} style=${scroll && { ...scroll, '--aside': `${-left}px` }}>
        ${[...byLine].map(([line, found]) => html`<${MarkedLine} key=${line} lines=${lines} line=${line} marks=${found} current=${current} />`)}
      </pre>
      ${children}
    </div>
  `
}

/** Text of a line with its marks. The text is transparent; it only places the marks. */
function MarkedLine({ lines, line, marks, current }: { lines: Lines; line: number; marks: readonly Mark[]; current: Mark | null }) {
  const { start, end } = lines.range(line)
  const { text } = lines
  let at = start
  const pieces = marks.flatMap((mark) => {
    const [from, to] = [Math.max(at, mark.start), Math.min(end, mark.end)]
    if (to <= from) return []
    const before = text.slice(at, from)
    at = to
    return [before, html`<mark class=${mark.severity}>${text.slice(from, to)}</mark>`]
  })
  const is_current = current !== null && marks.includes(current)
  return html`<span class=${classOf(marks) + (is_current ? ' current' : '')} style=${{ '--line': String(line) }}>${pieces}</span>`
}

function marksByLine(lines: Lines, marks: readonly Mark[], first: number, last: number): Map<number, Mark[]> {
  const found = new Map<number, Mark[]>()
  for (const mark of marks.toSorted((one, other) => one.start - other.start)) {
    const line = lines.lineOf(mark.start)
    if (line >= first && line <= last) found.set(line, [...(found.get(line) ?? []), mark])
  }
  return found
}

/** Moves the caret to a mark and the mark into view. */
function moveTo(field: HTMLTextAreaElement, lines: Lines, mark: Mark, under: HTMLElement | null): void {
  const { line, column } = lines.place(mark.start)
  field.focus({ preventScroll: true })
  field.setSelectionRange(mark.start, mark.start)
  field.scrollTop = Math.max(0, (line - 1 - ABOVE) * LINE)
  field.scrollLeft = Math.max(0, (column - 24) * characterWidth(under))
  field.closest('.paper')?.scrollIntoView({ block: 'nearest' })
}

/** Width of a character of the sheet in pixels. */
function characterWidth(under: HTMLElement | null): number {
  const probe = document.createElement('span')
  probe.textContent = '0'.repeat(10)
  under?.append(probe)
  const width = probe.getBoundingClientRect().width / 10
  probe.remove()
  return width
}

function isError(marks: readonly Mark[]): boolean {
  return marks.some(({ severity }) => severity === 'error')
}

function classOf(marks: readonly Mark[]): string {
  return marks.length === 0 ? '' : isError(marks) ? 'error' : 'warning'
}

/** Line index of a text: offset of each line, and line of each offset. Only line feeds end a line, as in the positions of the service. */
export class Lines {
  readonly text: string
  private readonly starts: number[] = [0]

  constructor(text: string) {
    this.text = text
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.starts.push(at + 1)
  }

  get count(): number {
    return this.starts.length
  }

  /** First character of a line, from 0, and the one behind its last; the line feed is not part of it. */
  range(line: number): { start: number; end: number } {
    const start = this.starts[line] ?? this.text.length
    return { start, end: (this.starts[line + 1] ?? this.text.length + 1) - 1 }
  }

  /** Returns the line number, from 0, of a character offset. */
  lineOf(position: number): number {
    let [low, high] = [0, this.starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.starts[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Line and column as people count them, from 1. */
  place(position: number): { line: number; column: number } {
    const line = this.lineOf(position)
    return { line: line + 1, column: position - this.range(line).start + 1 }
  }
}
