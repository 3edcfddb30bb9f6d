import { type Attribution, paysAsCredit } from './attribution.ts'
import type { Ints, KeyIndex } from './columns.ts'
import { MATCHED_BY, type MatchedBy } from './verdicts.ts'

interface Level {
  by: MatchedBy
  asked: Ints
  told: Ints
  index: KeyIndex
}

/** What the transactions inside a row name. */
interface Named {
  row: number
  /** For each transaction that names any, the instructions that it may mean. */
  lists: (readonly number[])[]
  /** How many transactions there are. */
  count: number
  /** The weakest id that was used. */
  by: MatchedBy
}

/**
 * Rows that stand for several transactions without amounts. When each names one instruction, each another, and these add up exactly to the
 * row, it stands for all of them. Sums are never searched for.
 */
export function attributeInside(at: Attribution): void {
  for (const named of namesInside(at)) settle(at, named)
}

/** What is left of them when bookings of whole batches are found: those whom they name cannot be told paid from unpaid. */
export function contestInside(at: Attribution): void {
  // Looked at before any is contested, so that it does not depend on the order of rows.
  const all = namesInside(at).map(({ row, lists }) => {
    const named = [...new Set([...new Set(lists)].flat())]
    return { row, named, free: named.filter((one) => at.hit[one] === 0) }
  })
  for (const { row, named, free } of all) {
    if (free.length > 0) at.contest('batch_total', free, [row])
    else if (named.length > 0) at.close(row, 'ambiguous')
  }
}

function namesInside(at: Attribution): Named[] {
  const { entries, instructions } = at.ledger
  const rows = [...entries.inside].filter(([row]) => at.isOpen(row))
  if (rows.length === 0) return []
  const [asked, told] = [instructions.ids, entries.inside_ids]
  const level = (by: MatchedBy, mine: Ints, theirs: Ints): Level => ({ by, asked: mine, told: theirs, index: at.indexOf(mine) })
  const levels = [
    level('end_to_end_id', asked.end_to_end, told.end_to_end),
    level('uetr', asked.uetr, told.uetr),
    level('instruction_id', asked.instruction, told.instruction),
    level('transaction_id', asked.transaction, told.transaction),
  ]
  return rows.map(([row, [first, end]]) => namesOf(at, levels, row, first, end))
}

function namesOf(at: Attribution, levels: readonly Level[], row: number, first: number, end: number): Named {
  const known = new Map<string, number[]>()
  const lists: number[][] = []
  let weakest = 0
  for (let one = first; one < end; one++) {
    // Weaker ids are reused, so they do not speak where there is an end-to-end id.
    const identified = (levels[0]?.told.get(one) ?? 0) !== 0
    for (const { by, told, index } of identified ? levels.slice(0, 2) : levels) {
      const key = told.get(one)
      const name = `${by} ${key}`
      let found = known.get(name)
      if (found === undefined) known.set(name, (found = meantBy(at, index, key, row)))
      if (found.length === 0) continue
      lists.push(found)
      weakest = Math.max(weakest, MATCHED_BY.indexOf(by))
      break
    }
  }
  return { row, lists, count: end - first, by: MATCHED_BY[weakest] ?? 'none' }
}

function meantBy(at: Attribution, index: KeyIndex, key: number, row: number): number[] {
  const found: number[] = []
  if (key === 0) return found
  for (let one = index.first(key); one !== -1; one = index.next(one)) if (at.misfit(one, row) === null) found.push(one)
  return found
}

function settle(at: Attribution, { row, lists, count, by }: Named): void {
  const { entries, instructions } = at.ledger
  if (entries.unclear.has(row)) return
  const named = new Set(lists.flatMap((list) => (list.length === 1 ? list : [])))
  if (named.size !== count || ![0, count + 1].includes(entries.batch_count.get(row))) return
  let sum = 0n
  for (const one of named) {
    if (instructions.currency.get(one) !== entries.currency.get(row)) return
    sum += instructions.amount.get(one)
  }
  const times = timesOf(at, named, row)
  if (sum !== entries.amount.get(row) || times === 0) return
  for (const one of named) {
    at.coverage.set(one, at.coverage.get(one) + times)
    at.covered_by.set(one, Math.max(at.covered_by.get(one), MATCHED_BY.indexOf(by)))
    at.hit[one] = 1
  }
  at.cover(row, by)
}

/** Once when the row carries all of them out, minus once when it takes all of them back, 0 when neither can be said. */
function timesOf({ ledger }: Attribution, named: ReadonlySet<number>, row: number): number {
  const { entries } = ledger
  const returned = entries.isReturn(row)
  const forward = [...named].filter((one) => {
    const credit = paysAsCredit(ledger, one, row)
    return credit === null ? !returned : credit === entries.isCredit(row)
  })
  if (returned) return forward.length === 0 ? -1 : 0
  return forward.length === named.size ? 1 : 0
}
