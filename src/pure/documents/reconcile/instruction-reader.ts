import { readSlotAmount, compilePaths, MessageReader, SlotValues, type MessageHandler } from './message-reader.ts'
import type { PaymentInstruction, ReadFindings } from './records.ts'
import { parseDay } from './values.ts'

/** Slots in the order of their groups: message, payment block, transfer. */
const SLOT = {
  message_id: 0,
  settled_day: 1,
  block: 2,
  payment_information_id: 3,
  block_debtor_iban: 4,
  block_debtor_other: 5,
  block_creditor_iban: 6,
  block_creditor_other: 7,
  requested: 8,
  requested_day: 9,
  requested_time: 10,
  transfer: 11,
  instruction_id: 12,
  end_to_end_id: 13,
  transaction_id: 14,
  uetr: 15,
  clearing_reference: 16,
  own_settled_day: 17,
  amount: 18,
  equivalent: 19,
  debtor_iban: 20,
  debtor_other: 21,
  creditor_iban: 22,
  creditor_other: 23,
  creditor_reference: 24,
} as const
const SLOT_COUNT = 25

function transactionPaths(at: string): Record<string, number> {
  return {
    [at]: SLOT.transfer,
    [`${at}/PmtId/InstrId`]: SLOT.instruction_id,
    [`${at}/PmtId/EndToEndId`]: SLOT.end_to_end_id,
    [`${at}/PmtId/TxId`]: SLOT.transaction_id,
    [`${at}/PmtId/UETR`]: SLOT.uetr,
    [`${at}/PmtId/ClrSysRef`]: SLOT.clearing_reference,
    [`${at}/DbtrAcct/Id/IBAN`]: SLOT.debtor_iban,
    [`${at}/DbtrAcct/Id/Othr/Id`]: SLOT.debtor_other,
    [`${at}/CdtrAcct/Id/IBAN`]: SLOT.creditor_iban,
    [`${at}/CdtrAcct/Id/Othr/Id`]: SLOT.creditor_other,
    [`${at}/RmtInf/Strd/CdtrRefInf/Ref`]: SLOT.creditor_reference,
  }
}

/** Orders of a customer: blocks with a date and the customer's account, which pays in a pain.001 and collects in a pain.008. */
function customerPaths(root: string, transaction: string, date: string): Record<string, number> {
  return {
    [`${root}/GrpHdr/MsgId`]: SLOT.message_id,
    [`${root}/PmtInf`]: SLOT.block,
    [`${root}/PmtInf/PmtInfId`]: SLOT.payment_information_id,
    [`${root}/PmtInf/${date}`]: SLOT.requested,
    [`${root}/PmtInf/${date}/Dt`]: SLOT.requested_day,
    [`${root}/PmtInf/${date}/DtTm`]: SLOT.requested_time,
    [`${root}/PmtInf/DbtrAcct/Id/IBAN`]: SLOT.block_debtor_iban,
    [`${root}/PmtInf/DbtrAcct/Id/Othr/Id`]: SLOT.block_debtor_other,
    [`${root}/PmtInf/CdtrAcct/Id/IBAN`]: SLOT.block_creditor_iban,
    [`${root}/PmtInf/CdtrAcct/Id/Othr/Id`]: SLOT.block_creditor_other,
    ...transactionPaths(`${root}/PmtInf/${transaction}`),
  }
}

function interbankPaths(root: string, transaction: string): Record<string, number> {
  return {
    [`${root}/GrpHdr/MsgId`]: SLOT.message_id,
    [`${root}/GrpHdr/IntrBkSttlmDt`]: SLOT.settled_day,
    ...transactionPaths(`${root}/${transaction}`),
    [`${root}/${transaction}/IntrBkSttlmAmt`]: SLOT.amount,
    [`${root}/${transaction}/IntrBkSttlmDt`]: SLOT.own_settled_day,
  }
}

const PAIN = 'CstmrCdtTrfInitn'
const DEBIT_PAIN = 'CstmrDrctDbtInitn'

export type InstructionMessage = 'pain.001' | 'pain.008' | 'pacs.008' | 'pacs.003'

