import type { NachaDirection, NachaEntry, NachaKind, NachaReference } from './types.ts'
import { ENTRY, ENTRY_VARIANT, type Place } from './layout.ts'

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

/** What one standard entry class asks of its entries. */
export interface EntryClass {
  /** The only direction of forward entries, reversals apart; null where both are in use. */
  direction: NachaDirection | null
  /** The type of its addenda; null for none at all. */
  addenda: '02' | '05' | 'iat' | '98' | null
  addenda_max: number
  /** Exactly `addenda_max` addenda are demanded. */
  addenda_demanded: boolean
  /** Where the entry states how many addenda it has. */
  addenda_count: Place | null
  /** Where a name must stand in a forward entry. */
  name: Place | null
  /** All its entries are for zero: acknowledgments, enrolments, death notices. */
  zero: boolean
  advice: boolean
}

const USUAL: EntryClass = {
  direction: null,
  addenda: '05',
  addenda_max: 1,
  addenda_demanded: false,
  addenda_count: null,
  name: ENTRY.name,
  zero: false,
  advice: false,
}
/** Checks turned into debits: no addenda, and a name only where it is said below. */
const CHECK: EntryClass = { ...USUAL, direction: 'debit', addenda: null, addenda_max: 0, name: null }
const TERMINAL: EntryClass = { ...USUAL, addenda: '02', addenda_demanded: true }
const EXCHANGE: EntryClass = { ...USUAL, addenda_max: 9_999, addenda_count: ENTRY_VARIANT.exchange_addenda, name: null }

/**
 * The standard entry classes (Nacha Operating Rules, appendix three, 2026). Errs towards valid: where publications differ (the fields of
 * MTE and ENR) either form passes, and account types that a class excludes are not looked at.
 */
const CLASSES: Readonly<Record<string, EntryClass>> = {
  ACK: { ...USUAL, direction: 'credit', name: null, zero: true },
  ADV: { ...USUAL, addenda: null, addenda_max: 0, name: null, advice: true },
  ARC: CHECK,
  ATX: { ...EXCHANGE, direction: 'credit', zero: true },
  BOC: CHECK,
  CCD: USUAL,
  CIE: { ...USUAL, direction: 'credit', name: ENTRY_VARIANT.cie_name },
  COR: { ...USUAL, addenda: '98', name: null },
  CTX: { ...EXCHANGE, name: ENTRY_VARIANT.exchange_name },
  DNE: { ...USUAL, direction: 'credit', addenda_demanded: true, zero: true },
  ENR: { ...USUAL, addenda_max: 9_999, zero: true },
  /** Seven that are demanded, two with payment information, five with correspondent banks; the name stands in addenda 10. */
  IAT: { ...USUAL, addenda: 'iat', addenda_max: 14, addenda_count: ENTRY_VARIANT.iat_addenda, name: null },
  MTE: { ...TERMINAL, name: ENTRY_VARIANT.machine_name },
  POP: CHECK,
  POS: TERMINAL,
  PPD: USUAL,
  RCK: { ...CHECK, name: ENTRY.name },
  SHR: { ...TERMINAL, name: null },
  TEL: { ...CHECK, name: ENTRY.name },
  TRC: CHECK,
  TRX: { ...EXCHANGE, direction: 'debit' },
  WEB: USUAL,
  XCK: CHECK,
}

/** The class of these three letters; null for one that does not exist. */
export function entryClass(sec: string): EntryClass | null {
  return Object.hasOwn(CLASSES, sec) ? (CLASSES[sec] ?? null) : null
}

/** Five optional addenda may follow the seven of an international entry, of which two carry payment information. */
export const IAT_OPTIONAL: Readonly<Record<'17' | '18', number>> = { 17: 2, 18: 5 }

/** An entry with more references than this keeps the first ones; 9999 addenda have room for many more. */
const MAX_REFERENCES = 10_000

/**
 * The identifiers in payment information that is written in ANSI X12 segments: TRN02, RMR02 and REF02. `texts` are the fields of an
 * entry's addenda, 80 columns each with their blanks, since a segment may run on from one addenda to the next. Segments end with `\` or
 * `~`, their elements are parted by `*`. Other text yields none.
 */
export function referencesIn(texts: readonly string[]): NachaReference[] {
  if (texts.length === 0) return []
  const references: NachaReference[] = []
  for (const segment of texts.join('').split(/[\\~]/)) {
    if (references.length === MAX_REFERENCES) break
    const [name, qualifier, id] = segment.trimStart().split('*', 3)
    if (id === undefined || id.trim() === '') continue
    if (name === 'TRN' || name === 'RMR' || name === 'REF') references.push({ segment: name, qualifier: qualifier ?? '', id: id.trim() })
  }
  return references
}

interface Described {
  description: string
  sec: string
  kind: NachaKind | null
  has_credits: boolean
  has_debits: boolean
  max_credit_minor: bigint
}

/** Nacha's risk rules: PAYROLL and PURCHASE are reserved from this day on. */
const RESERVED_FROM = '2026-03-20'
const WAGES = /^(?:PAY ?ROLL|PAYCHECK|WAGES?\b|SALAR(?:Y|IES)\b|DIR(?:ECT)? ?DEP)/i
const PURCHASES = /^(?:PURCHASE|PURCH\b|ONLINE ?(?:BUY|PUR|ORD)|WEB ?(?:PUR|ORD)|E-?COMM)/i
const MICRO = /^(?:AC+(?:OUN)?T?\.? ?VER|MICRO|VERIFY|TRIAL ?DEP)/i
const REVERSAL = /^(?:REVERS|REVRS|RVRSL)/i
const MICRO_BELOW_MINOR = 100n

/**
 * The word that should stand as the entry description of a forward batch; null when nothing is wrong. Only what looks like a reserved
 * use is judged: wages under another name go unseen.
 */
export function descriptionExpected(batch: Described, created: string | null): string | null {
  const { description, sec, kind, has_credits, has_debits } = batch
  if (kind !== 'forward' || sec === 'ADV') return null
  if (description === '') return 'a description'
  const reserved = created !== null && created >= RESERVED_FROM
  if (reserved && sec === 'PPD' && has_credits && WAGES.test(description)) return unless(description, 'PAYROLL')
  if (reserved && sec === 'WEB' && has_debits && PURCHASES.test(description)) return unless(description, 'PURCHASE')
  if (REVERSAL.test(description)) return unless(description, 'REVERSAL')
  const micro = batch.max_credit_minor < MICRO_BELOW_MINOR
  if (description === 'ACCTVERIFY') return micro ? null : 'another word: micro entries are below one dollar'
  return micro && has_credits && MICRO.test(description) ? 'ACCTVERIFY' : null
}

function unless(found: string, expected: string): string | null {
  return found === expected ? null : expected
}
