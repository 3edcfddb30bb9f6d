import {
  ADV_BATCH_CONTROL,
  ADV_FILE_CONTROL,
  areDigits,
  BATCH_CONTROL,
  BATCH_HEADER,
  ENTRY,
  ENTRY_CLASSES,
  fieldText,
  FILE_CONTROL,
  FILE_HEADER,
  lineSplitter,
  type NachaCode,
  type NachaField,
  type NachaFinding,
  NachaFindings,
  type NachaKind,
  RECORD_CHARS,
  RECORD_TYPE,
  routingCheckDigit,
  statesNumber,
  trimmedField,
  WHOLE_RECORD,
} from './format.ts'
import { addAddenda, type Batch, checkEntry, EntryTotals, type NachaEntry, OpenEntry, publicEntry, TraceNumbers } from './entry.ts'

/** Totals of the records themselves, not of what control records state. */
interface NachaTotals {
  records: number
  batches: number
  entries: number
  addenda: number
  forward: number
  returns: number
  notices: number
  prenotes: number
  credit_minor: bigint
  debit_minor: bigint
  /** The sum of the eight-digit receiving DFI numbers, its last ten digits. */
  entry_hash: string
}

export interface NachaReport {
  /** No finding of severity error. */
  valid: boolean
  /** In order of lines; at most `max_findings`. */
  findings: NachaFinding[]
  /** All findings by code, including those above the maximum. */
  counts: Partial<Record<NachaCode, number>>
  findings_cut: boolean
  file: ReturnType<typeof readFileHeader> | null
  totals: NachaTotals
  /** Every trace number was compared with all before it. */
  traces_complete: boolean
}

export interface NachaOptions {
  /** Called for each entry inside a batch, in the order of the file, as soon as its addenda are read. */
  onEntry?: (entry: NachaEntry) => void
  /** Maximum number of findings in the report; 200 by default. */
  max_findings?: number
  /** Maximum number of trace numbers in memory; a million by default. */
  max_traces?: number
}

const SERVICE_CLASSES = new Set(['200', '220', '225', '280'])
/** Classes whose effective date has no meaning. */
const UNDATED = new Set(['ACK', 'ADV', 'ATX', 'DNE', 'ENR'])

/** Reads and checks a record of type 5. `last_number` is the number of the batch before. */
function openBatch(record: string, line: number, last_number: string, findings: NachaFindings): Batch {
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
  return {
    record,
    shared: {
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
    },
    rules,
    advice,
    international: sec === 'IAT' || (sec === 'COR' && company === 'IATCOR'),
    totals: new EntryTotals(),
    last_trace: '',
    kind: sec === 'COR' ? 'noc' : null,
    has_credits: false,
    has_debits: false,
    max_credit_minor: 0n,
  }
}

/** The day of a YYMMDD field as YYYY-MM-DD, in this century; null when it is not in the calendar. */
function calendarDay(text: string): string | null {
  if (text.length !== 6 || !areDigits(text)) return null
  const day = `20${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4)}`
  const time = Date.parse(`${day}T00:00:00Z`)
  // Engines may read 31 February as 3 March: the date must not change.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) ? day : null
}

/** Checks that need all entries of the batch. */
function checkWholeBatch(batch: Batch, created: string | null, findings: NachaFindings): void {
  const { record } = batch
  const line = batch.shared.batch_line
  const date_expected = expectedDate(batch, created)
  const date = BATCH_HEADER.effective_date
  if (date_expected !== null) findings.add('N_EFFDATE', { line, place: date, found: fieldText(record, date), expected: date_expected })
  const expected = expectedDescription(batch, created)
  const place = BATCH_HEADER.description
  if (expected !== null) findings.add('N_DESC', { line, place, found: fieldText(record, place).trimEnd(), expected })
}

/** The expected effective date; null when the stated one is valid. Returns and notices have the date of the original, or none. */
function expectedDate({ record, kind, shared }: Batch, created: string | null): string | null {
  const { sec, effective_date } = shared
  const text = fieldText(record, BATCH_HEADER.effective_date)
  const forward = kind === 'forward' && !UNDATED.has(sec)
  if (effective_date === null) return !forward && /^(?: {6}|0{6})$/.test(text) ? null : 'YYMMDD, for example 261124'
  return forward && created !== null && effective_date < created ? `${created} or later` : null
}

