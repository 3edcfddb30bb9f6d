import { compilePaths } from './message-reader.ts'
import { DETAILS, ENTRY, SLOTS, STATEMENT_PLACES } from './statement-slots.ts'

/** What an entry of a statement says beyond what reconciliation needs: whom the bank booked it for, under which name and when. */
export interface Remittance {
  /** As the bank names the statement; null where it does not. */
  statement_id: string | null
  /** Its number in the year or for good, and its page, where the bank gives them. */
  sequence: string | null
  page: string | null
  /** The bank's own name of the entry (NtryRef, else AcctSvcrRef); null where it has none. */
  entry_reference: string | null
  /** Booking date, YYYY-MM-DD; null where it is missing or none. */
  booked_on: string | null
  /** Structured creditor references (CdtrRefInf), as they stand. */
  creditor_references: string[]
  /** Free text (Ustrd), line by line. */
  unstructured: string[]
}

const EXTRA = {
  entry_reference: SLOTS,
  servicer_reference: SLOTS + 1,
  booked_date: SLOTS + 2,
  booked_time: SLOTS + 3,
  creditor_reference: SLOTS + 4,
  unstructured: SLOTS + 5,
} as const

/** The places of a camt.053 with those of remittance, the same in versions 02 to 13. */
export const REMITTANCE_PATHS = compilePaths({
  ...STATEMENT_PLACES,
  [`${ENTRY}/NtryRef`]: EXTRA.entry_reference,
  [`${ENTRY}/AcctSvcrRef`]: EXTRA.servicer_reference,
  [`${ENTRY}/BookgDt/Dt`]: EXTRA.booked_date,
  [`${ENTRY}/BookgDt/DtTm`]: EXTRA.booked_time,
  [`${DETAILS}/RmtInf/Strd/CdtrRefInf/Ref`]: EXTRA.creditor_reference,
  [`${DETAILS}/RmtInf/Ustrd`]: EXTRA.unstructured,
})

/** Lines of one transaction that are kept, and characters of each. */
const LINES = 64
const LINE_CHARS = 512

/** Gathers remittance beside the slots of the statement, since its elements may stand several times. */
export class RemittanceSlots {
  private readonly texts = new Map<number, string>()
  private creditor_references: string[] = []
  private unstructured: string[] = []

  openEntry(): void {
    this.texts.clear()
    this.openDetails()
  }

  openDetails(): void {
    this.creditor_references = []
    this.unstructured = []
  }

  /** False when the slot is none of remittance. */
  take(slot: number, text: string): boolean {
    if (slot < SLOTS) return false
    const lines = slot === EXTRA.creditor_reference ? this.creditor_references : slot === EXTRA.unstructured ? this.unstructured : null
    if (lines === null) this.texts.set(slot, text.slice(0, LINE_CHARS).trim())
    else if (lines.length < LINES) lines.push(text.slice(0, LINE_CHARS))
    return true
  }

  of(statement: Pick<Remittance, 'statement_id' | 'sequence' | 'page'>): Remittance {
    const entry_reference = this.text(EXTRA.entry_reference) ?? this.text(EXTRA.servicer_reference)
    const booked = this.text(EXTRA.booked_date) ?? this.text(EXTRA.booked_time)
    const booked_on = booked !== null && /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(booked) ? booked.slice(0, 10) : null
    const { creditor_references, unstructured } = this
    return { ...statement, entry_reference, booked_on, creditor_references, unstructured }
  }

  private text(slot: number): string | null {
    const found = this.texts.get(slot) ?? ''
    return found === '' ? null : found
  }
}
