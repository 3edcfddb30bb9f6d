import { decodeUtf8, readStrictJson } from '../../../pure/documents/strict-json.ts'
import { linkIn, resultIn } from '../../../pure/receipts/chain.ts'
import { claimsPolicy } from '../../../pure/rulebooks/pol1.ts'
import { limits } from '../../../service/limits.ts'
import { isMembers } from './shapes.ts'

/** What somebody gave to be verified: a receipt, and with it whatever of its answer came along. */
export interface Given {
  receipt: unknown
  /** Only in a whole answer. */
  result?: unknown
  chain?: unknown
}

/** One thing to be judged, and where it stood. `policy` is a certificate POL-1; `unreadable` says why nothing could be read there. */
export type Entry = { place: string } & (
  | { kind: 'receipt'; given: Given }
  | { kind: 'policy'; policy: unknown }
  | { kind: 'unreadable'; reason: string }
)

const BOUNDS = { depth: limits.json_depth, nodes: limits.document_nodes }

/** Reads one receipt, `{receipt}`, a whole answer, or an address with `#r=`. Null when the text is none of them, or holds several. */
export function readGiven(text: string): Given | null {
  const [first, ...more] = readEntries(text, '')
  return first?.kind === 'receipt' && more.length === 0 ? first.given : null
}

/**
 * Reads everything in a text: one document, an array of them, one a line, or addresses with `#r=` as badges carry them. `source` names a
 * file, or is empty. Strictly, so that nobody can show a receipt that reads otherwise elsewhere.
 */
export function readEntries(text: string, source: string): Entry[] {
  const trimmed = text.trim()
  if (trimmed === '') return [{ kind: 'unreadable', place: source, reason: 'There is nothing here to read: give a receipt.' }]
  const named = (place: string) => [source, place].filter((part) => part !== '').join(', ')
  // An answer holds the link of its badge too, but says more; a bracket alone may begin Markdown.
  const links = /^(?:\{|\[\s*[{\]])/.test(trimmed) ? [] : [...trimmed.matchAll(/#r=([\w-]+)/g)].map(([, link = '']) => link)
  if (links.length > 0) return links.map((link, index) => linkEntry(link, named(links.length === 1 ? '' : `link ${index + 1}`)))
  const read = readStrictJson(trimmed, BOUNDS, { unsafe_numbers: 'keep_text' })
  if (!read.ok) return readLines(trimmed, named) ?? [{ kind: 'unreadable', place: named(`line ${read.line}`), reason: read.message }]
  if (!Array.isArray(read.value)) return [entryOf(read.value, source)]
  return read.value.map((value: unknown, index) => entryOf(value, named(`number ${index + 1}`)))
}

/** One document a line; null when the first line alone is none, since then the text is something else. */
function readLines(text: string, named: (place: string) => string): Entry[] | null {
  const lines = text.split(/\r?\n/)
  if (lines.length < 2 || !readStrictJson(lines[0] ?? '', BOUNDS, { unsafe_numbers: 'keep_text' }).ok) return null
  return lines.flatMap((line, index): Entry[] => {
    if (line.trim() === '') return []
    const place = named(`line ${index + 1}`)
    const read = readStrictJson(line, BOUNDS, { unsafe_numbers: 'keep_text' })
    return [read.ok ? entryOf(read.value, place) : { kind: 'unreadable', place, reason: read.message }]
  })
}

function linkEntry(link: string, place: string): Entry {
  const json = base64UrlText(link)
  const read = json === null ? null : readStrictJson(json, BOUNDS, { unsafe_numbers: 'keep_text' })
  return read?.ok === true
    ? entryOf(read.value, place)
    : { kind: 'unreadable', place, reason: 'The link holds no receipt that can be read.' }
}

function entryOf(value: unknown, place: string): Entry {
  if (!isMembers(value)) return { kind: 'unreadable', place, reason: 'This is JSON, but neither a receipt nor an answer.' }
  const policy = claimsPolicy(value) ? value : claimsPolicy(value['certificate']) ? value['certificate'] : null
  if (policy !== null) return { kind: 'policy', place, policy }
  if (!Object.hasOwn(value, 'receipt')) return { kind: 'receipt', place, given: { receipt: value } }
  const { receipt } = value
  const [result, chain] = [resultIn(value), linkIn(value)]
  return {
    kind: 'receipt',
    place,
    given: { receipt, ...(result === undefined ? {} : { result }), ...(chain === undefined ? {} : { chain }) },
  }
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
