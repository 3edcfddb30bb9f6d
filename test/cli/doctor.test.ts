import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { shownSetting } from '../../src/cli/doctor.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { createLog } from '../../src/adapters/log/pino.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { TABLES } from '../../src/pure/datasets/datasets.ts'
import { SETTINGS } from '../../src/service/config.ts'
import { createDatasetService } from '../../src/service/datasets/dataset-service.ts'
import { openPostgres } from '../support/postgres.ts'
import { openDesk, parsed, type Desk, type Ended } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

type Checks = { name: string; state: string; words: string }[]

function states({ stdout }: Ended): Record<string, string> {
  return Object.fromEntries((parsed(stdout)['checks'] as Checks).map(({ name, state }) => [name, state]))
}

test('before the first start all is well, and nothing is made', async () => {
  const ended = await desk.run(['doctor'], { settings: { ASSAY_PORT: '0' } })
  assert.equal(ended.code, 0)
  const { mode, settings, checks } = parsed(ended.stdout) as {
    mode: string
    settings: { name: string; source: string; value: unknown }[]
    checks: Checks
  }
  assert.equal(mode, 'sandbox')
  assert.deepEqual(
    settings.map(({ name }) => name),
    Object.keys(SETTINGS),
  )
  assert.deepEqual(
    settings.filter(({ source }) => source === 'environment').map(({ name, value }) => [name, value]),
    [
      ['ASSAY_PORT', 0],
      ['ASSAY_DATA_DIR', desk.settings['ASSAY_DATA_DIR']],
    ],
  )
  const tables = readdirSync('data').filter((name) => name.endsWith('.json'))
  const data = checks.filter(({ name }) => name === 'data')
  for (const table of tables) {
    const id = table.replace('.json', '').replaceAll('-', '_')
    assert.equal(data.filter(({ words }) => words.startsWith(`${id}: `)).length, 1, id)
  }
  for (const { words } of data)
    assert.match(words, /(?:published|compiled by hand) \d{4}-\d{2}(?:-\d{2})?, retrieved \d{4}-\d{2}-\d{2}, \d+ of \d+ days old/)
  // The lists that screen say when a clean answer is no longer relied on.
  const published = JSON.parse(readFileSync('data/ofac-addresses.json', 'utf8')) as { published_at: string }
  const old = Date.now() - Date.parse(published.published_at) > 31 * 86_400_000
  assert.equal(data.find(({ words }) => words.startsWith('ofac_addresses: '))?.state, old ? 'warning' : 'ok')
  assert.match(String(settings.find(({ name }) => name === 'ASSAY_LOG_KEY_FILE')?.value), /log\.key$/)
  assert.equal(settings.find(({ name }) => name === 'ASSAY_FREE_DAILY')?.value, 1_000)
  assert.throws(() => readdirSync(desk.settings['ASSAY_DATA_DIR'] ?? ''), { code: 'ENOENT' })
})

