/** Exact decimals: amounts as whole numbers of 10^-5, the smallest step that ISO 20022 knows. */

/** Digits behind the point that an amount may have. */
export const AMOUNT_SCALE = 5
/** The same of a control sum. */
const SUM_SCALE = 17
const TOTAL_DIGITS = 18
/** Whole numbers up to here, times 10^5, are exact in a double. */
const NARROW_DIGITS = 10
const POWERS = [1, 10, 100, 1_000, 10_000, 100_000] as const

/** What can be said of a text that should be a decimal. */
export type DecimalFault = 'lexical' | 'negative' | 'digits' | null

/**
 * Reads xs:decimal texts one after the other without making objects: sign, leading zeros, `.5`, `5.` and white space around are allowed,
 * an exponent is not. The fields hold what the last text said.
 */
export class AmountText {
  /** In 10^-5, when `wide` is null. A whole number below 2^53. */
  units = 0
  /** In 10^-5, where a double would not be exact. */
  wide: bigint | null = null
  /** Digits behind the point without trailing zeros, and as written. */
  fraction = 0
  written_fraction = 0

  /** Null when it is an amount: not negative, at most 18 digits, at most 5 behind the point. */
  read(text: string): DecimalFault {
    let index = 0
    let end = text.length
    while (index < end && isSpace(text.charCodeAt(index))) index++
    while (end > index && isSpace(text.charCodeAt(end - 1))) end--
    const sign = index < end ? text.charCodeAt(index) : 0
    if (sign === PLUS || sign === MINUS) index++
    const start = index
    let value = 0
    let whole = 0
    for (; index < end; index++) {
      const digit = text.charCodeAt(index) - ZERO
      if (digit < 0 || digit > 9) break
      if (digit !== 0 || whole > 0) whole++
      value = value * 10 + digit
    }
    const point = index
    if (point < end && text.charCodeAt(point) !== POINT) return 'lexical'
    let significant = 0
    for (index = point + 1; index < end; index++) {
      const digit = text.charCodeAt(index) - ZERO
      if (digit < 0 || digit > 9) return 'lexical'
      if (digit !== 0) significant = index - point
      if (index - point <= AMOUNT_SCALE) value = value * 10 + digit
    }
    const written = Math.max(0, end - point - 1)
    if (point - start + written === 0) return 'lexical'
    this.fraction = significant
    this.written_fraction = written
    if (significant > AMOUNT_SCALE || whole + significant > TOTAL_DIGITS) return 'digits'
    const narrow = whole <= NARROW_DIGITS
    this.units = narrow ? value * (POWERS[AMOUNT_SCALE - Math.min(written, AMOUNT_SCALE)] ?? 1) : 0
    this.wide = narrow ? null : scaled(text.trim(), AMOUNT_SCALE)
    return sign === MINUS && !this.isZero() ? 'negative' : null
  }

  isZero(): boolean {
    return this.wide === null && this.units === 0
  }

  /** The amount in 10^-5. */
  total(): bigint {
    return this.wide ?? BigInt(this.units)
  }
}

const ZERO = 0x30
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e

/** White space of XML. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d
}

/** A sum of any number of amounts, exact: doubles while they are whole numbers that a double holds, then a bigint. */
export class ExactSum {
  private low = 0
  private high = 0n

  add({ units, wide }: AmountText): void {
    if (wide !== null) this.high += wide
    else this.low += units
    if (this.low > FULL) this.carry()
  }

  addSum({ low, high }: ExactSum): void {
    this.high += high
    this.low += low
    if (this.low > FULL) this.carry()
  }

  private carry(): void {
    this.high += BigInt(this.low)
    this.low = 0
  }

  /** In 10^-5. */
  total(): bigint {
    return this.high + BigInt(this.low)
  }

  clear(): void {
    this.low = 0
    this.high = 0n
  }
}

/** Twice this is below 2^53, so that one more narrow amount, or another such sum, still fits. */
const FULL = 3_000_000_000_000_000

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?$/

/** A decimal text times 10^scale; null when it is none or has non-zero digits further behind the point. */
export function scaled(text: string, scale: number): bigint | null {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole + fraction === '' || text.length > 64) return null
  const kept = fraction.slice(0, scale).padEnd(scale, '0')
  if (/[1-9]/.test(fraction.slice(scale))) return null
  const value = BigInt(whole + kept)
  return sign === '-' ? -value : value
}

/** Whether a control sum says what the amounts add up to; `sum` in 10^-5. By value: 10.0 equals 10.00. */
export function equalsSum(text: string, sum: bigint): boolean {
  return scaled(text.trim(), SUM_SCALE) === sum * 10n ** BigInt(SUM_SCALE - AMOUNT_SCALE)
}

/** Whether a text is a decimal of at most so many digits, of which at most so many stand behind the point. Zeros at the ends count nothing. */
export function isDecimalText(text: string, total: number, behind_point: number): boolean {
  const [, , whole = '', fraction = ''] = DECIMAL.exec(text.trim()) ?? []
  if (whole + fraction === '') return false
  const behind = withoutEndZeros(fraction)
  return behind.length <= behind_point && whole.replace(/^0+/, '').length + behind.length <= total
}

/** Whether a control sum has its form: at most 18 digits, 17 of them behind the point. */
export function isSumText(text: string): boolean {
  return isDecimalText(text, TOTAL_DIGITS, SUM_SCALE)
}

/** By hand: the text is as long as a stranger likes, and an expression would begin anew at each zero of it. */
function withoutEndZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/** 10^-5 as decimal text with at least `least` digits behind the point and no zeros beyond them. */
export function decimalText(units: bigint, least = 0): string {
  const negative = units < 0n
  const digits = (negative ? -units : units).toString().padStart(AMOUNT_SCALE + 1, '0')
  const fraction = digits.slice(-AMOUNT_SCALE).replace(/0+$/, '').padEnd(least, '0')
  const whole = digits.slice(0, -AMOUNT_SCALE)
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** 10^-5 in the minor units of a currency with so many digits; null when it does not come out even. */
export function minorUnits(units: bigint, digits: number): bigint | null {
  if (digits > AMOUNT_SCALE) return units * 10n ** BigInt(digits - AMOUNT_SCALE)
  const step = 10n ** BigInt(AMOUNT_SCALE - digits)
  return units % step === 0n ? units / step : null
}
