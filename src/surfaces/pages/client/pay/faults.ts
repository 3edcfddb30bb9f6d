import { textOf, type Members } from '../../../../pure/is-object.ts'
import { fillMessage, type Messages, type MessageValues } from '../../../../pure/messages.ts'
import type { PayRecord } from './record.ts'
import { DECLINED, plainText, REQUEST_OPEN, walletErrorCode } from '../wallets.ts'

/** Message of a fault: what went wrong and what to do next. */
export interface Fault {
  title: string
  happened: string
  next: string
}

export type FaultMessages = Messages['faults']
export type FaultId = keyof FaultMessages

const WORDS_CHARS = 160

/** Message of a fault, with its placeholders filled. */
export function faultOf(messages: FaultMessages, id: FaultId, values: MessageValues = {}): Fault {
  const { title, happened, next } = messages[id]
  return { title: fillMessage(title, values), happened: fillMessage(happened, values).trim(), next: fillMessage(next, values) }
}

/** Refusals of wallets by their code (EIP-1193, EIP-1474, EIP-3085). */
const WALLET_FAULTS: Readonly<Record<number, FaultId>> = {
  [DECLINED]: 'declined',
  4100: 'not_shared',
  4200: 'cannot_sign',
  [-32_601]: 'cannot_sign',
  4900: 'not_connected',
  4901: 'not_connected',
  [REQUEST_OPEN]: 'request_open',
}

/** Message for an error that a wallet threw. */
export function walletFault(messages: FaultMessages, error: unknown, wallet: string): Fault {
  const known = WALLET_FAULTS[walletErrorCode(error) ?? 0]
  const message = plainText(messageOf(error), WORDS_CHARS)
  return faultOf(messages, known ?? (message === '' ? 'wallet_error' : 'wallet_reported'), { wallet, message })
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string' ? error.message : ''
}

/** Message of each problem code with specific advice; other codes have one by `retryable`. */
const SERVICE_FAULTS: Readonly<Record<string, FaultId>> = {
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
  BAD_SIGNATURE: 'BAD_SIGNATURE',
  EXPIRED: 'EXPIRED',
  INVOICE_NOT_PAYABLE: 'INVOICE_NOT_PAYABLE',
  REPLAY: 'used_before',
  NONCE_BOUND: 'used_before',
  PAYMENT_ALREADY_USED: 'used_before',
  NOT_CONFIGURED: 'not_configured',
  SETTLEMENT_NOT_CONFIGURED: 'not_configured',
  PAYER_BLOCKED: 'PAYER_BLOCKED',
  RECIPIENT_BLOCKED: 'RECIPIENT_BLOCKED',
  TOKEN_PAUSED: 'TOKEN_PAUSED',
}

/** Message for a problem of the service; adds what the payer can do to the problem's own title and detail, which are English. */
export function serviceFault(messages: FaultMessages, problem: Members): Fault {
  const code = textOf(problem['code']) ?? ''
  const values = { title: textOf(problem['title']) ?? code, detail: textOf(problem['detail']) ?? '' }
  if (code === 'SETTLEMENT_FAILED') {
    return faultOf(messages, problem['charged'] === false ? 'transfer_failed' : 'transfer_unknown', values)
  }
  const known = Object.hasOwn(SERVICE_FAULTS, code) ? SERVICE_FAULTS[code] : undefined
  return faultOf(messages, known ?? (problem['retryable'] === true ? 'refused_for_now' : 'refused'), values)
}

/** Message for an invoice that changed while the payer signed; null if its state does not explain the refusal. */
export function overtakenFault(messages: FaultMessages, { status, due_minor }: Pick<PayRecord, 'status' | 'due_minor'>): Fault | null {
  switch (status) {
    case 'SETTLED':
      return faultOf(messages, 'paid_by_another')
    case 'EXPIRED':
      return faultOf(messages, 'expired_while_signing')
    case 'VOID':
      return faultOf(messages, 'voided_while_signing')
    case 'ISSUED':
    case 'PARTIALLY_PAID':
    case 'PROCESSING':
      return due_minor > 0n ? null : faultOf(messages, 'seen_by_another')
  }
}

/** Message for a rejected request that is not a payment. */
export function requestFault(messages: FaultMessages, problem: Members): Fault {
  const values = { title: textOf(problem['title']) ?? '', detail: textOf(problem['detail']) ?? '' }
  return faultOf(messages, problem['retryable'] === true ? 'request_refused_for_now' : 'request_refused', values)
}

/** Messages that the checkout needs in the browser. */
export type PayMessages = Omit<Messages, 'pdf' | 'language'>
