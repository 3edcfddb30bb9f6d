import type { Verdict } from '../../../../pure/documents/reconcile/verdicts.ts'
import { el, svg } from '../dom.ts'
import { markShape } from '../verdict.ts'
import { VERDICT_MARKS, VIEW_WORDS } from './words.ts'

/** A verdict as shape, word and colour. Money that was paid more than once is two rings, one over the other. */
export function verdictMark(verdict: Verdict): HTMLElement {
  return el('span', { class: `mini ${colourOf(verdict)}` }, verdictShape(verdict), VIEW_WORDS[verdict])
}

export function verdictShape(verdict: Verdict): SVGElement {
  const mark = VERDICT_MARKS[verdict]
  if (mark !== 'twice') return markShape(mark)
  const ring = (cx: string) => svg('circle', { cx, r: '7.4', fill: 'none', stroke: 'currentColor', 'stroke-width': '2.2' })
  return svg('svg', { class: 'shape', viewBox: '-12 -12 24 24', 'aria-hidden': 'true' }, ring('-3.6'), ring('3.6'))
}

export function colourOf(verdict: Verdict): 'valid' | 'unverifiable' | 'invalid' {
  const mark = VERDICT_MARKS[verdict]
  return mark === 'twice' ? 'invalid' : mark
}
