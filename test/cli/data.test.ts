/** Reference data that changes while a live service answers: `assay data`, the mirror, receipts of both lists, and their replay. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import addresses from '../../data/ofac-addresses.json' with { type: 'json' }
import { TABLES } from '../../src/pure/datasets/datasets.ts'
import { isObject } from '../../src/pure/is-object.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { sdnDocument } from '../support/sdn-document.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

const NEW = { address: `0x${'ab'.repeat(20)}`, entity: 'NEW & CO' }
const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
const DAY_ONE = sdnDocument({ day: dayBefore(2) })
const DAY_TWO = sdnDocument({ day: dayBefore(1), rows: [...addresses.rows, NEW] })

let desk: Desk
let mirror: string
let app: TestApp
before(async () => {
  desk = await openDesk()
  mirror = await mkdtemp(join(tmpdir(), 'assay-mirror-'))
  await writeFile(join(mirror, 'SDN_ENHANCED.XML'), DAY_ONE)
  Object.assign(desk.settings, LIVE, { ASSAY_DATA_MIRROR: mirror })
  app = await startTestApp({
    data_dir: desk.settings['ASSAY_DATA_DIR'] ?? '',
    settings: { ...LIVE, ASSAY_DATA_FEEDS: 'on', ASSAY_DATA_MIRROR: mirror },
  })
})
after(async () => {
  await app.stop()
  await desk.clear()
  await rm(mirror, { recursive: true, force: true })
})

/** A live deployment without payments: nothing here needs the chain. */
const LIVE = {
  ASSAY_MODE: 'live',
  ASSAY_RPC_URLS: 'http://127.0.0.1:9',
  ASSAY_PAY_TO: `0x${'1'.repeat(40)}`,
  ASSAY_FACILITATOR_URLS: 'http://127.0.0.1:9',
  ASSAY_FREE_DAILY: '100000',
}

interface ScreeningAnswer {
  result: { status: string; list: { sha256: string; published_at: string }; data_as_of: Record<string, string> }
  receipt: Record<string, unknown>
}

const INPUT = { subject: NEW.address }

async function screen(): Promise<ScreeningAnswer> {
  const { status, body } = await restCall(app.url, 'ofac-sdn-check', INPUT)
  assert.equal(status, 200, JSON.stringify(body))
  return body as unknown as ScreeningAnswer
}

/** Calls until an answer is from the list of this date; every answer on the way must be right for the list that it names. */
async function callUntil(published_at: string): Promise<ScreeningAnswer> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 8 }, screen))
    for (const { result } of answers) {
      assert.equal(result.status, result.list.published_at === dayBefore(1) ? 'match' : 'no_match')
      assert.equal(result.data_as_of['ofac_addresses'], `${result.list.published_at} sha256:${result.list.sha256.slice(0, 12)}`)
    }
    const found = answers.find(({ result }) => result.list.published_at === published_at)
    if (found !== undefined) return found
  }
}

async function replay(name: string, answer: ScreeningAnswer, dataset: string | null) {
  const files = [await desk.file(`${name}.json`, answer), await desk.file('input.json', INPUT)]
  const { code, stdout } = await desk.run(['replay', ...files, ...(dataset === null ? [] : ['--dataset', dataset]), '--json'])
  return { code, outcome: parsed(stdout)['outcome'] }
}

