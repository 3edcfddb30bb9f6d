import { piece, type Piece } from './pieces.ts'
import { usdc, type PaidPart, type PayRecord } from './record.ts'
import { timePiece } from './stations.ts'

/** The transfers that were attributed to the invoice, and what a bank reports beside; null while there is neither. */
export function paymentsPiece({ payments, bank_reports }: PayRecord): Piece | null {
  if (payments.length + bank_reports.length === 0) return null
  return piece('div', {}, chainPiece(payments), bankPiece(bank_reports))
}

function chainPiece(payments: readonly PaidPart[]): Piece | null {
  if (payments.length === 0) return null
  return piece('div', {}, piece('h2', {}, 'What has arrived'), piece('ol', { class: 'arrived' }, ...payments.map(paymentPiece)))
}

function bankPiece(reports: readonly string[]): Piece | null {
  if (reports.length === 0) return null
  return piece(
    'div',
    {},
    piece('h2', {}, 'What the bank reports'),
    piece('ul', { class: 'arrived' }, ...reports.map((report) => piece('li', {}, report))),
    piece(
      'p',
      { class: 'hint' },
      'Reported by a bank statement of the merchant. It does not change the state above, which is that of the chain.',
    ),
  )
}

function paymentPiece({ tx_hash, payer, amount_minor, block_number, block_time_s, confirmed, final }: PaidPart): Piece {
  const depth = final ? 'final' : confirmed ? 'confirmed' : 'not confirmed yet'
  return piece(
    'li',
    {},
    piece('p', {}, piece('b', {}, `${usdc(amount_minor)} USDC`), ` ${depth}, block ${block_number}, `, timePiece(block_time_s)),
    piece(
      'dl',
      {},
      piece('div', {}, piece('dt', {}, 'transaction'), piece('dd', {}, piece('code', {}, tx_hash))),
      piece('div', {}, piece('dt', {}, 'from'), piece('dd', {}, piece('code', {}, payer))),
    ),
  )
}
