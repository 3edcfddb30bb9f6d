import { remainder97 } from '../checks/mod97.ts'

/** ISO 11649:2009: RF, two check digits, at most 21 letters and digits; the check is ISO 7064 MOD 97-10 with the first four moved to the end. */
const REFERENCE = /^RF[0-9]{2}[0-9A-Z]{1,21}$/
const HEAD_CHARS = 4
const BODY_CHARS = 21
/** What is read of the remittance of one entry; banks pass on 140 characters, or a few lines of them. */
const TEXT_CHARS = 10_000

/** The reference in its one spelling, or null for what is none: wrong form, or check digits that do not hold. Spaces and small letters are tolerated. */
export function readCreditorReference(text: string): string | null {
  if (text.length > TEXT_CHARS) return null
  const folded = fold(text)
  return REFERENCE.test(folded) && holds(folded) ? folded : null
}

/**
 * Every reference of full length inside free text, each once, with whatever spaces the payer or a bank put into it. Only references of 25
 * characters are looked for, as invoices have them: a shorter one could not be told from the words behind it.
 */
export function creditorReferencesIn(lines: readonly string[]): string[] {
  const text = fold(lines.join('').slice(0, TEXT_CHARS))
  const found = new Set<string>()
  for (let at = text.indexOf('RF'); at !== -1; at = text.indexOf('RF', at + 1)) {
    const candidate = text.slice(at, at + HEAD_CHARS + BODY_CHARS)
    if (candidate.length === HEAD_CHARS + BODY_CHARS && REFERENCE.test(candidate) && holds(candidate)) found.add(candidate)
  }
  return [...found]
}

function fold(text: string): string {
  return text.replace(/\s+/gu, '').replace(/[a-z]/g, (letter) => letter.toUpperCase())
}

function holds(reference: string): boolean {
  const moved = reference.slice(HEAD_CHARS) + reference.slice(0, HEAD_CHARS)
  const values = Uint8Array.from(moved, (character) => Number.parseInt(character, 36))
  return remainder97(values, 0, values.length) === 1
}
