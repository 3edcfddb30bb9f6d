import type { SpecReference } from '../rule.ts'

/** A heading of the specification of 1.0, whose objects are those of its protocol buffers. */
export function a2aSpec(section: string): SpecReference {
  return { url: 'https://a2a-protocol.org/latest/specification/', section }
}

/** A heading of the last version before 1.0. */
export function oldSpec(section: string): SpecReference {
  return { url: 'https://a2a-protocol.org/v0.3.0/specification/', section }
}

export function rfc(number: number, section: string): SpecReference {
  return { url: `https://www.rfc-editor.org/rfc/rfc${number}`, section }
}
