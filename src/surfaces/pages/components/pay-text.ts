import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { fillMessage, type Messages, type MessageValues } from '../../../pure/messages.ts'
import { chainName, usdc, type PayRecord } from '../client/pay/record.ts'
import { html } from '../html.ts'

/** Messages that the checkout needs in the browser. */
export type PayMessages = Omit<Messages, 'pdf' | 'language'>

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

/** State of the invoice in a word, and a sentence that says what comes next. */
export function stateText(messages: PayMessages['states'], record: PayRecord): { word: string; reason: string } {
  const { due_minor, paid_minor, amount_minor } = record
  const { word, reason } = messages[stateName(record)]
  return { word, reason: fillMessage(reason, { due: usdc(due_minor), paid: usdc(paid_minor), amount: usdc(amount_minor) }) }
}

/** State as its message names it: who confirmed a bank transfer decides the word. */
function stateName(record: PayRecord): keyof PayMessages['states'] {
  const { status, due_minor, bank_payment } = record
  if (status === 'SETTLED' && bank_payment !== null) return 'SETTLED_BY_BANK'
  if (isOnlyReported(record)) return 'REPORTED_BY_CREATOR'
  return status === 'PROCESSING' && due_minor > 0n ? 'PROCESSING_PART' : status
}

/** True if the creator of the invoice reported a bank transfer, and nothing has reached the chain. */
export function isOnlyReported({ status, creator_report }: Pick<PayRecord, 'status' | 'creator_report'>): boolean {
  return creator_report !== null && (status === 'ISSUED' || status === 'EXPIRED')
}

/** Name of a network as wallets show it. */
export function chainText(text: ReturnType<typeof usePayText>, chain_id: number): string {
  return chainName(chain_id) ?? text('chain', { chain_id: String(chain_id) })
}

/** Message of a fault: what went wrong and what to do next. */
export interface Fault {
  title: string
  happened: string
  next: string
}

/** Message of a fault, with its placeholders filled. */
export function faultOf(messages: PayMessages['faults'], id: keyof PayMessages['faults'], values: MessageValues = {}): Fault {
  const { title, happened, next } = messages[id]
  return { title: fillMessage(title, values), happened: fillMessage(happened, values).trim(), next: fillMessage(next, values) }
}
