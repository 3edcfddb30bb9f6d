/** Credits and debits counted and added, exact, in 10^-5. */
import type { Direction } from './codes.ts'

export class Tally {
  credits = 0
  debits = 0
  credit = 0n
  debit = 0n

  add(direction: Direction, amount: bigint): void {
    if (direction === 'DBIT') {
      this.debits++
      this.debit += amount
    } else {
      this.credits++
      this.credit += amount
    }
  }

  addAll(other: Tally): void {
    this.credits += other.credits
    this.debits += other.debits
    this.credit += other.credit
    this.debit += other.debit
  }

  clear(): void {
    this.credits = 0
    this.debits = 0
    this.credit = 0n
    this.debit = 0n
  }

  /** Credits less debits. */
  net(): bigint {
    return this.credit - this.debit
  }
}

/** An amount with the sign of its direction. */
export function signed(direction: Direction, amount: bigint): bigint {
  return direction === 'DBIT' ? -amount : amount
}