/** The Nacha risk rules reserve PAYROLL and PURCHASE from this day on. */
const RESERVED_FROM = '2026-03-20'
const WAGES = /^(?:PAY ?ROLL|PAYCHECK|WAGES?\b|SALAR(?:Y|IES)\b|DIR(?:ECT)? ?DEP)/i
const PURCHASES = /^(?:PURCHASE|PURCH\b|ONLINE ?(?:BUY|PUR|ORD)|WEB ?(?:PUR|ORD)|E-?COMM)/i
const MICRO = /^(?:AC+(?:OUN)?T?\.? ?VER|MICRO|VERIFY|TRIAL ?DEP)/i
const REVERSAL = /^(?:REVERS|REVRS|RVRSL)/i
const MICRO_BELOW_MINOR = 100n

/**
 * The entry description that the rules require for a forward batch; null when the stated one is valid. Only descriptions that look like a
 * reserved use are checked: wages under another name are not noticed.
 */
function expectedDescription(batch: Batch, created: string | null): string | null {
  const { kind, has_credits, has_debits } = batch
  const { description, sec } = batch.shared
  if (kind !== 'forward' || sec === 'ADV') return null
  if (description === '') return 'a description'
  const reserved = created !== null && created >= RESERVED_FROM
  const micro = batch.max_credit_minor < MICRO_BELOW_MINOR
  if (reserved && sec === 'PPD' && has_credits && WAGES.test(description)) return description === 'PAYROLL' ? null : 'PAYROLL'
  if (reserved && sec === 'WEB' && has_debits && PURCHASES.test(description)) return description === 'PURCHASE' ? null : 'PURCHASE'
  if (REVERSAL.test(description)) return description === 'REVERSAL' ? null : 'REVERSAL'
  if (description === 'ACCTVERIFY') return micro ? null : 'another word: micro entries are below one dollar'
  return micro && has_credits && MICRO.test(description) ? 'ACCTVERIFY' : null
}

/** Compares a record of type 8 with its batch. */
function checkBatchControl(batch: Batch, record: string, line: number, findings: NachaFindings): void {
  const require = findings.forRecord(record, line)
  const pairs: [NachaField, string][] = [
    [BATCH_CONTROL.service_class, batch.shared.service_class],
    [BATCH_CONTROL.odfi, batch.shared.odfi],
    [BATCH_CONTROL.batch_number, batch.shared.batch_number],
  ]
  // The control of an ADV batch has other fields here, and many IAT files leave the company ID out.
  const unnamed = batch.advice || (batch.international && trimmedField(record, BATCH_CONTROL.company_id) === '')
  if (!unnamed) pairs.push([BATCH_CONTROL.company_id, batch.shared.company_id])
  for (const [place, expected] of pairs) require(trimmedField(record, place) === expected.trim(), 'N_BATCH_PAIR', place, expected)
  batch.totals.compare('N_B', batch.advice ? { ...BATCH_CONTROL, ...ADV_BATCH_CONTROL } : BATCH_CONTROL, record, require)
}

/** Reads and checks a record of type 1. The creation date is YYYY-MM-DD, the time HHMM; null when invalid. */
function readFileHeader(record: string, line: number, findings: NachaFindings) {
  const time = fieldText(record, FILE_HEADER.time)
  const read = {
    immediate_destination: trimmedField(record, FILE_HEADER.destination),
    immediate_origin: trimmedField(record, FILE_HEADER.origin),
    creation_date: calendarDay(fieldText(record, FILE_HEADER.date)),
    creation_time: /^([01][0-9]|2[0-3])[0-5][0-9]$/.test(time) ? time : null,
    modifier: fieldText(record, FILE_HEADER.modifier),
    destination_name: trimmedField(record, FILE_HEADER.destination_name),
    origin_name: trimmedField(record, FILE_HEADER.origin_name),
  }
  const require = findings.forRecord(record, line)
  require(fieldText(record, FILE_HEADER.priority) === '01', 'N_PRIORITY', FILE_HEADER.priority, '01')
  require(isDestination(fieldText(record, FILE_HEADER.destination)), 'N_DEST_ROUTING', FILE_HEADER.destination, 'blank and 9 digits')
  require(isOrigin(fieldText(record, FILE_HEADER.origin)), 'N_ORIGIN', FILE_HEADER.origin, 'routing number or 10 characters')
  require(read.creation_date !== null, 'N_DATE', FILE_HEADER.date, 'YYMMDD, for example 261124')
  require(time.trim() === '' || read.creation_time !== null, 'N_TIME', FILE_HEADER.time, 'HHMM, for example 0930, or blank')
  require(/^[A-Z0-9]$/.test(read.modifier), 'N_MODIFIER', FILE_HEADER.modifier, 'A-Z or 0-9')
  require(fieldText(record, FILE_HEADER.constants) === '094101', 'N_HEADER_CONST', FILE_HEADER.constants, '094101')
  return read
}

