import { Findings } from './findings.ts'
import {
  ADV_FILE_CONTROL,
  cut,
  cutTrimmed,
  ENTRY,
  FILE_CONTROL,
  FILE_HEADER,
  lineSplitter,
  type Place,
  RECORD_CHARS,
  RECORD_TYPE,
  WHOLE,
} from './layout.ts'
import { addEntry, addSums, compareTotals, hashText, states, type Sums, sumsOf } from './sums.ts'
import type { NachaFileHeader, NachaKind, NachaOptions, NachaReader, NachaReport } from './types.ts'
import { areDigits, dayOf, isRouting, isTimeOfDay } from './values.ts'
import { addAddenda, entryRead, judgeEntry, openEntry, type OpenEntry, Traces } from './entry.ts'
import { type Batch, judgeBatchControl, judgeWholeBatch, openBatch } from './batch.ts'
export type { NachaEntry, NachaFinding, NachaOptions, NachaReader, NachaReport } from './types.ts'

const BLOCKING_FACTOR = 10

/** What was met in the file. */
interface Counted {
  batches: number
  /** All records from the file header to the file control. */
  records: number
  fillers: number
  /** A file of advices has wider totals. */
  advices: boolean
  /** No record had to be skipped. */
  known: boolean
}

/** Holds a record of type 9 against the whole file. */
function judgeFileControl(control: { record: string; line: number }, sums: Sums, counted: Counted, findings: Findings): void {
  const { record, line } = control
  const { batches, records, fillers, known, advices } = counted
  if (known) {
    const place = FILE_CONTROL.batches
    const found = cut(record, place)
    if (!states(found, BigInt(batches))) findings.add('N_F_BATCHES', { line, place, found, expected: `${batches}`.padStart(6, '0') })
    compareTotals('N_F', advices ? { ...FILE_CONTROL, ...ADV_FILE_CONTROL } : FILE_CONTROL, sums, control, findings)
  }
  const blocks = Math.ceil(records / BLOCKING_FACTOR)
  // Some add whole blocks of filler and count them.
  const with_filler = Math.ceil((records + fillers) / BLOCKING_FACTOR)
  const place = FILE_CONTROL.blocks
  const found = cut(record, place)
  if (states(found, BigInt(blocks)) || states(found, BigInt(with_filler))) return
  findings.add('N_F_BLOCKS', { line, place, found, expected: `${blocks}`.padStart(6, '0') })
}

function judgePadding({ records, fillers }: Counted, line: number, findings: Findings): void {
  const over = (records + fillers) % BLOCKING_FACTOR
  if (over === 0) return
  findings.add('N_PADDING', {
    line,
    place: null,
    found: `${records + fillers} lines`,
    expected: `${BLOCKING_FACTOR - over} lines of filler more`,
  })
}

/** Reads and judges a record of type 1. */
function readFileHeader(record: string, line: number, findings: Findings): NachaFileHeader {
  const time = cut(record, FILE_HEADER.time)
  const read: NachaFileHeader = {
    immediate_destination: cutTrimmed(record, FILE_HEADER.destination),
    immediate_origin: cutTrimmed(record, FILE_HEADER.origin),
    creation_date: dayOf(cut(record, FILE_HEADER.date)),
    creation_time: isTimeOfDay(time) ? time : null,
    modifier: cut(record, FILE_HEADER.modifier),
    destination_name: cutTrimmed(record, FILE_HEADER.destination_name),
    origin_name: cutTrimmed(record, FILE_HEADER.origin_name),
  }
  const demand = (holds: boolean, code: Parameters<Findings['add']>[0], place: Place, expected: string) => {
    if (!holds) findings.add(code, { line, place, found: cut(record, place), expected })
  }
  demand(cut(record, FILE_HEADER.priority) === '01', 'N_PRIORITY', FILE_HEADER.priority, '01')
  demand(isDestination(cut(record, FILE_HEADER.destination)), 'N_DEST_ROUTING', FILE_HEADER.destination, 'blank and 9 digits')
  demand(isOrigin(cut(record, FILE_HEADER.origin)), 'N_ORIGIN', FILE_HEADER.origin, 'routing number or 10 characters')
  demand(read.creation_date !== null, 'N_DATE', FILE_HEADER.date, 'YYMMDD')
  demand(time.trim() === '' || read.creation_time !== null, 'N_TIME', FILE_HEADER.time, 'HHMM or blank')
  demand(/^[A-Z0-9]$/.test(read.modifier), 'N_MODIFIER', FILE_HEADER.modifier, 'A-Z or 0-9')
  demand(cut(record, FILE_HEADER.constants) === '094101', 'N_HEADER_CONST', FILE_HEADER.constants, '094101')
  return read
}

