/** Feeds over a real HTTP server that answers truthfully or lies, into a real store: what fails any check never becomes active. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { createFeedReader } from '../../src/adapters/feeds/reader.ts'
import { guardedOpen, systemResolve } from '../../src/adapters/public-https/guarded-request.ts'
import { createLog } from '../../src/adapters/log/pino.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { FeedState } from '../../src/ports/datasets.ts'
import type { Store } from '../../src/ports/store.ts'
import { createDatasetService, type DatasetService, readFeed } from '../../src/service/datasets/dataset-service.ts'
import { datasetLimits } from '../../src/service/limits.ts'
import addresses from '../../data/ofac-addresses.json' with { type: 'json' }
import { clockAt } from '../support/clock-at.ts'
import { sdnDocument } from '../support/sdn-document.ts'

const clock = clockAt(() => Date.UTC(2026, 10, 21, 12))
const { log } = createLog('silent', clock)
const NEW = { address: `0x${'ab'.repeat(20)}`, entity: 'NEW & CO', programmes: [] }
const DAY_ONE = sdnDocument({ day: '2026-11-20' })
const DAY_TWO = sdnDocument({ day: '2026-11-21', rows: [...addresses.rows, NEW] })

let answer: (response: ServerResponse, etag: string | undefined) => void = () => {}
const server = createServer((request, response) => answer(response, request.headers['if-none-match']))
let url = ''
let directory = ''
let store: Store
let service: DatasetService

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  directory = await mkdtemp(join(tmpdir(), 'assay-feeds-'))
})
after(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await store.close()
  await rm(directory, { recursive: true, force: true })
})

let count = 0
beforeEach(async () => {
  if (count > 0) await store.close()
  store = await openStore(join(directory, `${count++}.sqlite`))
  service = createDatasetService({ store: store.datasets, clock, log })
})

const XML = { 'content-type': 'application/xml', etag: '"one"' }
const document =
  (text: string, headers: Record<string, string> = XML) =>
  (response: ServerResponse) =>
    void response.writeHead(200, headers).end(text)

/** Reads the feed once; `exempt` lets the guard reach the server on this machine. */
async function read(mirror = url, bounds = { read_ms: 60_000, bytes_max: 4_000_000 }): Promise<FeedState> {
  const exempt = new Set([url.replace('http://', '')])
  const reader = createFeedReader({
    mirror,
    bounds,
    open: (address, signal, headers) => guardedOpen(address, { resolve: systemResolve, exempt }, signal, datasetLimits, headers),
  })
  const state = await readFeed({ store: store.datasets, service, reader, clock, log }, 'ofac_sdn')
  assert.ok(state !== null)
  return state
}

const statusOf = (address: string) => service.screening().screenSubject(address).status

test('a newer document becomes active, and checks answer from it', async () => {
  const bundled = service.screening()
  assert.equal(statusOf(NEW.address), 'no_match')
  answer = document(DAY_TWO)
  const { outcome, etag, detail } = await read()
  assert.deepEqual([outcome, etag], ['updated', '"one"'])
  assert.match(detail, /1 rows added, 0 removed/)
  assert.equal(statusOf(NEW.address), 'match')
  assert.equal(service.screening().screenSubject(NEW.address).matches[0]?.name, 'NEW & CO')
  assert.equal(service.screening().lists.ofac_addresses.published_at, '2026-11-21')
  // A call that began before keeps the lists it began with.
  assert.equal(bundled.screenSubject(NEW.address).status, 'no_match')
  const [active] = service.active()
  assert.equal(JSON.stringify(active?.snapshot), await service.text(active?.sha256 ?? ''))
})

test('a document with the same tag is not sent again, and a process that starts later uses what is stored', async () => {
  answer = document(DAY_TWO)
  await read()
  let asked: string | undefined
  answer = (response, etag) => {
    asked = etag
    response.writeHead(304).end()
  }
  assert.equal((await read()).outcome, 'unchanged')
  assert.equal(asked, '"one"')
  const later = createDatasetService({ store: store.datasets, clock, log })
  assert.equal(later.screening().screenSubject(NEW.address).status, 'no_match')
  await later.refresh()
  assert.equal(later.screening().screenSubject(NEW.address).status, 'match')
  assert.equal(later.screening().lists.ofac_addresses.sha256, service.screening().lists.ofac_addresses.sha256)
})

