import { ENTRY, ENTRY_VARIANT, type Place } from './layout.ts'
import type { NachaDirection } from './types.ts'

/** What one standard entry class asks of its entries. */
export interface EntryClass {
  /** The only direction of forward entries, reversals apart; null where both are in use. */
  direction: NachaDirection | null
  /** The type of its addenda; null for none at all. */
  addenda: '02' | '05' | 'iat' | '98' | null
  addenda_max: number
  /** Exactly `addenda_max` addenda are demanded. */
  addenda_demanded: boolean
  /** Where the entry states how many addenda it has. */
  addenda_count: Place | null
  /** Where a name must stand in a forward entry. */
  name: Place | null
  /** All its entries are for zero: acknowledgments, enrolments, death notices. */
  zero: boolean
  advice: boolean
}

const USUAL: EntryClass = {
  direction: null,
  addenda: '05',
  addenda_max: 1,
  addenda_demanded: false,
  addenda_count: null,
  name: ENTRY.name,
  zero: false,
  advice: false,
}
/** Checks turned into debits: no addenda, and a name only where it is said below. */
const CHECK: EntryClass = { ...USUAL, direction: 'debit', addenda: null, addenda_max: 0, name: null }
const TERMINAL: EntryClass = { ...USUAL, addenda: '02', addenda_demanded: true }
const EXCHANGE: EntryClass = { ...USUAL, addenda_max: 9_999, addenda_count: ENTRY_VARIANT.exchange_addenda, name: null }

/**
 * The standard entry classes (Nacha Operating Rules, appendix three, 2026). Errs towards valid: where publications differ (the fields of
 * MTE and ENR) either form passes, and account types that a class excludes are not looked at.
 */
const CLASSES: Readonly<Record<string, EntryClass>> = {
  ACK: { ...USUAL, direction: 'credit', name: null, zero: true },
  ADV: { ...USUAL, addenda: null, addenda_max: 0, name: null, advice: true },
  ARC: CHECK,
  ATX: { ...EXCHANGE, direction: 'credit', zero: true },
  BOC: CHECK,
  CCD: USUAL,
  CIE: { ...USUAL, direction: 'credit', name: ENTRY_VARIANT.cie_name },
  COR: { ...USUAL, addenda: '98', name: null },
  CTX: { ...EXCHANGE, name: ENTRY_VARIANT.exchange_name },
  DNE: { ...USUAL, direction: 'credit', addenda_demanded: true, zero: true },
  ENR: { ...USUAL, addenda_max: 9_999, zero: true },
  /** Seven that are demanded, two with payment information, five with correspondent banks; the name stands in addenda 10. */
  IAT: { ...USUAL, addenda: 'iat', addenda_max: 14, addenda_count: ENTRY_VARIANT.iat_addenda, name: null },
  MTE: { ...TERMINAL, name: ENTRY_VARIANT.machine_name },
  POP: CHECK,
  POS: TERMINAL,
  PPD: USUAL,
  RCK: { ...CHECK, name: ENTRY.name },
  SHR: { ...TERMINAL, name: null },
  TEL: { ...CHECK, name: ENTRY.name },
  TRC: CHECK,
  TRX: { ...EXCHANGE, direction: 'debit' },
  WEB: USUAL,
  XCK: CHECK,
}

/** The class of these three letters; null for one that does not exist. */
export function entryClass(sec: string): EntryClass | null {
  return Object.hasOwn(CLASSES, sec) ? (CLASSES[sec] ?? null) : null
}

/** Five optional addenda may follow the seven of an international entry, of which two carry payment information. */
export const IAT_OPTIONAL: Readonly<Record<'17' | '18', number>> = { 17: 2, 18: 5 }
