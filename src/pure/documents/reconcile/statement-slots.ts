import { compilePaths, type SlotValues } from './message-reader.ts'
import { cutText } from '../../cut-text.ts'
import type { RemittanceInformation } from './records.ts'

/** Slots of a camt.053 in the order of their groups: message, statement, entry, block of details, transaction. */
export const STATEMENT_SLOT = {
  message_page: 0,
  statement: 1,
  statement_id: 2,
  electronic_number: 3,
  legal_number: 4,
  copy: 5,
  from_time: 6,
  to_time: 7,
  account_iban: 8,
  account_other: 9,
  page: 10,
  entry: 11,
  amount: 12,
  direction: 13,
  reversal: 14,
  status: 15,
  status_code: 16,
  status_own: 17,
  booked_date: 18,
  booked_time: 19,
  value_date: 20,
  value_time: 21,
  servicer_reference: 22,
  subfamily: 23,
  instructed: 24,
  transaction_amount: 25,
  block: 26,
  batch_message: 27,
  batch_payment_information: 28,
  batch_count: 29,
  details: 30,
  message_id: 31,
  detail_servicer_reference: 32,
  payment_information_id: 33,
  instruction_id: 34,
  end_to_end_id: 35,
  transaction_id: 36,
  uetr: 37,
  clearing_reference: 38,
  detail_amount: 39,
  detail_direction: 40,
  detail_instructed: 41,
  detail_transaction_amount: 42,
  detail_subfamily: 43,
  debtor_iban: 44,
  creditor_iban: 45,
  return: 46,
  return_code: 47,
  return_own: 48,
  charges: 49,
  charges_total: 50,
  charge: 51,
  charge_direction: 52,
  charge_included: 53,
  record: 54,
  record_amount: 55,
  record_direction: 56,
  record_included: 57,
} as const

export const SLOT_COUNT = 58

const STATEMENT_PATH = 'BkToCstmrStmt/Stmt'
const ENTRY_PATH = `${STATEMENT_PATH}/Ntry`
const BLOCK_PATH = `${ENTRY_PATH}/NtryDtls`
const DETAILS_PATH = `${BLOCK_PATH}/TxDtls`

/** Charges are a list in version 02, and a list inside one element from 04. */
function chargePaths(at: string): Record<string, number> {
  return {
    [`${at}/Chrgs`]: STATEMENT_SLOT.charges,
    [`${at}/Chrgs/TtlChrgsAndTaxAmt`]: STATEMENT_SLOT.charges_total,
    [`${at}/Chrgs/Amt`]: STATEMENT_SLOT.charge,
    [`${at}/Chrgs/CdtDbtInd`]: STATEMENT_SLOT.charge_direction,
    [`${at}/Chrgs/ChrgInclInd`]: STATEMENT_SLOT.charge_included,
    [`${at}/Chrgs/Rcrd`]: STATEMENT_SLOT.record,
    [`${at}/Chrgs/Rcrd/Amt`]: STATEMENT_SLOT.record_amount,
    [`${at}/Chrgs/Rcrd/CdtDbtInd`]: STATEMENT_SLOT.record_direction,
    [`${at}/Chrgs/Rcrd/ChrgInclInd`]: STATEMENT_SLOT.record_included,
  }
}

