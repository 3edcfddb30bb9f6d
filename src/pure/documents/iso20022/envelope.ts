import type { BusinessHeader, MessageDefinition } from './rule-engine.ts'
import { cutText } from '../../cut-text.ts'
import type { XmlAttribute, XmlHandler, XmlName } from '../xml/reader.ts'
import { recognize } from './definitions.ts'
import { Findings } from './findings.ts'
import type { Leaf } from './leaves.ts'
import { Machine } from './machine.ts'
import type { MessageKind, Profile } from './rule.ts'
import { sharedWatchers } from './shared-watchers.ts'
import { isSchemaHint, shownName } from './values.ts'
import { knownVersions } from './versions.ts'

/** Reads the business application header (head.001), as far as rules look at it. Its structure is not checked. */

function emptyHeader(): BusinessHeader {
  return {
    present: false,
    business_service: null,
    message_definition: null,
    message_id: null,
    priority: null,
    copy: false,
    from_bic: null,
    to_bic: null,
  }
}

/** Told of what is inside AppHdr by local names. */
class HeaderReader {
  private readonly header: BusinessHeader
  private readonly path: string[] = []

  constructor(header: BusinessHeader) {
    this.header = header
    header.present = true
  }

  open(local: string): void {
    this.path.push(local)
  }

  /** Whether the header itself is over. */
  close(text: string | null): boolean {
    const [first = '', second = ''] = this.path
    const last = this.path.pop()
    if (last === undefined) return true
    if (text !== null) this.take(first, second, last, text.trim())
    return false
  }

  private take(first: string, second: string, last: string, text: string): void {
    const { header } = this
    // A header may carry related headers inside; only its own elements count.
    if (first === 'Fr' && second === 'FIId' && (last === 'BICFI' || last === 'BIC')) header.from_bic ??= text
    else if (first === 'To' && second === 'FIId' && (last === 'BICFI' || last === 'BIC')) header.to_bic ??= text
    else if (second !== '') return
    else if (last === 'BizSvc') header.business_service ??= text
    else if (last === 'MsgDefIdr') header.message_definition ??= text
    else if (last === 'BizMsgIdr') header.message_id ??= text
    else if (last === 'Prty') header.priority ??= text
    else if (last === 'CpyDplct') header.copy = true
    else if (last === 'PssblDplct' && (text === 'true' || text === '1')) header.copy = true
  }
}

/** Finds header and message wherever an envelope holds them, by their namespaces, and walks the message. */

interface FoundMessage {
  kind: MessageKind
  version: number
  namespace: string
  profile: Profile | null
}

/** How to mend a document that does not say which message it is. */
const NO_NAMESPACE =
  'The document has no namespace, so its message and version are unknown. In JSON give the argument namespace, for example pain.001.001.09, or ' +
  'put "@xmlns": "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09" into Document; in XML put xmlns="…" on Document.'
const HEADER_NAMESPACE = /head\.001\.001\.\d{2}/
const DOCUMENT = '/Document'

export class Envelope implements XmlHandler {
  readonly findings = new Findings()
  readonly header = emptyHeader()
  /** Null until a document of a known message was found. */
  message: FoundMessage | null = null
  machine: Machine | null = null
  /** Namespace of the first Document, known or not. */
  namespace: string | null = null
  private definition: MessageDefinition | null = null
  private readonly line: () => number | null
  private readonly expected_namespace: string | null
  private header_reader: HeaderReader | null = null
  /** Elements open inside Document; 0 outside. */
  private inside = 0
  private roots = 0
  /** Elements open inside what was reported and is passed over. */
  private skipped = 0
  private walking = false

  constructor(line: () => number | null, expected_namespace: string | null) {
    this.line = line
    this.expected_namespace = expected_namespace
  }

  open(name: XmlName, attributes: readonly XmlAttribute[]): void {
    if (this.walking) {
      this.inside++
      this.machine?.open(name, attributes)
    } else if (this.skipped > 0) this.skipped++
    else if (this.header_reader !== null) this.header_reader.open(name.local)
    else if (this.inside === 1) this.openRoot(name, attributes)
    else if (name.local === 'Document') this.openDocument(name, attributes)
    else if (name.local === 'AppHdr' && HEADER_NAMESPACE.test(name.namespace)) this.header_reader = new HeaderReader(this.header)
  }

