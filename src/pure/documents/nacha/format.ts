export type NachaSeverity = 'error' | 'warning' | 'info'

export interface RuleText {
  severity: NachaSeverity
  message: string
}

export const errorRule = (message: string): RuleText => ({ severity: 'error', message })
export const warningRule = (message: string): RuleText => ({ severity: 'warning', message })
export const infoRule = (message: string): RuleText => ({ severity: 'info', message })

/**
 * Every rule of the reader with its severity and message. Source: ACH file format, Nacha Operating Rules, appendices one to four, as of
 * 2026. `N_LEN` is only a warning for a line that lost the blanks at its right end.
 */
export const NACHA_RULES = {
  N_LEN: errorRule('A record must have 94 characters.'),
  N_CHARSET: errorRule('A record may contain printable ASCII only.'),
  N_EMPTY: errorRule('A file needs a batch, and a batch needs an entry.'),
  N_ORDER: errorRule('Records must come in this order: file header; batch header, entries, batch control; file control.'),
  N_HEADER_CONST: errorRule('Record size, blocking factor and format code must be 094, 10 and 1.'),
  N_PRIORITY: warningRule('The priority code should be 01, the only one in use.'),
  N_DATE: errorRule('The file creation date must be a calendar day in the form YYMMDD, for example 261124.'),
  N_TIME: errorRule('The file creation time must be blank or a time of day in the form HHMM, for example 0930.'),
  N_MODIFIER: errorRule('The file ID modifier must be one capital letter or digit.'),
  N_DEST_ROUTING: errorRule('The immediate destination must be a blank and a routing number with a valid check digit.'),
  N_ORIGIN: warningRule('The immediate origin should be a routing number or a company ID of ten characters.'),
  N_SERVICE_CLASS: errorRule('The service class must be 200, 220 or 225, or 280 for ADV batches.'),
  N_CLASS_DIR: errorRule('The service class or entry class does not allow entries in this direction.'),
  N_SEC: errorRule('Unknown standard entry class code.'),
  N_BATCH_SEQ: errorRule('Batch numbers must be seven digits and ascend through the file.'),
  N_BATCH_PAIR: errorRule('The batch control differs from its batch header.'),
  N_EFFDATE: warningRule('The effective entry date should be a calendar day (YYMMDD), not before the file creation date.'),
  N_JULIAN: errorRule('The settlement date must be blank or a day of the year from 001 to 366.'),
  N_TXCODE: errorRule('The transaction code is not valid for this kind of entry.'),
  N_RDFI_CHECK: errorRule('Wrong check digit in the routing number of the receiving bank.'),
  N_AMOUNT: errorRule('The amount must be in cents, digits only, filled with zeros on the left.'),
  N_AMOUNT_ZERO: errorRule('The amount of this entry must be above zero.'),
  N_PRENOTE_NONZERO: errorRule('The amount of a prenote, notice, acknowledgment or zero-dollar entry must be zero.'),
  N_NAME: errorRule('This entry class requires the name of the receiver.'),
  N_ADDENDA_FLAG: errorRule('The addenda indicator must be 1 when addenda follow, else 0.'),
  N_ADDENDA_COUNT: errorRule('The number of addenda differs from the number that the entry states or its class requires.'),
  N_ADDENDA_MAX: errorRule('The entry has more addenda than its class allows.'),
  N_ADDENDA_TYPE: errorRule('The entry class does not allow addenda of this type.'),
  N_ADDENDA_SEQ: errorRule('The addenda of an entry must be numbered 0001, 0002, 0003 and so on.'),
  N_ADDENDA_TRACE: errorRule('The addenda must repeat the last seven digits of the trace number of its entry.'),
  N_TRACE_ODFI: errorRule('The trace number must begin with the originating DFI of the batch header.'),
  N_TRACE_ASC: errorRule('Trace numbers must be 15 digits and ascend within a batch.'),
  N_TRACE_DUP: errorRule('Duplicate trace number.'),
  N_TRACE_BOUND: infoRule('The file has too many entries to find all duplicate trace numbers; later ones were not compared.'),
  N_RETURN_CODE: errorRule('Unknown return reason code.'),
  N_NOC_CODE: errorRule('Unknown change code.'),
  N_RETURN_TRACE: warningRule('The original entry trace number should be 15 digits.'),
  N_CATEGORY: errorRule('A batch must contain only forward entries, only returns or only notices of change; notices need the class COR.'),
  N_IAT_ADDENDA: errorRule('An IAT entry needs addenda 10 to 16, each once and in order, before 17 and 18.'),
  N_B_COUNT: errorRule('The batch control states another number of entries and addenda than the batch has.'),
  N_B_HASH: errorRule('The entry hash of the batch differs from the sum of its receiving DFI numbers.'),
  N_B_DEBIT: errorRule('The debit total of the batch differs from the sum of its debits.'),
  N_B_CREDIT: errorRule('The credit total of the batch differs from the sum of its credits.'),
  N_F_BATCHES: errorRule('The file control states another number of batches than the file has.'),
  N_F_BLOCKS: errorRule('The block count must be the number of records divided by ten, rounded up.'),
  N_F_COUNT: errorRule('The file control states another number of entries and addenda than the file has.'),
  N_F_HASH: errorRule('The entry hash of the file differs from the sum of its receiving DFI numbers.'),
  N_F_DEBIT: errorRule('The debit total of the file differs from the sum of its debits.'),
  N_F_CREDIT: errorRule('The credit total of the file differs from the sum of its credits.'),
  N_PADDING: warningRule('The file should be filled up with lines of 94 nines to a multiple of ten lines.'),
  N_AFTER_CONTROL: errorRule('Only lines of nines may follow the file control.'),
  N_DESC: warningRule('The Nacha rules reserve another entry description for this use.'),
} as const satisfies Record<string, RuleText>