/** Paths of camt.053 versions 02 to 13. The status is a code up to 04 and contains one from 08. */
const STATEMENT_SLOT_PATHS: Readonly<Record<string, number>> = {
  'BkToCstmrStmt/GrpHdr/MsgPgntn/PgNb': STATEMENT_SLOT.message_page,
  [STATEMENT_PATH]: STATEMENT_SLOT.statement,
  [`${STATEMENT_PATH}/Id`]: STATEMENT_SLOT.statement_id,
  [`${STATEMENT_PATH}/ElctrncSeqNb`]: STATEMENT_SLOT.electronic_number,
  [`${STATEMENT_PATH}/LglSeqNb`]: STATEMENT_SLOT.legal_number,
  [`${STATEMENT_PATH}/CpyDplctInd`]: STATEMENT_SLOT.copy,
  [`${STATEMENT_PATH}/FrToDt/FrDtTm`]: STATEMENT_SLOT.from_time,
  [`${STATEMENT_PATH}/FrToDt/ToDtTm`]: STATEMENT_SLOT.to_time,
  [`${STATEMENT_PATH}/StmtPgntn/PgNb`]: STATEMENT_SLOT.page,
  [`${STATEMENT_PATH}/Acct/Id/IBAN`]: STATEMENT_SLOT.account_iban,
  [`${STATEMENT_PATH}/Acct/Id/Othr/Id`]: STATEMENT_SLOT.account_other,
  [ENTRY_PATH]: STATEMENT_SLOT.entry,
  [`${ENTRY_PATH}/Amt`]: STATEMENT_SLOT.amount,
  [`${ENTRY_PATH}/CdtDbtInd`]: STATEMENT_SLOT.direction,
  [`${ENTRY_PATH}/RvslInd`]: STATEMENT_SLOT.reversal,
  [`${ENTRY_PATH}/Sts`]: STATEMENT_SLOT.status,
  [`${ENTRY_PATH}/Sts/Cd`]: STATEMENT_SLOT.status_code,
  [`${ENTRY_PATH}/Sts/Prtry`]: STATEMENT_SLOT.status_own,
  [`${ENTRY_PATH}/BookgDt/Dt`]: STATEMENT_SLOT.booked_date,
  [`${ENTRY_PATH}/BookgDt/DtTm`]: STATEMENT_SLOT.booked_time,
  [`${ENTRY_PATH}/ValDt/Dt`]: STATEMENT_SLOT.value_date,
  [`${ENTRY_PATH}/ValDt/DtTm`]: STATEMENT_SLOT.value_time,
  [`${ENTRY_PATH}/AcctSvcrRef`]: STATEMENT_SLOT.servicer_reference,
  [`${ENTRY_PATH}/BkTxCd/Domn/Fmly/SubFmlyCd`]: STATEMENT_SLOT.subfamily,
  [`${ENTRY_PATH}/AmtDtls/InstdAmt/Amt`]: STATEMENT_SLOT.instructed,
  [`${ENTRY_PATH}/AmtDtls/TxAmt/Amt`]: STATEMENT_SLOT.transaction_amount,
  ...chargePaths(ENTRY_PATH),
  [BLOCK_PATH]: STATEMENT_SLOT.block,
  [`${BLOCK_PATH}/Btch/MsgId`]: STATEMENT_SLOT.batch_message,
  [`${BLOCK_PATH}/Btch/PmtInfId`]: STATEMENT_SLOT.batch_payment_information,
  [`${BLOCK_PATH}/Btch/NbOfTxs`]: STATEMENT_SLOT.batch_count,
  [DETAILS_PATH]: STATEMENT_SLOT.details,
  [`${DETAILS_PATH}/Refs/MsgId`]: STATEMENT_SLOT.message_id,
  [`${DETAILS_PATH}/Refs/AcctSvcrRef`]: STATEMENT_SLOT.detail_servicer_reference,
  [`${DETAILS_PATH}/Refs/PmtInfId`]: STATEMENT_SLOT.payment_information_id,
  [`${DETAILS_PATH}/Refs/InstrId`]: STATEMENT_SLOT.instruction_id,
  [`${DETAILS_PATH}/Refs/EndToEndId`]: STATEMENT_SLOT.end_to_end_id,
  [`${DETAILS_PATH}/Refs/TxId`]: STATEMENT_SLOT.transaction_id,
  [`${DETAILS_PATH}/Refs/UETR`]: STATEMENT_SLOT.uetr,
  [`${DETAILS_PATH}/Refs/ClrSysRef`]: STATEMENT_SLOT.clearing_reference,
  [`${DETAILS_PATH}/Amt`]: STATEMENT_SLOT.detail_amount,
  [`${DETAILS_PATH}/CdtDbtInd`]: STATEMENT_SLOT.detail_direction,
  [`${DETAILS_PATH}/AmtDtls/InstdAmt/Amt`]: STATEMENT_SLOT.detail_instructed,
  [`${DETAILS_PATH}/AmtDtls/TxAmt/Amt`]: STATEMENT_SLOT.detail_transaction_amount,
  [`${DETAILS_PATH}/BkTxCd/Domn/Fmly/SubFmlyCd`]: STATEMENT_SLOT.detail_subfamily,
  ...chargePaths(DETAILS_PATH),
  [`${DETAILS_PATH}/RltdPties/DbtrAcct/Id/IBAN`]: STATEMENT_SLOT.debtor_iban,
  [`${DETAILS_PATH}/RltdPties/CdtrAcct/Id/IBAN`]: STATEMENT_SLOT.creditor_iban,
  [`${DETAILS_PATH}/RtrInf`]: STATEMENT_SLOT.return,
  [`${DETAILS_PATH}/RtrInf/Rsn/Cd`]: STATEMENT_SLOT.return_code,
  [`${DETAILS_PATH}/RtrInf/Rsn/Prtry`]: STATEMENT_SLOT.return_own,
}

