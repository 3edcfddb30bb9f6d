import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { fillMessage, type MessageValues } from '../../../pure/messages.ts'
import type { PayMessages } from '../client/pay/faults.ts'
import { usdc, type PayRecord } from '../client/pay/record.ts'
import { html } from '../html.ts'
import { SmallVerdict } from './verdict.ts'

interface PayLocale {
  messages: PayMessages
  language: string
  /** True once the page runs in the browser, which knows the time zone of the reader. */
  in_browser: boolean
}

/** Language of the checkout, for all its components. */
export const PayLocaleContext = createContext<PayLocale | null>(null)

export function usePayLocale(): PayLocale {
  const locale = useContext(PayLocaleContext)
  if (locale === null) throw new Error('the checkout has no language')
  return locale
}

/** Returns the function that gives the text of a message of the checkout. */
export function usePayText(): (key: keyof PayMessages['checkout'], values?: MessageValues) => string {
  const { messages } = usePayLocale()
  return (key, values) => fillMessage(messages.checkout[key], values)
}

/** A time in UTC to the second; with `local`, also in the time zone of the reader where that is another. */
export function PayTime({ at_s, local = false }: { at_s: number; local?: boolean }): VNode {
  const { language, in_browser } = usePayLocale()
  const text = usePayText()
  const date = new Date(at_s * 1_000)
  const [day = '', clock = ''] = date.toISOString().split(/[T.]/)
  const here = local && in_browser && date.getTimezoneOffset() !== 0
  const time = here ? date.toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' }) : ''
  return html`<time datetime=${`${day}T${clock}Z`}>${`${day} `}<span>${clock} UTC</span></time
    >${here && html`<span class="local">${` ${text('local_time', { time })}`}</span>`}`
}

/** Button that copies the text of an element; `what` names it for screen readers. */
export function CopyButton({ id, what }: { id: string; what: string }): VNode {
  const text = usePayText()
  return html`<button type="button" class="copy" data-copies=${id}>${text('copy')}<span class="heard">${` ${what}`}</span></button>`
}

/** Facts of the invoice that do not change while the page is open. */
export interface InvoiceDetails {
  client_name: string | null
  memo: string | null
  order_number: string | null
  /** Page of the shop, and its host; null if the invoice names none. */
  shop: { url: string; host: string } | null
  entitlement: { product: string; calls: number } | null
  fee_minor: string
  net_minor: string
  terms: { version: string; hash: string; accepted_at: string; text: string }
  cart_hash: string
  /** Paths of the seal, in a square of `units`. */
  seal: { units: number; paths: readonly { d: string; stroke_width: number }[] }
  /** Characters that the font of the PDF lacks; null if it has all. */
  unprintable: string | null
}

/** The merchant by address, because names are not verified. */
export function PayMerchant({ record, address, is_operator }: { record: PayRecord; address: string; is_operator: boolean }) {
  const text = usePayText()
  const { merchant_verified } = record
  const [mark, word, notice] = merchant_verified
    ? (['valid', is_operator ? 'signed_by_operator' : 'signed_by_merchant', is_operator ? 'operator_signed' : 'merchant_signed'] as const)
    : (['unverifiable', 'not_signed', is_operator ? 'operator_not_signed' : 'merchant_not_signed'] as const)
  const fours = address.slice(2).match(/.{4}/g) ?? []
  return html`<section class="payee" aria-labelledby="payee">
    <h2 id="payee">${text('merchant')}</h2>
    <p class="address" id="address">0x${fours.map((four) => html`<span>${four}</span>`)}</p>
    <p><${CopyButton} id="address" what=${text('copy_address')} /></p>
    <p><${SmallVerdict} mark=${mark} word=${text(word)} /></p>
    <p class="hint">${text(notice)}</p>
  </section>`
}

