/**
 * The load generator: keep-alive connections over node:net, each with one request under way, sent again as soon as the answer is in.
 * Requests are built beforehand; of an answer only the status line and the length are read, so that the generator stays well ahead of
 * what it measures. Takes a LoadSpec as its one argument, prints a LoadResult.
 */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { clientAddress, type LoadResult, type LoadSpec, type Sample } from './load-spec.ts'
import { cpuSeconds } from '../test/support/process-usage.ts'

const HEAD_END = Buffer.from('\r\n\r\n')
/** No JSON text ends so. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
/** Latencies are counted in steps of 10 µs up to 20 s. */
const STEPS_PER_MS = 100
const STEPS = 2_000_000
const FAULTS_MAX = 1_000
const FAULT_CHARS = 2_500

const spec = JSON.parse(process.argv[2] ?? '') as LoadSpec
const right = Buffer.from(`HTTP/1.1 ${spec.status} `)
const carried = spec.each === null ? null : readFileSync(spec.each.file, 'latin1').split('\n')
const requests = Array.from({ length: carried?.length ?? spec.clients }, (_, number) => requestBytes(number))
const received = Buffer.allocUnsafeSlow(1 << 16)
const latencies = new Uint32Array(STEPS)
const samples: Sample[] = []

let phase: 'warm-up' | 'measured' | 'over' = 'warm-up'
let sampling = false
let next = 0
let answers = 0
let answers_ever = 0
let wrong = 0
let first_wrong: string | null = null

for (let lane = 0; lane < spec.connections; lane++) converse(lane)
setTimeout(measure, spec.warm_up_s * 1000)

function requestBytes(number: number): Buffer {
  const body = spec.bodies[number % spec.bodies.length] ?? ''
  const headers = {
    host: `127.0.0.1:${spec.port}`,
    ...spec.headers,
    ...(spec.each === null ? {} : { [spec.each.header]: carried?.[number] ?? '' }),
    'x-forwarded-for': clientAddress(number % spec.clients),
    'content-length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${spec.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

function measure(): void {
  const begin_ms = performance.now()
  const server_s = cpuSeconds(spec.server_pid)
  const own = process.cpuUsage()
  phase = 'measured'
  setTimeout(() => (sampling = true), (spec.measured_s * 1000) / 2)
  setTimeout(() => {
    phase = 'over'
    const seconds = (performance.now() - begin_ms) / 1000
    const server_end_s = cpuSeconds(spec.server_pid)
    const { user, system } = process.cpuUsage(own)
    const server_cpu_s = server_s === null || server_end_s === null ? null : server_end_s - server_s
    const generator_cpu_s = (user + system) / 1e6
    // What is under way comes in, so that the answers can be counted against what the server wrote down.
    process.once('beforeExit', () => print({ answers, seconds, server_cpu_s, generator_cpu_s }))
  }, spec.measured_s * 1000)
}

function print(measured: Pick<LoadResult, 'answers' | 'seconds' | 'server_cpu_s' | 'generator_cpu_s'>): void {
  const result: LoadResult = { ...measured, wrong, first_wrong, ...quantiles(), answers_ever, samples }
  process.stdout.write(JSON.stringify(result))
}

function quantiles() {
  const at = (share: number) => {
    let left = Math.ceil(answers * share)
    const step = latencies.findIndex((count) => (left -= count) <= 0)
    return step / STEPS_PER_MS
  }
  return { p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) }
}

/** One connection, from its first request to the end of the run. `first` is the number of the first request that only it may send. */
function converse(first: number): void {
  let own = first
  /** Bytes of the answer that are still to come: null before its head is read, infinite while it comes in chunks. */
  let missing: number | null = null
  let head: Buffer | null = null
  let number = 0
  let good = false
  let sent_ms = 0
  let sampled = false
  let kept: Buffer[] | null = null

  const send = () => {
    number = carried === null ? next : own
    if (carried === null) next = (next + 1) % requests.length
    else own = following(own)
    missing = null
    kept = sampling && !sampled ? [] : null
    sent_ms = performance.now()
    socket.write(requests[number] ?? '')
  }
  const take = (bytes: Buffer) => {
    if (missing !== null) return takeBody(bytes)
    const read = head === null ? bytes : Buffer.concat([head, bytes])
    const end = read.indexOf(HEAD_END)
    if (end === -1) {
      head = Buffer.from(read)
      return
    }
    head = null
    good = read.compare(right, 0, right.length, 0, right.length) === 0
    if (!good) wrong++
    if (!good && first_wrong === null) kept = [Buffer.from(read.subarray(0, end))]
    missing = bodyLength(read.toString('latin1', 0, end + 2))
    takeBody(read.subarray(end + HEAD_END.length))
  }
  const takeBody = (bytes: Buffer) => {
    kept?.push(Buffer.from(bytes))
    if (missing === Infinity) {
      const last = bytes.length >= LAST_CHUNK.length && bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      if (last) finish()
      return
    }
    missing = (missing ?? 0) - bytes.length
    if (missing === 0) finish()
    else if (missing < 0) throw new Error('an answer is longer than its Content-Length')
  }
  const finish = () => {
    if (good) answers_ever++
    if (good && phase === 'measured') {
      answers++
      const step = Math.min(STEPS - 1, Math.round((performance.now() - sent_ms) * STEPS_PER_MS))
      latencies[step] = (latencies[step] ?? 0) + 1
    }
    if (!good)
      first_wrong ??= Buffer.concat(kept ?? [])
        .toString()
        .slice(0, FAULT_CHARS)
    else if (kept !== null) {
      sampled = true
      const answer = Buffer.concat(kept).toString()
      samples.push({ body: number % spec.bodies.length, carried: carried?.[number] ?? null, answer })
    }
    if (phase === 'over') leave()
    else if (good || spec.rest_ms === 0) send()
    else setTimeout(() => (phase === 'over' ? leave() : send()), spec.rest_ms)
  }
  const leave = () => {
    socket.off('close', startAnew)
    socket.destroy()
  }
  const startAnew = () => {
    wrong++
    if (wrong > FAULTS_MAX) throw new Error('the server breaks off one connection after the other')
    if (phase !== 'over') converse(own)
  }
  const socket: Socket = connect({
    port: spec.port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: received,
      callback: (count) => {
        take(received.subarray(0, count))
        return true
      },
    },
  })
  socket.on('connect', send)
  socket.on('error', () => {})
  socket.on('close', startAnew)
}

function following(number: number): number {
  if (number + spec.connections < requests.length) return number + spec.connections
  throw new Error(`a connection has sent all its share of ${requests.length} requests before its time was over`)
}

function bodyLength(head: string): number {
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1]
  if (length !== undefined) return Number(length)
  if (/\r\ntransfer-encoding: *chunked\r\n/i.test(head)) return Infinity
  throw new Error('an answer says neither how long it is nor that it comes in chunks')
}
