/**
 * Name screening: recall on generated variants of listed names, false alarms on names that are on no list, and time per name.
 *
 * `node bench/screening.ts <folder> [seed]`: the folder has any of UN_consolidated.xml, SDN_ENHANCED.XML, EU_consolidated.xml, UK-Sanctions-List.xml, and
 * OFAC's legacy sdn.csv with alt.csv, cons_prim.csv with cons_alt.csv.
 */
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NameRow } from '../src/pure/datasets/sanctions-lists.ts'
import { FEEDS, parseDocument, type FeedName } from '../src/pure/datasets/feeds.ts'
import { buildNameIndex, type NameIndex } from '../src/pure/screening/name-index.ts'
import { commonNames, companyNames, randomNumbers, variantsOf } from './screening-variants.ts'

const [folder = '', seed_text = '1'] = process.argv.slice(2)
const seed = Number(seed_text)
const ELEMENT_CHARS = 4_194_304
/** Names of which variants are made, in all lists together. */
const NAMES = 2_500
const OTHERS = 1_000

interface IndexedList {
  name: string
  rows: NameRow[]
  index: NameIndex
}

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Fields of a line of OFAC's legacy files; "-0-" is empty. */
function csvFields(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|([^,]+)/g)].map(([, quoted, plain]) => (quoted ?? plain ?? '').trim().replace(/^-0-$/, ''))
}

function legacyRows(primary: string, aliases: string): NameRow[] {
  const rows = new Map<string, NameRow>()
  for (const line of readFileSync(join(folder, primary), 'latin1').split('\n')) {
    const [id = '', name = '', type = '', programme = ''] = csvFields(line)
    if (!/^\d+$/.test(id) || name === '') continue
    const kind = type === 'individual' ? 'person' : type === 'vessel' || type === 'aircraft' ? type : 'organisation'
    rows.set(id, { id, kind, names: [{ text: name, strength: 'primary' }], countries: [], births: [], programmes: [programme] })
  }
  for (const line of readFileSync(join(folder, aliases), 'latin1').split('\n')) {
    const [id = '', , , name = ''] = csvFields(line)
    if (name !== '') rows.get(id)?.names.push({ text: name, strength: 'strong' })
  }
  return [...rows.values()]
}

async function feedRows(feed: FeedName): Promise<NameRow[]> {
  const collector = FEEDS[feed].collect()
  const parser = parseDocument(FEEDS[feed], ELEMENT_CHARS, collector)
  const decoder = new TextDecoder()
  for await (const piece of createReadStream(join(folder, FEEDS[feed].file)) as AsyncIterable<Uint8Array>) {
    const fault = parser.push(decoder.decode(piece, { stream: true }))
    if (fault !== null) throw new Error(fault)
  }
  const end = parser.finish()
  if (!end.ok) throw new Error(end.reason)
  const found = collector.finish(end.head, '2026-01-01', [end.head])
  if (typeof found === 'string') throw new Error(found)
  return found.filter(({ dataset }) => dataset.endsWith('_names')).flatMap(({ snapshot }) => snapshot.rows as NameRow[])
}

function indexed(name: string, rows: NameRow[]): IndexedList {
  const before = process.threadCpuUsage()
  let slice_max = 0
  const steps = buildNameIndex(rows)
  for (;;) {
    const start = process.threadCpuUsage()
    const step = steps.next()
    slice_max = Math.max(slice_max, process.threadCpuUsage(start).user)
    if (step.done !== true) continue
    const names = rows.reduce((sum, row) => sum + row.names.length, 0)
    const total = Math.round(process.threadCpuUsage(before).user / 1_000)
    say(`${name}: ${rows.length} entries, ${names} names; index ${total} ms CPU, longest slice ${(slice_max / 1_000).toFixed(1)} ms`)
    return { name, rows, index: step.value }
  }
}

async function readLists(): Promise<IndexedList[]> {
  const lists: IndexedList[] = []
  const has = (file: string) => existsSync(join(folder, file))
  for (const feed of Object.keys(FEEDS) as FeedName[]) if (has(FEEDS[feed].file)) lists.push(indexed(feed, await feedRows(feed)))
  if (has('sdn.csv') && has('alt.csv')) lists.push(indexed('sdn.csv', legacyRows('sdn.csv', 'alt.csv')))
  if (has('cons_prim.csv') && has('cons_alt.csv')) lists.push(indexed('cons_prim.csv', legacyRows('cons_prim.csv', 'cons_alt.csv')))
  return lists
}

