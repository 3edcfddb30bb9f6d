export interface RuleText {
  severity: 'error' | 'warning' | 'info'
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

/** The text of a field with its blanks. */
export function fieldText(record: string, { from, to }: NachaField): string {
  return record.slice(from - 1, to)
}

export function trimmedField(record: string, field: NachaField): string {
  return fieldText(record, field).trim()
}

/** Defines a field by its first and last column. */
export function nachaField(field: string, from: number, to: number): NachaField {
  return Object.freeze({ field, from, to })
}

export const ENTRY = {
  transaction_code: nachaField('transaction_code', 2, 3),
  rdfi: nachaField('receiving_dfi_identification', 4, 11),
  check_digit: nachaField('check_digit', 12, 12),
  routing: nachaField('receiving_dfi_with_check_digit', 4, 12),
  account: nachaField('dfi_account_number', 13, 29),
  amount: nachaField('amount', 30, 39),
  individual_id: nachaField('individual_identification_number', 40, 54),
  name: nachaField('individual_name', 55, 76),
  addenda_flag: nachaField('addenda_record_indicator', 79, 79),
  trace: nachaField('trace_number', 80, 94),
  trace_odfi: nachaField('trace_number', 80, 87),
  sequence: nachaField('trace_number', 88, 94),
} as const

/** Fields that some entry classes have in other columns. */
export const ENTRY_VARIANT = {
  adv_account: nachaField('dfi_account_number', 13, 27),
  adv_amount: nachaField('amount', 28, 39),
  iat_addenda: nachaField('number_of_addenda_records', 13, 16),
  iat_account: nachaField('foreign_receivers_account_number', 40, 74),
  exchange_addenda: nachaField('number_of_addenda_records', 55, 58),
  exchange_name: nachaField('receiving_company_name', 59, 74),
  cie_name: nachaField('individual_name', 40, 54),
  cie_id: nachaField('individual_identification_number', 55, 76),
  /** Name and number in either order: publications differ. */
  machine_name: nachaField('individual_name_and_number', 40, 76),
} as const

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
  severity: RuleText['severity']
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
  severity?: RuleText['severity']
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

/** The trace numbers read so far, up to a maximum. */
export class TraceNumbers {
  readonly #seen = new Set<string>()
  readonly #max: number
  complete = true

  constructor(max: number) {
    this.#max = max
  }

  /** Returns whether the number was read before. Above the maximum, numbers are still compared with the stored ones. */
  isRepeated(trace: string): boolean {
    // The letter keeps the engine from hashing digits without its secret seed: senders could choose numbers that collide.
    const key = `t${trace}`
    if (this.#seen.has(key)) return true
    if (this.#seen.size < this.#max) this.#seen.add(key)
    else this.complete = false
    return false
  }
}

/** The day of a YYMMDD field as YYYY-MM-DD, in this century; null when it is not in the calendar. */
export function calendarDay(text: string): string | null {
  if (text.length !== 6 || !areDigits(text)) return null
  const day = `20${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4)}`
  const time = Date.parse(`${day}T00:00:00Z`)
  // Engines may read 31 February as 3 March: the date must not change.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) ? day : null
}
