/** Exact arithmetic of prices: fractions of BigInt, never negative, rounded only when they are written down. */

/** In lowest terms; `denominator` is above zero. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Throws a RangeError for a negative value and for a denominator of zero: no price has either. */
export function fraction(numerator: bigint, denominator: bigint): Fraction {
  if (numerator < 0n || denominator <= 0n) throw new RangeError('not a fraction of zero or more')
  const divisor = greatestCommonDivisor(numerator, denominator)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

function greatestCommonDivisor(one: bigint, other: bigint): bigint {
  while (other > 0n) [one, other] = [other, one % other]
  return one
}

export function times(one: Fraction, other: Fraction): Fraction {
  return fraction(one.numerator * other.numerator, one.denominator * other.denominator)
}

/** Throws a RangeError when the other is zero. */
export function over(one: Fraction, other: Fraction): Fraction {
  return times(one, { numerator: other.denominator, denominator: other.numerator })
}

export function plus(one: Fraction, other: Fraction): Fraction {
  return fraction(one.numerator * other.denominator + other.numerator * one.denominator, one.denominator * other.denominator)
}

/** Absolute difference of the two. */
export function distance(one: Fraction, other: Fraction): Fraction {
  const gap = one.numerator * other.denominator - other.numerator * one.denominator
  return fraction(gap < 0n ? -gap : gap, one.denominator * other.denominator)
}

/** Below zero, zero or above zero, as the one lies below, at or above the other. */
export function compare(one: Fraction, other: Fraction): number {
  const [left, right] = [one.numerator * other.denominator, other.numerator * one.denominator]
  return left < right ? -1 : left > right ? 1 : 0
}

const DECIMAL = /^([0-9]{1,40})(?:\.([0-9]{1,40}))?(?:[eE]([+-]?[0-9]{1,3}))?$/

/** The value of decimal text or of a JSON number's literal, sign excluded; null for anything else. */
export function readDecimal(text: string): Fraction | null {
  const [, whole, part = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (whole === undefined) return null
  const shift = BigInt(exponent) - BigInt(part.length)
  const digits = BigInt(whole + part)
  return shift < 0n ? fraction(digits, 10n ** -shift) : fraction(digits * 10n ** shift, 1n)
}

/** With so many digits behind the point, rounded half to even. */
export function toPlaces({ numerator, denominator }: Fraction, places: number): string {
  return decimalText(halfEven(numerator * 10n ** BigInt(places), denominator), places)
}

/** With at most so many significant digits, rounded half to even, without zeros at the end. */
export function toSignificant({ numerator, denominator }: Fraction, digits: number): string {
  if (numerator === 0n) return '0'
  // The quotient has this many digits before the point, or one less.
  const length = String(numerator).length - String(denominator).length + 1
  const scaled = (places: number) =>
    places < 0
      ? halfEven(numerator, denominator * 10n ** BigInt(-places)) * 10n ** BigInt(-places)
      : halfEven(numerator * 10n ** BigInt(places), denominator)
  const fewer = numerator * 10n ** BigInt(Math.max(1 - length, 0)) < denominator * 10n ** BigInt(Math.max(length - 1, 0))
  const places = digits - length + (fewer ? 1 : 0)
  return trimmed(decimalText(scaled(places), Math.max(places, 0)))
}

/** Every digit of a fraction that ends; null for one that does not, such as a third. */
export function toExact(value: Fraction): string | null {
  let [rest, twos, fives] = [value.denominator, 0, 0]
  for (; rest % 2n === 0n; rest /= 2n) twos++
  for (; rest % 5n === 0n; rest /= 5n) fives++
  return rest === 1n ? toPlaces(value, Math.max(twos, fives)) : null
}

function halfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const twice = (numerator % denominator) * 2n
  if (twice === denominator) return quotient + (quotient % 2n)
  return twice > denominator ? quotient + 1n : quotient
}

function decimalText(scaled: bigint, places: number): string {
  if (places === 0) return String(scaled)
  const digits = String(scaled).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

function trimmed(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
