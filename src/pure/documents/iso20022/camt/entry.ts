/** What the rules of camt.053 remember of the entry, and of the transaction in it, that are open. */
import { type BankCode, clearBankCode, type Direction, newBankCode } from './codes.ts'

export interface Entry {
  /** In 10^-5; null when it could not be read. */
  amount: bigint | null
  currency: string
  direction: Direction
  reversal: boolean
  /** Its code; '' when it is proprietary or could not be read. */
  status: string
  readonly code: BankCode
  /** Transactions told in detail, and how many of them bring the reason of a return. */
  transactions: number
  returns: number
  /** Signed sum of their amounts; null once one is missing or in another currency. */
  sum: bigint | null
  /** Signed charges inside the amount, of the entry and of its transactions: they may stand between the two. */
  charges: bigint
  detail_charges: bigint
  /** Interest, or charges in another currency, stand there as well, so that no difference can be judged. */
  unclear: boolean
  /** Groups of details, and the signed totals that their batches state; null once one of several does not. */
  groups: number
  batch_sum: bigint | null
}

export function newEntry(): Entry {
  return {
    amount: null,
    currency: '',
    direction: '',
    reversal: false,
    status: '',
    code: newBankCode(),
    transactions: 0,
    returns: 0,
    sum: 0n,
    charges: 0n,
    detail_charges: 0n,
    unclear: false,
    groups: 0,
    batch_sum: 0n,
  }
}

export function clearEntry(entry: Entry): void {
  entry.amount = null
  entry.currency = ''
  entry.direction = ''
  entry.reversal = false
  entry.status = ''
  clearBankCode(entry.code)
  entry.transactions = 0
  entry.returns = 0
  entry.sum = 0n
  entry.charges = 0n
  entry.detail_charges = 0n
  entry.unclear = false
  entry.groups = 0
  entry.batch_sum = 0n
}
