import {
  areDigits,
  calendarDay,
  ENTRY,
  ENTRY_VARIANT,
  fieldText,
  type NachaDirection,
  nachaField,
  type NachaField,
  type NachaFindings,
  type NachaKind,
  type RequireField,
  statesNumber,
  trimmedField,
} from './format.ts'

const BATCH_HEADER = {
  service_class: nachaField('service_class_code', 2, 4),
  company_name: nachaField('company_name', 5, 20),
  company_id: nachaField('company_identification', 41, 50),
  sec: nachaField('standard_entry_class_code', 51, 53),
  description: nachaField('company_entry_description', 54, 63),
  effective_date: nachaField('effective_entry_date', 70, 75),
  settlement_julian: nachaField('settlement_date', 76, 78),
  odfi: nachaField('originating_dfi_identification', 80, 87),
  batch_number: nachaField('batch_number', 88, 94),
} as const

const BATCH_CONTROL = {
  service_class: nachaField('service_class_code', 2, 4),
  count: nachaField('entry_addenda_count', 5, 10),
  hash: nachaField('entry_hash', 11, 20),
  debit: nachaField('total_debit_amount', 21, 32),
  credit: nachaField('total_credit_amount', 33, 44),
  company_id: nachaField('company_identification', 45, 54),
  odfi: nachaField('originating_dfi_identification', 80, 87),
  batch_number: nachaField('batch_number', 88, 94),
} as const

const ADV_BATCH_CONTROL = { debit: nachaField('total_debit_amount', 21, 40), credit: nachaField('total_credit_amount', 41, 60) } as const

