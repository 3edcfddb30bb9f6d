import type { BadgeVerdict, Headline } from '../../../pure/headline.ts'
import { markOf } from '../../../pure/headline.ts'
import { html } from '../html.ts'

export function MarkShape({ mark }: { mark: BadgeVerdict }) {
  return html`<svg class="shape" aria-hidden="true"><use href=${`#mark-${mark}`}></use></svg>`
}

/** The decision of an answer: shape, word and sentence. */
export function Verdict({ headline: { tone, word, sentence } }: { headline: Headline }) {
  const mark = markOf(tone)
  return html`<div class=${`verdict ${mark}`}>
    <${MarkShape} mark=${mark} />
    <p class="word">${word}</p>
    ${sentence !== '' && html`<p class="reason">${sentence}</p>`}
  </div>`
}

/** A verdict within a line or a cell. */
export function SmallVerdict({ mark, word }: { mark: BadgeVerdict; word: string }) {
  return html`<span class=${`verdict small ${mark}`}><${MarkShape} mark=${mark} />${word}</span>`
}
