import { useEffect, useRef } from 'preact/hooks'
import type { Part, Range, ShownFinding } from '../../../service/catalogue/answer-view.ts'
import { html } from '../html.ts'

interface IdentifierProps {
  value: string
  parts: readonly Part[]
  findings: readonly ShownFinding[]
}

/**
 * A checked identifier, set large and split into its labelled parts. A finding underlines exactly the characters that it is about, and its
 * sentence hangs below them; the rightmost finding comes first, so that no line crosses a sentence.
 */
export function Identifier({ value, parts, findings }: IdentifierProps) {
  const figure = useRef<HTMLElement>(null)
  useEffect(() => {
    const element = figure.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => placeFindings(element))
    observer.observe(element)
    return () => observer.disconnect()
  }, [value, findings])
  const ranges = findings.map(({ range }) => range).filter((range) => range !== null)
  const size = value.length <= 14 ? 'large' : value.length <= 24 ? 'middle' : 'small'
  const ordered = findings.toSorted((a, b) => (b.range?.start ?? -1) - (a.range?.start ?? -1))
  return html`<figure class="identifier" aria-label="The value as it was checked" ref=${figure}>
    <div class=${`parts ${size}`}>
      ${withGaps(value, parts).map(
        ({ label, start, end }) =>
          html`<span class="part">
            <span class="characters">${runs(value, { start, end }, ranges)}</span>
            <span class="label">${label.replaceAll('_', ' ')}</span>
          </span>`,
      )}
    </div>
    ${
      ordered.length > 0 &&
      html`<ol class="bare findings">
        ${ordered.map(
          ({ range, message, expected }) =>
            html`<li data-from=${range?.start}>${message}${expected === null ? '' : ` Expected: ${expected}.`}</li>`,
        )}
      </ol>`
    }
  </figure>`
}

/** The parts, and unlabelled ones for the characters between them. */
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

/** The characters of one part, those of findings marked. */
function runs(value: string, { start, end }: Range, faults: readonly Range[]) {
  const isFault = (index: number) => faults.some((fault) => index >= fault.start && index < fault.end)
  const found = []
  for (let from = start; from < end;) {
    let to = from + 1
    while (to < end && isFault(to) === isFault(from) && !faults.some((fault) => fault.start === to)) to++
    const text = value.slice(from, to)
    found.push(isFault(from) ? html`<mark data-at=${from}>${text}</mark>` : text)
    from = to
  }
  return found
}

/** Least room for a sentence, in pixels: where there is less to the right of its underline, it starts further left, under its line. */
const SENTENCE_PX = 220

/** Moves each sentence under the start of its underline, with a line up to the part that contains it. */
function placeFindings(figure: HTMLElement): void {
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
    const rise = free ? line.getBoundingClientRect().top - part.getBoundingClientRect().bottom : 0
    line.style.setProperty('--rise', `${Math.round(rise)}px`)
  }
}
