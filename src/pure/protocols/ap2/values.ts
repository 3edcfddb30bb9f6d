import { expectTypeIfPresent } from '../kit/expect.ts'
import { minorUnitDigits, expectMinorUnits } from '../kit/money.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { ReportFinding } from '../protocol.ts'
import type { Disclosed } from './mandates.ts'
import { readIso8601, type InstantRange } from '../kit/dates.ts'

/** Types that several mandates and constraints are made of. */

const NEEDED: Readonly<Record<Party, readonly string[]>> = {
  merchant: ['id', 'name'],
  instrument: ['id', 'type'],
  pisp: ['legal_name', 'brand_name', 'domain_name'],
}

/** The members that a merchant, an instrument or an initiation service must have. */
export function expectPartyMembers(error: ReportFinding, cursor: JsonCursor, party: Party, disclosed: Disclosed): void {
  for (const name of NEEDED[party]) disclosed.needText(error, cursor, name)
  const more = party === 'merchant' ? 'website' : party === 'instrument' ? 'description' : null
  if (more !== null) expectTypeIfPresent(error, disclosed.get(cursor, more), 'string')
}

/** Amounts of version 0.1, and budgets: decimal numbers of major units, or texts of them, as the W3C Payment Request API has them. */

const DIGITS = 20
/** Units of a decimal in one. */
const DECIMAL_SCALE = 10n ** BigInt(DIGITS)

/** The value in units of 10^-20; null if it is not a plain decimal. */
export function readDecimal(cursor: JsonCursor): bigint | null {
  const { value } = cursor
  const text = typeof value === 'number' ? (cursor.literal() ?? String(value)) : cursor.text()
  const match = text === null ? null : /^(-?)([0-9]{1,30})(?:\.([0-9]{1,20}))?$/.exec(text)
  if (match === null) return null
  const size = BigInt(match[2] ?? '0') * DECIMAL_SCALE + BigInt((match[3] ?? '').padEnd(DIGITS, '0'))
  return match[1] === '-' ? -size : size
}

/** Returns whether two values differ by at least half of the smallest unit of a currency; sums of doubles differ by less. */
export function differByUnit(one: bigint, other: bigint, currency: string | null): boolean {
  const unit = DECIMAL_SCALE / 10n ** BigInt(currency === null ? 2 : (minorUnitDigits(currency) ?? 2))
  const difference = one > other ? one - other : other - one
  return difference * 2n >= unit
}

const ISO = 'a date or time of ISO 8601, such as 2026-03-31T00:00:00Z'

/** Expects the text to be one of ISO 8601; silent about absent and redacted values. */
export function expectIsoTime(report: ReportFinding, cursor: JsonCursor): InstantRange | null {
  if (!cursor.present || cursor.redacted) return null
  const span = readIso8601(cursor.text())
  if (span === null) report(cursor, 'is not an ISO 8601 date or time', { expected: ISO })
  return span
}

/** Hashes as mandates carry them: base64url without padding. */

/** Characters of a hash by the algorithm that RFC 9901 names. */
export const DIGEST_CHARS: Readonly<Record<string, number>> = { 'sha-256': 43, 'sha-384': 64, 'sha-512': 86 }

// Limits that the constraints of an open mandate set, collected once so that each comparison takes constant time.

export interface Constraint {
  cursor: JsonCursor
  /** null if it cannot be read. */
  type: string | null
}

/** A list of what is allowed, by the names under which its items can be met. */
interface Allowed {
  names: ReadonlySet<string>
  /** Something in it is hidden or redacted, so that nothing is certainly outside. */
  unsure: boolean
}

export interface AmountRange {
  cursor: JsonCursor
  currency: string | null
  min: bigint | null
  max: bigint | null
}

/** A sum that repeated payments may reach together. */
interface Budget {
  currency: string | null
  /** The most that it may mean, in minor units. */
  max: bigint | null
}

export interface DateWindow {
  cursor: JsonCursor
  not_before: InstantRange | null
  not_after: InstantRange | null
}

export interface MandateLimits {
  payees: Allowed[]
  merchants: Allowed[]
  instruments: Allowed[]
  pisps: Allowed[]
  ranges: AmountRange[]
  budgets: Budget[]
  windows: DateWindow[]
}

export function collectLimits(constraints: readonly Constraint[], disclosed: Disclosed): MandateLimits {
  const of = (type: string) => constraints.filter((one) => one.type === type).slice(0, MOST_OF_A_TYPE)
  const allowed = (type: string, party: Party) =>
    of(type).map(({ cursor }) => readAllowedParties(disclosed.get(cursor, 'allowed'), party, disclosed))
  return {
    payees: allowed('payment.allowed_payees', 'merchant'),
    merchants: allowed('checkout.allowed_merchants', 'merchant'),
    instruments: allowed('payment.allowed_payment_instruments', 'instrument'),
    pisps: allowed('payment.allowed_pisps', 'pisp'),
    ranges: of('payment.amount_range').map(({ cursor }) => readAmountRange(cursor)),
    budgets: of('payment.budget').map(({ cursor }) => readBudget(cursor, disclosed)),
    windows: of('payment.execution_date').map(({ cursor }) => readDateWindow(cursor)),
  }
}

