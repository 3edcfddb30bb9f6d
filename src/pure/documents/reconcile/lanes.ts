import { RowIndex } from './columns.ts'
import type { Ledger } from './ledger.ts'
import { isInterbank } from './records.ts'

/** Numbers of the lanes: payments, and the interbank messages that carry them out. */
export const LANES: readonly number[] = [0, 1]

/** Maximum number of payments under one id that are compared with an interbank message. */
const COMPARED_PAYMENTS = 64

/**
 * Puts every instruction into a lane and returns the lanes in use. Each entry is matched once per lane. A pain.001 and a pacs.008 are the
 * same money only if their end-to-end id (or, without one, their UETR), amount and currency agree and neither an account nor the UETR
 * differs; then the interbank message is in the second lane. Any other interbank message needs its own entry and is in the first lane.
 */
export function assignLanes(ledger: Ledger): readonly number[] {
  const { instructions, pool } = ledger
  const between = [...instructions.sources].filter(isInterbank).length
  if (between === 0 || between === instructions.sources.size) return LANES.slice(0, 1)
  const isPayment = (row: number) => !isInterbank(instructions.sourceOf(row))
  const by_id = new RowIndex(instructions.ids.end_to_end, instructions.size, pool.size, isPayment)
  const by_uetr = new RowIndex(instructions.ids.uetr, instructions.size, pool.size, isPayment)
  const taken = new Uint8Array(instructions.size)
  const messages: number[] = []
  for (let row = 0; row < instructions.size; row++) if (!isPayment(row)) messages.push(row)
  messages.sort((one, other) => instructions.byPlace(one, other))
  for (const row of messages) {
    const id = instructions.ids.end_to_end.get(row)
    const payment = findPayment(ledger, row, taken, id === 0 ? by_uetr : by_id, id === 0 ? instructions.ids.uetr.get(row) : id)
    if (payment === -1) continue
    taken[payment] = 1
    instructions.lane.set(row, 1)
  }
  return instructions.lane.used ? LANES : LANES.slice(0, 1)
}

/** Payment that the message carries out: of several the one with the same UETR, otherwise the first in its file; -1 if none. */
function findPayment({ instructions }: Ledger, message: number, taken: Uint8Array, index: RowIndex, key: number): number {
  const uetr = instructions.ids.uetr.get(message)
  const sharesUetr = (row: number) => Number(uetr !== 0 && instructions.ids.uetr.get(row) === uetr)
  let found = -1
  let compared = 0
  for (let row = key <= 0 ? -1 : index.first(key); row !== -1 && compared < COMPARED_PAYMENTS; row = index.next(row)) {
    if (taken[row] === 1) continue
    compared++
    if (!isSameMoney(instructions, row, message)) continue
    if (found === -1 || (sharesUetr(row) - sharesUetr(found) || instructions.byPlace(found, row)) > 0) found = row
  }
  return found
}

function isSameMoney(instructions: Ledger['instructions'], payment: number, message: number): boolean {
  const { amount, currency, debtor, creditor, ids } = instructions
  return (
    amount.get(payment) === amount.get(message) &&
    currency.get(payment) === currency.get(message) &&
    !differ(debtor.get(payment), debtor.get(message)) &&
    !differ(creditor.get(payment), creditor.get(message)) &&
    (ids.uetr.get(payment) === ids.uetr.get(message) || ids.uetr.get(payment) === 0 || ids.uetr.get(message) === 0)
  )
}

/** Both are IBANs, with positive numbers, and not the same. */
function differ(one: number, other: number): boolean {
  return one > 0 && other > 0 && one !== other
}
