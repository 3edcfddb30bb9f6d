import { detectFormat, messageName, READ_MESSAGES } from './message-reader.ts'

/** Formats that are read, by the side on which a file counts. A status message counts on both. */
export const DOCUMENT_SIDES = {
  'pain.001': 'instructions',
  'pain.008': 'instructions',
  'pacs.008': 'instructions',
  'pacs.003': 'instructions',
  mt101: 'instructions',
  mt103: 'instructions',
  ach: 'instructions',
  'camt.052': 'statement',
  'camt.053': 'statement',
  'camt.054': 'statement',
  nacha: 'statement',
  mt940: 'statement',
  mt942: 'statement',
  bai2: 'statement',
  ofx: 'statement',
  csv: 'statement',
  'pain.002': 'status',
  'pacs.002': 'status',
  'pain.007': 'status',
  'pacs.004': 'status',
} as const

export type DocumentKind = keyof typeof DOCUMENT_SIDES
export type DocumentSide = 'instructions' | 'statement'

/** Sentences that name what is read on each side. */
export const READ_FORMATS: Readonly<Record<DocumentSide, string>> = {
  instructions: 'pain.001, pain.008, pacs.008, pacs.003, MT101, MT103 or an ACH file',
  statement: 'camt.052, camt.053, camt.054, MT940, MT942, BAI2, OFX, CSV or an ACH file',
}

const TEXT_KINDS: readonly (readonly [named: RegExp, kind: DocumentKind])[] = [
  [/^an MT103/, 'mt103'],
  [/^an MT101/, 'mt101'],
  [/^an MT940/, 'mt940'],
  [/^an MT942/, 'mt942'],
  [/^a BAI2/, 'bai2'],
  [/^an OFX/, 'ofx'],
  [/^an ACH/, 'nacha'],
  [/\(CSV\)$/, 'csv'],
]

/** Bytes that suffice to detect the format. */
export const HEAD_BYTES = 65_536

/** Start of a file as text, from its bytes. */
export function headText(head: string | Uint8Array): string {
  if (typeof head === 'string') return head.slice(0, HEAD_BYTES)
  const bytes = head.subarray(0, HEAD_BYTES)
  const [first = 0, second = 0] = bytes
  const wide = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0 && bytes.length > 1)
  const wide_big = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0)
  return new TextDecoder(wide ? 'utf-16le' : wide_big ? 'utf-16be' : 'latin1').decode(bytes).replace(/^(?:\uFEFF|\u00EF\u00BB\u00BF)/, '')
}

/** Detects the format of a file from its start; null if it is none that is read. */
export function detectKind(head: string): DocumentKind | null {
  if (/^\s*</.test(head)) {
    const named = /xmlns(?::[\w.-]+)?\s*=\s*["'][^"']*?((?:pain|pacs|camt)\.[0-9]{3})\.[0-9]/.exec(head)?.[1]
    const found = READ_MESSAGES.find((kind) => kind === named)
    if (found !== undefined) return found
    // A wrapper may name other namespaces first.
    const message = [...head.matchAll(/((?:pain|pacs|camt)\.[0-9]{3})\.[0-9]{3}\.[0-9]{2}/g)].map(([, kind]) => kind)
    const read = READ_MESSAGES.find((kind) => message.includes(kind))
    if (read !== undefined) return read
  }
  const format = detectFormat(head)
  return format === null ? null : (TEXT_KINDS.find(([named]) => named.test(format))?.[1] ?? null)
}

export interface GivenDocument {
  /** Side on which the file was given. */
  side: DocumentSide
  head: string
  /** Kind for a file whose format is not recognized: its reader says what is wrong. */
  otherwise: DocumentKind
}

export interface ResolvedDocument {
  kind: DocumentKind
  /** Given on the other side. */
  swapped: boolean
}

/**
 * Kinds of all files. A file counts on the side of its format, wherever it was given; an ACH file is an order among payments and shows
 * entries among statements, unless there would be no statement.
 */
export function resolveDocuments(given: readonly GivenDocument[]): ResolvedDocument[] {
  const found = given.map(({ side, head, otherwise }): ResolvedDocument => {
    const kind = detectKind(head)
    if (kind === null) return { kind: otherwise, swapped: false }
    if (kind === 'nacha') return { kind: side === 'instructions' ? 'ach' : 'nacha', swapped: false }
    const own = DOCUMENT_SIDES[kind]
    return { kind, swapped: own !== 'status' && own !== side }
  })
  const has = (side: DocumentSide) => found.some(({ kind }) => DOCUMENT_SIDES[kind] === side)
  const only = (kind: DocumentKind) => found.filter((one) => one.kind === kind)
  if (!has('statement')) for (const one of only('ach')) Object.assign(one, { kind: 'nacha', swapped: true })
  else if (!has('instructions')) for (const one of only('nacha')) Object.assign(one, { kind: 'ach', swapped: true })
  return found
}

/** Name of what a file is, for an error; null if that is unknown. */
export function formatName(head: string): string | null {
  return /^\s*</.test(head) ? (messageName(head) ?? null) : detectFormat(head)
}
