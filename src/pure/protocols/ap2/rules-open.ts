import { expectType, expectOneOf, expectUnique, expectNotEmpty, expectObject } from '../kit/expect.ts'
import { decodedLength } from '../kit/keys.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { rfc, type RuleTable, type ReportFinding, type FindingReporter } from '../protocol.ts'
import {
  cnfKeys,
  CURRENT,
  OPEN_PAYMENTS,
  type Ap2View,
  type OpenMandate,
  ap2Spec,
  ISSUE_BUDGET,
  type MandateLimits,
  type Party,
  expectIsoTime,
  expectPartyMembers,
} from './view.ts'
import { expectInteger, expectMinorUnits } from '../kit/money.ts'
import type { Disclosed, Ap2Type } from './mandates.ts'

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

const OPEN_CHECKOUTS = ['open_checkout_mandate', 'mandates'] as const satisfies Ap2Type[]
const OPEN = ['open_checkout_mandate', 'open_payment_mandate', 'mandates'] as const satisfies Ap2Type[]

export const AP2_OPEN_RULES: RuleTable<Ap2View> = {
  // AP2-017…023: structure of open mandates.
  'AP2-017': {
    types: OPEN,
    why: 'Without constraints an open mandate allows everything, and without a key any agent.',
    spec: STRUCTURE,
    hint: 'Send constraints with at least one item, and the key of the agent under cnf.',
    good: { constraints: [{ type: 'payment.amount_range' }], cnf: { jwk: KEY } },
    bad: { constraints: [], cnf: { jwk: KEY } },
    check({ error }, { open, disclosed }) {
      for (const { claims, list } of open) {
        if (disclosed.need(error, claims, 'constraints', 'array') && list.kind === 'array' && list.items().length === 0)
          error(list, 'is empty', { expected: 'at least one constraint' })
        disclosed.need(error, claims, 'cnf', 'object')
      }
    },
  },
  'AP2-018': {
    types: CURRENT,
    why: 'Only the holder of this key may close the mandate, and every reader sees the key.',
    spec: rfc(7800, 'Representation of an Asymmetric Proof-of-Possession Key'),
    hint: 'Send the public key of the agent under cnf.jwk: EC, P-256, x and y.',
    good: { cnf: { jwk: KEY } },
    bad: { cnf: { jwk: { ...KEY, d: '…' } } },
    check({ error }, view) {
      for (const { mandate, cnf, jwk, secrets } of cnfKeys(view)) {
        for (const cursor of secrets) error(cursor, 'is the private part of a key')
        const isOpen = mandate.type === 'open_checkout_mandate' || mandate.type === 'open_payment_mandate'
        if (!isOpen || cnf.kind !== 'object' || !expectObject(error, jwk)) continue
        if (expectType(error, jwk.get('kty'), 'string')) expectOneOf(error, jwk.get('kty'), ['EC'])
        if (expectType(error, jwk.get('crv'), 'string')) expectOneOf(error, jwk.get('crv'), ['P-256'])
        for (const name of ['x', 'y']) if (expectType(error, jwk.get(name), 'string')) expectP256Coordinate(error, jwk.get(name))
        expectOneOf(error, jwk.get('alg'), ['ES256'])
      }
    },
  },
  'AP2-019': {
    types: OPEN_CHECKOUTS,
    why: 'Without it the agent may buy anything.',
    spec: ap2Spec('checkout_mandate', 'Line Items'),
    hint: 'Add a constraint of type checkout.line_items.',
    good: { constraints: [{ type: 'checkout.line_items', items: [] }] },
    bad: { constraints: [{ type: 'checkout.allowed_merchants', allowed: [] }] },
    check({ error }, { open }) {
      for (const one of open) if (!one.is_payment) expectConstraint(error, one, 'checkout.line_items')
    },
  },
  'AP2-020': {
    types: OPEN_PAYMENTS,
    why: 'Without it the payment can be used for another purchase than the one that was allowed.',
    spec: ap2Spec('payment_mandate', 'Reference'),
    hint: 'Add a constraint of type payment.reference with the hash of the open checkout mandate.',
    good: { constraints: [{ type: 'payment.reference', conditional_transaction_id: '…' }] },
    bad: { constraints: [{ type: 'payment.amount_range', currency: 'USD', max: 5000 }] },
    check({ error }, { open, disclosed }) {
      for (const one of open) {
        if (!one.is_payment) continue
        expectConstraint(error, one, 'payment.reference')
        for (const { cursor, type } of one.constraints)
          if (type === 'payment.reference') disclosed.needText(error, cursor, 'conditional_transaction_id')
      }
    },
  },
  'AP2-021': {
    severity: 'both',
    types: OPEN,
    why: 'A verifier must treat a constraint that it does not know as one that is not met.',
    spec: ap2Spec('agent_authorization', 'Verification and Processing Rules'),
    hint: 'Send constraint types of the specification, or make sure that the verifier knows your own.',
    good: { constraints: [{ type: 'payment.amount_range' }] },
    bad: { constraints: [{ type: 'payment.amount' }] },
    check({ error, warning }, { open, disclosed }) {
      for (const { constraints, is_payment } of open) {
        for (const { cursor, type } of constraints) {
          if (disclosed.isSealed(cursor) || !expectObject(error, cursor)) continue
          if (type === null || type.trim() === '') disclosed.needText(error, cursor, 'type')
          else if (!KNOWN.has(type) && !belongsToOtherMandate(type, is_payment))
            warning(disclosed.get(cursor, 'type'), 'is not a known type; a verifier that does not know it must reject the mandate')
        }
      }
    },
  },
  'AP2-022': {
    types: OPEN,
    why: 'The verifier of a checkout does not evaluate constraints of the payment, nor the other way round.',
    spec: ap2Spec('payment_mandate', 'Payment Mandate Constraints'),
    hint: 'Move the constraint to the other mandate.',
    good: { vct: 'mandate.checkout.open.1', constraints: [{ type: 'checkout.line_items' }] },
    bad: { vct: 'mandate.checkout.open.1', constraints: [{ type: 'payment.amount_range' }] },
    check({ error }, { open, disclosed }) {
      for (const { constraints, is_payment } of open) {
        for (const { cursor, type } of constraints) {
          if (type === null || !belongsToOtherMandate(type, is_payment)) continue
          error(disclosed.get(cursor, 'type'), `is a constraint of ${is_payment ? 'checkout' : 'payment'} mandates`)
        }
      }
    },
  },
  'AP2-023': {
    severity: 'both',
    types: OPEN,
    why: 'All constraints apply together; one may forbid what another allows.',
    spec: ap2Spec('agent_authorization', 'Verification and Processing Rules'),
    hint: 'Send each type once, with all that it is to allow.',
    good: { constraints: [{ type: 'payment.amount_range', currency: 'USD', min: 100, max: 5000 }] },
    bad: {
      constraints: [
        { type: 'payment.amount_range', currency: 'USD', max: 100 },
        { type: 'payment.amount_range', currency: 'USD', min: 200, max: 5000 },
      ],
    },
    check({ error, warning }, { open }) {
      for (const { constraints, limits } of open) {
        const clashes = new Set(
          [...findContradictoryRange(limits.ranges), ...findContradictoryWindow(limits.windows)].map(({ value }) => value),
        )
        const seen = new Set<string>()
        for (const { cursor, type } of constraints) {
          if (type === null) continue
          const repeats = seen.has(type)
          seen.add(type)
          if (clashes.has(cursor.value)) error(cursor, 'contradicts another constraint of the same type')
          else if (repeats) warning(cursor, 'repeats the type of another constraint')
        }
      }
    },
  },
  // AP2-024…029: the members of each type of constraint.
  'AP2-024': {
    types: OPEN_CHECKOUTS,
    why: 'A verifier counts what is bought against these requirements.',
    spec: ap2Spec('checkout_mandate', 'Line Items'),
    hint: 'Give each requirement its own id, at least one acceptable item with id and title, and a quantity from 1 up.',
    good: { items: [{ id: 'shoes', acceptable_items: [{ id: 'sku_1', title: 'Shoes' }], quantity: 1 }] },
    bad: { items: [{ id: 'shoes', acceptable_items: [], quantity: 1 }] },
    check({ error }, view) {
      for (const cursor of constraintsOfType(view, 'checkout.line_items')) checkLineItemRequirements(error, cursor, view.disclosed)
    },
  },
  'AP2-025': {
    types: OPEN,
    why: 'An empty list allows no payee, and an item without its members never matches.',
    spec: ap2Spec('payment_mandate', 'Allowed Payees'),
    hint: 'List at least one, with id and name; instruments have id and type, initiation services their three names.',
    good: { type: 'payment.allowed_payees', allowed: [{ id: 'merchant_1', name: 'Demo Merchant' }] },
    bad: { type: 'payment.allowed_payees', allowed: [] },
    check({ error }, view) {
      for (const [type, party] of LISTS)
        for (const cursor of constraintsOfType(view, type)) expectAllowedParties(error, cursor, party, view.disclosed)
    },
  },
  'AP2-026': {
    types: OPEN_PAYMENTS,
    why: 'A limit that cannot be read is either no limit, or one that nothing meets.',
    spec: ap2Spec('payment_mandate', 'Amount Range'),
    hint: 'Send currency and max, in minor units from 0 up, and min where there is one, no more than max.',
    good: { type: 'payment.amount_range', currency: 'USD', min: 100, max: 5000 },
    bad: { type: 'payment.amount_range', currency: 'USD', max: 50.5 },
    check({ error }, view) {
      const { disclosed } = view
      for (const cursor of constraintsOfType(view, 'payment.amount_range')) {
        disclosed.needText(error, cursor, 'currency')
        const high = disclosed.get(cursor, 'max')
        const max = disclosed.need(error, cursor, 'max', 'number') ? expectMinorUnits(error, high, { min: 0n }) : null
        const min = expectMinorUnits(error, disclosed.get(cursor, 'min'))
        if (min !== null && max !== null && min > max) error(disclosed.get(cursor, 'min'), 'is more than max')
      }
    },
  },
  'AP2-027': {
    severity: 'both',
    types: OPEN_PAYMENTS,
    why: 'A budget counts repeated payments, in whole units of its currency, while every other amount counts minor units.',
    spec: ISSUE_BUDGET,
    hint: 'Send max in major units, such as 1000.00, with currency, together with a payment.agent_recurrence.',
    good: [
      { type: 'payment.budget', max: 1000.5, currency: 'USD' },
      { type: 'payment.agent_recurrence', frequency: 'MONTHLY' },
    ],
    bad: { type: 'payment.budget', max: -1, currency: 'USD' },
    check(report, view) {
      for (const cursor of constraintsOfType(view, 'payment.budget')) checkBudget(report, cursor, view.disclosed)
      for (const { is_payment, constraints, hides } of view.open) {
        if (!is_payment || hides) continue
        const [budgets, recurrences] = ['payment.budget', 'payment.agent_recurrence'].map((type) =>
          constraints.find((one) => one.type === type),
        )
        if (budgets !== undefined && recurrences === undefined)
          report.warning(budgets.cursor, 'is a budget without payment.agent_recurrence')
        if (recurrences !== undefined && budgets === undefined) report.warning(recurrences.cursor, 'is a recurrence without payment.budget')
      }
    },
  },
  'AP2-028': {
    types: OPEN_PAYMENTS,
    why: 'A frequency that is not known cannot be counted.',
    spec: ap2Spec('payment_mandate', 'Agent Recurrence'),
    hint: 'Send one of the seven frequencies in upper case, and max_occurrences from 1 up.',
    good: { type: 'payment.agent_recurrence', frequency: 'MONTHLY', max_occurrences: 12 },
    bad: { type: 'payment.agent_recurrence', frequency: 'monthly' },
    check({ error }, view) {
      const { disclosed } = view
      for (const cursor of constraintsOfType(view, 'payment.agent_recurrence')) {
        if (disclosed.need(error, cursor, 'frequency', 'string')) expectOneOf(error, disclosed.get(cursor, 'frequency'), FREQUENCIES)
        expectInteger(error, disclosed.get(cursor, 'max_occurrences'), { min: 1n })
      }
    },
  },
  'AP2-029': {
    types: OPEN_PAYMENTS,
    why: 'No payment can be made in a window that is closed or upside down.',
    spec: ap2Spec('payment_mandate', 'Execution Date'),
    hint: 'Send not_before no later than not_after, and not_after in the future.',
    good: { type: 'payment.execution_date', not_before: '2026-12-01T00:00:00Z', not_after: '2026-12-31T23:59:59Z' },
    bad: { type: 'payment.execution_date', not_before: '2026-12-31T00:00:00Z', not_after: '2026-12-01T00:00:00Z' },
    check({ error }, view) {
      const { disclosed, context } = view
      for (const cursor of constraintsOfType(view, 'payment.execution_date')) {
        const [first, last] = [disclosed.get(cursor, 'not_before'), disclosed.get(cursor, 'not_after')]
        const [start, end] = [expectIsoTime(error, first), expectIsoTime(error, last)]
        if (start !== null && end !== null && start.from_s > end.to_s) error(first, 'is later than not_after')
        else if (end !== null && end.to_s < context.now_s) error(last, 'is past')
      }
    },
  },
}

