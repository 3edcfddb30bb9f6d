/** Encodings of XML documents: by byte order mark, by the first two bytes, or by declaration (XML 1.0, appendix F). */

const DECLARATION =
  /^\uFEFF?<\?xml[ \t\r\n][^>]{0,200}?(?=[ \t\r\n])([ \t\r\n]{1,20}encoding[ \t\r\n]{0,20}=[ \t\r\n]{0,20}["']([A-Za-z0-9._-]{1,40})["'])/

/** The encoding that a declaration names, unless that is UTF-8; null without one. */
export function declaredEncoding(head: string): string | null {
  const name = DECLARATION.exec(head.slice(0, 512))?.[2] ?? null
  return name === null || /^utf-?8$/i.test(name) ? null : name
}

/**
 * Replaces the encoding of a declaration by blanks: text is already decoded, and what carried it states its encoding (RFC 7303, 3). Lines
 * and columns stay.
 */
export function withoutEncoding(text: string): string {
  const found = DECLARATION.exec(text.slice(0, 512))
  const declared = found?.[1]
  if (found === null || declared === undefined) return text
  const end = found.index + found[0].length
  return text.slice(0, end - declared.length) + declared.replace(/[^\t\r\n]/g, ' ') + text.slice(end)
}

/** A decoder for a document that begins with these bytes; null for UTF-8, and the name of an encoding that is not known. */
export function documentDecoder(head: Uint8Array): TextDecoder | string | null {
  const [first = 0, second = 0] = head
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return new TextDecoder('utf-16le')
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return new TextDecoder('utf-16be')
  const name = declaredEncoding(new TextDecoder('latin1').decode(head.subarray(0, 512)))
  if (name === null) return null
  try {
    return new TextDecoder(name)
  } catch {
    return name
  }
}
