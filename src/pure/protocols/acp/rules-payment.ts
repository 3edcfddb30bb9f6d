import { SESSION_TYPES, oldSpec, rfcSpec, schemaSpec } from './versions.ts'
import { isDate } from '../kit/dates.ts'
import { expectType, expectText, expectOneOf, expectItemTypes, expectObject, expectUniqueMembers } from '../kit/expect.ts'
import { expectHttpsUrl } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding } from '../protocol.ts'
import { SECRET_DESCRIPTIONS } from '../secrets.ts'
import { isEventOrder, type AcpView } from './view.ts'

const HANDLER_TEXTS = ['id', 'name', 'version', 'spec', 'psp', 'config_schema']
const ACQUIRER_TEXTS = ['acquirer_bin', 'acquirer_country', 'acquirer_merchant_id', 'merchant_name']
const CARD_CODE = /^(?:cvc2?|cvv2?|cvn|card_verification(?:_code|_value)?|card_security_code|security_code)$/i

/** ACP-029…034, 041 and 045: payment, orders, secrets and payee. */
export const PAYMENT_RULES: RuleTable<AcpView> = {
  'ACP-029': {
    severity: 'error',
    types: SESSION_TYPES,
    since: '2025-12-12',
    why: 'Without these the agent cannot have the buyer authenticated.',
    spec: rfcSpec('agentic_checkout', '8. Validation Rules'),
    hint: 'Send acquirer_details and directory_server together with the status.',
    good: { status: 'authentication_required', authentication_metadata: { directory_server: 'visa', acquirer_details: {} } },
    bad: { status: 'authentication_required' },
    check({ error }, { body, status }) {
      const metadata = body.get('authentication_metadata')
      if (!metadata.present && status !== 'authentication_required') return
      if (!expectObject(error, metadata)) return
      const details = metadata.get('acquirer_details')
      if (expectObject(error, details)) for (const name of ACQUIRER_TEXTS) expectText(error, details.get(name))
      if (expectType(error, metadata.get('directory_server'), 'string'))
        expectOneOf(error, metadata.get('directory_server'), ['american_express', 'mastercard', 'visa'])
    },
  },
  'ACP-030': {
    severity: 'error',
    types: ['checkout_session', 'order'],
    why: 'The order is what the buyer has afterwards: its number, and the page to find it at.',
    spec: schemaSpec('Order'),
    hint: 'Send order with id, the checkout_session_id of this session, and permalink_url at an https address.',
    good: { id: 'cs_1', status: 'completed', order: { id: 'o_1', checkout_session_id: 'cs_1', permalink_url: 'https://…' } },
    bad: { id: 'cs_1', status: 'completed', order: { id: 'o_1', checkout_session_id: 'cs_2' } },
    check({ error }, { body, context, order, status }) {
      if (!order.present && status !== 'completed') return
      if (!expectObject(error, order)) return
      for (const name of isEventOrder(order) ? ['checkout_session_id'] : ['id', 'checkout_session_id']) expectText(error, order.get(name))
      const permalink = order.get('permalink_url')
      if (permalink.present) expectHttpsUrl(error, permalink)
      else error(permalink, 'is missing', { expected: 'an absolute https URL' })
      const [mine, its] = [body.text('id'), order.text('checkout_session_id')]
      if (context.type === 'checkout_session' && mine !== null && its !== null && its.trim() !== '' && mine !== its)
        error(order.get('checkout_session_id'), 'is not the id of the session', { expected: 'the id of the session' })
    },
  },
  'ACP-031': {
    severity: 'warning',
    types: SESSION_TYPES,
    why: 'An order says that all is done, and the status that it is not.',
    spec: schemaSpec('CheckoutSessionWithOrder'),
    hint: 'Send order with the status completed only.',
    good: { status: 'completed', order: {} },
    bad: { status: 'ready_for_payment', order: {} },
    check({ warning }, { order, status }) {
      if (order.present && status !== null && status !== 'completed') warning(order, 'is present, but the session is not completed')
    },
  },
  'ACP-032': {
    severity: 'error',
    types: SESSION_TYPES,
    since: '2026-01-30',
    why: 'An agent picks a handler by name and version, and fills its form by these schemas.',
    spec: rfcSpec('payment_handlers', '5.1 Handler Declaration'),
    hint: 'Send all ten members, a date as version, and a unique id for each handler.',
    good: { id: 'card', name: 'dev.acp.tokenized.card', version: '2026-01-22', psp: 'stripe', config: {} },
    bad: { id: 'card', version: '1.0' },
    check({ error }, { body, handlers }) {
      const list = body.get('capabilities', 'payment', 'handlers')
      const payment = body.get('capabilities', 'payment')
      if (payment.present && expectObject(error, payment)) expectType(error, list, 'array')
      expectItemTypes(error, list, 'object')
      for (const handler of handlers) checkHandler(error, handler)
      expectUniqueMembers(error, handlers, 'id', 'the id of another handler')
    },
  },
  'ACP-033': {
    severity: 'warning',
    types: SESSION_TYPES,
    why: 'The session asks to be paid, and does not say how.',
    spec: schemaSpec('Payment'),
    hint: 'Offer a handler in capabilities.payment.handlers, or payment_provider in versions up to 2026-01-16.',
    good: { status: 'ready_for_payment', capabilities: { payment: { handlers: [{ id: 'card' }] } } },
    bad: { status: 'ready_for_payment', capabilities: {} },
    check({ warning }, { body, handlers, status, is_before_202601 }) {
      if (status !== 'ready_for_payment') return
      const provider = body.get('payment_provider')
      if (is_before_202601 && !provider.present) warning(provider, 'is missing, but the session is ready to be paid')
      const list = body.get('capabilities', 'payment', 'handlers')
      const isUnknown = [body.get('capabilities'), body.get('capabilities', 'payment'), list].some(({ redacted }) => redacted)
      if (!is_before_202601 && handlers.length === 0 && !isUnknown) warning(list, 'has no handler, but the session is ready to be paid')
    },
  },
  'ACP-034': {
    severity: 'both',
    types: SESSION_TYPES,
    since: '2026-01-16',
    until: '2026-01-16',
    why: 'The agent hands the payment to this provider, for this merchant.',
    spec: oldSpec('PaymentProvider'),
    hint: 'Send provider and merchant_id.',
    good: { payment_provider: { provider: 'stripe', merchant_id: 'acct_1' } },
    bad: { payment_provider: { provider: 'stripe' } },
    check(report, { body }) {
      const provider = body.get('payment_provider')
      if (provider.present) checkProvider(report, provider)
    },
  },
  'ACP-041': {
    severity: 'both',
    why: 'Card data belongs only with the payment provider; other secrets are compromised once they are sent.',
    spec: rfcSpec('agentic_checkout', '7. Security Considerations'),
    hint: 'Take the value out, and change the secret if it was a real one.',
    good: { payment_data: { token: 'vt_1' } },
    bad: { payment_data: { number: '4242…' } },
    check(report, view) {
      checkSecrets(report, view)
    },
  },
  'ACP-045': {
    severity: 'both',
    why: 'The money goes to the merchant that is named here, regardless of the shop name.',
    spec: rfcSpec('payment_handlers', '6.3 delegate_payment API Integration'),
    hint: 'Pay only when the merchant is the one you mean.',
    good: { expected_payee: 'acct_1', merchant_id: 'acct_1' },
    bad: { expected_payee: 'acct_1', merchant_id: 'acct_2' },
    check(report, view) {
      comparePayee(report, view)
    },
  },
}