export type NachaCode = keyof typeof NACHA_RULES

/** A field of a record: name, first and last column, both counted from 1 and inclusive. */
export interface NachaField {
  field: string
  from: number
  to: number
}

export const RECORD_CHARS = 94

/** The text of a field with its blanks. */
export function fieldText(record: string, { from, to }: NachaField): string {
  return record.slice(from - 1, to)
}

export function trimmedField(record: string, field: NachaField): string {
  return fieldText(record, field).trim()
}

function define(field: string, from: number, to: number): NachaField {
  return Object.freeze({ field, from, to })
}

export const WHOLE_RECORD = define('record', 1, RECORD_CHARS)
export const RECORD_TYPE = define('record_type', 1, 1)

export const FILE_HEADER = {
  priority: define('priority_code', 2, 3),
  destination: define('immediate_destination', 4, 13),
  origin: define('immediate_origin', 14, 23),
  date: define('file_creation_date', 24, 29),
  time: define('file_creation_time', 30, 33),
  modifier: define('file_id_modifier', 34, 34),
  constants: define('record_size_blocking_format', 35, 40),
  destination_name: define('immediate_destination_name', 41, 63),
  origin_name: define('immediate_origin_name', 64, 86),
} as const

export const BATCH_HEADER = {
  service_class: define('service_class_code', 2, 4),
  company_name: define('company_name', 5, 20),
  company_id: define('company_identification', 41, 50),
  sec: define('standard_entry_class_code', 51, 53),
  description: define('company_entry_description', 54, 63),
  effective_date: define('effective_entry_date', 70, 75),
  settlement_julian: define('settlement_date', 76, 78),
  odfi: define('originating_dfi_identification', 80, 87),
  batch_number: define('batch_number', 88, 94),
} as const

export const ENTRY = {
  transaction_code: define('transaction_code', 2, 3),
  rdfi: define('receiving_dfi_identification', 4, 11),
  check_digit: define('check_digit', 12, 12),
  routing: define('receiving_dfi_with_check_digit', 4, 12),
  account: define('dfi_account_number', 13, 29),
  amount: define('amount', 30, 39),
  individual_id: define('individual_identification_number', 40, 54),
  name: define('individual_name', 55, 76),
  addenda_flag: define('addenda_record_indicator', 79, 79),
  trace: define('trace_number', 80, 94),
  trace_odfi: define('trace_number', 80, 87),
  sequence: define('trace_number', 88, 94),
} as const

