import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Id of the first A2A task of a context, as a UUID of version 8 (RFC 9562); the context id cannot be derived from it. */
export function firstTaskOf(context_id: string): string {
  const hex = bytesToHex(sha256(utf8ToBytes(`a2a-first-task:${context_id.toLowerCase()}`)))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
