/** ISO 7064 MOD 97-10 as the standard words it: letters to two digits, one great number, one division. Apart from the code under test. */
export function bigRemainder97(text: string): number {
  return Number(BigInt(text.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))) % 97n)
}

/** The two check digits that follow `text`. */
export function bigCheck97(text: string): string {
  return String(98 - bigRemainder97(`${text}00`)).padStart(2, '0')
}