/** A list of allowed parties; nothing is said of hidden ones. */
function expectAllowedParties(error: ReportFinding, constraint: JsonCursor, party: Party, disclosed: Disclosed): void {
  const list = disclosed.get(constraint, 'allowed')
  if (!disclosed.need(error, constraint, 'allowed', 'array') || list.redacted) return
  const items = disclosed.items(list)
  if (items.length === 0) error(list, 'is empty', { expected: 'at least one item' })
  for (const item of items) {
    if (disclosed.isSealed(item) || !expectObject(error, item)) continue
    expectPartyMembers(error, item, party, disclosed)
  }
}

function expectP256Coordinate(error: ReportFinding, cursor: JsonCursor): void {
  const text = cursor.text()
  if (text !== null && (text.length !== 43 || decodedLength(cursor) !== 32))
    error(cursor, 'is not a P-256 coordinate', { expected: '43 characters of base64url' })
}

/** Says that no constraint of the type is there; not where one may be hidden, nor where there is none at all, which is another fault. */
function expectConstraint(error: ReportFinding, { list, constraints, hides }: OpenMandate, type: string): void {
  if (hides || constraints.length === 0 || constraints.some((one) => one.type === type)) return
  error(list, `has no constraint of type ${type}`, { expected: type })
}

function belongsToOtherMandate(type: string, is_payment: boolean): boolean {
  return type.startsWith(is_payment ? 'checkout.' : 'payment.')
}