/** A blank and a routing number. Some operators' systems write a zero instead of the blank. */
function isDestination(field: string): boolean {
  const nine = field.slice(1)
  return /^[ 0]/.test(field) && nine.length === 9 && nine !== '000000000' && routingCheckDigit(nine.slice(0, 8)) === nine.charAt(8)
}

function isOrigin(field: string): boolean {
  return isDestination(field) || (/^[A-Z0-9]{10}$/.test(field) && !(field.startsWith('0') && areDigits(field)))
}

const UNPRINTABLE = /[^\x20-\x7E]/u
/** The last column that must be filled: headers and controls of files end in fields that may be blank, all other records in numbers. */
const LAST_FILLED: Readonly<Record<string, number>> = { '1': 40, '9': 55 }

/** Checks length and characters of a line and returns it as a record of 94 characters. */
function checkLine(text: string, line: number, findings: NachaFindings): string {
  const record = line === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text
  const odd = UNPRINTABLE.exec(text)
  if (odd !== null) {
    const column = odd.index + 1
    findings.add('N_CHARSET', { line, place: { field: 'record', from: column, to: column }, found: odd[0], expected: 'printable ASCII' })
  }
  if (record.length !== RECORD_CHARS) {
    const trimmed = record.length < RECORD_CHARS && record.length >= (LAST_FILLED[record.charAt(0)] ?? RECORD_CHARS)
    const severity = trimmed ? 'warning' : 'error'
    findings.add('N_LEN', { line, place: WHOLE_RECORD, found: `${record.length} characters`, expected: '94 characters', severity })
  }
  return record.slice(0, RECORD_CHARS).padEnd(RECORD_CHARS)
}

function isFiller(text: string): boolean {
  return /^9+$/.test(text)
}

const BLOCKING_FACTOR = 10
const MAX_FINDINGS = 200
const MAX_TRACES = 1_000_000

/** Records that may come next: the file header; a batch or the file control; entries; addenda or entries; skipped records; filler. */
type Phase = 'start' | 'file' | 'batch' | 'entry' | 'skipping' | 'done'

/**
 * Reads an ACH file (Nacha Operating Rules, appendices one to four, 2026) in chunks of any size and checks it against `NACHA_RULES`. Lines
 * may end in LF, CRLF, CR or, without line ends, after each 94 characters; missing blanks at the right end are added.
 *
 * Memory does not grow with the file except for trace numbers: a million are stored (`max_traces`), above that the report has
 * `traces_complete: false`. Nothing throws. Where publications differ, both forms are valid; a total with an unreadable field is not
 * checked.
 */
export function nachaReader(options: NachaOptions = {}): { write(text: string): void; end(): NachaReport } {
  const reader = new Reader(options)
  const lines = lineSplitter((text, line) => reader.line(text, line))
  return {
    write: (text) => lines.write(text),
    end: () => {
      lines.end()
      return reader.end()
    },
  }
}

class Reader {
  readonly #onEntry: NachaOptions['onEntry']
  readonly #findings: NachaFindings
  readonly #traces: TraceNumbers
  readonly #totals = new EntryTotals()
  readonly #kinds: Record<NachaKind, number> = { forward: 0, return: 0, noc: 0 }
  #prenotes = 0
  #phase: Phase = 'start'
  #file: NachaReport['file'] = null
  #batch: Batch | null = null
  #entry: OpenEntry | null = null
  #last_batch_number = ''
  #control: { record: string; line: number } | null = null
  #batches = 0
  /** All records from the file header to the file control. */
  #records = 0
  #fillers = 0
  /** The control of a file with advices has wider totals. */
  #advices = false
  /** A record was skipped, so that the totals of the file are unknown. */
  #skipped = false
  #control_missed = false
  #blank_line = 0
  #last_line = 0

