/** Finds header and message in a document and walks the message. */
import { cutText } from '../../cut-text.ts'
import type { XmlAttribute, XmlName } from '../xml/reader.ts'
import { CAMT } from './camt053.ts'
import { BusinessHeader, type MessageDefinition, MessageWalker } from './engine.ts'
import { familyDefinition } from './family-rules.ts'
import type { JsonMessageHandler } from './json-message.ts'
import { PACS } from './pacs008.ts'
import { PAIN } from './pain001.ts'
import {
  KNOWN_TYPES,
  MESSAGE_KINDS,
  MessageFindings,
  type MessagePosition,
  type MessageProfile,
  NAMESPACE_PREFIX,
  versionsOf,
} from './rules.ts'
import { sharedWatchers } from './shared-rules.ts'
import type { Leaf } from './structure.ts'
import { STRUCTURE } from './structure-data.ts'
import { attributeName, isSchemaAttribute } from './values.ts'

/** Messages whose rules have their own file. */
const DEFINITIONS: ReadonlyMap<string, MessageDefinition> = new Map([PAIN, PACS, CAMT].map((definition) => [definition.kind, definition]))

interface KnownMessage {
  definition: MessageDefinition
  /** Name and type of the element inside Document. */
  root: { name: string; type: string }
  version: number
  /** The namespace is that of a community. */
  variant: boolean
  profile: MessageProfile | null
}

const NAME = /([a-z]{4}\.\d{3})\.(\d{3})\.(\d{2})(?!\d)(\.ch\.\d{2})?/

/**
 * Reads a namespace. Variants are those of communities: another number in the middle (002 and 003 are those of the German banks, for SEPA),
 * or another address (Swiss ones end in `.ch.` and two digits). A variant without an own schema has the structure of the message.
 */
function recognizeMessage(namespace: string): KnownMessage | null {
  const [name = '', type = '', number = '', version = '', community = ''] = NAME.exec(namespace.slice(0, 200)) ?? []
  const kind = MESSAGE_KINDS.find((known) => known === type)
  const root = STRUCTURE.rootOf(name) ?? STRUCTURE.rootOf(`${type}.001.${version}`)
  if (kind === undefined || kind === 'head.001' || root === null) return null
  const variant = namespace !== `${NAMESPACE_PREFIX}${name}` || number !== '001'
  const profile = community !== '' ? 'SPS' : number === '002' || number === '003' ? 'SEPA' : null
  const definition = DEFINITIONS.get(kind) ?? familyDefinition(kind)
  return { definition, root, version: Number.parseInt(version, 10), variant, profile }
}

/** The known versions of a known type; else the known types. */
function expectedMessage(namespace: string): string {
  const [, type = ''] = NAME.exec(namespace.slice(0, 200)) ?? []
  const versions = versionsOf(type)
  return versions.length > 0 ? `${type}.001 in version ${versions.join(', ')}` : KNOWN_TYPES
}

/** Reads the fields of the business application header (head.001) that rules use. */
class HeaderReader {
  private readonly header: BusinessHeader
  private readonly path: string[] = []

  constructor(header: BusinessHeader) {
    this.header = header
  }

  open(local: string): void {
    this.path.push(local)
  }

  /** Returns whether the header itself has ended. */
  close(text: string | null): boolean {
    const [first = '', second = ''] = this.path
    const last = this.path.pop()
    if (last === undefined) return true
    if (text !== null) this.readField(first, second, last, text.trim())
    return false
  }

