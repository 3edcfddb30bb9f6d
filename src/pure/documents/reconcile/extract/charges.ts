import { readAmount } from '../minor-units.ts'
import type { Slots } from './slots.ts'
import { SLOT } from './statement-slots.ts'

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