export function PayPurpose({ record, details }: { record: PayRecord; details: InvoiceDetails }) {
  const text = usePayText()
  const { client_name, memo, order_number, entitlement } = details
  const covers = entitlement && text('covers_calls', { product: entitlement.product, calls: String(entitlement.calls) })
  return html`<section class="purpose" aria-labelledby="purpose">
    <h2 id="purpose">${text('details')}</h2>
    <dl class="rows">
      ${client_name !== null && html`<div><dt>${text('client')}</dt><dd>${client_name}</dd></div>`}
      ${order_number !== null && html`<div><dt>${text('order_number')}</dt><dd>${order_number}</dd></div>`}
      ${memo !== null && html`<div><dt>${text('memo')}</dt><dd class="memo">${memo}</dd></div>`}
      ${covers !== null && html`<div><dt>${text('covers')}</dt><dd>${covers}</dd></div>`}
      <div><dt>${text('issued')}</dt><dd><${PayTime} at_s=${record.created_s} local /></dd></div>
    </dl>
    ${(client_name !== null || memo !== null || order_number !== null) && html`<p class="hint">${text('written_by_creator')}</p>`}
  </section>`
}

/** Link back to the shop, once the invoice is paid. The page never goes there by itself, and the shop does not see where the payer comes from. */
export function BackToShop({ record, details: { shop } }: { record: PayRecord; details: InvoiceDetails }) {
  const text = usePayText()
  if (shop === null || record.status !== 'SETTLED') return null
  const { url, host } = shop
  return html`<p class="back">
    <a href=${url} rel="noopener noreferrer nofollow">${text('back_to_shop')} <span>(${host})</span></a>
    <span class="hint">${text('back_to_shop_help', { host })}</span>
  </p>`
}

/** Link to the PDF, and the seal that page and PDF share. */
export function PayPdf({ record, details, language }: { record: PayRecord; details: InvoiceDetails; language: string }) {
  const text = usePayText()
  const { seal, unprintable } = details
  return html`<section class="paper" aria-labelledby="paper">
    <h2 id="paper">${text('pdf')}</h2>
    <svg class="seal" viewBox=${`0 0 ${seal.units} ${seal.units}`} role="img" aria-label=${text('seal')}>
      <g fill="none" stroke="currentColor">
        ${seal.paths.map(({ d, stroke_width }) => html`<path d=${d} stroke-width=${stroke_width} />`)}
      </g>
    </svg>
    <div>
      <p>
        ${
          unprintable === null
            ? html`<a href=${`/api/invoice/${record.invoice_id}/pdf?lang=${language}`}>
                ${text(record.status === 'SETTLED' ? 'download_paid_pdf' : 'download_pdf')}
              </a>`
            : text('no_pdf', { characters: unprintable })
        }
      </p>
      <p class="hint">${text('seal_help')}</p>
    </div>
  </section>`
}

export function PayTerms({ record, details }: { record: PayRecord; details: InvoiceDetails }) {
  const text = usePayText()
  const { terms, fee_minor, net_minor } = details
  const net = text('net_of', { net: usdc(BigInt(net_minor)), amount: usdc(record.amount_minor) })
  return html`<section aria-labelledby="terms">
    <h2 id="terms">${text('fee_and_terms')}</h2>
    <dl class="rows">
      <div><dt>${text('fee')}</dt><dd>${usdc(BigInt(fee_minor))} USDC</dd></div>
      <div><dt>${text('merchant_receives')}</dt><dd>${net}</dd></div>
    </dl>
    <details>
      <summary>${text('terms', { version: terms.version })}</summary>
      <p lang="en">${terms.text}</p>
      <dl class="rows">
        <div><dt>${text('accepted')}</dt><dd>${terms.accepted_at}</dd></div>
        <div><dt>${text('terms_hash')}</dt><dd><code>${terms.hash}</code></dd></div>
      </dl>
    </details>
    <p class="hint">${text('disclaimer')}</p>
  </section>`
}

/** Values that only developers need, folded. */
export function DeveloperDetails({ record, cart_hash }: { record: PayRecord; cart_hash: string }) {
  const text = usePayText()
  const { chain_id, signing, invoice_id } = record
  return html`<details class="technical">
    <summary>${text('developer')}</summary>
    <dl class="rows">
      <div><dt>${text('network')}</dt><dd><code>eip155:${chain_id}</code></dd></div>
      ${signing !== null && html`<div><dt>${text('token')}</dt><dd><code>${signing.token}</code></dd></div>`}
      <div><dt>${text('cart_hash')}</dt><dd><code>${cart_hash}</code></dd></div>
      <div><dt>${text('record')}</dt><dd><a href=${`/api/invoice/${invoice_id}`}>${text('record_json')}</a></dd></div>
    </dl>
  </details>`
}
