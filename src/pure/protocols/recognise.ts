import { JsonCursor } from './json-cursor.ts'
import { PROTOCOLS } from './registry.ts'
import type { ProtocolId } from './protocol.ts'

/** The protocol to which a document can only belong; null if there is none. */
export function recogniseProtocol(value: unknown): ProtocolId | null {
  const document = JsonCursor.root(value)
  return Object.values(PROTOCOLS).find((protocol) => protocol.recognises(document))?.id ?? null
}
