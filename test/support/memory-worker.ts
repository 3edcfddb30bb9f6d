import { readFileSync } from 'node:fs'
import { createHeavyPool } from '../../src/adapters/heavy-work/pool.ts'
import { limits, MEMORY_PLAN } from '../../src/service/limits.ts'
import { startTestApp } from './app.ts'

/**
 * A process of the service that fills every part of its memory plan at the same time, and prints its resident memory in MiB at rest and at
 * the peak. Run with the heap flags of the image.
 */
const MIB = 1_048_576
const status = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024

const app = await startTestApp()
for (const path of ['/', '/mcp', '/preflight', '/v1/tools']) await (await fetch(app.url + path)).text()
const idle_mb = status('VmRSS')

const bodies = Array.from({ length: MEMORY_PLAN.bodies_mb }, () => Buffer.alloc(MIB, 1))
// Boxed numbers stay on the heap of the main thread; nine tenths leave room for the service to go on.
const rows: string[][] = []
const filled = () => process.memoryUsage().heapUsed / MIB >= MEMORY_PLAN.heap_mb * 0.9
while (!filled()) rows.push(Array.from({ length: 10_000 }, (_, index) => `row ${rows.length} ${index}`))

const module = new URL('endless-worker.ts', import.meta.url)
const pool = createHeavyPool({
  module,
  workers: limits.heavy_workers,
  queue: 1,
  client_queue: 1,
  client_ended: 1,
  client_ended_ms: 1,
  deadline_ms: 120_000,
  memory_mb: limits.heavy_memory_mb,
})
const jobs = Array.from({ length: limits.heavy_workers }, (_, index) =>
  pool.run('family', 'tool', { does: 'eat' }, { client: `client-${index}`, paid: false }),
)
const ended = (await Promise.allSettled(jobs)).map((job) => (job.status === 'rejected' ? String(job.reason) : 'answered'))

const answer = await fetch(`${app.url}/health`)
const peak_mb = status('VmHWM')
process.stdout.write(JSON.stringify({ idle_mb, peak_mb, ended, health: answer.status, held: bodies.length + rows.length }))
await pool.stop()
await app.stop()