const searched: string[] = []

/** Identifiers of the possible matches on each list; the time is that of all lists. */
function search(lists: readonly IndexedList[], name: string): Map<string, ReadonlySet<string>> {
  searched.push(name)
  const found = lists.map((list) => [list.name, list.index.search(name)] as const)
  return new Map(found.map(([name_of_list, matches]) => [name_of_list, new Set(matches.map(({ row }) => row.id))]))
}

function measureRecall(lists: readonly IndexedList[]): { recall: number; variants: number } {
  const random = randomNumbers(seed)
  const usable = lists.flatMap((list) =>
    list.rows.filter(({ kind }) => kind === 'person' || kind === 'organisation').map((row) => ({ list, row })),
  )
  const tally = new Map<string, { made: number; found: number }>()
  let matches = 0
  for (let count = 0; count < NAMES; count++) {
    const { list, row } = usable[Math.floor(random() * usable.length)] ?? {}
    const names = row?.names.filter(({ strength, text }) => strength !== 'weak' && text.replace(/[^A-Za-z]/g, '').length > 4) ?? []
    const name = names[Math.floor(random() * names.length)]
    if (list === undefined || row === undefined || name === undefined) continue
    const russian = /RUSSIA|UKRAINE|BELARUS/.test(row.programmes.join(' '))
    for (const { kind, text } of variantsOf(name.text, row.kind, russian, random)) {
      const found = search(lists, text)
      for (const ids of found.values()) matches += ids.size
      const own = tally.get(kind) ?? { made: 0, found: 0 }
      own.made++
      if (found.get(list.name)?.has(row.id) === true) own.found++
      tally.set(kind, own)
    }
  }
  for (const [kind, { made, found }] of tally) say(`  ${kind}: ${found} of ${made}, ${(found / made).toFixed(4)}`)
  const all = [...tally.values()].reduce((sum, { made, found }) => ({ made: sum.made + made, found: sum.found + found }))
  say(
    `recall ${(all.found / all.made).toFixed(4)} (${all.found} of ${all.made} variants); possible matches per variant ${(matches / all.made).toFixed(2)}`,
  )
  return { recall: all.found / all.made, variants: all.made }
}

function falseAlarms(lists: readonly IndexedList[], names: readonly string[]): number {
  return names.filter((name) => [...search(lists, name).values()].some((ids) => ids.size > 0)).length
}

function percentile(sorted: readonly number[], share: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2)
}

const PASSES = 3
const EACH = 5

/** Time of every fifth name, each the least of three passes over all of them, so that other work on the machine counts little. */
function measureTime(lists: readonly IndexedList[], names: readonly string[]): void {
  const least = names.map(() => Infinity)
  const before = process.threadCpuUsage()
  for (let pass = 0; pass < PASSES; pass++) {
    for (const [at, name] of names.entries()) {
      const start = performance.now()
      for (const { index } of lists) index.search(name)
      least[at] = Math.min(least[at] ?? Infinity, performance.now() - start)
    }
  }
  const cpu_ms = process.threadCpuUsage(before).user / 1_000 / names.length / PASSES
  const sorted = least.toSorted((one, other) => one - other)
  const shares = `p50 ${percentile(sorted, 0.5)}, p99 ${percentile(sorted, 0.99)}, max ${percentile(sorted, 1)}`
  say(`per name over all lists (${names.length} names): ${cpu_ms.toFixed(2)} ms CPU on average; elapsed ms, least of ${PASSES}: ${shares}`)
}

const lists = await readLists()
if (lists.length === 0) throw new Error(`${folder} has none of the files; see the head of bench/screening.ts.`)
const { recall } = measureRecall(lists)
const persons = falseAlarms(lists, commonNames(OTHERS, seed))
const companies = falseAlarms(lists, companyNames(OTHERS, seed))
const precision = (rate: number) => (recall / (recall + rate)).toFixed(4)
say(`false alarms: ${persons} of ${OTHERS} common names of persons, ${companies} of ${OTHERS} invented companies`)
say(
  `precision with as many names on no list as variants: persons ${precision(persons / OTHERS)}, both ${precision((persons + companies) / (2 * OTHERS))}`,
)
const measured = searched.filter((_, at) => at % EACH === 0)
measureTime(lists, measured)
