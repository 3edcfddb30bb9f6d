/**
 * Rebuilds `data/iso4217.json` from ISO 4217 lists one and three in one CSV file (columns Entity, Currency, AlphabeticCode, NumericCode,
 * MinorUnit, WithdrawalDate; github.com/datasets/currency-codes data/codes-all.csv, PDDL, made from the files of the maintenance agency).
 *
 *   node scripts/refresh-iso4217.ts --codes <path or URL> --version 2026-02-01 --published 2026-02-01 --retrieved 2026-11-21
 *
 * One row a code: current ones first, then withdrawn ones with their last date. Signs are those of the locale data of the Node that runs
 * this, kept in the table so that an answer does not depend on the Node that gives it.
 */
import { entityCountry } from '../src/pure/datasets/table-feeds.ts'
import { FUNDS, METALS, SUCCESSORS, SYMBOLS, UNITS } from './support/currency-facts.ts'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  alpha: string
  numeric: string | null
  name: string
  minor_units: number | null
  kind: string
  symbol: string
  symbol_distinct: string
  countries: string[]
  other_entities: string[]
  withdrawn: string | null
  successor: string | null
  per_successor: string | null
}

interface Line {
  entity: string
  name: string
  alpha: string
  numeric: string
  minor: string
  withdrawn: string
}

const PATH = new URL('../data/iso4217.json', import.meta.url)
/** Codes without which, or with other words for which, the file is not the list. */
const SENTINELS: Readonly<Record<string, string>> = {
  USD: '840 2 null',
  EUR: '978 2 null',
  JPY: '392 0 null',
  KWD: '414 3 null',
  CLF: '990 4 null',
  XAU: '959 null null',
  XCG: '532 2 null',
  VED: '926 2 null',
  SLE: '925 2 null',
  ZWG: '924 2 null',
  XAD: '396 2 null',
  ANG: '532 null 2025-03',
  HRK: '191 null 2023-01',
  BGN: '975 null 2026-01',
}

function readLines(csv: string): Line[] {
  const [head = '', ...lines] = csv.split(/\r?\n/).filter((line) => line !== '')
  assert(head === 'Entity,Currency,AlphabeticCode,NumericCode,MinorUnit,WithdrawalDate', 'the columns are not those of the file')
  return lines.map((line) => {
    const cells = Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain = '']) =>
      (quoted?.replaceAll('""', '"') ?? plain).trim(),
    )
    assert(cells.length === 6, `a line has ${cells.length} cells: ${line}`)
    const [entity = '', name = '', alpha = '', numeric = '', minor = '', withdrawn = ''] = cells
    return { entity, name, alpha, numeric, minor, withdrawn: withdrawn.replace(/^(\d{4})-(\d{4})$/, '$1 to $2') }
  })
}

function kindOf(alpha: string): string {
  if (alpha === 'XTS') return 'testing'
  if (alpha === 'XXX') return 'none'
  if (FUNDS.includes(alpha)) return 'fund'
  if (METALS.includes(alpha)) return 'metal'
  return UNITS.includes(alpha) ? 'unit' : 'currency'
}

function symbolOf(alpha: string, currencyDisplay: 'symbol' | 'narrowSymbol'): string {
  const parts = new Intl.NumberFormat('en', { style: 'currency', currency: alpha, currencyDisplay }).formatToParts(0)
  return SYMBOLS[alpha] ?? parts.find(({ type }) => type === 'currency')?.value.replace(/\s/g, ' ') ?? alpha
}

/** The last year, and month where there is one, of a date such as `2023-01`, `1989 to 1990` or `1990-07 to 1990-09`. */
function lastDate(withdrawn: string): string {
  return withdrawn.split(' to ').at(-1) ?? ''
}

