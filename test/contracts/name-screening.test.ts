/** Screening engines over a real HTTP server that gives the recorded wire forms of moov watchman 0.52.0 and yente 5.5, or lies, delays and half answers. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createNameScreening } from '../../src/adapters/name-screening/http.ts'
import type { ScreeningEngine } from '../../src/ports/name-screening.ts'
import { SourceDown, type Tool } from '../../src/service/catalogue/define.ts'
import { createNameSource } from '../../src/service/name-screening.ts'
import { type NamesAnswer } from '../../src/service/catalogue/names.ts'
import guard from '../../src/tools/packs/pre-disbursement-guard.ts'
import onboarding from '../../src/tools/packs/vendor-onboarding-pack.ts'
import rental from '../../src/tools/packs/rental-verdict.ts'
import { clockAt } from '../support/clock-at.ts'
import { fixedSources } from '../support/sources.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void
let answer: Answer = () => undefined
const seen: { url: string; body: string }[] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    seen.push({ url: request.url ?? '', body: Buffer.concat(chunks).toString() })
    answer(request, response)
  })
})
let base = ''
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const clock = clockAt(() => NOW_MS)
const IBAN = 'GB82WEST12345698765432'

const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Recorded from watchman 0.52.0 with its own test lists. */
const LIST_INFO = {
  lists: { us_ofac: 7379 },
  listHashes: { us_ofac: '1685b819d021493956d744d888452d7b33b842a0449c05536c3d0485ebd14bd3' },
  startedAt: '2026-11-20T12:48:51.522951371Z',
  endedAt: '2026-11-20T12:49:06.664819113Z',
  version: '',
}
const BOUT = {
  name: 'Viktor Anatolijevitch BOUT',
  entityType: 'person',
  sourceList: 'us_ofac',
  sourceID: '9040',
  person: {
    name: 'Viktor Anatolijevitch BOUT',
    altNames: null,
    gender: 'male',
    birthDate: '1967-01-13T00:00:00Z',
    deathDate: null,
    titles: null,
  },
  sanctionsInfo: { programs: ['LIBERIA', 'DRCONGO'], secondary: false, description: '' },
  match: 0.741,
}
const searched = (type: string, entities: unknown) => ({ query: { name: 'x', entityType: type, sourceList: 'api-request' }, entities })

function watchman(entities: (type: string) => unknown, info: unknown = LIST_INFO): Answer {
  return (request, response) => {
    const url = new URL(request.url ?? '', 'http://engine')
    if (url.pathname === '/v2/listinfo') return json(response, info)
    const type = url.searchParams.get('type') ?? ''
    return url.pathname === '/v2/search' ? json(response, searched(type, entities(type))) : json(response, {}, 404)
  }
}

const CATALOG = {
  datasets: [
    { name: 'sanctions', title: 'Consolidated Sanctions', index_version: '20261120140303-abc', entity_count: 62_000, load: true },
    { name: 'us_ofac_sdn', title: 'OFAC SDN', index_version: null, load: false },
  ],
  current: ['sanctions'],
  outdated: [],
  index_stale: false,
}
const PUTIN = {
  id: 'Q7747',
  caption: 'Vladimir Putin',
  schema: 'Person',
  properties: { name: ['Vladimir Putin'], birthDate: ['1952-10-07'], programId: ['US-RUSHAR'] },
  datasets: ['us_ofac_sdn', 'eu_fsf'],
  score: 0.97,
  explanations: {},
  match: true,
}

function yente(results: unknown, catalog: unknown = CATALOG): Answer {
  return (request, response) => {
    if (request.url === '/catalog') return json(response, catalog)
    const matches = { status: 200, results, total: { value: 1, relation: 'eq' }, query: { schema: 'LegalEntity', properties: {} } }
    return json(response, { responses: { party: matches }, limit: 10 })
  }
}

/** Runs a tool with the engine behind the server. */
async function run(tool: Tool, input: Record<string, unknown>, engine: ScreeningEngine) {
  const names = createNameSource(createNameScreening(engine, base), clock)
  const result = await tool.execute(input, { ...fixedSources([tool]), clock, names })
  return result as Record<string, unknown> & { names: NamesAnswer }
}

