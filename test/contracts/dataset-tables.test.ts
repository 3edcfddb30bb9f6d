/** Tables of checks as datasets: the snapshots of the release pass their own definitions, a newer one is bound to the checks, and bad ones never are. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { createLog } from '../../src/adapters/log/pino.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { ABA_DATA_AS_OF, isAba } from '../../src/pure/checks/aba.ts'
import { sanctionsHint } from '../../src/pure/checks/countries.ts'
import { checkIban, IBAN_DATA_AS_OF, isIban } from '../../src/pure/checks/iban.ts'
import { bundledScreening } from '../../src/pure/checks/ofac.ts'
import { bindTables, TABLE_IDS, TABLES, type TableId } from '../../src/pure/datasets/datasets.ts'
import { compareSnapshots, readSnapshot, snapshotHash, updateFault, type Snapshot } from '../../src/pure/datasets/definition.ts'
import { isCurrencyCode, minorUnitDigits } from '../../src/pure/protocols/kit/money.ts'
import { createDatasetService, type DatasetService } from '../../src/service/datasets/dataset-service.ts'
import { clockAt } from '../support/clock-at.ts'

const TODAY = '2026-11-26'
const clock = clockAt(() => Date.parse(`${TODAY}T12:00:00Z`))
const { log } = createLog('silent', clock)

let directory = ''
let store: Store
let service: DatasetService
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'assay-tables-'))
  store = await openStore(join(directory, 'tables.sqlite'))
  service = createDatasetService({ store: store.datasets, clock, log, bind: bindTables })
})
after(async () => {
  await store.close()
  await rm(directory, { recursive: true, force: true })
})
afterEach(() => bindTables([]))

type Rows = Record<string, unknown>[]

/** Text of a later snapshot with other rows. */
function later(id: TableId, change: (rows: Rows) => Rows, published_at = TODAY): string {
  const bundled = TABLES[id].bundled()
  const rows = change(structuredClone(bundled.rows) as Rows)
  return JSON.stringify({
    ...bundled,
    source_version: 'test',
    published_at,
    compiled_at: null,
    retrieved_at: TODAY,
    count: rows.length,
    rows,
  })
}

for (const id of TABLE_IDS) {
  const { definition, bundled } = TABLES[id]
  const read = (text: string) => readSnapshot(definition, text, TODAY)

  test(`${id}: the snapshot of the release passes its definition, and what lacks a sentinel, repeats or breaks a row does not`, () => {
    const found = read(JSON.stringify(bundled()))
    assert.ok(found.ok, found.ok ? '' : found.reason)
    const [sentinel] = definition.present
    const without = read(later(id, (rows) => rows.filter((row) => definition.key(row) !== sentinel)))
    assert.ok(!without.ok && /is missing|There are/.test(without.reason))
    const twice = read(later(id, (rows) => [...rows, ...rows.slice(-1)]))
    assert.ok(!twice.ok && /repeats the key|There are/.test(twice.reason))
    const more = read(later(id, ([first, ...rest]) => [{ ...first, more: 1 }, ...rest]))
    assert.ok(!more.ok && /Row 1 does not have the form/.test(more.reason))
    const truncated = read(JSON.stringify({ ...bundled(), rows: bundled().rows.slice(1) }))
    assert.ok(!truncated.ok && /may be truncated/.test(truncated.reason))
  })

  test(`${id}: half of the rows, or an older date, never becomes active`, () => {
    const old = bundled()
    const half: Snapshot = { ...old, published_at: TODAY, rows: old.rows.filter((_, index) => index % 2 === 0) }
    const difference = compareSnapshots(definition, old, half)
    assert.match(updateFault(definition, old, half, difference) ?? '', /It removes \d+ of \d+ rows/)
    const earlier: Snapshot = { ...old, published_at: old.published_at && '2001-01-01', compiled_at: '2001-01-01', rows: old.rows.slice(1) }
    assert.match(updateFault(definition, old, earlier, compareSnapshots(definition, old, earlier)) ?? '', /before the active snapshot/)
  })
}

test('a newer table is bound to the checks at once; its date and hash are in answers, and the stored text has that hash', async () => {
  const [number, iban] = ['810000009', 'DE02370400440000000024']
  const old = { ...ABA_DATA_AS_OF }
  assert.match(old.aba_ranges, /^compiled 2026-11-21 sha256:[0-9a-f]{12}$/)
  assert.equal(isAba(number), false)
  const offered = await service.offer(
    'aba_ranges',
    later('aba_ranges', (rows) => [...rows, { prefix: '81', class: 'electronic', fed_district: null, fed_city: null }]),
  )
  assert.equal(offered.kind, 'activated')
  assert.equal(isAba(number), true)
  const { aba_ranges } = ABA_DATA_AS_OF
  assert.ok(offered.kind === 'activated' && aba_ranges === `${TODAY} sha256:${offered.sha256.slice(0, 12)}`)
  assert.deepEqual({ ...ABA_DATA_AS_OF }, { aba_ranges })
  assert.equal(await service.text(aba_ranges.slice(-12)), await service.text(offered.sha256))
  // Other tables stay as they were.
  assert.equal(isIban(iban), true)
  assert.match(IBAN_DATA_AS_OF.iban_registry, /^2026-06 sha256:/)
  assert.deepEqual(Object.keys(IBAN_DATA_AS_OF), ['iban_registry', 'prohibited_jurisdictions', 'sepa_countries'])

  const other = createDatasetService({ store: store.datasets, clock, log, bind: bindTables })
  bindTables([])
  assert.equal(isAba(number), false)
  assert.deepEqual({ ...ABA_DATA_AS_OF }, old)
  await other.refreshBundled()
  assert.equal(isAba(number), true)
})

