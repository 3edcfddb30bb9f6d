/** Feeds of reference tables over a real HTTP server that answers in the publishers' formats, truthfully or with lies, into a real store. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createFeedReader, readFeedFile } from '../../src/adapters/feeds/reader.ts'
import { createLog } from '../../src/adapters/log/pino.ts'
import { guardedOpen, systemResolve } from '../../src/adapters/public-https/guarded-request.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { FeedState } from '../../src/ports/datasets.ts'
import type { Store } from '../../src/ports/store.ts'
import { checkCurrency } from '../../src/pure/checks/currency.ts'
import { rdapServer, readVendorDomain } from '../../src/pure/checks/domains.ts'
import { checkE164 } from '../../src/pure/checks/e164.ts'
import { checkIban } from '../../src/pure/checks/iban.ts'
import { checkIfsc } from '../../src/pure/checks/ifsc.ts'
import { checkIsbn } from '../../src/pure/checks/isbn.ts'
import { bindTables, TABLES } from '../../src/pure/datasets/datasets.ts'
import { TABLE_FEEDS } from '../../src/pure/datasets/table-feeds.ts'
import { disposableDomain } from '../../src/pure/rulebooks/counterparty.ts'
import { createDatasetService, type DatasetService, readFeed } from '../../src/service/datasets/dataset-service.ts'
import { datasetLimits } from '../../src/service/limits.ts'
import { clockAt } from '../support/clock-at.ts'
import {
  bankNames,
  bootstrap,
  currencyLists,
  domains,
  ibanRegistry,
  PHILIPPINES,
  phonePlans,
  rangeMessage,
  suffixList,
  type Currency,
  type Rows,
} from '../support/table-documents.ts'

const DAY = '2026-11-26'
const clock = clockAt(() => Date.parse(`${DAY}T12:00:00Z`))
const { log } = createLog('silent', clock)

type Feed = keyof typeof TABLE_FEEDS
type Answer = (response: ServerResponse, request: IncomingMessage) => void

let answer: Answer = () => {}
const server = createServer((request, response) => answer(response, request))
let url = ''
let directory = ''
let store: Store
let service: DatasetService

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  directory = await mkdtemp(join(tmpdir(), 'assay-table-feeds-'))
})
after(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(directory, { recursive: true, force: true })
})
let count = 0
beforeEach(async () => {
  store = await openStore(join(directory, `${count++}.sqlite`))
  service = createDatasetService({ store: store.datasets, clock, log, bind: bindTables })
})
afterEach(async () => {
  bindTables([])
  await store.close()
})

async function read(feed: Feed, bounds?: { read_ms: number; bytes_max: number }): Promise<FeedState> {
  const state = await readAny(feed, bounds)
  assert.ok(state !== null)
  return state
}

function readAny(feed: Feed, bounds = { read_ms: 60_000, bytes_max: 3_000_000 }): Promise<FeedState | null> {
  const exempt = new Set([url.replace('http://', '')])
  const reader = createFeedReader({
    mirror: url,
    bounds,
    open: (address, signal, headers) => guardedOpen(address, { resolve: systemResolve, exempt }, signal, datasetLimits, headers),
  })
  return readFeed({ store: store.datasets, service, reader, clock, log }, feed)
}

const TEST_THALER: Currency = {
  alpha: 'TST',
  numeric: '899',
  name: 'Test Thaler',
  minor_units: 3,
  countries: [],
  other_entities: ['TESTLAND & CO'],
  withdrawn: null,
}

/** Files of each feed: as the table of the release, with one more row, and with half of the rows. */
const everySecond = <Row>(rows: Row[]) => rows.filter((_, index) => index % 2 === 0)
const SENTINEL_FREE = (id: keyof typeof TABLES) => (rows: Rows) =>
  rows.filter((row, index) => index % 2 === 0 || TABLES[id].definition.present.includes(TABLES[id].definition.key(row)))