test('a possible match of watchman is REVIEW in every pack, with its list, programmes, birth dates and page', async () => {
  answer = watchman((type) => (type === 'person' ? [BOUT] : null))
  const guarded = await run(guard, { recipient_iban: IBAN, payee_name: 'Viktor Bout', birth_date: '1950' }, 'watchman')
  assert.deepEqual([guarded['decision'], guarded['clear_to_disburse'], guarded['risk_score']], ['REVIEW', false, 0])
  assert.deepEqual(guarded.names, {
    status: 'possible_match',
    reason: 'The name is like "Viktor Anatolijevitch BOUT" (us_ofac, score 74 of 100): a person must compare them.',
    engine: 'watchman',
    engine_version: null,
    threshold: 0.7,
    lists: [{ name: 'us_ofac', date: '2026-11-20', entries: 7379, age_days: 1, stale: false }],
    matches: [
      {
        name: 'Viktor Anatolijevitch BOUT',
        score: 0.741,
        list: 'us_ofac',
        id: '9040',
        programmes: ['LIBERIA', 'DRCONGO'],
        birth_dates: ['1967-01-13'],
        // The supplier's own word never clears a match.
        birth_date: 'differs',
        url: 'https://sanctionssearch.ofac.treas.gov/Details.aspx?id=9040',
      },
    ],
  })
  assert.equal((await run(onboarding, { iban: IBAN, vendor_name: 'Viktor Bout' }, 'watchman'))['verdict'], 'review')
  assert.equal((await run(rental, { deposit_iban: IBAN, landlord_name: 'Viktor Bout' }, 'watchman'))['verdict'], 'CAUTION')
})

test('only the name is sent, and watchman is asked about persons, businesses and organizations', async () => {
  answer = watchman(() => null)
  seen.length = 0
  await run(guard, { recipient_iban: IBAN, payee_name: 'Acme & Söhne', birth_date: '1950', declared_country: 'GB' }, 'watchman')
  const searches = seen.filter(({ url }) => url.startsWith('/v2/search')).map(({ url }) => new URL(url, base).searchParams)
  assert.deepEqual(
    searches.map((query) => query.get('type') ?? '').toSorted((one, other) => one.localeCompare(other)),
    ['business', 'organization', 'person'],
  )
  for (const query of searches) assert.deepEqual([query.get('name'), query.has('birthDate')], ['Acme & Söhne', false])
})

test('no match on recent lists is CLEAR, on lists of an old or unknown date REVIEW', async () => {
  answer = watchman(() => null)
  const clean = await run(guard, { recipient_iban: IBAN, payee_name: 'Acme' }, 'watchman')
  assert.deepEqual([clean['decision'], clean.names.status], ['CLEAR', 'no_match'])
  for (const endedAt of ['2026-10-20T00:00:00Z', '0001-01-01T00:00:00Z']) {
    answer = watchman(() => null, { ...LIST_INFO, endedAt })
    const old = await run(guard, { recipient_iban: IBAN, payee_name: 'Acme' }, 'watchman')
    assert.deepEqual([old['decision'], old.names.status, old.names.lists[0]?.stale], ['REVIEW', 'no_match', true], endedAt)
    assert.match(String(old['summary']), /older than 30 days/)
  }
})

