/** Check characters as the standards word them, written apart from the code under test. */

/** Luhn (ISO/IEC 7812-1, Annex B) over the digits before it. */
export function luhnDigit(payload: string): string {
  let sum = 0
  for (const [index, digit] of Array.from(payload).toReversed().entries()) {
    const doubled = index % 2 === 0 ? Number(digit) * 2 : Number(digit)
    sum += Math.floor(doubled / 10) + (doubled % 10)
  }
  return String((10 - (sum % 10)) % 10)
}

/** Luhn over letters as two digits, A = 10 (ISO 6166). */
export function isinDigit(payload: string): string {
  return luhnDigit(payload.replace(/[A-Z]/g, (letter) => String(parseInt(letter, 36))))
}

/** Sum of value × weight, values in base 36. */
export function weighted(text: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * parseInt(text.charAt(index), 36), 0)
}

/** GS1 General Specifications 7.9: weights 3 and 1 from the right. */
export function gs1Digit(payload: string): string {
  const sum = Array.from(payload)
    .toReversed()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 3 : 1), 0)
  return String((10 - (sum % 10)) % 10)
}

/** ISO 2108: weights 10 to 2, X for ten. */
export function isbn10Digit(payload: string): string {
  const check = (11 - (weighted(payload, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11
  return check === 10 ? 'X' : String(check)
}

/** Receita Federal: twice modulus 11 over ASCII code minus 48; 10 and 11 become 0. */
export function cnpjDigits(payload: string): string {
  const digit = (text: string): string => {
    const codes = Array.from(text).toReversed()
    const sum = codes.reduce((total, unit, index) => total + (unit.charCodeAt(0) - 48) * (2 + (index % 8)), 0)
    return String(sum % 11 < 2 ? 0 : 11 - (sum % 11))
  }
  const first = digit(payload)
  return first + digit(payload + first)
}

export const USCC_UNITS = '0123456789ABCDEFGHJKLMNPQRTUWXY'

/** GB 32100-2015: weights 3^i mod 31. */
export function usccUnit(payload: string): string {
  let [sum, weight] = [0, 1]
  for (const unit of payload) {
    sum += USCC_UNITS.indexOf(unit) * weight
    weight = (weight * 3) % 31
  }
  return USCC_UNITS.charAt((31 - (sum % 31)) % 31)
}

/** Luhn in base 36, doubling each second unit from the right. */
export function gstinUnit(payload: string): string {
  const sum = Array.from(payload).reduce((total, unit, index) => {
    const product = parseInt(unit, 36) * (index % 2 === 0 ? 1 : 2)
    return total + Math.floor(product / 36) + (product % 36)
  }, 0)
  return ((36 - (sum % 36)) % 36).toString(36).toUpperCase()
}

/** National Tax Agency of Japan: 9 less the sum, modulus 9, with weights 1 and 2 from the right. */
export function japanDigit(base: string): string {
  const sum = Array.from(base)
    .toReversed()
    .reduce((total, digit, index) => total + Number(digit) * (1 + (index % 2)), 0)
  return String(9 - (sum % 9))
}

/** Australian Business Register: the pair in front of nine digits that makes modulus 89 vanish, 11 to 99. */
export function abnPair(rest: string): string {
  const weights = [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]
  for (let pair = 11; pair <= 99; pair++) {
    const text = `${pair}${rest}`
    if ((weighted(text, weights) - 10) % 89 === 0) return String(pair)
  }
  throw new Error(`no pair for ${rest}`)
}

const RFC_UNITS = '0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ'

/** SAT: weights 13 to 2, a company with a space in front. */
export function rfcUnit(payload: string): string {
  const sum = Array.from(payload.padStart(12, ' ')).reduce((total, unit, index) => total + RFC_UNITS.indexOf(unit) * (13 - index), 0)
  const check = (11 - (sum % 11)) % 11
  return check === 10 ? 'A' : String(check)
}