/** The last of several ranges of one currency that have no amount in common. */
function findContradictoryRange(ranges: MandateLimits['ranges']): JsonCursor[] {
  const [first, ...others] = ranges
  if (first === undefined || others.some(({ currency }) => currency !== first.currency)) return []
  let [min, max] = [first.min, first.max]
  for (const { cursor, min: low, max: high } of others) {
    if (low !== null && (min === null || low > min)) min = low
    if (high !== null && (max === null || high < max)) max = high
    if (min !== null && max !== null && min > max) return [cursor]
  }
  return []
}

function findContradictoryWindow(windows: MandateLimits['windows']): JsonCursor[] {
  const [first, ...others] = windows
  if (first === undefined) return []
  let [start_s, end_s] = [first.not_before?.from_s ?? -Infinity, first.not_after?.to_s ?? Infinity]
  for (const { cursor, not_before, not_after } of others) {
    start_s = Math.max(start_s, not_before?.from_s ?? -Infinity)
    end_s = Math.min(end_s, not_after?.to_s ?? Infinity)
    if (start_s > end_s) return [cursor]
  }
  return []
}

const FREQUENCIES = ['ON_DEMAND', 'DAILY', 'WEEKLY', 'BIWEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUALLY']

const LISTS: readonly [string, Party][] = [
  ['checkout.allowed_merchants', 'merchant'],
  ['payment.allowed_payees', 'merchant'],
  ['payment.allowed_payment_instruments', 'instrument'],
  ['payment.allowed_pisps', 'pisp'],
]

