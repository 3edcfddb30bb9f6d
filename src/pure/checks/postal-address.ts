import { countryCode, isCode, tidied } from './jurisdictions.ts'

/** What can be read off a postal address in words, without knowing any place. */
export interface PostalAddress {
  /** Mail is left in a box, so nobody need be there. */
  po_box: boolean
  /** Alpha-2 code of the country that the address ends with; null when it names none, or could mean two. */
  country: string | null
}

const PO_BOX = new RegExp(
  String.raw`\b(?:p\.?\s*o\.?\s*box|post(?:al)?\s+(?:office\s+)?box|postfach|postbus|apartado(?:\s+(?:de\s+correos|postal))?|casilla\s+(?:de\s+correo|postal)|caixa\s+postal|casella\s+postale|bo[iî]te\s+postale|b\.?p\.?\s+\d|pmb\s+\d|gpo\s+box)(?=\W|\d|$)`,
  'iu',
)
/** How to reach somebody, which stands behind addresses but is no place. Tel Aviv is one. */
const CONTACT = /@|https?:|\bwww\.|^(?:tel(?:ephone)?|phone|fax|mob(?:ile)?|e-?mail|web(?:site)?)\b\s*[.:+(\d]/i
/** Longest name of a country, in words. */
const NAME_WORDS = 8

/**
 * Reads the country behind the last comma, slash or line break, or the last words; telephone numbers and the like are passed over. Names
 * that states of the US share, and codes of two letters, are not taken for countries. Errs towards null.
 */
export function readPostalAddress(address: string): PostalAddress {
  const parts = tidied(address)
    .split(/[,;/\n]+/)
    .map((part) => part.trim())
  const last = parts.findLast((part) => /\p{L}/u.test(part) && !CONTACT.test(part)) ?? ''
  return { po_box: PO_BOX.test(address), country: namedCountry(last) }
}

function namedCountry(part: string): string | null {
  const words = part.split(/\s+/).filter((word) => !/\d/.test(word))
  for (let count = Math.min(words.length, NAME_WORDS); count > 0; count--) {
    const name = words.slice(-count).join(' ')
    const before = words.at(-count - 1)?.toLowerCase()
    const code = isCode(name) ? null : countryCode(name)
    if (code !== null) return before === 'new' || code === 'GE' ? null : code
  }
  return null
}
