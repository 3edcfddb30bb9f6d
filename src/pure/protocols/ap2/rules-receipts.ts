import { need, needText, oneOf } from '../kit/expect.ts'
import { integer } from '../kit/money.ts'
import { rule, type Report } from '../rule.ts'
import type { Mandate } from './mandates.ts'
import { ap2Spec } from './spec.ts'
import { ofTypes, RECEIPTS, type Ap2View } from './view.ts'

/** Beyond it, a time is not in seconds. */
const MOST_SECONDS = 100_000_000_000n

/** AP2-037: receipts of checkouts and payments. */
export const RECEIPT_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-037',
      severity: 'both',
      types: RECEIPTS,
      why: 'A receipt that does not say what became of which mandate is no evidence.',
      spec: ap2Spec('payment_mandate', 'Payment Receipt'),
      hint: 'Send status Success or Error, iss, iat and reference, and what belongs to that status.',
      good: { status: 'Success', iss: 'merchant', iat: 1795262400, reference: '…', order_id: 'ord_1' },
      bad: { status: 'Success', iss: 'merchant', iat: 1795262400, reference: '…', error: 'declined' },
    },
    (report, view) => {
      for (const receipt of ofTypes(view, 'checkout_receipt', 'payment_receipt')) checkReceipt(report, receipt)
    },
  ),
]

function checkReceipt(report: Report, { type, claims }: Mandate): void {
  const { error } = report
  for (const name of ['iss', 'reference']) needText(error, claims.get(name))
  const iat = claims.get('iat')
  const issued = need(error, iat, 'number') ? integer(error, iat, { min: 0n }) : null
  if (issued !== null && issued > MOST_SECONDS) error(iat, 'is not in seconds', { expected: 'seconds since 1970, not milliseconds' })
  const isPayment = type === 'payment_receipt'
  if (isPayment) needText(error, claims.get('payment_id'))
  switch (statusOf(report, claims.get('status'))) {
    case 'Success':
      for (const name of isPayment ? ['psp_confirmation_id', 'network_confirmation_id'] : ['order_id']) needText(error, claims.get(name))
      for (const name of ['error', 'error_description']) if (claims.has(name)) error(claims.get(name), 'stands in a receipt of success')
      return
    case 'Error':
      for (const name of ['error', 'error_description']) needText(error, claims.get(name))
      return
    case null:
  }
}

/** One page of the specification writes it small, the schema does not. */
function statusOf({ error, warning }: Report, place: Mandate['claims']): 'Success' | 'Error' | null {
  if (!need(error, place, 'string')) return null
  const text = place.text()
  if (text === 'success' || text === 'error') {
    warning(place, 'is written in lower case', { expected: 'Success or Error' })
    return text === 'success' ? 'Success' : 'Error'
  }
  return oneOf(error, place, ['Success', 'Error'])
}
