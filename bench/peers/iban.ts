/** What the peers' tools do: an IBAN in the shortest way, and about as much text as the echo of the `free-call` suite answers. */

const PADDING = '.'.repeat(500)

export function ibanAnswer(given: string) {
  const iban = given.replaceAll(' ', '')
  return { valid: isIban(iban), iban, country: iban.slice(0, 2), findings: [], padding: PADDING }
}

function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$/.test(text)) return false
  let remainder = 0
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}