  constructor({ onEntry, max_findings = MAX_FINDINGS, max_traces = MAX_TRACES }: NachaOptions) {
    this.#onEntry = onEntry
    this.#findings = new NachaFindings(max_findings)
    this.#traces = new TraceNumbers(max_traces)
  }

  line(text: string, line: number): void {
    // Blank lines at the end of a file have no meaning, nor has the end-of-file mark of old systems.
    if (text.trim() === '' || text === '\u001A') {
      if (this.#blank_line === 0) this.#blank_line = line
      return
    }
    this.#last_line = line
    if (this.#phase === 'done') return this.#afterControl(text, line)
    if (this.#blank_line > 0) {
      this.#findings.add('N_LEN', { line: this.#blank_line, place: WHOLE_RECORD, found: '', expected: '94 characters' })
    }
    this.#blank_line = 0
    if (isFiller(text)) return this.#earlyFiller(text, line)
    this.#records++
    this.#record(checkLine(text, line, this.#findings), line)
  }

  /** Reported once: many files end in filler without a file control. */
  #earlyFiller(text: string, line: number): void {
    if (!this.#control_missed) this.#disorder(line, text, 'the file control before filler')
    this.#control_missed = true
  }

  #record(record: string, line: number): void {
    const type = record.charAt(0)
    switch (type) {
      case '1':
        return this.#fileHeader(record, line)
      case '5':
        return this.#batchHeader(record, line)
      case '6':
        return this.#entryDetail(record, line)
      case '7':
        return this.#addenda(record, line)
      case '8':
        return this.#batchControl(record, line)
      case '9':
        return this.#fileControl(record, line)
      default:
        return this.#disorder(line, type, 'a record of type 1, 5, 6, 7, 8 or 9')
    }
  }

  #disorder(line: number, found: string, expected: string): void {
    this.#findings.add('N_ORDER', { line, place: RECORD_TYPE, found, expected })
  }

