import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkedDates } from '../../scripts/support/dates.ts'
import { dataDate } from '../../src/pure/datasets/table.ts'
import aba from '../../src/tools/bank/aba-routing-check.ts'
import iban from '../../src/tools/bank/iban-check.ts'
import { fixedSources } from '../support/sources.ts'

const PROJECT = new URL('../../', import.meta.url)
const SCRIPTS = new URL('scripts/', PROJECT)
const DATA = new URL('data/', PROJECT)

const scripts = readdirSync(SCRIPTS).filter((name) => /^refresh-.*\.ts$/.test(name))
const tables = readdirSync(DATA).filter((name) => name.endsWith('.json'))
/** Tables of places come from one script. */
const TOGETHER: ReadonlySet<string> = new Set(['prohibited-places.json', 'world-towns.json'])

interface Head {
  source_version: string
  published_at: string | null
  compiled_at?: string | null
  retrieved_at: string
}

const headOf = (name: string) => JSON.parse(readFileSync(new URL(name, DATA), 'utf8')) as Head

function run(script: string, args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const path = fileURLToPath(new URL(script, SCRIPTS))
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

test('every table has a script that rebuilds it', () => {
  assert.deepEqual(
    scripts.map((name) => name.replace(/^refresh-(.*)\.ts$/, '$1')),
    tables.filter((name) => !TOGETHER.has(name)).map((name) => name.replace('.json', '')),
  )
  assert.ok(readdirSync(SCRIPTS).includes('place-tables.ts'))
})

test('every script answers --help with its usage, and a missing option without a stack trace', async () => {
  for (const script of scripts) {
    const { code, stdout, stderr } = await run(script, ['--help'])
    assert.deepEqual([code, stderr], [0, ''], script)
    assert.match(stdout, new RegExp(`data/${script.replace(/^refresh-(.*)\.ts$/, '$1')}\\.json`), script)
    assert.match(stdout, new RegExp(`node scripts/${script}`), script)
  }
  const { code, stdout, stderr } = await run('refresh-sepa-countries.ts', [])
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^--source is missing\.\n\nRebuilds data\/sepa-countries\.json/)
  assert.doesNotMatch(stderr, /\n {4}at /)
})

test('a table that a person compiled says so, and has no publication date of its own', () => {
  for (const name of tables) {
    const { source_version, published_at, compiled_at, retrieved_at } = headOf(name)
    assert.ok(published_at !== null || (compiled_at ?? null) !== null, `${name} has no date`)
    for (const date of [published_at, compiled_at ?? null]) assert.ok(date === null || date <= `${retrieved_at}~`, `${name}: ${date}`)
    if (/^(?:partial|computed|compiled)/.test(source_version)) {
      assert.equal(published_at, null, `${name}: ${source_version}`)
      assert.match(dataDate({ published_at, compiled_at: compiled_at ?? null }), /^compiled 20\d\d-\d\d-\d\d$/)
    }
  }
})

test('answers tell the day of compilation from the day of publication', async () => {
  const answerOf = async (tool: typeof aba, input: Record<string, string>) => {
    const { data_as_of } = (await tool.execute(tool.input.parse(input), fixedSources([]))) as { data_as_of: unknown }
    return data_as_of
  }
  const { aba_ranges } = (await answerOf(aba, { aba_routing: '021000021' })) as Record<string, string>
  assert.match(aba_ranges ?? '', /^compiled 2026-11-21 sha256:[0-9a-f]{12}$/)
  const { sepa_countries } = (await answerOf(iban, { iban: 'GB82WEST12345698765432' })) as Record<string, string>
  assert.match(sepa_countries ?? '', /^2025-05-22 sha256:[0-9a-f]{12}$/)
})

test('a publication date in the future, or later than the file or its retrieval, is refused', () => {
  const bounds = { today: '2026-11-23', file_date: '2026-11-20' }
  const given: Parameters<typeof checkedDates>[0] = { published: '2026-11-20', compiled: null, retrieved: '2026-11-21' }
  assert.deepEqual(checkedDates(given, bounds), { published_at: '2026-11-20', compiled_at: null, retrieved_at: '2026-11-21' })
  assert.equal(checkedDates({ ...given, published: '2026-11' }, bounds).published_at, '2026-11')
  const compiled = checkedDates({ published: null, compiled: '2026-11-22', retrieved: '2026-11-22' }, bounds)
  assert.deepEqual(compiled, { published_at: null, compiled_at: '2026-11-22', retrieved_at: '2026-11-22' })
  const refused: [Partial<typeof given>, RegExp][] = [
    [{ published: '2026-11-24', retrieved: '2026-11-23' }, /--published 2026-11-24 lies in the future; today is 2026-11-23/],
    [{ published: '2027-01' }, /lies in the future/],
    [{ retrieved: '2026-12-01' }, /--retrieved 2026-12-01 lies in the future/],
    [{ compiled: '2026-12-01' }, /--compiled 2026-12-01 lies in the future/],
    [{ published: '2026-11-21' }, /later than the source file's own date, 2026-11-20/],
    [{ published: '2026-11-20', retrieved: '2026-11-19' }, /later than --retrieved 2026-11-19/],
    [{ published: '2026-02-30' }, /not a date\. Expected YYYY-MM-DD, for example/],
    [{ published: 'yesterday' }, /not a date/],
    [{ published: null }, /--published <date> is missing.*--compiled/],
  ]
  for (const [change, fault] of refused) assert.throws(() => checkedDates({ ...given, ...change }, bounds), fault, JSON.stringify(change))
})
