import { type Batch, type BatchFields } from './batch.ts'
import {
  areDigits,
  ENTRY,
  ENTRY_VARIANT,
  fieldText,
  type NachaDirection,
  nachaField,
  type NachaField,
  type NachaFindings,
  type NachaKind,
  type RequireField,
  routingCheckDigit,
  statesNumber,
  type TraceNumbers,
  trimmedField,
} from './format.ts'

const ADDENDA = {
  type: nachaField('addenda_type_code', 2, 3),
  payment_info: nachaField('payment_related_information', 4, 83),
  sequence: nachaField('addenda_sequence_number', 84, 87),
  entry_sequence: nachaField('entry_detail_sequence_number', 88, 94),
  code: nachaField('return_reason_or_change_code', 4, 6),
  original_trace: nachaField('original_entry_trace_number', 7, 21),
  original_rdfi: nachaField('original_receiving_dfi', 28, 35),
  corrected_data: nachaField('corrected_data', 36, 64),
  iat_corrected_data: nachaField('corrected_data', 36, 70),
  iat_name: nachaField('receiving_company_or_individual_name', 47, 81),
} as const

function codeRange(letter: string, ranges: readonly (readonly [first: number, last: number])[]): ReadonlySet<string> {
  return new Set(
    ranges.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => `${letter}${`${first + index}`.padStart(2, '0')}`),
    ),
  )
}

/** Assigned return reasons (appendix four): of receiving banks, federal agencies, operators, dishonored, contested, IAT. */
const RETURN_CODES = codeRange('R', [
  [1, 47],
  [50, 53],
  [61, 77],
  [80, 85],
])

/** Notices of change C01-C14 and their refusals C61-C69 (appendix five). */
const CHANGE_CODES = codeRange('C', [
  [1, 14],
  [61, 69],
])

/** An identifier in an ANSI X12 segment of payment information: `TRN*1*id`, `RMR*IV*id`, `REF*PO*id`. */
interface NachaReference {
  segment: 'TRN' | 'RMR' | 'REF'
  qualifier: string
  id: string
}

/**
 * One entry with its addenda. Texts are trimmed at both ends. A forward entry is an instruction, not evidence of settlement: only the ACH
 * operator fills in `settlement_julian`. The engine may keep a whole written chunk in memory for as long as one of these texts is kept:
 * write in chunks, and keep only the texts that you need.
 */
export interface NachaEntry extends BatchFields {
  line: number
  kind: NachaKind
  /** Effect on the receiver's account; for a return or notice, that of the original. Null when the code does not state it. */
  direction: NachaDirection | null
  transaction_code: string
  /** Cents; null when the field is not a number. */
  amount_minor: bigint | null
  prenote: boolean
  trace: string
  individual_id: string
  name: string
  /** Nine digits: the receiving bank with its check digit. */
  rdfi: string
  account: string
  /** Payment information of addenda 05 and 17, without trailing blanks. */
  payment_infos: string[]
  references: NachaReference[]
  /** R01-R85; of several addenda 99 the last one. */
  return_code: string | null
  return_kind: 'return' | 'dishonored' | 'contested' | null
  /** C01-C14, C61-C69. */
  change_code: string | null
  corrected_data: string | null
  original_trace: string | null
  original_rdfi: string | null
}

/** More addenda than this are counted but not stored; no class has more. */
const MAX_PAYMENT_INFOS = 9_999

type TransactionUse = 'live' | 'return' | 'prenote' | 'zero_dollar' | 'advice'

interface TransactionCode {
  direction: NachaDirection
  use: TransactionUse
}

/** The last digit gives the use; the first the account type: 2 demand, 3 savings, 4 general ledger, 5 loan. */
const BY_LAST_DIGIT: readonly (readonly [digit: string, direction: NachaDirection, use: TransactionUse, accounts: string])[] = [
  ['1', 'credit', 'return', '2345'],
  ['2', 'credit', 'live', '2345'],
  ['3', 'credit', 'prenote', '2345'],
  ['4', 'credit', 'zero_dollar', '2345'],
  ['5', 'debit', 'live', '5'],
  ['6', 'debit', 'return', '2345'],
  ['7', 'debit', 'live', '234'],
  ['8', 'debit', 'prenote', '234'],
  ['9', 'debit', 'zero_dollar', '234'],
]
const ADVICES = ['81', '82', '83', '84', '85', '86', '87', '88'] as const

