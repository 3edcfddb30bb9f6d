import type { BlockHeader } from '../../ports/chain.ts'
import type { Closing, Payment, PaymentKey } from '../../ports/payments.ts'
import { finalHeader, proofIn } from './evidence.ts'
import type { ReconcileParts, ReconcileRules } from './reconcile-rules.ts'
import { keyOf, REORGANISED } from './wallet-outcome.ts'

/** Blocks that are asked for at the same time. */
const AT_ONCE = 10

export interface Rechecked {
  closings: Closing[]
  final: PaymentKey[]
}

/**
 * Compares settled rows with the chain as it is now. A row whose block stands and is final is final; one whose transaction is in another
 * block by now is booked there; one whose transaction is gone becomes unknown, and its writer sends the same bytes again. Looks at the
 * oldest blocks, which become final next, and at the newest, which change most. Rejects as the chain does.
 */
export async function recheckSettled({ store, source, clock }: ReconcileParts, rules: ReconcileRules): Promise<Rechecked> {
  const options = { final: false, updated_before_ms: clock.now_ms() - rules.recheck_ms, limit: rules.rows }
  const rows = await store.payments.in_states(['settled'], options)
  const byBlock = Map.groupBy(rows, ({ block_number }) => block_number ?? 0)
  const numbers = chosen(
    [...byBlock.keys()].toSorted((one, other) => one - other),
    rules.questions,
  )
  const found: Rechecked = { closings: [], final: [] }
  if (numbers.length === 0) return found
  const final = await finalHeader(source)
  const headers = await headersOf(source.chain, numbers)
  for (const number of numbers) {
    const header = headers.get(number) ?? null
    for (const row of byBlock.get(number) ?? []) {
      if (header === null || header.hash !== row.block_hash) found.closings.push(...(await movedOrGone(source, row)))
      else if (final !== null && final.number >= header.number) found.final.push(keyOf(row))
    }
  }
  return found
}

function chosen(numbers: number[], most: number): number[] {
  if (numbers.length <= most) return numbers
  const half = Math.floor(most / 2)
  return [...numbers.slice(0, half), ...numbers.slice(-half)]
}

async function headersOf(chain: ReconcileParts['source']['chain'], numbers: number[]): Promise<Map<number, BlockHeader | null>> {
  const headers = new Map<number, BlockHeader | null>()
  for (let index = 0; index < numbers.length; index += AT_ONCE) {
    const some = numbers.slice(index, index + AT_ONCE)
    const found = await Promise.all(some.map((number) => chain.header(BigInt(number))))
    some.forEach((number, place) => headers.set(number, found[place] ?? null))
  }
  return headers
}

async function movedOrGone({ chain, token }: ReconcileParts['source'], row: Payment): Promise<Closing[]> {
  const receipt = row.transaction === null ? null : await chain.receipt(row.transaction)
  const settled_at = receipt === null ? null : proofIn(receipt, row, token)
  // The node contradicts itself: it shows the block under another hash, or none, and the receipt in it.
  if (settled_at !== null && settled_at.block_hash === row.block_hash) return []
  const gone: Closing = { ...keyOf(row), to: 'unknown', reason: REORGANISED, transaction: row.transaction }
  return settled_at === null ? [gone] : [gone, { ...keyOf(row), to: 'settled', settled_at }]
}
