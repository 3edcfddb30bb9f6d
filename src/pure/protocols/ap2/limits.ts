import { readIso, type Span } from '../kit/dates.ts'
import { minorUnitDigits, minorUnits } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { DECIMAL_SCALE, readDecimal } from './decimals.ts'
import type { Disclosed } from './disclosed.ts'

/** What the constraints of an open mandate allow, gathered once, so that asking costs the same however long its lists are. */

export interface Constraint {
  place: Place
  /** null where it cannot be read. */
  type: string | null
}

/** A list of what is allowed, by the names under which its items can be met. */
interface Allowed {
  names: ReadonlySet<string>
  /** Something in it is hidden or redacted, so that nothing is certainly outside. */
  unsure: boolean
}

export interface Range {
  place: Place
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

export interface Window {
  place: Place
  not_before: Span | null
  not_after: Span | null
}

export interface Limits {
  payees: Allowed[]
  merchants: Allowed[]
  instruments: Allowed[]
  pisps: Allowed[]
  ranges: Range[]
  budgets: Budget[]
  windows: Window[]
}

export function limitsOf(constraints: readonly Constraint[], disclosed: Disclosed): Limits {
  const of = (type: string) => constraints.filter((one) => one.type === type).slice(0, MOST_OF_A_TYPE)
  const allowed = (type: string, party: Party) => of(type).map(({ place }) => allowedOf(disclosed.get(place, 'allowed'), party, disclosed))
  return {
    payees: allowed('payment.allowed_payees', 'merchant'),
    merchants: allowed('checkout.allowed_merchants', 'merchant'),
    instruments: allowed('payment.allowed_payment_instruments', 'instrument'),
    pisps: allowed('payment.allowed_pisps', 'pisp'),
    ranges: of('payment.amount_range').map(({ place }) => rangeOf(place)),
    budgets: of('payment.budget').map(({ place }) => budgetOf(place, disclosed)),
    windows: of('payment.execution_date').map(({ place }) => windowOf(place)),
  }
}

/** A constraint that stands more often draws a warning anyway; closed mandates are held against so many of each. */
const MOST_OF_A_TYPE = 4

export type Party = 'merchant' | 'instrument' | 'pisp'

/** Names of a party: those under which it goes, and those under which an allowed one is met. */
interface Names {
  goes_by: readonly string[]
  met_by: readonly string[]
}

/** The names of a party; null where one of them is redacted or hidden, or nothing names it. */
function namesOf(place: Place, party: Party, disclosed: Disclosed): Names | null {
  if (place.kind !== 'object' || disclosed.hides(place)) return null
  const members = PARTY_MEMBERS[party].map((name) => disclosed.get(place, name))
  if (members.some((member) => member.redacted)) return null
  const [first = '', second = '', third = ''] = members.map((member) => member.text() ?? '')
  if (party === 'instrument') return first === '' ? null : same(`id ${first}`)
  if (party === 'pisp') return first === '' && second === '' && third === '' ? null : same(JSON.stringify([first, second, third]))
  return merchantNames(first, second, third)
}

const PARTY_MEMBERS: Readonly<Record<Party, readonly string[]>> = {
  merchant: ['id', 'name', 'website'],
  instrument: ['id'],
  pisp: ['legal_name', 'brand_name', 'domain_name'],
}

function same(name: string): Names {
  return { goes_by: [name], met_by: [name] }
}

/** The id decides; name and website together only where one of the two has no id, since anybody can take another's name. */
function merchantNames(id: string, name: string, website: string): Names | null {
  const site = name !== '' && website !== '' ? JSON.stringify([name, website]) : null
  if (id === '') return site === null ? null : { goes_by: [`any ${site}`], met_by: [`any ${site}`, `nameless ${site}`] }
  const full = site === null ? [] : [`any ${site}`]
  return { goes_by: [`id ${id}`, ...(site === null ? [] : [`nameless ${site}`])], met_by: [`id ${id}`, ...full] }
}

function allowedOf(list: Place, party: Party, disclosed: Disclosed): Allowed {
  const names = new Set<string>()
  const items = disclosed.items(list)
  let unsure = list.kind !== 'array' || items.length === 0
  for (const item of items) {
    const found = namesOf(item, party, disclosed)
    if (found === null) unsure = true
    else for (const name of found.met_by) names.add(name)
  }
  return { names, unsure }
}

/** Whether a party is certainly not among the allowed ones. */
export function isOutside(place: Place, party: Party, { names, unsure }: Allowed, disclosed: Disclosed): boolean {
  const own = unsure ? null : namesOf(place, party, disclosed)
  return own !== null && !own.goes_by.some((name) => names.has(name))
}

/** Whether two places certainly name different parties. */
export function differs(one: Place, other: Place, party: Party, disclosed: Disclosed): boolean {
  const [own, met] = [namesOf(one, party, disclosed), namesOf(other, party, disclosed)]
  return own !== null && met !== null && !own.goes_by.some((name) => met.met_by.includes(name))
}

const silent = () => undefined

/** Bounds that contradict each other, or cannot be read, are left out. */
function rangeOf(place: Place): Range {
  const [min, max] = [minorUnits(silent, place.get('min')), minorUnits(silent, place.get('max'))]
  const broken = min !== null && max !== null && min > max
  return { place, currency: place.get('currency').text(), min: broken ? null : min, max: broken ? null : max }
}

/** In major units: minor ones would be less. The library of the protocol takes a hundredth for the minor unit of every currency. */
function budgetOf(place: Place, disclosed: Disclosed): Budget {
  const currency = disclosed.get(place, 'currency').text()
  const digits = Math.max(2, minorUnitDigits(currency ?? '') ?? 2)
  const max = readDecimal(disclosed.get(place, 'max'))
  return { currency, max: max === null || max < 0n ? null : (max * 10n ** BigInt(digits)) / DECIMAL_SCALE }
}

function windowOf(place: Place): Window {
  const [not_before, not_after] = [readIso(place.get('not_before').text()), readIso(place.get('not_after').text())]
  const broken = not_before !== null && not_after !== null && not_before.from_s > not_after.to_s
  return { place, not_before: broken ? null : not_before, not_after: broken ? null : not_after }
}
