/**
 * Compares what the ledger calls settled with what the token moved to pay-to. Both sides may come in any order and in parts: whatever has met
 * its other half is forgotten, so that only what is still alone takes memory.
 */
import type { Payment } from '../../ports/payments.ts'
import type { PaymentState } from '../../pure/payments/states.ts'

/** What of a payment has to be on the chain. */
export type SettledRow = Pick<Payment, 'payer' | 'nonce' | 'value_minor' | 'transaction' | 'block_number' | 'block_hash' | 'final'>

/** One Transfer of the token to pay-to. */
export interface LedgerTransfer {
  from: string
  value_minor: bigint
  transaction: string
  block_number: number
  block_hash: string
  log_index: number
  /** Of the authorization of the sender that the log right before says was used; null where somebody just sent money. */
  nonce: string | null
}

export interface Tally {
  count: number
  value_minor: bigint
}

/** Exact count and sum; of the items only the first are kept. */
export interface Listed<Item> extends Tally {
  first: Item[]
}

/**
 * `no_transaction`: the chain knows no transaction of this hash. `no_transfer`: that transaction does not move this value for this
 * authorization. `other_value`, `other_place`: it was moved, but not as the row says. `not_in_logs`: the receipt proves it and the search of
 * logs left it out, so the node is not to be trusted.
 */
export type DifferenceKind = 'no_transaction' | 'no_transfer' | 'other_value' | 'other_place' | 'not_in_logs'

export interface Difference {
  kind: DifferenceKind
  row: SettledRow
  /** The Transfer of this authorization, where there is one. */
  transfer: LedgerTransfer | null
}

/** A Transfer that no settled row accounts for; `state` is that of the row of its authorization, where this ledger has one. */
export interface ForeignTransfer extends LedgerTransfer {
  state: PaymentState | null
}

export interface LedgerProof {
  /** Every settled row has its Transfer where it says, and both sides come to the same count and sum once foreign money is set apart. */
  proved: boolean
  /** Settled rows that pay-to was paid by. */
  rows: Tally
  /** Of these, rows whose block may still be taken away by a reorganisation. */
  not_final: Listed<SettledRow>
  transfers: Tally
  foreign: Listed<ForeignTransfer>
  differences: Listed<Difference>
}

/** Items that a list keeps. Dust sent to a known address must not fill the memory. */
export const LISTED_MAX = 1_000

export class LedgerComparison {
  readonly #rows = new Map<string, SettledRow>()
  readonly #transfers = new Map<string, LedgerTransfer>()
  readonly #row_tally: Tally = { count: 0, value_minor: 0n }
  readonly #transfer_tally: Tally = { count: 0, value_minor: 0n }
  readonly #not_final = new Map<string, SettledRow>()
  readonly #not_final_tally: Tally = { count: 0, value_minor: 0n }
  readonly #foreign: Listed<ForeignTransfer> = { count: 0, value_minor: 0n, first: [] }
  readonly #differences: Listed<Difference> = { count: 0, value_minor: 0n, first: [] }

  /** A settled row; each is given once. */
  addRow(row: SettledRow): void {
    tell(this.#row_tally, row, 1)
    if (!row.final) {
      tell(this.#not_final_tally, row, 1)
      if (this.#not_final.size < LISTED_MAX) this.#not_final.set(keyOf(row.payer, row.nonce), row)
    }
    const key = keyOf(row.payer, row.nonce)
    const transfer = this.#transfers.get(key)
    if (transfer === undefined) this.#rows.set(key, row)
    else this.#meet(key, row, transfer)
  }

  /** A Transfer to pay-to; each is given once. */
  addTransfer(transfer: LedgerTransfer): void {
    tell(this.#transfer_tally, transfer, 1)
    if (transfer.nonce === null) return this.#addForeign(transfer, null)
    const key = keyOf(transfer.from, transfer.nonce)
    const row = this.#rows.get(key)
    if (row === undefined) this.#transfers.set(key, transfer)
    else this.#meet(key, row, transfer)
  }

  /** Takes back a row that waits, because it is settled no more or its money need not be here. */
  takeBack(row: SettledRow): void {
    const key = keyOf(row.payer, row.nonce)
    if (!this.#rows.delete(key)) return
    tell(this.#row_tally, row, -1)
    if (row.final) return
    tell(this.#not_final_tally, row, -1)
    this.#not_final.delete(key)
  }

  waitingRows(): SettledRow[] {
    return [...this.#rows.values()]
  }

  waitingTransfers(): LedgerTransfer[] {
    return [...this.#transfers.values()]
  }

  /** A waiting row whose Transfer does not come. */
  giveUpRow(row: SettledRow, kind: DifferenceKind): void {
    if (this.#rows.delete(keyOf(row.payer, row.nonce))) this.addDifference({ kind, row, transfer: null })
  }

  /** A waiting Transfer that no settled row wants; `state` as in ForeignTransfer. */
  giveUpTransfer(transfer: LedgerTransfer, state: PaymentState | null): void {
    if (transfer.nonce !== null && this.#transfers.delete(keyOf(transfer.from, transfer.nonce))) this.#addForeign(transfer, state)
  }

  /** A row that was found wanting on its own. */
  addDifference(difference: Difference): void {
    list(this.#differences, difference, difference.row)
  }

  /** The finding. What still waits counts as without its other half. */
  finish(): LedgerProof {
    for (const row of this.waitingRows()) this.giveUpRow(row, 'no_transfer')
    for (const transfer of this.waitingTransfers()) this.giveUpTransfer(transfer, null)
    const [rows, transfers, foreign] = [this.#row_tally, this.#transfer_tally, this.#foreign]
    const agree = rows.count === transfers.count - foreign.count && rows.value_minor === transfers.value_minor - foreign.value_minor
    return {
      proved: agree && this.#differences.count === 0,
      rows,
      not_final: { ...this.#not_final_tally, first: [...this.#not_final.values()] },
      transfers,
      foreign,
      differences: this.#differences,
    }
  }

  #meet(key: string, row: SettledRow, transfer: LedgerTransfer): void {
    this.#rows.delete(key)
    this.#transfers.delete(key)
    const kind = differenceOf(row, transfer)
    if (kind !== null) this.addDifference({ kind, row, transfer })
  }

  #addForeign(transfer: LedgerTransfer, state: PaymentState | null): void {
    list(this.#foreign, { ...transfer, state }, transfer)
  }
}

function differenceOf(row: SettledRow, transfer: LedgerTransfer): DifferenceKind | null {
  if (row.value_minor !== transfer.value_minor) return 'other_value'
  const same_block = row.block_number === transfer.block_number && row.block_hash === transfer.block_hash
  return same_block && row.transaction === transfer.transaction ? null : 'other_place'
}

function keyOf(payer: string, nonce: string): string {
  return `${payer}:${nonce}`
}

function tell(tally: Tally, { value_minor }: { value_minor: bigint }, by: 1 | -1): void {
  tally.count += by
  tally.value_minor += BigInt(by) * value_minor
}

function list<Item>(listed: Listed<Item>, item: Item, value: { value_minor: bigint }): void {
  tell(listed, value, 1)
  if (listed.first.length < LISTED_MAX) listed.first.push(item)
}
