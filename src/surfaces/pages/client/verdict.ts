import type { BadgeVerdict } from '../../../pure/headline.ts'
import { el, svg } from './dom.ts'
import { isMembers, type Members } from './shapes.ts'

/** A verdict as a shape, a word and a colour, with its reason. */
export function verdictBlock(mark: BadgeVerdict, word: string, reason: string | null): HTMLElement {
  return el(
    'div',
    { class: `verdict ${mark}` },
    markShape(mark),
    el('p', { class: 'word' }, word),
    reason === null ? null : el('p', { class: 'reason' }, reason),
  )
}

export function markShape(mark: BadgeVerdict): SVGElement {
  return svg('svg', { class: 'shape', 'aria-hidden': 'true' }, svg('use', { href: `#mark-${mark}` }))
}

/** What was checked and what was not, in one calm line. */
export function scopeLine(result: Members): HTMLElement | null {
  const { scope } = result
  if (!isMembers(scope) || !Array.isArray(scope['checked']) || !Array.isArray(scope['not_checked'])) return null
  return el('p', { class: 'scope-line' }, `Checked: ${scope['checked'].join('; ')}. Not checked: ${scope['not_checked'].join('; ')}.`)
}
