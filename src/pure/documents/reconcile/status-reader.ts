import { compilePaths, MessageReader, SlotValues, type MessageHandler } from './message-reader.ts'
import type { ReadFindings } from './records.ts'
import type { StatementBook } from './statement-book.ts'

type StatusMessage = 'pain.002' | 'pacs.002' | 'pain.007' | 'pacs.004'

/** Slots in the order of their groups: message, payment block, transaction. */
const SLOT = {
  message_id: 0,
  message_status: 1,
  message_reason: 2,
  block: 3,
  block_id: 4,
  block_status: 5,
  block_reason: 6,
  transaction: 7,
  end_to_end_id: 8,
  instruction_id: 9,
  transaction_id: 10,
  uetr: 11,
  status: 12,
  reason: 13,
  own_reason: 14,
} as const
const SLOT_COUNT = 15

function transactionPaths(at: string, reason: string): Record<string, number> {
  return {
    [at]: SLOT.transaction,
    [`${at}/OrgnlEndToEndId`]: SLOT.end_to_end_id,
    [`${at}/OrgnlInstrId`]: SLOT.instruction_id,
    [`${at}/OrgnlTxId`]: SLOT.transaction_id,
    [`${at}/OrgnlUETR`]: SLOT.uetr,
    [`${at}/TxSts`]: SLOT.status,
    [`${at}/${reason}/Rsn/Cd`]: SLOT.reason,
    [`${at}/${reason}/Rsn/Prtry`]: SLOT.own_reason,
  }
}

const REPORT = 'CstmrPmtStsRpt'
const PATHS = {
  'pain.002': compilePaths({
    [`${REPORT}/OrgnlGrpInfAndSts/OrgnlMsgId`]: SLOT.message_id,
    [`${REPORT}/OrgnlGrpInfAndSts/GrpSts`]: SLOT.message_status,
    [`${REPORT}/OrgnlGrpInfAndSts/StsRsnInf/Rsn/Cd`]: SLOT.message_reason,
    [`${REPORT}/OrgnlPmtInfAndSts`]: SLOT.block,
    [`${REPORT}/OrgnlPmtInfAndSts/OrgnlPmtInfId`]: SLOT.block_id,
    [`${REPORT}/OrgnlPmtInfAndSts/PmtInfSts`]: SLOT.block_status,
    [`${REPORT}/OrgnlPmtInfAndSts/StsRsnInf/Rsn/Cd`]: SLOT.block_reason,
    ...transactionPaths(`${REPORT}/OrgnlPmtInfAndSts/TxInfAndSts`, 'StsRsnInf'),
  }),
  'pacs.002': compilePaths({
    'FIToFIPmtStsRpt/OrgnlGrpInfAndSts/OrgnlMsgId': SLOT.message_id,
    'FIToFIPmtStsRpt/OrgnlGrpInfAndSts/GrpSts': SLOT.message_status,
    ...transactionPaths('FIToFIPmtStsRpt/TxInfAndSts', 'StsRsnInf'),
  }),
  'pain.007': compilePaths(transactionPaths('CstmrPmtRvsl/OrgnlPmtInfAndRvsl/TxInf', 'RvslRsnInf')),
  'pacs.004': compilePaths(transactionPaths('PmtRtr/TxInf', 'RtrRsnInf')),
} as const

const REJECTED: ReadonlySet<string> = new Set(['RJCT', 'CANC'])

/**
 * Reads rejections and returns: a payment whose status is RJCT or CANC in a pain.002 or pacs.002, alone or with its block or message, and
 * every payment of a pain.007 or pacs.004. Other statuses do not prove that money moved and are not used.
 */
export class StatusReader implements MessageHandler {
  private readonly slots = new SlotValues(SLOT_COUNT)
  private readonly reader: MessageReader
  private readonly book: StatementBook
  private readonly message: StatusMessage

  constructor(message: StatusMessage, file: number, findings: ReadFindings, book: StatementBook) {
    this.message = message
    this.book = book
    this.reader = new MessageReader(message, PATHS[message], this, findings, file)
  }

  write(chunk: string | Uint8Array): boolean {
    return this.reader.write(chunk)
  }

  end(): boolean {
    const fine = this.reader.end()
    this.noteGroup(SLOT.message_id, SLOT.message_status, SLOT.message_reason)
    return fine
  }

  enter(slot: number): void {
    this.slots.clear(slot, SLOT_COUNT)
  }

  text(slot: number, text: string): void {
    this.slots.set(slot, text.trim(), null, this.reader.line)
  }

  leave(slot: number): void {
    if (slot === SLOT.block) this.noteGroup(SLOT.block_id, SLOT.block_status, SLOT.block_reason)
    if (slot !== SLOT.transaction) return
    const { slots, book } = this
    const by_status = this.message === 'pain.002' || this.message === 'pacs.002'
    if (by_status && !REJECTED.has(slots.get(SLOT.status) ?? '')) return
    const reason = slots.get(SLOT.reason) ?? slots.get(SLOT.own_reason)
    for (const id of [SLOT.end_to_end_id, SLOT.uetr]) book.reject(slots.get(id), reason)
    if (slots.get(SLOT.end_to_end_id) !== null) return
    for (const id of [SLOT.instruction_id, SLOT.transaction_id]) book.reject(slots.get(id), reason)
  }

  private noteGroup(id: number, status: number, reason: number): void {
    if (REJECTED.has(this.slots.get(status) ?? '')) this.book.rejectGroup(this.slots.get(id), this.slots.get(reason))
  }
}
