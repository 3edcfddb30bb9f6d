/** Base64url without padding (RFC 4648, 5). */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const DIGITS: ReadonlyMap<string, number> = new Map(ALPHABET.split('').map((character, value) => [character, value]))

/** Text of bytes. */
export function toBase64Url(bytes: Uint8Array): string {
  let [text, bits, held] = ['', 0, 0]
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xffff
    held += 8
    while (held >= 6) text += ALPHABET.charAt((bits >> (held -= 6)) & 63)
  }
  return held === 0 ? text : text + ALPHABET.charAt((bits << (6 - held)) & 63)
}

/** Bytes of a text; null for another character, and for a length that no bytes have. Unused bits are ignored. */
export function bytesOfBase64Url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let [bits, held, length] = [0, 0, 0]
  for (const character of text) {
    const digit = DIGITS.get(character)
    if (digit === undefined) return null
    bits = ((bits << 6) | digit) & 0xffff
    held += 6
    if (held < 8) continue
    held -= 8
    bytes[length++] = (bits >> held) & 0xff
  }
  return bytes
}

/** The same, and null for unused bits that are not zero: each byte string has exactly one text. */
export function readBase64Url(text: string): Uint8Array | null {
  const bytes = bytesOfBase64Url(text)
  return bytes !== null && toBase64Url(bytes) === text ? bytes : null
}