const PATHS = {
  'pain.001': compilePaths({
    ...customerPaths(PAIN, 'CdtTrfTxInf', 'ReqdExctnDt'),
    [`${PAIN}/PmtInf/CdtTrfTxInf/Amt/InstdAmt`]: SLOT.amount,
    [`${PAIN}/PmtInf/CdtTrfTxInf/Amt/EqvtAmt/Amt`]: SLOT.equivalent,
  }),
  'pain.008': compilePaths({
    ...customerPaths(DEBIT_PAIN, 'DrctDbtTxInf', 'ReqdColltnDt'),
    [`${DEBIT_PAIN}/PmtInf/DrctDbtTxInf/InstdAmt`]: SLOT.amount,
  }),
  'pacs.008': compilePaths(interbankPaths('FIToFICstmrCdtTrf', 'CdtTrfTxInf')),
  'pacs.003': compilePaths(interbankPaths('FIToFICstmrDrctDbt', 'DrctDbtTxInf')),
} as const satisfies Record<InstructionMessage, unknown>

/**
 * Reads the transactions of a pain.001 (instructed amount, or its equivalent in the currency of the debtor's account), pain.008 (direct
 * debits), pacs.008 or pacs.003 (interbank settlement amount). The paths are the same in all versions.
 */
export class InstructionReader implements MessageHandler {
  private readonly slots = new SlotValues(SLOT_COUNT)
  private readonly reader: MessageReader
  private readonly source: InstructionMessage
  private readonly file: number
  private readonly findings: ReadFindings
  private readonly emit: (instruction: PaymentInstruction) => void
  private position = 0

  constructor(source: InstructionMessage, file: number, findings: ReadFindings, take: (instruction: PaymentInstruction) => void) {
    this.source = source
    this.file = file
    this.findings = findings
    this.emit = take
    this.reader = new MessageReader(source, PATHS[source], this, findings, file)
  }

  /** Returns false if the rest of the file cannot be read. */
  write(chunk: string | Uint8Array): boolean {
    return this.reader.write(chunk)
  }

  end(): boolean {
    const fine = this.reader.end()
    if (fine && this.position === 0) this.findings.add('NOTHING_TO_READ', this.file, null)
    return fine
  }

  enter(slot: number): void {
    this.slots.clear(slot, SLOT_COUNT)
  }

  text(slot: number, text: string, currency: string | null): void {
    // Another message in the same file starts with its own id.
    if (slot === SLOT.message_id) this.slots.clear(0, SLOT_COUNT)
    if (!this.slots.set(slot, text, currency, this.reader.line) && slot !== SLOT.creditor_reference)
      this.findings.add('ELEMENT_REPEATED', this.file, this.reader.line)
  }

  leave(slot: number): void {
    if (slot === SLOT.transfer) this.readTransfer()
  }

  private readTransfer(): void {
    const { slots, findings, file } = this
    const { line } = this.reader
    const position = ++this.position
    const errors = findings.errors
    const amount = readSlotAmount(slots, SLOT.amount, findings, file) ?? readSlotAmount(slots, SLOT.equivalent, findings, file)
    if (amount === null) {
      if (findings.errors === errors) findings.add('AMOUNT_MISSING', file, line)
      return
    }
    const debtor = slots.get(SLOT.debtor_iban) ?? slots.get(SLOT.debtor_other)
    this.emit({
      source: this.source,
      file,
      position,
      end_to_end_id: slots.get(SLOT.end_to_end_id),
      instruction_id: slots.get(SLOT.instruction_id),
      transaction_id: slots.get(SLOT.transaction_id),
      uetr: slots.get(SLOT.uetr),
      clearing_reference: slots.get(SLOT.clearing_reference),
      payment_information_id: slots.get(SLOT.payment_information_id),
      message_id: slots.get(SLOT.message_id),
      currency: amount.currency,
      amount_minor: amount.amount_minor,
      debtor_account: debtor ?? slots.get(SLOT.block_debtor_iban) ?? slots.get(SLOT.block_debtor_other),
      creditor_account:
        slots.get(SLOT.creditor_iban) ??
        slots.get(SLOT.creditor_other) ??
        slots.get(SLOT.block_creditor_iban) ??
        slots.get(SLOT.block_creditor_other),
      day: this.day(),
      creditor_reference: slots.get(SLOT.creditor_reference),
    })
  }

  /** A date in early versions of pain.001, later a choice of date and date-time. */
  private day(): number | null {
    const asked = [SLOT.own_settled_day, SLOT.settled_day, SLOT.requested, SLOT.requested_day, SLOT.requested_time]
    for (const slot of asked) {
      const day = parseDay(this.slots.get(slot))
      if (day !== null) return day
    }
    return null
  }
}
