import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { clientAddress } from './load-spec.ts'
import { CALL } from './payments.ts'
import { residentMb } from '../test/support/process-usage.ts'
import { atMost, figures, type SuiteReport } from './report.ts'
import { startAssay, startEcho, withFolder, type ServerProcess } from './server-process.ts'
import { limits } from '../src/service/limits.ts'

const CONNECTIONS = 5_000
/** As many as the service lets in, less a few for others. */
const LET_IN = Math.min(CONNECTIONS, limits.connections - 16)
const OPENED_AT_ONCE = 100
const WARM_UP_ROUNDS = 40
/** Long enough for the memory of the answers to be given back, shorter than any server here keeps a connection. */
const SETTLE_MS = 3_000
const BOUND_KIB = 25

interface Idle {
  before_mb: number
  after_mb: number
  kib_each: number
}

/** Resident memory that a keep-alive connection costs which has had one answer and now waits. */
export function idle(): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const [echo, assay] = [await startEcho(), await startAssay(folder)]
    try {
      const [bare, ours] = [await measured(echo), await measured(assay)]
      return report(bare, ours)
    } finally {
      await Promise.all([echo.stop(), assay.stop()])
    }
  })
}

async function measured(server: ServerProcess): Promise<Idle> {
  // Code and heap get used to calls, with few connections at a time: memory that many had would only be used again, and count for nothing.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await hold(server, OPENED_AT_ONCE, () => Promise.resolve())
  await pause(SETTLE_MS)
  const before_mb = residentMb(server.pid) ?? Number.NaN
  const after_mb = await hold(server, LET_IN, async () => {
    await pause(SETTLE_MS)
    return residentMb(server.pid) ?? Number.NaN
  })
  return { before_mb, after_mb, kib_each: ((after_mb - before_mb) * 1024) / LET_IN }
}

/** Does the work while so many connections, answered once each, are open. */
async function hold<Result>(server: ServerProcess, count: number, work: () => Promise<Result>): Promise<Result> {
  const sockets: Socket[] = []
  try {
    while (sockets.length < count) {
      const open = sockets.length
      const more = Math.min(OPENED_AT_ONCE, count - open)
      sockets.push(...(await Promise.all(Array.from({ length: more }, (_, index) => answered(server.port, open + index)))))
    }
    return await work()
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

function answered(port: number, client: number): Promise<Socket> {
  const [body = ''] = CALL.bodies
  const from = `host: 127.0.0.1:${port}\r\nx-forwarded-for: ${clientAddress(client)}\r\n`
  const head = `POST ${CALL.path} HTTP/1.1\r\n${from}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(head + body))
    let got = ''
    socket.on('data', (chunk: Buffer) => {
      got += chunk.toString('latin1')
      const end = got.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(got)?.[1] ?? Number.NaN)
      if (end === -1 || got.length < end + 4 + length) return
      if (got.startsWith('HTTP/1.1 200 ')) resolve(socket)
      else reject(new Error(`a connection was answered ${got.slice(0, 300)}`))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('a connection was closed before its answer')))
  })
}

function report(bare: Idle, ours: Idle): SuiteReport {
  const row = (name: string, { before_mb, after_mb, kib_each }: Idle) => [name, ...[before_mb, after_mb, kib_each].map(figures)]
  return {
    title: 'Idle connections',
    method: [
      `${LET_IN} keep-alive connections are opened, each gets one answer and waits; resident memory with them against resident memory before, behind a warm-up of ${WARM_UP_ROUNDS * OPENED_AT_ONCE} calls on ${OPENED_AT_ONCE} connections at a time.`,
    ],
    header: ['server', 'RSS MB before', 'RSS MB with them', 'KiB each'],
    rows: [row('bare node:http echo', bare), row('assay', ours)],
    gates: [atMost('memory of an idle connection', ours.kib_each, BOUND_KIB, ' KiB')],
    notes: LET_IN < CONNECTIONS ? [`The service lets ${limits.connections} connections in; ${CONNECTIONS} were asked for.`] : [],
  }
}
