import { cutText } from '../../cut-text.ts'
import { parseAmount } from './values.ts'
import type { EntryDirection, RemittanceInformation } from './records.ts'
import { type SlotValues, compilePaths } from './message-reader.ts'

const STATEMENT_PATH = 'BkToCstmrStmt/Stmt'
const ENTRY_PATH = `${STATEMENT_PATH}/Ntry`
const BLOCK_PATH = `${ENTRY_PATH}/NtryDtls`
const DETAILS_PATH = `${BLOCK_PATH}/TxDtls`

/** Path of each slot of camt.053 versions 02 to 13, in the order of their groups. The status is a code up to 04 and contains one from 08. */
const SLOT_PATHS = {
  message_page: 'BkToCstmrStmt/GrpHdr/MsgPgntn/PgNb',
  message_last_page: 'BkToCstmrStmt/GrpHdr/MsgPgntn/LastPgInd',
  statement: STATEMENT_PATH,
  statement_id: `${STATEMENT_PATH}/Id`,
  electronic_number: `${STATEMENT_PATH}/ElctrncSeqNb`,
  legal_number: `${STATEMENT_PATH}/LglSeqNb`,
  copy: `${STATEMENT_PATH}/CpyDplctInd`,
  from_time: `${STATEMENT_PATH}/FrToDt/FrDtTm`,
  to_time: `${STATEMENT_PATH}/FrToDt/ToDtTm`,
  account_iban: `${STATEMENT_PATH}/Acct/Id/IBAN`,
  account_other: `${STATEMENT_PATH}/Acct/Id/Othr/Id`,
  page: `${STATEMENT_PATH}/StmtPgntn/PgNb`,
  last_page: `${STATEMENT_PATH}/StmtPgntn/LastPgInd`,
  created: `${STATEMENT_PATH}/CreDtTm`,
  stated_entries: `${STATEMENT_PATH}/TxsSummry/TtlNtries/NbOfNtries`,
  balance: `${STATEMENT_PATH}/Bal`,
  balance_code: `${STATEMENT_PATH}/Bal/Tp/CdOrPrtry/Cd`,
  balance_amount: `${STATEMENT_PATH}/Bal/Amt`,
  balance_direction: `${STATEMENT_PATH}/Bal/CdtDbtInd`,
  balance_date: `${STATEMENT_PATH}/Bal/Dt/Dt`,
  balance_time: `${STATEMENT_PATH}/Bal/Dt/DtTm`,
  entry: ENTRY_PATH,
  amount: `${ENTRY_PATH}/Amt`,
  direction: `${ENTRY_PATH}/CdtDbtInd`,
  reversal: `${ENTRY_PATH}/RvslInd`,
  status: `${ENTRY_PATH}/Sts`,
  status_code: `${ENTRY_PATH}/Sts/Cd`,
  status_own: `${ENTRY_PATH}/Sts/Prtry`,
  booked_date: `${ENTRY_PATH}/BookgDt/Dt`,
  booked_time: `${ENTRY_PATH}/BookgDt/DtTm`,
  value_date: `${ENTRY_PATH}/ValDt/Dt`,
  value_time: `${ENTRY_PATH}/ValDt/DtTm`,
  servicer_reference: `${ENTRY_PATH}/AcctSvcrRef`,
  subfamily: `${ENTRY_PATH}/BkTxCd/Domn/Fmly/SubFmlyCd`,
  instructed: `${ENTRY_PATH}/AmtDtls/InstdAmt/Amt`,
  transaction_amount: `${ENTRY_PATH}/AmtDtls/TxAmt/Amt`,
  block: BLOCK_PATH,
  batch_message: `${BLOCK_PATH}/Btch/MsgId`,
  batch_payment_information: `${BLOCK_PATH}/Btch/PmtInfId`,
  batch_count: `${BLOCK_PATH}/Btch/NbOfTxs`,
  details: DETAILS_PATH,
  message_id: `${DETAILS_PATH}/Refs/MsgId`,
  detail_servicer_reference: `${DETAILS_PATH}/Refs/AcctSvcrRef`,
  payment_information_id: `${DETAILS_PATH}/Refs/PmtInfId`,
  instruction_id: `${DETAILS_PATH}/Refs/InstrId`,
  end_to_end_id: `${DETAILS_PATH}/Refs/EndToEndId`,
  transaction_id: `${DETAILS_PATH}/Refs/TxId`,
  uetr: `${DETAILS_PATH}/Refs/UETR`,
  clearing_reference: `${DETAILS_PATH}/Refs/ClrSysRef`,
  detail_amount: `${DETAILS_PATH}/Amt`,
  detail_direction: `${DETAILS_PATH}/CdtDbtInd`,
  detail_instructed: `${DETAILS_PATH}/AmtDtls/InstdAmt/Amt`,
  detail_transaction_amount: `${DETAILS_PATH}/AmtDtls/TxAmt/Amt`,
  detail_subfamily: `${DETAILS_PATH}/BkTxCd/Domn/Fmly/SubFmlyCd`,
  debtor_iban: `${DETAILS_PATH}/RltdPties/DbtrAcct/Id/IBAN`,
  creditor_iban: `${DETAILS_PATH}/RltdPties/CdtrAcct/Id/IBAN`,
  return: `${DETAILS_PATH}/RtrInf`,
  return_code: `${DETAILS_PATH}/RtrInf/Rsn/Cd`,
  return_own: `${DETAILS_PATH}/RtrInf/Rsn/Prtry`,
}

