import { Batch, EntryTotals } from './batch.ts'
import { type NachaEntry, OpenEntry } from './entry.ts'
import {
  areDigits,
  calendarDay,
  ENTRY,
  fieldText,
  type NachaCode,
  nachaField,
  type NachaField,
  type NachaFinding,
  NachaFindings,
  type NachaKind,
  routingCheckDigit,
  statesNumber,
  TraceNumbers,
  trimmedField,
} from './format.ts'

const RECORD_CHARS = 94
const WHOLE_RECORD = nachaField('record', 1, RECORD_CHARS)
const RECORD_TYPE = nachaField('record_type', 1, 1)

const FILE_HEADER = {
  priority: nachaField('priority_code', 2, 3),
  destination: nachaField('immediate_destination', 4, 13),
  origin: nachaField('immediate_origin', 14, 23),
  date: nachaField('file_creation_date', 24, 29),
  time: nachaField('file_creation_time', 30, 33),
  modifier: nachaField('file_id_modifier', 34, 34),
  constants: nachaField('record_size_blocking_format', 35, 40),
  destination_name: nachaField('immediate_destination_name', 41, 63),
  origin_name: nachaField('immediate_origin_name', 64, 86),
} as const

const FILE_CONTROL = {
  batches: nachaField('batch_count', 2, 7),
  blocks: nachaField('block_count', 8, 13),
  count: nachaField('entry_addenda_count', 14, 21),
  hash: nachaField('entry_hash', 22, 31),
  debit: nachaField('total_debit_amount', 32, 43),
  credit: nachaField('total_credit_amount', 44, 55),
} as const

const ADV_FILE_CONTROL = { debit: nachaField('total_debit_amount', 32, 51), credit: nachaField('total_credit_amount', 52, 71) } as const

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

const LF = 10
const CR = 13
const TWO_RECORDS = 2 * RECORD_CHARS

/**
 * Splits text into records: at LF, CRLF or CR, and after every 94 characters in a line of two records or more, as in files without line
 * ends. A line of any other length is emitted whole. The result does not depend on how the text was cut into chunks, and at most two
 * records are buffered.
 */
function lineSplitter(emit: (text: string, line: number) => void): { write(text: string): void; end(): void } {
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
    this.#batch = new Batch(record, line, this.#last_batch_number, this.#findings)
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
    this.#entry.addAddenda(record, line, this.#findings)
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
    batch.checkControl(record, line, this.#findings)
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
    entry.check(this.#traces, this.#findings)
    if (complete && !this.#traces.complete) this.#findings.add('N_TRACE_BOUND', { line: entry.line, place: ENTRY.trace })
    batch.add(entry)
    this.#kinds[entry.kind]++
    if (entry.use === 'prenote') this.#prenotes++
    this.#onEntry?.(entry.publicEntry())
  }

  #closeBatch(): void {
    this.#closeEntry()
    if (this.#batch === null) return
    this.#batch.checkWhole(this.#file?.creation_date ?? null, this.#findings)
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
