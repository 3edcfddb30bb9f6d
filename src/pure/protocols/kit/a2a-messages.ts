import type { JsonCursor } from '../json-cursor.ts'

/** Messages and tasks of A2A, by their form; several protocols travel in them. */

/** Methods of JSON-RPC by version: names with a slash up to 0.3, and those of the protocol buffers since 1.0. */
const METHODS: ReadonlySet<string> = new Set([
  'message/send',
  'message/stream',
  'tasks/send',
  'tasks/sendSubscribe',
  'tasks/resubscribe',
  'agent/getAuthenticatedExtendedCard',
  ...['set', 'get', 'list', 'delete'].map((name) => `tasks/pushNotificationConfig/${name}`),
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'GetExtendedAgentCard',
  ...['Create', 'Get', 'List', 'Delete'].flatMap((verb) => [`${verb}TaskPushNotificationConfig`, `${verb}TaskPushNotificationConfigs`]),
])

/** Returns whether this is a request with a method that only A2A has; tasks/get and tasks/cancel are also methods of MCP. */
export function isA2aRequest(document: JsonCursor): boolean {
  return METHODS.has(document.text('method') ?? '')
}

const KINDS: ReadonlySet<string> = new Set(['task', 'message', 'status-update', 'artifact-update'])

/** Returns whether a value is a task, a message or an event of A2A, whole or in the wrapper of 1.0. Tasks of MCP have their status as a text. */
export function isA2aExchange(value: JsonCursor): boolean {
  if (KINDS.has(value.text('kind') ?? '')) return true
  if (['statusUpdate', 'artifactUpdate'].some((name) => value.get(name).kind === 'object')) return true
  const task = value.get('task').kind === 'object' ? value.get('task') : value
  const message = value.get('message').kind === 'object' ? value.get('message') : value
  return (task.has('id') && task.get('status').has('state')) || (message.has('messageId') && message.has('parts'))
}

/** A document of x402 in the metadata of a message (x402 specification, transports, A2A). */
export interface CarriedPayment {
  cursor: JsonCursor
  type: 'payment_required' | 'payment_payload' | 'settlement_response'
}

const STATUS = 'x402.payment.status'
const REQUIRED = 'x402.payment.required'
const PAYLOAD = 'x402.payment.payload'
const RECEIPTS = 'x402.payment.receipts'

/** Objects in which messages and tasks keep metadata of x402: in requests, answers, histories, events and artifacts. */
export function listPaymentMetadata(document: JsonCursor): JsonCursor[] {
  const whole = [document, document.get('params'), document.get('result')]
  const holders = whole.flatMap((one) => [one, one.get('task'), one.get('message'), one.get('statusUpdate')])
  const messages = holders.flatMap((one) => [one, one.get('status', 'message'), ...one.items('history'), ...one.items('artifacts')])
  return messages.map((one) => one.get('metadata')).filter((one) => [STATUS, REQUIRED, PAYLOAD, RECEIPTS].some((name) => one.has(name)))
}

/** Documents of x402 in such metadata. */
export function listCarriedPayments(metadata: readonly JsonCursor[]): CarriedPayment[] {
  return metadata.flatMap((one): CarriedPayment[] => [
    ...(one.has(REQUIRED) ? [{ cursor: one.get(REQUIRED), type: 'payment_required' } as const] : []),
    ...(one.has(PAYLOAD) ? [{ cursor: one.get(PAYLOAD), type: 'payment_payload' } as const] : []),
    ...one.items(RECEIPTS).map((cursor) => ({ cursor, type: 'settlement_response' }) as const),
  ])
}

/** The state of a payment, and the member that it needs (x402 specification, transports, A2A; extension specification v0.1, 5.1). */
export const PAYMENT_STATES: Readonly<Record<string, string | null>> = {
  'payment-required': REQUIRED,
  'payment-submitted': PAYLOAD,
  'payment-rejected': null,
  'payment-verified': null,
  'payment-completed': RECEIPTS,
  'payment-failed': null,
}

export function paymentState(metadata: JsonCursor): JsonCursor {
  return metadata.get(STATUS)
}