/** Fields that some entry classes have in other columns. */
export const ENTRY_VARIANT = {
  adv_account: define('dfi_account_number', 13, 27),
  adv_amount: define('amount', 28, 39),
  iat_addenda: define('number_of_addenda_records', 13, 16),
  iat_account: define('foreign_receivers_account_number', 40, 74),
  exchange_addenda: define('number_of_addenda_records', 55, 58),
  exchange_name: define('receiving_company_name', 59, 74),
  cie_name: define('individual_name', 40, 54),
  cie_id: define('individual_identification_number', 55, 76),
  /** Name and number in either order: publications differ. */
  machine_name: define('individual_name_and_number', 40, 76),
} as const

export const ADDENDA = {
  type: define('addenda_type_code', 2, 3),
  payment_info: define('payment_related_information', 4, 83),
  sequence: define('addenda_sequence_number', 84, 87),
  entry_sequence: define('entry_detail_sequence_number', 88, 94),
  code: define('return_reason_or_change_code', 4, 6),
  original_trace: define('original_entry_trace_number', 7, 21),
  original_rdfi: define('original_receiving_dfi', 28, 35),
  corrected_data: define('corrected_data', 36, 64),
  iat_corrected_data: define('corrected_data', 36, 70),
  iat_name: define('receiving_company_or_individual_name', 47, 81),
} as const

export const BATCH_CONTROL = {
  service_class: define('service_class_code', 2, 4),
  count: define('entry_addenda_count', 5, 10),
  hash: define('entry_hash', 11, 20),
  debit: define('total_debit_amount', 21, 32),
  credit: define('total_credit_amount', 33, 44),
  company_id: define('company_identification', 45, 54),
  odfi: define('originating_dfi_identification', 80, 87),
  batch_number: define('batch_number', 88, 94),
} as const

export const ADV_BATCH_CONTROL = { debit: define('total_debit_amount', 21, 40), credit: define('total_credit_amount', 41, 60) } as const

export const FILE_CONTROL = {
  batches: define('batch_count', 2, 7),
  blocks: define('block_count', 8, 13),
  count: define('entry_addenda_count', 14, 21),
  hash: define('entry_hash', 22, 31),
  debit: define('total_debit_amount', 32, 43),
  credit: define('total_credit_amount', 44, 55),
} as const

export const ADV_FILE_CONTROL = { debit: define('total_debit_amount', 32, 51), credit: define('total_credit_amount', 52, 71) } as const

const LF = 10
const CR = 13
const TWO_RECORDS = 2 * RECORD_CHARS

/**
 * Splits text into records: at LF, CRLF or CR, and after every 94 characters in a line of two records or more, as in files without line
 * ends. A line of any other length is emitted whole. The result does not depend on how the text was cut into chunks, and at most two
 * records are buffered.
 */
export function lineSplitter(emit: (text: string, line: number) => void): { write(text: string): void; end(): void } {
  let buffered = ''
  /** The current line is longer than two records and emitted in slices. */
  let unbroken = false
  let after_cr = false
  let line = 0

  function endLine(rest: string): void {
    if (!unbroken && rest.length === TWO_RECORDS) {
      emit(rest.slice(0, RECORD_CHARS), ++line)
      emit(rest.slice(RECORD_CHARS), ++line)
    } else if (!unbroken || rest !== '') emit(rest, ++line)
    unbroken = false
  }

  /** Emits slices of a line longer than a record. Returns the start of the remaining text. */
  function slice(text: string, start: number, at: number): number {
    const chars = at - start
    if (unbroken && chars === RECORD_CHARS) {
      emit(text.slice(start, at), ++line)
      return at
    }
    if (unbroken || chars < TWO_RECORDS) return start
    unbroken = true
    emit(text.slice(start, start + RECORD_CHARS), ++line)
    emit(text.slice(start + RECORD_CHARS, at), ++line)
    return at
  }

  function write(chunk: string): void {
    if (chunk === '') return
    let at = buffered.length
    let start = 0
    const text = buffered + chunk
    if (after_cr && text.charCodeAt(0) === LF) start = ++at
    after_cr = false
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code !== LF && code !== CR) {
        start = slice(text, start, at)
        continue
      }
      endLine(text.slice(start, at))
      start = at + 1
      if (code !== CR) continue
      if (start === text.length) after_cr = true
      else if (text.charCodeAt(start) === LF) start = ++at + 1
    }
    buffered = text.slice(start)
  }

  function end(): void {
    if (buffered !== '') endLine(buffered)
    buffered = ''
  }

  return { write, end }
}