test('after a call and a start it sees key, identity, store and a taken port', async () => {
  await desk.run(['call', 'iban-check', '{"iban":"GB82"}'])
  const store = await openStore(join(desk.settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite'))
  await store.close()
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const { port } = server.address() as { port: number }
  const ended = await desk.run(['doctor', '--text'], { settings: { ASSAY_PORT: String(port) } })
  server.close()
  assert.equal(ended.code, 0)
  assert.match(ended.stderr, /SANDBOX/)
  for (const words of [
    /keys +0x[0-9a-f]{40} signs/,
    /sandbox,\s+chain 84532/,
    /journal_mode wal, synchronous 2/,
    /◐ note +port +.*is taken/,
  ])
    assert.match(ended.stdout, words)
})

for (const backend of ['SQLite', 'PostgreSQL'] as const) {
  test(`the age of a dataset is that of the snapshot in use, with a newer one in the store (${backend})`, async () => {
    const postgres = backend === 'PostgreSQL' ? await openPostgres() : null
    const own = await openDesk()
    try {
      const folder = own.settings['ASSAY_DATA_DIR'] ?? ''
      const target = postgres === null ? join(folder, 'assay.sqlite') : await postgres.createDatabase('doctor_datasets')
      const files = { ASSAY_RECEIPT_KEY_FILE: join(folder, 'keys.json'), ASSAY_SECRET_FILE: join(folder, 'secret') }
      const settings = postgres === null ? {} : { ASSAY_STORE: target, ...files }
      const ages = async () => {
        const { checks } = parsed((await own.run(['doctor'], { settings })).stdout) as { checks: Checks }
        const of = (id: string) => checks.find(({ name, words }) => name === 'data' && words.startsWith(`${id}: `))
        return { sepa: of('sepa_countries'), places: of('prohibited_jurisdictions'), lists: checks.find(({ name }) => name === 'lists') }
      }
      mkdirSync(folder, { recursive: true })
      await (await openStore(target)).close()
      const unreviewed = await ages()
      assert.match(unreviewed.places?.words ?? '', /published 2025-08-26, .* Review it against the programmes of OFAC/)
      assert.deepEqual([unreviewed.places?.state, unreviewed.lists?.state], ['warning', 'warning'])
      const today = new Date().toISOString().slice(0, 10)
      const store = await openStore(target)
      const service = createDatasetService({ store: store.datasets, clock: systemClock, log: createLog('silent', systemClock).log })
      for (const id of ['sepa_countries', 'prohibited_jurisdictions'] as const) {
        const newer = { ...TABLES[id].bundled(), published_at: today, retrieved_at: today }
        assert.equal((await service.offer(id, JSON.stringify(newer))).kind, 'activated')
      }
      await store.close()
      const after_import = await ages()
      for (const { words, state } of [after_import.sepa, after_import.places].flatMap((check) => check ?? [])) {
        assert.match(words, new RegExp(`published ${today}, retrieved ${today}, from the store, 0 of \\d+ days old\\.$`))
        assert.equal(state, 'ok')
      }
      assert.match(after_import.lists?.words ?? '', new RegExp(`prohibited_jurisdictions: published ${today}, 0 of 30 days old\\.`))
    } finally {
      await own.clear()
      await postgres?.stop()
    }
  })
}

test('a broken setting, a broken key file and a broken store fail, each with its sentence', async () => {
  const folder = desk.settings['ASSAY_DATA_DIR'] ?? ''
  const setting = await desk.run(['doctor'], { settings: { ASSAY_PORT: 'http' } })
  assert.deepEqual([setting.code, states(setting)['settings'], states(setting)['node']], [1, 'failed', 'ok'])
  writeFileSync(join(folder, 'receipt-keys.json'), 'no keys')
  writeFileSync(join(folder, 'assay.sqlite'), 'no database, but long enough to be taken for one: '.repeat(100))
  const files = await desk.run(['doctor'], { settings: { ASSAY_PORT: '0', ASSAY_SECRET_FILE: '/nowhere/at.all' } })
  assert.equal(files.code, 1)
  const { keys, store, secret, signer } = states(files)
  assert.deepEqual([keys, store, secret, signer], ['failed', 'failed', 'failed', 'ok'])
})

test('keys that a start would refuse without their secret are refused here too, and a full or missing place is called by its name', async () => {
  const own = await openDesk()
  after(() => own.clear())
  const folder = own.settings['ASSAY_DATA_DIR'] ?? ''
  await own.run(['call', 'iban-check', '{"iban":"GB82"}'])
  const keysOf = async (settings: Record<string, string>) => {
    const ended = await own.run(['doctor'], { settings: { ASSAY_PORT: '0', ...settings } })
    return (parsed(ended.stdout)['checks'] as Checks).find(({ name }) => name === 'keys')
  }
  rmSync(join(folder, 'secret.key'))
  const lost = await keysOf({})
  assert.deepEqual([lost?.state, /secret is not here/.test(lost?.words ?? '')], ['failed', true])
  const started = await own.run(['serve'], { settings: { ASSAY_PORT: '0' } })
  assert.equal(started.code, 78, started.stderr)
  assert.ok(!existsSync(join(folder, 'secret.key')), 'a refused start leaves no key')
  const [bogus, bare] = [join(folder, 'bogus.key'), join(folder, 'bare.key')]
  writeFileSync(bogus, 'no key')
  writeFileSync(bare, 'ab'.repeat(32))
  const wrong = await keysOf({ ASSAY_RECEIPT_KEY_FILE: bogus })
  assert.deepEqual([wrong?.state, wrong?.words.includes(bogus)], ['failed', true])
  assert.equal((await keysOf({ ASSAY_RECEIPT_KEY_FILE: bare }))?.state, 'ok')
  const stored = await own.run(['doctor'], { settings: { ASSAY_PORT: '0', ASSAY_STORE: folder } })
  // SQLite, result codes: SQLITE_CANTOPEN.
  assert.match(
    (parsed(stored.stdout)['checks'] as Checks).find(({ name }) => name === 'store')?.words ?? '',
    /unable to open database file/,
  )
})

test('a secret in a setting is never shown', () => {
  assert.equal(
    shownSetting('postgres://assay:hunter2@db.example:5432/assay?sslpassword=hunter2'),
    'postgres://assay:***@db.example:5432/assay?***',
  )
  assert.deepEqual(shownSetting(['https://base.example/v2/hunter2', 'https://hunter2@rpc.example', 'https://rpc.example/']), [
    'https://base.example/***',
    'https://***@rpc.example',
    'https://rpc.example',
  ])
  assert.equal(shownSetting('postgres://assay:hunter2@[db'), '***')
  assert.equal(shownSetting('var/assay.sqlite'), 'var/assay.sqlite')
  assert.equal(shownSetting(8402), 8402)
})