/** Below an entry or its details. Charges are a list in version 02, and a list inside one element from 04. */
const CHARGE_SLOT_PATHS = {
  charges: 'Chrgs',
  charges_total: 'Chrgs/TtlChrgsAndTaxAmt',
  charge: 'Chrgs/Amt',
  charge_direction: 'Chrgs/CdtDbtInd',
  charge_included: 'Chrgs/ChrgInclInd',
  record: 'Chrgs/Rcrd',
  record_amount: 'Chrgs/Rcrd/Amt',
  record_direction: 'Chrgs/Rcrd/CdtDbtInd',
  record_included: 'Chrgs/Rcrd/ChrgInclInd',
}

const SLOT_NAMES = [...Object.keys(SLOT_PATHS), ...Object.keys(CHARGE_SLOT_PATHS)]
export const SLOT_COUNT = SLOT_NAMES.length
export const STATEMENT_SLOT = Object.fromEntries(SLOT_NAMES.map((name, slot) => [name, slot])) as Record<
  keyof typeof SLOT_PATHS | keyof typeof CHARGE_SLOT_PATHS,
  number
>

const STATEMENT_SLOT_PATHS = {
  ...slotsByPath(SLOT_PATHS, ''),
  ...slotsByPath(CHARGE_SLOT_PATHS, `${ENTRY_PATH}/`),
  ...slotsByPath(CHARGE_SLOT_PATHS, `${DETAILS_PATH}/`),
}

function slotsByPath(paths: Readonly<Record<string, string>>, above: string): Record<string, number> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [above + path, SLOT_NAMES.indexOf(name)]))
}

const REMITTANCE_SLOT = {
  entry_reference: SLOT_COUNT,
  creditor_reference: SLOT_COUNT + 1,
  unstructured: SLOT_COUNT + 2,
  additional: SLOT_COUNT + 3,
  creditor_name: SLOT_COUNT + 4,
  debtor_name: SLOT_COUNT + 5,
} as const

