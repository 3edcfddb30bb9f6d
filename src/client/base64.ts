/** Standard base64 of the UTF-8 bytes of a text. */
export function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

/** The text behind standard base64; null when it is none, or not UTF-8. */
export function fromBase64(text: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