/** Transaction codes in use (Nacha Operating Rules, appendix three). */
const TRANSACTION_CODES: ReadonlyMap<string, TransactionCode> = new Map([
  ...BY_LAST_DIGIT.flatMap(([digit, direction, use, accounts]) =>
    Array.from(accounts, (account) => [`${account}${digit}`, { direction, use }] as const),
  ),
  ...ADVICES.map((code, index) => [code, { direction: index % 2 === 0 ? 'credit' : 'debit', use: 'advice' }] as const),
])

/** An entry whose addenda are still being read. */
export class OpenEntry {
  readonly batch: Batch
  readonly line: number
  readonly record: string
  readonly code: string
  readonly use: TransactionUse | null
  readonly direction: NachaDirection | null
  readonly amount_minor: bigint | null
  readonly rdfi: string
  readonly trace: string
  kind: NachaKind = 'forward'
  addenda = 0
  /** Number of addenda of type 05, 17 and 18. */
  readonly numbered = { '05': 0, '17': 0, '18': 0 }
  /** The next expected of the seven required IAT addenda; 17 when all were read. */
  iat_next = 10
  iat_faulty = false
  iat_name = ''
  /** Payment information, 80 columns each. */
  readonly infos: string[] = []
  /** The last addenda 98 and 99. */
  change: string | null = null
  returned: string | null = null

  constructor(record: string, line: number, batch: Batch) {
    this.batch = batch
    this.line = line
    this.record = record
    this.code = fieldText(record, ENTRY.transaction_code)
    const known = TRANSACTION_CODES.get(this.code)
    this.use = known?.use ?? null
    // For the totals, an unknown code of two digits counts on the side of its last digit.
    const likely = /^[0-9]{2}$/.test(this.code) ? (this.code.charAt(1) < '5' ? 'credit' : 'debit') : null
    this.direction = known?.direction ?? likely
    const amount = fieldText(record, amountField(batch))
    this.amount_minor = areDigits(amount) ? BigInt(amount) : null
    this.rdfi = fieldText(record, ENTRY.rdfi)
    this.trace = fieldText(record, ENTRY.trace)
  }

  /** Adds a record of type 7 to the entry and checks its fields. */
  addAddenda(record: string, line: number, findings: NachaFindings): void {
    this.addenda++
    this.batch.totals.addenda++
    const require = findings.forRecord(record, line)
    const type = fieldText(record, ADDENDA.type)
    const sequence = fieldText(this.record, ENTRY.sequence)
    require(fieldText(record, ADDENDA.entry_sequence) === sequence, 'N_ADDENDA_TRACE', ADDENDA.entry_sequence, sequence)
    if (type === '98' || type === '99') addOriginal(this, type, record, require)
    else if (!isAllowedType(type, this.batch)) require(false, 'N_ADDENDA_TYPE', ADDENDA.type, this.batch.rules?.addenda ?? 'none')
    else if (this.batch.international) addInternational(this, type, record, require)
    if (type === '05' || type === '17' || type === '18') addNumbered(this, type, record, require)
  }

  /** Checks the entry after its last addenda. */
  check(traces: TraceNumbers, findings: NachaFindings): void {
    const { record, line, batch } = this
    const require = findings.forRecord(record, line)
    checkKind(this, batch, require)
    checkDirection(this, batch, require)
    const check_digit = routingCheckDigit(this.rdfi)
    require(fieldText(record, ENTRY.check_digit) === check_digit, 'N_RDFI_CHECK', ENTRY.routing, check_digit ?? '9 digits')
    checkAmount(this, batch, require)
    checkName(this, batch, require)
    checkAddenda(this, batch, require)
    if (!batch.advice) checkTrace(this, batch, traces, require)
  }

