import { cutText } from '../../cut-text.ts'
import type { XmlFault } from '../xml/parser.ts'
import { type XmlAttribute, type XmlName, XmlReader } from '../xml/reader.ts'
import { decimalText, AMOUNT_SCALE } from './accumulators.ts'
import { CAMT } from './camt053.ts'
import { BusinessHeader, type MessageDefinition, type MessageTotals, MessageWalker } from './engine.ts'
import { type JsonMessageHandler, JsonPayload } from './json-message.ts'
import { PACS } from './pacs008.ts'
import { PAIN } from './pain001.ts'
import {
  KNOWN_MESSAGES,
  MessageFindings,
  type MessageKind,
  type MessagePosition,
  type MessageProfile,
  NAMESPACE_PREFIX,
  printableValue,
  type ProfileFindings,
} from './rules.ts'
import { checkTransactionList, type ListedTransaction, sharedWatchers, type StatedListTotals } from './shared-rules.ts'
import type { Leaf } from './structure.ts'
import { attributeName, currencyInfo, isSchemaAttribute } from './values.ts'

/** A number of 10^-5 in minor units of a currency with so many decimals; null when it is not a whole number of them. */
export function toMinorUnits(units: bigint, digits: number): bigint | null {
  if (digits > AMOUNT_SCALE) return units * 10n ** BigInt(digits - AMOUNT_SCALE)
  const step = 10n ** BigInt(AMOUNT_SCALE - digits)
  return units % step === 0n ? units / step : null
}

/** Source of the profile, in order of precedence. */
type ProfileSource = 'argument' | 'business_service' | 'namespace' | 'service_level' | 'default'

interface ValidationOptions {
  profile?: MessageProfile | null
  /** The expected namespace, complete or as `pain.001.001.09`; JSON without a namespace is read with it. */
  namespace?: string | null
}

export interface MessageValidation extends ProfileFindings {
  /** Null when the document is not a known message, and no list of transactions was checked. */
  valid: boolean | null
  message_type: MessageKind | null
  version: string | null
  namespace: string | null
  profile: MessageProfile
  profile_source: ProfileSource
  message_id: string | null
  /** Transactions of pain.001 and pacs.008, entries of camt.053; null when they could not all be read. */
  tx_count: number | null
  /** Sum of their amounts across currencies as decimal text; null when an amount could not be read. */
  ctrl_sum: string | null
  ctrl_sum_minor: string | null
  currencies: string[]
}

/** A payload in either format, with a list of transactions in addition to a message or instead of one. */
interface ValidationRequest extends ValidationOptions {
  payload: string
  /** Default: by the first character. */
  format?: 'xml' | 'json' | null
  transactions?: readonly ListedTransaction[] | null
}

interface ValidationResult extends MessageValidation {
  format: 'xml' | 'json' | 'transactions'
}

type TransactionList = readonly ListedTransaction[]

/**
 * Validates pain.001, pacs.008 and camt.053: structure by version, and the rules of a profile that no schema expresses.
 *
 * A broken message is a successful answer with findings, never an error. `valid` means that no finding is an error in this profile; it is
 * null for an unknown message. External code lists and the content of supplementary data are not checked. Totals are exact. Sources: the
 * message definitions of ISO 20022, XML 1.0, ISO 4217, 7064, 9362, 13616, 17442, CBPR+ and EPC rules as of November 2026. In doubt the
 * structure check accepts a message; totals and check digits are always decided.
 */
export function validateMessage(request: ValidationRequest): ValidationResult {
  const list = request.transactions ?? null
  const format = request.format ?? detectFormat(request.payload)
  if (format === null && list !== null) {
    return { format: 'transactions', ...validateList(list, { count: null, sum: null }, request) }
  }
  if (format !== 'json') {
    const validator = new XmlValidator(request)
    validator.write(request.payload)
    return { format: 'xml', ...validator.end(list) }
  }
  // RFC 8259, 8.1, allows a reader to ignore a byte order mark.
  const payload = new JsonPayload(request.payload.startsWith('\uFEFF') ? request.payload.slice(1) : request.payload)
  const stated = list === null ? null : payload.totalsWithoutMessage()
  if (list === null || stated === null) return { format: 'json', ...validateJson(payload, request, list) }
  return { format: 'transactions', ...validateList(list, stated, request) }
}

