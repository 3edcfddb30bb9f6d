import { printableText, parseAmount } from './values.ts'
import type { XmlFault } from '../xml/parser.ts'
import { XmlReader, type XmlAttribute, type XmlHandler, type XmlName } from '../xml/reader.ts'
import type { ReadFindings, ReadCode } from './records.ts'

export type ReadMessageKind = 'pain.001' | 'pacs.008' | 'camt.053' | 'camt.054'

/** Node of the path tree. `slot` is the number of a reported element; -1 for one that only leads to others. */
interface PathNode {
  readonly children: Map<string, PathNode>
  slot: number
  /** It has reported elements below it. */
  group: boolean
}

/** Receives the start and end of groups, and the texts of leaves with their currency, by slot. */
export interface MessageHandler {
  enter(slot: number): void
  leave(slot: number): void
  text(slot: number, text: string, currency: string | null): void
}

/** Compiles paths below `Document` to slots. A path that others continue is a group. */
export function compilePaths(paths: Readonly<Record<string, number>>): PathNode {
  const root: PathNode = { children: new Map(), slot: -1, group: true }
  for (const [path, slot] of Object.entries(paths)) {
    let place = root
    for (const local of path.split('/')) {
      let next = place.children.get(local)
      if (next === undefined) place.children.set(local, (next = { children: new Map(), slot: -1, group: false }))
      place.group = true
      place = next
    }
    place.slot = slot
  }
  return root
}

const READ_MESSAGES: readonly ReadMessageKind[] = ['pain.001', 'pacs.008', 'camt.053', 'camt.054']

/** Message kind of a namespace, national variants included. */
function messageKind(namespace: string): ReadMessageKind | null {
  const found = /(?:^|[:/])(pain\.001|pacs\.008|camt\.05[34])\.[0-9]/.exec(namespace)?.[1]
  return READ_MESSAGES.find((kind) => kind === found) ?? null
}

/** Characters that suffice to detect the format. */
const HEAD_CHARS = 4_096

function chunkHead(chunk: string | Uint8Array): string {
  if (typeof chunk === 'string') return chunk.slice(0, HEAD_CHARS)
  return String.fromCharCode(...chunk.subarray(0, HEAD_CHARS)).replace(/^\u00ef\u00bb\u00bf/, '')
}

const OUTSIDE_DOCUMENT: PathNode = { children: new Map(), slot: -1, group: false }

/** Follows the paths of one kind of message through a document, bare or inside an envelope. Other elements are skipped. */
export class MessageReader implements XmlHandler {
  private readonly reader: XmlReader
  private readonly root: PathNode
  private readonly expected: ReadMessageKind
  private readonly handler: MessageHandler
  private readonly findings: ReadFindings
  private readonly file: number
  private readonly places: PathNode[] = []
  private place = OUTSIDE_DOCUMENT
  private namespace = ''
  private currency: string | null = null
  private skipped = 0
  private documents = 0
  /** Start of the file, until the format is clear. */
  private head: string | null = ''
  /** First element, for the finding if it is not the expected message. */
  private outer: XmlName | null = null

  constructor(expected: ReadMessageKind, root: PathNode, handler: MessageHandler, findings: ReadFindings, file: number) {
    this.expected = expected
    this.root = root
    this.handler = handler
    this.findings = findings
    this.file = file
    this.reader = new XmlReader(this)
  }

  get line(): number {
    return this.reader.line
  }

  /** Returns false if the rest of the file cannot be read. */
  write(chunk: string | Uint8Array): boolean {
    if (this.head !== null && this.head.length < HEAD_CHARS) this.head += chunkHead(chunk)
    return this.check(this.reader.write(chunk))
  }

  /** Returns true if everything was read and contained a message of the expected kind. */
  end(): boolean {
    if (!this.check(this.reader.end())) return false
    if (this.documents === 0) this.findings.add('MESSAGE_MISSING', this.file, null, this.outerName())
    return this.namespace !== ''
  }

