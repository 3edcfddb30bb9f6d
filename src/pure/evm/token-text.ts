import { fromHex } from '../receipts/crypto.ts'

/** A name or symbol as a token tells it, made fit to be shown. */
export interface TokenText {
  /** At most 64 characters, in one line, nothing invisible. */
  text: string
  encoding: 'string' | 'bytes32'
  /** Something was taken out, or the text was longer. */
  altered: boolean
}

const WORD_DIGITS = 64
/** More of a text is never decoded. */
const TEXT_BYTES = 1_024
const SHOWN_CHARS = 64
/** Controls, formats (direction, zero width, tags), separators, private, unassigned; fillers that look like nothing; variation selectors. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{VS}\u115f\u1160\u2800\u3164\uffa0]/gu
/** Marks piled upon one letter beyond what any language needs. */
const PILED = /(\p{M}{2})\p{M}+/gu
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads what name() or symbol() returned: an ABI string, or 32 bytes filled up with zeros as tokens before 2018 return them, also with
 * nothing but zeros behind (old clones of Vyper). Null for anything else and for what is not UTF-8. Padding is not insisted on, since
 * deployed tokens leave it out.
 */
export function readTokenText(data: string): TokenText | null {
  const digits = data.slice(2)
  if (digits.length === WORD_DIGITS) return shown(digits.replace(/(?:00)+$/, ''), 'bytes32', false)
  if (digits.length < 2 * WORD_DIGITS) return null
  const offset = smallWord(digits, 0)
  if (offset === null && /^0*$/.test(digits.slice(WORD_DIGITS))) return readTokenText(data.slice(0, 2 + WORD_DIGITS))
  if (offset === null || 2 * offset + WORD_DIGITS > digits.length) return null
  const length = smallWord(digits, 2 * offset)
  const begin = 2 * offset + WORD_DIGITS
  if (length === null || begin + 2 * length > digits.length) return null
  return shown(digits.slice(begin, begin + 2 * Math.min(length, TEXT_BYTES)), 'string', length > TEXT_BYTES)
}

/** A word that fits a small number. */
function smallWord(digits: string, at: number): number | null {
  const word = digits.slice(at, at + WORD_DIGITS)
  return /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word.slice(56), 16) : null
}

function shown(digits: string, encoding: TokenText['encoding'], cut: boolean): TokenText | null {
  const bytes = fromHex(`0x${digits.length % 2 === 0 ? digits : `${digits}0`}`)
  if (bytes === null) return null
  try {
    // A text that was cut may end within a character, which streaming leaves out.
    const whole = cut ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }) : UTF8.decode(bytes)
    const clean = whole.replace(/\s+/gu, ' ').replace(UNSEEN, '').replace(PILED, '$1').replace(/ {2,}/g, ' ').trim()
    const text = Array.from(clean).slice(0, SHOWN_CHARS).join('').trimEnd()
    return { text, encoding, altered: cut || text !== whole }
  } catch {
    return null
  }
}
