import { readAmount, type Receipt } from '../../../pure/receipts/receipt.ts'
import { verifyReceipt } from '../../../pure/receipts/verify.ts'
import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import { html } from '../html.ts'
import { Seal } from './seal.ts'

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
