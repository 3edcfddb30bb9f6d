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

/** A crowd that asks without end. */
async function flood(same_client: boolean, ask: CrowdAsk) {
  const worker = new Worker(new URL('../support/flood-worker.ts', import.meta.url), {
    workerData: { url: service.url, callers: 500, same_client, ask },
  })
  const told = async (word: 'count' | 'end'): Promise<Counts> => {
    worker.postMessage(word, [])
    const [counts] = (await once(worker, 'message')) as [Counts]
    return counts
  }
  // A refusal is kept back for a second.
  const there = ({ '200': answered = 0, '429': refused = 0 }: Counts) => answered + refused >= 500 && (refused > 0 || !same_client)
  await until('the crowd is there', async () => there(await told('count')))
  const end = async () => {
    const counts = await told('end')
    await worker.terminate()
    return counts
  }
  return { end }
}

const PAYERS = 2
const CALLS = 20
const ROUNDS = 2
/** A paid call waits in several turns of the loop, each with four free calls in it: 3 to 4 times as long. Where it waits its turn badly it is 11 to 15. */
const SLOWER = 8
let round = 0

/** Some who pay, each a call after the other; how long half of the calls took at most. All must be answered. */
async function payers(code: string): Promise<number> {
  const name = `round-${++round}`
  const times: number[] = []
  const payer = async (one: number) => {
    for (let call = 0; call < CALLS; call++) {
      const began_ms = performance.now()
      const { status, text } = await callWith(service.url, code, `${name}-${one}-${call}`)
      times.push(performance.now() - began_ms)
      assert.equal(status, 200, text)
    }
  }
  await Promise.all(Array.from({ length: PAYERS }, (_, one) => payer(one)))
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}

const CALL = { path: '/v1/tools/iban-check/call', body: '{"input":{"iban":"GB82WEST12345698765432"}}' }
const CHECK = { path: '/v1/protocols/check', body: JSON.stringify({ protocol: 'x402', document: X402_CLEAN['challenge_v2']?.document }) }
const CROWDS = [
  { crowd: 'callers of as many clients who do not pay', same_client: false, ask: CALL },
  { crowd: 'callers of one client who do not pay', same_client: true, ask: CALL },
  { crowd: 'readers of a page', same_client: false, ask: { path: '/' } },
  { crowd: 'readers of the price list', same_client: false, ask: { path: '/v1/tools' } },
  { crowd: 'readers of the metrics', same_client: false, ask: { path: '/metrics' } },
  { crowd: 'senders of documents to check', same_client: false, ask: CHECK },
  { crowd: 'agents that list tools', same_client: false, ask: { path: '/mcp', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' } },
]

for (const { crowd, same_client, ask } of CROWDS) {
  test(`five hundred ${crowd} keep nobody out who does`, async () => {
    const { code } = await boughtCode(service.url, 9_900)
    await payers(code)
    const [alone, beside]: [number[], number[]] = [[], []]
    // In turn, so that what else the machine does meets both.
    for (let turn = 0; turn < ROUNDS; turn++) {
      alone.push(await payers(code))
      const asking = await flood(same_client, ask)
      beside.push(await payers(code))
      const counts = await asking.end()
      assert.ok((counts['200'] ?? 0) > 0 && counts['broken'] === undefined, JSON.stringify(counts))
      assert.equal((counts['429'] ?? 0) > 0, same_client, JSON.stringify(counts))
    }
    const [alone_ms, beside_ms] = [Math.min(...alone), Math.min(...beside)]
    assert.ok(beside_ms <= SLOWER * alone_ms, `a paid call took ${beside_ms} ms beside the crowd and ${alone_ms} ms without`)
  })
}

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
