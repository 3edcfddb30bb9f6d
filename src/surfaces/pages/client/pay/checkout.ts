import { type Members } from '../../../../pure/is-object.ts'
import { isPayable, type PayRecord } from './record.ts'
import { faultOf, overtakenFault, serviceFault, type Fault } from './faults.ts'
import type { Live } from './live.ts'
import type { PayMessages } from './pay-messages.ts'
import { keepPayment, keptPayment, sendPayment, type Sent } from './send.ts'
import { askWallet, type SignedPayment } from './sign.ts'
import type { Wallet } from '../wallets.ts'

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
    keepPayment(parts.record().invoice_id, null)
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
      keepPayment(record.invoice_id, end.signed)
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
