import { Envelope } from './envelope.ts'
import type { MessageKind, Profile } from './rule.ts'
import { cutText } from '../../cut-text.ts'
import { type XmlFault, XmlReader } from '../xml/reader.ts'
import { currencyInfo } from './identifiers.ts'
import { decimalText, minorUnits } from './decimal.ts'
import { Findings, shownText, type WeighedFindings } from './findings.ts'
import { holdsMessage, tellJson } from './json-events.ts'
import { type JsonNode, type JsonTree, readJsonTree } from './json-tree.ts'
import type { Totals } from './rule-engine.ts'
import { checkTransactions, compareTotals, type ListedTransaction, statedTotals } from './transactions.ts'

/** Where a profile came from, the strongest first. */
type ProfileSource = 'argument' | 'business_service' | 'namespace' | 'service_level' | 'default'

/** CBPR+ names itself in the header's business service, Swiss and German variants in their namespace, SEPA in the service level. */
function chosenProfile(asked: Profile | null, envelope: Envelope): { profile: Profile; profile_source: ProfileSource } {
  if (asked !== null) return { profile: asked, profile_source: 'argument' }
  if (/^swift\.cbprplus(?:\.|$)/i.test(envelope.header.business_service ?? '')) {
    return { profile: 'CBPR', profile_source: 'business_service' }
  }
  const by_namespace = envelope.message?.profile ?? null
  if (by_namespace !== null) return { profile: by_namespace, profile_source: 'namespace' }
  if (envelope.machine?.totals.service_level === 'SEPA') return { profile: 'SEPA', profile_source: 'service_level' }
  return { profile: 'base', profile_source: 'default' }
}

/**
 * Validates pain.001, pacs.008 and camt.053: structure by version, and rules that no schema expresses, held against a profile.
 *
 * A message that is broken is a good answer with findings, never an error. `valid` means that nothing which was looked at is an error in this
 * profile; it is null for a message of a type or version that is not known. External code lists and the inside of supplementary data are not
 * looked at. Totals are exact. Sources: the message definitions of ISO 20022 in the versions named, XML 1.0, ISO 4217, 7064, 9362, 13616,
 * 17442, CBPR+ and EPC rules as of November 2026. Structure errs towards valid, totals and check digits never err.
 */

export interface ValidationOptions {
  profile?: Profile | null
  /** The namespace that is expected, whole or as `pain.001.001.09`; what JSON without one is read as. */
  namespace?: string | null
}

export interface Validation extends WeighedFindings {
  /** Null when the document is no message of a known type and version, and no list of transactions was checked. */
  valid: boolean | null
  message_type: MessageKind | null
  version: string | null
  namespace: string | null
  profile: Profile
  profile_source: ProfileSource
  message_id: string | null
  /** Transactions of pain.001 and pacs.008, entries of camt.053; null when they could not all be read. */
  tx_count: number | null
  /** Sum of their amounts, whatever their currencies, as decimal text; null when one could not be read. */
  ctrl_sum: string | null
  /** The same in minor units, when all amounts have one currency. */
  ctrl_sum_minor: string | null
  currencies: string[]
}

const CURRENCIES_LISTED = 64

/** Reads a message in pieces, so that memory does not grow with it. */
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

  /** False once the rest cannot change the answer. */
  write(chunk: string | Uint8Array): boolean {
    this.fault ??= this.reader.write(chunk)
    return this.fault === null
  }

  end(list: readonly ListedTransaction[] | null = null): Validation {
    this.fault ??= this.reader.end()
    if (this.fault === null) {
      this.envelope.end()
      return concluded(this.envelope, this.options, list)
    }
    const { code, line, column, message } = this.fault
    return broken(this.envelope, this.options, (findings) => {
      findings.add(code, { path: '/', line }, { message: `${message} (line ${line}, column ${column})` })
    })
  }
}

/** What is asked: a payload in either format, a list of transactions beside it or in place of a message. */
export interface Asked extends ValidationOptions {
  payload: string
  /** Seen by its first character when left out. */
  format?: 'xml' | 'json' | null
  transactions?: readonly ListedTransaction[] | null
}

export interface Answer extends Validation {
  format: 'xml' | 'json' | 'transactions'
}

/** Validates what a call brings. */
export function validateAsked(asked: Asked): Answer {
  const list = asked.transactions ?? null
  const format = asked.format ?? seenFormat(asked.payload)
  if (format === null && list !== null) return { format: 'transactions', ...validateList(list, null, asked) }
  if (format !== 'json') return { format: 'xml', ...validateXml(asked.payload, asked, list) }
  // A mark of the byte order is none of the text; RFC 8259, 8.1, lets a reader pass over it.
  const tree = readJsonTree(asked.payload.startsWith('\uFEFF') ? asked.payload.slice(1) : asked.payload)
  if (list !== null && tree.ok && !holdsMessage(tree.value)) return { format: 'transactions', ...validateList(list, tree.value, asked) }
  return { format: 'json', ...validateJsonTree(tree, asked, list) }
}

