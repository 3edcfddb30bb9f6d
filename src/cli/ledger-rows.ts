import type { LedgerSum, Payment } from '../ports/payments.ts'
import { csvText } from '../pure/documents/csv-cell.ts'
import { PAYMENT_STATES, type PaymentState } from '../pure/payments/states.ts'
import { usdcText } from '../service/payments/price.ts'
import { printable } from './terminal.ts'

/** One field of an exported row. Money is text, since programs that read numbers read them as floats. */
type Cell = string | number | boolean | null

/** A payment as it is exported. Signature and invoice id stay behind: who has either could use it. */
export function paymentRow(payment: Payment) {
  return {
    created_at: timeText(payment.created_ms),
    tool: payment.purpose === 'call' ? payment.subject : 'invoice',
    state: payment.state,
    amount_usdc: usdcText(payment.value_minor),
    amount_minor: payment.value_minor.toString(),
    payer: payment.payer,
    nonce: payment.nonce,
    pay_to: payment.to,
    input_hash: payment.input_hash,
    method: payment.method,
    settler: payment.settler,
    transaction: payment.transaction,
    block_number: payment.block_number,
    block_hash: payment.block_hash,
    settled_at: payment.settled_ms === null ? null : timeText(payment.settled_ms),
    final: payment.final,
    reason: payment.reason,
    updated_at: timeText(payment.updated_ms),
  } satisfies Record<string, Cell>
}

export const PAYMENT_FIELDS = [
  'created_at',
  'tool',
  'state',
  'amount_usdc',
  'amount_minor',
  'payer',
  'nonce',
  'pay_to',
  'input_hash',
  'method',
  'settler',
  'transaction',
  'block_number',
  'block_hash',
  'settled_at',
  'final',
  'reason',
  'updated_at',
] as const satisfies readonly (keyof ReturnType<typeof paymentRow>)[]

export const SUM_FIELDS = ['day', 'tool', 'state', 'count', 'amount_usdc', 'amount_minor'] as const

export function sumRow({ day, tool, state, count, value_minor }: LedgerSum) {
  return { day, tool, state, count, ...amounts(value_minor) }
}

export interface StateTotal {
  state: PaymentState
  count: number
  value_minor: bigint
}

/** Count and sum of each state, in the order in which payments pass through them; states without payments are left out. */
export function totalsOf(sums: readonly LedgerSum[]): StateTotal[] {
  return PAYMENT_STATES.flatMap((state) => {
    const some = sums.filter((sum) => sum.state === state)
    const total = { state, count: 0, value_minor: 0n }
    for (const { count, value_minor } of some) {
      total.count += count
      total.value_minor += value_minor
    }
    return some.length === 0 ? [] : [total]
  })
}

export function amounts(value_minor: bigint): { amount_usdc: string; amount_minor: string } {
  return { amount_usdc: usdcText(value_minor), amount_minor: value_minor.toString() }
}

/** A line of CSV without its end (RFC 4180, 2005). */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',')
}

/** Numbers are not touched; none here is negative. */
function csvCell(cell: Cell): string {
  if (cell === null) return ''
  return typeof cell === 'string' ? csvText(cell) : String(cell)
}

/** A payment in one line for people; every cell has its width, since the rows to come are not known. */
export function paymentLine(payment: Payment): string {
  const { created_at, tool, state, amount_usdc, payer, transaction, reason } = paymentRow(payment)
  const standing = state === 'settled' && !payment.final ? 'settled, not final' : state
  return listLine([created_at, standing, amount_usdc, tool, payer, [transaction, reason].filter((one) => one !== null).join('  ')])
}

export const PAYMENT_HEAD = listLine(['created', 'state', 'USDC', 'tool', 'payer', 'transaction, reason'])

function listLine([created = '', state = '', usdc = '', tool = '', payer = '', last = '']: readonly string[]): string {
  const cells = [created.padEnd(24), state.padEnd(18), usdc.padStart(9), tool.padEnd(20), payer.padEnd(42), last]
  return printable(cells.join('  ').trimEnd())
}

function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
