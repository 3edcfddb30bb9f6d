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

function at(field: string, from: number, to: number): Place {
  return Object.freeze({ field, from, to })
}

export const WHOLE = at('record', 1, RECORD_CHARS)
export const RECORD_TYPE = at('record_type', 1, 1)

export const FILE_HEADER = {
  priority: at('priority_code', 2, 3),
  destination: at('immediate_destination', 4, 13),
  origin: at('immediate_origin', 14, 23),
  date: at('file_creation_date', 24, 29),
  time: at('file_creation_time', 30, 33),
  modifier: at('file_id_modifier', 34, 34),
  constants: at('record_size_blocking_format', 35, 40),
  destination_name: at('immediate_destination_name', 41, 63),
  origin_name: at('immediate_origin_name', 64, 86),
} as const

export const BATCH_HEADER = {
  service_class: at('service_class_code', 2, 4),
  company_name: at('company_name', 5, 20),
  company_id: at('company_identification', 41, 50),
  sec: at('standard_entry_class_code', 51, 53),
  description: at('company_entry_description', 54, 63),
  effective_date: at('effective_entry_date', 70, 75),
  settlement_julian: at('settlement_date', 76, 78),
  odfi: at('originating_dfi_identification', 80, 87),
  batch_number: at('batch_number', 88, 94),
} as const

export const ENTRY = {
  transaction_code: at('transaction_code', 2, 3),
  rdfi: at('receiving_dfi_identification', 4, 11),
  check_digit: at('check_digit', 12, 12),
  routing: at('receiving_dfi_with_check_digit', 4, 12),
  account: at('dfi_account_number', 13, 29),
  amount: at('amount', 30, 39),
  individual_id: at('individual_identification_number', 40, 54),
  name: at('individual_name', 55, 76),
  addenda_flag: at('addenda_record_indicator', 79, 79),
  trace: at('trace_number', 80, 94),
  trace_odfi: at('trace_number', 80, 87),
  sequence: at('trace_number', 88, 94),
} as const

/** Fields that stand elsewhere in some classes. */
export const ENTRY_VARIANT = {
  adv_account: at('dfi_account_number', 13, 27),
  adv_amount: at('amount', 28, 39),
  iat_addenda: at('number_of_addenda_records', 13, 16),
  iat_account: at('foreign_receivers_account_number', 40, 74),
  exchange_addenda: at('number_of_addenda_records', 55, 58),
  exchange_name: at('receiving_company_name', 59, 74),
  cie_name: at('individual_name', 40, 54),
  cie_id: at('individual_identification_number', 55, 76),
  /** Whichever way round name and number stand: publications differ. */
  machine_name: at('individual_name_and_number', 40, 76),
} as const

export const ADDENDA = {
  type: at('addenda_type_code', 2, 3),
  payment_info: at('payment_related_information', 4, 83),
  sequence: at('addenda_sequence_number', 84, 87),
  entry_sequence: at('entry_detail_sequence_number', 88, 94),
  code: at('return_reason_or_change_code', 4, 6),
  original_trace: at('original_entry_trace_number', 7, 21),
  original_rdfi: at('original_receiving_dfi', 28, 35),
  corrected_data: at('corrected_data', 36, 64),
  iat_corrected_data: at('corrected_data', 36, 70),
  iat_name: at('receiving_company_or_individual_name', 47, 81),
} as const

export const BATCH_CONTROL = {
  service_class: at('service_class_code', 2, 4),
  count: at('entry_addenda_count', 5, 10),
  hash: at('entry_hash', 11, 20),
  debit: at('total_debit_amount', 21, 32),
  credit: at('total_credit_amount', 33, 44),
  company_id: at('company_identification', 45, 54),
  odfi: at('originating_dfi_identification', 80, 87),
  batch_number: at('batch_number', 88, 94),
} as const

export const ADV_BATCH_CONTROL = { debit: at('total_debit_amount', 21, 40), credit: at('total_credit_amount', 41, 60) } as const

export const FILE_CONTROL = {
  batches: at('batch_count', 2, 7),
  blocks: at('block_count', 8, 13),
  count: at('entry_addenda_count', 14, 21),
  hash: at('entry_hash', 22, 31),
  debit: at('total_debit_amount', 32, 43),
  credit: at('total_credit_amount', 44, 55),
} as const

export const ADV_FILE_CONTROL = { debit: at('total_debit_amount', 32, 51), credit: at('total_credit_amount', 52, 71) } as const
