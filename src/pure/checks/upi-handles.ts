import table from '../../../data/upi-handles.json' with { type: 'json' }
import { dataDate } from '../data-date.ts'

const STATUSES = ['known', 'legacy', 'withdrawn'] as const

interface UpiHandle {
  handle: string
  /** legacy: redirected, or of a merged bank. withdrawn: of a bank that closed without a successor. */
  status: (typeof STATUSES)[number]
  /** Bank behind the handle; null where no source names it. */
  psp: string | null
  app: string | null
  /** List that names the handle, with its date. */
  source: string
}

/** Date of the registry of handles. */
export const UPI_HANDLES_AS_OF = dataDate(table)

/** Kinds of intermediaries, by the last word before a validated handle (SEBI circular 2025/86 of 11 June 2025, annexure B). */
export const SEBI_CATEGORIES: Readonly<Record<string, string>> = {
  brk: 'Stock broker',
  bti: 'Banker to an issue',
  dp: 'Depository participant',
  ia: 'Investment adviser',
  invit: 'Infrastructure investment trust',
  mf: 'Mutual fund',
  pms: 'Portfolio manager',
  ra: 'Research analyst',
  reit: 'Real estate investment trust',
  sreit: 'Small and medium real estate investment trust',
}

const HANDLES: ReadonlyMap<string, UpiHandle> = new Map(
  table.rows.map(({ handle, status, psp, app, source }) => {
    const title = (table.sources as Readonly<Record<string, string>>)[source] ?? source
    return [handle, { handle, status: STATUSES.find((one) => one === status) ?? 'known', psp, app, source: title }]
  }),
)

export function upiHandle(handle: string): UpiHandle | null {
  return HANDLES.get(handle) ?? null
}

/** Fewer letters than these and one edit shows nothing: @axb is a handle of its own, not a slip for @axl. */
const LOOK_ALIKE_CHARS = 6

/**
 * The one handle in use that is a single edit away: a letter more, less or other, or two neighbours swapped. None where either is short, or
 * where the known handle stands whole at one end of the other, as airtel does in mairtel. Errs towards none.
 */
export function lookAlike(handle: string): string | null {
  if (handle.length < LOOK_ALIKE_CHARS) return null
  let found: string | null = null
  for (const { handle: known, status } of HANDLES.values()) {
    if (status !== 'known' || known.length < LOOK_ALIKE_CHARS || !oneEditApart(handle, known)) continue
    if (handle.startsWith(known) || handle.endsWith(known)) continue
    if (found !== null) return null
    found = known
  }
  return found
}

function oneEditApart(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  const [left, right] = [one.slice(start), other.slice(start)]
  if (left.length !== right.length) return left.slice(1) === right || left === right.slice(1)
  return left.slice(1) === right.slice(1) || (left.slice(2) === right.slice(2) && left[0] === right[1] && left[1] === right[0])
}
