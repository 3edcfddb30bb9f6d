import { isDate } from '../kit/dates.ts'
import { need, needText, oneOf, unique } from '../kit/expect.ts'
import { httpsUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { SECRET_WORDS } from '../secrets.ts'
import { isEventOrder } from './detect.ts'
import { onlyObjects } from './rules-session.ts'
import { oldSpec, rfcSpec, schemaSpec } from './spec.ts'
import { objects, type AcpView } from './view.ts'

const SESSION = ['checkout_session']
const HANDLER_TEXTS = ['id', 'name', 'version', 'spec', 'psp', 'config_schema']
const ACQUIRER_TEXTS = ['acquirer_bin', 'acquirer_country', 'acquirer_merchant_id', 'merchant_name']
const CARD_CODE = /^(?:cvc2?|cvv2?|cvn|card_verification(?:_code|_value)?|card_security_code|security_code)$/i

/** ACP-029…034, 041 and 045: who is paid, how, and what came of it. */
export const PAYMENT_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-029',
      severity: 'error',
      types: SESSION,
      since: '2025-12-12',
      why: 'Without these the agent cannot have the buyer authenticated.',
      spec: rfcSpec('agentic_checkout', '8. Validation Rules'),
      hint: 'Send acquirer_details and directory_server together with the status.',
      good: { status: 'authentication_required', authentication_metadata: { directory_server: 'visa', acquirer_details: {} } },
      bad: { status: 'authentication_required' },
    },
    ({ error }, { body, status }) => {
      const metadata = body.get('authentication_metadata')
      if (!metadata.present && status !== 'authentication_required') return
      if (!need(error, metadata, 'object') || metadata.redacted) return
      const details = metadata.get('acquirer_details')
      if (need(error, details, 'object') && !details.redacted) for (const name of ACQUIRER_TEXTS) needText(error, details.get(name))
      if (need(error, metadata.get('directory_server'), 'string'))
        oneOf(error, metadata.get('directory_server'), ['american_express', 'mastercard', 'visa'])
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-030',
      severity: 'error',
      types: ['checkout_session', 'order'],
      why: 'The order is what the buyer has afterwards: its number, and the page to find it at.',
      spec: schemaSpec('Order'),
      hint: 'Send order with id, the checkout_session_id of this session, and permalink_url at an https address.',
      good: { id: 'cs_1', status: 'completed', order: { id: 'o_1', checkout_session_id: 'cs_1', permalink_url: 'https://…' } },
      bad: { id: 'cs_1', status: 'completed', order: { id: 'o_1', checkout_session_id: 'cs_2' } },
    },
    ({ error }, { body, context, order, status }) => {
      if (!order.present && status !== 'completed') return
      if (!need(error, order, 'object') || order.redacted) return
      for (const name of isEventOrder(order) ? ['checkout_session_id'] : ['id', 'checkout_session_id']) needText(error, order.get(name))
      const permalink = order.get('permalink_url')
      if (permalink.present) httpsUrl(error, permalink)
      else error(permalink, 'is missing', { expected: 'an absolute https URL' })
      const [mine, its] = [body.get('id').text(), order.get('checkout_session_id').text()]
      if (context.type === 'checkout_session' && mine !== null && its !== null && its.trim() !== '' && mine !== its)
        error(order.get('checkout_session_id'), 'is not the id of the session', { expected: 'the id of the session' })
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-031',
      severity: 'warning',
      types: SESSION,
      why: 'An order says that all is done, and the status that it is not.',
      spec: schemaSpec('CheckoutSessionWithOrder'),
      hint: 'Send order with the status completed only.',
      good: { status: 'completed', order: {} },
      bad: { status: 'ready_for_payment', order: {} },
    },
    ({ warning }, { order, status }) => {
      if (order.present && status !== null && status !== 'completed') warning(order, 'is there, although the session is not completed')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-032',
      severity: 'error',
      types: SESSION,
      since: '2026-01-30',
      why: 'An agent picks a handler by name and version, and fills its form by these schemas.',
      spec: rfcSpec('payment_handlers', '5.1 Handler Declaration'),
      hint: 'Send all ten members, a day as version, and an id of its own for each handler.',
      good: { id: 'card', name: 'dev.acp.tokenized.card', version: '2026-01-22', psp: 'stripe', config: {} },
      bad: { id: 'card', version: '1.0' },
    },
    ({ error }, { body, handlers }) => {
      const list = body.down('capabilities', 'payment', 'handlers')
      const payment = body.down('capabilities', 'payment')
      if (payment.present && need(error, payment, 'object') && !payment.redacted) need(error, list, 'array')
      onlyObjects(error, list)
      for (const handler of handlers) handlerForm(error, handler)
      unique(
        error,
        handlers.map((handler) => handler.get('id')),
        'the id of another handler',
      )
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-033',
      severity: 'warning',
      types: SESSION,
      why: 'The session asks to be paid, and does not say how.',
      spec: schemaSpec('Payment'),
      hint: 'Offer a handler in capabilities.payment.handlers, or payment_provider in versions up to 2026-01-16.',
      good: { status: 'ready_for_payment', capabilities: { payment: { handlers: [{ id: 'card' }] } } },
      bad: { status: 'ready_for_payment', capabilities: {} },
    },
    ({ warning }, { body, handlers, status, is_old }) => {
      if (status !== 'ready_for_payment') return
      const provider = body.get('payment_provider')
      if (is_old && !provider.present) warning(provider, 'is missing, although the session can be paid')
      const list = body.down('capabilities', 'payment', 'handlers')
      const isUnknown = [body.get('capabilities'), body.down('capabilities', 'payment'), list].some(({ redacted }) => redacted)
      if (!is_old && handlers.length === 0 && !isUnknown) warning(list, 'has no handler, although the session can be paid')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-034',
      severity: 'both',
      types: SESSION,
      since: '2026-01-16',
      until: '2026-01-16',
      why: 'The agent hands the payment to this provider, for this merchant.',
      spec: oldSpec('PaymentProvider'),
      hint: 'Send provider and merchant_id.',
      good: { payment_provider: { provider: 'stripe', merchant_id: 'acct_1' } },
      bad: { payment_provider: { provider: 'stripe' } },
    },
    (report, { body }) => {
      const provider = body.get('payment_provider')
      if (provider.present) providerForm(report, provider)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-041',
      severity: 'both',
      why: 'Card data belongs to the payment provider alone; other secrets are secret no more once a stranger has them.',
      spec: rfcSpec('agentic_checkout', '7. Security Considerations'),
      hint: 'Take the value out, and change the secret if it was a real one.',
      good: { payment_data: { token: 'vt_1' } },
      bad: { payment_data: { number: '4242…' } },
    },
    (report, view) => {
      secrets(report, view)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-045',
      severity: 'both',
      why: 'The money goes to the merchant that is named here, whoever the shop says it is.',
      spec: rfcSpec('payment_handlers', '6.3 delegate_payment API Integration'),
      hint: 'Pay only when the merchant is the one you mean.',
      good: { expected_payee: 'acct_1', merchant_id: 'acct_1' },
      bad: { expected_payee: 'acct_1', merchant_id: 'acct_2' },
    },
    (report, view) => {
      payee(report, view)
    },
  ),
]

