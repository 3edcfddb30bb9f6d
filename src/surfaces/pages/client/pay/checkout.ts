import { isPayable, type PayRecord } from './record.ts'
import { overtakenFault, PAGE_FAULTS, serviceFault } from './faults.ts'
import type { Live } from './live.ts'
import type { Screen } from './screen.ts'
import { keepPayment, keptPayment, sendPayment, type Sent } from './send.ts'
import { askWallet, type SignedPayment } from './sign.ts'
import type { Trace } from './stations.ts'
import type { Wallet } from './wallets.ts'

export interface CheckoutParts {
  live: Live
  screen: Screen
  /** The invoice as it was last seen. */
  record(): PayRecord
  /** What the page may be asked meanwhile: nothing, to leave the wallet alone, or nothing more since a signature is out. */
  onPhase(phase: Phase): void
}

export type Phase = 'idle' | 'wallet' | 'carried'

export interface Checkout {
  pay(wallet: Wallet): Promise<void>
  /** Leaves the wallet alone; a signature that comes later is thrown away unsent. */
  stop(): void
  trace(): Trace | null
  /** Goes on with a payment that was signed before this page was loaded. */
  resume(): void
}

/** A signature is asked for once; from then on the same payment is sent until its end is known. */
export function createCheckout(parts: CheckoutParts): Checkout {
  const { live, screen } = parts
  let turn = 0
  let trace: Trace | null = null
  const phase = (now: Phase) => parts.onPhase(now)
  const carry = async (signed: SignedPayment) => {
    phase('carried')
    live.hurry(true)
    trace = { signed_s: signed.signed_s, sent_s: null }
    const onSent = () => {
      trace = { signed_s: signed.signed_s, sent_s: trace?.sent_s ?? live.clock.now_s() }
      screen.show(parts.record(), trace)
    }
    screen.show(parts.record(), trace)
    const arrived = await carryThrough(parts, signed, onSent)
    keepPayment(parts.record().invoice_id, null)
    if (!arrived) {
      trace = null
      live.hurry(false)
      screen.show(parts.record(), null)
    }
    phase('idle')
  }
  return {
    trace: () => trace,
    async pay(wallet) {
      const mine = ++turn
      const record = parts.record()
      if (!isPayable(record)) return
      if (record.signing === null) return screen.trouble(PAGE_FAULTS.nothing_to_sign)
      screen.trouble(null)
      phase('wallet')
      const say = (words: string) => void (mine === turn && screen.say(words))
      const end = await askWallet(wallet, record, record.signing, { say, now_s: () => live.clock.now_s() })
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
      screen.say('Stopped waiting. Close the request in the wallet too; a signature made now is not used.')
      phase('idle')
    },
    resume() {
      const kept = keptPayment(parts.record().invoice_id)
      if (kept !== null) void carry(kept)
    },
  }
}

/** Chains close a block late at times; until then an answer may still come. */
const GRACE_S = 30
const LOST_WAIT_MAX_S = 15

/** Sends the payment until it is taken, refused or has run out. True when it was taken. */
async function carryThrough(parts: CheckoutParts, signed: SignedPayment, onSent: () => void): Promise<boolean> {
  const { live, screen } = parts
  const path = `/api/invoice/${parts.record().invoice_id}/pay`
  let lost = 0
  for (;;) {
    screen.say('Signed. The payment is being carried to the chain; do not sign again.')
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
      screen.trouble(end.kind === 'refused' ? refusedFault(parts.record(), end.problem) : PAGE_FAULTS.ran_out)
      return false
    }
    if (end.kind === 'again' && end.sent) onSent()
    lost = end.kind === 'lost' ? lost + 1 : 0
    screen.say(waitingWords(end))
    await pause(end.kind === 'again' ? end.wait_s : Math.min(2 ** (lost - 1), LOST_WAIT_MAX_S))
  }
}

function refusedFault(record: PayRecord, problem: Parameters<typeof serviceFault>[0]) {
  return (problem['code'] === 'INVOICE_NOT_PAYABLE' ? overtakenFault(record) : null) ?? serviceFault(problem)
}

function hasArrived({ payments }: PayRecord, { payer, nonce }: SignedPayment): boolean {
  return payments.some((one) => one.nonce === nonce && one.payer.toLowerCase() === payer.toLowerCase())
}

function waitingWords(end: Exclude<Sent, { kind: 'paid' | 'refused' }>): string {
  if (end.kind === 'lost') {
    return 'The line was lost after you signed. Do not sign again: the same signed payment is sent again by itself as soon as the service answers.'
  }
  return end.sent
    ? 'Sent to the chain. It is waiting for a block; do not sign again.'
    : 'The service is busy. The same signed payment is sent again by itself; do not sign again.'
}

/** So many seconds, or until the line is back. */
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
