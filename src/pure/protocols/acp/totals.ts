import type { Place } from '../place.ts'

/** Amounts of a list of totals, added up by type. */
interface Tally {
  /** null when one of the amounts cannot be read. */
  amount: bigint | null
  places: Place[]
}

export interface Tallies {
  readonly by_type: ReadonlyMap<string, Tally>
  /** False when the type of an entry cannot be read, so that no sum is known. */
  readonly is_whole: boolean
}

export function tally(list: Place): Tallies {
  const by_type = new Map<string, Tally>()
  const entries = list.items()
  for (const entry of entries) {
    const type = entry.get('type').text()
    if (type === null) continue
    const amount = entry.get('amount').integer()
    const known = by_type.get(type)
    if (known === undefined) by_type.set(type, { amount, places: [entry] })
    else {
      known.amount = known.amount === null || amount === null ? null : known.amount + amount
      known.places.push(entry)
    }
  }
  return { by_type, is_whole: !list.redacted && entries.every((entry) => entry.get('type').text() !== null) }
}

/** Sum of a type: zero when there is none, null when it cannot be read. */
export function amountOf({ by_type, is_whole }: Tallies, type: string): bigint | null {
  const found = by_type.get(type)
  return is_whole ? (found === undefined ? 0n : found.amount) : null
}

/** Sum of several types; null when one of them cannot be read. */
export function amountsOf(tallies: Tallies, types: readonly string[]): bigint | null {
  let sum = 0n
  for (const type of types) {
    const amount = amountOf(tallies, type)
    if (amount === null) return null
    sum += amount
  }
  return sum
}

/** The only entry of a type; null when there is none or more than one, or its amount cannot be read. */
export function onlyOne({ by_type, is_whole }: Tallies, type: string): { place: Place; amount: bigint } | null {
  const found = by_type.get(type)
  const place = found?.places[0]
  if (!is_whole || found === undefined || place === undefined || found.places.length > 1 || found.amount === null) return null
  return { place: place.get('amount'), amount: found.amount }
}

/** Discounts are positive, and taken off; some write them negative. */
export function magnitude(amount: bigint | null): bigint | null {
  return amount !== null && amount < 0n ? -amount : amount
}
