import type { Receipt } from '../../../pure/receipts/receipt.ts'
import { verifyReceipt } from '../../../pure/receipts/verify.ts'
import { usdcText } from '../../../service/payments/price.ts'
import { el } from './dom.ts'
import { seal } from './seal.ts'

export { seal } from './seal.ts'

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
