import table from '../../../../data/iso4217.json' with { type: 'json' }

/** A message may state five digits behind the point (ISO 20022, ActiveCurrencyAndAmount): the scale where a currency states none. */
const MOST_DIGITS = 5
/**
 * Digits of codes that statements may bear, since they were withdrawn after the first camt.053 (2009): list one of ISO 4217 stated them
 * while they were current, list three of what is withdrawn states none.
 */
const WITHDRAWN_DIGITS: Readonly<Record<string, number>> = {
  ANG: 2,
  BGN: 2,
  BYR: 0,
  CUC: 2,
  EEK: 2,
  HRK: 2,
  LTL: 2,
  LVL: 2,
  MRO: 2,
  SLL: 2,
  STD: 2,
  VEF: 2,
  ZMK: 2,
  ZWL: 2,
}
const DIGITS: ReadonlyMap<string, number> = new Map(
  table.rows.map(({ alpha, minor_units }) => [alpha, minor_units ?? WITHDRAWN_DIGITS[alpha] ?? MOST_DIGITS]),
)
/** Amounts are kept in 64 bits with their sign. */
const LARGEST_MINOR = 2n ** 63n - 1n
const DECIMAL = /^\+?([0-9]*)(?:\.([0-9]*))?$/
const LEXICAL_CHARS = 40

/** Digits behind the point of this currency (ISO 4217); five where it has none or is not listed, so that every amount stays whole. */
export function minorUnits(currency: string): number {
  return DIGITS.get(currency) ?? MOST_DIGITS
}

export type ReadAmount = { ok: true; amount_minor: bigint } | { ok: false; fault: 'lexical' | 'fraction' | 'range' }

/**
 * Reads an xs:decimal of a message, exactly: `+1`, `.5`, `5.` and white space around are fine, exponents and signs below zero are not.
 * `fraction`: a digit other than zero stands beyond the minor unit, so the amount is no amount of this currency.
 */
export function readAmount(text: string, currency: string): ReadAmount {
  const digits = minorUnits(currency)
  const plain = plainAmount(text, digits)
  if (plain !== -1) return { ok: true, amount_minor: BigInt(plain) }
  const found = text.length > LEXICAL_CHARS ? null : DECIMAL.exec(text.trim())
  const [whole = '', fraction = ''] = found === null ? [] : [found[1] ?? '', found[2] ?? '']
  if (found === null || whole + fraction === '') return { ok: false, fault: 'lexical' }
  if (/[1-9]/.test(fraction.slice(digits))) return { ok: false, fault: 'fraction' }
  const amount_minor = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  return amount_minor > LARGEST_MINOR ? { ok: false, fault: 'range' } : { ok: true, amount_minor }
}

const PLAIN_CHARS = 16
const POINT = 0x2e

/** The usual amount, digits with a point among them and short enough for a double; -1 for all others, which are read the long way. */
function plainAmount(text: string, digits: number): number {
  if (text.length === 0 || text.length > PLAIN_CHARS - digits) return -1
  let value = 0
  let fraction = -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === POINT && fraction === -1 && index > 0) fraction = 0
    else if (code >= 0x30 && code <= 0x39 && fraction < digits) {
      value = value * 10 + (code - 0x30)
      if (fraction !== -1) fraction++
    } else return -1
  }
  for (let missing = digits - Math.max(0, fraction); missing > 0; missing--) value *= 10
  return value
}

/** A minor amount as people write it: 10010 of EUR is 100.10. */
export function decimalText(amount_minor: bigint, digits: number): string {
  const sign = amount_minor < 0n ? '-' : ''
  const text = (amount_minor < 0n ? -amount_minor : amount_minor).toString().padStart(digits + 1, '0')
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}
