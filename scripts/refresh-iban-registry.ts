/**
 * Rebuilds data/iban-registry.json from the IBAN registry's text file (SWIFT, tab-separated, Latin-1, one column a country) and
 * from a list of countries that print IBAN-like numbers without being in the registry (schwifty's overwrite.json).
 *
 *   node scripts/refresh-iban-registry.ts --registry <path or URL> --unofficial <path or URL> \
 *     --release 102 --published 2026-06 --retrieved 2026-11-21
 *
 * Nothing is written unless every row agrees with itself: structure, length, positions and the registry's own example.
 */
import { registryColumns } from '../src/pure/datasets/iban-registry.ts'
import { LAYOUTS } from './support/iban-parts.ts'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  country: string
  structure: string
  length: number
  /** The BBAN from its first character on, as label:length. */
  parts: string
  territories: string[]
  registry: boolean
  example: string | null
}

const PATH = new URL('../data/iban-registry.json', import.meta.url)
const TOKEN = /(\d+)!([nac])/g
const CLASSES: Readonly<Record<string, string>> = { n: '[0-9]', a: '[A-Z]', c: '[0-9A-Z]' }
/** Lengths in release 102; a source with other lengths is not this registry. */
const SENTINELS: Readonly<Record<string, number>> = {
  NO: 15,
  BE: 16,
  DE: 22,
  GB: 22,
  FR: 27,
  MT: 31,
  LC: 32,
  RU: 33,
  YE: 30,
  HN: 28,
  FK: 18,
}

function lengthOf(structure: string): number {
  return [...structure.matchAll(TOKEN)].reduce((sum, [, count]) => sum + Number(count), 0)
}

interface Place {
  label: string
  start: number
  end: number
}

function places(parts: string): Place[] {
  let end = 0
  return parts.split(' ').map((part) => {
    const [label = '', length = ''] = part.split(':')
    const start = end
    end += Number(length)
    return { label, start, end }
  })
}

/** Bank, branch, then account, unless a reviewed layout says more; it may not contradict the registry. */
function layout(country: string, length: number, bank: [number, number] | null, branch: [number, number] | null): string {
  const named: Place[] = []
  if (bank !== null) named.push({ label: 'bank', start: bank[0], end: bank[1] })
  if (branch !== null) named.push({ label: 'branch', start: branch[0], end: branch[1] })
  const account: Place = { label: 'account', start: named.at(-1)?.end ?? 0, end: length }
  const parts = LAYOUTS[country] ?? [...named, account].map(({ label, start, end }) => `${label}:${end - start}`).join(' ')
  const has = (wanted: Place) =>
    places(parts).some((one) => one.label === wanted.label && one.start === wanted.start && one.end === wanted.end)
  for (const place of named) assert(has(place), `${country}: ${place.label} moved`)
  return parts
}

function registryRows(text: string): Row[] {
  const columns = registryColumns(text)
  if (typeof columns === 'string') throw new Error(columns)
  return columns.map(({ bank, branch, ...facts }) => {
    const { country, structure, length, territories, example } = facts
    return { country, structure, length, parts: layout(country, lengthOf(structure), bank, branch), territories, registry: true, example }
  })
}

interface Unofficial {
  bban_spec?: string
  iban_length?: number
  positions?: Record<string, [number, number]>
}

const UNOFFICIAL_LABELS = {
  bank_code: 'bank',
  branch_code: 'branch',
  account_code: 'account',
  national_checksum_digits: 'national_check',
} as const

function unofficialRows(list: Record<string, Unofficial>, official: readonly Row[]): Row[] {
  const known = new Set(official.map((row) => row.country))
  return Object.entries(list).flatMap(([country, { bban_spec: structure, iban_length: length, positions }]) => {
    if (known.has(country) || structure === undefined || length === undefined) return []
    const named = Object.entries(UNOFFICIAL_LABELS).flatMap(([key, label]) => {
      const place = positions?.[key]
      return place === undefined ? [] : [`${label}:${place[1] - place[0]}`]
    })
    const parts = named.length === 0 ? `account:${length - 4}` : named.join(' ')
    return [{ country, structure, length, parts, territories: [], registry: false, example: null }]
  })
}

function remainder97(iban: string): number {
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
  return Number(BigInt(digits) % 97n)
}

function proveRow(row: Row): void {
  assert(/^[A-Z]{2}$/.test(row.country), `"${row.country}" is not a country code`)
  assert(lengthOf(row.structure) === row.length - 4, `${row.country}: structure and length differ`)
  const parts = places(row.parts)
  assert(
    parts.every(({ start, end }) => end > start) && parts.at(-1)?.end === row.length - 4,
    `${row.country}: the parts do not cover the BBAN`,
  )
  if (row.example === null) return
  const pattern = row.structure.replace(TOKEN, (_, count: string, kind: string) => `${CLASSES[kind]}{${count}}`)
  const expression = new RegExp(`^${row.country}(?!00|01|99)[0-9]{2}${pattern}$`)
  assert(expression.test(row.example) && remainder97(row.example) === 1, `${row.country}: the example does not fit`)
}

function proveTable(rows: readonly Row[], before: readonly Row[]): void {
  const official = rows.filter((row) => row.registry)
  const officialBefore = before.filter((row) => row.registry)
  assert(official.length >= 85 && official.length <= 130, `${official.length} registry rows`)
  assert(official.length >= officialBefore.length - 1, `the registry shrank from ${officialBefore.length} to ${official.length} rows`)
  assert(new Set(rows.map((row) => row.country)).size === rows.length, 'a country appears twice')
  for (const [country, length] of Object.entries(SENTINELS)) {
    assert(
      official.some((row) => row.country === country && row.length === length),
      `${country} should have ${length} characters`,
    )
  }
}

const registry = registryRows(new TextDecoder('latin1').decode(await readSource(option('registry'))))
const list = JSON.parse(new TextDecoder().decode(await readSource(option('unofficial')))) as Record<string, Unofficial>
const rows = [...registry, ...unofficialRows(list, registry)].sort((one, other) => (one.country < other.country ? -1 : 1))
const before = await rowsOf<Row>(PATH)
rows.forEach(proveRow)
proveTable(rows, before)
printDifference(before, rows, (row) => row.country)
await writeTable(
  PATH,
  {
    schema: 'assay/iban-registry/1',
    source: 'SWIFT IBAN Registry (text file); rows with registry=false: mdomke/schwifty iban_registry/overwrite.json (MIT)',
    source_version: option('release'),
    ...tableDates(option('registry')),
    notes: 'parts: label:length from the first character of the BBAN. Rows with registry=false are not members of the registry.',
  },
  rows,
)
