const SHOWN_CHARS = 64
const PLAIN = /^[ -~]{0,64}$/

/** Text of a stranger as it may stand in an answer: what could drive a terminal or turn the order of reading is taken out. */
export function shownText(text: string | null): string | null {
  if (text === null || PLAIN.test(text)) return text
  return text.slice(0, SHOWN_CHARS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
}
