import type { Attribution, Misfit } from './attribution.ts'
import { dayFits } from './dates.ts'
import type { KeyIndex } from './groups.ts'

/** The instructions of one key by the accounts on which they may be booked. */
interface Shared {
  all: number[]
  /** First and last day of them; 0 where one of them has none. */
  first_day: number
  last_day: number
  by_account: Map<number, number[]>
  /** Those that any account fits. */
  open: number[]
  open_joined: boolean
  found: Map<number, number>
}

/**
 * Keys that several instructions share. What a key means depends on the account of the entry, as in `accountFits`; each instruction is
 * looked at once for each account that it names, however many entries there are.
 */
export class SharedKeys {
  private readonly at: Attribution
  private readonly index: KeyIndex
  private readonly admits: (instruction: number) => boolean
  private readonly keys = new Map<number, Shared>()

  constructor(at: Attribution, index: KeyIndex, admits: (instruction: number) => boolean = () => true) {
    this.at = at
    this.index = index
    this.admits = admits
  }

  /** Joins the instructions that the key means to the entry; one of them, or why it means none. Days between those of the first and the last
   * are told apart when the group is judged. */
  of(key: number, entry: number): number | Misfit {
    const { entries } = this.at.ledger
    let shared = this.keys.get(key)
    if (shared === undefined) this.keys.set(key, (shared = this.make(key)))
    const { first_day, last_day } = shared
    // The window of the earliest reaches back, that of the latest forward.
    if (!dayFits(last_day, first_day, entries.day.get(entry), this.at.window)) return 'outside_window'
    const account = Math.max(0, entries.account.get(entry))
    let found = shared.found.get(account)
    if (found === undefined) shared.found.set(account, (found = this.join(shared, account)))
    return found === -1 ? 'other_account' : found
  }

  private make(key: number): Shared {
    const { instructions } = this.at.ledger
    const shared: Shared = {
      all: [],
      first_day: Infinity,
      last_day: 0,
      by_account: new Map(),
      open: [],
      open_joined: false,
      found: new Map(),
    }
    for (let row = this.index.first(key); row !== -1; row = this.index.next(row)) {
      if (!this.admits(row)) continue
      shared.all.push(row)
      const day = instructions.day.get(row)
      shared.first_day = Math.min(shared.first_day, day)
      shared.last_day = Math.max(shared.last_day, day)
      const [debtor, creditor] = [instructions.debtor.get(row), instructions.creditor.get(row)]
      if (debtor <= 0 || instructions.sourceOf(row) === 'pacs.008') shared.open.push(row)
      else for (const account of new Set([debtor, creditor])) put(shared.by_account, account, row)
    }
    return shared
  }

  private join(shared: Shared, account: number): number {
    const own = shared.by_account.get(account) ?? []
    const open = shared.open_joined ? shared.open.slice(0, 1) : shared.open
    const rows = account === 0 ? shared.all : [...own, ...open]
    shared.open_joined = true
    const [first = -1] = rows
    for (const row of rows) {
      this.at.groups.join(first, row)
      this.at.hit[row] = 1
    }
    return first
  }
}

function put(lists: Map<number, number[]>, key: number, row: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [row])
  else list.push(row)
}
