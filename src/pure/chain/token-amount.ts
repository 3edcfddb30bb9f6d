/** Amounts of tokens as people write them: exact decimals, never a float. */

/** Most decimals that a token can state (EIP-20: uint8). */
export const DECIMALS_MAX = 255

/** The amount in whole tokens, without trailing zeros: 12345678 with 6 decimals is 12.345678, 5000000 is 5. Throws a RangeError for decimals out of range. */
export function tokenText(amount_minor: bigint, decimals: number): string {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > DECIMALS_MAX) throw new RangeError('decimals out of range')
  const sign = amount_minor < 0n ? '-' : ''
  const digits = (amount_minor < 0n ? -amount_minor : amount_minor).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const part = digits.slice(digits.length - decimals)
  let end = part.length
  while (end > 0 && part[end - 1] === '0') end -= 1
  return `${sign}${whole}${end === 0 ? '' : `.${part.slice(0, end)}`}`
}
