import { el } from './dom.ts'
import type { Finding, Part, Range } from './shapes.ts'

/**
 * The identifier as the hero: large, split into its labelled parts. A finding underlines exactly the characters that it is about, and
 * its sentence hangs below them; the rightmost comes first, so that no line crosses a sentence.
 */
export function identifier(value: string, parts: readonly Part[], findings: readonly Finding[]): HTMLElement {
  const ranges = findings.map(({ range }) => range).filter((range) => range !== null)
  const pieces = withGaps(value, parts).map((part) => piece(value, part, ranges))
  const size = value.length <= 14 ? 'large' : value.length <= 24 ? 'middle' : 'small'
  const figure = el(
    'figure',
    { class: 'identifier', 'aria-label': 'The value as it was checked' },
    el('div', { class: `parts ${size}` }, ...pieces),
  )
  const ordered = findings.toSorted((a, b) => (b.range?.start ?? -1) - (a.range?.start ?? -1))
  if (ordered.length > 0) figure.append(el('ol', { class: 'findings' }, ...ordered.map(sentence)))
  new ResizeObserver(() => hang(figure)).observe(figure)
  return figure
}

/** The parts, and unlabelled pieces for the characters between them. */
function withGaps(value: string, parts: readonly Part[]): Part[] {
  const all: Part[] = []
  let from = 0
  for (const part of parts) {
    if (part.start > from) all.push({ label: '', start: from, end: part.start })
    all.push(part)
    from = part.end
  }
  if (from < value.length) all.push({ label: '', start: from, end: value.length })
  return all
}

function piece(value: string, { label, start, end }: Part, faults: readonly Range[]): HTMLElement {
  const characters = el('span', { class: 'characters' })
  const isFault = (index: number) => faults.some((fault) => index >= fault.start && index < fault.end)
  for (let from = start; from < end;) {
    let to = from + 1
    while (to < end && isFault(to) === isFault(from) && !faults.some((fault) => fault.start === to)) to++
    const run = value.slice(from, to)
    characters.append(isFault(from) ? el('mark', { 'data-at': String(from) }, run) : run)
    from = to
  }
  return el('span', { class: 'part' }, characters, el('span', { class: 'label' }, label.replaceAll('_', ' ')))
}

function sentence({ range, message, expected }: Finding): HTMLElement {
  const hint = expected === null ? '' : ` Expected: ${expected}.`
  return el('li', range === null ? {} : { 'data-from': String(range.start) }, `${message}${hint}`)
}

/** Least room for a sentence, in pixels: where there is less to the right of its underline, it starts further left, under its line. */
const SENTENCE_PX = 220

/** Moves each sentence under the start of its underline, with a line up to the part that holds it. */
function hang(figure: HTMLElement): void {
  const left = figure.getBoundingClientRect().left
  for (const line of figure.querySelectorAll<HTMLElement>('li[data-from]')) {
    const mark = figure.querySelector(`mark[data-at="${line.dataset['from'] ?? ''}"]`)
    const part = mark?.closest('.part')
    if (!mark || !part) continue
    const at = mark.getBoundingClientRect().left - left
    const x = Math.max(0, Math.min(at, figure.clientWidth - SENTENCE_PX))
    line.classList.toggle('under', x < at)
    line.style.setProperty('--x', `${Math.round(x)}px`)
    line.style.setProperty('--line', `${Math.round(at - x)}px`)
    const list = part.parentElement?.getBoundingClientRect().bottom ?? 0
    // A line from an upper row would cross other parts, and a second one under its line the first sentence: there the underline has to do.
    const free = part.getBoundingClientRect().bottom >= list - 2 && (x === at || line.previousElementSibling === null)
    line.style.setProperty(
      '--rise',
      free ? `${Math.round(line.getBoundingClientRect().top - part.getBoundingClientRect().bottom)}px` : '0px',
    )
  }
}
