import type { Ledger } from './ledger.ts'
import type { BankEntry } from './records.ts'

/** Entry that may be the payment, for a person to decide: nothing is settled by it. */
export interface Candidate {
  row: number
  /** 0 to 100. */
  score: number
  why: CandidateReason[]
}

type CandidateReason = 'same_id' | 'id_in_text' | 'creditor_reference' | 'id_altered' | 'counterparty_account' | 'close_date'

const SCORES: Readonly<Record<CandidateReason, number>> = {
  same_id: 60,
  id_in_text: 60,
  creditor_reference: 60,
  id_altered: 50,
  counterparty_account: 25,
  close_date: 10,
}
const LISTED = 3
/** Entries with the amount of a payment that are compared with it. */
const COMPARED = 50
/** Shorter ids occur in other texts by chance. */
const ID_CHARS = 4
const CLOSE_DAYS = 5

/** Entries without a payment, by currency and amount. */
export class CandidateIndex {
  private readonly ledger: Ledger
  private readonly by_amount = new Map<string, number[]>()
  private readonly texts = new Map<number, { joined: string; ids: string[] }>()

  /** Rows of unmatched entries, and the direction test of the engine. */
  constructor(ledger: Ledger, rows: Iterable<number>) {
    this.ledger = ledger
    if (ledger.facts.size === 0) return
    const { entries } = ledger
    for (const row of rows) {
      if (!ledger.facts.has(row) || entries.isReturn(row)) continue
      const key = `${entries.currency.get(row)} ${entries.amount.get(row)}`
      const same = this.by_amount.get(key)
      if (same === undefined) this.by_amount.set(key, [row])
      else if (same.length < COMPARED) same.push(row)
    }
  }

  /** Entries on an account of the payment, with its amount and direction, that have its id or reference, best first. */
  find(instruction: number, fits: (entry: number) => boolean): Candidate[] {
    const { instructions } = this.ledger
    const same = this.by_amount.get(`${instructions.currency.get(instruction)} ${instructions.amount.get(instruction)}`) ?? []
    const found: Candidate[] = []
    for (const row of same) {
      if (!fits(row)) continue
      const why = this.reasons(instruction, row)
      const named = why.some((reason) => reason !== 'close_date')
      if (named) found.push({ row, score: why.reduce((sum, reason) => sum + SCORES[reason], 0), why })
    }
    return found.toSorted((one, other) => other.score - one.score || this.ledger.entries.byPlace(one.row, other.row)).slice(0, LISTED)
  }

  private reasons(instruction: number, row: number): CandidateReason[] {
    const { instructions, entries, pool } = this.ledger
    const { joined, ids } = this.textsOf(row)
    const why: CandidateReason[] = []
    const id = signless(pool.text(instructions.ids.end_to_end.get(instruction)) ?? '')
    const reference = signless(pool.text(instructions.creditor_reference.get(instruction)) ?? '')
    if (id !== '' && ids.includes(id)) why.push('same_id')
    else if (id.length >= ID_CHARS && joined.includes(id)) why.push('id_in_text')
    if (reference.length >= ID_CHARS && joined.includes(reference)) why.push('creditor_reference')
    const plain = withoutZeros(id)
    if (why.length === 0 && plain !== '' && ids.some((one) => withoutZeros(one) === plain)) why.push('id_altered')
    else if (why.length === 0 && plain.length >= ID_CHARS && plain !== id && joined.includes(plain)) why.push('id_altered')
    const counterparty = entries.counterparty.get(row)
    const own = entries.isCredit(row) ? instructions.debtor.get(instruction) : instructions.creditor.get(instruction)
    if (counterparty > 0 && counterparty === own) why.push('counterparty_account')
    const [due, booked] = [instructions.day.get(instruction), entries.day.get(row)]
    if (due !== 0 && booked !== 0 && Math.abs(booked - due) <= CLOSE_DAYS) why.push('close_date')
    return why
  }

  private textsOf(row: number): { joined: string; ids: string[] } {
    let known = this.texts.get(row)
    if (known === undefined) this.texts.set(row, (known = entryTexts(this.ledger, row)))
    return known
  }
}

function entryTexts({ entries, pool, facts }: Ledger, row: number): { joined: string; ids: string[] } {
  const remittance: BankEntry['remittance'] = facts.get(row)?.remittance
  const { end_to_end, instruction, transaction, payment_information, message } = entries.ids
  const ids = [end_to_end, instruction, transaction, payment_information, message].map((column) =>
    signless(pool.text(column.get(row)) ?? ''),
  )
  const texts = remittance === undefined ? [] : [...remittance.unstructured, ...remittance.creditor_references, ...remittance.additional]
  const references = [remittance?.entry_reference ?? '', remittance?.servicer_reference ?? '']
  return { joined: [...ids, ...[...texts, ...references].map(signless)].join('\n'), ids: ids.filter((id) => id !== '') }
}

/** Capitals and digits only: banks drop hyphens, blanks and case. */
function signless(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]/g, '')
}

function withoutZeros(text: string): string {
  return text.replace(/^([A-Z]*)0+/, '$1')
}