test('a live service moves to the next day of its mirror under load; receipts of both days replay', async () => {
  // The list of the release may be too old for a live "no match"; the feed of the start brings day one.
  for (;;) {
    const { status } = await restCall(app.url, 'ofac-sdn-check', INPUT)
    if (status === 200) break
    assert.equal(status, 503)
  }
  const old = await callUntil(dayBefore(2))
  await writeFile(join(mirror, 'SDN_ENHANCED.XML'), DAY_TWO)
  const [refreshed, current] = await Promise.all([desk.run(['data', 'refresh', '--json']), callUntil(dayBefore(1))])
  assert.equal(refreshed.code, 0, refreshed.stdout + refreshed.stderr)
  const [feed] = parsed(refreshed.stdout)['feeds'] as Record<string, unknown>[]
  assert.ok(['updated', 'unchanged'].includes(String(feed?.['outcome'])), JSON.stringify(feed))
  assert.notEqual(old.result.list.sha256, current.result.list.sha256)

  for (const [name, answer] of Object.entries({ old, current })) {
    const { sha256 } = answer.result.list
    assert.deepEqual(await replay(name, answer, null), { code: 3, outcome: 'dataset_missing' })
    const response = await fetch(`${app.url}/v1/datasets/${sha256}`)
    assert.equal(response.status, 200)
    const text = await response.text()
    assert.equal(Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex'), sha256)
    assert.deepEqual(await replay(name, answer, await desk.file(`${name}-list.json`, text)), { code: 0, outcome: 'agrees' })
  }
  const other = await desk.file('old-list.json', await (await fetch(`${app.url}/v1/datasets/${old.result.list.sha256}`)).text())
  assert.deepEqual(await replay('current', current, other), { code: 3, outcome: 'dataset_missing' })
})

test('the datasets in use are listed with dates, ages and hashes, and each is served', async () => {
  const { datasets } = (await (await fetch(`${app.url}/v1/datasets`)).json()) as { datasets: Record<string, unknown>[] }
  const of = (id: string) => datasets.find((one) => one['id'] === id)
  assert.deepEqual([of('ofac_addresses')?.['origin'], of('ofac_addresses')?.['rows']], ['store', addresses.count + 1])
  assert.equal(of('iban_registry')?.['origin'], 'bundled')
  for (const sha256 of [of('iban_registry')?.['sha256'], of('prohibited_jurisdictions')?.['sha256']]) {
    const text = await (await fetch(`${app.url}/v1/datasets/${String(sha256)}`)).text()
    assert.equal(Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex'), sha256)
  }
  for (const path of ['f'.repeat(64), 'latest']) assert.equal((await fetch(`${app.url}/v1/datasets/${path}`)).status, 404)
})

test('newer tables are used by calls, threads and batches; receipts of both versions replay, the old one years later', async () => {
  const ask = async (tool: string, input: object) => {
    const { status, body } = await restCall(app.url, tool, input)
    assert.equal(status, 200, JSON.stringify(body))
    return body as unknown as { result: { data_as_of: Record<string, string>; facts: Record<string, unknown> } }
  }
  const input = { lei: '213800WSGIIZCXF1P572' }
  const old = await ask('lei-check', input)
  assert.deepEqual(
    [old.result.facts['lou_name'], old.result.data_as_of['lou_prefixes']],
    ['London Stock Exchange', TABLES.lou_prefixes.date()],
  )
  const table = TABLES.lou_prefixes.bundled()
  const rows = table.rows.map((row) => (isObject(row) && row['prefix'] === '2138' ? { ...row, name: 'LSEG' } : row))
  const newer = { ...table, published_at: dayBefore(1), compiled_at: null, retrieved_at: dayBefore(1), rows }
  const currencies = { ...TABLES.iso4217.bundled(), published_at: dayBefore(1), retrieved_at: dayBefore(1) }
  for (const one of [newer, currencies]) {
    const { code, stdout, stderr } = await desk.run(['data', 'import', await desk.file('table.json', one), '--json'])
    assert.equal(code, 0, stdout + stderr)
  }
  const isNewer = ({ data_as_of }: { data_as_of: Record<string, string> }, id: string) => data_as_of[id]?.startsWith(dayBefore(1)) === true
  let current = await ask('lei-check', input)
  while (!isNewer(current.result, 'lou_prefixes')) {
    assert.equal(current.result.facts['lou_name'], 'London Stock Exchange')
    current = await ask('lei-check', input)
  }
  assert.equal(current.result.facts['lou_name'], 'LSEG')

  const { example } = app.running.app.deps.call.catalogue.tools.find(({ id }) => id === 'iso20022-validate') ?? { example: {} }
  let message = await ask('iso20022-validate', example)
  while (!isNewer(message.result, 'iso4217')) message = await ask('iso20022-validate', example)
  const batch = { items: [{ tool: 'lei-check', value: input.lei }] }
  const batched = await ask('batch-validate', batch)
  const items = [
    ['old', old, input, null],
    ['current', current, input, current.result.data_as_of['lou_prefixes']],
    ['message', message, example, message.result.data_as_of['iso4217']],
    ['batch', batched, batch, current.result.data_as_of['lou_prefixes']],
  ] as const
  for (const [name, answer, asked, date] of items) {
    const files = [await desk.file(`${name}.json`, answer), await desk.file('input.json', asked)]
    const outcome = async (...more: string[]) => parsed((await desk.run(['replay', ...files, ...more, '--json'])).stdout)['outcome']
    if (date === null) {
      assert.equal(await outcome(), 'agrees', name)
      // The newer table is not the one that the old answer names, and the release has the right one.
      const with_other = await desk.run(['replay', ...files, '--dataset', await desk.file('newer.json', newer), '--json'])
      const { outcome: with_newer, datasets_not_used } = parsed(with_other.stdout) as { outcome: string; datasets_not_used: object[] }
      const named = old.result.data_as_of['lou_prefixes']
      const given = current.result.data_as_of['lou_prefixes']
      assert.deepEqual([with_newer, datasets_not_used], ['agrees', [{ id: 'lou_prefixes', given, answer_names: named }]])
      const shown = await desk.run(['replay', ...files, '--dataset', await desk.file('newer.json', newer), '--text'])
      assert.ok(shown.stdout.includes(`--dataset lou_prefixes ${given ?? ''} was not used: the answer names ${named ?? ''}.`), shown.stdout)
      continue
    }
    assert.equal(await outcome(), 'dataset_missing', name)
    const text = await (await fetch(`${app.url}/v1/datasets/${date?.slice(-12) ?? ''}`)).text()
    assert.equal(await outcome('--dataset', await desk.file('dataset.json', text)), 'agrees', name)
  }
  const short = old.result.data_as_of['lou_prefixes']?.slice(-12) ?? ''
  assert.equal(await (await fetch(`${app.url}/v1/datasets/${short}`)).text(), JSON.stringify(table))
})

test('a live service refuses countries from an old table until an operator reviews it, and answers from the review', async () => {
  const input = { subject: 'France' }
  const refused = await restCall(app.url, 'ofac-sdn-check', input)
  assert.equal(refused.status, 503)
  assert.match(String(refused.body['detail']), /prohibited_jurisdictions is \d+ days old, .*nothing was charged.*assay data import FILE/)
  const health = async () => {
    const { datasets } = (await (await fetch(`${app.url}/health`)).json()) as { datasets: Record<string, unknown>[] }
    return datasets.find(({ id }) => id === 'prohibited_jurisdictions')
  }
  const before_review = await health()
  assert.equal(before_review?.['state'], 'old')
  assert.match(String(before_review?.['refresh']), /docs\/going-live\.md, Review of the jurisdictions/)
  const reviewed = { ...TABLES.prohibited_jurisdictions.bundled(), published_at: dayBefore(0), retrieved_at: dayBefore(0) }
  const file = await desk.file('jurisdictions.json', reviewed)
  const imported = await desk.run(['data', 'import', file])
  assert.equal(imported.code, 0, imported.stderr)
  const answered = async () => {
    for (;;) {
      const answer = await restCall(app.url, 'ofac-sdn-check', input)
      if (answer.status === 200) return answer.body as unknown as ScreeningAnswer
    }
  }
  const answer = await answered()
  assert.deepEqual([answer.result.status, answer.result.list.published_at], ['no_match', dayBefore(0)])
  const now = await health()
  assert.deepEqual([now?.['state'], now?.['age_days'], now?.['refresh']], ['fresh', 0, null])
  const stated = await fetch(`${app.url}/v1/datasets/${answer.result.list.sha256}`)
  assert.deepEqual(await stated.json(), reviewed)
})

test('the hash of each list is in the public log', async () => {
  const { sha256 } = (await screen()).result.list
  for (;;) {
    const response = await fetch(`${app.url}/log/proof/${sha256}`)
    const text = await response.text()
    if (response.status === 200) {
      assert.match(text, /^c2sp\.org\/tlog-proof@v1\n/)
      break
    }
    assert.match(text, /LOG_ENTRY_WAITING/)
  }
  const bundled = await fetch(`${app.url}/log/proof/${'0'.repeat(64)}`)
  assert.match(await bundled.text(), /LOG_ENTRY_UNKNOWN/)
})

test('health, metrics and doctor show the age of the list in use, not of that of the release', async () => {
  const { datasets } = (await (await fetch(`${app.url}/health`)).json()) as { datasets: Record<string, unknown>[] }
  const list = datasets.find(({ id }) => id === 'ofac_addresses')
  assert.deepEqual([list?.['published_at'], list?.['age_days'], list?.['limit_days'], list?.['state']], [dayBefore(1), 1, 30, 'fresh'])
  const metrics = await (await fetch(`${app.url}/metrics`)).text()
  assert.match(metrics, /^assay_dataset_age_days\{dataset="ofac_addresses"\} 1$/m)
  assert.match(metrics, /^assay_dataset_limit_days\{dataset="ofac_addresses"\} 30$/m)
  assert.match(metrics, /^assay_dataset_feed_ok\{feed="ofac_sdn"\} 1$/m)
  const { stdout } = await desk.run(['doctor', '--json'])
  const checks = parsed(stdout)['checks'] as { name: string; state: string; words: string }[]
  const lists = checks.find(({ name }) => name === 'lists')
  assert.match(lists?.words ?? '', new RegExp(`ofac_addresses: published ${dayBefore(1)}, 1 of 30 days old\\.`))
  assert.match(lists?.words ?? '', /ASSAY_DATA_FEEDS is off/)
  assert.equal(lists?.state, 'warning')
})

test('assay data: diff shows what would change, import refuses a bad file, pin goes back, unpin returns to the newest', async () => {
  const stored = async () =>
    parsed((await desk.run(['data', 'status', '--json'])).stdout)['stored'] as { dataset: string; sha256: string; published_at: string }[]
  const all = await stored()
  const shaOf = (day: string) => all.find(({ dataset, published_at }) => dataset === 'ofac_addresses' && published_at === day)?.sha256 ?? ''
  const cut = await desk.file('cut.XML', DAY_TWO.slice(0, -500))
  const bad = await desk.run(['data', 'import', cut])
  assert.deepEqual([bad.code, /truncated|no complete/.test(bad.stderr)], [65, true], bad.stderr)
  const few = await desk.file('few.xml', sdnDocument({ day: dayBefore(1), rows: addresses.rows.slice(0, 70) }))
  const [difference = {}] = parsed((await desk.run(['data', 'diff', few, '--json'])).stdout)['differences'] as Record<string, unknown>[]
  assert.deepEqual([(difference['removed'] as string[]).length, difference['added']], [28, []])
  assert.match(String(difference['refused']), /removes 28 of 98 rows/)
  assert.equal((await desk.run(['data', 'import', few])).code, 1)
  const active = async () =>
    (parsed((await desk.run(['data', 'status', '--json'])).stdout)['datasets'] as Record<string, unknown>[]).find(
      ({ id }) => id === 'ofac_addresses',
    )
  assert.equal((await active())?.['sha256'], shaOf(dayBefore(1)))
  assert.equal((await desk.run(['data', 'pin', shaOf(dayBefore(2))])).code, 0)
  assert.deepEqual([(await active())?.['sha256'], (await active())?.['pinned']], [shaOf(dayBefore(2)), true])
  assert.equal((await desk.run(['data', 'unpin', 'ofac_addresses'])).code, 0)
  assert.deepEqual([(await active())?.['sha256'], (await active())?.['pinned']], [shaOf(dayBefore(1)), false])
  for (const [words, code] of [
    [['pin', 'f'.repeat(64)], 66],
    [['unpin', 'nothing'], 66],
    [['import', '/nowhere'], 66],
    [['import'], 2],
    [['stats'], 2],
  ] as const)
    assert.equal((await desk.run(['data', ...words])).code, code, words.join(' '))
})