function seenFormat(payload: string): 'xml' | 'json' | null {
  const first = /^[\uFEFF\s]{0,1000}([<{[])/.exec(payload)?.[1]
  return first === undefined ? null : first === '<' ? 'xml' : 'json'
}

function validateXml(document: string, options: ValidationOptions, list: readonly ListedTransaction[] | null): Validation {
  const validator = new XmlValidator(options)
  validator.write(document)
  return validator.end(list)
}

function validateJsonTree(tree: JsonTree, options: ValidationOptions, list: readonly ListedTransaction[] | null): Validation {
  const place = { line: 1 }
  const envelope = new Envelope(() => place.line, options.namespace ?? null)
  if (!tree.ok) return broken(envelope, options, (findings) => findings.add(tree.code, { path: '/', line: tree.line }))
  for (const { name, line } of tree.duplicates) envelope.findings.add('JSON_DUP_KEY', { path: '/', line }, { found: name })
  tellJson(tree.value, envelope, place, options.namespace ?? null)
  envelope.end()
  return concluded(envelope, options, list)
}

function validateList(list: readonly ListedTransaction[], payload: JsonNode | null, options: ValidationOptions): Validation {
  const envelope = new Envelope(() => null, options.namespace ?? null)
  const { findings } = envelope
  const totals = checkTransactions(list, findings)
  compareTotals(totals, statedTotals(payload), findings)
  const currencies = totals.currencies.filter(isCurrencyCode).slice(0, CURRENCIES_LISTED)
  return { ...answer(envelope, options, findings, null), tx_count: totals.count, ...sumTexts(totals.sum, currencies), currencies }
}

/** What broke off says nothing of the message; only why it broke off is told. */
function broken(envelope: Envelope, options: ValidationOptions, tell: (findings: Findings) => void): Validation {
  const findings = new Findings()
  tell(findings)
  return answer(envelope, options, findings, null)
}

/** The answer to a document that was read to its end. It is undecided when nothing of it was checked. */
function concluded(envelope: Envelope, options: ValidationOptions, list: readonly ListedTransaction[] | null): Validation {
  const judgement = judged(envelope, options, list)
  return envelope.message === null && list === null ? { ...judgement, valid: null } : judgement
}

function judged(envelope: Envelope, options: ValidationOptions, list: readonly ListedTransaction[] | null): Validation {
  const totals = envelope.machine?.totals ?? null
  if (list !== null) {
    const listed = checkTransactions(list, envelope.findings)
    const sum = totals === null || totals.unreadable ? null : decimalText(totals.sum.total())
    compareTotals(listed, { count: totals === null ? null : String(totals.transactions), sum }, envelope.findings)
  }
  return answer(envelope, options, envelope.findings, totals)
}

function answer(envelope: Envelope, options: ValidationOptions, findings: Findings, totals: Totals | null): Validation {
  const { profile, profile_source } = chosenProfile(options.profile ?? null, envelope)
  const weighed = findings.weigh(profile)
  const { message } = envelope
  return {
    valid: weighed.finding_counts.error === 0,
    message_type: message?.kind ?? null,
    version: message === null ? null : String(message.version).padStart(2, '0'),
    namespace: envelope.namespace === null ? null : cutText(envelope.namespace, 200, ''),
    profile,
    profile_source,
    message_id: totals?.message_id === undefined || totals.message_id === null ? null : shownText(totals.message_id),
    ...sums(totals),
    ...weighed,
  }
}

function sums(totals: Totals | null): Pick<Validation, 'tx_count' | 'ctrl_sum' | 'ctrl_sum_minor' | 'currencies'> {
  if (totals === null) return { tx_count: null, ctrl_sum: null, ctrl_sum_minor: null, currencies: [] }
  const currencies = [...totals.currencies].filter(isCurrencyCode).slice(0, CURRENCIES_LISTED)
  return { tx_count: totals.transactions, ...sumTexts(totals.unreadable ? null : totals.sum.total(), currencies), currencies }
}

function isCurrencyCode(code: string): boolean {
  return /^[A-Z]{3}$/.test(code)
}

/** A sum in 10^-5 as texts. */
function sumTexts(sum: bigint | null, currencies: readonly string[]): { ctrl_sum: string | null; ctrl_sum_minor: string | null } {
  if (sum === null) return { ctrl_sum: null, ctrl_sum_minor: null }
  const [only, another] = currencies
  const digits = only === undefined || another !== undefined ? null : currencyInfo(only).minor_units
  const minor = digits === null ? null : minorUnits(sum, digits)
  return { ctrl_sum: decimalText(sum, digits ?? 2), ctrl_sum_minor: minor === null ? null : minor.toString() }
}
