import { markPiece, piece, type Piece } from './pieces.ts'
import { usdc, type PayRecord } from './record.ts'

interface StandingWords {
  mark: 'valid' | 'unverifiable' | 'invalid' | 'done'
  word: string
  reason: string
}

/** How the invoice stands, in a word, a shape and a sentence that says what comes next. */
export function standingWords(record: PayRecord): StandingWords {
  const { status, due_minor, paid_minor, amount_minor } = record
  switch (status) {
    case 'ISSUED':
      return { mark: 'done', word: 'Waiting for payment', reason: 'Nothing has been paid yet. This page follows the chain by itself.' }
    case 'PROCESSING':
      return due_minor > 0n
        ? { mark: 'unverifiable', word: 'Part of it is on its way', reason: `${usdc(due_minor)} USDC is still due.` }
        : { mark: 'unverifiable', word: 'Payment seen', reason: 'It is in a block. Nothing is left to do; it is confirmed by itself.' }
    case 'PARTIALLY_PAID':
      return {
        mark: 'unverifiable',
        word: 'Paid in part',
        reason: `${usdc(paid_minor)} of ${usdc(amount_minor)} USDC has arrived. ${usdc(due_minor)} USDC is still due.`,
      }
    case 'SETTLED':
      return { mark: 'valid', word: 'Paid', reason: 'The transfer to the merchant is confirmed on the chain.' }
    case 'EXPIRED':
      return {
        mark: 'invalid',
        word: 'Expired',
        reason:
          'It can no longer be paid here. Ask the merchant for a new one. Whatever is sent now still reaches the merchant, as a late payment.',
      }
    case 'VOID':
      return {
        mark: 'invalid',
        word: 'Void',
        reason: 'The merchant withdrew this invoice. Do not pay it: what is sent reaches the merchant and counts for nothing here.',
      }
  }
}

export function standingPiece(record: PayRecord): Piece {
  const { mark, word, reason } = standingWords(record)
  return piece(
    'div',
    { class: `verdict ${mark}` },
    markPiece(mark),
    piece('h2', { class: 'word', tabindex: '-1', id: 'word' }, word),
    piece('p', { class: 'reason' }, reason),
    record.stale ? piece('p', { class: 'reason hint' }, 'The chain was not read for a minute or more; this is the state before.') : null,
  )
}

interface Notice {
  title: string
  happened: string
  next: string
}

const PAYING_AGAIN = 'Do not pay a second time before this is clear.'

/** What went otherwise than planned: what happened, and what the payer can do. */
function noticeOf(exception: string, record: PayRecord): Notice | null {
  const { status, paid_minor, amount_minor, overpaid_minor, other_assets } = record
  switch (exception) {
    case 'paid_late':
      return {
        title: status === 'VOID' ? 'Paid after it was withdrawn' : 'Paid late',
        happened: `A transfer came after the invoice had ${status === 'VOID' ? 'been withdrawn' : 'expired'}. Nobody can stop a transfer: the merchant has it.`,
        next: 'Ask the merchant whether the payment is taken, or to send it back.',
      }
    case 'overpaid':
      return {
        title: 'Overpaid',
        happened: `The merchant received ${usdc(overpaid_minor)} USDC more than was asked.`,
        next: 'Show the merchant the transactions below and ask for the difference. Only the merchant can send it.',
      }
    case 'underpaid':
      return {
        title: 'Too little before it expired',
        happened: `${usdc(paid_minor)} of ${usdc(amount_minor)} USDC arrived in time.`,
        next: 'Agree with the merchant: the rest on a new invoice, or what was paid sent back.',
      }
    case 'duplicate_payment':
      return {
        title: 'Paid twice',
        happened: 'The whole amount arrived more than once. Each transfer reached the merchant.',
        next: 'Whoever paid second asks the merchant to send that transfer back, naming its transaction.',
      }
    case 'wrong_asset':
      return {
        title: 'Another token was sent',
        happened: `The merchant received ${other_assets.length === 0 ? 'something else than USDC' : other_assets.join(', ')}. It does not count towards this invoice.`,
        next: 'Ask the merchant to send it back, and pay the USDC that is due.',
      }
    case 'reorged':
      return {
        title: 'A block was taken back',
        happened: 'The chain replaced a block that held a payment of this invoice. Most such transfers come again in a later block.',
        next: PAYING_AGAIN,
      }
    case 'ambiguous':
      return {
        title: 'A plain transfer fits more than one invoice',
        happened: 'It reached the merchant, but nobody can tell from the chain which of the merchant’s invoices it was for.',
        next: `Show the merchant the transaction. ${PAYING_AGAIN} A signature made on this page always names its invoice.`,
      }
    default:
      return { title: exception.slice(0, 64), happened: 'The record carries this remark.', next: 'Ask the merchant what it means.' }
  }
}

/** Every remark of the record, and whom to ask; null when there is none. */
export function noticesPiece(record: PayRecord): Piece | null {
  const notices = record.exceptions.map((exception) => noticeOf(exception, record)).filter((notice) => notice !== null)
  if (notices.length === 0) return null
  return piece(
    'div',
    { class: 'problem' },
    ...notices.map(({ title, happened, next }) =>
      piece('div', {}, piece('h3', {}, title), piece('p', {}, happened), piece('p', {}, piece('b', {}, 'What you can do: '), next)),
    ),
    piece('p', { class: 'hint' }, 'Whom to ask: the merchant, who holds the money. This service holds nothing and can send nothing back.'),
  )
}