test('yente: matches, datasets with the day of their index, and results below the threshold', async () => {
  answer = yente([PUTIN, { ...PUTIN, id: 'NK-2', score: 0.55, match: false }])
  seen.length = 0
  const { names, decision } = (await run(
    guard,
    { recipient_iban: IBAN, payee_name: 'Владимир Путин', birth_date: '1952-10-07' },
    'yente',
  )) as unknown as {
    names: NamesAnswer
    decision: string
  }
  assert.deepEqual([decision, names.status, names.matches.length], ['REVIEW', 'possible_match', 1])
  assert.deepEqual(names.matches[0], {
    name: 'Vladimir Putin',
    score: 0.97,
    list: 'us_ofac_sdn, eu_fsf',
    id: 'Q7747',
    programmes: ['US-RUSHAR'],
    birth_dates: ['1952-10-07'],
    birth_date: 'agrees',
    url: 'https://www.opensanctions.org/entities/Q7747/',
  })
  assert.deepEqual(names.lists, [{ name: 'sanctions', date: '2026-11-20', entries: 62_000, age_days: 1, stale: false }])
  const sent = seen.find(({ url }) => url.startsWith('/match/sanctions?'))
  assert.deepEqual(JSON.parse(sent?.body ?? ''), {
    queries: { party: { schema: 'LegalEntity', properties: { name: ['Владимир Путин'] } } },
  })
})

const LIES: Record<ScreeningEngine, Answer[]> = {
  watchman: [
    (_, response) => json(response, '<html>login</html>'),
    (_, response) => json(response, '{"entities":'),
    (_, response) => json(response, {}),
    (_, response) => json(response, { error: 'x' }, 400),
    (_, response) => json(response, {}, 500),
    (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    (_, response) => void response.writeHead(200).end(new Uint8Array(5_000_000).fill(32)),
    (_, response) => void response.destroy(),
    watchman(() => ({})),
    watchman(() => [{ ...BOUT, match: '0.9' }]),
    watchman(() => [{ ...BOUT, match: 7 }]),
    watchman(() => [{ match: 0.9 }]),
    watchman(() => null, { lists: {}, endedAt: LIST_INFO.endedAt }),
    watchman(() => null, { lists: null, endedAt: LIST_INFO.endedAt }),
    // An answer about another kind of entity than was asked about.
    (request, response) => json(response, request.url === '/v2/listinfo' ? LIST_INFO : searched('vessel', null)),
  ],
  yente: [
    yente(null),
    yente([{ ...PUTIN, match: 'yes' }]),
    yente([{ ...PUTIN, score: null }]),
    yente([], { datasets: [] }),
    yente([], { datasets: [{ name: 'sanctions', index_version: null }] }),
    (_, response) => json(response, { detail: 'No such dataset' }, 404),
    (request, response) => json(response, request.url === '/catalog' ? CATALOG : { responses: {}, limit: 10 }),
  ],
}

test('an engine that lies, fails or half answers stops the call, uncharged, and never clears a name', async () => {
  for (const engine of ['watchman', 'yente'] as const) {
    for (const [index, lie] of LIES[engine].entries()) {
      answer = lie
      await assert.rejects(run(guard, { recipient_iban: IBAN, payee_name: 'Acme' }, engine), SourceDown, `${engine} ${index}`)
    }
  }
  // Without a name nothing is asked.
  assert.equal((await run(guard, { recipient_iban: IBAN }, 'watchman'))['decision'], 'CLEAR')
})

test('an engine that does not answer in time is given up, and is not asked after five failures', async () => {
  answer = () => undefined
  const screening = createNameScreening('watchman', base)
  assert.deepEqual(await screening.search('Acme', AbortSignal.timeout(50)), { kind: 'not_reached', fault: 'timeout' })
  answer = (_, response) => json(response, {}, 503)
  const names = createNameSource(screening, clock)
  for (let times = 0; times < 5; times++)
    await assert.rejects(async () => names.screen({ name: 'Acme', birth_date: null }, NOW_MS), /does not answer/)
  seen.length = 0
  await assert.rejects(async () => names.screen({ name: 'Acme', birth_date: null }, NOW_MS), /failed several times.*Nothing was charged/)
  assert.equal(seen.length, 0)
})

test('texts of an engine are shortened and lose characters that change how they are shown', async () => {
  answer = watchman((type) => (type === 'person' ? [{ ...BOUT, name: `Bout\u202e\u0007${'x'.repeat(500)}` }] : null))
  const { names } = await run(guard, { recipient_iban: IBAN, payee_name: 'Viktor Bout' }, 'watchman')
  assert.match(names.matches[0]?.name ?? '', /^Boutx{290,}…$/)
})
