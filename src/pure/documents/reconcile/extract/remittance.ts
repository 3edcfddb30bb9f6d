import { cutText } from '../../../cut-text.ts'
import { compilePaths } from './message-reader.ts'
import { DETAILS, ENTRY, SLOT, type Slots, SLOTS, STATEMENT_PLACES } from './slots.ts'

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
  creditor_reference: SLOTS + 1,
  unstructured: SLOTS + 2,
} as const

/** The places of a camt.053 with those of remittance, the same in versions 02 to 13. */
export const REMITTANCE_PATHS = compilePaths({
  ...STATEMENT_PLACES,
  [`${ENTRY}/NtryRef`]: EXTRA.entry_reference,
  [`${DETAILS}/RmtInf/Strd/CdtrRefInf/Ref`]: EXTRA.creditor_reference,
  [`${DETAILS}/RmtInf/Ustrd`]: EXTRA.unstructured,
})

/** Lines of one transaction that are kept, and characters of each. */
const LINES = 64
const LINE_CHARS = 512

/** Gathers remittance beside the slots of the statement, since its elements may stand several times. */
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

  /** False when the slot is none of remittance. */
  take(slot: number, text: string): boolean {
    if (slot < SLOTS) return false
    const lines = slot === EXTRA.creditor_reference ? this.creditor_references : slot === EXTRA.unstructured ? this.unstructured : null
    if (lines === null) this.entry_reference = shortened(text)
    else if (lines.length < LINES) lines.push(cutText(text, LINE_CHARS, ''))
    return true
  }

  of(statement: Pick<Remittance, 'statement_id' | 'sequence' | 'page'>, slots: Slots): Remittance {
    const servicer_reference = shortened(slots.get(SLOT.servicer_reference) ?? '')
    const entry_reference = this.entry_reference || servicer_reference || null
    const { creditor_references, unstructured } = this
    return { ...statement, entry_reference, booked_on: bookedOn(slots), creditor_references, unstructured }
  }
}

function shortened(text: string): string {
  return cutText(text, LINE_CHARS, '').trim()
}

/** The booking date of the entry, YYYY-MM-DD; null where it is missing or none. */
export function bookedOn(slots: Slots): string | null {
  const booked = (slots.get(SLOT.booked_date) ?? slots.get(SLOT.booked_time))?.trim() ?? ''
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(booked) ? booked.slice(0, 10) : null
}
