import { need, needText, oneOf, optional } from '../kit/expect.ts'
import { isCurrencyCode } from '../kit/money.ts'
import { httpsUrl, optionalUri } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule } from '../rule.ts'
import { BASKETS } from './detect.ts'
import { expectShape } from '../kit/shape.ts'
import { NEWEST_RESPONSES, RESPONSES } from './shapes.ts'
import { ucpSpec } from './spec.ts'
import type { UcpView } from './view.ts'

const LIFECYCLE = ucpSpec('checkout', 'Checkout Status Lifecycle')
const CONTINUE = ucpSpec('checkout', 'Continue URL')

const STATES = ['incomplete', 'requires_escalation', 'ready_for_complete', 'complete_in_progress', 'completed', 'canceled'] as const

/** UCP-027…029, 037, 038 and 040: the members of a response, and what its state asks for. */
export const CHECKOUT_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-027',
      severity: 'error',
      types: BASKETS,
      why: 'Platforms show and total a response by these members, and break where one is missing or of another type.',
      spec: ucpSpec('checkout', 'Capability Schema Definition'),
      hint: 'Send every required member: for a checkout ucp, id, line_items, status, currency, totals and links.',
      hint_by_case: true,
      good: { id: 'chk_1', status: 'incomplete', currency: 'EUR', line_items: [], totals: [], links: [] },
      bad: { id: 'chk_1', status: 'incomplete' },
    },
    ({ error }, { context, body, ucp, first, newest }) => {
      const type = BASKETS.find((one) => one === context.type)
      if (type !== undefined) expectShape(error, body, (newest ? NEWEST_RESPONSES : RESPONSES)[type])
      if (ucp.kind !== 'object') return
      if (first && !ucp.has('capabilities')) error(ucp.get('capabilities'), 'is missing', { expected: 'an array' })
      if (!first && type === 'checkout' && !ucp.has('payment_handlers'))
        error(ucp.get('payment_handlers'), 'is missing', { expected: 'an object, which may be empty' })
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-028',
      severity: 'error',
      types: ['checkout'],
      why: 'The state tells the platform what to do next; an unknown one tells it nothing.',
      spec: LIFECYCLE,
      hint: 'Use a state of the lifecycle; canceled has one l.',
      good: { status: 'ready_for_complete' },
      bad: { status: 'ready' },
    },
    ({ error }, { body }) => {
      if (body.get('status').kind === 'string') oneOf(error, body.get('status'), STATES)
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-029',
      severity: 'both',
      types: BASKETS,
      why: 'The currency says how many digits of an amount are minor units.',
      spec: ucpSpec('checkout', 'Capability Schema Definition'),
      hint: 'Send the ISO 4217 code in upper case.',
      good: { currency: 'USD' },
      bad: { currency: 'US dollars' },
    },
    ({ error, warning }, { body }) => {
      const currency = body.get('currency')
      const text = currency.text()
      if (text === null) return
      if (!/^[A-Za-z]{3}$/.test(text)) error(currency, 'is not three letters', { expected: 'an ISO 4217 code' })
      else if (!isCurrencyCode(text)) warning(currency, 'is no ISO 4217 code in upper case', { expected: 'an ISO 4217 code' })
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-037',
      severity: 'error',
      types: ['checkout'],
      why: 'The buyer must be handed over, and both sides must know where to and why.',
      spec: CONTINUE,
      hint: 'Add continue_url, and an error message of severity requires_buyer_input or requires_buyer_review.',
      good: {
        status: 'requires_escalation',
        continue_url: 'https://shop.example.com/c/1',
        messages: [{ severity: 'requires_buyer_review' }],
      },
      bad: { status: 'requires_escalation' },
    },
    ({ error }, { body, messages }) => {
      if (body.get('status').text() !== 'requires_escalation') return
      need(error, body.get('continue_url'), 'string')
      const explains = messages.some((message) => /^requires_buyer_(?:input|review)$/.test(message.get('severity').text() ?? ''))
      const isHidden = body.get('messages').redacted || messages.some((message) => message.get('severity').redacted)
      if (!explains && !isHidden)
        error(body.get('messages'), 'has none that says what the buyer must do', {
          expected: 'severity requires_buyer_input or requires_buyer_review',
        })
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-038',
      severity: 'both',
      types: ['checkout', 'cart', 'error'],
      why: 'It hands the buyer over to the shop; after the end there is nothing to hand over.',
      spec: CONTINUE,
      hint: 'Send an absolute https URL while the checkout lives, and leave it out when it is completed or canceled.',
      good: { status: 'incomplete', continue_url: 'https://shop.example.com/c/1' },
      bad: { status: 'incomplete', continue_url: '/c/1' },
    },
    ({ error, warning }, { body, context }) => {
      const url = body.get('continue_url')
      const state = context.type === 'checkout' ? STATES.find((one) => one === body.get('status').text()) : undefined
      if (state !== 'requires_escalation' || url.kind === 'string') httpsUrl(error, url)
      if (state === undefined || state === 'requires_escalation') return
      const isOver = state === 'completed' || state === 'canceled'
      if (isOver && url.present) warning(url, 'is present though the checkout is over')
      if (!isOver && !url.present) warning(url, 'is missing', { expected: 'an absolute https URL' })
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-040',
      severity: 'both',
      types: ['checkout'],
      why: 'A completed checkout without its order leaves the buyer with nothing to point at; an order before the end may never be.',
      spec: ucpSpec('reference', 'Order Confirmation'),
      hint: 'Add order with id and permalink_url when completed, not before; and no error message when ready.',
      good: { status: 'completed', order: { id: 'ord_1', permalink_url: 'https://shop.example.com/orders/1' } },
      bad: { status: 'completed', order: { id: 'ord_1' } },
    },
    ({ error, warning }, { body, messages, newest }) => {
      const state = body.get('status').text()
      const order = body.get('order')
      const strict = newest ? error : warning
      if (state === 'completed' && !order.present)
        strict(order, 'is missing though the checkout is completed', { expected: 'an object with id and permalink_url' })
      if (state === 'complete_in_progress' && order.present) strict(order, 'is present though the checkout is not completed')
      if (optional(error, order, 'object') && !order.redacted) {
        for (const name of ['id', 'permalink_url']) needText(error, order.get(name))
        if (order.get('permalink_url').text()?.trim() !== '') optionalUri(error, order.get('permalink_url'))
      }
      if (state === 'ready_for_complete')
        for (const message of messages) if (isError(message)) warning(message, 'is an error though the checkout is ready')
    },
  ),
]

function isError(message: Place): boolean {
  return message.get('type').text() === 'error'
}
