/** A field of a record: its name, first and last column, both counted from 1 and included. */
export interface Place {
  field: string
  from: number
  to: number
}

export const RECORD_CHARS = 94

/** The text of a field, blanks and all. */
export function cut(record: string, { from, to }: Place): string {
  return record.slice(from - 1, to)
}

/** The text of a field without blanks at its ends. */
export function cutTrimmed(record: string, place: Place): string {
  return cut(record, place).trim()
}

function placeOf(field: string, from: number, to: number): Place {
  return Object.freeze({ field, from, to })
}

export const WHOLE = placeOf('record', 1, RECORD_CHARS)
export const RECORD_TYPE = placeOf('record_type', 1, 1)

export const FILE_HEADER = {
  priority: placeOf('priority_code', 2, 3),
  destination: placeOf('immediate_destination', 4, 13),
  origin: placeOf('immediate_origin', 14, 23),
  date: placeOf('file_creation_date', 24, 29),
  time: placeOf('file_creation_time', 30, 33),
  modifier: placeOf('file_id_modifier', 34, 34),
  constants: placeOf('record_size_blocking_format', 35, 40),
  destination_name: placeOf('immediate_destination_name', 41, 63),
  origin_name: placeOf('immediate_origin_name', 64, 86),
} as const

export const BATCH_HEADER = {
  service_class: placeOf('service_class_code', 2, 4),
  company_name: placeOf('company_name', 5, 20),
  company_id: placeOf('company_identification', 41, 50),
  sec: placeOf('standard_entry_class_code', 51, 53),
  description: placeOf('company_entry_description', 54, 63),
  effective_date: placeOf('effective_entry_date', 70, 75),
  settlement_julian: placeOf('settlement_date', 76, 78),
  odfi: placeOf('originating_dfi_identification', 80, 87),
  batch_number: placeOf('batch_number', 88, 94),
} as const

export const ENTRY = {
  transaction_code: placeOf('transaction_code', 2, 3),
  rdfi: placeOf('receiving_dfi_identification', 4, 11),
  check_digit: placeOf('check_digit', 12, 12),
  routing: placeOf('receiving_dfi_with_check_digit', 4, 12),
  account: placeOf('dfi_account_number', 13, 29),
  amount: placeOf('amount', 30, 39),
  individual_id: placeOf('individual_identification_number', 40, 54),
  name: placeOf('individual_name', 55, 76),
  addenda_flag: placeOf('addenda_record_indicator', 79, 79),
  trace: placeOf('trace_number', 80, 94),
  trace_odfi: placeOf('trace_number', 80, 87),
  sequence: placeOf('trace_number', 88, 94),
} as const

/** Fields that stand elsewhere in some classes. */
export const ENTRY_VARIANT = {
  adv_account: placeOf('dfi_account_number', 13, 27),
  adv_amount: placeOf('amount', 28, 39),
  iat_addenda: placeOf('number_of_addenda_records', 13, 16),
  iat_account: placeOf('foreign_receivers_account_number', 40, 74),
  exchange_addenda: placeOf('number_of_addenda_records', 55, 58),
  exchange_name: placeOf('receiving_company_name', 59, 74),
  cie_name: placeOf('individual_name', 40, 54),
  cie_id: placeOf('individual_identification_number', 55, 76),
  /** Whichever way round name and number stand: publications differ. */
  machine_name: placeOf('individual_name_and_number', 40, 76),
} as const

export const ADDENDA = {
  type: placeOf('addenda_type_code', 2, 3),
  payment_info: placeOf('payment_related_information', 4, 83),
  sequence: placeOf('addenda_sequence_number', 84, 87),
  entry_sequence: placeOf('entry_detail_sequence_number', 88, 94),
  code: placeOf('return_reason_or_change_code', 4, 6),
  original_trace: placeOf('original_entry_trace_number', 7, 21),
  original_rdfi: placeOf('original_receiving_dfi', 28, 35),
  corrected_data: placeOf('corrected_data', 36, 64),
  iat_corrected_data: placeOf('corrected_data', 36, 70),
  iat_name: placeOf('receiving_company_or_individual_name', 47, 81),
} as const

export const BATCH_CONTROL = {
  service_class: placeOf('service_class_code', 2, 4),
  count: placeOf('entry_addenda_count', 5, 10),
  hash: placeOf('entry_hash', 11, 20),
  debit: placeOf('total_debit_amount', 21, 32),
  credit: placeOf('total_credit_amount', 33, 44),
  company_id: placeOf('company_identification', 45, 54),
  odfi: placeOf('originating_dfi_identification', 80, 87),
  batch_number: placeOf('batch_number', 88, 94),
} as const

export const ADV_BATCH_CONTROL = { debit: placeOf('total_debit_amount', 21, 40), credit: placeOf('total_credit_amount', 41, 60) } as const

export const FILE_CONTROL = {
  batches: placeOf('batch_count', 2, 7),
  blocks: placeOf('block_count', 8, 13),
  count: placeOf('entry_addenda_count', 14, 21),
  hash: placeOf('entry_hash', 22, 31),
  debit: placeOf('total_debit_amount', 32, 43),
  credit: placeOf('total_credit_amount', 44, 55),
} as const

export const ADV_FILE_CONTROL = { debit: placeOf('total_debit_amount', 32, 51), credit: placeOf('total_credit_amount', 52, 71) } as const

const LF = 10
const CR = 13
const TWO_RECORDS = 2 * RECORD_CHARS

/** Fed with text in pieces of any size; `end` gives out what is left. */
interface LineSplitter {
  write(text: string): void
  end(): void
}

/**
 * Splits text into records: at LF, CRLF or CR, and every 94 characters in a line that is longer than two records, or exactly two, as in
 * files without line ends. A line of any other length comes as it is. What comes out does not depend on how the text was cut into pieces,
 * and never more than two records are held back.
 */
export function lineSplitter(emit: (text: string, line: number) => void): LineSplitter {
  let held = ''
  /** The line under way is longer than two records and given out in slices. */
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

  /** The start of what is left, when the line that begins at `start` is too long to be one record. */
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
    let at = held.length
    let start = 0
    const text = held + chunk
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
    held = text.slice(start)
  }

  function end(): void {
    if (held !== '') endLine(held)
    held = ''
  }

  return { write, end }
}
