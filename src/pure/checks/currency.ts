import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import { foreignCharacterFindings, checkText, withLeadingZero } from './check-text.ts'
import table from '../../../data/iso4217.json' with { type: 'json' }
import { normalize, type NormalizeOptions } from './normalize.ts'
import { datesOf, isWords, orNull, referenceTable, rowOf } from '../datasets/table.ts'
import { NETWORKS } from '../networks.ts'

/** Kinds of code. */
export const CURRENCY_KINDS = ['currency', 'fund', 'metal', 'unit', 'testing', 'none'] as const

interface CurrencyRow {
  alpha: string
  numeric: string | null
  name: string
  minor_units: number | null
  kind: string
  symbol: string
  symbol_distinct: string
  countries: string[]
  other_entities: string[]
  /** Month of the withdrawal, or `from to until`; null for a current code. */
  withdrawn: string | null
  successor: string | null
  /** Units of this currency per unit of the successor. */
  per_successor: string | null
}

const OPTIONS: NormalizeOptions = { separators: ' ', field: 'currency' }
const SUCCESS_REASON = 'The code is on the list of current currency and fund codes.'
const LENGTH = 3
const PARTS: readonly IdentifierPart[] = [Object.freeze({ label: 'code', start: 0, end: LENGTH })]

const areTexts = (value: unknown) => Array.isArray(value) && value.length <= 100 && value.every(isWords)
const isDigit = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 9

/** Lists one and three of ISO 4217. */
export const ISO4217 = referenceTable(
  {
    id: 'iso4217',
    source_urls: [
      'https://www.six-group.com/dam/download/financial-information/data-center/iso-currrency/lists/list-one.xml',
      'https://www.six-group.com/dam/download/financial-information/data-center/iso-currrency/lists/list-three.xml',
    ],
    licence: 'ISO 4217 maintenance agency (SIX), facts; signs: Unicode licence',
    rows_min: 280,
    rows_max: 500,
    // A withdrawn code stays in list three.
    removed_share_max: 0.01,
    present: ['USD', 'EUR', 'JPY', 'KWD', 'XAU', 'XCG', 'ANG', 'HRK', 'BGN'],
    isRow: rowOf<CurrencyRow>({
      alpha: /^[A-Z]{3}$/,
      numeric: orNull(/^[0-9]{3}$/),
      name: isWords,
      minor_units: orNull(isDigit),
      kind: (value) => CURRENCY_KINDS.some((kind) => kind === value),
      symbol: isWords,
      symbol_distinct: isWords,
      countries: areTexts,
      other_entities: areTexts,
      withdrawn: orNull(/^[0-9]{4}(?:-[0-9]{2})?(?: to [0-9]{4}(?:-[0-9]{2})?)?$/),
      successor: orNull(/^[A-Z]{3}$/),
      per_successor: orNull(isWords),
    }),
    key: ({ alpha }) => alpha,
  },
  () => table,
  ({ rows }) => ({ rows, by_alpha: new Map(rows.map((row) => [row.alpha, row])), by_numeric: byNumber(rows) }),
)

/** Codes by number, since some numbers were reused: the current code first, then the one that was withdrawn last. */
function byNumber(rows: readonly CurrencyRow[]): ReadonlyMap<string, CurrencyRow[]> {
  const found = new Map<string, CurrencyRow[]>()
  for (const row of rows) found.set(row.numeric ?? '', [...(found.get(row.numeric ?? '') ?? []), row])
  for (const sharing of found.values()) sharing.sort((one, other) => (lastDate(one) < lastDate(other) ? 1 : -1))
  return found
}

/** Dates of the tables that an answer is read from. */
export const CURRENCY_DATA_AS_OF = datesOf([ISO4217])

/** Later than any date for a current code. */
function lastDate({ withdrawn }: CurrencyRow): string {
  return withdrawn?.split(' to ').at(-1) ?? '9999'
}

function findCurrency(value: string): CurrencyRow | null {
  const { by_alpha, by_numeric } = ISO4217.view
  return by_alpha.get(value) ?? (/^[0-9]{3}$/.test(value) ? by_numeric.get(value)?.[0] : null) ?? null
}

function isCurrentCode(value: string): boolean {
  return findCurrency(value)?.withdrawn === null
}

/** Returns the same answer as `checkCurrency(text).valid`. */
export function isCurrency(text: string): boolean {
  const { value, finding: unreadable } = normalize(text, OPTIONS)
  return unreadable === null && isCurrentCode(value)
}

