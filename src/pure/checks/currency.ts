import table from '../../../data/iso4217.json' with { type: 'json' }
import { characterFindings } from './characters.ts'
import { finding, lengthFinding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { withLeadingZero } from './fixed-digits.ts'
import { grouped } from './grouped.ts'
import { normalize, type NormalizeOptions } from './normalize.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

/** What a code stands for. */
export const CURRENCY_KINDS = ['currency', 'fund', 'metal', 'unit', 'testing', 'none'] as const

type CurrencyKind = (typeof CURRENCY_KINDS)[number]

export interface CurrencyFacts {
  alpha: string
  /** Three digits; null for the three codes that never had a number. */
  numeric: string | null
  /** As the list of ISO 4217 writes it. */
  name: string
  /** Digits behind the decimal point; null where the list states none: metals, units, and all that is withdrawn. */
  minor_units: number | null
  kind: CurrencyKind
  fund: boolean
  /** As written at home, where several may share it; the code where there is no sign. */
  symbol: string
  /** As written where several currencies meet. */
  symbol_distinct: string
  status: 'current' | 'withdrawn'
  /** Last date of the list: a month, a year, or a span of them. */
  withdrawn: string | null
  successor: string | null
  /** How many of this made one of the successor, as decimal text; null without a fixed rate. */
  per_successor: string | null
  /** ISO 3166 alpha-2 codes of where it is, or was, in use. */
  countries: string[]
  /** Institutions, and states that are gone. */
  other_entities: string[]
  /** Other codes that have had the same number. */
  same_numeric: string[]
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const CURRENCY_DATA_AS_OF = { iso4217: dataDate(table) } as const

type Row = (typeof table.rows)[number]

const OPTIONS: NormalizeOptions = { separators: ' ', field: 'currency' }
const PRAISE = 'The code is on the list of current currency and fund codes.'
const LENGTH = 3
const PARTS: readonly Part[] = [Object.freeze({ label: 'code', start: 0, end: LENGTH })]

const BY_ALPHA: ReadonlyMap<string, Row> = new Map(table.rows.map((row) => [row.alpha, row]))
/** Numbers that were used again: all codes of each, current first, then the one that was withdrawn last. */
const BY_NUMERIC: ReadonlyMap<string, readonly Row[]> = new Map(
  Array.from(
    grouped(table.rows, ({ numeric }) => numeric ?? ''),
    ([numeric, rows]) => [numeric, rows.toSorted((one, other) => (lastDate(one) < lastDate(other) ? 1 : -1))],
  ),
)

/** Later than any date for a current code. */
function lastDate({ withdrawn }: Row): string {
  return withdrawn?.split(' to ').at(-1) ?? '9999'
}

function rowFor(value: string): Row | null {
  return BY_ALPHA.get(value) ?? (/^[0-9]{3}$/.test(value) ? BY_NUMERIC.get(value)?.[0] : null) ?? null
}

function passes(value: string): boolean {
  return rowFor(value)?.withdrawn === null
}

/** Whether the text is a current code. Always the same answer as `checkCurrency(text).valid`. */
export function isCurrency(text: string): boolean {
  const { value, finding: unreadable } = normalize(text, OPTIONS)
  return unreadable === null && passes(value)
}

/**
 * Decides whether text is a current code of ISO 4217, three letters or three digits, and tells what the list says of it. A number that was
 * used again means the current code (532 is XCG, once ANG). A withdrawn code is invalid with the reason `withdrawn`, its date and its facts,
 * its successor as what is expected, and no suggestion.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, not_listed, withdrawn. Warning:
 * test_only for XTS. Right as of the date of the list: a code added later is `not_listed`, one withdrawn later is still current.
 */
export function checkCurrency(text: string): Check<CurrencyFacts> {
  const check = withLeadingZero(checkText(text, { options: OPTIONS, praise: PRAISE, passes, judge }), passes)
  // It is written rightly: a code one edit away is the money of somebody else.
  return check.reason_code === 'withdrawn' ? { ...check, suggestion: null } : check
}

/** The same for a number 0–999, which has lost the zeros of its three digits. */
export function checkCurrencyNumber(numeric: number): Check<CurrencyFacts> {
  const written = String(numeric)
  const check = checkCurrency(written.padStart(LENGTH, '0'))
  return written.length < LENGTH ? { ...check, changes: [...check.changes, 'padded_zeros'] } : check
}

function judge(value: string): Judgement<CurrencyFacts> {
  const faults = shapeFindings(value)
  if (faults.length > 0) return { findings: faults }
  const place = { value, start: 0, end: LENGTH }
  const row = rowFor(value)
  if (row === null) return { findings: [finding('not_listed', 'currency', place, null)] }
  const warnings = row.alpha === 'XTS' ? [finding('test_only', 'currency', place, null)] : []
  return { findings: withdrawnFindings(row, place), warnings, facts: currencyFacts(row) }
}

function withdrawnFindings(row: Row, place: { value: string; start: number; end: number }): Finding[] {
  if (row.withdrawn === null) return []
  const after = row.successor === null ? '' : ` ${row.successor} came after it.`
  return [finding('withdrawn', 'currency', place, row.successor, `${row.alpha} was withdrawn (${row.withdrawn}).${after}`)]
}

function shapeFindings(value: string): Finding[] {
  const foreign = characterFindings(value, 'currency')
  if (foreign.length > 0) return foreign
  if (value.length !== LENGTH) return [lengthFinding('currency', value, 'three letters or three digits')]
  if (/^(?:[A-Z]{3}|[0-9]{3})$/.test(value)) return []
  return [finding('bad_structure', 'currency', { value, start: 0, end: LENGTH }, 'letters only or digits only')]
}

function currencyFacts(row: Row): CurrencyFacts {
  const { alpha, numeric, name, minor_units, symbol, symbol_distinct, withdrawn, successor, per_successor } = row
  const sharing = numeric === null ? [] : (BY_NUMERIC.get(numeric) ?? [])
  return {
    alpha,
    numeric,
    name,
    minor_units,
    kind: CURRENCY_KINDS.find((kind) => kind === row.kind) ?? 'currency',
    fund: row.kind === 'fund',
    symbol,
    symbol_distinct,
    status: withdrawn === null ? 'current' : 'withdrawn',
    withdrawn,
    successor,
    per_successor,
    countries: [...row.countries],
    other_entities: [...row.other_entities],
    same_numeric: sharing.flatMap((other) => (other.alpha === alpha ? [] : [other.alpha])),
    parts: [...PARTS],
  }
}
