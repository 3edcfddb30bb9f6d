import { need, oneOf } from '../kit/expect.ts'
import { memberBytes } from '../kit/keys.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { cnfKeys } from './keys.ts'
import type { Range, Window } from './limits.ts'
import { ap2Spec, rfc } from './spec.ts'
import { CURRENT, OPEN, OPEN_CHECKOUTS, OPEN_PAYMENTS, type Ap2View, type OpenMandate } from './view.ts'

const STRUCTURE = ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs')

const CHECKOUT_TYPES = ['checkout.allowed_merchants', 'checkout.line_items']
const PAYMENT_TYPES = [
  'payment.agent_recurrence',
  'payment.allowed_payees',
  'payment.allowed_payment_instruments',
  'payment.allowed_pisps',
  'payment.amount_range',
  'payment.budget',
  'payment.execution_date',
  'payment.reference',
]
const KNOWN: ReadonlySet<string> = new Set([...CHECKOUT_TYPES, ...PAYMENT_TYPES])

const KEY = { kty: 'EC', crv: 'P-256', x: '…', y: '…' }

/** AP2-017…023: what an open mandate is made of. */
export const OPEN_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-017',
      severity: 'error',
      types: OPEN,
      why: 'An open mandate without constraints allows everything, and without a key everybody.',
      spec: STRUCTURE,
      hint: 'Send constraints with at least one item, and the key of the agent under cnf.',
      good: { constraints: [{ type: 'payment.amount_range' }], cnf: { jwk: KEY } },
      bad: { constraints: [], cnf: { jwk: KEY } },
    },
    ({ error }, { open, disclosed }) => {
      for (const { claims, list } of open) {
        if (disclosed.need(error, claims, 'constraints', 'array') && list.kind === 'array' && list.items().length === 0)
          error(list, 'is empty', { expected: 'at least one constraint' })
        disclosed.need(error, claims, 'cnf', 'object')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-018',
      severity: 'error',
      types: CURRENT,
      why: 'Only the holder of this key may close the mandate; everybody who reads it sees the key.',
      spec: rfc(7800, 'Representation of an Asymmetric Proof-of-Possession Key'),
      hint: 'Send the public key of the agent under cnf.jwk: EC, P-256, x and y.',
      good: { cnf: { jwk: KEY } },
      bad: { cnf: { jwk: { ...KEY, d: '…' } } },
    },
    ({ error }, view) => {
      for (const { mandate, cnf, jwk, secrets } of cnfKeys(view)) {
        for (const place of secrets) error(place, 'is the private part of a key')
        const isOpen = mandate.type === 'open_checkout_mandate' || mandate.type === 'open_payment_mandate'
        if (!isOpen || cnf.kind !== 'object' || !need(error, jwk, 'object') || jwk.redacted) continue
        if (need(error, jwk.get('kty'), 'string')) oneOf(error, jwk.get('kty'), ['EC'])
        if (need(error, jwk.get('crv'), 'string')) oneOf(error, jwk.get('crv'), ['P-256'])
        for (const name of ['x', 'y']) if (need(error, jwk.get(name), 'string')) coordinate(error, jwk.get(name))
        oneOf(error, jwk.get('alg'), ['ES256'])
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-019',
      severity: 'error',
      types: OPEN_CHECKOUTS,
      why: 'Without it the agent may buy anything.',
      spec: ap2Spec('checkout_mandate', 'Line Items'),
      hint: 'Add a constraint of type checkout.line_items.',
      good: { constraints: [{ type: 'checkout.line_items', items: [] }] },
      bad: { constraints: [{ type: 'checkout.allowed_merchants', allowed: [] }] },
    },
    ({ error }, { open }) => {
      for (const one of open) if (!one.is_payment) needConstraint(error, one, 'checkout.line_items')
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-020',
      severity: 'error',
      types: OPEN_PAYMENTS,
      why: 'Without it the payment can be used for another purchase than the one that was allowed.',
      spec: ap2Spec('payment_mandate', 'Reference'),
      hint: 'Add a constraint of type payment.reference with the hash of the open checkout mandate.',
      good: { constraints: [{ type: 'payment.reference', conditional_transaction_id: '…' }] },
      bad: { constraints: [{ type: 'payment.amount_range', currency: 'USD', max: 5000 }] },
    },
    ({ error }, { open, disclosed }) => {
      for (const one of open) {
        if (!one.is_payment) continue
        needConstraint(error, one, 'payment.reference')
        for (const { place, type } of one.constraints)
          if (type === 'payment.reference') disclosed.needText(error, place, 'conditional_transaction_id')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-021',
      severity: 'both',
      types: OPEN,
      why: 'A verifier must treat a constraint that it does not know as one that is not met.',
      spec: ap2Spec('agent_authorization', 'Verification and Processing Rules'),
      hint: 'Send constraint types of the specification, or make sure that the verifier knows your own.',
      good: { constraints: [{ type: 'payment.amount_range' }] },
      bad: { constraints: [{ type: 'payment.amount' }] },
    },
    ({ error, warning }, { open, disclosed }) => {
      for (const { constraints, is_payment } of open) {
        for (const { place, type } of constraints) {
          if (disclosed.isSealed(place) || !need(error, place, 'object') || place.redacted) continue
          if (type === null || type.trim() === '') disclosed.needText(error, place, 'type')
          else if (!KNOWN.has(type) && !isForeign(type, is_payment))
            warning(disclosed.get(place, 'type'), 'is not known here, and verifiers that do not know it must let the mandate fail')
        }
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-022',
      severity: 'error',
      types: OPEN,
      why: 'The verifier of a checkout does not evaluate constraints of the payment, nor the other way round.',
      spec: ap2Spec('payment_mandate', 'Payment Mandate Constraints'),
      hint: 'Move the constraint to the other mandate.',
      good: { vct: 'mandate.checkout.open.1', constraints: [{ type: 'checkout.line_items' }] },
      bad: { vct: 'mandate.checkout.open.1', constraints: [{ type: 'payment.amount_range' }] },
    },
    ({ error }, { open, disclosed }) => {
      for (const { constraints, is_payment } of open) {
        for (const { place, type } of constraints) {
          if (type === null || !isForeign(type, is_payment)) continue
          error(disclosed.get(place, 'type'), `is a constraint of ${is_payment ? 'checkout' : 'payment'} mandates`)
        }
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-023',
      severity: 'both',
      types: OPEN,
      why: 'All constraints must hold at once; what one of them allows another may forbid.',
      spec: ap2Spec('agent_authorization', 'Verification and Processing Rules'),
      hint: 'Send each type once, with all that it is to allow.',
      good: { constraints: [{ type: 'payment.amount_range', currency: 'USD', min: 100, max: 5000 }] },
      bad: {
        constraints: [
          { type: 'payment.amount_range', currency: 'USD', max: 100 },
          { type: 'payment.amount_range', currency: 'USD', min: 200, max: 5000 },
        ],
      },
    },
    ({ error, warning }, { open }) => {
      for (const { constraints, limits } of open) {
        const clashes = new Set([...clashOfRanges(limits.ranges), ...clashOfWindows(limits.windows)].map(({ value }) => value))
        const seen = new Set<string>()
        for (const { place, type } of constraints) {
          if (type === null) continue
          const repeats = seen.has(type)
          seen.add(type)
          if (clashes.has(place.value)) error(place, 'leaves nothing that another constraint of its type allows')
          else if (repeats) warning(place, 'repeats the type of another constraint')
        }
      }
    },
  ),
]

function coordinate(error: Say, place: Place): void {
  const text = place.text()
  if (text !== null && (text.length !== 43 || memberBytes(place) !== 32))
    error(place, 'is no coordinate of P-256', { expected: '43 characters of base64url' })
}

/** Says that no constraint of the type is there; not where one may be hidden, nor where there is none at all, which is another fault. */
function needConstraint(error: Say, { list, constraints, hides }: OpenMandate, type: string): void {
  if (hides || constraints.length === 0 || constraints.some((one) => one.type === type)) return
  error(list, `has no constraint of type ${type}`, { expected: type })
}

function isForeign(type: string, is_payment: boolean): boolean {
  return type.startsWith(is_payment ? 'checkout.' : 'payment.')
}

/** The last of several ranges of one currency that have no amount in common. */
function clashOfRanges(ranges: readonly Range[]): Place[] {
  const [first, ...others] = ranges
  if (first === undefined || others.some(({ currency }) => currency !== first.currency)) return []
  let [min, max] = [first.min, first.max]
  for (const { place, min: low, max: high } of others) {
    if (low !== null && (min === null || low > min)) min = low
    if (high !== null && (max === null || high < max)) max = high
    if (min !== null && max !== null && min > max) return [place]
  }
  return []
}

function clashOfWindows(windows: readonly Window[]): Place[] {
  const [first, ...others] = windows
  if (first === undefined) return []
  let [start_s, end_s] = [first.not_before?.from_s ?? -Infinity, first.not_after?.to_s ?? Infinity]
  for (const { place, not_before, not_after } of others) {
    start_s = Math.max(start_s, not_before?.from_s ?? -Infinity)
    end_s = Math.min(end_s, not_after?.to_s ?? Infinity)
    if (start_s > end_s) return [place]
  }
  return []
}
