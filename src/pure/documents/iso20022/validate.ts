import { cutText } from '../../cut-text.ts'
import { fileFormat } from '../file-format.ts'
import type { XmlFault } from '../xml/parser.ts'
import { declaredEncoding, withoutEncoding } from '../xml/declared-encoding.ts'
import { XmlReader } from '../xml/reader.ts'
import { decimalText, AMOUNT_SCALE } from './accumulators.ts'
import type { MessageTotals } from './engine.ts'
import { Envelope } from './envelope.ts'
import { JsonPayload } from './json-message.ts'
import { MessageFindings, type MessageKind, type MessageProfile, printableValue, type ProfileFindings } from './rules.ts'
import { checkTransactionList, type ListedTransaction, type StatedListTotals } from './shared-rules.ts'
import { currencyInfo } from './values.ts'

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
 * Validates payment messages: structure by the schema of their version, and the rules of a profile that no schema expresses.
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
  const other = list === null ? fileFormat(request.payload) : null
  // What is said to be XML or JSON, or begins as such, is judged as that.
  const is_other = other !== null && other.id !== 'json' && (other.id !== 'text' || format === null)
  if (is_other) return { format: format ?? 'xml', ...undetermined(other.name, request) }
  if (format !== 'json') {
    const validator = new XmlValidator(request)
    if (declaredEncoding(request.payload) !== null) validator.noteEncoding()
    validator.write(withoutEncoding(request.payload))
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

  /** Notes that the declaration names an encoding which no longer applies, because the text was decoded. */
  noteEncoding(): void {
    this.envelope.findings.add('XML_ENCODING_IGNORED', { path: '/', line: 1 })
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

/** The answer to a payload in another format: neither valid nor invalid. */
function undetermined(found: string, options: ValidationOptions): MessageValidation {
  const envelope = new Envelope(() => 1, options.namespace ?? null)
  envelope.findings.add('FORMAT_OTHER', { path: '/', line: 1 }, { found, expected: 'a message of ISO 20022 in XML or JSON' })
  return { ...buildAnswer(envelope, options, envelope.findings, null), valid: null }
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