function rowOf(lines: readonly Line[]): Row {
  const latest = lines.toSorted((one, other) => (lastDate(one.withdrawn) < lastDate(other.withdrawn) ? 1 : -1))[0]
  assert(latest !== undefined, 'a code without lines')
  const { alpha, numeric, name, minor } = latest
  const entities = [...new Set(lines.map(({ entity }) => entity))].filter((entity) => !/^ZZ\d\d_/.test(entity))
  const [successor, per_successor] = latest.withdrawn === '' ? [null, null] : (SUCCESSORS[alpha] ?? [null, null])
  return {
    alpha,
    numeric: numeric === '' ? null : numeric,
    name,
    minor_units: /^\d$/.test(minor) ? Number(minor) : null,
    kind: kindOf(alpha),
    symbol: symbolOf(alpha, 'narrowSymbol'),
    symbol_distinct: symbolOf(alpha, 'symbol'),
    countries: [...new Set(entities.flatMap((entity) => entityCountry(entity) ?? []))].toSorted(),
    other_entities: entities.filter((entity) => entityCountry(entity) === null),
    withdrawn: latest.withdrawn === '' ? null : latest.withdrawn,
    successor,
    per_successor,
  }
}

/** A code that is current for one entity is current, even if another entity withdrew it. */
function readRows(lines: readonly Line[]): Row[] {
  const coded = lines.filter(({ alpha }) => alpha !== '')
  const current = Map.groupBy(
    coded.filter(({ withdrawn }) => withdrawn === ''),
    ({ alpha }) => alpha,
  )
  const old = Map.groupBy(
    coded.filter(({ alpha }) => !current.has(alpha)),
    ({ alpha }) => alpha,
  )
  const sorted = (groups: Map<string, Line[]>) =>
    Array.from(groups.values(), rowOf).sort((one, other) => (one.alpha < other.alpha ? -1 : 1))
  return [...sorted(current), ...sorted(old)]
}

function prove(rows: readonly Row[], before: readonly Row[]): void {
  const current = rows.filter(({ withdrawn }) => withdrawn === null)
  const currentBefore = before.filter(({ withdrawn }) => withdrawn === null)
  assert(current.length >= 170 && current.length <= 200, `${current.length} current codes`)
  assert(current.length >= currentBefore.length - 4, `the list shrank from ${currentBefore.length} to ${current.length} current codes`)
  assert(rows.length >= before.length, `${before.length - rows.length} codes are gone; a withdrawn code stays in list three`)
  assert(new Set(current.map(({ numeric }) => numeric)).size === current.length, 'two current codes share a number')
  for (const { alpha, numeric, successor } of rows) {
    assert(/^[A-Z]{3}$/.test(alpha) && (numeric === null || /^\d{3}$/.test(numeric)), `${alpha} or its number has a wrong form`)
    assert(successor === null || current.some((row) => row.alpha === successor), `${alpha}: its successor ${successor} is not current`)
  }
  for (const [alpha, expected] of Object.entries(SENTINELS)) {
    const row = rows.find((one) => one.alpha === alpha)
    const found = `${row?.numeric} ${row?.minor_units} ${row?.withdrawn}`
    assert(found === expected, `${alpha} should be ${expected}, not ${found}`)
  }
}

const rows = readRows(readLines(new TextDecoder().decode(await readSource(option('codes')))))
const before = await rowsOf<Row>(PATH)
prove(rows, before)
printDifference(before, rows, (row) => row.alpha)
await writeTable(
  PATH,
  {
    schema: 'assay/iso4217/1',
    source: 'ISO 4217 lists one and three, by way of github.com/datasets/currency-codes (PDDL); signs: Unicode CLDR by Intl.NumberFormat',
    source_version: `${option('version')}; CLDR ${process.versions['cldr'] ?? 'unknown'}`,
    ...tableDates(option('codes')),
    notes:
      'Current codes first, so that a number that was used again leads to the current code. withdrawn: the last date of list three. symbol: as written at home; symbol_distinct: as written where several currencies meet; both are the code where there is no sign. per_successor: how many made one of the successor.',
  },
  rows,
)
