/** What the rules of pain.001 remember of the payment and the transaction that are open. */
import { ExactSum } from '../decimal.ts'

export interface Payment {
  transactions: number
  readonly sum: ExactSum
  /** An amount of the payment could not be read. */
  unreadable: boolean
  /** Of the latest amount. */
  currency: string
  method: string
  /** IBAN or other identification; '' when there is none. */
  debtor_account: string
  has_charge_bearer: boolean
  has_type: boolean
  has_ultimate_debtor: boolean
  /** Whether its transactions are booked as one; null where that is not said. */
  batch: boolean | null
  /** Of the transaction. */
  creditor_account: string
  creditor_named: boolean
  /** Remittance of the transaction, one after the other. */
  remittance: string
}

export function newPayment(): Payment {
  return {
    transactions: 0,
    sum: new ExactSum(),
    unreadable: false,
    currency: '',
    method: '',
    debtor_account: '',
    has_charge_bearer: false,
    has_type: false,
    has_ultimate_debtor: false,
    batch: null,
    creditor_account: '',
    creditor_named: false,
    remittance: '',
  }
}

/** Another payment begins. */
export function clearPayment(payment: Payment): void {
  payment.transactions = 0
  payment.sum.clear()
  payment.unreadable = false
  payment.method = ''
  payment.debtor_account = ''
  payment.has_charge_bearer = false
  payment.has_type = false
  payment.has_ultimate_debtor = false
  payment.batch = null
}
