/** Feeds of listed names over a real HTTP server that answers truthfully or lies, into a real store. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createFeedReader } from '../../src/adapters/feeds/reader.ts'
import { createLog } from '../../src/adapters/log/pino.ts'
import { guardedOpen, systemResolve } from '../../src/adapters/public-https/guarded-request.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { FeedState } from '../../src/ports/datasets.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Snapshot } from '../../src/pure/datasets/definition.ts'
import { FEEDS, parseDocument, type FeedName } from '../../src/pure/datasets/feeds.ts'
import type { NameRow } from '../../src/pure/datasets/sanctions-lists.ts'
import { namesOfEntity } from '../../src/pure/datasets/list-xml.ts'
import type { Screening } from '../../src/pure/checks/ofac.ts'
import { answerName } from '../../src/pure/screening/names-answer.ts'
import { createDatasetService, type DatasetService, readFeed } from '../../src/service/datasets/dataset-service.ts'
import { datasetLimits } from '../../src/service/limits.ts'
import { clockAt } from '../support/clock-at.ts'
import { euDocument, ukDocument, unDocument, type ListDocument } from '../support/list-documents.ts'

const clock = clockAt(() => Date.UTC(2026, 10, 21, 12))
const { log } = createLog('silent', clock)
const BOUNDS = { read_ms: 60_000, bytes_max: 2_000_000 }

let answer: (response: ServerResponse) => void = () => {}
const server = createServer((_, response) => answer(response))
let url = ''
let directory = ''
let store: Store
let service: DatasetService

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  directory = await mkdtemp(join(tmpdir(), 'assay-name-feeds-'))
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

function read(feed: FeedName, mirror = url): Promise<FeedState | null> {
  const exempt = new Set([url.replace('http://', '')])
  const reader = createFeedReader({
    mirror,
    bounds: BOUNDS,
    open: (address, signal, headers) => guardedOpen(address, { resolve: systemResolve, exempt }, signal, datasetLimits, headers),
  })
  return readFeed({ store: store.datasets, service, reader, clock, log }, feed)
}

const send =
  (text: string, type = 'application/xml') =>
  (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': type }).end(text)

const activeRows = (dataset: string) =>
  (service.active().find(({ id }) => id === dataset)?.snapshot as Snapshot<NameRow> | undefined)?.rows ?? []

interface Feed {
  dataset: string
  make: (given: ListDocument) => string
  others: number
  date: RegExp
  sentinel: string
  /** Tag of a name, which a change of the format could rename. */
  name: string
}

const LISTS: Partial<Record<FeedName, Feed>> = {
  un_consolidated: { dataset: 'un_names', make: unDocument, others: 700, date: /dateGenerated/, sentinel: 'QDe.004', name: 'FIRST_NAME' },
  eu_consolidated: {
    dataset: 'eu_names',
    make: euDocument,
    others: 3_100,
    date: /generationDate/,
    sentinel: 'EU.27.28',
    name: 'nameAlias',
  },
  uk_sanctions: { dataset: 'uk_names', make: ukDocument, others: 3_100, date: /DateGenerated/g, sentinel: 'AFG0001', name: 'Name6' },
}

