import { dayNumber } from '../dates.ts'
import type { Instruction, InstructionSource } from '../records.ts'
import { amountIn, Slots } from './slots.ts'
import type { Findings } from './findings.ts'
import { compilePaths, MessageReader, type Told } from './message-reader.ts'

/** Slots in the order of their groups: the message, a block of payments, a transfer. */
const SLOT = {
  message_id: 0,
  settled_day: 1,
  block: 2,
  payment_information_id: 3,
  block_debtor_iban: 4,
  block_debtor_other: 5,
  requested: 6,
  requested_day: 7,
  requested_time: 8,
  transfer: 9,
  instruction_id: 10,
  end_to_end_id: 11,
  transaction_id: 12,
  uetr: 13,
  clearing_reference: 14,
  own_settled_day: 15,
  amount: 16,
  equivalent: 17,
  debtor_iban: 18,
  debtor_other: 19,
  creditor_iban: 20,
  creditor_other: 21,
} as const
const SIZE = 22

function transferPaths(at: string): Record<string, number> {
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
  }
}

const PAIN = 'CstmrCdtTrfInitn'
const PACS = 'FIToFICstmrCdtTrf'

const PATHS = {
  'pain.001': compilePaths({
    [`${PAIN}/GrpHdr/MsgId`]: SLOT.message_id,
    [`${PAIN}/PmtInf`]: SLOT.block,
    [`${PAIN}/PmtInf/PmtInfId`]: SLOT.payment_information_id,
    [`${PAIN}/PmtInf/ReqdExctnDt`]: SLOT.requested,
    [`${PAIN}/PmtInf/ReqdExctnDt/Dt`]: SLOT.requested_day,
    [`${PAIN}/PmtInf/ReqdExctnDt/DtTm`]: SLOT.requested_time,
    [`${PAIN}/PmtInf/DbtrAcct/Id/IBAN`]: SLOT.block_debtor_iban,
    [`${PAIN}/PmtInf/DbtrAcct/Id/Othr/Id`]: SLOT.block_debtor_other,
    ...transferPaths(`${PAIN}/PmtInf/CdtTrfTxInf`),
    [`${PAIN}/PmtInf/CdtTrfTxInf/Amt/InstdAmt`]: SLOT.amount,
    [`${PAIN}/PmtInf/CdtTrfTxInf/Amt/EqvtAmt/Amt`]: SLOT.equivalent,
  }),
  'pacs.008': compilePaths({
    [`${PACS}/GrpHdr/MsgId`]: SLOT.message_id,
    [`${PACS}/GrpHdr/IntrBkSttlmDt`]: SLOT.settled_day,
    ...transferPaths(`${PACS}/CdtTrfTxInf`),
    [`${PACS}/CdtTrfTxInf/IntrBkSttlmAmt`]: SLOT.amount,
    [`${PACS}/CdtTrfTxInf/IntrBkSttlmDt`]: SLOT.own_settled_day,
  }),
} as const satisfies Record<InstructionSource, unknown>

/**
 * Reads the transfers of a pain.001 (instructed amount, or the equivalent one in the currency of the debtor's account) or a pacs.008
 * (interbank settlement amount), of whatever version: the places that matter are the same in all of them.
 */
export class InstructionReader implements Told {
  private readonly slots = new Slots(SIZE)
  private readonly reader: MessageReader
  private readonly source: InstructionSource
  private readonly file: number
  private readonly findings: Findings
  private readonly take: (instruction: Instruction) => void
  private position = 0

  constructor(source: InstructionSource, file: number, findings: Findings, take: (instruction: Instruction) => void) {
    this.source = source
    this.file = file
    this.findings = findings
    this.take = take
    this.reader = new MessageReader(source, PATHS[source], this, findings, file)
  }

  /** False when nothing more of the file can be read. */
  write(chunk: string | Uint8Array): boolean {
    return this.reader.write(chunk)
  }

  end(): boolean {
    const fine = this.reader.end()
    if (fine && this.position === 0) this.findings.add('NOTHING_TO_READ', this.file, null)
    return fine
  }

  enter(slot: number): void {
    this.slots.clear(slot, SIZE)
  }

  text(slot: number, text: string, currency: string | null): void {
    // A further message in the same file begins with its own id.
    if (slot === SLOT.message_id) this.slots.clear(0, SIZE)
    if (!this.slots.set(slot, text, currency, this.reader.line)) this.findings.add('ELEMENT_REPEATED', this.file, this.reader.line)
  }

  leave(slot: number): void {
    if (slot === SLOT.transfer) this.transfer()
  }

  private transfer(): void {
    const { slots, findings, file } = this
    const { line } = this.reader
    const position = ++this.position
    const errors = findings.errors
    const amount = amountIn(slots, SLOT.amount, findings, file) ?? amountIn(slots, SLOT.equivalent, findings, file)
    if (amount === null) {
      if (findings.errors === errors) findings.add('AMOUNT_MISSING', file, line)
      return
    }
    const debtor = slots.get(SLOT.debtor_iban) ?? slots.get(SLOT.debtor_other)
    this.take({
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
      creditor_account: slots.get(SLOT.creditor_iban) ?? slots.get(SLOT.creditor_other),
      day: this.day(),
    })
  }

  /** A date in early versions of pain.001, later a choice of date and date with time. */
  private day(): number | null {
    const asked = [SLOT.own_settled_day, SLOT.settled_day, SLOT.requested, SLOT.requested_day, SLOT.requested_time]
    for (const slot of asked) {
      const day = dayNumber(this.slots.get(slot))
      if (day !== null) return day
    }
    return null
  }
}
