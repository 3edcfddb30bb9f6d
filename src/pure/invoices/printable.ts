/**
 * Characters that the PDF of an invoice prints, as ranges of code points: those of DejaVu Sans 2.37 that are written one after the other from left
 * to right (scripts Latin, Greek, Cyrillic, Armenian, Georgian and Common), without marks that combine, control characters and emoji. Scripts that
 * need shaping or another direction (Arabic, Hebrew, Indic scripts, Thai) and those that the font has not (Chinese, Japanese, Korean) are not printed:
 * a wrong shape would be another text. A test holds this table against the font.
 */
const PRINTED =
  '20-7e a0-ac ae-2e9 2ec-2ee 2f3 2f7 370-377 37a-37f 384-38a 38c 38e-3a1 3a3-3e1 3f0-482 48a-525 531-556 559-55f 561-587 ' +
  '589-58a e3f 10a0-10c5 10d0-10fc 1d00-1d14 1d16-1d23 1d26-1d2e 1d30-1d5b 1d5d-1d6a 1d77-1d78 1d7b 1d7d 1d85 1d9b-1dbf ' +
  '1e00-1efb 1f00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fc4 1fc6-1fd3 ' +
  '1fd6-1fdb 1fdd-1fef 1ff2-1ff4 1ff6-1ffe 2000-200a 2010-2029 202f-205f 2070-2071 2074-208e 2090-209c 20a0-20b5 20b8-20ba ' +
  '20bd 2100-2109 210b-2149 214b 214e 2150-2185 2189 2190-2311 2318-2319 231c-2321 2324-2328 232b-232c 2373-2375 237a 237d ' +
  '2387 2394 239b-23ae 23ce-23cf 23e3 23e5 23e8 2422-2423 2460-2469 2500-25fc 25ff-2613 2616-2647 2654-267e 2680-2692 ' +
  '2694-269c 269e-26a0 26a2-26a9 26ac-26b8 26c0-26c3 26e2 2701-2704 2706-2709 270c-2727 2729-274b 274d 274f-2752 2756 ' +
  '2758-275e 2761-2794 2798-27af 27b1-27be 27c5-27c6 27e0 27e6-27eb 27f0-27ff 2906-2907 290a-290b 2940-2941 2983-2984 ' +
  '29ce-29d5 29eb 29fa-29fb 2a00-2a02 2a0c-2a1c 2a2f 2a6a-2a6b 2a7d-2aa0 2aae-2aba 2af9-2afa 2b00-2b1a 2b1f-2b24 2b53-2b54 ' +
  '2c60-2c77 2c79-2c7f 2d00-2d25 2e18 2e1f 2e22-2e25 2e2e 4dc0-4dff a644-a647 a64c-a64d a650-a651 a654-a657 a662-a66e ' +
  'a68a-a68d a694-a695 a698-a699 a708-a716 a71b-a71f a722-a72b a730-a741 a746-a74b a74e-a753 a756-a757 a764-a767 a780-a783 ' +
  'a789-a78e a790-a791 a7a0-a7aa a7f8-a7ff fb00-fb06 fb13-fb17'

const RANGES = PRINTED.split(' ').map((range) => {
  const [from = '', to = from] = range.split('-')
  return { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }
})

/** Characters of one text that the PDF does not print. */
export interface Unprintable {
  field: string
  /** Each once, as the character and its code point: `株 (U+682A)`; at most 20. */
  characters: string[]
}

const LISTED = 20

/** The text as it is printed: letter and accent as one character where Unicode has one (NFC), and any white space as one space. */
export function printedText(text: string): string {
  return text.normalize('NFC').replace(/\s+/gu, ' ')
}

export function isPrinted(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  return RANGES.some(({ from, to }) => code >= from && code <= to)
}

/** Characters of these texts that the PDF cannot print, by field; null when it can print all of them. */
export function unprintable(texts: Readonly<Record<string, string | null>>): Unprintable[] | null {
  const found = Object.entries(texts).flatMap(([field, text]) => {
    const characters = [...new Set(printedText(text ?? ''))].filter((character) => !isPrinted(character)).slice(0, LISTED)
    return characters.length === 0 ? [] : [{ field, characters: characters.map(shown) }]
  })
  return found.length === 0 ? null : found
}

/** An invisible character is shown by its code point alone. */
function shown(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /[\p{M}\p{C}\p{Z}]/u.test(character) ? code : `${character} (${code})`
}