function checkHandler(error: ReportFinding, handler: JsonCursor): void {
  for (const name of HANDLER_TEXTS) expectText(error, handler.get(name))
  for (const name of ['requires_delegate_payment', 'requires_pci_compliance']) expectType(error, handler.get(name), 'boolean')
  expectType(error, handler.get('instrument_schemas'), 'array')
  expectType(error, handler.get('config'), 'object')
  const version = handler.text('version')
  if (version !== null && version.trim() !== '' && !isDate(version))
    error(handler.get('version'), 'is not a day of the calendar', { expected: 'a day, such as 2026-01-22' })
}

function checkProvider({ error, warning }: FindingReporter, provider: JsonCursor): void {
  if (!expectObject(error, provider)) return
  expectText(error, provider.get('merchant_id'))
  const name = provider.get('provider')
  // The notes on the version name a second provider, its schema does not.
  if (name.text() === 'adyen') warning(name, 'is named in the notes on the version, and not in its schema', { expected: 'stripe' })
  else if (expectText(error, name) !== null) expectOneOf(error, name, ['stripe'])
}

/** Reports secrets; card data is allowed only in the request that sends a card to the vault. */
function checkSecrets({ error, warning }: FindingReporter, { context }: AcpView): void {
  const isRequest = context.type === 'allowance'
  const cardSay = isRequest ? warning : error
  for (const { cursor, kind } of context.secrets)
    (kind === 'card_number' ? cardSay : warning)(cursor, `looks like ${SECRET_DESCRIPTIONS[kind]}`)
  for (const cursor of context.document.descendants()) {
    const isCode = CARD_CODE.test(cursor.key) && (/^[0-9]{3,4}$/.test(cursor.text() ?? '') || cursor.integer() !== null)
    if (isCode) cardSay(cursor, 'looks like the security code of a card')
  }
}

function comparePayee({ error, warning }: FindingReporter, { context, body, handlers, allowance }: AcpView): void {
  const { expected_payee, type } = context
  if (expected_payee === null) return
  const named = [
    ...handlers.map((handler) => handler.get('config', 'merchant_id')),
    body.get('payment_provider', 'merchant_id'),
    ...(type === 'allowance' ? [allowance.get('merchant_id')] : []),
  ].filter((cursor) => cursor.text() !== null)
  if (named.length === 0) {
    warning(body, 'names no merchant to compare with the expected payee', { expected: 'a merchant_id' })
    return
  }
  const others = named.filter((cursor) => cursor.text() !== expected_payee)
  const isFound = others.length < named.length
  for (const other of others) {
    if (isFound) warning(other, 'is another merchant than the expected payee, which is offered too')
    else error(other, 'is not the expected payee', { expected: 'the expected payee' })
  }
}