function detectFormat(payload: string): 'xml' | 'json' | null {
  const first = /^[\uFEFF\s]{0,1000}([<{[])/.exec(payload)?.[1]
  return first === undefined ? null : first === '<' ? 'xml' : 'json'
}

/** Reads a message in chunks, so that memory does not grow with it. */
export class XmlValidator {
  private readonly envelope: Envelope
  private readonly reader: XmlReader
  private readonly options: ValidationOptions
  private fault: XmlFault | null = null

  constructor(options: ValidationOptions = {}, size_cap = Infinity) {
    this.options = options
    this.envelope = new Envelope(() => this.reader.line, options.namespace ?? null)
    this.reader = new XmlReader(this.envelope, { size_cap })
  }

  /** Returns false once the rest cannot change the answer. */
  write(chunk: string | Uint8Array): boolean {
    this.fault ??= this.reader.write(chunk)
    return this.fault === null
  }

  end(list: TransactionList | null = null): MessageValidation {
    this.fault ??= this.reader.end()
    if (this.fault === null) return completeAnswer(this.envelope, this.options, list)
    const { code, line, column, message } = this.fault
    const findings = new MessageFindings()
    findings.add(code, { path: '/', line }, { message: `${message} (line ${line}, column ${column})` })
    return buildAnswer(this.envelope, this.options, findings, null)
  }
}

function validateJson(payload: JsonPayload, options: ValidationOptions, list: TransactionList | null): MessageValidation {
  const cursor = { line: 1 }
  const envelope = new Envelope(() => cursor.line, options.namespace ?? null)
  const fault = payload.walk(envelope, cursor, options.namespace ?? null)
  if (fault !== null) {
    const findings = new MessageFindings()
    findings.add(fault.code, { path: '/', line: fault.line })
    return buildAnswer(envelope, options, findings, null)
  }
  return completeAnswer(envelope, options, list)
}

function validateList(list: TransactionList, stated: StatedListTotals, options: ValidationOptions): MessageValidation {
  const envelope = new Envelope(() => null, options.namespace ?? null)
  const totals = checkTransactionList(list, stated, envelope.findings)
  const answer = buildAnswer(envelope, options, envelope.findings, null)
  return { ...answer, tx_count: totals.count, ...sumTexts(totals.sum, totals.currencies) }
}

/** The answer to a document that was read to its end; undecided when nothing of it was checked. */
function completeAnswer(envelope: Envelope, options: ValidationOptions, list: TransactionList | null): MessageValidation {
  envelope.end()
  const totals = envelope.walker?.totals ?? null
  if (list !== null) {
    const sum = totals === null || totals.unreadable ? null : decimalText(totals.sum.total())
    checkTransactionList(list, { count: totals === null ? null : String(totals.transactions), sum }, envelope.findings)
  }
  const answer = buildAnswer(envelope, options, envelope.findings, totals)
  return envelope.message === null && list === null ? { ...answer, valid: null } : answer
}

function buildAnswer(
  envelope: Envelope,
  options: ValidationOptions,
  all: MessageFindings,
  totals: MessageTotals | null,
): MessageValidation {
  const { profile, profile_source } = chooseProfile(options.profile ?? null, envelope)
  const findings = all.forProfile(profile)
  const { message } = envelope
  const message_id = totals?.message_id ?? null
  return {
    valid: findings.finding_counts.error === 0,
    message_type: message?.definition.kind ?? null,
    version: message === null ? null : String(message.version).padStart(2, '0'),
    namespace: envelope.namespace === null ? null : cutText(envelope.namespace, 200, ''),
    profile,
    profile_source,
    message_id: message_id === null ? null : printableValue(message_id),
    tx_count: totals?.transactions ?? null,
    ...sumTexts(totals === null || totals.unreadable ? null : totals.sum.total(), totals?.currencies ?? []),
    ...findings,
  }
}

/** CBPR+ is named in the business service of the header, Swiss and German variants in the namespace, SEPA in the service level. */
function chooseProfile(argument: MessageProfile | null, envelope: Envelope): { profile: MessageProfile; profile_source: ProfileSource } {
  if (argument !== null) return { profile: argument, profile_source: 'argument' }
  if (/^swift\.cbprplus(?:\.|$)/i.test(envelope.header.business_service ?? '')) {
    return { profile: 'CBPR', profile_source: 'business_service' }
  }
  const by_namespace = envelope.message?.profile ?? null
  if (by_namespace !== null) return { profile: by_namespace, profile_source: 'namespace' }
  if (envelope.walker?.totals.service_level === 'SEPA') return { profile: 'SEPA', profile_source: 'service_level' }
  return { profile: 'base', profile_source: 'default' }
}

const MAX_CURRENCIES = 64

/** A sum in 10^-5 as texts, with the well-formed codes of its currencies. */
function sumTexts(sum: bigint | null, codes: Iterable<string>): Pick<MessageValidation, 'ctrl_sum' | 'ctrl_sum_minor' | 'currencies'> {
  const currencies = [...codes].filter((code) => /^[A-Z]{3}$/.test(code)).slice(0, MAX_CURRENCIES)
  if (sum === null) return { ctrl_sum: null, ctrl_sum_minor: null, currencies }
  const [only, another] = currencies
  const digits = only === undefined || another !== undefined ? null : currencyInfo(only).minor_units
  const minor = digits === null ? null : toMinorUnits(sum, digits)
  return { ctrl_sum: decimalText(sum, digits ?? 2), ctrl_sum_minor: minor === null ? null : minor.toString(), currencies }
}

const DEFINITIONS: readonly MessageDefinition[] = [PAIN, PACS, CAMT]

type RecognizedMessage =
  | { kind: 'known'; definition: MessageDefinition; version: number; variant: boolean; profile: MessageProfile | null }
  | { kind: 'unknown_version'; message: MessageKind }
  | { kind: 'unknown' }

const NAME = /(pain\.001|pacs\.008|camt\.053)\.(\d{3})\.(\d{2})(?!\d)/

/**
 * Reads a namespace. Variants are those of communities: another number in the middle (002 and 003 are those of the German banks, for SEPA),
 * or another address (Swiss ones end in `.ch.` and two digits).
 */
function recognizeMessage(namespace: string): RecognizedMessage {
  const [name = '', message = '', number = '', version_text = ''] = NAME.exec(namespace.slice(0, 200)) ?? []
  const definition = DEFINITIONS.find(({ kind }) => kind === message)
  if (definition === undefined) return { kind: 'unknown' }
  const version = Number.parseInt(version_text, 10)
  if (!definition.versions.has(version)) return { kind: 'unknown_version', message: definition.kind }
  const variant = namespace !== `${NAMESPACE_PREFIX}${name}` || number !== '001'
  const profile = /\.ch\.\d\d/.test(namespace) ? 'SPS' : number === '002' || number === '003' ? 'SEPA' : null
  return { kind: 'known', definition, version, variant, profile }
}

/** Reads the fields of the business application header (head.001) that rules use. Its structure is not checked. */
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
const DOCUMENT = '/Document'

/** Finds header and message in any envelope, by their namespaces, and walks the message. */
class Envelope implements JsonMessageHandler {
  readonly findings = new MessageFindings()
  readonly header = new BusinessHeader()
  /** Null until the document of a known message was found. */
  message: { definition: MessageDefinition; version: number; namespace: string; profile: MessageProfile | null } | null = null
  walker: MessageWalker | null = null
  namespace: string | null = null
  private readonly line: () => number | null
  private readonly expected_namespace: string | null
  private header_reader: HeaderReader | null = null
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
    else if (this.header_reader !== null) this.header_reader.open(name.local)
    else if (this.inside === 1) this.openRoot(name, attributes)
    else if (name.local === 'Document') this.openDocument(name, attributes)
    else if (name.local === 'AppHdr' && HEADER_NAMESPACE.test(name.namespace)) this.header_reader = new HeaderReader(this.header)
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
    const recognized = recognizeMessage(namespace)
    switch (recognized.kind) {
      case 'known': {
        const { definition, version, profile, variant } = recognized
        this.message = { definition, version, namespace, profile }
        this.checkAttributes(attributes)
        if (variant) this.findings.add('NS_VARIANT', this.position(), { found: namespace })
        return
      }
      case 'unknown_version': {
        const expected_versions = KNOWN_MESSAGES.filter((known) => known.startsWith(recognized.message)).join(', ')
        this.findings.add('NS_UNKNOWN', this.position(), { found: namespace, expected: expected_versions })
        return
      }
      case 'unknown':
        this.findings.add('NS_UNKNOWN', this.position(), {
          found: namespace,
          expected: 'pain.001, pacs.008 or camt.053',
          ...(namespace === '' && { message: NO_NAMESPACE }),
        })
    }
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
    const { definition, version, namespace } = message
    const fits = name.local === definition.root && name.namespace === namespace
    if (!fits || this.roots > 1) {
      this.skipped = 1
      if (fits) findings.add('ELEMENT_REPEATED', this.position(), { found: name.local })
      else findings.add('ROOT_MISMATCH', this.position(), { found: name.local, expected: definition.root })
      return
    }
    this.inside++
    this.checkAttributes(attributes)
    this.walker = new MessageWalker({
      definition,
      version,
      namespace,
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
      if (this.header_reader.close(text)) this.header_reader = null
    } else if (this.inside === 1) {
      this.inside = 0
      if (this.roots > 0 || this.message === null) return
      this.findings.add('ROOT_MISMATCH', this.position(), { expected: this.message.definition.root })
    }
  }

  mixed(text: string): void {
    this.open_walker?.mixed(text)
  }

  aside(kind: 'instruction' | 'comment'): void {
    this.findings.add('XML_PI_OR_COMMENT', this.position(), { found: kind })
  }

  end(): void {
    if (this.namespace !== null) return
    this.findings.add('NS_UNKNOWN', { path: '/', line: this.line() }, { expected: 'a Document of pain.001, pacs.008 or camt.053' })
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
