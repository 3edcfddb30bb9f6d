import { claimsBundle, readBundle, type AuditBundle } from '../../../../pure/audit/bundle.ts'
import { decodeUtf8, readStrictJson } from '../../../../pure/documents/strict-json.ts'
import type { StrictJson } from '../../../../pure/documents/strict-json-scan.ts'
import { isObject } from '../../../../pure/is-object.ts'
import { linkIn, resultIn } from '../../../../pure/receipts/chain.ts'
import { decodeReceipt, looksCompact } from '../../../../pure/receipts/compact.ts'
import { claimsPolicy } from '../../../../pure/rulebooks/pol1.ts'
import { limits } from '../../../../service/limits.ts'

/** A receipt, with the result and the link of its answer if they were given too. */
export interface ReceiptInput {
  receipt: unknown
  result?: unknown
  chain?: unknown
}

/** One document to verify. `source` is its file, line or number; empty for a single pasted document. `policy` is a certificate POL-1. */
export type GivenDocument = { source: string } & (
  | { kind: 'bundle'; bundle: AuditBundle }
  | { kind: 'receipt'; input: ReceiptInput }
  | { kind: 'policy'; policy: unknown }
  | { kind: 'unreadable'; reason: string }
)

const BOUNDS = { depth: limits.json_depth, nodes: limits.document_nodes }

/**
 * Reads every document in a text: one JSON document, an audit bundle, an array, JSON lines, compact receipts, one per line, or addresses with `#r=` as badges
 * have them. Reads strictly, so that no document has a second meaning in another reader.
 */
export function readDocuments(text: string, file: string): GivenDocument[] {
  const trimmed = text.trim()
  if (trimmed === '') return [{ kind: 'unreadable', source: file, reason: 'There is nothing to verify: paste a receipt or choose a file.' }]
  const sourceAt = (position: string) => [file, position].filter((part) => part !== '').join(', ')
  // An answer contains the link of its badge too, but has more to verify; a single bracket may be Markdown.
  const links = /^(?:\{|\[\s*[{\]])/.test(trimmed) ? [] : linksIn(trimmed)
  if (links.length > 0) return links.map((link, index) => linkedDocument(link, sourceAt(links.length === 1 ? '' : `link ${index + 1}`)))
  const read = readJson(trimmed)
  if (!read.ok) return readLines(trimmed, sourceAt) ?? [{ kind: 'unreadable', source: sourceAt(`line ${read.line}`), reason: read.message }]
  if (claimsBundle(read.value)) return bundleDocuments(read.value, sourceAt)
  if (!Array.isArray(read.value)) return [documentOf(read.value, file)]
  return read.value.map((value: unknown, index) => documentOf(value, sourceAt(`number ${index + 1}`)))
}

/** Receipts of the addresses in a text, or of a text that consists of compact receipts. */
function linksIn(text: string): string[] {
  const lines = text.split(/\s+/)
  return lines.every(looksCompact) ? lines : [...text.matchAll(/#r=([\w-]+)/g)].map(([, link = '']) => link)
}

/** An audit bundle, then each of its answers, so that their links are drawn. */
function bundleDocuments(value: unknown, sourceAt: (position: string) => string): GivenDocument[] {
  const read = readBundle(value)
  if (!read.ok) return [{ kind: 'unreadable', source: sourceAt(`bundle, ${read.pointer}`), reason: read.reason }]
  const answers = read.bundle.answers.map(({ answer }, index) => documentOf(answer, sourceAt(`answer ${index + 1}`)))
  return [{ kind: 'bundle', source: sourceAt('audit bundle'), bundle: read.bundle }, ...answers]
}

function readJson(text: string): StrictJson {
  return readStrictJson(text, BOUNDS, { unsafe_numbers: 'keep_text' })
}

/** Reads JSON lines; null if the first line is not a JSON document. */
function readLines(text: string, sourceAt: (position: string) => string): GivenDocument[] | null {
  const lines = text.split(/\r?\n/)
  if (lines.length < 2 || !readJson(lines[0] ?? '').ok) return null
  return lines.flatMap((line, index): GivenDocument[] => {
    if (line.trim() === '') return []
    const source = sourceAt(`line ${index + 1}`)
    const read = readJson(line)
    return [read.ok ? documentOf(read.value, source) : { kind: 'unreadable', source, reason: read.message }]
  })
}

function linkedDocument(link: string, source: string): GivenDocument {
  if (looksCompact(link)) {
    const compact = decodeReceipt(link)
    if (compact.ok) return { kind: 'receipt', source, input: { receipt: compact.receipt } }
    return { kind: 'unreadable', source, reason: compact.message }
  }
  const json = decodeBase64Url(link)
  const read = json === null ? null : readJson(json)
  if (read?.ok === true) return documentOf(read.value, source)
  return { kind: 'unreadable', source, reason: 'The link does not contain a readable receipt. Copy the whole link, to its last character.' }
}

function documentOf(value: unknown, source: string): GivenDocument {
  if (!isObject(value)) return { kind: 'unreadable', source, reason: 'This JSON is neither a receipt nor an answer with a receipt.' }
  const policy = [value, value['certificate']].find(claimsPolicy)
  if (policy !== undefined) return { kind: 'policy', source, policy }
  if (!Object.hasOwn(value, 'receipt')) return { kind: 'receipt', source, input: { receipt: value } }
  const [result, chain] = [resultIn(value), linkIn(value)]
  const input = { receipt: value['receipt'], ...(result === undefined ? {} : { result }), ...(chain === undefined ? {} : { chain }) }
  return { kind: 'receipt', source, input }
}

function decodeBase64Url(text: string): string | null {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return decodeUtf8(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
  } catch {
    // atob throws for impossible lengths.
    return null
  }
}
