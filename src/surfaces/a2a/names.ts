/** Names of the protocol A2A (1.0 and 0.3) and of its extension for x402 payments. */

export const A2A_PATH = '/a2a'
/** As people also write it. */
export const A2A_PATHS = [A2A_PATH, `${A2A_PATH}/`]

/** The extension, by the name under which its version 0.1 and the x402 transport for A2A of version 2 are declared and activated. */
export const X402_EXTENSION = 'https://github.com/google-a2a/a2a-x402/v0.1'

/** Metadata of messages, by the extension. */
export const STATUS_KEY = 'x402.payment.status'
export const REQUIRED_KEY = 'x402.payment.required'
export const PAYLOAD_KEY = 'x402.payment.payload'
export const RECEIPTS_KEY = 'x402.payment.receipts'
export const ERROR_KEY = 'x402.payment.error'
/** The terms once more in the form of x402 version 1, for payers who know no other. */
export const REQUIRED_V1_KEY = 'x402.payment.required.v1'

export type PaymentStatus =
  | 'payment-required'
  | 'payment-rejected'
  | 'payment-submitted'
  | 'payment-verified'
  | 'payment-completed'
  | 'payment-failed'

/** The digest of the receipt before; over MCP it stands in `_meta` under the same name. */
export const PREVIOUS_KEY = 'assay/prev-receipt-hash'

export const CURRENT_VERSION = '1.0'
export const LEGACY_VERSION = '0.3'

/** What each version calls its operations. */
export const METHODS: Readonly<Record<string, readonly string[]>> = {
  [CURRENT_VERSION]: [
    'SendMessage',
    'SendStreamingMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
    'GetExtendedAgentCard',
  ],
  [LEGACY_VERSION]: [
    'message/send',
    'message/stream',
    'tasks/get',
    'tasks/cancel',
    'tasks/resubscribe',
    'tasks/pushNotificationConfig/set',
    'tasks/pushNotificationConfig/get',
    'tasks/pushNotificationConfig/list',
    'tasks/pushNotificationConfig/delete',
    'agent/getAuthenticatedExtendedCard',
  ],
}
