import { isObject, jsonValue, textOf, type Members } from '../../../../pure/is-object.ts'
import { fillMessage } from '../../../../pure/messages.ts'
import { requestJson } from '../json-request.ts'
import {
  DECLINED,
  isOnChain,
  plainText,
  REQUEST_OPEN,
  requestAccount,
  signTypedData,
  switchChain,
  transferTypedData,
  UNKNOWN_CHAIN,
  walletErrorCode,
  type Wallet,
} from '../wallets.ts'
import { faultOf, type Fault, type PayMessages } from '../../components/pay-text.ts'
import { chainName, isPayable, keepText, KEPT, keptText, type PayRecord, type Signing } from './record.ts'

/** Time of the service: its last answer plus the time since. The clock of this device is not used. */
interface ServiceClock {
  now_s(): number
}

export interface Live {
  clock: ServiceClock
  /** Reads the record now; resolves when the answer is in. */
  refresh(): Promise<void>
  /** Polls faster while a payment is under way. */
  hurry(on: boolean): void
}

/** Times when this browser signed and sent the current payment, which the record does not contain. Seconds since 1970. */
export interface Trace {
  signed_s: number
  sent_s: number | null
}

/** Messages of the page. */
export interface Screen {
  trace(trace: Trace | null): void
  /** Sets the status line under the steps. Announced to screen readers. */
  say(words: string): void
  /** Shows a fault; null removes it. */
  trouble(fault: Fault | null): void
}

export interface CheckoutParts {
  live: Live
  screen: Screen
  messages: PayMessages
  /** Latest record of the invoice. */
  record(): PayRecord
  /** Called on each change of phase; the page then enables or disables its buttons. */
  onPhase(phase: Phase): void
}

/** `wallet`: waiting for the wallet, can be stopped. `carried`: signed and being submitted, cannot be stopped. */
export type Phase = 'idle' | 'wallet' | 'carried'

export interface Checkout {
  pay(wallet: Wallet): Promise<void>
  /** Stops waiting for the wallet; a signature that arrives later is discarded unsent. */
  stop(): void
  /** Resumes a payment that was signed before this page was loaded. */
  resume(): void
}

/** Controls one checkout: asks for a signature once, then sends the same payment until its outcome is known. */
export function createCheckout(parts: CheckoutParts): Checkout {
  const { live, screen } = parts
  let turn = 0
  const phase = (now: Phase) => parts.onPhase(now)
  const carry = async (signed: SignedPayment) => {
    phase('carried')
    live.hurry(true)
    let sent_s: number | null = null
    const onSent = () => {
      sent_s ??= live.clock.now_s()
      screen.trace({ signed_s: signed.signed_s, sent_s })
    }
    screen.trace({ signed_s: signed.signed_s, sent_s: null })
    const arrived = await carryThrough(parts, signed, onSent)
    keepText(KEPT + parts.record().invoice_id, null)
    if (!arrived) {
      live.hurry(false)
      screen.trace(null)
    }
    phase('idle')
  }
  return {
    async pay(wallet) {
      const mine = ++turn
      const record = parts.record()
      if (!isPayable(record)) return
      if (record.signing === null) return screen.trouble(faultOf(parts.messages.faults, 'nothing_to_sign'))
      screen.trouble(null)
      phase('wallet')
      const say = (words: string) => void (mine === turn && screen.say(words))
      const end = await askWallet(wallet, record, record.signing, { say, now_s: () => live.clock.now_s(), messages: parts.messages })
      if (mine !== turn) return
      screen.say('')
      if (!end.ok) {
        screen.trouble(end.fault)
        phase('idle')
        return
      }
      keepText(KEPT + record.invoice_id, JSON.stringify(end.signed))
      await carry(end.signed)
    },
    stop() {
      turn++
      screen.say(parts.messages.checkout.stopped)
      phase('idle')
    },
    resume() {
      const kept = keptPayment(parts.record().invoice_id)
      if (kept !== null) void carry(kept)
    },
  }
}

/** Time after the end of validity in which a late block may still contain the transfer. */
const GRACE_S = 30
const LOST_WAIT_MAX_S = 15

