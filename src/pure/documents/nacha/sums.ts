import type { Findings } from './findings.ts'
import { cut, type Place } from './layout.ts'
import type { NachaDirection } from './types.ts'
import { areDigits } from './values.ts'

const HASH_MODULUS = 10_000_000_000

/** What entries add up to. A field that cannot be read makes its sum unknown; an unknown sum is not compared. */
export interface Sums {
  entries: number
  addenda: number
  count_known: boolean
  /** Modulo 10^10. */
  hash: number
  hash_known: boolean
  credit_minor: bigint
  debit_minor: bigint
  amounts_known: boolean
}

export function sumsOf(): Sums {
  return {
    entries: 0,
    addenda: 0,
    count_known: true,
    hash: 0,
    hash_known: true,
    credit_minor: 0n,
    debit_minor: 0n,
    amounts_known: true,
  }
}

export function addEntry(sums: Sums, rdfi: string, direction: NachaDirection | null, amount_minor: bigint | null): void {
  sums.entries++
  if (areDigits(rdfi)) sums.hash = (sums.hash + Number.parseInt(rdfi, 10)) % HASH_MODULUS
  else sums.hash_known = false
  if (amount_minor === null || direction === null) sums.amounts_known = false
  else if (direction === 'credit') sums.credit_minor += amount_minor
  else sums.debit_minor += amount_minor
}

export function addSums(whole: Sums, part: Sums): void {
  whole.entries += part.entries
  whole.addenda += part.addenda
  whole.count_known &&= part.count_known
  whole.hash = (whole.hash + part.hash) % HASH_MODULUS
  whole.hash_known &&= part.hash_known
  whole.credit_minor += part.credit_minor
  whole.debit_minor += part.debit_minor
  whole.amounts_known &&= part.amounts_known
}

/** The hash as it stands in a control record. */
export function hashText(sums: Sums): string {
  return `${sums.hash}`.padStart(10, '0')
}

interface TotalPlaces {
  count: Place
  hash: Place
  debit: Place
  credit: Place
}

/** Holds a control record's totals against what the entries add up to: N_B_… for a batch, N_F_… for the file. */
export function compareTotals(
  level: 'N_B' | 'N_F',
  places: TotalPlaces,
  sums: Sums,
  { record, line }: { record: string; line: number },
  findings: Findings,
): void {
  const compare = (code: Parameters<Findings['add']>[0], place: Place, known: boolean, sum: bigint) => {
    const found = cut(record, place)
    if (known && !states(found, sum)) findings.add(code, { line, place, found, expected: `${sum}`.padStart(found.length, '0') })
  }
  compare(`${level}_COUNT`, places.count, sums.count_known, BigInt(sums.entries + sums.addenda))
  compare(`${level}_HASH`, places.hash, sums.hash_known, BigInt(sums.hash))
  compare(`${level}_DEBIT`, places.debit, sums.amounts_known, sums.debit_minor)
  compare(`${level}_CREDIT`, places.credit, sums.amounts_known, sums.credit_minor)
}

/** Whether a field of digits states this number. */
export function states(field: string, number: bigint): boolean {
  return areDigits(field) && BigInt(field) === number
}