for (const [name, list] of Object.entries(LISTS)) {
  const feed = name as FeedName
  const { dataset, make, others, date, sentinel } = list
  const first = make({ day: '2026-11-20', others })

  describe(feed, () => {
    test('the first document becomes active, a later one replaces it, and a later process uses what is stored', async () => {
      answer = send(first)
      const state = await read(feed)
      assert.deepEqual([state?.outcome, service.active().map(({ id }) => id)], ['updated', ['ofac_addresses', dataset]], state?.detail)
      const rows = activeRows(dataset).length
      answer = send(make({ day: '2026-11-21', others: others + 5 }))
      assert.match((await read(feed))?.detail ?? '', /5 rows added, 0 removed, 0 changed/)
      assert.equal(activeRows(dataset).length, rows + 5)
      const later = createDatasetService({ store: store.datasets, clock, log })
      await later.refresh()
      assert.equal(later.active().find(({ id }) => id === dataset)?.snapshot.published_at, '2026-11-21')
    })

    const lies: Record<string, { text: string; type?: string; detail: RegExp }> = {
      'a truncated document': { text: first.slice(0, -30), detail: /truncated/ },
      'half an entry': { text: first.slice(0, first.length >> 1), detail: /truncated/ },
      'a page instead of the document': { text: '<html></html>', type: 'text/html', detail: /expected XML/ },
      'the list of another publisher': {
        text: make === ukDocument ? unDocument({ day: '2026-11-20', others: 700 }) : ukDocument({ day: '2026-11-20', others: 3_100 }),
        detail: /no <|does not begin/,
      },
      'ten times the size': { text: first + ' '.repeat(2_000_000), detail: /more than 2000000 bytes/ },
      'half of the entries, as the first document': { text: make({ day: '2026-11-20', others: 300 }), detail: /rows; expected/ },
      'a document without a date': { text: first.replace(date, 'unknown'), detail: /does not state its date/ },
      'a list of tomorrow': { text: make({ day: '2026-11-22', others }), detail: /in the future/ },
      'a list without an entry that is on each list': {
        text: first.replaceAll(sentinel, 'OTHER.1'),
        detail: new RegExp(`${sentinel} is missing`),
      },
      'names under another tag': { text: first.replaceAll(list.name, 'renamed'), detail: /have no name or no identifier/ },
      'an entry twice': {
        text: first
          .replaceAll('PERSON 2<', 'PERSON 1<')
          .replaceAll(/XXi\.2<|INV2</g, (id) => id.replace('2', '1'))
          .replaceAll('EU.X.2"', 'EU.X.1"'),
        detail: /repeats the key/,
      },
    }
    for (const [lie, { text, type, detail }] of Object.entries(lies)) {
      test(`${lie}: nothing becomes active`, async () => {
        answer = send(text, type)
        const state = await read(feed)
        assert.match(state?.detail ?? '', detail)
        assert.deepEqual([['failed', 'refused'].includes(state?.outcome ?? ''), await store.datasets.active()], [true, []])
      })
    }

    test('a document that lost a fifth of the entries, or is older, leaves the active list', async () => {
      answer = send(make({ day: '2026-11-20', others: others + 800 }))
      await read(feed)
      const before_rows = activeRows(dataset).length
      answer = send(make({ day: '2026-11-21', others }))
      assert.match((await read(feed))?.detail ?? '', /removes 800 of \d+ rows; at most/)
      answer = send(make({ day: '2026-11-19', others: others + 800 }))
      assert.match((await read(feed))?.detail ?? '', /before the active snapshot/)
      assert.equal(activeRows(dataset).length, before_rows)
    })

    test('a mirror without the document is no fault before it was read once, and one afterwards', async () => {
      assert.equal(await read(feed, directory), null)
      answer = (response) => void response.writeHead(404).end()
      assert.equal(await read(feed), null)
      assert.deepEqual(await store.datasets.feeds(), [])
      await writeFile(join(directory, FEEDS[feed].file), first)
      assert.equal((await read(feed, directory))?.outcome, 'updated')
      await rm(join(directory, FEEDS[feed].file))
      assert.equal((await read(feed, directory))?.outcome, 'failed')
      assert.ok(activeRows(dataset).length > 0)
    })
  })
}

test('a call that began before a swap keeps its lists of names; a process that has just started waits for them', async () => {
  const query = { name: 'Sylvestre Mudacumura', country: null, birth_date: null }
  const status = async (screening: Screening) => (await answerName(screening, query, clock.now_ms())).status
  const empty = service.screening()
  assert.equal(await status(empty), 'not_checked')
  answer = send(unDocument({ day: '2026-11-20', others: 700 }))
  await read('un_consolidated')
  const first = service.screening()
  assert.deepEqual(
    first.name_lists.map(({ id, published_at }) => [id, published_at]),
    [['un_names', '2026-11-20']],
  )
  answer = send(
    unDocument({ day: '2026-11-21', others: 700 }).replace('MUDACUMURA', 'OTHERWISE').replace('Mupenzi Bernard', 'Nobody Known'),
  )
  await read('un_consolidated')
  assert.equal(await status(first), 'possible_match')
  assert.equal(await status(service.screening()), 'no_match')
  const later = createDatasetService({ store: store.datasets, clock, log })
  await later.refreshBundled()
  assert.deepEqual(
    later.active().map(({ id }) => id),
    ['ofac_addresses'],
  )
  assert.equal(await status(later.screening()), 'no_match')
  assert.deepEqual(
    later.active().map(({ id }) => id),
    ['ofac_addresses', 'un_names'],
  )
})

test('the EU list has no open address at its publisher', async () => {
  assert.equal(await read('eu_consolidated', ''), null)
})

function rowsOf(feed: FeedName, text: string): NameRow[] {
  const collector = FEEDS[feed].collect()
  const parser = parseDocument(FEEDS[feed], datasetLimits.element_chars, collector)
  assert.equal(parser.push(text), null)
  const end = parser.finish()
  assert.ok(end.ok)
  const found = collector.finish(end.head, '2026-11-21', [end.head])
  assert.ok(typeof found !== 'string')
  return found.flatMap(({ snapshot }) => snapshot.rows as NameRow[])
}

