/** Bytes as text: hex, and standard base64 with padding (RFC 4648 §4) in the one spelling that each value has. */
export { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'

export function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** Null for text that no encoder writes: other alphabets, missing padding, stray bits at the end. */
export function bytesOfBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return base64Of(bytes) === text ? bytes : null
  } catch {
    // atob throws for a length that base64 never has.
    return null
  }
}
