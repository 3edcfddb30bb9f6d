/**
 * Makes untrusted text safe to show: control characters, which could drive the terminal, and characters that reorder text (Unicode UAX #9)
 * are shown as their code points.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}