test('reviewed jurisdictions are used by every check, also with unchanged rows; a table without its sentinels is refused', async () => {
  const fresh = later('prohibited_jurisdictions', (rows) => rows)
  assert.equal((await service.offer('prohibited_jurisdictions', fresh)).kind, 'activated')
  const facts = bundledScreening().lists.prohibited_jurisdictions
  assert.equal(facts.published_at, TODAY)
  assert.equal(facts.sha256, snapshotHash(JSON.parse(fresh) as object))
  assert.deepEqual(sanctionsHint('BY'), { level: 'elevated', as_of: TODAY })
  const level = (code: string, to: string) => (rows: Rows) => rows.map((row) => (row['code'] === code ? { ...row, level: to } : row))
  const lowered = await service.offer('prohibited_jurisdictions', later('prohibited_jurisdictions', level('IR', 'elevated')))
  assert.ok(lowered.kind === 'refused' && /does not have the form/.test(lowered.reason))
  const raised = await service.offer('prohibited_jurisdictions', later('prohibited_jurisdictions', level('BY', 'comprehensive')))
  assert.equal(raised.kind, 'activated')
  assert.equal(sanctionsHint('BY')?.level, 'comprehensive')
  assert.equal(bundledScreening().screenSubject('Minsk, Belarus').status, 'match')
  assert.equal(checkIban('BY13NBRB3600900000002Z00AB00').facts?.sanctions?.level, 'comprehensive')
  bindTables([])
  assert.equal(bundledScreening().screenSubject('Belarus').status, 'elevated')
})

test('a table of several readers changes for all of them, and facts name the same version as the answer', async () => {
  assert.equal(isCurrencyCode('XQQ'), false)
  const {
    rows: [usd],
  } = { rows: TABLES.iso4217.bundled().rows as Rows }
  const added = { ...usd, alpha: 'XQQ', numeric: '001', minor_units: 4, countries: [] }
  assert.equal(
    (
      await service.offer(
        'iso4217',
        later('iso4217', (rows) => [...rows, added]),
      )
    ).kind,
    'activated',
  )
  assert.equal(isCurrencyCode('XQQ'), true)
  assert.equal(minorUnitDigits('XQQ'), 4)

  const sepa = later('sepa_countries', (rows) => [...rows, { country: 'GE' }])
  assert.equal((await service.offer('sepa_countries', sepa)).kind, 'activated')
  const { facts } = checkIban('GE29NB0000000101904917')
  assert.deepEqual([facts?.sepa_scope, facts?.sepa_as_of], [true, TODAY])
  assert.match(IBAN_DATA_AS_OF.sepa_countries, new RegExp(`^${TODAY} sha256:`))
})

test('a format of an IBAN that contradicts itself, its example or the alphabet is refused', async () => {
  const bad: Record<string, unknown>[] = [
    { length: 23 },
    { structure: '8!n11!n' },
    { parts: 'bank:8 account:11' },
    { example: 'DE88370400440532013000' },
    { example: 'DE8937040044053201300A' },
    { country: 'D1' },
  ]
  for (const change of bad) {
    const text = later('iban_registry', (rows) => rows.map((row) => (row['country'] === 'DE' ? { ...row, ...change } : row)))
    const offered = await service.offer('iban_registry', text)
    assert.ok(offered.kind === 'refused' && /Row \d+ does not have the form/.test(offered.reason), JSON.stringify(change))
  }
  assert.match(IBAN_DATA_AS_OF.iban_registry, /^2026-06 sha256:/)
})

test('what a publisher dated is newer than what was compiled by hand, and never the other way round', async () => {
  const text = later('lou_prefixes', (rows) => rows, '2026-01-15')
  assert.equal((await service.offer('lou_prefixes', text)).kind, 'activated')
  const table = TABLES.lou_prefixes.bundled()
  const by_hand = await service.offer(
    'lou_prefixes',
    JSON.stringify({ ...table, rows: table.rows.toReversed().with(0, { prefix: '9845', name: 'Other' }) }),
  )
  assert.ok(by_hand.kind === 'refused' && /before the active snapshot of 2026-01-15/.test(by_hand.reason))
})
