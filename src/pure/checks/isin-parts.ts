import { digitAt } from './digits.ts'
import { isSedol } from './sedol.ts'

/** The national number inside an ISIN. */
export interface EmbeddedId {
  kind: 'cusip' | 'sedol' | 'wkn' | 'valor'
  id: string
  /** Whether it holds by its own check digit; null for numbers that have none. */
  check_ok: boolean | null
}

/**
 * The number that agencies are known to put into the nine places: CUSIP (US, CA), SEDOL behind two zeros (GB, and IE, GG, JE, IM where it
 * passes by itself), WKN behind three zeros (DE), Valor (CH, LI). Null when nothing of the kind is there.
 */
export function embeddedId(prefix: string, nsin: string): EmbeddedId | null {
  switch (prefix) {
    case 'US':
    case 'CA':
      return { kind: 'cusip', id: nsin, check_ok: isCusip(nsin) }
    case 'GB':
    case 'IE':
    case 'GG':
    case 'JE':
    case 'IM':
      return nsin.startsWith('00') && isSedol(nsin.slice(2)) ? { kind: 'sedol', id: nsin.slice(2), check_ok: true } : null
    case 'DE':
      return /^000[0-9A-HJ-NP-Z]{6}$/.test(nsin) ? { kind: 'wkn', id: nsin.slice(3), check_ok: null } : null
    case 'CH':
    case 'LI':
      return /^(?!0+$)[0-9]+$/.test(nsin) ? { kind: 'valor', id: nsin.replace(/^0+/, ''), check_ok: null } : null
    default:
      return null
  }
}

/** 0–9, then 10–35 for letters. */
function valueAt(text: string, index: number): number {
  const digit = digitAt(text, index)
  return digit > 9 ? digit - 7 : digit
}

/** Modulus 10, double add double (ANSI X9.6): every second of eight values is doubled, and the digits of each product are added. */
function isCusip(nine: string): boolean {
  let sum = 0
  for (let index = 0; index < 8; index++) {
    const product = valueAt(nine, index) * (index % 2 === 0 ? 1 : 2)
    sum += Math.floor(product / 10) + (product % 10)
  }
  return (10 - (sum % 10)) % 10 === valueAt(nine, 8)
}
