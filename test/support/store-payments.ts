import assert from 'node:assert/strict'
import type { ClaimRequest, PaymentTransition, Payment, PaymentKey, SettledAt } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import type { PaymentState } from '../../src/pure/payments/states.ts'

/** Payments for the contract of the store: made up, but of the right shape. */

export const NOW_MS = 1_760_000_000_000
export const WALLET = `0x${'aa'.repeat(20)}`
export const EPOCH = 176_000_000

let made = 0

/** Text of 32 bytes that nobody else got. */
export function word(): string {
  made += 1
  return `0x${made.toString(16).padStart(64, '0')}`
}

export function address(): string {
  return `0x${word().slice(-40)}`
}

/** A claim of 5,000 of a payer of its own, who holds 10,000. */
export function request(changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    payer: address(),
    nonce: word(),
    purpose: 'call',
    subject: 'iban-check',
    input_hash: `0x${'11'.repeat(32)}`,
    asset: null,
    to: `0x${'22'.repeat(20)}`,
    value_minor: 5_000n,
    valid_after_s: 0n,
    valid_before_s: 1_760_000_300n,
    signature: `0x${'33'.repeat(65)}`,
    network_hash: '44'.repeat(32),
    identifier_hash: null,
    contract_payer: false,
    price_class: 'check',
    balance_minor: 10_000n,
    now_ms: NOW_MS,
    claim_until_ms: NOW_MS + 30_000,
    token_hash: word(),
    ...changes,
  }
}

/** Keeps an unsigned invoice for payments to claim, and returns its id. */
export async function keptInvoice(store: Store, amount_minor: bigint, invoice_id = `inv_${word().slice(-20)}`): Promise<string> {
  const times = { created_ms: NOW_MS, expires_s: 2_000_000_000, watch_until_s: 2_000_000_001 }
  const plain = { invoice_id, merchant: address(), amount_minor, terms: '{}', content_hash: word() }
  const invoice = {
    ...plain,
    ...times,
    nonces: [word()],
    deposit_address: address(),
    request_key: null,
    network: null,
    issue_signature: null,
    bank_reference: null,
  }
  const bounds = { network_unsigned: 9, all_unsigned: 9, calls_unsigned: 99, merchant_signed: 9 }
  assert.equal((await store.invoices.keep(invoice, bounds)).kind, 'created')
  return invoice_id
}

export function keyOf({ payer, nonce }: PaymentKey): PaymentKey {
  return { payer, nonce }
}

export function settledAt(block_number = 100): SettledAt {
  return { transaction: `0x${'77'.repeat(32)}`, block_number, block_hash: `0x${'88'.repeat(32)}` }
}

export function closing(key: PaymentKey, to: PaymentTransition['to']): PaymentTransition {
  if (to === 'settled') return { ...keyOf(key), to, settled_at: settledAt() }
  return { ...keyOf(key), to, reason: `because ${to}`, transaction: null }
}

/** A way to every state from the one before it. */
const BEFORE: Record<PaymentState, PaymentState | null> = {
  claimed: null,
  prepared: 'claimed',
  settling: 'prepared',
  settled: 'settling',
  refused: 'settling',
  unknown: 'settling',
  lost: 'unknown',
  released: 'claimed',
}

/** Tries one move through the port; says whether it happened. Claims expect nothing to be in flight. */
export async function move(store: Store, asked: ClaimRequest, fence: number, to: PaymentState, now_ms = asked.now_ms): Promise<boolean> {
  const { payments } = store
  switch (to) {
    case 'claimed':
      return (await payments.claim({ ...asked, token_hash: word() })).kind === 'claimed'
    case 'prepared':
      return payments.prepare(asked, fence, { sealed: 'c2VhbGVk', expires_ms: now_ms + 86_400_000 }, now_ms)
    case 'settling':
      return payments.begin_settling(asked, fence, { method: 'self', settler: WALLET }, now_ms)
    case 'released':
      return payments.release(asked, fence, 'TOOL_FAILED', now_ms)
    case 'settled':
    case 'refused':
    case 'unknown':
    case 'lost':
      return (await payments.apply_transitions([closing(asked, to)], EPOCH, now_ms))[0] === true
  }
}

/** A payment that has just come to this state, at `now_ms` of the request. */
export async function paymentIn(store: Store, state: PaymentState, changes: Partial<ClaimRequest> = {}): Promise<ClaimRequest> {
  const asked = request(changes)
  const path: PaymentState[] = []
  for (let step: PaymentState | null = state; step !== null; step = BEFORE[step]) path.unshift(step)
  for (const step of path) assert.equal(await move(store, asked, 1, step), true, `to ${step} on the way to ${state}`)
  return asked
}

export async function found(store: Store, key: PaymentKey): Promise<Payment> {
  const payment = await store.payments.find(keyOf(key))
  assert.ok(payment !== null)
  return payment
}