/** Requirements of a standard entry class for its entries. */
interface EntryClass {
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
const ENTRY_CLASSES: ReadonlyMap<string, EntryClass> = new Map<string, EntryClass>([
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

const HASH_MODULUS = 10_000_000_000

/** Fields of an entry that count in totals. Cents; null when the field is not a number. */
interface CountedEntry {
  readonly rdfi: string
  readonly direction: NachaDirection | null
  readonly amount_minor: bigint | null
}

/** Totals of entries. A field that cannot be read makes its total unknown; an unknown total is not compared. */
export class EntryTotals {
  entries = 0
  addenda = 0
  credit_minor = 0n
  debit_minor = 0n
  #hash = 0
  #hash_known = true
  #amounts_known = true

  add({ rdfi, direction, amount_minor }: CountedEntry): void {
    this.entries++
    if (areDigits(rdfi)) this.#hash = (this.#hash + Number.parseInt(rdfi, 10)) % HASH_MODULUS
    else this.#hash_known = false
    if (amount_minor === null || direction === null) this.#amounts_known = false
    else if (direction === 'credit') this.credit_minor += amount_minor
    else this.debit_minor += amount_minor
  }

  addAll(other: EntryTotals): void {
    this.entries += other.entries
    this.addenda += other.addenda
    this.credit_minor += other.credit_minor
    this.debit_minor += other.debit_minor
    this.#hash = (this.#hash + other.#hash) % HASH_MODULUS
    this.#hash_known &&= other.#hash_known
    this.#amounts_known &&= other.#amounts_known
  }

  /** The entry hash as a control record states it. */
  get entry_hash(): string {
    return `${this.#hash}`.padStart(10, '0')
  }

  /** Compares the totals of a control record: N_B_… for a batch, N_F_… for the file. */
  compare(level: 'N_B' | 'N_F', fields: TotalFields, record: string, require: RequireField): void {
    const compare = (code: Parameters<RequireField>[1], place: NachaField, known: boolean, total: bigint) => {
      const found = fieldText(record, place)
      require(!known || statesNumber(found, total), code, place, `${total}`.padStart(found.length, '0'))
    }
    compare(`${level}_COUNT`, fields.count, true, BigInt(this.entries + this.addenda))
    compare(`${level}_HASH`, fields.hash, this.#hash_known, BigInt(this.#hash))
    compare(`${level}_DEBIT`, fields.debit, this.#amounts_known, this.debit_minor)
    compare(`${level}_CREDIT`, fields.credit, this.#amounts_known, this.credit_minor)
  }
}

type TotalFields = Readonly<Record<'count' | 'hash' | 'debit' | 'credit', NachaField>>

/** The fields of a batch header that its entries repeat. Texts are trimmed at both ends. */
export interface BatchFields {
  batch_line: number
  batch_number: string
  service_class: string
  company_id: string
  company_name: string
  description: string
  sec: string
  /** Eight digits. */
  odfi: string
  /** YYYY-MM-DD. */
  effective_date: string | null
  /** Day of the year, 001-366, when an operator has filled it in. */
  settlement_julian: string | null
}

const SERVICE_CLASSES = new Set(['200', '220', '225', '280'])
/** Classes whose effective date has no meaning. */
const UNDATED = new Set(['ACK', 'ADV', 'ATX', 'DNE', 'ENR'])

/** The Nacha risk rules reserve PAYROLL and PURCHASE from this day on. */
const RESERVED_FROM = '2026-03-20'
const WAGES = /^(?:PAY ?ROLL|PAYCHECK|WAGES?\b|SALAR(?:Y|IES)\b|DIR(?:ECT)? ?DEP)/i
const PURCHASES = /^(?:PURCHASE|PURCH\b|ONLINE ?(?:BUY|PUR|ORD)|WEB ?(?:PUR|ORD)|E-?COMM)/i
const MICRO = /^(?:AC+(?:OUN)?T?\.? ?VER|MICRO|VERIFY|TRIAL ?DEP)/i
const REVERSAL = /^(?:REVERS|REVRS|RVRSL)/i
const MICRO_BELOW_MINOR = 100n

/** The open batch: fields of its header and totals of the entries so far. */
export class Batch {
  readonly shared: BatchFields
  /** Requirements of its entry class; null for an unknown class. */
  readonly rules: EntryClass | null
  readonly advice: boolean
  readonly international: boolean
  readonly totals = new EntryTotals()
  last_trace = ''
  /** Kind of all its entries, from the first entry or the class. */
  kind: NachaKind | null
  readonly #record: string
  #has_credits = false
  #has_debits = false
  /** The largest credit, in cents. */
  #max_credit_minor = 0n

  /** Reads and checks a record of type 5. `last_number` is the number of the batch before. */
  constructor(record: string, line: number, last_number: string, findings: NachaFindings) {
    const sec = fieldText(record, BATCH_HEADER.sec)
    const rules = ENTRY_CLASSES.get(sec) ?? null
    const advice = rules?.advice === true
    const number = fieldText(record, BATCH_HEADER.batch_number)
    const service_class = fieldText(record, BATCH_HEADER.service_class)
    const julian = fieldText(record, BATCH_HEADER.settlement_julian)
    const has_julian = areDigits(julian) && julian >= '001' && julian <= '366'
    const require = findings.forRecord(record, line)
    const class_fits = SERVICE_CLASSES.has(service_class) && (rules === null || (service_class === '280') === advice)
    require(class_fits, 'N_SERVICE_CLASS', BATCH_HEADER.service_class, advice ? '280' : '200, 220 or 225')
    require(rules !== null, 'N_SEC', BATCH_HEADER.sec, 'a class such as PPD, CCD or WEB')
    require(julian.trim() === '' || has_julian, 'N_JULIAN', BATCH_HEADER.settlement_julian, 'blank or 001-366')
    const ascends = areDigits(number) && number > last_number
    require(ascends, 'N_BATCH_SEQ', BATCH_HEADER.batch_number, last_number === '' ? '7 digits' : `above ${last_number}`)
    const company = trimmedField(record, BATCH_HEADER.company_name)
    this.#record = record
    this.shared = {
      batch_line: line,
      batch_number: number,
      service_class,
      company_id: trimmedField(record, BATCH_HEADER.company_id),
      // IAT headers have no company name; in notices of change these columns contain IATCOR.
      company_name: sec === 'IAT' ? '' : company,
      description: trimmedField(record, BATCH_HEADER.description),
      sec,
      odfi: fieldText(record, BATCH_HEADER.odfi),
      effective_date: calendarDay(fieldText(record, BATCH_HEADER.effective_date)),
      settlement_julian: has_julian ? julian : null,
    }
    this.rules = rules
    this.advice = advice
    this.international = sec === 'IAT' || (sec === 'COR' && company === 'IATCOR')
    this.kind = sec === 'COR' ? 'noc' : null
  }

  /** Counts an entry after its last addenda. */
  add(entry: CountedEntry): void {
    const { direction, amount_minor } = entry
    this.totals.add(entry)
    if (direction === 'credit') this.#has_credits = true
    if (direction === 'debit') this.#has_debits = true
    if (direction === 'credit' && (amount_minor ?? 0n) > this.#max_credit_minor) this.#max_credit_minor = amount_minor ?? 0n
  }

  /** Makes the checks that need all entries of the batch. `created` is the date of the file; null when invalid. */
  checkWhole(created: string | null, findings: NachaFindings): void {
    const record = this.#record
    const line = this.shared.batch_line
    const date_expected = this.#expectedDate(created)
    const date = BATCH_HEADER.effective_date
    if (date_expected !== null) findings.add('N_EFFDATE', { line, place: date, found: fieldText(record, date), expected: date_expected })
    const expected = this.#expectedDescription(created)
    const place = BATCH_HEADER.description
    if (expected !== null) findings.add('N_DESC', { line, place, found: fieldText(record, place).trimEnd(), expected })
  }

  /** Compares a record of type 8 with the batch. */
  checkControl(record: string, line: number, findings: NachaFindings): void {
    const require = findings.forRecord(record, line)
    const pairs: [NachaField, string][] = [
      [BATCH_CONTROL.service_class, this.shared.service_class],
      [BATCH_CONTROL.odfi, this.shared.odfi],
      [BATCH_CONTROL.batch_number, this.shared.batch_number],
    ]
    // The control of an ADV batch has other fields here, and many IAT files leave the company ID out.
    const unnamed = this.advice || (this.international && trimmedField(record, BATCH_CONTROL.company_id) === '')
    if (!unnamed) pairs.push([BATCH_CONTROL.company_id, this.shared.company_id])
    for (const [place, expected] of pairs) require(trimmedField(record, place) === expected.trim(), 'N_BATCH_PAIR', place, expected)
    this.totals.compare('N_B', this.advice ? { ...BATCH_CONTROL, ...ADV_BATCH_CONTROL } : BATCH_CONTROL, record, require)
  }

  /** The expected effective date; null when the stated one is valid. Returns and notices have the date of the original, or none. */
  #expectedDate(created: string | null): string | null {
    const { sec, effective_date } = this.shared
    const text = fieldText(this.#record, BATCH_HEADER.effective_date)
    const forward = this.kind === 'forward' && !UNDATED.has(sec)
    if (effective_date === null) return !forward && /^(?: {6}|0{6})$/.test(text) ? null : 'YYMMDD, for example 261124'
    return forward && created !== null && effective_date < created ? `${created} or later` : null
  }

  /**
   * The entry description that the rules require for a forward batch; null when the stated one is valid. Only descriptions that look like a
   * reserved use are checked: wages under another name are not noticed.
   */
  #expectedDescription(created: string | null): string | null {
    const { description, sec } = this.shared
    if (this.kind !== 'forward' || sec === 'ADV') return null
    if (description === '') return 'a description'
    const reserved = created !== null && created >= RESERVED_FROM
    const micro = this.#max_credit_minor < MICRO_BELOW_MINOR
    if (reserved && sec === 'PPD' && this.#has_credits && WAGES.test(description)) return description === 'PAYROLL' ? null : 'PAYROLL'
    if (reserved && sec === 'WEB' && this.#has_debits && PURCHASES.test(description)) return description === 'PURCHASE' ? null : 'PURCHASE'
    if (REVERSAL.test(description)) return description === 'REVERSAL' ? null : 'REVERSAL'
    if (description === 'ACCTVERIFY') return micro ? null : 'another word: micro entries are below one dollar'
    return micro && this.#has_credits && MICRO.test(description) ? 'ACCTVERIFY' : null
  }
}
