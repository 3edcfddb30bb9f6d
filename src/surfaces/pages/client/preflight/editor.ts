import type { Severity } from '../../../../pure/protocols/rule.ts'
import { el } from '../dom.ts'
import { markShape } from '../verdict.ts'
import { Lines } from './lines.ts'

/** A stretch of the text that a finding is about. */
export interface Mark {
  start: number
  end: number
  severity: Severity
}

/** Height of a line in pixels, as the style sheet has it. */
const LINE = 20
/** Lines that are drawn beyond what is seen. */
const MARGIN = 2
/** Lines that stay above one that is jumped to. */
const ABOVE = 4

/**
 * A text field over a sheet that shows line numbers and marks. Only the lines in sight are drawn, so that a document of any length scrolls
 * like a short one; lines do not wrap, so that each is one line high.
 */
export class Editor {
  readonly field: HTMLTextAreaElement
  private readonly gutter: HTMLElement
  private readonly under: HTMLElement
  private known: Lines | null = null
  private marks: readonly Mark[] = []
  private current: Mark | null = null

  constructor(frame: HTMLElement) {
    const [field, gutter, under] = [frame.querySelector('textarea'), frame.querySelector('.gutter'), frame.querySelector('.under')]
    if (field === null || !(gutter instanceof HTMLElement) || !(under instanceof HTMLElement)) throw new Error('the page has no editor')
    this.field = field
    this.gutter = gutter
    this.under = under
    field.addEventListener('input', () => this.forget())
    field.addEventListener('scroll', () => this.draw(), { passive: true })
    new ResizeObserver(() => this.draw()).observe(field)
    this.draw()
  }

  get lines(): Lines {
    return (this.known ??= new Lines(this.field.value))
  }

  /** Replaces the text, as if it had been typed. */
  set(text: string): void {
    this.field.value = text
    this.field.scrollTo(0, 0)
    this.field.setSelectionRange(0, 0)
    this.field.dispatchEvent(new Event('input', { bubbles: true }))
  }

  /** Shows these marks, which belong to the text as it stands. */
  mark(marks: readonly Mark[]): void {
    this.marks = marks.toSorted((one, other) => one.start - other.start)
    this.current = null
    this.draw()
  }

  /** Moves the caret to a mark and the mark into view. */
  show(mark: Mark): void {
    this.current = mark
    const { line, column } = this.lines.place(mark.start)
    this.field.focus({ preventScroll: true })
    this.field.setSelectionRange(mark.start, mark.start)
    this.field.scrollTop = Math.max(0, (line - 1 - ABOVE) * LINE)
    this.field.scrollLeft = Math.max(0, (column - 24) * this.characterWidth())
    this.field.closest('.paper')?.scrollIntoView({ block: 'nearest' })
    this.draw()
  }

  /** Marks of a text that has changed point nowhere. */
  private forget(): void {
    this.known = null
    this.marks = []
    this.current = null
    this.draw()
  }

  private characterWidth(): number {
    const probe = el('span', {}, '0'.repeat(10))
    this.under.append(probe)
    const width = probe.getBoundingClientRect().width / 10
    probe.remove()
    return width
  }

  private draw(): void {
    const { scrollTop, scrollLeft, clientHeight } = this.field
    const { lines } = this
    const first = Math.max(0, Math.floor(scrollTop / LINE) - MARGIN)
    const last = Math.min(lines.count - 1, Math.ceil((scrollTop + clientHeight) / LINE) + MARGIN)
    const byLine = this.marksByLine(first, last)
    const numbers: HTMLElement[] = []
    const sheets: HTMLElement[] = []
    for (let line = first; line <= last; line++) {
      const marks = byLine.get(line) ?? []
      numbers.push(this.number(line, marks))
      if (marks.length > 0) sheets.push(this.sheet(line, marks))
    }
    this.gutter.replaceChildren(...numbers)
    this.under.replaceChildren(...sheets)
    this.gutter.style.setProperty('--scroll', `${-scrollTop}px`)
    this.under.style.setProperty('--scroll', `${-scrollTop}px`)
    this.under.style.setProperty('--aside', `${-scrollLeft}px`)
  }

  private marksByLine(first: number, last: number): Map<number, Mark[]> {
    const found = new Map<number, Mark[]>()
    for (const mark of this.marks) {
      const line = this.lines.lineOf(mark.start)
      if (line < first || line > last) continue
      found.set(line, [...(found.get(line) ?? []), mark])
    }
    return found
  }

  private number(line: number, marks: readonly Mark[]): HTMLElement {
    const shown = el('span', { class: classOf(marks) }, String(line + 1))
    if (marks.length > 0) shown.prepend(markShape(isError(marks) ? 'invalid' : 'unverifiable'))
    shown.style.setProperty('--line', String(line))
    return shown
  }

  /** The text of a line with its marks; it is not seen itself, it only gives the marks their places. */
  private sheet(line: number, marks: readonly Mark[]): HTMLElement {
    const { start, end } = this.lines.range(line)
    const { text } = this.lines
    const pieces: (Node | string)[] = []
    let at = start
    for (const mark of marks) {
      const [from, to] = [Math.max(at, mark.start), Math.min(end, mark.end)]
      if (to <= from) continue
      pieces.push(text.slice(at, from), el('mark', { class: mark.severity }, text.slice(from, to)))
      at = to
    }
    const current = this.current !== null && marks.includes(this.current) ? ' current' : ''
    const shown = el('span', { class: classOf(marks) + current }, ...pieces)
    shown.style.setProperty('--line', String(line))
    return shown
  }
}

function isError(marks: readonly Mark[]): boolean {
  return marks.some(({ severity }) => severity === 'error')
}

function classOf(marks: readonly Mark[]): string {
  return marks.length === 0 ? '' : isError(marks) ? 'error' : 'warning'
}
