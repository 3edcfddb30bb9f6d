/** 10^n modulo 97, so that a long number is a sum of small products and is divided once. */
export const POWERS97 = Uint8Array.from({ length: 80 })
for (let place = 0, power = 1; place < POWERS97.length; place++, power = (power * 10) % 97) POWERS97[place] = power

/**
 * Remainder modulo 97 of the decimal number that the values spell, letters as 10–35 (ISO 7064, and ISO 13616 annex), going on
 * from `carried`. The division is put off until the number nears 2^31, so that all arithmetic stays in small integers.
 */
export function remainder97(values: Uint8Array, start: number, end: number, carried = 0): number {
  let remainder = carried
  for (let index = start; index < end; index++) {
    const value = values[index] ?? 0
    remainder = value < 10 ? remainder * 10 + value : remainder * 100 + value
    if (remainder > 9_999_999) remainder %= 97
  }
  return remainder % 97
}

/** The check digits 02–98 for a number whose last two digits are still to come: 98 − (100·n mod 97), ISO 7064 MOD 97-10. */
export function checkDigits97(remainder: number): number {
  return 98 - ((remainder * 100) % 97)
}

/** 00, 01 and 99 leave the same remainder as 97, 98 and 02, but the calculation never gives them. */
export function inRange97(check: number): boolean {
  return check >= 2 && check <= 98
}

export function twoDigits(check: number): string {
  return check < 10 ? `0${check}` : `${check}`
}