/** Constraints of one type in all open mandates. */
function constraintsOfType({ open }: Ap2View, type: string): JsonCursor[] {
  return open.flatMap(({ constraints }) => constraints.filter((one) => one.type === type).map(({ cursor }) => cursor))
}

function checkLineItemRequirements(error: ReportFinding, cursor: JsonCursor, disclosed: Disclosed): void {
  const list = disclosed.get(cursor, 'items')
  if (!disclosed.need(error, cursor, 'items', 'array') || list.redacted) return
  expectNotEmpty(error, list, 'at least one requirement')
  const items = disclosed.items(list).filter((item) => !disclosed.isSealed(item) && expectObject(error, item))
  expectUnique(
    error,
    items.map((item) => disclosed.get(item, 'id')),
    'the id of another requirement',
  )
  for (const item of items) {
    disclosed.needText(error, item, 'id')
    if (disclosed.need(error, item, 'quantity', 'number')) expectInteger(error, disclosed.get(item, 'quantity'), { min: 1n })
    if (disclosed.need(error, item, 'acceptable_items', 'array'))
      checkAcceptableItems(error, disclosed.get(item, 'acceptable_items'), disclosed)
  }
}

function checkAcceptableItems(error: ReportFinding, list: JsonCursor, disclosed: Disclosed): void {
  expectNotEmpty(error, list, 'at least one item')
  for (const item of disclosed.items(list)) {
    if (disclosed.isSealed(item) || !expectObject(error, item)) continue
    for (const name of ['id', 'title']) disclosed.needText(error, item, name)
  }
}

/** A fraction can only be of major units; an integer has been read as either. */
function checkBudget({ error, warning }: FindingReporter, cursor: JsonCursor, disclosed: Disclosed): void {
  const max = disclosed.get(cursor, 'max')
  disclosed.needText(error, cursor, 'currency')
  if (!disclosed.need(error, cursor, 'max', 'number')) return
  const value = max.number()
  if (value === null) return
  if (!(value >= 0)) error(max, 'is less than 0', { expected: 'a number from 0 up' })
  else if (max.literal() === null) warning(max, 'is an integer, which may be meant in major or in minor units', { expected: 'major units' })
}
