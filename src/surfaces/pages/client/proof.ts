import type { Receipt } from '../../../pure/receipts/receipt.ts'
import { SEAL_UNITS, sealPaths, type SealForm } from '../../../pure/receipts/seal.ts'
import { verifyReceipt } from '../../../pure/receipts/verify.ts'
import { usdcText } from '../../../service/payments/price.ts'
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

/** Seal, digest, signer and time of a receipt that came with an answer; the signature is checked here, by the reader's own machine. */
export function proofBlock(receipt: Receipt): HTMLElement {
  const { valid, digest, signer_recovered } = verifyReceipt(receipt)
  const text = JSON.stringify(receipt)
  return el(
    'section',
    { class: 'proof', 'aria-label': 'Receipt' },
    seal(digest, { broken: !valid }),
    el(
      'dl',
      {},
      row('receipt', digest ?? 'none'),
      row(valid ? 'signed by, as this browser recovered it' : 'the signature does not hold', signer_recovered ?? 'nobody'),
      row('at', timeText(receipt.ts)),
      row('paid', amountText(receipt.amount)),
    ),
    el(
      'p',
      { class: 'act' },
      el('a', { href: verifyLink(text) }, 'Verify this receipt'),
      el('button', { type: 'button', class: 'copy', 'data-copies': 'receipt-text' }, 'Copy receipt'),
    ),
    el('pre', { id: 'receipt-text', hidden: true }, text),
  )
}

export function emptyProof(): HTMLElement {
  const words = 'Not signed yet: this is the example. Send the form, and the answer comes with a receipt and its seal.'
  return el('section', { class: 'proof', 'aria-label': 'Receipt' }, seal(null), el('p', { class: 'hint' }, words))
}

export function row(label: string, value: Node | string): HTMLElement {
  return el('div', {}, el('dt', {}, label), el('dd', {}, value))
}

/** The address of the page that judges a receipt; what stands behind the # stays in the browser. */
function verifyLink(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return `/verify#r=${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')}`
}

/** Seconds since 1970 as a date in UTC, or as they stand where no calendar reaches. */
export function timeText(ts: number): string {
  const date = new Date(ts * 1000)
  return Number.isNaN(date.getTime()) ? String(ts) : date.toISOString().replace('T', ' ').replace('.000Z', ' UTC')
}

/** Minor units of USDC, exactly. */
export function amountText(amount: string): string {
  if (amount === '0') return 'nothing'
  return /^\d{1,78}$/.test(amount) ? `${usdcText(BigInt(amount))} USDC` : amount
}