const REMITTANCE_SLOT_PATHS: Readonly<Record<string, number>> = {
  ...STATEMENT_SLOT_PATHS,
  [`${ENTRY_PATH}/NtryRef`]: REMITTANCE_SLOT.entry_reference,
  [`${ENTRY_PATH}/AddtlNtryInf`]: REMITTANCE_SLOT.additional,
  [`${DETAILS_PATH}/Refs/Prtry/Ref`]: REMITTANCE_SLOT.additional,
  [`${DETAILS_PATH}/RmtInf/Strd/CdtrRefInf/Ref`]: REMITTANCE_SLOT.creditor_reference,
  [`${DETAILS_PATH}/RmtInf/Ustrd`]: REMITTANCE_SLOT.unstructured,
  [`${DETAILS_PATH}/AddtlTxInf`]: REMITTANCE_SLOT.additional,
  // A name is in the party up to version 07 and one level deeper later.
  [`${DETAILS_PATH}/RltdPties/Cdtr/Nm`]: REMITTANCE_SLOT.creditor_name,
  [`${DETAILS_PATH}/RltdPties/Cdtr/Pty/Nm`]: REMITTANCE_SLOT.creditor_name,
  [`${DETAILS_PATH}/RltdPties/Dbtr/Nm`]: REMITTANCE_SLOT.debtor_name,
  [`${DETAILS_PATH}/RltdPties/Dbtr/Pty/Nm`]: REMITTANCE_SLOT.debtor_name,
}

/** Messages with the same entries: intraday report, statement, debit and credit notification. */
const STATEMENT_MESSAGES = {
  'camt.052': ['BkToCstmrAcctRpt', 'Rpt', 'RptPgntn'],
  'camt.053': ['BkToCstmrStmt', 'Stmt', 'StmtPgntn'],
  'camt.054': ['BkToCstmrDbtCdtNtfctn', 'Ntfctn', 'NtfctnPgntn'],
} as const
export type StatementMessage = keyof typeof STATEMENT_MESSAGES

/** Paths of a message, with or without remittance information. */
export function statementPaths(message: StatementMessage, remittance: boolean): ReturnType<typeof compilePaths> {
  const key = `${message} ${remittance}`
  let paths = COMPILED.get(key)
  if (paths === undefined) COMPILED.set(key, (paths = compileFor(message, remittance ? REMITTANCE_SLOT_PATHS : STATEMENT_SLOT_PATHS)))
  return paths
}

const COMPILED = new Map<string, ReturnType<typeof compilePaths>>()

function compileFor(message: StatementMessage, paths: Readonly<Record<string, number>>): ReturnType<typeof compilePaths> {
  const [root, statement, pages] = STATEMENT_MESSAGES[message]
  const pathOf = (path: string) =>
    path
      .replace(/^BkToCstmrStmt(?=\/)/, root)
      .replace(/(?<=^\w+\/)Stmt(?=\/|$)/, statement)
      .replace('/StmtPgntn/', `/${pages}/`)
  return compilePaths(Object.fromEntries(Object.entries(paths).map(([path, slot]) => [pathOf(path), slot])))
}

/** Maximum number of lines per transaction, and characters per line. */
const LINES = 64
const LINE_CHARS = 512

/** Collects remittance information separately, because its elements can repeat. */
export class RemittanceSlots {
  private entry_reference = ''
  private additional: string[] = []
  private creditor_references: string[] = []
  private unstructured: string[] = []
  private creditor_name: string | null = null
  private debtor_name: string | null = null

  openEntry(): void {
    this.entry_reference = ''
    this.additional = []
    this.openDetails()
  }

  openDetails(): void {
    this.creditor_references = []
    this.unstructured = []
    this.additional = []
    this.creditor_name = null
    this.debtor_name = null
  }

  /** Returns false if the slot is not one of remittance. */
  take(slot: number, text: string): boolean {
    if (slot < SLOT_COUNT) return false
    switch (slot) {
      case REMITTANCE_SLOT.entry_reference:
        this.entry_reference = shortenText(text)
        break
      case REMITTANCE_SLOT.creditor_name:
        this.creditor_name ??= shortenText(text)
        break
      case REMITTANCE_SLOT.debtor_name:
        this.debtor_name ??= shortenText(text)
        break
      case REMITTANCE_SLOT.creditor_reference:
        addLine(this.creditor_references, text)
        break
      case REMITTANCE_SLOT.unstructured:
        addLine(this.unstructured, text)
        break
      default:
        addLine(this.additional, text)
    }
    return true
  }