  private check(fault: XmlFault | null): boolean {
    if (fault === null) return true
    const format = this.head === null ? null : detectFormat(this.head)
    if (format !== null) {
      this.findings.add('FORMAT_OTHER', this.file, fault.line, format)
      return false
    }
    this.findings.put({ code: fault.code, severity: 'error', file: this.file, line: fault.line, message: fault.message })
    return false
  }

  /** Name of the first element's message, otherwise its own name. */
  private outerName(): string | null {
    if (this.outer === null) return null
    return messageName(this.outer.namespace) ?? `<${printableText(this.outer.local)}>, which names no ISO 20022 message in its xmlns`
  }

  open({ local, namespace }: XmlName, attributes: readonly XmlAttribute[]): void {
    this.head = null
    this.outer ??= { local, namespace }
    if (this.skipped > 0) {
      this.skipped++
      return
    }
    const next = this.place === OUTSIDE_DOCUMENT ? this.outside(local, namespace) : this.place.children.get(local)
    if (next === undefined || (next !== OUTSIDE_DOCUMENT && namespace !== this.namespace)) {
      this.skipped = 1
      return
    }
    this.places.push(this.place)
    this.place = next
    if (next.slot === -1) return
    if (next.group) this.handler.enter(next.slot)
    else this.currency = attributes.length === 0 ? null : (attributes.find((one) => one.local === 'Ccy')?.value ?? null)
  }

  close(text: string | null): void {
    if (this.skipped > 0) {
      this.skipped--
      return
    }
    const { slot, group } = this.place
    if (slot !== -1) {
      if (!group && text !== null) this.handler.text(slot, text, this.currency)
      if (group) {
        // Some elements are a code in one version of the message and contain one in another.
        if (text !== null && text !== '') this.handler.text(slot, text, null)
        this.handler.leave(slot)
      }
    }
    this.place = this.places.pop() ?? OUTSIDE_DOCUMENT
  }

  aside(kind: 'instruction' | 'comment'): void {
    if (kind === 'comment' && this.skipped === 0 && this.place.slot !== -1) this.findings.add('VALUE_SPLIT', this.file, this.line)
  }

  /** Finds `Document` by its namespace, inside any envelope. */
  private outside(local: string, namespace: string): PathNode {
    const name = local === 'Document' ? messageName(namespace) : null
    if (name === null) return OUTSIDE_DOCUMENT
    this.documents++
    if (messageKind(namespace) !== this.expected) {
      this.findings.add('MESSAGE_OTHER', this.file, this.line, `${name}, where a ${this.expected} is expected`)
      return OUTSIDE_DOCUMENT
    }
    this.namespace = namespace
    return this.root
  }
}

/** Values of a message by slot. Entering a group clears its slots. */
export class SlotValues {
  private readonly texts: (string | null)[]
  private readonly currencies: (string | null)[]
  private readonly lines: Int32Array

  constructor(size: number) {
    this.texts = Array.from({ length: size }, () => null)
    this.currencies = Array.from({ length: size }, () => null)
    this.lines = new Int32Array(size)
  }

  get(slot: number): string | null {
    return this.texts[slot] ?? null
  }

  currency(slot: number): string | null {
    return this.currencies[slot] ?? null
  }

  /** Line on which the value ended. */
  line(slot: number): number {
    return this.lines[slot] ?? 0
  }

  /** Returns false if there is a value already. */
  set(slot: number, text: string, currency: string | null, line: number): boolean {
    if (this.texts[slot] !== null) return false
    this.texts[slot] = text
    this.currencies[slot] = currency
    this.lines[slot] = line
    return true
  }

  /** Clears the slots from `first` up to, not including, `last`. */
  clear(first: number, last: number): void {
    this.texts.fill(null, first, last)
  }
}

export interface SlotAmount {
  currency: string
  amount_minor: bigint
}