/** Constraints of one type that closed mandates are checked against; repeated types draw a warning anyway. */
const MOST_OF_A_TYPE = 4

export type Party = 'merchant' | 'instrument' | 'pisp'

/** Names of a party: those under which it goes, and those under which an allowed one is met. */
interface Names {
  goes_by: readonly string[]
  met_by: readonly string[]
}

/** The names of a party; null if one of them is redacted or hidden, or nothing names it. */
function readPartyNames(cursor: JsonCursor, party: Party, disclosed: Disclosed): Names | null {
  if (cursor.kind !== 'object' || disclosed.hides(cursor)) return null
  const members = PARTY_MEMBERS[party].map((name) => disclosed.get(cursor, name))
  if (members.some((member) => member.redacted)) return null
  const [first = '', second = '', third = ''] = members.map((member) => member.text() ?? '')
  if (party === 'instrument') return first === '' ? null : singleName(`id ${first}`)
  if (party === 'pisp') return first === '' && second === '' && third === '' ? null : singleName(JSON.stringify([first, second, third]))
  return readMerchantNames(first, second, third)
}

const PARTY_MEMBERS: Readonly<Record<Party, readonly string[]>> = {
  merchant: ['id', 'name', 'website'],
  instrument: ['id'],
  pisp: ['legal_name', 'brand_name', 'domain_name'],
}

function singleName(name: string): Names {
  return { goes_by: [name], met_by: [name] }
}

/** The id decides; name and website together only where one of the two has no id, since anybody can take another's name. */
function readMerchantNames(id: string, name: string, website: string): Names | null {
  const site = name !== '' && website !== '' ? JSON.stringify([name, website]) : null
  if (id === '') return site === null ? null : { goes_by: [`any ${site}`], met_by: [`any ${site}`, `nameless ${site}`] }
  const full = site === null ? [] : [`any ${site}`]
  return { goes_by: [`id ${id}`, ...(site === null ? [] : [`nameless ${site}`])], met_by: [`id ${id}`, ...full] }
}

function readAllowedParties(list: JsonCursor, party: Party, disclosed: Disclosed): Allowed {
  const names = new Set<string>()
  const items = disclosed.items(list)
  let unsure = list.kind !== 'array' || items.length === 0
  for (const item of items) {
    const found = readPartyNames(item, party, disclosed)
    if (found === null) unsure = true
    else for (const name of found.met_by) names.add(name)
  }
  return { names, unsure }
}

/** Returns whether a party is certainly not among the allowed ones. */
export function isOutsideAllowed(cursor: JsonCursor, party: Party, { names, unsure }: Allowed, disclosed: Disclosed): boolean {
  const own = unsure ? null : readPartyNames(cursor, party, disclosed)
  return own !== null && !own.goes_by.some((name) => names.has(name))
}

/** Returns whether two objects certainly name different parties. */
export function areDifferentParties(one: JsonCursor, other: JsonCursor, party: Party, disclosed: Disclosed): boolean {
  const [own, met] = [readPartyNames(one, party, disclosed), readPartyNames(other, party, disclosed)]
  return own !== null && met !== null && !own.goes_by.some((name) => met.met_by.includes(name))
}

const silent = () => undefined

/** Bounds that contradict each other, or cannot be read, are left out. */
function readAmountRange(cursor: JsonCursor): AmountRange {
  const [min, max] = [expectMinorUnits(silent, cursor.get('min')), expectMinorUnits(silent, cursor.get('max'))]
  const broken = min !== null && max !== null && min > max
  return { cursor, currency: cursor.text('currency'), min: broken ? null : min, max: broken ? null : max }
}

/** In major units: minor ones would be less. The library of the protocol takes a hundredth for the minor unit of every currency. */
function readBudget(cursor: JsonCursor, disclosed: Disclosed): Budget {
  const currency = disclosed.get(cursor, 'currency').text()
  const digits = Math.max(2, minorUnitDigits(currency ?? '') ?? 2)
  const max = readDecimal(disclosed.get(cursor, 'max'))
  return { currency, max: max === null || max < 0n ? null : (max * 10n ** BigInt(digits)) / DECIMAL_SCALE }
}

function readDateWindow(cursor: JsonCursor): DateWindow {
  const [not_before, not_after] = [readIso8601(cursor.text('not_before')), readIso8601(cursor.text('not_after'))]
  const broken = not_before !== null && not_after !== null && not_before.from_s > not_after.to_s
  return { cursor, not_before: broken ? null : not_before, not_after: broken ? null : not_after }
}
