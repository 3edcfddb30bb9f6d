import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import { readAmount, type Receipt } from '../../../pure/receipts/receipt.ts'
import { SEAL_UNITS, sealPaths, type SealForm } from '../../../pure/receipts/seal.ts'
import { verifyReceipt } from '../../../pure/receipts/verify.ts'
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

/** Seal, digest, signer and time of a receipt; the signature is verified here, in the reader's browser. */
export function ReceiptProof({ receipt, badge }: { receipt: Receipt; badge?: unknown }) {
  const { valid, digest, signer_recovered } = verifyReceipt(receipt)
  const text = JSON.stringify(receipt)
  const rows = [
    ['Receipt', digest ?? 'none'],
    [valid ? 'Signed by (recovered in this browser)' : 'The signature is not valid', signer_recovered ?? 'unknown'],
    ['Issued', timeText(receipt.ts)],
    ['Paid', amountText(receipt.amount)],
  ]
  return html`<section class="proof" aria-label="Receipt">
    <${Seal} digest=${digest} broken=${!valid} />
    <dl>${rows.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
    <p class="act">
      <a href=${verifyLink(badge, text)}>Verify this receipt</a>
      <button type="button" class="copy" data-copies="receipt-text">Copy receipt</button>
    </p>
    <pre id="receipt-text" hidden>${text}</pre>
  </section>`
}

/**
 * The address of the page that verifies a receipt; what follows the # never leaves the browser. The badge has the short one, so that the
 * encoder need not be loaded.
 */
function verifyLink(badge: unknown, text: string): string {
  const short = typeof badge === 'string' ? /\/verify#r=[\w-]+(?=\)$)/.exec(badge)?.[0] : undefined
  if (short !== undefined) return short
  const bytes = new TextEncoder().encode(text)
  return `/verify#r=${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')}`
}

/** Seconds since 1970 as a date in UTC, or unchanged beyond the range of dates. */
export function timeText(ts: number): string {
  const date = new Date(ts * 1000)
  return Number.isNaN(date.getTime()) ? String(ts) : date.toISOString().replace('T', ' ').replace('.000Z', ' UTC')
}

/** The amount of a receipt, exactly; that of a token other than USDC with its price and its id, which names network and contract. */
export function amountText(amount: string): string {
  if (amount === '0') return 'nothing (free call)'
  const paid = readAmount(amount)
  if (paid === null) return amount
  const { asset, amount_minor, price_minor } = paid
  if (asset === null) return `${usdcDecimal(amount_minor)} USDC`
  return `${amount_minor} minor units of ${asset} for ${usdcDecimal(price_minor)} USD`
}
