import type { NachaDirection, NachaEntry } from './types.ts'

export type TransactionUse = 'live' | 'return' | 'prenote' | 'zero_dollar' | 'advice'

interface TransactionCode {
  direction: NachaDirection
  use: TransactionUse
}

/** The last digit says what an entry is; the first, whose account: 2 demand, 3 savings, 4 general ledger, 5 loan. */
const BY_LAST_DIGIT: readonly (readonly [digit: string, code: TransactionCode, accounts: string])[] = [
  ['1', { direction: 'credit', use: 'return' }, '2345'],
  ['2', { direction: 'credit', use: 'live' }, '2345'],
  ['3', { direction: 'credit', use: 'prenote' }, '2345'],
  ['4', { direction: 'credit', use: 'zero_dollar' }, '2345'],
  ['5', { direction: 'debit', use: 'live' }, '5'],
  ['6', { direction: 'debit', use: 'return' }, '2345'],
  ['7', { direction: 'debit', use: 'live' }, '234'],
  ['8', { direction: 'debit', use: 'prenote' }, '234'],
  ['9', { direction: 'debit', use: 'zero_dollar' }, '234'],
]
const ADVICES = ['81', '82', '83', '84', '85', '86', '87', '88'] as const

const TRANSACTION_CODES: ReadonlyMap<string, TransactionCode> = new Map([
  ...BY_LAST_DIGIT.flatMap(([digit, code, accounts]) => Array.from(accounts, (account) => [`${account}${digit}`, code] as const)),
  ...ADVICES.map((code, index) => [code, { direction: index % 2 === 0 ? 'credit' : 'debit', use: 'advice' }] as const),
])

/** What a transaction code means (Nacha Operating Rules, appendix three); null for one that is not in use. */
export function transactionCode(code: string): TransactionCode | null {
  return TRANSACTION_CODES.get(code) ?? null
}

/** The side that an unknown code of two digits would be on, for the sums; null when it tells nothing. */
export function likelyDirection(code: string): NachaDirection | null {
  const known = transactionCode(code)
  if (known !== null) return known.direction
  if (!/^[0-9]{2}$/.test(code)) return null
  return code.charAt(1) < '5' ? 'credit' : 'debit'
}

function numbered(letter: string, ranges: readonly (readonly [first: number, last: number])[]): ReadonlySet<string> {
  return new Set(
    ranges.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => `${letter}${`${first + index}`.padStart(2, '0')}`),
    ),
  )
}

/** Assigned reasons between R01 and R85 (appendix four): by receiving institutions, federal agencies, operators, dishonored, contested, IAT. */
export const RETURN_CODES = numbered('R', [
  [1, 47],
  [50, 53],
  [61, 77],
  [80, 85],
])

/** Notices of change C01-C14 and refusals of them, C61-C69 (appendix five). */
export const CHANGE_CODES = numbered('C', [
  [1, 14],
  [61, 69],
])

/** R61-R70 send a return back; R71-R77 contest that. */
export function returnKind(code: string): NonNullable<NachaEntry['return_kind']> {
  if (code >= 'R61' && code <= 'R70') return 'dishonored'
  return code >= 'R71' && code <= 'R77' ? 'contested' : 'return'
}