test('the same rows on a later date are a newer list', async () => {
  answer = document(DAY_ONE)
  assert.equal((await read()).outcome, 'updated')
  assert.equal(service.screening().lists.ofac_addresses.published_at, '2026-11-20')
  assert.deepEqual(
    service.active().map(({ id }) => id),
    ['ofac_addresses'],
  )
})

const half = addresses.rows.filter((_, index) => index % 2 === 0)
const LIES: Readonly<
  Record<string, { answer: typeof answer; outcome: 'failed' | 'refused'; detail: RegExp; bounds?: { read_ms: number; bytes_max: number } }>
> = {
  'a connection that ends early': {
    answer: (response) => {
      response.writeHead(200, { ...XML, 'content-length': String(DAY_TWO.length) })
      response.write(DAY_TWO.slice(0, -2_000), () => response.destroy())
    },
    outcome: 'failed',
    detail: /aborted|hang up|terminated|premature/i,
  },
  'a truncated document of the stated length': { answer: document(DAY_TWO.slice(0, -20)), outcome: 'failed', detail: /truncated/ },
  'a page instead of the document': {
    answer: document('<html>maintenance</html>', { 'content-type': 'text/html' }),
    outcome: 'failed',
    detail: /text\/html.*expected XML/,
  },
  'a page that claims to be XML': { answer: document('<html>maintenance</html>'), outcome: 'failed', detail: /no <entity>/ },
  'another document with entities': {
    answer: document(DAY_TWO.replaceAll('sanctionsData', 'otherData')),
    outcome: 'failed',
    detail: /does not begin with <sanctionsData>/,
  },
  'a 304 without a request for one': { answer: (response) => void response.writeHead(304).end(), outcome: 'failed', detail: /answers 304/ },
  'an error': { answer: (response) => void response.writeHead(503).end(), outcome: 'failed', detail: /answers 503/ },
  'a redirect to a private address': {
    answer: (response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    outcome: 'failed',
    detail: /public internet/,
  },
  'a redirect without end': {
    answer: (response) => void response.writeHead(302, { location: '/again' }).end(),
    outcome: 'failed',
    detail: /redirects/,
  },
  'ten times the size, as stated': {
    answer: document(sdnDocument({ day: '2026-11-21', others: 20_000 })),
    outcome: 'failed',
    detail: /more than 4000000 bytes/,
  },
  'ten times the size, in pieces of no stated length': {
    answer: (response) => {
      response.writeHead(200, XML)
      for (let piece = 0; piece < 2; piece++) response.write(DAY_TWO.padEnd(3_000_000))
      response.end()
    },
    outcome: 'failed',
    detail: /more than 4000000 bytes/,
  },
  'an element without end': {
    answer: document(`${DAY_TWO.slice(0, -40)}<entity id="9">${'x'.repeat(5_000_000)}`),
    outcome: 'failed',
    detail: /belong to no complete <entity>/,
    bounds: { read_ms: 60_000, bytes_max: 60_000_000 },
  },
  'a server that never ends': {
    answer: (response) => void response.writeHead(200, XML).write(DAY_TWO.slice(0, 1_000)),
    outcome: 'failed',
    detail: /abort|time/i,
    bounds: { read_ms: 300, bytes_max: 4_000_000 },
  },
  'bytes that are not UTF-8': {
    answer: (response) =>
      void response.writeHead(200, XML).end(Buffer.concat([Buffer.from(DAY_TWO.slice(0, 500)), Buffer.from([0xff, 0xfe])])),
    outcome: 'failed',
    detail: /encoded data/i,
  },
  'half of the rows': {
    answer: document(sdnDocument({ day: '2026-11-21', rows: half })),
    outcome: 'refused',
    detail: /48 rows; expected 60|removes 48 of 97|49 rows; expected 60/,
  },
  'a third of the rows': {
    answer: document(
      sdnDocument({ day: '2026-11-21', rows: addresses.rows.filter((row, index) => index % 3 > 0 || /LAZARUS/.test(row.entity)) }),
    ),
    outcome: 'refused',
    detail: /removes \d+ of 97 rows; at most 19/,
  },
  'a list without the addresses of Lazarus': {
    answer: document(sdnDocument({ day: '2026-11-21', rows: addresses.rows.filter(({ entity }) => !/LAZARUS/.test(entity)) })),
    outcome: 'refused',
    detail: /0x098b716b8aaf21512996dc57eb0615e2383e2f96 is missing/,
  },
  'a list with removed addresses': {
    answer: document(
      sdnDocument({ day: '2026-11-21', rows: [...addresses.rows, { ...NEW, address: '0xd90e2f925da726b50c4ed8d0fb90ad053324f31b' }] }),
    ),
    outcome: 'refused',
    detail: /was removed from the list/,
  },
  'a list with every name replaced': {
    answer: document(sdnDocument({ day: '2026-11-20', rows: addresses.rows.map((row, index) => ({ ...row, entity: `Aaa${index} Bbb` })) })),
    outcome: 'refused',
    detail: /is of the Lazarus Group, but has another name here/,
  },
  'a list with most names replaced': {
    answer: document(
      sdnDocument({
        day: '2026-11-20',
        rows: addresses.rows.map((row, index) => (/LAZARUS/i.test(row.entity) ? row : { ...row, entity: `Aaa${index} Bbb` })),
      }),
    ),
    outcome: 'refused',
    detail: /changes \d+ of \d+ rows; at most \d+ may change in one update\. .*assay data accept/,
  },
  'names shifted by one row': {
    answer: document(
      sdnDocument({
        day: '2026-11-20',
        rows: addresses.rows.map((row, index) => ({ ...row, entity: addresses.rows.at(index - 1)?.entity ?? '' })),
      }),
    ),
    outcome: 'refused',
    detail: /changes|another name/,
  },
  'an older list': { answer: document(sdnDocument({ day: '2026-06-01' })), outcome: 'refused', detail: /before the active snapshot/ },
  'a list of tomorrow': { answer: document(sdnDocument({ day: '2026-11-22' })), outcome: 'refused', detail: /in the future/ },
  'a list without a date': { answer: document(DAY_TWO.replace('dataAsOf', 'date')), outcome: 'failed', detail: /does not state its date/ },
}

for (const [name, lie] of Object.entries(LIES)) {
  test(`${name}: the active list stays, and the reason is kept for operators`, async () => {
    const before_sha256 = service.screening().lists.ofac_addresses.sha256
    answer = lie.answer
    const state = await read(url, lie.bounds)
    assert.deepEqual([state.outcome, state.etag], [lie.outcome, null], state.detail)
    assert.match(state.detail, lie.detail)
    assert.deepEqual(await store.datasets.feeds(), [state])
    assert.equal(service.screening().lists.ofac_addresses.sha256, before_sha256)
    assert.deepEqual(await store.datasets.active(), [])
  })
}

test('a server on this machine is out of reach unless the operator named it', async () => {
  answer = document(DAY_TWO)
  const reader = createFeedReader({
    mirror: url,
    open: (address, signal, headers) => guardedOpen(address, { resolve: systemResolve, exempt: new Set() }, signal, datasetLimits, headers),
  })
  assert.equal((await reader.read('ofac_sdn', null, '2026-11-21')).kind, 'failed')
})

test('a folder with copies takes the place of the server', async () => {
  const state = await read(directory)
  assert.deepEqual([state.outcome, /ENOENT/.test(state.detail)], ['failed', true])
  await writeFile(join(directory, 'SDN_ENHANCED.XML'), DAY_ONE)
  assert.equal((await read(directory)).outcome, 'updated')
  assert.equal((await read(directory)).outcome, 'unchanged')
  await writeFile(join(directory, 'SDN_ENHANCED.XML'), DAY_TWO)
  assert.equal((await read(directory)).outcome, 'updated')
  assert.equal(statusOf(NEW.address), 'match')
})

test('feeds leave a pinned list alone, and store what they bring', async () => {
  answer = document(DAY_ONE)
  await read()
  const pinned = service.screening().lists.ofac_addresses.sha256
  await store.datasets.activate({ dataset: 'ofac_addresses', sha256: pinned, pinned: true, activated_ms: clock.now_ms() })
  answer = document(DAY_TWO)
  const { detail } = await read()
  assert.match(detail, /ofac_addresses: Stored as .* not active because another snapshot is pinned/)
  assert.equal(service.screening().lists.ofac_addresses.sha256, pinned)
  assert.equal((await store.datasets.snapshots(10)).length, 2)
})
