import type { VNode } from 'preact'
import { fillMessage } from '../../../pure/messages.ts'
import type { Trace } from '../client/pay/checkout.ts'
import type { PayMessages } from '../client/pay/pay-messages.ts'
import { usdc, type PaidAtBank, type PaidPart, type PayRecord } from '../client/pay/record.ts'
import { html } from '../html.ts'
import { PayTime, usePayLocale, usePayText } from './pay-texts.ts'
import { MarkShape } from './verdict.ts'

const MARKS = {
  ISSUED: 'done',
  PROCESSING: 'unverifiable',
  PARTIALLY_PAID: 'unverifiable',
  SETTLED: 'valid',
  EXPIRED: 'invalid',
  VOID: 'invalid',
} as const

/** State of the invoice in a word, and a sentence that says what comes next. */
export function stateText(messages: PayMessages['states'], record: PayRecord): { word: string; reason: string } {
  const { status, due_minor, paid_minor, amount_minor, bank_payment } = record
  const part = status === 'PROCESSING' && due_minor > 0n ? 'PROCESSING_PART' : status
  const { word, reason } = messages[part === 'SETTLED' && bank_payment !== null ? 'SETTLED_BY_BANK' : part]
  return { word, reason: fillMessage(reason, { due: usdc(due_minor), paid: usdc(paid_minor), amount: usdc(amount_minor) }) }
}

/** State of the invoice: icon, word and sentence. The word takes the focus when the way to pay disappears. */
export function PayState({ record, word_ref }: { record: PayRecord; word_ref?: { current: HTMLHeadingElement | null } }) {
  const { messages } = usePayLocale()
  const { word, reason } = stateText(messages.states, record)
  const mark = MARKS[record.status]
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