test('entries of the UN: parts of names, aliases with their quality, nationality and countries, years of birth', () => {
  const rows = rowsOf('un_consolidated', unDocument({ day: '2026-11-20', others: 1 }))
  assert.deepEqual(rows[0], {
    id: 'CDi.012',
    kind: 'person',
    names: [
      { text: 'SYLVESTRE MUDACUMURA', strength: 'primary' },
      { text: 'Mupenzi Bernard', strength: 'strong' },
      { text: 'Pharaoh', strength: 'weak' },
    ],
    countries: ['Rwanda', 'Democratic Republic of the Congo'],
    births: ['1954'],
    programmes: ['DRC'],
  })
  assert.deepEqual(
    rows.find(({ id }) => id === 'QDe.004')?.names.map(({ text }) => text),
    ['AL-QAIDA', 'القاعدة', '“The Base”'],
  )
})

test('entries of the EU: whole names, strength, citizenship, date of birth', () => {
  const [row, other] = rowsOf('eu_consolidated', euDocument({ day: '2026-11-20', others: 1 }))
  assert.deepEqual(row, {
    id: 'EU.27.28',
    kind: 'person',
    names: [
      { text: 'Saddam Hussein Al-Tikriti', strength: 'primary' },
      { text: 'Abu Ali', strength: 'weak' },
    ],
    countries: ['IQ'],
    births: ['1937-04-28'],
    programmes: ['IRQ'],
  })
  assert.equal(other?.names[0]?.text, 'Invented & Company 1')
})

test('entries of the UK: parts in order, alias strength, other scripts, dates with unknown parts', () => {
  const [entity, person] = rowsOf('uk_sanctions', ukDocument({ day: '2026-11-20', others: 1 }))
  assert.deepEqual(
    [entity?.id, entity?.kind, entity?.countries, entity?.names.map(({ text }) => text)],
    ['AFG0001', 'organisation', ['Pakistan'], ['HAJI KHAIRULLAH HAJI SATTAR MONEY EXCHANGE', 'Haji Alim Hawala', 'حاجی خيرالله']],
  )
  assert.deepEqual(
    [person?.names, person?.births, person?.countries],
    [
      [
        { text: 'Lex Invented EXAMPLE', strength: 'primary' },
        { text: 'The Fox', strength: 'weak' },
      ],
      ['1960-02-17', '1961'],
      ['Syria'],
    ],
  )
})

test('entries of OFAC: names of all scripts, low quality, nationality, date and range of birth', () => {
  const name = (texts: readonly string[], primary: boolean, low: boolean) =>
    `<name id="1"><isPrimary>${primary}</isPrimary>${primary ? '' : '<aliasType refId="1400">A.K.A.</aliasType>'}<isLowQuality>${low}</isLowQuality><translations>` +
    texts
      .map(
        (text) =>
          `<translation id="2"><isPrimary>true</isPrimary><script refId="20122">Latin</script><formattedFullName>${text}</formattedFullName></translation>`,
      )
      .join('') +
    '</translations></name>'
  const birth = (value: string, from: string, to: string) =>
    `<feature id="4700"><type featureTypeId="8">Birthdate</type><value>${value}</value><valueDate id="758"><fromDateBegin>${from}</fromDateBegin>` +
    `<toDateEnd>${to}</toDateEnd></valueDate></feature>`
  const row = namesOfEntity(
    '<entity id="9640"><generalInfo><identityId>1979</identityId><entityType refId="600">Individual</entityType></generalInfo>' +
      '<sanctionsPrograms><sanctionsProgram refId="91055" id="6215">NS-PLC</sanctionsProgram></sanctionsPrograms><names>' +
      name(['ABU TEIR, Mohammed', 'محمد أبو طير'], true, false) +
      name(['ABU TAIR'], false, true) +
      '</names><addresses><address id="12128"><country refId="91021">Palestinian</country></address></addresses><features>' +
      birth('1951', '1951-01-01', '1951-12-31') +
      birth('12 Jan 1952', '1952-01-12', '1952-01-12') +
      birth('1953 to 1955', '1953-01-01', '1955-12-31') +
      '<feature id="5"><type featureTypeId="10">Nationality Country</type><value>Jordan</value></feature>' +
      '</features></entity>',
  )
  assert.deepEqual(row, {
    id: '9640',
    kind: 'person',
    names: [
      { text: 'ABU TEIR, Mohammed', strength: 'primary' },
      { text: 'محمد أبو طير', strength: 'primary' },
      { text: 'ABU TAIR', strength: 'weak' },
    ],
    countries: ['Jordan', 'Palestinian'],
    births: ['1951', '1952-01-12', '1953/1955'],
    programmes: ['NS-PLC'],
  })
})
