import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { limits } from '../../src/service/limits.ts'
import { boughtCode, callWith, creditSettings } from '../support/credits.ts'
import { startService, type Service } from '../support/service.ts'
import type { CrowdAsk } from '../support/flood-worker.ts'
import { until } from '../support/until.ts'
import { X402_CLEAN } from '../protocols/x402-clean.ts'

/** The service under more than it can bear: who pays is served, everybody else is told so early and in order. */

let service: Service
let folder: string

before(async () => {
  const { settings, data_dir } = await creditSettings('none')
  folder = data_dir
  service = await startService({ ...settings, ASSAY_FREE_DAILY: '1000000000', ASSAY_PREFLIGHT_PER_MINUTE: '1000000' })
})
after(async () => {
  service.process.kill('SIGKILL')
  await service.ended
  await rm(folder, { recursive: true, force: true })
})

type Counts = Partial<Record<string, number>>

function total(counts: Counts): number {
  return Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0)
}

interface Crowd {
  ask: CrowdAsk
  same_client: boolean
  /** What all of them are answered, each at least once. */
  statuses: readonly string[]
}

/** A crowd that asks without end; it is there when each of these statuses has come, and as many answers as there are callers. */
async function flood({ ask, same_client, statuses }: Crowd) {
  const worker = new Worker(new URL('../support/flood-worker.ts', import.meta.url), {
    workerData: { url: service.url, callers: 500, same_client, ask },
  })
  const told = async (word: 'count' | 'end'): Promise<Counts> => {
    worker.postMessage(word, [])
    const [counts] = (await once(worker, 'message')) as [Counts]
    return counts
  }
  const there = (counts: Counts) => total(counts) >= 500 && statuses.every((status) => counts[status] !== undefined)
  // A worker that is left would keep the tests from ending.
  const counted = async () => JSON.stringify(await told('count'))
  await until('the crowd is there', async () => there(await told('count'))).catch(async (error: unknown) => {
    const seen = await counted()
    await worker.terminate()
    throw new Error(`of ${String(statuses)} came ${seen}`, { cause: error })
  })
  const end = async () => {
    const counts = await told('end')
    await worker.terminate()
    return counts
  }
  return { end, count: () => told('count') }
}

const PAYERS = 2
const CALLS = 20
const ROUNDS = 3
/** Of 500 who ask without end, how many may be answered before one who pays. Who waits in their row sees all 500 go first. */
const AHEAD = 125
/** A test of a service that answers nobody who pays must end too. */
const MOST_MS = 120_000
let round = 0

/** Some who pay, each a call after the other. All must be answered. */
async function payers(code: string): Promise<void> {
  const name = `round-${++round}`
  const payer = async (one: number) => {
    for (let call = 0; call < CALLS; call++) {
      const { status, text } = await callWith(service.url, code, `${name}-${one}-${call}`)
      assert.equal(status, 200, text)
    }
  }
  await Promise.all(Array.from({ length: PAYERS }, (_, one) => payer(one)))
}

