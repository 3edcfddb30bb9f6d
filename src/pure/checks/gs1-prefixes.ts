import table from '../../../data/gs1-prefixes.json' with { type: 'json' }
import { dataDate } from '../data-date.ts'

/** What a range of GS1 prefixes is for. */
export const GS1_KINDS = [
  'member',
  'restricted',
  'coupon',
  'refund',
  'issn',
  'isbn',
  'ismn',
  'demonstration',
  'reserved',
  'global_office',
] as const

export type Gs1Kind = (typeof GS1_KINDS)[number]

interface Gs1Range {
  kind: Gs1Kind
  organisation: string
}

/** Dates of the tables that an answer is read from. */
export const EAN13_DATA_AS_OF = { gs1_prefixes: dataDate(table) } as const

/** By each prefix of three digits, or of seven where zeros stand in front. */
const RANGES: ReadonlyMap<string, Gs1Range> = new Map(
  table.rows.flatMap(({ first, last, kind, organisation }) => {
    const range: Gs1Range = { kind: GS1_KINDS.find((one) => one === kind) ?? 'member', organisation }
    const start = Number.parseInt(first, 10)
    const prefix = (number: number) => String(number).padStart(first.length, '0')
    return Array.from({ length: Number.parseInt(last, 10) - start + 1 }, (_, offset) => [prefix(start + offset), range] as const)
  }),
)

/** The range that a number of thirteen digits lies in, or null. Errs towards null: ranges opened after the copy was made are missing. */
export function gs1Range(code: string): Gs1Range | null {
  return RANGES.get(code.slice(0, 7)) ?? RANGES.get(code.slice(0, 3)) ?? null
}