export const STATEMENT_PATHS = compilePaths(STATEMENT_SLOT_PATHS)

const REMITTANCE_SLOT = {
  entry_reference: SLOT_COUNT,
  creditor_reference: SLOT_COUNT + 1,
  unstructured: SLOT_COUNT + 2,
} as const

const REMITTANCE_SLOT_PATHS: Readonly<Record<string, number>> = {
  ...STATEMENT_SLOT_PATHS,
  [`${ENTRY_PATH}/NtryRef`]: REMITTANCE_SLOT.entry_reference,
  [`${DETAILS_PATH}/RmtInf/Strd/CdtrRefInf/Ref`]: REMITTANCE_SLOT.creditor_reference,
  [`${DETAILS_PATH}/RmtInf/Ustrd`]: REMITTANCE_SLOT.unstructured,
}

/** The same with the paths of remittance information. */
export const REMITTANCE_PATHS = compilePaths(REMITTANCE_SLOT_PATHS)

/** Paths of camt.054 (debit and credit notification), whose entries are those of camt.053. */
export const NOTIFICATION_PATHS = compilePaths(
  Object.fromEntries(Object.entries(REMITTANCE_SLOT_PATHS).map(([path, slot]) => [notificationPath(path), slot])),
)

function notificationPath(path: string): string {
  return path
    .replace(/^BkToCstmrStmt\/(?:Stmt(?=\/|$))?/, (start) => `BkToCstmrDbtCdtNtfctn/${start.endsWith('Stmt') ? 'Ntfctn' : ''}`)
    .replace('/StmtPgntn/', '/NtfctnPgntn/')
}

/** Maximum number of lines per transaction, and characters per line. */
const LINES = 64
const LINE_CHARS = 512

/** Collects remittance information separately, because its elements can repeat. */
export class RemittanceSlots {
  private entry_reference = ''
  private creditor_references: string[] = []
  private unstructured: string[] = []

  openEntry(): void {
    this.entry_reference = ''
    this.openDetails()
  }

  openDetails(): void {
    this.creditor_references = []
    this.unstructured = []
  }

  /** Returns false if the slot is not one of remittance. */
  take(slot: number, text: string): boolean {
    if (slot < SLOT_COUNT) return false
    const lines =
      slot === REMITTANCE_SLOT.creditor_reference
        ? this.creditor_references
        : slot === REMITTANCE_SLOT.unstructured
          ? this.unstructured
          : null
    if (lines === null) this.entry_reference = shortenText(text)
    else if (lines.length < LINES) lines.push(cutText(text, LINE_CHARS, ''))
    return true
  }

  of(statement: Pick<RemittanceInformation, 'statement_id' | 'sequence' | 'page'>, slots: SlotValues): RemittanceInformation {
    const servicer_reference = shortenText(slots.get(STATEMENT_SLOT.servicer_reference) ?? '')
    const entry_reference = this.entry_reference || servicer_reference || null
    const { creditor_references, unstructured } = this
    return { ...statement, entry_reference, booked_on: bookingDate(slots), creditor_references, unstructured }
  }
}

function shortenText(text: string): string {
  return cutText(text, LINE_CHARS, '').trim()
}

/** Booking date of the entry, YYYY-MM-DD; null if missing or invalid. */
export function bookingDate(slots: SlotValues): string | null {
  const booked = (slots.get(STATEMENT_SLOT.booked_date) ?? slots.get(STATEMENT_SLOT.booked_time))?.trim() ?? ''
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(booked) ? booked.slice(0, 10) : null
}