  /** The entry as the caller receives it. */
  publicEntry(): NachaEntry {
    const { record, change, returned } = this
    const { account, id, name } = receiverFields(this.batch)
    const last = returned ?? change
    return {
      line: this.line,
      ...this.batch.shared,
      kind: this.kind,
      direction: this.direction,
      transaction_code: this.code,
      amount_minor: this.amount_minor,
      prenote: this.use === 'prenote',
      trace: this.trace.trim(),
      individual_id: id === null ? '' : trimmedField(record, id),
      name: name === null ? this.iat_name : trimmedField(record, name),
      rdfi: fieldText(record, ENTRY.routing),
      account: trimmedField(record, account),
      payment_infos: this.infos.map((info) => info.trimEnd()),
      references: referencesIn(this.infos),
      return_code: returned === null ? null : fieldText(returned, ADDENDA.code),
      return_kind: returned === null ? null : returnKind(fieldText(returned, ADDENDA.code)),
      change_code: change === null ? null : fieldText(change, ADDENDA.code),
      corrected_data:
        change === null ? null : trimmedField(change, this.batch.international ? ADDENDA.iat_corrected_data : ADDENDA.corrected_data),
      original_trace: last === null ? null : trimmedField(last, ADDENDA.original_trace),
      original_rdfi: last === null ? null : trimmedField(last, ADDENDA.original_rdfi),
    }
  }
}

function amountField({ advice }: Batch): NachaField {
  return advice ? ENTRY_VARIANT.adv_amount : ENTRY.amount
}

/** Fields with account, ID and name of the receiver; null for those that the class does not have. */
function receiverFields({ shared, rules, advice }: Batch): { account: NachaField; id: NachaField | null; name: NachaField | null } {
  const { sec } = shared
  if (sec === 'IAT') return { account: ENTRY_VARIANT.iat_account, id: null, name: null }
  if (sec === 'CIE') return { account: ENTRY.account, id: ENTRY_VARIANT.cie_id, name: ENTRY_VARIANT.cie_name }
  if (advice) return { account: ENTRY_VARIANT.adv_account, id: null, name: ENTRY.name }
  const name = rules?.addenda_count === ENTRY_VARIANT.exchange_addenda ? ENTRY_VARIANT.exchange_name : ENTRY.name
  return { account: ENTRY.account, id: ENTRY.individual_id, name }
}

/** R61-R70 are dishonored returns, R71-R77 contested ones. */
function returnKind(code: string): NonNullable<NachaEntry['return_kind']> {
  if (code >= 'R61' && code <= 'R70') return 'dishonored'
  return code >= 'R71' && code <= 'R77' ? 'contested' : 'return'
}

/** Further references of an entry are dropped; 9,999 addenda have room for more. */
const MAX_REFERENCES = 10_000

/**
 * Returns the identifiers TRN02, RMR02 and REF02 of payment information in ANSI X12 segments. `infos` are the fields of an entry's addenda
 * with their blanks, since a segment may continue in the next addenda. Segments end with `\` or `~`, their elements are separated by `*`.
 */
function referencesIn(infos: readonly string[]): NachaReference[] {
  if (infos.length === 0) return []
  const references: NachaReference[] = []
  for (const segment of infos.join('').split(/[\\~]/)) {
    if (references.length === MAX_REFERENCES) break
    const [name, qualifier, id] = segment.trimStart().split('*', 3)
    if (id === undefined || id.trim() === '') continue
    if (name === 'TRN' || name === 'RMR' || name === 'REF') references.push({ segment: name, qualifier: qualifier ?? '', id: id.trim() })
  }
  return references
}

const FIRST_IAT = 10
const LAST_IAT = 16
/** Optional IAT addenda: two with payment information, five with correspondent banks. */
const IAT_OPTIONAL = { 17: 2, 18: 5 } as const

/** A class without addenda has the rule N_ADDENDA_MAX instead; entries of an unknown class are not checked. */
function isAllowedType(type: string, { rules, international }: Batch): boolean {
  if (rules === null) return true
  if (international) return /^1[0-8]$/.test(type)
  return type === (rules.addenda ?? '05')
}