/** Sends the payment until it is accepted, rejected or expired. True when accepted. */
async function carryThrough(parts: CheckoutParts, signed: SignedPayment, onSent: () => void): Promise<boolean> {
  const { live, screen, messages } = parts
  const path = `/api/invoice/${parts.record().invoice_id}/pay`
  let lost = 0
  for (;;) {
    screen.say(messages.checkout.submitting_payment)
    const end = await sendPayment(path, signed)
    await live.refresh()
    if (end.kind === 'paid' || hasArrived(parts.record(), signed)) {
      onSent()
      screen.trouble(null)
      screen.say('')
      return true
    }
    if (end.kind === 'refused' || live.clock.now_s() > signed.valid_before_s + GRACE_S) {
      screen.say('')
      screen.trouble(end.kind === 'refused' ? refusedFault(parts, end.problem) : faultOf(messages.faults, 'ran_out'))
      return false
    }
    if (end.kind === 'again' && end.sent) onSent()
    lost = end.kind === 'lost' ? lost + 1 : 0
    screen.say(waitingText(messages.checkout, end))
    await pause(end.kind === 'again' ? end.wait_s : Math.min(2 ** (lost - 1), LOST_WAIT_MAX_S))
  }
}

function refusedFault({ record, messages: { faults } }: CheckoutParts, problem: Members): Fault {
  return (problem['code'] === 'INVOICE_NOT_PAYABLE' ? overtakenFault(faults, record()) : null) ?? serviceFault(faults, problem)
}

function hasArrived({ payments }: PayRecord, { payer, nonce }: SignedPayment): boolean {
  return payments.some((one) => one.nonce === nonce && one.payer.toLowerCase() === payer.toLowerCase())
}

function waitingText(messages: PayMessages['checkout'], end: Exclude<Sent, { kind: 'paid' | 'refused' }>): string {
  if (end.kind === 'lost') return messages.connection_lost
  return end.sent ? messages.submitted : messages.busy
}

/** Waits for the given seconds, or until the browser is online again. */
function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer)
      window.removeEventListener('online', go)
      resolve()
    }
    const timer = window.setTimeout(go, seconds * 1_000)
    window.addEventListener('online', go)
  })
}

type Sent =
  | { kind: 'paid' }
  /** Pending or not decided yet: send the same payment again after `wait_s`. */
  | { kind: 'again'; wait_s: number; sent: boolean }
  | { kind: 'refused'; problem: Members }
  /** No answer came; the payment may have been accepted. */
  | { kind: 'lost' }

/** Codes of temporary problems; every other rejection is final. */
const TEMPORARY = new Set([
  'STORE_UNAVAILABLE',
  'SETTLEMENT_UNAVAILABLE',
  'VERIFICATION_BUSY',
  'UPSTREAM_RPC_UNAVAILABLE',
  'PAYMENT_PENDING',
  'INTERNAL_ERROR',
])
const WAIT_S = 2
/** A longer wait is a daily limit and counts as a rejection. */
const WAIT_MAX_S = 60

/** Sends a signed payment to the service. Idempotent: the same payment gets the same answer. */
async function sendPayment(path: string, { body }: SignedPayment): Promise<Sent> {
  const reply = await requestJson(path, body)
  if (reply === null || reply.body === null) return { kind: 'lost' }
  if (reply.status === 200) return { kind: 'paid' }
  const code = String(reply.body['code'])
  const wait_s = reply.retry_after_s === null ? WAIT_S : Math.max(1, reply.retry_after_s)
  const temporary = TEMPORARY.has(code) || (reply.status === 429 && wait_s <= WAIT_MAX_S)
  if (!temporary) return { kind: 'refused', problem: reply.body }
  return { kind: 'again', wait_s: Math.min(wait_s, WAIT_MAX_S), sent: code === 'PAYMENT_PENDING' }
}

/** Payment that was signed before a reload, so that the payer does not sign twice after a lost connection; null if there is none. */
function keptPayment(invoice_id: string): SignedPayment | null {
  const kept = jsonValue(keptText(KEPT + invoice_id) ?? '')
  return isSigned(kept) ? kept : null
}

