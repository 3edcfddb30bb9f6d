import { shownText } from '../shown-text.ts'
import { XmlReader, type XmlAttribute, type XmlFault, type XmlHandler, type XmlName } from '../../xml/reader.ts'
import type { Findings } from './findings.ts'
import { formatOf, messageName } from './formats.ts'

export type MessageKind = 'pain.001' | 'pacs.008' | 'camt.053'

/** A place in a message. `slot` numbers what is told; -1 for what only leads there. */
interface Place {
  readonly children: Map<string, Place>
  slot: number
  /** Whether it holds other places that are told. */
  group: boolean
}

/** What is told of a message: groups as they begin and end, and texts of leaves with their currency. Slots are those of the paths. */
export interface Told {
  enter(slot: number): void
  leave(slot: number): void
  text(slot: number, text: string, currency: string | null): void
}

/** Paths below `Document`, with their slots. A path that others continue is a group. */
export function compilePaths(paths: Readonly<Record<string, number>>): Place {
  const root: Place = { children: new Map(), slot: -1, group: true }
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

/** The kind of message that a namespace stands for, the local variants of countries included. */
function kindOf(namespace: string): MessageKind | null {
  const found = /(?:^|[:/])(pain\.001|pacs\.008|camt\.053)\.[0-9]/.exec(namespace)?.[1]
  return found === 'pain.001' || found === 'pacs.008' || found === 'camt.053' ? found : null
}

/** Characters of a file by which its format is told. */
const HEAD_CHARS = 4_096

function beginning(chunk: string | Uint8Array): string {
  if (typeof chunk === 'string') return chunk.slice(0, HEAD_CHARS)
  return String.fromCharCode(...chunk.subarray(0, HEAD_CHARS)).replace(/^\u00ef\u00bb\u00bf/, '')
}

const OUTSIDE: Place = { children: new Map(), slot: -1, group: false }

/**
 * Follows the paths of one kind of message through a document, bare or inside an envelope. What the paths do not name is passed over
 * without being looked at.
 */
export class MessageReader implements XmlHandler {
  private readonly reader: XmlReader
  private readonly root: Place
  private readonly wanted: MessageKind
  private readonly told: Told
  private readonly findings: Findings
  private readonly file: number
  private readonly places: Place[] = []
  private place = OUTSIDE
  private namespace = ''
  private currency: string | null = null
  private skipped = 0
  private documents = 0
  /** How the file begins, until its format is plain. */
  private head: string | null = ''
  /** The first element, where it is no message that is read here. */
  private outer: XmlName | null = null

  constructor(wanted: MessageKind, root: Place, told: Told, findings: Findings, file: number) {
    this.wanted = wanted
    this.root = root
    this.told = told
    this.findings = findings
    this.file = file
    this.reader = new XmlReader(this)
  }

  get line(): number {
    return this.reader.line
  }

  /** False when nothing more of the file can be read. */
  write(chunk: string | Uint8Array): boolean {
    if (this.head !== null && this.head.length < HEAD_CHARS) this.head += beginning(chunk)
    return this.check(this.reader.write(chunk))
  }

  /** True when all was read and there was a message of the kind that is wanted. */
  end(): boolean {
    if (!this.check(this.reader.end())) return false
    if (this.documents === 0) this.findings.add('MESSAGE_MISSING', this.file, null, this.outerName())
    return this.namespace !== ''
  }

  private check(fault: XmlFault | null): boolean {
    if (fault === null) return true
    const format = this.head === null ? null : formatOf(this.head)
    if (format !== null) {
      this.findings.add('FORMAT_OTHER', this.file, fault.line, format)
      return false
    }
    this.findings.put({ code: fault.code, severity: 'error', file: this.file, line: fault.line, message: fault.message })
    return false
  }

  /** The first element by the name of its message, else by its own. */
  private outerName(): string | null {
    if (this.outer === null) return null
    return messageName(this.outer.namespace) ?? `<${shownText(this.outer.local)}>, which names no ISO 20022 message in its xmlns`
  }

  open({ local, namespace }: XmlName, attributes: readonly XmlAttribute[]): void {
    this.head = null
    this.outer ??= { local, namespace }
    if (this.skipped > 0) {
      this.skipped++
      return
    }
    const next = this.place === OUTSIDE ? this.outside(local, namespace) : this.place.children.get(local)
    if (next === undefined || (next !== OUTSIDE && namespace !== this.namespace)) {
      this.skipped = 1
      return
    }
    this.places.push(this.place)
    this.place = next
    if (next.slot === -1) return
    if (next.group) this.told.enter(next.slot)
    else this.currency = attributes.length === 0 ? null : (attributes.find((one) => one.local === 'Ccy')?.value ?? null)
  }

  close(text: string | null): void {
    if (this.skipped > 0) {
      this.skipped--
      return
    }
    const { slot, group } = this.place
    if (slot !== -1) {
      if (!group && text !== null) this.told.text(slot, text, this.currency)
      if (group) {
        // Some elements are a code in one version of the message and hold one in another.
        if (text !== null && text !== '') this.told.text(slot, text, null)
        this.told.leave(slot)
      }
    }
    this.place = this.places.pop() ?? OUTSIDE
  }

  aside(kind: 'instruction' | 'comment'): void {
    if (kind === 'comment' && this.skipped === 0 && this.place.slot !== -1) this.findings.add('VALUE_SPLIT', this.file, this.line)
  }

  /** `Document` is found by its namespace, inside whatever envelope. */
  private outside(local: string, namespace: string): Place {
    const name = local === 'Document' ? messageName(namespace) : null
    if (name === null) return OUTSIDE
    this.documents++
    if (kindOf(namespace) !== this.wanted) {
      this.findings.add('MESSAGE_OTHER', this.file, this.line, `${name}, where a ${this.wanted} is expected`)
      return OUTSIDE
    }
    this.namespace = namespace
    return this.root
  }
}
