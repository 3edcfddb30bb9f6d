/** What the RFC's check digit counts, in the order of SAT's table (Anexo 20): the place in this text is the value of a character. */
export const RFC_ALPHABET = '0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ'
export const RFC_SPACE = 37

/** What `readRfc` returns when a character other than those of an RFC, spaces and hyphens occurs. */
export const NOT_PLAIN = -1

const WIDEST = 0xf1
const SKIPPED = 0xfe
const FOREIGN = 0xff

/** The value of each character up to ñ; small letters count as capitals. */
const VALUES = new Uint8Array(WIDEST + 1).fill(FOREIGN)
Array.from(RFC_ALPHABET).forEach((letter, value) => {
  for (const form of [letter, letter.toLowerCase()]) VALUES[form.charCodeAt(0)] = value
})
for (const separator of ' -\t\n\v\f\r') VALUES[separator.charCodeAt(0)] = SKIPPED

/** Fills `into` with the values of `text`, skipping spaces and hyphens, and returns how many there are, also when they do not fit. */
export function readRfc(text: string, into: Uint8Array): number {
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const value = code > WIDEST ? FOREIGN : (VALUES[code] ?? FOREIGN)
    if (value === FOREIGN) return NOT_PLAIN
    if (value !== SKIPPED) into[length++] = value
  }
  return length
}

/**
 * Four letters that SAT never lets stand at the head of a person's RFC; it puts X for the last one (Instructivo para la formación de
 * la clave del RFC, annex IV).
 */
const INCONVENIENT =
  'BUEI BUEY CACA CACO CAGA CAGO CAKA CAKO COGE COJA COJE COJI COJO CULO FETO GUEY JOTO KACA KACO KAGA KAGO KAKA KOGE KOJO KULO ' +
  'MAME MAMO MEAR MEAS MEON MION MOCO MULA PEDA PEDO PENE PUTA PUTO QULO RATA RUIN'

const STEMS = new Set(
  INCONVENIENT.split(' ').map((word) => Array.from(word).reduce((sum, letter) => sum * 64 + RFC_ALPHABET.indexOf(letter), 0)),
)

/** Whether the first four values spell such a word. */
export function isInconvenient(read: Uint8Array): boolean {
  return STEMS.has((((read[0] ?? 0) * 64 + (read[1] ?? 0)) * 64 + (read[2] ?? 0)) * 64 + (read[3] ?? 0))
}