/** 98 is a notice of change, 99 a return. Both identify the original entry. */
function addOriginal(entry: OpenEntry, type: '98' | '99', record: string, require: RequireField): void {
  const code = fieldText(record, ADDENDA.code)
  if (type === '98') {
    entry.kind = 'noc'
    entry.change = record
    require(CHANGE_CODES.has(code), 'N_NOC_CODE', ADDENDA.code, 'C01-C14 or C61-C69')
  } else {
    entry.kind = 'return'
    entry.returned = record
    require(RETURN_CODES.has(code), 'N_RETURN_CODE', ADDENDA.code, 'R01-R85')
  }
  require(areDigits(fieldText(record, ADDENDA.original_trace)), 'N_RETURN_TRACE', ADDENDA.original_trace, '15 digits')
}

function addNumbered(entry: OpenEntry, type: '05' | '17' | '18', record: string, require: RequireField): void {
  if (type !== '18' && entry.infos.length < MAX_PAYMENT_INFOS) entry.infos.push(fieldText(record, ADDENDA.payment_info))
  const expected = `${++entry.numbered[type]}`.padStart(4, '0')
  require(fieldText(record, ADDENDA.sequence) === expected, 'N_ADDENDA_SEQ', ADDENDA.sequence, expected)
}

/** Checks the order: 10 to 16, then 17 and 18; at most one finding per entry. */
function addInternational(entry: OpenEntry, type: string, record: string, require: RequireField): void {
  if (type === `${FIRST_IAT}`) entry.iat_name = trimmedField(record, ADDENDA.iat_name)
  const expected = `${entry.iat_next}`
  const in_order = entry.iat_next > LAST_IAT ? type > `${LAST_IAT}` : type === expected
  if (in_order && entry.iat_next <= LAST_IAT) entry.iat_next++
  if (in_order || entry.iat_faulty) return
  entry.iat_faulty = true
  require(false, 'N_IAT_ADDENDA', ADDENDA.type, entry.iat_next > LAST_IAT ? '17 or 18' : expected)
}

/** Returns whether an IAT entry ended before its seven required addenda. A return may omit all of them. */
function lacksInternational(entry: OpenEntry): boolean {
  if (entry.iat_faulty || entry.iat_next > LAST_IAT) return false
  return entry.kind === 'forward' || (entry.kind === 'return' && entry.iat_next > FIRST_IAT)
}

/** A return with its dishonored and contested return; an IAT return with all addenda of the original. */
const RETURN_ADDENDA_MAX = 3
const INTERNATIONAL_EXTRA = 12

function checkKind({ kind, use }: OpenEntry, batch: Batch, require: RequireField): void {
  const { advice, rules } = batch
  const fits = use !== null && (use === 'advice') === advice && !(use === 'return' && kind === 'forward')
  const forward_codes = kind === 'forward' ? 'a code for forward entries, for example 22' : 'a transaction code, for example 21'
  require(fits, 'N_TXCODE', ENTRY.transaction_code, advice ? '81-88' : forward_codes)
  const noc_class = batch.shared.sec === 'COR' || rules === null
  if (batch.kind === null && (kind !== 'noc' || noc_class)) batch.kind = kind
  const mixed = batch.kind !== kind || (kind === 'noc' && !noc_class)
  require(!mixed, 'N_CATEGORY', ENTRY.addenda_flag, `${batch.kind ?? 'forward or return'} entries`)
}

function checkDirection({ kind, direction }: OpenEntry, { rules, shared }: Batch, require: RequireField): void {
  if (direction === null) return
  const { service_class, description } = shared
  const by_service = service_class === '220' ? 'credit' : service_class === '225' ? 'debit' : null
  // A reversal has the opposite direction of its class, and a return keeps the code of its original.
  const by_class = kind === 'forward' && !/^REVERS/i.test(description) ? (rules?.direction ?? null) : null
  const allowed = [by_service, by_class].find((one) => one !== null && one !== direction)
  require(allowed === undefined, 'N_CLASS_DIR', ENTRY.transaction_code, `a ${allowed}`)
}

