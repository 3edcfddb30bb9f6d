import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { durationText } from '../../../pure/duration-text.ts'
import { fillMessage } from '../../../pure/messages.ts'
import type { Live, Trace } from '../client/pay/checkout.ts'
import { useCheckout, type RenderedInvoice } from '../client/pay/live.ts'
import {
  INVOICE_MARKS,
  isPayable,
  usdc,
  type PaidAtBank,
  type PaidPart,
  type PayRecord,
  type ReportedTransfer,
} from '../client/pay/record.ts'
import { html } from '../html.ts'
import {
  chainText,
  CopyButton,
  isOnlyReported,
  PayLocaleContext,
  PayTime,
  stateText,
  usePayLocale,
  usePayText,
  type Fault,
  type PayMessages,
} from './pay-text.ts'
import { HashForm, WaysToPay, type PaySetting } from './pay-ways.ts'
import { MarkShape, SmallVerdict } from './verdict.ts'

/** Facts of the invoice that do not change while the page is open. */
interface InvoiceDetails {
  client_name: string | null
  memo: string | null
  order_number: string | null
  erased_s: number | null
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

interface CheckoutPageProps extends RenderedInvoice {
  details: InvoiceDetails
  setting: PaySetting
  messages: PayMessages
  language: string
  languages: readonly { tag: string; name: string }[]
}

/** The checkout of one invoice: follows its state and pays it with a wallet of this browser. Throws a TypeError for an invalid record. */
export function CheckoutPage(props: CheckoutPageProps) {
  const [in_browser, setInBrowser] = useState(false)
  useEffect(() => setInBrowser(true), [])
  const { messages, language } = props
  return html`<${PayLocaleContext.Provider} value=${{ messages, language, in_browser }}><${CheckoutView} ...${props} /><//>`
}

function CheckoutView(props: CheckoutPageProps) {
  const { details, setting, language, languages } = props
  const pay = useCheckout(props, setting.carries)
  const { record } = pay
  const text = usePayText()
  return html`<div class="pay" id="checkout">
    <p id="offline" class="problem" role="status" hidden=${pay.reached}>${text('offline')}</p>
    <p class="heard" id="heard" role="status">${pay.announced}</p>
    <div class="asked">
      <div class="bill">
        <${AmountHead} record=${record} purpose=${details.memo} live=${pay.live} say=${pay.say} />
        <${PayMerchant} record=${record} address=${setting.merchant_address} is_operator=${details.entitlement !== null} />
        <div id="standing" class="standing"><${PayState} record=${record} word_ref=${pay.word} /><${BackToShop} record=${record} details=${details} /></div>
        <section class="course" aria-label=${text('steps')}>
          <div id="stations"><${PaySteps} record=${record} trace=${pay.trace} /></div>
          <p id="saying" class="hint" role="status" ref=${pay.saying_place}>${pay.saying}</p>
          <div id="trouble" ref=${pay.fault_place}>${pay.fault !== null && html`<${FaultView} fault=${pay.fault} />`}</div>
        </section>
        <div id="notices"><${PayNotices} record=${record} /></div>
        <div id="payments"><${PaymentsReceived} record=${record} /></div>
      </div>
      <${PayPurpose} record=${record} details=${details} />
    </div>
    <${WaysToPay} record=${record} setting=${setting} wallet_state=${pay.wallet_state} first_due_minor=${pay.first_due_minor} />
    <div class="side">
      <${HashForm} record=${record} screen=${pay} onRecord=${pay.take} />
      <${PayPdf} record=${record} details=${details} language=${language} />
      <${PayTerms} record=${record} details=${details} />
      <${DeveloperDetails} record=${record} cart_hash=${details.cart_hash} />
      <nav class="languages" aria-label=${text('languages')}>
        ${languages.map(
          ({ tag, name }) =>
            html`<a href=${`?lang=${tag}`} lang=${tag} hreflang=${tag} aria-current=${tag === language ? 'true' : undefined}>${name}</a> `,
        )}
      </nav>
    </div>
  </div>`
}

function FaultView({ fault: { title, happened, next } }: { fault: Fault }) {
  const text = usePayText()
  return html`<div class="problem" role="alert">
    <h3>${title}</h3>
    <p>${happened}</p>
    <p><b>${text('what_next')}</b>${` ${next}`}</p>
  </div>`
}

const LONG_DIGITS = 8

interface AmountHeadProps {
  record: PayRecord
  live: Live | null
  say(words: string): void
}

/** Amount with digits in groups of three, separated by CSS only, so that copying gives the plain number. */
function AmountHead({ record, purpose, live, say }: AmountHeadProps & { purpose: string | null }) {
  const text = usePayText()
  const [whole = '', part = ''] = usdc(record.amount_minor).split('.')
  const groups = whole.split(/(?=(?:\d{3})+$)/)
  const long = whole.length + part.length > LONG_DIGITS
  return html`<div class="sum">
    <p class="crumb">${text('payment_request')} <code>${record.invoice_id}</code></p>
    <h1 class=${long ? 'amount long' : 'amount'}>
      <span class="figure">${groups.map((group) => html`<span>${group}</span>`)}<i>.${part}</i></span> <span class="unit">USDC</span>
    </h1>
    ${purpose !== null && html`<p class="what-for">${purpose}</p>`}
    <p class="rail">
      ${text('on_chain', { chain: chainText(text, record.chain_id) })} <${PayTime} at_s=${record.expires_s} local />${' '}
      <${TimeLeft} record=${record} live=${live} say=${say} />
    </p>
  </div>`
}

const SPOKEN = [
  { at_s: 300, message: 'minutes_left' },
  { at_s: 3_600, message: 'hour_left' },
] as const

/**
 * Counts down to the expiry of the invoice. Hidden from screen readers, which have the date next to it; the last hour and the last five
 * minutes are announced once each, unless they had begun before the page was opened.
 */
function TimeLeft({ record, live, say }: AmountHeadProps) {
  const text = usePayText()
  const [left_s, setLeft] = useState<number | null>(null)
  const { expires_s } = record
  const payable = isPayable(record)
  useEffect(() => {
    if (live === null || !payable) return
    let timer = 0
    let spoken: number | null = null
    const tick = () => {
      const now_left_s = expires_s - live.clock.now_s()
      setLeft(now_left_s)
      const due = SPOKEN.filter(({ at_s }) => now_left_s <= at_s)
      const message = due[0]?.message
      if (spoken !== null && due.length > spoken && now_left_s > 0 && message !== undefined) say(text(message))
      spoken = due.length
      if (now_left_s > 0) timer = window.setTimeout(tick, 1_000)
      else void live.refresh()
    }
    tick()
    return () => clearTimeout(timer)
  }, [live, payable, expires_s])
  const words = left_s === null ? '' : left_s <= 0 ? text('expired') : text('time_left', { time: durationText(left_s) })
  return html`<span id="left" class="left-over" aria-hidden="true" hidden=${!payable}>${words}</span>`
}

/** The merchant by address, because names are not verified. */
function PayMerchant({ record, address, is_operator }: { record: PayRecord; address: string; is_operator: boolean }) {
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

function PayPurpose({ record, details }: { record: PayRecord; details: InvoiceDetails }) {
  const text = usePayText()
  const { client_name, memo, order_number, entitlement, erased_s } = details
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
    ${erased_s !== null && html`<p class="hint" id="erased">${text('erased')} <${PayTime} at_s=${erased_s} local /></p>`}
    ${(client_name !== null || memo !== null || order_number !== null) && html`<p class="hint">${text('written_by_creator')}</p>`}
  </section>`
}

/** Link back to the shop, once the invoice is paid. The page never goes there by itself, and the shop does not see where the payer comes from. */
function BackToShop({ record, details: { shop } }: { record: PayRecord; details: InvoiceDetails }) {
  const text = usePayText()
  if (shop === null || record.status !== 'SETTLED') return null
  const { url, host } = shop
  return html`<p class="back">
    <a href=${url} rel="noopener noreferrer nofollow">${text('back_to_shop')} <span>(${host})</span></a>
    <span class="hint">${text('back_to_shop_help', { host })}</span>
  </p>`
}

/** Link to the PDF, and the seal that page and PDF share. */
function PayPdf({ record, details, language }: { record: PayRecord; details: InvoiceDetails; language: string }) {
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

function PayTerms({ record, details }: { record: PayRecord; details: InvoiceDetails }) {
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
function DeveloperDetails({ record, cart_hash }: { record: PayRecord; cart_hash: string }) {
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

/** State of the invoice: icon, word and sentence. The word takes the focus when the way to pay disappears. */
export function PayState({ record, word_ref }: { record: PayRecord; word_ref?: { current: HTMLHeadingElement | null } }) {
  const { messages } = usePayLocale()
  const { word, reason } = stateText(messages.states, record)
  const mark = isOnlyReported(record) ? 'unverifiable' : INVOICE_MARKS[record.status]
  return html`<div class=${`verdict ${mark}`}>
    <${MarkShape} mark=${mark} />
    <h2 class="word" tabindex="-1" id="word" ref=${word_ref}>${word}</h2>
    <p class="reason">${reason}</p>
    ${record.stale && html`<p class="reason hint">${messages.checkout.stale}</p>`}
  </div>`
}

interface Station {
  name: string
  /** `here`: the current step; `ended`: the invoice ended here without being paid. */
  state: 'reached' | 'here' | 'ahead' | 'ended'
  at_s?: number | null
  note?: string
}

/** Steps of the payment, with the current one marked. */
export function PaySteps({ record, trace }: { record: PayRecord; trace: Trace | null }) {
  const text = usePayText()
  const states = { reached: text('step_done'), here: text('step_now'), ahead: text('step_to_come'), ended: text('step_ended') }
  return html`<ol class="bare way">
    ${stationsOf(text, record, trace).map(
      ({ name, state, at_s = null, note = '' }) => html`<li class=${state} aria-current=${state === 'here' ? 'step' : undefined}>
        <b>${name}<span class="heard">${`, ${states[state]}`}</span></b>${at_s !== null && html`<${PayTime} at_s=${at_s} />`}${note !== '' && html`<span>${note}</span>`}
      </li>`,
    )}
  </ol>`
}

type Text = ReturnType<typeof usePayText>

function stationsOf(text: Text, record: PayRecord, trace: Trace | null): Station[] {
  const issued: Station = { name: text('step_issued'), state: 'reached', at_s: record.created_s }
  const part: Station = {
    name: text('step_part'),
    state: 'reached',
    at_s: record.first_seen_s,
    note: text('part_of', { paid: usdc(record.paid_minor), amount: usdc(record.amount_minor) }),
  }
  const parts = record.paid_minor > 0n ? [part] : []
  switch (record.status) {
    case 'ISSUED':
      return [issued, ...stepsAhead(text, trace)]
    case 'PARTIALLY_PAID':
      return [issued, part, ...stepsAhead(text, trace)]
    case 'PROCESSING': {
      if (record.due_minor > 0n) return [issued, part, ...stepsAhead(text, trace)]
      const large = record.payments.some(({ confirmed, amount_minor }) => !confirmed && amount_minor > LARGE_MINOR)
      const confirmed: Station = { name: text('step_confirmed'), state: 'here', note: text(large ? 'when_final' : 'after_blocks') }
      return [issued, ...stepsTaken(text, record, trace), confirmed]
    }
    case 'SETTLED': {
      if (record.bank_payment !== null) return [issued, { name: text('step_bank'), state: 'reached', at_s: record.settled_s }]
      const final = record.payments.every((paid) => paid.final)
      const confirmed: Station = { name: text('step_confirmed'), state: 'reached', note: text(final ? 'final' : 'blocks_deep') }
      return [issued, ...stepsTaken(text, record, trace), confirmed]
    }
    case 'EXPIRED':
      return [issued, ...parts, { name: text('step_expired'), state: 'ended', at_s: record.expires_s }]
    case 'VOID':
      return [issued, ...parts, { name: text('step_void'), state: 'ended', at_s: record.voided_s, note: text('by_merchant') }]
  }
}

/** Payments above 1,000 USDC need a final block, by the rules of the service. */
const LARGE_MINOR = 1_000_000_000n

/** Steps while the amount due has not been seen in a block. */
function stepsAhead(text: Text, trace: Trace | null): Station[] {
  const [signed, sent, seen, confirmed] = [text('step_signed'), text('step_sent'), text('step_seen'), text('step_confirmed')]
  const last: Station = { name: confirmed, state: 'ahead' }
  if (trace === null) {
    return [
      { name: signed, state: 'here', note: text('your_signature') },
      { name: sent, state: 'ahead' },
      { name: seen, state: 'ahead' },
      last,
    ]
  }
  const first: Station = { name: signed, state: 'reached', at_s: trace.signed_s }
  return trace.sent_s === null
    ? [first, { name: sent, state: 'here', note: text('submitting') }, { name: seen, state: 'ahead' }, last]
    : [first, { name: sent, state: 'reached', at_s: trace.sent_s }, { name: seen, state: 'here', note: text('next_block') }, last]
}

/** Steps after a transfer of the full amount was seen. Only the browser that signed has the times of the first two. */
function stepsTaken(text: Text, { payments, first_seen_s }: PayRecord, trace: Trace | null): Station[] {
  const block = payments.at(-1)?.block_number
  return [
    { name: text('step_signed'), state: 'reached', at_s: trace?.signed_s ?? null, note: trace === null ? text('by_payer') : '' },
    { name: text('step_sent'), state: 'reached', at_s: trace?.sent_s ?? null },
    {
      name: text('step_seen'),
      state: 'reached',
      at_s: first_seen_s,
      note: block === undefined ? '' : text('block', { block: String(block) }),
    },
  ]
}

/** Notices for the exceptions of the record, with what the payer can do and whom to ask; empty if there are none. */
export function PayNotices({ record }: { record: PayRecord }) {
  const { messages } = usePayLocale()
  if (record.exceptions.length === 0) return null
  return html`<div class="problem">
    ${record.exceptions.map((exception) => {
      const { title, happened, next } = messages.notices[noticeId(messages.notices, exception, record)]
      const values = {
        exception: exception.slice(0, 64),
        overpaid: usdc(record.overpaid_minor),
        paid: usdc(record.paid_minor),
        amount: usdc(record.amount_minor),
        assets: record.other_assets.join(', ') || '?',
      }
      return html`<div>
        <h3>${fillMessage(title, values)}</h3>
        <p>${fillMessage(happened, values)}</p>
        <p><b>${messages.checkout.what_you_can_do}</b>${` ${fillMessage(next, values)}`}</p>
      </div>`
    })}
    <p class="hint">${messages.checkout.whom_to_ask}</p>
  </div>`
}

function noticeId(notices: PayMessages['notices'], exception: string, { status }: PayRecord): keyof PayMessages['notices'] {
  if (exception === 'paid_late' && status === 'VOID') return 'paid_after_void'
  return Object.hasOwn(notices, exception) ? (exception as keyof PayMessages['notices']) : 'other'
}

/** Transfers matched to the invoice, and the bank's reports; empty if there are none. */
export function PaymentsReceived({ record }: { record: PayRecord }) {
  const text = usePayText()
  const { payments, bank_payment, creator_report, bank_reports, forwarded_after } = record
  return html`
    ${bank_payment !== null && html`<${BankPaymentItem} paid=${bank_payment} />`}
    ${creator_report !== null && html`<${CreatorReportItem} report=${creator_report} />`}
    ${
      payments.length > 0 &&
      html`<div>
        <h2>${text('payments')}</h2>
        <ol class="bare arrived">
          ${payments.map((paid) => html`<${PaymentItem} key=${paid.tx_hash} paid=${paid} />`)}
        </ol>
        ${forwarded_after !== null && html`<p class="hint">${text('forwarded_after', { time: forwarded_after })}</p>`}
      </div>`
    }
    ${
      bank_reports.length > 0 &&
      html`<div>
        <h2>${text('bank_reports')}</h2>
        <ul class="bare arrived">${bank_reports.map((report) => html`<li>${report}</li>`)}</ul>
        <p class="hint">${text('bank_reports_help')}</p>
      </div>`
    }
  `
}

/** Bank transfer that the merchant confirmed. */
function BankPaymentItem({ paid }: { paid: PaidAtBank }): VNode {
  const text = usePayText()
  const { amount, currency, reference, document_sha256 } = paid
  return html`<div>
    <h2>${text('bank_payment')}</h2>
    <p><b>${amount} ${currency}</b></p>
    <dl class="rows">
      <${CodeRow} label=${text('reference')} value=${reference} /><${EntryRows} entry=${paid} />
      <${CodeRow} label=${text('statement_hash')} value=${document_sha256} />
    </dl>
    <p class="hint">${text('bank_payment_help')}</p>
  </div>`
}

/** Bank transfer that only the creator of the invoice reported. */
function CreatorReportItem({ report }: { report: ReportedTransfer }): VNode {
  const text = usePayText()
  return html`<div>
    <h2>${text('bank_report')}</h2>
    <p>${report.amount} ${report.currency}</p>
    <dl class="rows"><${EntryRows} entry=${report} /></dl>
    <p class="hint">${text('bank_payment_creator')}</p>
  </div>`
}

function EntryRows({ entry: { booked_on, entry_reference } }: { entry: ReportedTransfer }) {
  const text = usePayText()
  return html`<${CodeRow} label=${text('booked_on')} value=${booked_on} /><${CodeRow} label=${text('bank_entry')} value=${entry_reference} />`
}

function CodeRow({ label, value }: { label: string; value: string | null }) {
  return value !== null && html`<div><dt>${label}</dt><dd><code>${value}</code></dd></div>`
}

function PaymentItem({ paid }: { paid: PaidPart }): VNode {
  const text = usePayText()
  const { tx_hash, transaction_url, payer, amount_minor, block_number, block_time_s, confirmed, final } = paid
  const depth = text(final ? 'final' : confirmed ? 'confirmed' : 'not_confirmed')
  return html`<li>
    <p>
      <b>${usdc(amount_minor)} USDC</b>${` ${text('payment_depth', { depth, block: String(block_number) })} `}<${PayTime}
        at_s=${block_time_s}
        local
      />
    </p>
    <dl>
      <div><dt>${text('transaction')}</dt><dd><code>${tx_hash}</code></dd></div>
      <div><dt>${text('from')}</dt><dd><code>${payer}</code></dd></div>
    </dl>
    ${transaction_url !== null && html`<p><a href=${transaction_url} target="_blank" rel="noopener noreferrer">${text('explorer')}</a></p>`}
  </li>`
}