function handlerForm(error: Say, handler: Place): void {
  for (const name of HANDLER_TEXTS) needText(error, handler.get(name))
  for (const name of ['requires_delegate_payment', 'requires_pci_compliance']) need(error, handler.get(name), 'boolean')
  need(error, handler.get('instrument_schemas'), 'array')
  need(error, handler.get('config'), 'object')
  const version = handler.get('version').text()
  if (version !== null && version.trim() !== '' && !isDate(version))
    error(handler.get('version'), 'is not a day of the calendar', { expected: 'a day, such as 2026-01-22' })
}

function providerForm({ error, warning }: Report, provider: Place): void {
  if (!need(error, provider, 'object') || provider.redacted) return
  needText(error, provider.get('merchant_id'))
  const name = provider.get('provider')
  // The notes on the version name a second provider, its schema does not.
  if (name.text() === 'adyen') warning(name, 'is named in the notes on the version, and not in its schema', { expected: 'stripe' })
  else if (needText(error, name) !== null) oneOf(error, name, ['stripe'])
}

/** Card data is wrong in every document but the request that hands a card to the vault. */
function secrets({ error, warning }: Report, { context }: AcpView): void {
  const isRequest = context.type === 'allowance'
  const cardSay = isRequest ? warning : error
  for (const { place, kind } of context.secrets) (kind === 'card_number' ? cardSay : warning)(place, `looks like ${SECRET_WORDS[kind]}`)
  const open: Place[] = [context.document]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const isCode = CARD_CODE.test(place.key) && (/^[0-9]{3,4}$/.test(place.text() ?? '') || place.integer() !== null)
    if (isCode) cardSay(place, 'looks like the security code of a card')
    for (const inner of place.kind === 'array' ? place.items() : place.members()) open.push(inner)
  }
}

function payee({ error, warning }: Report, { context, body, handlers, allowance }: AcpView): void {
  const { expected_payee, type } = context
  if (expected_payee === null) return
  const named = [
    ...handlers.map((handler) => handler.down('config', 'merchant_id')),
    body.down('payment_provider', 'merchant_id'),
    ...(type === 'allowance' ? [allowance.get('merchant_id')] : []),
  ].filter((place) => place.text() !== null)
  if (named.length === 0) {
    warning(body, 'names no merchant, so that the payee cannot be compared', { expected: 'a merchant_id' })
    return
  }
  const others = named.filter((place) => place.text() !== expected_payee)
  const isFound = others.length < named.length
  for (const other of others) {
    if (isFound) warning(other, 'is another merchant than the expected payee, who is offered beside it')
    else error(other, 'is not the expected payee', { expected: 'the expected payee' })
  }
}

/** Objects in which an order or a session lists prices in another currency. */
export function pricedIn(view: AcpView): Place[] {
  return [...view.applied.map((one) => one.get('coupon')), ...objects(view.order.get('adjustments'))]
}
