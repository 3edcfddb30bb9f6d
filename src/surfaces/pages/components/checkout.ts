import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { durationText } from '../../../pure/duration-text.ts'
import { fillMessage } from '../../../pure/messages.ts'
import type { Checkout, CheckoutParts, Phase, Screen, Trace } from '../client/pay/checkout.ts'
import type { Fault, PayMessages } from '../client/pay/faults.ts'
import { follow, type Live } from '../client/pay/live.ts'
import {
  hasKeptPayment,
  INVOICE_MARKS,
  isPayable,
  readRecord,
  usdc,
  type PaidAtBank,
  type PaidPart,
  type PayRecord,
} from '../client/pay/record.ts'
import { discoverWallets, type Wallet } from '../client/wallets.ts'
import { html } from '../html.ts'
import {
  BackToShop,
  DeveloperDetails,
  PayLocaleContext,
  PayMerchant,
  PayPdf,
  PayPurpose,
  PayTerms,
  PayTime,
  usePayLocale,
  usePayText,
  type InvoiceDetails,
} from './pay-details.ts'
import { chainText, HashForm, WaysToPay, type PaySetting } from './pay-ways.ts'
import { MarkShape } from './verdict.ts'

export interface CheckoutPageProps {
  /** Invoice record as the service sends it. */
  record: Readonly<Record<string, unknown>>
  details: InvoiceDetails
  setting: PaySetting
  /** Time of the service when it rendered the page, in milliseconds since 1970. */
  now_ms: number
  /** Entity tag of the record. */
  etag: string
  /** URL of the server-sent events; null if not offered. */
  events: string | null
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
  const pay = useCheckout(props)
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

/** Elements that changes are brought to: focus to the state when `focus_word` asks for it, messages into view. */
function usePlaces({ record, fault, saying }: { record: PayRecord; fault: Fault | null; saying: string }) {
  const word = useRef<HTMLHeadingElement>(null)
  const saying_place = useRef<HTMLParagraphElement>(null)
  const fault_place = useRef<HTMLDivElement>(null)
  const focus_word = useRef(false)
  useLayoutEffect(() => {
    if (focus_word.current) word.current?.focus()
    focus_word.current = false
  }, [record])
  // On a phone the button that was pressed may be screens away from the message.
  useLayoutEffect(() => {
    if (fault !== null) fault_place.current?.scrollIntoView({ block: 'nearest' })
  }, [fault])
  useLayoutEffect(() => {
    if (saying !== '') saying_place.current?.scrollIntoView({ block: 'nearest' })
  }, [saying])
  return { word, saying_place, fault_place, focus_word }
}

type LoadCheckout = () => Promise<Checkout | null>

/** Loads the module that asks a wallet and sends the payment, which a page without a wallet does not need; null after telling that it failed. */
function loadCheckout(parts: CheckoutParts): LoadCheckout {
  let loaded: Checkout | null = null
  return async () => {
    try {
      const { createCheckout } = await import('../client/pay/checkout.ts')
      return (loaded ??= createCheckout(parts))
    } catch {
      parts.screen.say(parts.messages.checkout.unreachable)
      return null
    }
  }
}

/** State of the page: the record, the wallets, and what is announced. */
function useCheckout({ record: wire, etag, setting, now_ms, events }: CheckoutPageProps) {
  const { messages } = usePayLocale()
  const first = useMemo(() => recordOf(wire), [])
  const [record, setRecord] = useState(first)
  const [trace, setTrace] = useState<Trace | null>(null)
  const [saying, setSaying] = useState('')
  const [fault, setFault] = useState<Fault | null>(null)
  const [announced, setAnnounced] = useState('')
  const [reached, setReached] = useState(true)
  const [live, setLive] = useState<Live | null>(null)
  const [wallets, setWallets] = useState<readonly Wallet[]>([])
  const [asked, setAsked] = useState(false)
  const [phase, setPhase] = useState<Phase>('idle')
  const latest = useRef(first)
  const checkout = useRef<LoadCheckout>(() => Promise.resolve(null))
  const places = usePlaces({ record, fault, saying })
  const screen: Screen = { trace: setTrace, say: setSaying, trouble: setFault }
  const take = (found: PayRecord) => {
    const { word: state, reason } = stateText(messages.states, found)
    if (found.status !== latest.current.status) setAnnounced(`${state}. ${reason}`)
    // If the focused element is about to be hidden, focus moves to the state.
    places.focus_word.current = !isPayable(found) && document.activeElement?.closest('#ways') !== null
    latest.current = found
    setRecord(found)
  }
  useEffect(() => {
    const path = `/api/invoice/${first.invoice_id}`
    const following = follow({
      path,
      events,
      etag,
      written_ms: now_ms,
      onRecord(found) {
        take(found)
        if (found.status === 'SETTLED' || found.status === 'VOID') following.hurry(false)
      },
      onLine: setReached,
    })
    setLive(following)
    checkout.current = loadCheckout({ live: following, screen, messages, record: () => latest.current, onPhase: setPhase })
    if (setting.carries) {
      discoverWallets((wallet) => {
        setWallets((known) => [...known, wallet])
        void checkout.current()
      })
      setAsked(true)
    }
    if (hasKeptPayment(first.invoice_id)) void checkout.current().then((loaded) => loaded?.resume())
  }, [])
  return {
    record,
    trace,
    saying,
    fault,
    announced,
    reached,
    live,
    ...places,
    take,
    first_due_minor: first.due_minor,
    say: setSaying,
    trouble: setFault,
    wallet_state: { wallets, asked, phase, ...walletActs(() => checkout.current()) },
  }
}

function walletActs(load: LoadCheckout) {
  return {
    choose: (wallet: Wallet) => void load().then((loaded) => loaded?.pay(wallet)),
    stop() {
      void load().then((loaded) => loaded?.stop())
      document.querySelector<HTMLElement>('#wallets button')?.focus()
    },
  }
}

function recordOf(wire: Readonly<Record<string, unknown>>): PayRecord {
  const record = readRecord(wire)
  if (record === null) throw new TypeError('the invoice record is invalid')
  return record
}

/** State of the invoice in a word, and a sentence that says what comes next. */
function stateText(messages: PayMessages['states'], record: PayRecord): { word: string; reason: string } {
  const { status, due_minor, paid_minor, amount_minor, bank_payment } = record
  const part = status === 'PROCESSING' && due_minor > 0n ? 'PROCESSING_PART' : status
  const { word, reason } = messages[part === 'SETTLED' && bank_payment !== null ? 'SETTLED_BY_BANK' : part]
  return { word, reason: fillMessage(reason, { due: usdc(due_minor), paid: usdc(paid_minor), amount: usdc(amount_minor) }) }
}

/** State of the invoice: icon, word and sentence. The word takes the focus when the way to pay disappears. */
export function PayState({ record, word_ref }: { record: PayRecord; word_ref?: { current: HTMLHeadingElement | null } }) {
  const { messages } = usePayLocale()
  const { word, reason } = stateText(messages.states, record)
  const mark = INVOICE_MARKS[record.status]
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
  const { payments, bank_payment, bank_reports } = record
  return html`
    ${bank_payment !== null && html`<${BankPaymentItem} paid=${bank_payment} />`}
    ${
      payments.length > 0 &&
      html`<div>
        <h2>${text('payments')}</h2>
        <ol class="bare arrived">
          ${payments.map((paid) => html`<${PaymentItem} key=${paid.tx_hash} paid=${paid} />`)}
        </ol>
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

/** Evidence of the bank transfer that paid the invoice. */
function BankPaymentItem({ paid }: { paid: PaidAtBank }): VNode {
  const text = usePayText()
  const { amount, currency, booked_on, entry_reference, document_sha256, confirmed_by } = paid
  const row = (label: string, value: string | null) => value !== null && html`<div><dt>${label}</dt><dd><code>${value}</code></dd></div>`
  return html`<div>
    <h2>${text('bank_payment')}</h2>
    <p><b>${amount} ${currency}</b></p>
    <dl class="rows">
      ${row(text('booked_on'), booked_on)} ${row(text('bank_entry'), entry_reference)} ${row(text('statement_hash'), document_sha256)}
    </dl>
    <p class="hint">${text(confirmed_by === 'merchant' ? 'bank_payment_help' : 'bank_payment_creator')}</p>
  </div>`
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
