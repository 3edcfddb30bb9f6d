import { isLuhn } from '../../checks/luhn.ts'
import { need, optional, textForm } from '../kit/expect.ts'
import { isCurrencyCode, minorUnitDigits } from '../kit/money.ts'
import type { Place } from '../place.ts'
import type { Report, Say } from '../rule.ts'
import type { Disclosed } from './disclosed.ts'
import type { Party } from './limits.ts'
import { ofTypes, type Ap2View } from './view.ts'

/** Types that several mandates and constraints are made of. */

/** Claims of this name in closed and open payment mandates, where they are objects; says which preset ones are none. */
export function paymentObjects(error: Say, view: Ap2View, name: string): Place[] {
  return ofTypes(view, 'payment_mandate', 'open_payment_mandate').flatMap(({ type, claims }) => {
    const place = view.disclosed.get(claims, name)
    // A closed mandate must have it, and another rule says so.
    if (type === 'open_payment_mandate') optional(error, place, 'object')
    return place.kind === 'object' ? [place] : []
  })
}

const NEEDED: Readonly<Record<Party, readonly string[]>> = {
  merchant: ['id', 'name'],
  instrument: ['id', 'type'],
  pisp: ['legal_name', 'brand_name', 'domain_name'],
}

/** The members that a merchant, an instrument or an initiation service must have. */
export function partyMembers(error: Say, place: Place, party: Party, disclosed: Disclosed): void {
  for (const name of NEEDED[party]) disclosed.needText(error, place, name)
  const more = party === 'merchant' ? 'website' : party === 'instrument' ? 'description' : null
  if (more !== null) optional(error, disclosed.get(place, more), 'string')
}

/** A list of allowed parties; nothing is said of hidden ones. */
export function allowedParties(error: Say, constraint: Place, party: Party, disclosed: Disclosed): void {
  const list = disclosed.get(constraint, 'allowed')
  if (!disclosed.need(error, constraint, 'allowed', 'array') || list.redacted) return
  const items = disclosed.items(list)
  if (items.length === 0) error(list, 'is empty', { expected: 'at least one item' })
  for (const item of items) {
    if (disclosed.isSealed(item) || !need(error, item, 'object') || item.redacted) continue
    partyMembers(error, item, party, disclosed)
  }
}

/** The code here; nothing is said of what is absent or redacted. */
export function currencyCode({ error, warning }: Report, place: Place): void {
  const code = textForm(error, place, { pattern: /^[A-Z]{3}$/, expected: 'three upper-case letters of ISO 4217' })
  if (code === null) return
  if (!isCurrencyCode(code)) {
    warning(place, 'is no current code of ISO 4217')
    return
  }
  const digits = minorUnitDigits(code)
  if (digits === 2) return
  const [words, hint] =
    digits === null
      ? ['has no minor unit', 'Make sure that both sides count it alike.']
      : [
          `counts ${digits === 0 ? 'no' : digits} digits behind the point, not two`,
          `One whole unit of it is ${digits === 0 ? 'the amount 1' : `the amount 1${'0'.repeat(digits)}`}.`,
        ]
  warning(place, words, { hint })
}

/** Digits of a card in a text, written together or in groups. */
const CARD_DIGITS = /(?<![0-9])[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}(?![0-9])/

/** Whether a text holds a card number; only its beginning is looked at. */
export function holdsCardNumber(text: string): boolean {
  const digits = CARD_DIGITS.exec(text.slice(0, 512))?.[0].replace(/[ -]/g, '')
  return digits !== undefined && isLuhn(digits)
}
