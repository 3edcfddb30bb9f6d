/** What a text consists of, seen in one pass: a sum of the bits below. */

/** Nothing but what every network carries: letters, digits and / - ? : ( ) . , ' + and white space. */
const BASIC = 0
/** A slash, or white space: then an identification is looked at more closely. */
export const SLASH_OR_SPACE = 1
/** A character of extended Latin, or the euro sign that keyboards have. */
export const LATIN = 2
/** A character of another script. */
export const FOREIGN = 4
/** A character of Greek or Cyrillic. */
export const EUROPEAN = 8

const TRAITS = new Uint8Array(128).fill(LATIN)
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-?:().,'+") TRAITS[character.charCodeAt(0)] = BASIC
for (const character of '/ \r\n') TRAITS[character.charCodeAt(0)] = SLASH_OR_SPACE
TRAITS[0x09] = LATIN + SLASH_OR_SPACE

/** End of Latin Extended-B. */
const LATIN_END = 0x24f
const GREEK_START = 0x370
const CYRILLIC_END = 0x4ff
const EURO = 0x20ac

export function traitsOf(text: string): number {
  let traits = BASIC
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 128) traits |= TRAITS[code] ?? 0
    else if (code <= LATIN_END || code === EURO) traits |= LATIN
    else traits |= code >= GREEK_START && code <= CYRILLIC_END ? EUROPEAN : FOREIGN
  }
  return traits
}