interface FeedCase {
  type: string
  same: Record<string, string>
  more: Record<string, string>
  half: Record<string, string>
  /** Before and after the additional row. */
  check: () => unknown
  without: unknown
  with: unknown
}
const CASES: Readonly<Record<Feed, FeedCase>> = {
  iso4217: {
    type: 'application/xml',
    same: currencyLists('2026-06-01'),
    more: currencyLists('2026-11-01', (rows) => [...rows, TEST_THALER]),
    half: currencyLists('2026-11-01', (rows) => everySecond(rows)),
    check: () => checkCurrency('TST').facts?.minor_units ?? null,
    without: null,
    with: 3,
  },
  isbn_ranges: {
    type: 'text/xml; charset=utf-8',
    same: { 'RangeMessage.xml': rangeMessage() },
    more: { 'RangeMessage.xml': rangeMessage((rows) => [...rows, { group: '979-99', name: 'Test & Land', ranges: [['00', '49']] }]) },
    half: { 'RangeMessage.xml': rangeMessage(SENTINEL_FREE('isbn_ranges')) },
    check: () => checkIsbn('9799901234560').facts?.group_name ?? null,
    without: null,
    with: 'Test & Land',
  },
  rdap_bootstrap: {
    type: 'application/json',
    same: { 'dns.json': bootstrap() },
    more: { 'dns.json': bootstrap((rows) => [...rows, { tld: 'test', url: 'https://rdap.test.example/v1', origin: 'iana' }]) },
    half: { 'dns.json': bootstrap(SENTINEL_FREE('rdap_bootstrap')) },
    check: () => rdapServer('shop.test'),
    without: null,
    with: 'https://rdap.test.example/v1/',
  },
  ifsc_banks: {
    type: 'text/plain; charset=utf-8',
    same: { 'banknames.json': bankNames() },
    more: { 'banknames.json': bankNames((rows) => [...rows, { code: 'QQQQ', name: 'Test Bank' }]) },
    half: { 'banknames.json': bankNames(SENTINEL_FREE('ifsc_banks')) },
    check: () => checkIfsc('QQQQ0123456').facts?.bank_name ?? null,
    without: null,
    with: 'Test Bank',
  },
  disposable_domains: {
    type: 'text/plain; charset=utf-8',
    same: { 'disposable_email_blocklist.conf': domains() },
    more: { 'disposable_email_blocklist.conf': `# comment\n${domains((rows) => [...rows, { domain: 'throw-away.example' }])}` },
    half: { 'disposable_email_blocklist.conf': domains(SENTINEL_FREE('disposable_domains')) },
    check: () => disposableDomain('a.throw-away.example'),
    without: null,
    with: 'throw-away.example',
  },
  iban_registry: {
    type: 'text/plain',
    same: { 'iban-registry.txt': ibanRegistry() },
    more: { 'iban-registry.txt': ibanRegistry((rows) => [...rows, PHILIPPINES]) },
    half: { 'iban-registry.txt': ibanRegistry(SENTINEL_FREE('iban_registry')) },
    check: () => checkIban(PHILIPPINES.example).facts?.parts.map(({ label }) => label) ?? null,
    without: null,
    with: ['country', 'check', 'bank', 'account'],
  },
  phone_plans: {
    type: 'application/json; charset=utf-8',
    same: { 'metadata.max.json': phonePlans() },
    more: {
      'metadata.max.json': phonePlans((rows) => [
        ...rows,
        { calling_code: '999', region: 'XX', plan: ['999', '00', '[2-9]\\d{7}', [8], [['(\\d{4})(\\d{4})', '$1 $2']]] },
      ]),
    },
    half: { 'metadata.max.json': phonePlans(SENTINEL_FREE('phone_plans')) },
    check: () => checkE164('+99923456789').facts?.international_form ?? null,
    without: null,
    with: '+999 2345 6789',
  },
  public_suffixes: {
    type: 'text/plain; charset=utf-8',
    same: { 'public_suffix_list.dat': suffixList() },
    more: { 'public_suffix_list.dat': suffixList((rows) => [...rows, { rule: 'xn--mnchen-3ya.example', section: 'icann' }]) },
    half: { 'public_suffix_list.dat': suffixList(SENTINEL_FREE('public_suffixes')) },
    check: () => readVendorDomain('shop.huber.münchen.example')?.registrable,
    without: 'xn--mnchen-3ya.example',
    with: 'huber.xn--mnchen-3ya.example',
  },
}

const served =
  (files: Record<string, string>, type: string): Answer =>
  (response, request) => {
    const text = files[request.url?.slice(1) ?? '']
    if (text === undefined) return void response.writeHead(404).end()
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    // Without a charset the file of SWIFT is in Latin-1.
    response.writeHead(200, { 'content-type': type, etag }).end(type === 'text/plain' ? Buffer.from(text, 'latin1') : text)
  }

