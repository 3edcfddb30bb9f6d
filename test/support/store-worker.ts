/**
 * One process of several on one store. Says `ready` when its code is loaded, waits for a line, then opens the store, so that the opening
 * happens at the same time as in the other processes. Prints one JSON object, or, when told to acknowledge, one line a granted unit until
 * it is killed.
 */
import { openSealed } from './store-drivers.ts'
import { writeSync } from 'node:fs'
import { once } from 'node:events'

export interface WorkerOrder {
  target: string
  clients: number
  calls: number
  limit: number
  in_flight: number
  acknowledge: boolean
  /** Dies by its own SIGKILL at the very moment of having acknowledged so many; 0 for never. */
  die_after: number
}

export interface WorkerReport {
  /** Units granted, by client. */
  granted: number[]
  /** Codes of the errors met. */
  faults: string[]
}

const STDOUT = 1
const order: WorkerOrder = JSON.parse(process.argv[2] ?? '')
await Promise.all([import('../../src/adapters/store/sqlite.ts'), import('../../src/adapters/store/postgres.ts')])
writeSync(STDOUT, 'ready\n')
await once(process.stdin, 'data')
process.stdin.unref()

const store = await openSealed(order.target)
const report: WorkerReport = { granted: Array.from({ length: order.clients }, () => 0), faults: [] }
let next = 0
let acknowledged = 0

/** The pipe does not block: while its reader is slow, a write is refused with EAGAIN and has to be repeated. */
function writeLine(text: string): void {
  for (;;) {
    try {
      writeSync(STDOUT, text)
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    }
  }
}

function acknowledge(client: number): void {
  writeLine(`${client}\n`)
  acknowledged += 1
  if (acknowledged === order.die_after) process.kill(process.pid, 'SIGKILL')
}

async function caller(): Promise<void> {
  while (next < order.calls) {
    const client = next % order.clients
    next += 1
    try {
      const { granted } = await store.take({ day: 20_000, bucket: 'general', client: `client-${client}`, limit: order.limit })
      if (!granted) continue
      report.granted[client] = (report.granted[client] ?? 0) + 1
      if (order.acknowledge) acknowledge(client)
    } catch (error) {
      report.faults.push(error instanceof Error && 'code' in error ? String(error.code) : String(error))
    }
  }
}

await Promise.all(Array.from({ length: order.in_flight }, caller))
await store.close()
if (!order.acknowledge) writeSync(STDOUT, `${JSON.stringify(report)}\n`)