  private openDocument({ namespace }: XmlName, attributes: readonly XmlAttribute[]): void {
    if (this.namespace !== null) {
      this.skipped = 1
      this.findings.add('ELEMENT_REPEATED', this.place(), { found: 'Document', message: 'Only the first Document was looked at.' })
      return
    }
    this.namespace = namespace
    this.inside = 1
    const seen = recognize(namespace)
    const expected = this.expected_namespace
    if (expected !== null && namespace !== expected && !namespace.endsWith(`:${expected}`)) {
      this.findings.add('NS_MISMATCH', this.place(), { found: namespace, expected: cutText(expected, 200) })
    }
    switch (seen.kind) {
      case 'known':
        this.definition = seen.definition
        this.message = { kind: seen.definition.kind, version: seen.version, namespace, profile: seen.profile }
        this.checkAttributes(attributes)
        if (seen.variant) this.findings.add('NS_VARIANT', this.place(), { found: namespace })
        return
      case 'other_version':
        this.findings.add('NS_UNKNOWN', this.place(), { found: namespace, expected: knownVersions(seen.message) })
        return
      case 'stranger':
        this.findings.add('NS_UNKNOWN', this.place(), {
          found: namespace,
          expected: 'pain.001, pacs.008 or camt.053',
          ...(namespace === '' && { message: NO_NAMESPACE }),
        })
    }
  }

  /** Document and the message inside it have no attributes of their own. */
  private checkAttributes(attributes: readonly XmlAttribute[]): void {
    for (const attribute of attributes) {
      if (!isSchemaHint(attribute)) this.findings.add('STRUCT_ATTRIBUTE', this.place(), { found: shownName(attribute) })
    }
  }

  private openRoot(name: XmlName, attributes: readonly XmlAttribute[]): void {
    const { definition, message } = this
    const place = this.place()
    this.roots++
    const fits = definition !== null && message !== null && name.local === definition.root && name.namespace === message.namespace
    if (!fits || this.roots > 1) {
      this.skipped = 1
      if (definition === null) return
      if (fits) this.findings.add('ELEMENT_REPEATED', place, { found: name.local })
      else this.findings.add('ROOT_MISMATCH', place, { found: name.local, expected: definition.root })
      return
    }
    this.inside++
    this.checkAttributes(attributes)
    this.walking = true
    const { findings, header, line } = this
    const options = { definition, version: message.version, namespace: message.namespace, header, findings, line }
    this.machine = new Machine({
      ...options,
      prefix: `${DOCUMENT}/${definition.root}`,
      shared: (context) => sharedWatchers(context, definition.kind),
    })
  }

  close(text: string | null): void {
    if (this.walking) {
      this.machine?.close(text)
      if (--this.inside === 1) this.walking = false
    } else if (this.skipped > 0) this.skipped--
    else if (this.header_reader !== null) {
      if (this.header_reader.close(text)) this.header_reader = null
    } else if (this.inside === 1) {
      this.inside = 0
      if (this.roots === 0 && this.definition !== null) {
        this.findings.add('ROOT_MISMATCH', this.place(), { expected: this.definition.root })
      }
    }
  }

  mixed(text: string): void {
    if (this.walking) this.machine?.mixed(text)
  }

  aside(kind: 'instruction' | 'comment'): void {
    const place = this.walking && this.machine !== null ? this.machine.place() : this.place()
    this.findings.add('XML_PI_OR_COMMENT', place, { found: kind })
  }

  /** The document is over. */
  end(): void {
    if (this.namespace !== null) return
    this.findings.add('NS_UNKNOWN', { path: '/', line: this.line() }, { expected: 'a Document of pain.001, pacs.008 or camt.053' })
  }

  /** Where a child of the open element stands in the order of the schema; for input that has no order of its own. */
  slotOf(child: string): number {
    return this.walking ? (this.machine?.slotOf(child) ?? 0) : 0
  }

  /** The kind of value that the open element has; null when it has elements. */
  leafKind(): Leaf['kind'] | null {
    return this.walking ? (this.machine?.leafKind() ?? null) : null
  }

  place(): { path: string; line: number | null } {
    if (this.walking && this.machine !== null) return this.machine.place()
    return { path: this.inside > 0 || this.namespace !== null ? DOCUMENT : '/', line: this.line() }
  }
}