for (const [name, one] of Object.entries(CASES)) {
  const feed = name as Feed
  const dataset = TABLE_FEEDS[feed].datasets[0]
  const { definition } = TABLES[dataset]
  const [file = ''] = Object.keys(one.more)
  const whole = one.more[file] ?? ''

  describe(feed, () => {
    test('the document of the publisher gives the rows of the release', async () => {
      answer = served(one.same, one.type)
      const state = await read(feed)
      assert.ok(['updated', 'unchanged'].includes(state.outcome), state.detail)
      const rows = (service.active().find(({ id }) => id === dataset)?.snapshot ?? TABLES[dataset].bundled()).rows
      const sorted = (list: readonly unknown[]) => list.toSorted((a, b) => (definition.key(a) < definition.key(b) ? -1 : 1))
      assert.deepEqual(sorted(rows), sorted(TABLES[dataset].bundled().rows))
    })

    test('a row more is used by the check; the same document is not sent again; a restart keeps it', async () => {
      assert.deepEqual(one.check(), one.without)
      answer = served(one.more, one.type)
      const { outcome, detail } = await read(feed)
      assert.deepEqual([outcome, /1 rows added, 0 removed, 0 changed/.test(detail)], ['updated', true], detail)
      assert.deepEqual(one.check(), one.with)
      assert.deepEqual([(await read(feed)).outcome, one.check()], ['unchanged', one.with])
      bindTables([])
      await createDatasetService({ store: store.datasets, clock, log, bind: bindTables }).refreshBundled()
      assert.deepEqual(one.check(), one.with)
    })

    const lies: Record<
      string,
      { answer: Answer; outcome: 'failed' | 'refused'; detail: RegExp; bounds?: { read_ms: number; bytes_max: number } }
    > = {
      'a truncated document': {
        answer: served({ ...one.more, [file]: whole.slice(0, -12) }, one.type),
        outcome: 'failed',
        detail: /truncated/,
      },
      'a connection that ends early': {
        answer: (response) => {
          response.writeHead(200, { 'content-type': one.type, 'content-length': String(Buffer.byteLength(whole)) })
          response.write(whole.slice(0, -200), () => response.destroy())
        },
        outcome: 'failed',
        detail: /aborted|hang up|terminated|premature/i,
      },
      'a page of another type': {
        answer: served({ [file]: whole }, 'text/html'),
        outcome: 'failed',
        detail: /text\/html; expected|of the type text\/html/,
      },
      'an unasked 304': { answer: (response) => void response.writeHead(304).end(), outcome: 'failed', detail: /answers 304/ },
      'a redirect to a private address': {
        answer: (response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
        outcome: 'failed',
        detail: /public internet/,
      },
      'ten times the size': {
        answer: served({ [file]: whole }, one.type),
        outcome: 'failed',
        detail: /more than \d+ bytes/,
        bounds: { read_ms: 60_000, bytes_max: Math.floor(whole.length / 10) },
      },
      'half of the rows': {
        answer: served(one.half, one.type),
        outcome: 'refused',
        detail: /removes \d+ of \d+ rows|There are \d+ rows|is missing/,
      },
    }
    for (const [lie, { answer: lied, outcome, detail, bounds }] of Object.entries(lies)) {
      test(`never becomes active: ${lie}`, async () => {
        answer = lied
        const state = await read(feed, bounds)
        assert.deepEqual([state.outcome, detail.test(state.detail)], [outcome, true], state.detail)
        assert.deepEqual(one.check(), one.without)
        assert.equal(state.etag, null)
      })
    }
  })
}

test('list three of another day, or list one in its place, is no new list of currencies', async () => {
  const lists = currencyLists('2026-11-01')
  answer = served({ 'list-one.xml': lists['list-one.xml'] ?? '' }, 'application/xml')
  assert.match((await readAny('iso4217'))?.detail ?? 'absent', /absent/)
  answer = served({ ...lists, 'list-three.xml': lists['list-one.xml'] ?? '' }, 'application/xml')
  assert.match((await read('iso4217')).detail, /no <HstrcCcyNtry>/)
  const mixed = (lists['list-one.xml'] ?? '').replace('</CcyNtry>', '<WthdrwlDt>2026-01</WthdrwlDt></CcyNtry>')
  answer = served({ ...lists, 'list-one.xml': mixed }, 'application/xml')
  assert.match((await read('iso4217')).detail, /1 entries are in the wrong list/)
})

test('if one of two documents has changed, both are read', async () => {
  const first = currencyLists('2026-06-01')
  answer = served(first, 'application/xml')
  await read('iso4217')
  const changed = currencyLists('2026-11-01', (rows) => rows.map((row) => (row.alpha === 'FIM' ? { ...row, withdrawn: '2002-04' } : row)))
  answer = served({ ...first, 'list-three.xml': changed['list-three.xml'] ?? '' }, 'application/xml')
  const { outcome, detail } = await read('iso4217')
  assert.deepEqual([outcome, /0 removed, 1 changed/.test(detail)], ['updated', true], detail)
  assert.equal(checkCurrency('FIM').facts?.withdrawn, '2002-04')
})

test('documents are imported from files under the names of their publishers', async () => {
  const folder = await mkdtemp(join(directory, 'files-'))
  for (const [file, text] of Object.entries({ ...CASES.iso4217.more, ...CASES.rdap_bootstrap.more }))
    await writeFile(join(folder, file), text)
  const currencies = await readFeedFile('iso4217', join(folder, 'list-one.xml'), DAY)
  assert.ok(currencies.kind === 'read' && currencies.snapshots[0]?.dataset === 'iso4217')
  const servers = await readFeedFile('rdap_bootstrap', join(folder, 'dns.json'), DAY)
  assert.ok(servers.kind === 'read' && servers.snapshots[0]?.dataset === 'rdap_bootstrap')
  await rm(join(folder, 'list-three.xml'))
  assert.equal((await readFeedFile('iso4217', join(folder, 'list-one.xml'), DAY)).kind, 'failed')
})

test('a list of suffixes with a broken section, a rule in no section or none of its dates is refused', async () => {
  const whole = suffixList()
  const lies: [RegExp, string][] = [
    [/is in no section/, whole.replace('// ===BEGIN ICANN', 'com\n// ===BEGIN ICANN')],
    [/section PRIVATE begins or ends twice/, whole.replace('// ===END ICANN DOMAINS===\n', '')],
    [/section PRIVATE begins or ends twice/, whole.replace('// ===BEGIN PRIVATE', '// ===BEGIN ICANN DOMAINS===\n// ===BEGIN PRIVATE')],
    [/does not state its date/, whole.replace('// VERSION', '// version')],
    [/has no ASCII form/, whole.replace('\nco.uk\n', '\nco.uk\nmün chen.uk\nm%FFü.uk\n')],
    [/does not have the form/, whole.replace('\nco.uk\n', '\nco.uk\n!uk\n')],
    [/does not have the form/, whole.replace('\nco.uk\n', '\nco.uk\n*\n')],
    [/does not have the form/, whole.replace('\nco.uk\n', '\nco.uk\na.*.uk\n')],
  ]
  for (const [detail, text] of lies) {
    assert.notEqual(text, whole)
    answer = served({ 'public_suffix_list.dat': text }, 'text/plain; charset=utf-8')
    const state = await read('public_suffixes')
    assert.deepEqual([['failed', 'refused'].includes(state.outcome), detail.test(state.detail)], [true, true], state.detail)
  }
  assert.equal(
    service.active().find(({ id }) => id === 'public_suffixes'),
    undefined,
  )
})

test('metadata of phone numbers with a pattern that could run for long, or in another layout, is refused', async () => {
  const withPattern = (pattern: string) =>
    phonePlans((rows) => rows.map((row) => (row['region'] === 'CH' ? { ...row, plan: (row['plan'] as unknown[]).with(2, pattern) } : row)))
  const lies: [RegExp, string][] = [
    ...['(?:\\d{1,9}){1,9}', '(?:(?:\\d?\\d){2}){9}', '(?:1|1|11){9}', '\\d+', '(?=\\d)\\d', '(\\d', '[0-9', '\\d{9}'.repeat(900)].map(
      (pattern): [RegExp, string] => [/does not have the form/, withPattern(pattern)],
    ),
    [/not metadata of libphonenumber-js in version 4/, phonePlans().replace('"version":4', '"version":5')],
    [/other countries than its calling codes/, phonePlans().replace('"AG",', '')],
    [/lacks calling codes, countries or shared codes/, phonePlans().replace('"nonGeographic"', '"non_geographic"')],
  ]
  for (const [detail, text] of lies) {
    assert.notEqual(text, phonePlans())
    answer = served({ 'metadata.max.json': text }, 'application/json')
    const state = await read('phone_plans')
    assert.deepEqual([['failed', 'refused'].includes(state.outcome), detail.test(state.detail)], [true, true], state.detail)
  }
  answer = served({ 'metadata.max.json': withPattern('[2-9]\\d{8}') }, 'application/json')
  assert.equal((await read('phone_plans')).outcome, 'updated')
})

test('a registry of IBANs in which a format changed or an example is wrong is refused; without a mirror the feed is not read', async () => {
  const of = (country: string, change: Record<string, unknown>) =>
    ibanRegistry((rows) => rows.map((row) => (row['country'] === country ? { ...row, ...change } : row)))
  const lies: [RegExp, string][] = [
    [/The format of DE has changed/, of('DE', { structure: '8!n10!c' })],
    [/The format of GB has changed/, of('GB', { parts: 'bank:5 branch:5 account:8' })],
    [/does not have the form/, of('NO', { example: 'NO9386011117948' })],
    [/does not have the form/, of('NO', { length: 16 })],
    [/no line "IBAN length"/, ibanRegistry().replace('IBAN length', 'Length')],
    [/FR is missing/, ibanRegistry((rows) => rows.filter(({ country }) => country !== 'FR'))],
  ]
  for (const [detail, text] of lies) {
    answer = served({ 'iban-registry.txt': text }, 'text/plain')
    const state = await read('iban_registry')
    assert.deepEqual([['failed', 'refused'].includes(state.outcome), detail.test(state.detail)], [true, true], state.detail)
  }
  const reader = createFeedReader({ mirror: '', open: () => assert.fail('nothing is fetched') })
  assert.equal((await reader.read('iban_registry', null, DAY)).kind, 'absent')
})
