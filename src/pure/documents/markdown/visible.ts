import type { Attributes } from './tags.ts'

/** An element that its own attributes hide. `html` and `body` never count as hidden: scripts show them once they have loaded. */
export function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes.size === 0) return name === 'dialog'
  if (attributes.has('hidden') || attributes.get('aria-hidden')?.trim().toLowerCase() === 'true') return true
  if (name === 'dialog' && !attributes.has('open')) return true
  const style = attributes.get('style')
  return style !== undefined && HIDING.test(style.replace(/\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g, '').replace(/\s/g, ''))
}

const HIDING =
  /(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|(?:opacity|font-size):0(?:\.0*)?(?:px|pt|r?em|%)?)(?:!important)?(?:;|$)/i

/** Control characters but white space, overrides and isolates of the writing direction, tag characters. */
const INVISIBLE = /[[\p{Cc}--[\t\n\f\r]]\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gv

/** Not one of the UTF-16 units that none of these has: what most texts are held against, being faster. */
const SUSPICIOUS = /[^\t\n\f\r -~\xa0-\u2029\u202f-\u2065\u206a-\udb3f\udb41-\ufefe\uff00-\uffff]/

/** The text without characters that are not seen and serve to hide or disguise, and how many there were. */
export function seen(text: string): { text: string; removed: number } {
  if (!SUSPICIOUS.test(text)) return { text, removed: 0 }
  const found = text.match(INVISIBLE)
  return found === null ? { text, removed: 0 } : { text: text.replace(INVISIBLE, ''), removed: found.length }
}