/** Some operators' systems fill the first column with a zero; that says the same. */
function isDestination(field: string): boolean {
  return /^[ 0]/.test(field) && isRouting(field.slice(1))
}

function isOrigin(field: string): boolean {
  return isDestination(field) || (/^[A-Z0-9]{10}$/.test(field) && !(field.startsWith('0') && areDigits(field)))
}

const UNPRINTABLE = /[^\x20-\x7E]/u
/** The last column that must be filled: headers and controls of files end in fields that may be blank, all others in numbers. */
const LAST_FILLED: Readonly<Record<string, number>> = { '1': 40, '9': 55 }

function isFiller(text: string): boolean {
  return /^9+$/.test(text)
}

/** Judges a line as such and gives it the 94 characters of a record. */
function judgeLine(text: string, line: number, findings: Findings): string {
  const unmarked = line === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text
  const odd = UNPRINTABLE.exec(text)
  if (odd !== null) {
    const column = odd.index + 1
    findings.add('N_CHARSET', { line, place: { field: 'record', from: column, to: column }, found: odd[0], expected: 'printable ASCII' })
  }
  if (unmarked.length !== RECORD_CHARS) {
    const trimmed = unmarked.length < RECORD_CHARS && unmarked.length >= (LAST_FILLED[unmarked.charAt(0)] ?? RECORD_CHARS)
    const severity = trimmed ? 'warning' : 'error'
    findings.add('N_LEN', { line, place: WHOLE, found: `${unmarked.length} characters`, expected: '94 characters', severity })
  }
  return unmarked.slice(0, RECORD_CHARS).padEnd(RECORD_CHARS)
}

const MAX_FINDINGS = 200
const MAX_TRACES = 1_000_000

/** What may come next: the file header; a batch or the file control; entries; addenda or entries; what we skip; filler. */
type Phase = 'start' | 'file' | 'batch' | 'entry' | 'lost' | 'done'

/**
 * Reads an ACH file (Nacha Operating Rules, appendices one to four, 2026) that is written in pieces, and judges it by the rules in
 * `rules.ts`. Lines may end in LF, CRLF, CR or, when there are none, after each 94 characters; blanks lost at the right end are put back.
 *
 * Memory does not grow with the file, but for the trace numbers: a million are remembered (`max_traces`), and past that the report says
 * `traces_complete: false`. Nothing throws. Errs towards valid where publications differ, and where a field that cannot be read makes a
 * sum unknown, that sum is not judged.
 */