  private readField(first: string, second: string, last: string, text: string): void {
    const { header } = this
    // A header may contain related headers; only its own elements count.
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

const NO_NAMESPACE =
  'The document has no namespace, so its message and version are unknown. In JSON give the argument namespace, for example pain.001.001.09, ' +
  'or put "@xmlns": "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09" into Document; in XML put xmlns="…" on Document.'
const HEADER_NAMESPACE = /head\.001\.001\.\d{2}/
const HEADER: MessageDefinition = { kind: 'head.001', overrides: {}, watch: () => [] }
const DOCUMENT = '/Document'

/** Finds header and message in any envelope, by their namespaces, and walks the message. */
export class Envelope implements JsonMessageHandler {
  readonly findings = new MessageFindings()
  readonly header = new BusinessHeader()
  /** Null until the document of a known message was found. */
  message: (KnownMessage & { namespace: string }) | null = null
  walker: MessageWalker | null = null
  namespace: string | null = null
  private readonly line: () => number | null
  private readonly expected_namespace: string | null
  private header_reader: HeaderReader | null = null
  private header_walker: MessageWalker | null = null
  /** Number of open elements from Document on; 0 outside. */
  private inside = 0
  private roots = 0
  /** Number of open elements inside a rejected element. */
  private skipped = 0
  /** The walker while its message is open. */
  private open_walker: MessageWalker | null = null

  constructor(line: () => number | null, expected_namespace: string | null) {
    this.line = line
    this.expected_namespace = expected_namespace
  }

  open(name: XmlName, attributes: readonly XmlAttribute[]): void {
    if (this.open_walker !== null) {
      this.inside++
      this.open_walker.open(name, attributes)
    } else if (this.skipped > 0) this.skipped++
    else if (this.header_reader !== null) {
      this.header_reader.open(name.local)
      this.header_walker?.open(name, attributes)
    } else if (this.inside === 1) this.openRoot(name, attributes)
    else if (name.local === 'Document') this.openDocument(name, attributes)
    else if (name.local === 'AppHdr') this.openHeader(name.namespace)
  }

  private openHeader(namespace: string): void {
    const [name = ''] = HEADER_NAMESPACE.exec(namespace) ?? []
    if (name === '') return
    this.header_reader = new HeaderReader(this.header)
    // The structure of other versions is not known, so their fields are read without a check.
    const root = STRUCTURE.rootOf(name)
    if (root === null) return
    const { header, findings, line } = this
    const parts = { definition: HEADER, schema: STRUCTURE, root, version: Number(name.slice(-2)), namespace, parent_path: '' }
    // Many systems pass on headers that state only some of the fields.
    this.header_walker = new MessageWalker({ ...parts, partial: true, header, findings, line, shared: () => [] })
  }

  private openDocument({ namespace }: XmlName, attributes: readonly XmlAttribute[]): void {
    if (this.namespace !== null) {
      this.skipped = 1
      this.findings.add('ELEMENT_REPEATED', this.position(), { found: 'Document', message: 'Only the first Document was checked.' })
      return
    }
    this.namespace = namespace
    this.inside = 1
    const expected = this.expected_namespace
    if (expected !== null && namespace !== expected && !namespace.endsWith(`:${expected}`)) {
      this.findings.add('NS_MISMATCH', this.position(), { found: namespace, expected: cutText(expected, 200) })
    }
    const message = recognizeMessage(namespace)
    if (message !== null) {
      this.message = { ...message, namespace }
      this.checkAttributes(attributes)
      if (message.variant) this.findings.add('NS_VARIANT', this.position(), { found: namespace })
      return
    }
    const details = { found: namespace, expected: expectedMessage(namespace), ...(namespace === '' && { message: NO_NAMESPACE }) }
    this.findings.add('NS_UNKNOWN', this.position(), details)
  }

  /** Document and the message root have no attributes. */
  private checkAttributes(attributes: readonly XmlAttribute[]): void {
    for (const attribute of attributes) {
      if (!isSchemaAttribute(attribute)) this.findings.add('STRUCT_ATTRIBUTE', this.position(), { found: attributeName(attribute) })
    }
  }

  private openRoot(name: XmlName, attributes: readonly XmlAttribute[]): void {
    const { message, findings, header, line } = this
    this.roots++
    if (message === null) {
      this.skipped = 1
      return
    }
    const { definition, root, version, namespace } = message
    const fits = name.local === root.name && name.namespace === namespace
    if (!fits || this.roots > 1) {
      this.skipped = 1
      if (fits) findings.add('ELEMENT_REPEATED', this.position(), { found: name.local })
      else findings.add('ROOT_MISMATCH', this.position(), { found: name.local, expected: root.name })
      return
    }
    this.inside++
    this.checkAttributes(attributes)
    this.walker = new MessageWalker({
      definition,
      schema: STRUCTURE,
      root,
      version,
      namespace,
      parent_path: DOCUMENT,
      header,
      findings,
      line,
      shared: (context) => sharedWatchers(context, definition.kind),
    })
    this.open_walker = this.walker
  }

  close(text: string | null): void {
    if (this.open_walker !== null) {
      this.open_walker.close(text)
      if (--this.inside === 1) this.open_walker = null
    } else if (this.skipped > 0) this.skipped--
    else if (this.header_reader !== null) {
      this.header_walker?.close(text)
      if (!this.header_reader.close(text)) return
      this.header_reader = null
      this.header_walker = null
    } else if (this.inside === 1) {
      this.inside = 0
      if (this.roots > 0 || this.message === null) return
      this.findings.add('ROOT_MISMATCH', this.position(), { expected: this.message.root.name })
    }
  }

  mixed(text: string): void {
    const walker = this.open_walker ?? this.header_walker
    walker?.mixed(text)
  }

  aside(kind: 'instruction' | 'comment'): void {
    this.findings.add('XML_PI_OR_COMMENT', this.position(), { found: kind })
  }

  end(): void {
    if (this.namespace !== null) return
    this.findings.add('NS_UNKNOWN', { path: '/', line: this.line() }, { expected: 'a Document of a known message' })
  }

  slotOf(child: string): number {
    return this.open_walker?.slotOf(child) ?? 0
  }

  leafKind(): Leaf['kind'] | null {
    return this.open_walker?.leafKind() ?? null
  }

  position(): MessagePosition {
    if (this.open_walker !== null) return this.open_walker.position()
    return { path: this.inside > 0 || this.namespace !== null ? DOCUMENT : '/', line: this.line() }
  }
}