const AMOUNT_FAULT_CODES = {
  lexical: 'AMOUNT_UNREADABLE',
  fraction: 'AMOUNT_FRACTION',
  range: 'AMOUNT_RANGE',
} as const satisfies Record<string, ReadCode>

/** Reads the amount in a slot; null if the slot is empty, or if the amount is invalid, which is then a finding. */
export function readSlotAmount(slots: SlotValues, slot: number, findings: ReadFindings, file: number): SlotAmount | null {
  const text = slots.get(slot)
  if (text === null) return null
  const currency = slots.currency(slot)
  if (currency === null || currency === '') {
    findings.add('AMOUNT_MISSING', file, slots.line(slot))
    return null
  }
  const read = parseAmount(text, currency)
  if (read.ok) return { currency, amount_minor: read.amount_minor }
  findings.add(
    AMOUNT_FAULT_CODES[read.fault],
    file,
    slots.line(slot),
    `${JSON.stringify(printableText(text.slice(0, 64)))} ${printableText(currency.slice(0, 8))}`,
  )
  return null
}

/** Formats with a binary signature, as Latin-1 or with replacement characters. */
const SIGNATURES: readonly (readonly [name: string, ...begins: string[]])[] = [
  ['a ZIP archive (an .xlsx workbook is one too); unpack it or export another format', 'PK\u0003\u0004'],
  ['a gzip archive; unpack it', '\u001f\u008b', '\u001f\ufffd'],
  ['an .xls workbook', '\u00d0\u00cf\u0011\u00e0', '\ufffd\ufffd\u0011\ufffd'],
  ['a PDF', '%PDF-'],
]

/** Unsupported formats of bank files, so that the error can name them. */
const FORMAT_BEGINNINGS: readonly (readonly [name: string, begins: RegExp])[] = [
  ['an MT940 or MT942 statement (SWIFT)', /^\s*(?:\{1:F01|:20:|:25:)/],
  ['a BAI2 report', /^\s*01,[^,\n]{0,40},[^,\n]{0,40},[0-9]{6},/],
  ['an OFX or QFX file', /^\s*(?:OFXHEADER:|<\?OFX|(?:<\?xml[^>]{0,200}\?>\s*)?<OFX>)/i],
  ['a QIF file', /^\s*!(?:Type|Account|Option):/i],
  ['an ACH file (Nacha)', /^\s{0,4}101[ 0-9]/],
  ['EDIFACT', /^\s*UN[AB][+:]/],
  ['an HTML page', /^\s*<(?:!doctype\s+html|html)[\s>]/i],
  ['JSON', /^\s*[[{]\s*["[{\]}]/],
]

/** Columns: two lines with the same number of the same separator. */
const SEPARATORS = [';', '\t', ',', '|'] as const

/** Detects an unsupported format from the start of a file; null for XML and unknown formats. */
export function detectFormat(head: string): string | null {
  const text = head.slice(0, HEAD_CHARS).replace(/^\ufeff/, '')
  const signed = SIGNATURES.find(([, ...begins]) => begins.some((one) => text.startsWith(one)))
  const found = signed ?? FORMAT_BEGINNINGS.find(([, begins]) => begins.test(text))
  if (found !== undefined) return found[0]
  if (/^\s*</.test(text)) return null
  const [first = '', second = ''] = text.split(/\r?\n/, 2)
  const columns = SEPARATORS.some((separator) => {
    const count = first.split(separator).length
    return count > 2 && second.split(separator).length === count
  })
  return columns ? 'text in columns (CSV)' : null
}

/** ISO 20022 message name in a namespace, such as `camt.054.001.08`; null for other namespaces. */
export function messageName(namespace: string): string | null {
  return /(?:^|[:/])([a-z]{4}\.[0-9]{3}(?:\.[0-9]{3}\.[0-9]{2})?)/.exec(namespace)?.[1] ?? null
}
