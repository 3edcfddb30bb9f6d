/**
 * Whether a number is a whole multiple of another, by the decimal texts that both were written with: 19.99 is a multiple of 0.01, although
 * the doubles that stand for them are not. The text is the shortest that reads as the double, so a literal with more than 17 significant
 * digits is judged as the number that every reader of JSON makes of it. Exact at every size; at most some 700 digits.
 */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const [a, b] = [decimalOf(value), decimalOf(divisor)]
  const exponent = Math.min(a.exponent, b.exponent)
  return (a.digits * 10n ** BigInt(a.exponent - exponent)) % (b.digits * 10n ** BigInt(b.exponent - exponent)) === 0n
}

/** Work of `isMultiple` in ticks: it grows with the digits between the two numbers. */
export function multipleTicks(value: unknown, divisor: number): number {
  if (typeof value !== 'number' || (Number.isSafeInteger(value) && Number.isSafeInteger(divisor))) return 0
  const digits = value === 0 ? 0 : Math.abs(Math.log10(Math.abs(value)) - Math.log10(divisor))
  return 30 + Math.ceil(digits / 2)
}

/** `digits * 10 ** exponent`. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa = '0', power = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number.parseInt(power, 10) - fraction.length }
}
