import { compilePaths } from './message-reader.ts'
import { readAmount } from '../minor-units.ts'
import { shownText } from '../shown-text.ts'
import type { Findings, ReadCode } from './findings.ts'

/** The values of a message while it is read, by slot. A group that begins empties its slots. */
export class Slots {
  private readonly texts: (string | null)[]
  private readonly currencies: (string | null)[]
  private readonly lines: Int32Array

  constructor(size: number) {
    this.texts = Array.from({ length: size }, () => null)
    this.currencies = Array.from({ length: size }, () => null)
    this.lines = new Int32Array(size)
  }

  get(slot: number): string | null {
    return this.texts[slot] ?? null
  }

  currency(slot: number): string | null {
    return this.currencies[slot] ?? null
  }

  /** The line on which the value ended. */
  line(slot: number): number {
    return this.lines[slot] ?? 0
  }

  /** False when there is a value already. */
  set(slot: number, text: string, currency: string | null, line: number): boolean {
    if (this.texts[slot] !== null) return false
    this.texts[slot] = text
    this.currencies[slot] = currency
    this.lines[slot] = line
    return true
  }

  /** Empties the slots from the first up to, and without, the last. */
  clear(first: number, last: number): void {
    this.texts.fill(null, first, last)
  }
}

/** Slots of a camt.053 in the order of their groups: the message, a statement, an entry, a block of details, a transaction. */
export const SLOT = {
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

export const SLOTS = 58

const STATEMENT = 'BkToCstmrStmt/Stmt'
export const ENTRY = `${STATEMENT}/Ntry`
const BLOCK = `${ENTRY}/NtryDtls`
export const DETAILS = `${BLOCK}/TxDtls`

/** Charges are a list in version 02, and a list inside one element from 04 on. */
function chargePaths(at: string): Record<string, number> {
  return {
    [`${at}/Chrgs`]: SLOT.charges,
    [`${at}/Chrgs/TtlChrgsAndTaxAmt`]: SLOT.charges_total,
    [`${at}/Chrgs/Amt`]: SLOT.charge,
    [`${at}/Chrgs/CdtDbtInd`]: SLOT.charge_direction,
    [`${at}/Chrgs/ChrgInclInd`]: SLOT.charge_included,
    [`${at}/Chrgs/Rcrd`]: SLOT.record,
    [`${at}/Chrgs/Rcrd/Amt`]: SLOT.record_amount,
    [`${at}/Chrgs/Rcrd/CdtDbtInd`]: SLOT.record_direction,
    [`${at}/Chrgs/Rcrd/ChrgInclInd`]: SLOT.record_included,
  }
}

/** Where versions 02 to 13 of camt.053 keep what matters; the status is a code up to 04 and holds one from 08 on. */
export const STATEMENT_PLACES: Readonly<Record<string, number>> = {
  'BkToCstmrStmt/GrpHdr/MsgPgntn/PgNb': SLOT.message_page,
  [STATEMENT]: SLOT.statement,
  [`${STATEMENT}/Id`]: SLOT.statement_id,
  [`${STATEMENT}/ElctrncSeqNb`]: SLOT.electronic_number,
  [`${STATEMENT}/LglSeqNb`]: SLOT.legal_number,
  [`${STATEMENT}/CpyDplctInd`]: SLOT.copy,
  [`${STATEMENT}/FrToDt/FrDtTm`]: SLOT.from_time,
  [`${STATEMENT}/FrToDt/ToDtTm`]: SLOT.to_time,
  [`${STATEMENT}/StmtPgntn/PgNb`]: SLOT.page,
  [`${STATEMENT}/Acct/Id/IBAN`]: SLOT.account_iban,
  [`${STATEMENT}/Acct/Id/Othr/Id`]: SLOT.account_other,
  [ENTRY]: SLOT.entry,
  [`${ENTRY}/Amt`]: SLOT.amount,
  [`${ENTRY}/CdtDbtInd`]: SLOT.direction,
  [`${ENTRY}/RvslInd`]: SLOT.reversal,
  [`${ENTRY}/Sts`]: SLOT.status,
  [`${ENTRY}/Sts/Cd`]: SLOT.status_code,
  [`${ENTRY}/Sts/Prtry`]: SLOT.status_own,
  [`${ENTRY}/BookgDt/Dt`]: SLOT.booked_date,
  [`${ENTRY}/BookgDt/DtTm`]: SLOT.booked_time,
  [`${ENTRY}/ValDt/Dt`]: SLOT.value_date,
  [`${ENTRY}/ValDt/DtTm`]: SLOT.value_time,
  [`${ENTRY}/AcctSvcrRef`]: SLOT.servicer_reference,
  [`${ENTRY}/BkTxCd/Domn/Fmly/SubFmlyCd`]: SLOT.subfamily,
  [`${ENTRY}/AmtDtls/InstdAmt/Amt`]: SLOT.instructed,
  [`${ENTRY}/AmtDtls/TxAmt/Amt`]: SLOT.transaction_amount,
  ...chargePaths(ENTRY),
  [BLOCK]: SLOT.block,
  [`${BLOCK}/Btch/MsgId`]: SLOT.batch_message,
  [`${BLOCK}/Btch/PmtInfId`]: SLOT.batch_payment_information,
  [`${BLOCK}/Btch/NbOfTxs`]: SLOT.batch_count,
  [DETAILS]: SLOT.details,
  [`${DETAILS}/Refs/MsgId`]: SLOT.message_id,
  [`${DETAILS}/Refs/AcctSvcrRef`]: SLOT.detail_servicer_reference,
  [`${DETAILS}/Refs/PmtInfId`]: SLOT.payment_information_id,
  [`${DETAILS}/Refs/InstrId`]: SLOT.instruction_id,
  [`${DETAILS}/Refs/EndToEndId`]: SLOT.end_to_end_id,
  [`${DETAILS}/Refs/TxId`]: SLOT.transaction_id,
  [`${DETAILS}/Refs/UETR`]: SLOT.uetr,
  [`${DETAILS}/Refs/ClrSysRef`]: SLOT.clearing_reference,
  [`${DETAILS}/Amt`]: SLOT.detail_amount,
  [`${DETAILS}/CdtDbtInd`]: SLOT.detail_direction,
  [`${DETAILS}/AmtDtls/InstdAmt/Amt`]: SLOT.detail_instructed,
  [`${DETAILS}/AmtDtls/TxAmt/Amt`]: SLOT.detail_transaction_amount,
  [`${DETAILS}/BkTxCd/Domn/Fmly/SubFmlyCd`]: SLOT.detail_subfamily,
  ...chargePaths(DETAILS),
  [`${DETAILS}/RltdPties/DbtrAcct/Id/IBAN`]: SLOT.debtor_iban,
  [`${DETAILS}/RltdPties/CdtrAcct/Id/IBAN`]: SLOT.creditor_iban,
  [`${DETAILS}/RtrInf`]: SLOT.return,
  [`${DETAILS}/RtrInf/Rsn/Cd`]: SLOT.return_code,
  [`${DETAILS}/RtrInf/Rsn/Prtry`]: SLOT.return_own,
}

export const STATEMENT_PATHS = compilePaths(STATEMENT_PLACES)

/** Charges that are inside an amount, added up by currency; what cannot be read explains nothing. */
export class Charges {
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

  record(slots: Slots): void {
    this.records++
    this.add(slots, SLOT.record_amount, SLOT.record_direction, SLOT.record_included)
  }

  end(slots: Slots): void {
    const amount = slots.get(SLOT.charge) !== null ? SLOT.charge : SLOT.charges_total
    if (this.records === 0) this.add(slots, amount, SLOT.charge_direction, SLOT.charge_included)
  }

  private add(slots: Slots, amount: number, direction: number, included: number): void {
    const [text, currency] = [slots.get(amount), slots.currency(amount)]
    const apart = slots.get(included)?.trim()
    if (text === null || currency === null || apart === 'false' || apart === '0') return
    const read = readAmount(text, currency)
    if (!read.ok) return
    const signed = slots.get(direction)?.trim() === 'CRDT' ? -read.amount_minor : read.amount_minor
    this.sums.set(currency, this.of(currency) + signed)
  }
}

export interface Amount {
  currency: string
  amount_minor: bigint
}

const FAULTS = {
  lexical: 'AMOUNT_UNREADABLE',
  fraction: 'AMOUNT_FRACTION',
  range: 'AMOUNT_RANGE',
} as const satisfies Record<string, ReadCode>

/** The amount in a slot with its currency; null when the slot is empty, or when it cannot be read, which is then among the findings. */
export function amountIn(slots: Slots, slot: number, findings: Findings, file: number): Amount | null {
  const text = slots.get(slot)
  if (text === null) return null
  const currency = slots.currency(slot)
  if (currency === null || currency === '') {
    findings.add('AMOUNT_MISSING', file, slots.line(slot))
    return null
  }
  const read = readAmount(text, currency)
  if (read.ok) return { currency, amount_minor: read.amount_minor }
  findings.add(
    FAULTS[read.fault],
    file,
    slots.line(slot),
    `${JSON.stringify(shownText(text.slice(0, 64)))} ${shownText(currency.slice(0, 8))}`,
  )
  return null
}
