import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { limits } from '../../src/service/limits.ts'
import { runs, SEED } from '../support/counts.ts'
import { startService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { hostileRequest, largeRequests, type HostileRequest } from './hostile-requests.ts'
import { comparable, judge, judgeResult, moves } from './judge.ts'
import { createSender } from './transport.ts'

/** Each request goes over both transports, so there are twice as many bodies. */
const REQUESTS = runs(1_000, 50_000)
const CONNECTIONS = 16
const THOROUGH_EVERY = 20

let folder: string
let service: Service
let sender: ReturnType<typeof createSender>

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-fuzz-'))
  service = await startService({
    ASSAY_DATA_DIR: folder,
    ASSAY_FREE_DAILY: '1000000000',
    ASSAY_FREE_DAILY_OVERRIDES: 'token-contract-risk=999999',
    ASSAY_SOURCE_READS_DAILY: '1000000000',
    ASSAY_SOURCE_READS_DAILY_NETWORK: '1000000000',
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    ASSAY_LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--import=${new URL('../support/sweep.ts', import.meta.url).href}`,
  })
  sender = createSender(service.url, CONNECTIONS)
})
after(async () => {
  sender.close()
  service.process.kill('SIGKILL')
  await service.ended
  await rm(folder, { recursive: true, force: true })
})

/** A query string takes a call off the path that skips `Request` and `Response`. */
async function overBoth(request: HostileRequest, thorough: boolean): Promise<void> {
  const hot = await sender.send(request)
  judge(hot, request, thorough)
  const other = await sender.send({ ...request, path: `${request.path}?over=hono` })
  judge(other, request, false)
  if (request.method === 'POST' && !moves(request.path)) assert.deepEqual(comparable(other), comparable(hot))
}

async function all(count: number, draw: (index: number) => HostileRequest, { from = 0, workers = CONNECTIONS } = {}): Promise<void> {
  let next = from
  const worker = async (number: number) => {
    // A client of its own, or the calls of all together would wait for heavy tools beyond what one client may.
    const client = { 'x-forwarded-for': `10.0.${number}.1` }
    for (let index = next++; index < count; index = next++) {
      const drawn = draw(index)
      const request = { ...drawn, headers: { ...client, ...drawn.headers } }
      await overBoth(request, index % THOROUGH_EVERY === 0).catch((error: unknown) => {
        const shown = `${request.kind} ${request.method} ${request.path.slice(0, 200)} ${JSON.stringify(request.headers).slice(0, 300)}`
        throw new Error(`request ${index}: ${shown} ${JSON.stringify(request.body.subarray(0, 300).toString('latin1'))}`, { cause: error })
      })
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, number) => worker(number)))
}

/** What the process keeps when all garbage is collected: resident memory, and its heap. */
async function memory(): Promise<{ resident_bytes: number; heap_bytes: number }> {
  const swept = () => service.notes().split('swept\n').length
  const earlier = swept()
  service.process.kill('SIGUSR2')
  await until('the sweep', () => swept() > earlier)
  const text = await (await fetch(`${service.operator_url}/metrics`)).text()
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
  return { resident_bytes: gauge('process_resident_memory_bytes'), heap_bytes: gauge('nodejs_heap_size_used_bytes') }
}

// attack: bodies larger than the endpoint reads, or without end
// in: requests
// asset: the process
// attacker: client
// defence: bounds by tool; beyond 64 KiB only with free calls left or a payment
test('bodies around the bounds are answered, whatever they are filled with', async () => {
  const requests = largeRequests()
  // More of the largest bodies at a time would go beyond the memory for bodies of one client, which is refused as it should be.
  const workers = Math.floor(limits.client_body_bytes / (2 * limits.document_body_bytes))
  await all(requests.length, (index) => requests[index] ?? hostileRequest(SEED, index), { workers })
})

test('hostile bodies draw a signed answer or a documented problem, the same over both transports, and no memory', async () => {
  const half = Math.floor(REQUESTS / 2)
  await all(half, (index) => hostileRequest(SEED, index))
  const warm = await memory()
  await all(REQUESTS, (index) => hostileRequest(SEED, index), { from: half })
  const { heap_bytes, resident_bytes } = await memory()
  const heap_growth = heap_bytes / warm.heap_bytes
  assert.ok(heap_growth < 1.3, `the heap grew by a factor of ${heap_growth}`)
  // The threads of heavy tools have heaps of their own, which fill up to their bound before they are swept.
  const threads_bytes = limits.heavy_workers * limits.heavy_memory_mb * 1_048_576
  const most_bytes = 2 * warm.resident_bytes + threads_bytes
  assert.ok(resident_bytes < most_bytes, `resident memory grew from ${warm.resident_bytes} to ${resident_bytes} bytes`)
})

// attack: broken input that ends in a 500
// in: requests
// asset: availability
// attacker: client
// defence: fuzzed input gets an answer or a documented problem, and logs no fault
test('afterwards the service answers, has nothing in flight, saw no fault of its own and stops cleanly', async () => {
  const input = { iban: 'GB82 WEST 1234 5698 7654 32' }
  for (const query of ['', '?over=hono']) {
    const body = Buffer.from(JSON.stringify({ input }))
    const { status, text } = await sender.send({
      method: 'POST',
      path: `/v1/tools/iban-check/call${query}`,
      headers: {},
      body,
      chunked: false,
    })
    assert.equal(status, 200)
    judgeResult(text, input)
  }
  const state = (await (await fetch(`${service.url}/status`)).json()) as { in_flight: number; calls: { by_tool: { outcome: string }[] } }
  assert.equal(state.in_flight, 0)
  assert.ok(state.calls.by_tool.every(({ outcome }) => outcome !== 'INTERNAL_ERROR'))
  service.process.kill('SIGTERM')
  assert.deepEqual(await service.ended, { code: 0, signal: null })
  // Warnings and errors only; an unhandled rejection would have ended the process.
  assert.equal(service.log(), '')
})
