import type { Ledger } from './ledger.ts'

/**
 * Entries that another statement has told already, each with one that counts in its place: the bank gives both one reference, which names
 * one booking of its account, and one day, and they are alike in amount, direction and id. So statements that overlap count once. Within one
 * statement nothing is taken for a repeat; where statements tell such an entry several times, the one that does so most often counts.
 */
export function repeatedEntries(ledger: Ledger, isCounted: (row: number) => boolean): ReadonlyMap<number, number> {
  const { entries } = ledger
  const repeats = new Map<number, number>()
  if (!entries.several_statements || !entries.booking.used) return repeats
  for (const rows of alike(ledger, isCounted)) {
    const [counting = [], ...others] = [...Map.groupBy(rows, (row) => entries.statement.get(row)).values()]
      .map((told) => told.toSorted((one, other) => entries.byPlace(one, other)))
      .toSorted((one, other) => other.length - one.length || entries.byPlace(one[0] ?? -1, other[0] ?? -1))
    for (const row of others.flat()) repeats.set(row, counting[0] ?? row)
  }
  return repeats
}

const SEVERAL = -1

/** Entries that are alike, of bookings that several statements tell; most bookings stand in one, so that little is made of them. */
function alike({ entries }: Ledger, isCounted: (row: number) => boolean): Iterable<number[]> {
  const { booking, booking_beside, account, currency, flags, ids, detail, statement } = entries
  const told_in = new Map<number, number>()
  const counted: number[] = []
  for (let row = 0; row < entries.size; row++) {
    const name = booking.get(row)
    if (name === 0 || !isCounted(row)) continue
    counted.push(row)
    const before = told_in.get(name)
    told_in.set(name, before === undefined || before === statement.get(row) ? statement.get(row) : SEVERAL)
  }
  const columns = [booking, booking_beside, account, currency, flags, ids.end_to_end, detail]
  const nameOf = (row: number) => [...columns.map((column) => column.get(row)), entries.amount.get(row)].join(' ')
  return Map.groupBy(
    counted.filter((row) => told_in.get(booking.get(row)) === SEVERAL),
    nameOf,
  ).values()
}