function isSigned(value: unknown): value is SignedPayment {
  if (!isObject(value)) return false
  const { body, payer, nonce, signed_s, valid_before_s } = value
  const texts = [body, payer, nonce].every((one) => typeof one === 'string')
  return texts && typeof signed_s === 'number' && typeof valid_before_s === 'number'
}

/** A signed transfer: the request body for the service, and the end of its validity. */
interface SignedPayment {
  body: string
  payer: string
  nonce: string
  signed_s: number
  valid_before_s: number
}

type SignEnd = { ok: true; signed: SignedPayment } | { ok: false; fault: Fault }

/** `say` shows what the wallet waits for; `now_s` is the time of the service. */
interface SignTools {
  say(words: string): void
  now_s(): number
  messages: PayMessages
}

/** Validity of a signature in seconds. */
const VALID_S = 900
/** `validAfter` lies this far in the past, because the clock of the chain may be behind. */
const BEHIND_S = 600

/**
 * Asks the wallet for its account, the right network and one signature: an EIP-3009 transfer of the amount due to the merchant, whose nonce
 * identifies the invoice. No allowance, no other recipient, no gas.
 */
async function askWallet(wallet: Wallet, record: PayRecord, signing: Signing, tools: SignTools): Promise<SignEnd> {
  const { name } = wallet
  const { say, messages } = tools
  const { checkout, faults } = messages
  try {
    say(fillMessage(checkout.wallet_account, { wallet: name }))
    const payer = await requestAccount(wallet)
    if (payer === null) return { ok: false, fault: faultOf(faults, 'no_account') }
    if (payer.toLowerCase() === record.merchant.toLowerCase()) return { ok: false, fault: faultOf(faults, 'merchant_pays') }
    const misplaced = await onChain(wallet, record.chain_id, tools)
    if (misplaced !== null) return { ok: false, fault: misplaced }
    say(fillMessage(checkout.wallet_sign, { wallet: name, address: shortAddress(payer) }))
    return await signature(wallet, payer, record, signing, tools)
  } catch (error) {
    return { ok: false, fault: walletFault(faults, error, name) }
  }
}

async function signature(
  wallet: Wallet,
  payer: string,
  record: PayRecord,
  signing: Signing,
  { now_s, messages }: SignTools,
): Promise<SignEnd> {
  const from_s = now_s()
  const valid_before_s = from_s + VALID_S
  const authorization = {
    from: payer,
    to: record.merchant,
    value: String(record.due_minor),
    validAfter: String(from_s - BEHIND_S),
    validBefore: String(valid_before_s),
    nonce: signing.nonce,
  }
  const signed = await signTypedData(wallet, payer, transferTypedData({ ...signing, chain_id: record.chain_id }, authorization))
  if (signed === null) return { ok: false, fault: faultOf(messages.faults, 'no_signature') }
  const body = JSON.stringify({ authorization, signature: signed })
  return { ok: true, signed: { body, payer, nonce: signing.nonce, signed_s: now_s(), valid_before_s } }
}

/** Has the wallet switch to the network of the invoice. Null on success. */
async function onChain(wallet: Wallet, chain_id: number, { say, messages }: SignTools): Promise<Fault | null> {
  if (await isOnChain(wallet, chain_id)) return null
  const values = { wallet: wallet.name, chain: chainName(chain_id) ?? String(chain_id), chain_id: String(chain_id) }
  say(fillMessage(messages.checkout.wallet_switch, values))
  try {
    await switchChain(wallet, chain_id)
  } catch (error) {
    return faultOf(messages.faults, walletErrorCode(error) === UNKNOWN_CHAIN ? 'unknown_network' : 'other_network', values)
  }
  return (await isOnChain(wallet, chain_id)) ? null : faultOf(messages.faults, 'other_network', values)
}

/** Shortened address for sentences. */
function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}

type FaultMessages = PayMessages['faults']
type FaultId = keyof FaultMessages

const WORDS_CHARS = 160

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
function overtakenFault(messages: FaultMessages, { status, due_minor }: Pick<PayRecord, 'status' | 'due_minor'>): Fault | null {
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