const CALL = { path: '/v1/tools/iban-check/call', body: '{"input":{"iban":"GB82WEST12345698765432"}}' }
const CHECK = { path: '/v1/protocols/check', body: JSON.stringify({ protocol: 'x402', document: X402_CLEAN['challenge_v2']?.document }) }
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
const ASK = { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'which tool checks an IBAN?' }] }
const MESSAGE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: ASK } })
const INVOICE = { path: '/api/invoice/create', body: '{"amount":"1"}' }
const CROWDS = [
  { crowd: 'callers of as many clients who do not pay', ask: CALL },
  { crowd: 'callers of one client who do not pay', ask: CALL, same_client: true, statuses: ['200', '429'] },
  { crowd: 'callers of a tool that is not there', ask: { ...CALL, path: '/v1/tools/iban-chekc/call' }, statuses: ['404'] },
  {
    crowd: 'callers whose false payments are no longer believed',
    ask: { ...CALL, header: 'X-Credit: none' },
    same_client: true,
    statuses: ['400', '429'],
  },
  { crowd: 'readers of a page', ask: { path: '/' } },
  { crowd: 'readers of the price list', ask: { path: '/v1/tools' } },
  { crowd: 'readers of the longest document', ask: { path: '/openapi.json' } },
  { crowd: 'readers of the metrics', ask: { path: '/metrics' } },
  { crowd: 'senders of documents to check', ask: CHECK },
  { crowd: 'makers of invoices without their members', ask: INVOICE, statuses: ['400'] },
  { crowd: 'agents that list tools', ask: { path: '/mcp', body: LIST } },
  { crowd: 'agents that list tools and claim to pay', ask: { path: '/mcp', body: LIST, header: 'X-Payment: none' } },
  { crowd: 'agents whose messages are broken', ask: { path: '/mcp', body: '{' }, statuses: ['400'] },
  { crowd: 'agents that ask for skills', ask: { path: '/a2a', body: MESSAGE } },
]

for (const { crowd, ask, same_client = false, statuses = ['200'] } of CROWDS) {
  // attack: floods of unpaid calls, page views and lists
  // in: requests
  // asset: response time of payers
  // attacker: client
  // defence: unpaid requests queue for the event loop, and payers go first
  test(`five hundred ${crowd} keep nobody out who does`, { timeout: MOST_MS }, async () => {
    const { code } = await boughtCode(service.url, 9_900)
    await payers(code)
    const asking = await flood({ ask, same_client, statuses })
    const ahead: number[] = []
    for (let turn = 0; turn < ROUNDS; turn++) {
      const begun = total(await asking.count())
      await payers(code)
      ahead.push((total(await asking.count()) - begun) / CALLS)
    }
    const counts = await asking.end()
    assert.deepEqual(Object.keys(counts).toSorted(), statuses, JSON.stringify(counts))
    assert.ok(Math.min(...ahead) <= AHEAD, `${ahead.join(', ')} of the crowd were answered in the time of a paid call`)
  })
}

test('who asks whether all is well, or pays an invoice, does not stand behind readers', async () => {
  const asks = [
    { path: '/health', status: 200 },
    { path: '/api/invoice/none/pay', status: 404 },
  ]
  const { code } = await boughtCode(service.url, 9_900)
  const asking = await flood({ ask: { path: '/v1/tools' }, same_client: false, statuses: ['200'] })
  const paying = { on: true }
  // While somebody pays, readers begin one a turn: a probe in their row would see five hundred of them begin first.
  const payer = (async () => {
    while (paying.on) await payers(code)
  })()
  const begun = async () => total(await asking.count())
  try {
    for (const { path, status } of asks) {
      const ahead: number[] = []
      for (let time = 0; time < 5; time++) {
        const begun_before = await begun()
        const answer = await fetch(`${service.url}${path}`)
        await answer.text()
        assert.equal(answer.status, status)
        ahead.push((await begun()) - begun_before)
      }
      const least = Math.min(...ahead)
      assert.ok(least < 250, `${path}: ${ahead.join(', ')} readers were answered before`)
    }
  } finally {
    paying.on = false
    await payer
    await asking.end()
  }
})

/** What comes back on a connection until the other side ends it. */
function conversation(pieces: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => pieces.forEach((piece) => socket.write(piece)))
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
}

test('a request of too many headers is refused, since not all of them are seen', async () => {
  const call = (count: number) => `GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'X-A: 1\r\n'.repeat(count - 2)}\r\n`
  assert.match(await conversation([call(limits.header_count)]), /^HTTP\/1\.1 200 /)
  for (const count of [limits.header_count + 1, limits.header_count + 500]) {
    assert.match(await conversation([call(count)]), /^HTTP\/1\.1 431 .*"code":"HEADERS_TOO_LARGE"/s, String(count))
  }
})