  #empty(line: number, found: string, expected: string): void {
    this.#findings.add('N_EMPTY', { line, place: RECORD_TYPE, found, expected })
  }

  #fileHeader(record: string, line: number): void {
    if (this.#phase !== 'start') return this.#disorder(line, '1', 'one file header, at the start')
    this.#file = readFileHeader(record, line, this.#findings)
    this.#phase = 'file'
  }

  #batchHeader(record: string, line: number): void {
    if (this.#phase === 'start') this.#disorder(line, '5', 'a file header first')
    if (this.#batch !== null) this.#disorder(line, '5', 'the control of the batch before')
    this.#closeBatch()
    this.#batch = openBatch(record, line, this.#last_batch_number, this.#findings)
    this.#last_batch_number = this.#batch.shared.batch_number
    this.#batches++
    this.#advices ||= this.#batch.advice
    this.#phase = 'batch'
  }

  #entryDetail(record: string, line: number): void {
    if (this.#batch === null) return this.#skip(line, '6')
    this.#closeEntry()
    this.#entry = new OpenEntry(record, line, this.#batch)
    this.#phase = 'entry'
  }

  #addenda(record: string, line: number): void {
    if (this.#batch === null) return this.#skip(line, '7')
    if (this.#entry === null) return this.#disorder(line, '7', 'an entry before its addenda')
    addAddenda(this.#entry, this.#batch, record, line, this.#findings)
    this.#batch.totals.addenda++
  }

  #batchControl(record: string, line: number): void {
    const batch = this.#batch
    if (batch === null) {
      if (this.#phase !== 'skipping') this.#skip(line, '8')
      this.#phase = 'file'
      return
    }
    if (this.#phase === 'batch') this.#empty(line, '8', 'an entry before the batch control')
    this.#closeBatch()
    checkBatchControl(batch, record, line, this.#findings)
    this.#phase = 'file'
  }

  #fileControl(record: string, line: number): void {
    if (this.#phase !== 'file' && this.#phase !== 'skipping') this.#disorder(line, '9', 'the control of the batch before')
    else if (this.#batches === 0 && !this.#skipped) this.#empty(line, '9', 'a batch before the file control')
    this.#closeBatch()
    this.#control = { record, line }
    this.#phase = 'done'
  }

  /** Skips a record outside any batch; the first one before the next batch is reported. */
  #skip(line: number, type: string): void {
    if (this.#phase !== 'skipping') this.#disorder(line, type, 'a batch header first')
    this.#phase = 'skipping'
    this.#skipped = true
  }

  #closeEntry(): void {
    const [entry, batch] = [this.#entry, this.#batch]
    this.#entry = null
    if (entry === null || batch === null) return
    const { complete } = this.#traces
    checkEntry(entry, batch, this.#traces, this.#findings)
    if (complete && !this.#traces.complete) this.#findings.add('N_TRACE_BOUND', { line: entry.line, place: ENTRY.trace })
    const { direction, amount_minor } = entry
    batch.totals.add(entry)
    if (direction === 'credit') batch.has_credits = true
    if (direction === 'debit') batch.has_debits = true
    if (direction === 'credit' && (amount_minor ?? 0n) > batch.max_credit_minor) batch.max_credit_minor = amount_minor ?? 0n
    this.#kinds[entry.kind]++
    if (entry.use === 'prenote') this.#prenotes++
    this.#onEntry?.(publicEntry(entry, batch))
  }

  #closeBatch(): void {
    this.#closeEntry()
    if (this.#batch === null) return
    checkWholeBatch(this.#batch, this.#file?.creation_date ?? null, this.#findings)
    this.#totals.addAll(this.#batch.totals)
    this.#batch = null
  }

  #afterControl(text: string, line: number): void {
    const filler = isFiller(text)
    if (filler || text.startsWith('99')) {
      this.#fillers++
      if (filler && text.length === RECORD_CHARS) return
      return this.#findings.add('N_PADDING', { line, place: WHOLE_RECORD, found: text, expected: '94 nines' })
    }
    this.#findings.add('N_AFTER_CONTROL', { line, place: WHOLE_RECORD, found: text.slice(0, RECORD_CHARS), expected: 'filler or the end' })
  }

  /** Compares a record of type 9 with the whole file. */
  #checkFileControl(record: string, line: number): void {
    const require = this.#findings.forRecord(record, line)
    const field = (place: NachaField, number: number, known: boolean, code: NachaCode) =>
      require(known || statesNumber(fieldText(record, place), BigInt(number)), code, place, `${number}`.padStart(6, '0'))
    if (!this.#skipped) {
      field(FILE_CONTROL.batches, this.#batches, false, 'N_F_BATCHES')
      this.#totals.compare('N_F', this.#advices ? { ...FILE_CONTROL, ...ADV_FILE_CONTROL } : FILE_CONTROL, record, require)
    }
    // Some systems add whole blocks of filler and count them.
    const with_filler = Math.ceil((this.#records + this.#fillers) / BLOCKING_FACTOR)
    const counts_filler = statesNumber(fieldText(record, FILE_CONTROL.blocks), BigInt(with_filler))
    field(FILE_CONTROL.blocks, Math.ceil(this.#records / BLOCKING_FACTOR), counts_filler, 'N_F_BLOCKS')
  }

  #checkPadding(line: number): void {
    const lines = this.#records + this.#fillers
    const over = lines % BLOCKING_FACTOR
    if (over === 0) return
    const expected = `${BLOCKING_FACTOR - over} more lines of filler`
    this.#findings.add('N_PADDING', { line, place: null, found: `${lines} lines`, expected })
  }

  end(): NachaReport {
    this.#closeBatch()
    const line = Math.max(this.#last_line, 1)
    if (this.#control !== null) {
      this.#checkFileControl(this.#control.record, this.#control.line)
      this.#checkPadding(line)
    } else if (!this.#control_missed) this.#disorder(line, '', this.#phase === 'start' ? 'a file header' : 'a file control at the end')
    const { forward, return: returns, noc: notices } = this.#kinds
    const { entries, addenda, credit_minor, debit_minor, entry_hash } = this.#totals
    const counts = { records: this.#records, batches: this.#batches, entries, addenda, forward, returns, notices, prenotes: this.#prenotes }
    return {
      ...this.#findings.report(),
      file: this.#file,
      totals: { ...counts, credit_minor, debit_minor, entry_hash },
      traces_complete: this.#traces.complete,
    }
  }
}