export function areDigits(text: string): boolean {
  return /^[0-9]+$/.test(text)
}

/** Returns whether a field of digits states this number. */
export function statesNumber(text: string, number: bigint): boolean {
  return areDigits(text) && BigInt(text) === number
}

const ROUTING_WEIGHTS = [3, 7, 1, 3, 7, 1, 3, 7] as const

/** The check digit of eight digits of a routing number, weights 3, 7, 1; null when they are not eight digits. */
export function routingCheckDigit(eight: string): string | null {
  if (eight.length !== 8 || !areDigits(eight)) return null
  const sum = ROUTING_WEIGHTS.reduce((total, weight, index) => total + weight * (eight.charCodeAt(index) - 48), 0)
  return `${(10 - (sum % 10)) % 10}`
}

/** One finding on a file. `line` counts from 1; in a file without line ends it is the number of the record. */
export interface NachaFinding {
  code: NachaCode
  severity: NachaSeverity
  line: number
  field: string
  /** Columns, from 1, as in `30-39`. */
  positions: string | null
  /** The text of the field: at most 64 printable characters. */
  found: string | null
  expected: string | null
  message: string
}

/** Text of a file made safe for an answer: at most 64 characters, all printable. */
function printable(text: string): string {
  const characters = Array.from(text.slice(0, 64), (one) => {
    const code = one.codePointAt(0) ?? 0
    return code >= 0x20 && code < 0x7f ? one : `\\u{${code.toString(16)}}`
  })
  return characters.join('').slice(0, 64)
}

interface Observation {
  line: number
  place: NachaField | null
  found?: string
  expected?: string
  severity?: NachaSeverity
}

/** Reports a field of one record unless the condition is true. */
export type RequireField = (condition: boolean, code: NachaCode, place: NachaField, expected: string) => void

/** Counts all findings and stores the first ones. */
export class NachaFindings {
  readonly #stored: NachaFinding[] = []
  readonly #counts = new Map<NachaCode, number>()
  readonly #max: number
  #errors = 0
  #all = 0

  constructor(max: number) {
    this.#max = max
  }

  add(code: NachaCode, { line, place, found, expected, severity = NACHA_RULES[code].severity }: Observation): void {
    this.#all++
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1)
    if (severity === 'error') this.#errors++
    if (this.#stored.length >= this.#max) return
    this.#stored.push({
      code,
      severity,
      line,
      field: place?.field ?? 'file',
      positions: place === null ? null : place.from === place.to ? `${place.from}` : `${place.from}-${place.to}`,
      found: found === undefined ? null : printable(found),
      expected: expected === undefined ? null : printable(expected),
      message: NACHA_RULES[code].message,
    })
  }

  forRecord(record: string, line: number): RequireField {
    return (condition, code, place, expected) => {
      if (!condition) this.add(code, { line, place, found: fieldText(record, place), expected })
    }
  }

  /** Sorts by line: some findings on a line are made only later in the file. */
  report(): { valid: boolean; findings: NachaFinding[]; counts: Partial<Record<NachaCode, number>>; findings_cut: boolean } {
    return {
      valid: this.#errors === 0,
      findings: this.#stored.toSorted((a, b) => a.line - b.line),
      counts: Object.fromEntries(this.#counts),
      findings_cut: this.#all > this.#stored.length,
    }
  }
}

