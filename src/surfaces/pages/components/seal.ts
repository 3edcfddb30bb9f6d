import { SEAL_UNITS, sealPaths, type SealForm } from '../../../pure/receipts/seal.ts'
import { html } from '../html.ts'

/** Lines of a seal are made for the width of a hand; a page shows it at the width of a thumb. */
const STROKE_FACTOR = 1.6

/** Radii of the circles that are drawn before there is a receipt. */
const EMPTY_RIM = [488, 430]

/** The seal of a receipt, drawn from its digest; null draws the empty rim. */
export function Seal({ digest, broken = false }: { digest: string | null } & SealForm) {
  const label =
    digest === null
      ? 'No receipt, no seal.'
      : broken
        ? 'Broken seal: this receipt does not verify.'
        : 'Seal of this receipt: a visual fingerprint, not proof.'
  return html`<svg
    class=${`seal${digest === null ? ' empty' : broken ? ' broken' : ''}`}
    viewBox=${`0 0 ${SEAL_UNITS} ${SEAL_UNITS}`}
    role="img"
  >
    <title>${label}</title>
    ${
      digest === null
        ? EMPTY_RIM.map((r) => html`<circle cx=${SEAL_UNITS / 2} cy=${SEAL_UNITS / 2} r=${r} stroke-width="7" stroke-dasharray="10 16" />`)
        : sealPaths(digest, { broken }).map(({ d, stroke_width }) => html`<path d=${d} stroke-width=${stroke_width * STROKE_FACTOR} />`)
    }
  </svg>`
}
