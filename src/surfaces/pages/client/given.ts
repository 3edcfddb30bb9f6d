import { decodeUtf8, readStrictJson } from '../../../pure/documents/strict-json.ts'
import { limits } from '../../../service/limits.ts'
import { isMembers } from './shapes.ts'

/** What somebody gave to be verified: a receipt, and with it whatever of its answer came along. */
export interface Given {
  receipt: unknown
  /** Only in a whole answer. */
  result?: unknown
  chain?: unknown
}

const BOUNDS = { depth: limits.json_depth, nodes: limits.json_nodes }

/** Reads a receipt, `{receipt}`, a whole answer, or an address with `#r=`, as badges carry it. Null when the text is none of them. */
export function readGiven(text: string): Given | null {
  // An answer holds the link of its badge too, but says more.
  const inLink = text.trimStart().startsWith('{') ? undefined : /#r=([\w-]+)/.exec(text)?.[1]
  const json = inLink === undefined ? text : base64UrlText(inLink)
  if (json === null) return null
  // Strictly, so that nobody can show a receipt that reads otherwise elsewhere.
  const read = readStrictJson(json.trim(), BOUNDS, { unsafe_numbers: 'keep_text' })
  if (!read.ok || !isMembers(read.value)) return null
  const { value } = read
  if (!Object.hasOwn(value, 'receipt')) return { receipt: value }
  const { receipt, result, chain } = value
  return { receipt, ...(result === undefined ? {} : { result }), ...(chain === undefined || chain === null ? {} : { chain }) }
}

/** Text behind base64url; null when it is none. */
function base64UrlText(text: string): string | null {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return decodeUtf8(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
  } catch {
    // atob throws for lengths that base64 never has.
    return null
  }
}
