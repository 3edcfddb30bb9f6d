import { html } from './html.ts'

/**
 * Shape of each verdict, for `<use href="#mark-…">`: a filled ring with a tick, a half ring, an open ring with a stroke, and a plain ring
 * for answers that judge nothing. Colours come from the style sheet, so that they follow light and dark.
 */
export function MarkSprite() {
  return html`<svg class="sprite" width="0" height="0" aria-hidden="true">
    <symbol id="mark-valid" viewBox="-12 -12 24 24">
      <circle r="10.5" fill="currentColor" />
      <path class="tick" d="M-5 .2l3.4 3.6L5.2-3.8" fill="none" stroke-width="2.4" />
    </symbol>
    <symbol id="mark-unverifiable" viewBox="-12 -12 24 24">
      <circle r="9.6" fill="none" stroke="currentColor" stroke-width="1.8" />
      <path d="M0-10.5a10.5 10.5 0 0 1 0 21z" fill="currentColor" />
    </symbol>
    <symbol id="mark-invalid" viewBox="-12 -12 24 24">
      <circle r="9.6" fill="none" stroke="currentColor" stroke-width="1.8" />
      <path d="M-6.8 6.8L6.8-6.8" stroke="currentColor" stroke-width="1.8" />
    </symbol>
    <symbol id="mark-done" viewBox="-12 -12 24 24"><circle r="9.6" fill="none" stroke="currentColor" stroke-width="1.8" /></symbol>
  </svg>`
}
