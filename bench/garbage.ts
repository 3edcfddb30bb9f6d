/**
 * Bytes that a call creates and that outlive a young collection of V8: they are copied, and kept until a full collection. The less a call
 * holds after its answer, the less of its time is spent on that.
 */
import { join } from 'node:path'
import { callBody, PASTED_IBANS } from './call-requests.ts'
import { load } from './generators.ts'
import { CALL } from './payments.ts'
import { startTraced, withFolder } from './server-process.ts'

const CONNECTIONS = 64
const CLIENTS = 10_000
const WARM_UP_S = 4
/** Fields of a line that V8 writes about a young collection. */
const PROMOTED = /\bgc=s\b.*\bpromoted=(\d+)/

/** Bytes promoted per free call, over this many seconds of load behind a warm-up. */
export function promotedBytes(seconds: number): Promise<number> {
  return withFolder(async (folder) => {
    let promoted = 0
    const server = await startTraced(join(folder, 'data'), '--trace-gc-nvp', (line) => {
      promoted += Number(PROMOTED.exec(line)?.[1] ?? 0)
    })
    try {
      const target = { ...CALL, bodies: PASTED_IBANS.map(callBody), each: null, status: 200, rest_ms: 0, warm_up_s: 0 }
      const spec = { ...target, port: server.port, server_pid: server.pid, clients: CLIENTS, connections: CONNECTIONS }
      await load('own', { ...spec, measured_s: WARM_UP_S })
      promoted = 0
      const { answers, wrong, first_wrong } = await load('own', { ...spec, measured_s: seconds })
      if (wrong > 0) throw new Error(`${wrong} calls were answered wrongly; the first: ${first_wrong ?? 'not kept'}`)
      if (promoted === 0) throw new Error('V8 wrote nothing about young collections.')
      return promoted / answers
    } finally {
      await server.stop()
    }
  })
}
