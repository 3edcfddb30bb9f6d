import { readAmount } from '../minor-units.ts'
import { shownText } from '../shown-text.ts'
import type { Findings, ReadCode } from './findings.ts'
import type { Slots } from './slots.ts'

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
