import { SEAL_UNITS, sealPaths, type SealForm } from '../../../pure/receipts/seal.ts'
import { el, svg } from './dom.ts'

/** The seal of a receipt, drawn from its digest; null draws the empty rim that waits for one. */
export function seal(digest: string | null, form: SealForm = {}): SVGElement {
  const words =
    digest === null
      ? 'No receipt, no seal.'
      : form.broken === true
        ? 'Broken seal: this does not verify.'
        : 'Seal of this receipt: a visual fingerprint, not proof.'
  return svg(
    'svg',
    {
      class: digest === null ? 'seal empty' : form.broken === true ? 'seal broken' : 'seal',
      viewBox: `0 0 ${SEAL_UNITS} ${SEAL_UNITS}`,
      role: 'img',
    },
    svg('title', {}, words),
    ...(digest === null
      ? EMPTY_RIM.map(rim)
      : sealPaths(digest, form).map(({ d, stroke_width }) => svg('path', { d, 'stroke-width': String(stroke_width * HEAVIER) }))),
  )
}

/** Lines of a seal are drawn for a hand's width; on a page it is a thumb's. */
const HEAVIER = 1.6

/** Radii of the circles that wait for a seal. */
const EMPTY_RIM = [488, 430]

function rim(r: number): SVGElement {
  return svg('circle', {
    cx: String(SEAL_UNITS / 2),
    cy: String(SEAL_UNITS / 2),
    r: String(r),
    'stroke-width': '7',
    'stroke-dasharray': '10 16',
  })
}

export function emptyProof(): HTMLElement {
  const words = 'Not signed yet: this is the example. Send the form, and the answer comes with a receipt and its seal.'
  return el('section', { class: 'proof', 'aria-label': 'Receipt' }, seal(null), el('p', { class: 'hint' }, words))
}