/**
 * Checks a current code of ISO 4217, three letters or three digits, and returns its entry in the list. A number that was
 * used again means the current code (532 is XCG, once ANG). A withdrawn code is invalid with the reason `withdrawn`, its date and its facts,
 * its successor as what is expected, and no suggestion.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, not_listed, withdrawn. Warning:
 * test_only for XTS. Right as of the date of the list: a code added later is `not_listed`, one withdrawn later is still current.
 */
export function checkCurrency(text: string): Check<CurrencyFacts> {
  const check = withLeadingZero(
    checkText(text, { options: OPTIONS, success_reason: SUCCESS_REASON, isValid: isCurrentCode, validate }),
    isCurrentCode,
  )
  // A withdrawn code is not a typing mistake: a code one edit away is another currency.
  return check.reason_code === 'withdrawn' ? { ...check, suggestion: null } : check
}

/** Checks a number 0–999, which lacks the leading zeros of its three digits. */
export function checkCurrencyNumber(numeric: number): Check<CurrencyFacts> {
  const text = String(numeric)
  const check = checkCurrency(text.padStart(LENGTH, '0'))
  return text.length < LENGTH ? { ...check, changes: [...check.changes, 'padded_zeros'] } : check
}

function validate(value: string): Validation<CurrencyFacts> {
  const faults = formatFindings(value)
  if (faults.length > 0) return { findings: faults }
  const place = { value, start: 0, end: LENGTH }
  const row = findCurrency(value)
  if (row === null) return { findings: [finding('not_listed', 'currency', place, null)] }
  const warnings = row.alpha === 'XTS' ? [finding('test_only', 'currency', place, null)] : []
  return { findings: withdrawnFindings(row, place), warnings, facts: currencyFacts(row) }
}

function withdrawnFindings(row: CurrencyRow, place: { value: string; start: number; end: number }): Finding[] {
  if (row.withdrawn === null) return []
  const after = row.successor === null ? '' : ` ${row.successor} came after it.`
  return [finding('withdrawn', 'currency', place, row.successor, `${row.alpha} was withdrawn (${row.withdrawn}).${after}`)]
}

function formatFindings(value: string): Finding[] {
  const foreign = foreignCharacterFindings(value, 'currency')
  if (foreign.length > 0) return foreign
  if (value.length !== LENGTH) return [lengthFinding('currency', value, 'three letters or three digits')]
  if (/^(?:[A-Z]{3}|[0-9]{3})$/.test(value)) return []
  return [finding('bad_structure', 'currency', { value, start: 0, end: LENGTH }, 'letters only or digits only')]
}

function currencyFacts(row: CurrencyRow) {
  const { alpha, numeric, name, minor_units, symbol, symbol_distinct, withdrawn, successor, per_successor } = row
  const sharing = numeric === null ? [] : (ISO4217.view.by_numeric.get(numeric) ?? [])
  return {
    alpha,
    numeric,
    name,
    minor_units,
    kind: CURRENCY_KINDS.find((kind) => kind === row.kind) ?? ('currency' as const),
    fund: row.kind === 'fund',
    symbol,
    symbol_distinct,
    status: withdrawn === null ? ('current' as const) : ('withdrawn' as const),
    withdrawn,
    successor,
    per_successor,
    countries: [...row.countries],
    other_entities: [...row.other_entities],
    same_numeric: sharing.flatMap((other) => (other.alpha === alpha ? [] : [other.alpha])),
    parts: [...PARTS],
  }
}

export type CurrencyFacts = ReturnType<typeof currencyFacts>

/** The token in which a sum of a currency can be settled on chain. */
interface SettlementToken {
  symbol: string
  chain_id: number
  /** EIP-55 form. */
  address: string
  decimals: number
}

const [MAIN] = NETWORKS
const EURC = MAIN.other_tokens.find(({ symbol }) => symbol === 'EURC')

const TOKENS: ReadonlyMap<string, SettlementToken> = new Map([
  ['USD', { symbol: 'USDC', chain_id: MAIN.chain_id, address: MAIN.usdc.address, decimals: 6 }],
  ...(EURC === undefined
    ? []
    : ([['EUR', { symbol: 'EURC', chain_id: MAIN.chain_id, address: EURC.address, decimals: EURC.decimals }]] as const)),
])

/** The token of a current currency by its letters; null for all but US dollar and euro. A token is not the currency itself. */
export function settlementToken(alpha: string): SettlementToken | null {
  const token = TOKENS.get(alpha)
  return token === undefined ? null : { ...token }
}