  of(
    statement: Pick<RemittanceInformation, 'statement_id' | 'sequence' | 'page'>,
    slots: SlotValues,
    { line, direction }: { line: number; direction: EntryDirection },
  ): RemittanceInformation {
    const servicer_reference =
      shortenText(slots.get(STATEMENT_SLOT.servicer_reference) ?? slots.get(STATEMENT_SLOT.detail_servicer_reference) ?? '') || null
    const entry_servicer = shortenText(slots.get(STATEMENT_SLOT.servicer_reference) ?? '')
    const entry_reference = this.entry_reference || entry_servicer || null
    const { creditor_references, unstructured, additional } = this
    const counterparty_name = direction === 'DBIT' ? this.creditor_name : this.debtor_name
    const value_date = dateIn(slots.get(STATEMENT_SLOT.value_date) ?? slots.get(STATEMENT_SLOT.value_time))
    const texts = { creditor_references, unstructured, additional, counterparty_name }
    const dates = { booked_on: bookingDate(slots), value_date, dated: entryDate(slots) }
    return { ...statement, entry_reference, servicer_reference, ...dates, ...texts, line }
  }
}

function addLine(lines: string[], text: string): void {
  if (lines.length < LINES) lines.push(cutText(text, LINE_CHARS, ''))
}

function shortenText(text: string): string {
  return cutText(text, LINE_CHARS, '').trim()
}

/** Booking date of the entry, YYYY-MM-DD; null if missing or invalid. */
export function bookingDate(slots: SlotValues): string | null {
  return dateIn(slots.get(STATEMENT_SLOT.booked_date) ?? slots.get(STATEMENT_SLOT.booked_time))
}

function dateIn(text: string | null): string | null {
  const date = text?.trim() ?? ''
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(date) ? date.slice(0, 10) : null
}

/** Booking date, or, without one, the value date; as written. Null without either. */
function entryDate(slots: SlotValues): RemittanceInformation['dated'] {
  const textOf = (date: number, time: number) => (slots.get(date) ?? slots.get(time))?.trim().slice(0, DATE_CHARS) ?? null
  const booked = textOf(STATEMENT_SLOT.booked_date, STATEMENT_SLOT.booked_time)
  if (booked !== null) return { field: 'BookgDt', text: booked }
  const value = textOf(STATEMENT_SLOT.value_date, STATEMENT_SLOT.value_time)
  return value === null ? null : { field: 'ValDt', text: value }
}

/** Longer than any date and time of ISO 8601 that banks write. */
const DATE_CHARS = 40

/** Sums charges included in an amount by currency; unreadable charges are ignored. */
export class ChargeSums {
  private readonly sums = new Map<string, bigint>()
  private records = 0

  clear(): void {
    if (this.sums.size > 0) this.sums.clear()
  }

  begin(): void {
    this.records = 0
  }

  of(currency: string): bigint {
    return this.sums.get(currency) ?? 0n
  }

  get any(): boolean {
    return this.sums.size > 0
  }

  record(slots: SlotValues): void {
    this.records++
    this.add(slots, STATEMENT_SLOT.record_amount, STATEMENT_SLOT.record_direction, STATEMENT_SLOT.record_included)
  }

  end(slots: SlotValues): void {
    const amount = slots.get(STATEMENT_SLOT.charge) !== null ? STATEMENT_SLOT.charge : STATEMENT_SLOT.charges_total
    if (this.records === 0) this.add(slots, amount, STATEMENT_SLOT.charge_direction, STATEMENT_SLOT.charge_included)
  }

  private add(slots: SlotValues, amount: number, direction: number, included: number): void {
    const [text, currency] = [slots.get(amount), slots.currency(amount)]
    const apart = slots.get(included)?.trim()
    if (text === null || currency === null || apart === 'false' || apart === '0') return
    const read = parseAmount(text, currency)
    if (!read.ok) return
    const signed = slots.get(direction)?.trim() === 'CRDT' ? -read.amount_minor : read.amount_minor
    this.sums.set(currency, this.of(currency) + signed)
  }
}