function checkAmount({ kind, use, amount_minor }: OpenEntry, batch: Batch, require: RequireField): void {
  const place = amountField(batch)
  if (amount_minor === null) return require(false, 'N_AMOUNT', place, `${place.to - place.from + 1} digits`)
  const must_be_zero = kind === 'noc' || use === 'prenote' || use === 'zero_dollar' || batch.rules?.zero === true
  // A prenote or an acknowledgment may be returned with any return code.
  const may_be_zero = must_be_zero || kind === 'return' || use === 'advice' || batch.rules === null
  require(amount_minor > 0n || may_be_zero, 'N_AMOUNT_ZERO', place, 'above zero')
  require(amount_minor === 0n || !must_be_zero, 'N_PRENOTE_NONZERO', place, 'zero')
}

function checkName(entry: OpenEntry, { rules, shared }: Batch, require: RequireField): void {
  if (entry.kind !== 'forward' || rules === null) return
  const { name } = rules
  if (name !== null) require(trimmedField(entry.record, name) !== '', 'N_NAME', name, 'a name')
  const named = shared.sec !== 'IAT' || entry.iat_next === 10 || entry.iat_name !== ''
  require(named, 'N_NAME', ADDENDA.iat_name, 'a name in addenda 10')
}

function checkAddenda(entry: OpenEntry, batch: Batch, require: RequireField): void {
  const { record, addenda } = entry
  const flag = addenda > 0 ? '1' : '0'
  require(fieldText(record, ENTRY.addenda_flag) === flag, 'N_ADDENDA_FLAG', ENTRY.addenda_flag, flag)
  const max = maxAddenda(entry, batch)
  require(addenda <= max, 'N_ADDENDA_MAX', ENTRY.addenda_flag, `at most ${max}, not ${addenda}`)
  if (batch.shared.sec === 'IAT') {
    require(!lacksInternational(entry), 'N_IAT_ADDENDA', ENTRY_VARIANT.iat_addenda, `addenda ${entry.iat_next}`)
    const { '17': infos, '18': banks } = entry.numbered
    const few = infos <= IAT_OPTIONAL[17] && banks <= IAT_OPTIONAL[18]
    require(few, 'N_ADDENDA_MAX', ENTRY_VARIANT.iat_addenda, 'at most 2 of type 17 and 5 of type 18')
  }
  const { rules } = batch
  if (entry.kind !== 'forward' || rules === null || addenda > max) return
  if (rules.addenda_required) require(addenda === rules.addenda_max, 'N_ADDENDA_COUNT', ENTRY.addenda_flag, `${rules.addenda_max}`)
  const field = rules.addenda_count
  if (field === null) return
  require(statesNumber(fieldText(record, field), BigInt(addenda)), 'N_ADDENDA_COUNT', field, `${addenda}`.padStart(4, '0'))
}

function maxAddenda({ kind }: OpenEntry, { rules, international }: Batch): number {
  if (rules === null) return 9_999
  if (kind === 'forward') return rules.addenda_max
  return (kind === 'return' ? RETURN_ADDENDA_MAX : 1) + (international ? INTERNATIONAL_EXTRA : 0)
}

function checkTrace({ trace }: OpenEntry, batch: Batch, traces: TraceNumbers, require: RequireField): void {
  require(trace.slice(0, 8) === batch.shared.odfi, 'N_TRACE_ODFI', ENTRY.trace_odfi, batch.shared.odfi)
  if (!areDigits(trace)) return require(false, 'N_TRACE_ASC', ENTRY.trace, '15 digits')
  const repeated = traces.isRepeated(trace) || trace === batch.last_trace
  require(!repeated, 'N_TRACE_DUP', ENTRY.trace, 'a unique trace number')
  require(repeated || trace > batch.last_trace, 'N_TRACE_ASC', ENTRY.trace, `above ${batch.last_trace}`)
  batch.last_trace = trace
}