export type NachaKind = 'forward' | 'return' | 'noc'
export type NachaDirection = 'credit' | 'debit'

function codeRange(letter: string, ranges: readonly (readonly [first: number, last: number])[]): ReadonlySet<string> {
  return new Set(
    ranges.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => `${letter}${`${first + index}`.padStart(2, '0')}`),
    ),
  )
}

/** Assigned return reasons (appendix four): of receiving banks, federal agencies, operators, dishonored, contested, IAT. */
export const RETURN_CODES = codeRange('R', [
  [1, 47],
  [50, 53],
  [61, 77],
  [80, 85],
])

/** Notices of change C01-C14 and their refusals C61-C69 (appendix five). */
export const CHANGE_CODES = codeRange('C', [
  [1, 14],
  [61, 69],
])

/** Requirements of a standard entry class for its entries. */
export interface EntryClass {
  /** The only direction of forward entries, reversals aside; null when both are allowed. */
  direction: NachaDirection | null
  /** The addenda type; null when the class has no addenda. */
  addenda: '02' | '05' | 'iat' | '98' | null
  addenda_max: number
  /** Exactly `addenda_max` addenda are required. */
  addenda_required: boolean
  /** The field that states the number of addenda. */
  addenda_count: NachaField | null
  /** The field that must contain a name in forward entries. */
  name: NachaField | null
  /** All entries have amount zero: acknowledgments, enrolments, death notices. */
  zero: boolean
  advice: boolean
}

const USUAL: EntryClass = {
  direction: null,
  addenda: '05',
  addenda_max: 1,
  addenda_required: false,
  addenda_count: null,
  name: ENTRY.name,
  zero: false,
  advice: false,
}
/** Checks converted to debits: no addenda, and a name only where stated below. */
const CHECK: EntryClass = { ...USUAL, direction: 'debit', addenda: null, addenda_max: 0, name: null }
const TERMINAL: EntryClass = { ...USUAL, addenda: '02', addenda_required: true }
const EXCHANGE: EntryClass = { ...USUAL, addenda_max: 9_999, addenda_count: ENTRY_VARIANT.exchange_addenda, name: null }

/**
 * The standard entry classes (Nacha Operating Rules, appendix three, 2026). Where publications differ (the fields of MTE and ENR) both
 * forms are valid; account types that a class excludes are not checked.
 */
export const ENTRY_CLASSES: ReadonlyMap<string, EntryClass> = new Map<string, EntryClass>([
  ['ACK', { ...USUAL, direction: 'credit', name: null, zero: true }],
  ['ADV', { ...USUAL, addenda: null, addenda_max: 0, name: null, advice: true }],
  ['ARC', CHECK],
  ['ATX', { ...EXCHANGE, direction: 'credit', zero: true }],
  ['BOC', CHECK],
  ['CCD', USUAL],
  ['CIE', { ...USUAL, direction: 'credit', name: ENTRY_VARIANT.cie_name }],
  ['COR', { ...USUAL, addenda: '98', name: null }],
  ['CTX', { ...EXCHANGE, name: ENTRY_VARIANT.exchange_name }],
  ['DNE', { ...USUAL, direction: 'credit', addenda_required: true, zero: true }],
  ['ENR', { ...USUAL, addenda_max: 9_999, zero: true }],
  // Seven required addenda, two with payment information, five with correspondent banks; the name is in addenda 10.
  ['IAT', { ...USUAL, addenda: 'iat', addenda_max: 14, addenda_count: ENTRY_VARIANT.iat_addenda, name: null }],
  ['MTE', { ...TERMINAL, name: ENTRY_VARIANT.machine_name }],
  ['POP', CHECK],
  ['POS', TERMINAL],
  ['PPD', USUAL],
  ['RCK', { ...CHECK, name: ENTRY.name }],
  ['SHR', { ...TERMINAL, name: null }],
  ['TEL', { ...CHECK, name: ENTRY.name }],
  ['TRC', CHECK],
  ['TRX', { ...EXCHANGE, direction: 'debit' }],
  ['WEB', USUAL],
  ['XCK', CHECK],
])