export function nachaReader(options: NachaOptions = {}): NachaReader {
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
  readonly #findings: Findings
  readonly #traces: Traces
  readonly #sums = sumsOf()
  readonly #kinds: Record<NachaKind, number> = { forward: 0, return: 0, noc: 0 }
  #prenotes = 0
  #phase: Phase = 'start'
  #file: NachaFileHeader | null = null
  #batch: Batch | null = null
  #entry: OpenEntry | null = null
  #last_batch_number = ''
  #control: { record: string; line: number } | null = null
  #counted: Counted = { batches: 0, records: 0, fillers: 0, advices: false, known: true }
  #control_missed = false
  #blank_line = 0
  #last_line = 0

  constructor({ onEntry, max_findings = MAX_FINDINGS, max_traces = MAX_TRACES }: NachaOptions) {
    this.#onEntry = onEntry
    this.#findings = new Findings(max_findings)
    this.#traces = new Traces(max_traces)
  }

  line(text: string, line: number): void {
    // Blank lines at the end of a file mean nothing, nor does the end-of-file mark of old systems.
    if (text.trim() === '' || text === '\u001A') {
      if (this.#blank_line === 0) this.#blank_line = line
      return
    }
    this.#last_line = line
    if (this.#phase === 'done') return this.#afterControl(text, line)
    if (this.#blank_line > 0) this.#findings.add('N_LEN', { line: this.#blank_line, place: WHOLE, found: '', expected: '94 characters' })
    this.#blank_line = 0
    if (isFiller(text)) return this.#earlyFiller(text, line)
    this.#counted.records++
    this.#record(judgeLine(text, line, this.#findings), line)
  }

  /** Told once: many files end in filler without their control. */
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
    this.#last_batch_number = this.#batch.number
    this.#counted.batches++
    this.#counted.advices ||= this.#batch.rules?.advice === true
    this.#phase = 'batch'
  }

  #entryDetail(record: string, line: number): void {
    if (this.#batch === null) return this.#stray(line, '6')
    this.#closeEntry()
    this.#entry = openEntry(record, line, this.#batch)
    this.#phase = 'entry'
  }

  #addenda(record: string, line: number): void {
    if (this.#batch === null) return this.#stray(line, '7')
    if (this.#entry === null) return this.#disorder(line, '7', 'an entry before its addenda')
    addAddenda(this.#entry, this.#batch, record, line, this.#findings)
    this.#batch.sums.addenda++
  }

  #batchControl(record: string, line: number): void {
    const batch = this.#batch
    if (batch === null) {
      if (this.#phase !== 'lost') this.#stray(line, '8')
      this.#phase = 'file'
      return
    }
    if (this.#phase === 'batch') this.#empty(line, '8', 'an entry before the batch control')
    this.#closeBatch()
    judgeBatchControl(batch, record, line, this.#findings)
    this.#phase = 'file'
  }

  #fileControl(record: string, line: number): void {
    if (this.#phase !== 'file' && this.#phase !== 'lost') this.#disorder(line, '9', 'the control of the batch before')
    else if (this.#counted.batches === 0 && this.#counted.known) this.#empty(line, '9', 'a batch before the file control')
    this.#closeBatch()
    this.#control = { record, line }
    this.#phase = 'done'
  }

  /** Records outside any batch are told once and skipped up to the next batch; the totals of the file are then unknown. */
  #stray(line: number, type: string): void {
    if (this.#phase !== 'lost') this.#disorder(line, type, 'a batch header first')
    this.#phase = 'lost'
    this.#counted.known = false
  }

  #closeEntry(): void {
    const [entry, batch] = [this.#entry, this.#batch]
    this.#entry = null
    if (entry === null || batch === null) return
    const complete = this.#traces.complete
    judgeEntry(entry, batch, this.#traces, this.#findings)
    if (complete && !this.#traces.complete) this.#findings.add('N_TRACE_BOUND', { line: entry.line, place: ENTRY.trace })
    const { direction, amount_minor } = entry
    addEntry(batch.sums, entry.rdfi, direction, amount_minor)
    if (direction === 'credit') batch.has_credits = true
    if (direction === 'debit') batch.has_debits = true
    if (direction === 'credit' && (amount_minor ?? 0n) > batch.max_credit_minor) batch.max_credit_minor = amount_minor ?? 0n
    this.#kinds[entry.kind]++
    if (entry.use === 'prenote') this.#prenotes++
    this.#onEntry?.(entryRead(entry, batch))
  }

  #closeBatch(): void {
    this.#closeEntry()
    if (this.#batch === null) return
    judgeWholeBatch(this.#batch, this.#file, this.#findings)
    addSums(this.#sums, this.#batch.sums)
    this.#batch = null
  }

  #afterControl(text: string, line: number): void {
    const filler = isFiller(text)
    if (filler || text.startsWith('99')) {
      this.#counted.fillers++
      if (filler && text.length === RECORD_CHARS) return
      return this.#findings.add('N_PADDING', { line, place: WHOLE, found: text, expected: '94 nines' })
    }
    this.#findings.add('N_AFTER_CONTROL', { line, place: WHOLE, found: text.slice(0, RECORD_CHARS), expected: 'filler or the end' })
  }

  end(): NachaReport {
    this.#closeBatch()
    const line = Math.max(this.#last_line, 1)
    if (this.#control !== null) {
      judgeFileControl(this.#control, this.#sums, this.#counted, this.#findings)
      judgePadding(this.#counted, line, this.#findings)
    } else if (!this.#control_missed) this.#disorder(line, '', this.#phase === 'start' ? 'a file header' : 'a file control at the end')
    const { forward, return: returns, noc: notices } = this.#kinds
    const { entries, addenda, credit_minor, debit_minor } = this.#sums
    const { records, batches } = this.#counted
    const counts = { records, batches, entries, addenda, forward, returns, notices, prenotes: this.#prenotes }
    return {
      ...this.#findings.report(),
      file: this.#file,
      totals: { ...counts, credit_minor, debit_minor, entry_hash: hashText(this.#sums) },
      traces_complete: this.#traces.complete,
    }
  }
}
