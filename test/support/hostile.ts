import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { chooseSigning } from '../../src/adapters/signer/choose.ts'
import { PAYMENT_HEADER, signedPayments, termsIn, type PaymentTerms } from './bulk-payments.ts'
import { cpuSeconds, residentMb } from './process-usage.ts'

/**
 * Attacks on a running service, and what a client of another address sees of it meanwhile. Attackers are processes of their own and bind
 * addresses of 127.0.0.0/8, each of which the service takes for another client; nothing leaves the loopback interface.
 */

const WORKER = fileURLToPath(new URL('hostile-worker.ts', import.meta.url))

export interface HostileRequest {
  method?: 'GET' | 'POST'
  /** `{n}` is replaced by the number of the request. */
  path: string
  /** `{n}` is replaced by the number of the request in hexadecimal. */
  headers?: Record<string, string>
  body?: string
  /** Filler sent behind the body. */
  fill_bytes?: number
  /** Content-Length; by default what is sent. */
  declared_bytes?: number
}

/** What a request claims to pay with: nothing, text, a payment from which no account can be recovered, or one of an account without funds. */
export type Claim = 'none' | 'garbage' | 'nobody' | 'unfunded'

export interface AttackSpec {
  port: number
  addresses: string[]
  /** Connections of each address. */
  connections: number
  /** Sent in turn; without any a connection only stays open. */
  requests: HostileRequest[]
  claim: Claim
  /** Terms of a call, for a claim that is a payment. */
  terms?: PaymentTerms
  /** The requests are left incomplete; a connection that is answered is opened again. */
  held: boolean
  /** One more byte of the body so often. */
  drip_ms?: number
  /** Between an answer and the next request of the connection. */
  pause_ms: number
  /** Before a closed connection is opened again. */
  again_ms: number
  /** Opens connections one by one; by default a hundred in 10 ms. */
  open_every_ms?: number
  /** Bound on the filler of all requests together. */
  sent_bytes_max: number
  /** The attacker ends by itself after this time. */
  seconds_max: number
}

export interface AttackCounts {
  opened: number
  closed: number
  sent: number
  sent_bytes: number
  /** Answers by status. */
  answers: Record<string, number>
}

export interface Attack {
  counts(): Promise<AttackCounts>
  stop(): Promise<AttackCounts>
}

export type AttackOptions = Partial<AttackSpec> & Pick<AttackSpec, 'port' | 'addresses' | 'requests'>

/** Starts an attack; resolves when its connections are open, or were refused. */
export async function startAttack(options: AttackOptions): Promise<Attack> {
  const rest = { claim: 'none', held: false, pause_ms: 0, again_ms: 50, connections: 1, sent_bytes_max: 2 ** 31, seconds_max: 120 } as const
  const child = fork(WORKER, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  child.send({ ...rest, ...options } satisfies AttackSpec)
  const reply = async (message: 'counts' | 'stop') => {
    const told = once(child, 'message')
    child.send(message)
    return (await told)[0] as AttackCounts
  }
  await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error('the attacker ended before its connections were open')
    }),
  ])
  return {
    counts: () => reply('counts'),
    async stop() {
      const counts = await reply('stop')
      await ended
      return counts
    },
  }
}

/** `count` addresses, each in a /24 of its own. */
export function hostileAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `127.${10 + (index >> 8)}.${index & 255}.1`)
}

/** A service that is attacked. */
export interface Target {
  port: number
  pid: number
  /** Of a sandbox, whose demo payer pays for the victim. */
  data_dir: string
}

/** Free calls without end for every client, and one tool that has none. */
export const TARGET_SETTINGS = { ASSAY_FREE_DAILY: '1000000000', ASSAY_FREE_DAILY_OVERRIDES: 'lei-check=0' }

const VICTIM = '127.200.0.1'
export const FREE_CALL = { path: '/v1/tools/iban-check/call', body: '{"input":{"iban":"GB82WEST12345698765432"}}' }
export const PAID_CALL = { path: '/v1/tools/lei-check/call', body: '{"input":{"lei":"529900T8BM49AURSDO55"}}' }
const HEAVY_CALL = { path: '/v1/tools/instant-json-schema-verifier/call', body: '{"input":{"data":{"a":1},"schema":{"type":"object"}}}' }
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' }
const ANSWER_MS_MAX = 10_000

/** Calls a second of the client of another address. */
export interface VictimRates {
  free?: number
  paid?: number
  /** Of a tool that runs in the worker pool. */
  heavy?: number
  health?: number
}

export interface Measured {
  asked: number
  answered: number
  /** Right answers of all that were asked for. */
  share: number
  /** Of right answers, from the time at which the call was due. */
  p50_ms: number
  p99_ms: number
  max_ms: number
  /** Answers by status; 0 counts those that never came. */
  statuses: Record<string, number>
}

/** A client of another address than the attackers, who pays with what was signed beforehand. */
export interface Victim {
  /** In an open loop: requests are sent when they are due, each on a new connection, whether or not others were answered. */
  measure(rates: VictimRates, seconds: number): Promise<Record<keyof VictimRates, Measured>>
}

export async function createVictim(target: Target, payments: number): Promise<Victim> {
  const { port } = target
  const signed = payments === 0 ? [] : await victimPayments(target, payments)
  const requests: Record<keyof VictimRates, () => HostileRequest> = {
    free: () => ({ ...FREE_CALL, headers: JSON_HEADERS }),
    paid: () => ({ ...PAID_CALL, headers: { ...JSON_HEADERS, [PAYMENT_HEADER]: signed.pop() ?? '' } }),
    heavy: () => ({ ...HEAVY_CALL, headers: JSON_HEADERS }),
    health: () => ({ method: 'GET', path: '/health' }),
  }
  return {
    async measure({ free = 0, paid = 0, heavy = 0, health = 0 }, seconds) {
      const line = (kind: keyof VictimRates, per_s: number) => openLoop(per_s, seconds, () => answerOf(port, requests[kind]()))
      const lines = [line('free', free), line('paid', paid), line('heavy', heavy), line('health', health)] as const
      const [of_free, of_paid, of_heavy, of_health] = await Promise.all(lines)
      return { free: of_free, paid: of_paid, heavy: of_heavy, health: of_health }
    },
  }
}

export async function openLoop(per_s: number, seconds: number, ask: () => Promise<{ status: number }>): Promise<Measured> {
  const begin_ms = performance.now()
  const statuses: Record<string, number> = {}
  const latencies: number[] = []
  const asked = per_s * seconds
  await Promise.all(
    Array.from({ length: asked }, async (_, number) => {
      const due_ms = begin_ms + (number * 1_000) / per_s
      await delay(Math.max(0, due_ms - performance.now()))
      const { status } = await ask()
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === 200) latencies.push(performance.now() - due_ms)
    }),
  )
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.ceil(latencies.length * share) - 1)] ?? Number.NaN
  const answered = latencies.length
  return { asked, answered, share: answered / asked, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1), statuses }
}

export interface HostileAnswer {
  /** 0 when no answer came. */
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** One request, on a connection of its own unless an agent is given; never rejects. */
export function answerOf(
  port: number,
  { method = 'POST', path, headers = {}, body = '' }: HostileRequest,
  from = VICTIM,
  agent: Agent | false = false,
): Promise<HostileAnswer> {
  return new Promise((resolve) => {
    const none = () => resolve({ status: 0, headers: {}, text: '' })
    const length: Record<string, number> = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = { host: '127.0.0.1', port, method, path, localAddress: from, agent, headers: { ...headers, ...length } }
    const sent = httpRequest(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', none)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      )
    })
    sent.setTimeout(ANSWER_MS_MAX, () => sent.destroy(new Error('no answer in time')))
    sent.on('error', none)
    sent.on('close', none)
    sent.end(body)
  })
}

/** Sends `count` requests, `at_once` of them at the same time, and returns the answers in order. */
export async function answersOf(
  port: number,
  count: number,
  at_once: number,
  requestOf: (number: number) => HostileRequest | Promise<HostileRequest>,
  from = '127.0.0.1',
): Promise<HostileAnswer[]> {
  const answers: HostileAnswer[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: at_once })
  let next = 0
  const line = async () => {
    while (next < count) {
      const number = next++
      answers[number] = await answerOf(port, await requestOf(number), from, agent)
    }
  }
  await Promise.all(Array.from({ length: at_once }, line))
  agent.destroy()
  return answers
}

/** How many answers had each status. */
export function byStatus(answers: readonly { status: number }[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1
  return found
}

/** What the service asks for a call of the tool that has no free calls. */
export async function paidTerms(port: number): Promise<PaymentTerms> {
  const { status, headers } = await answerOf(port, { ...PAID_CALL, headers: JSON_HEADERS })
  if (status !== 402) throw new Error(`a call without a payment was answered ${status}`)
  return termsIn(String(headers['payment-required']))
}

/** Payments of the sandbox's demo payer to the terms of now. */
export async function victimPayments({ port, data_dir }: Target, count: number): Promise<string[]> {
  const signing = await chooseSigning()
  const key = Buffer.from(
    readFileSync(join(data_dir, 'sandbox', 'payer.key'), 'utf8')
      .trim()
      .replace(/^0x/, ''),
    'hex',
  )
  return signedPayments({ signing, signers: [signing.signer(key)] }, await paidTerms(port), count)
}

export interface MemoryWatch {
  stop(): { before_mb: number; peak_mb: number }
}

const LOOK_MS = 50

/** Watches the resident memory of a process; `over` is called once when it grew by more than the bound. */
export function watchMemory(pid: number, growth_mb = Infinity, over: () => void = () => undefined): MemoryWatch {
  const residentNow = () => residentMb(pid) ?? Number.NaN
  const before_mb = residentNow()
  let peak_mb = before_mb
  const timer = setInterval(() => {
    const now_mb = residentNow()
    if (now_mb - before_mb > growth_mb && peak_mb - before_mb <= growth_mb) over()
    peak_mb = Math.max(peak_mb, now_mb)
  }, LOOK_MS)
  return {
    stop() {
      clearInterval(timer)
      return { before_mb, peak_mb: Math.max(peak_mb, residentNow()) }
    },
  }
}

/**
 * What this process holds, in MB: heap and buffers that are left after a collection of garbage. Resident memory also counts garbage and
 * what the engine compiles, which differs from run to run; `npm run bench -- hostile` measures it.
 */
export function heldMb(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1_048_576
}

/** What the service measures of its event loop, since the last time that it was asked. */
export interface LoopDelay {
  p99_ms: number
  max_ms: number
}

/** The resolution of the measurement, which is in each of its values. */
const RESOLUTION_MS = 10

/** Reads the delay of the event loop from /metrics of the operator port, which begins a new measurement. Null when it is not answered. */
export async function loopDelay(port: number | null): Promise<LoopDelay | null> {
  if (port === null) return null
  const { status, text } = await answerOf(port, { method: 'GET', path: '/metrics' }, '127.0.0.1')
  if (status !== 200) return null
  const value = (name: string) => {
    const seconds = new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(text)?.[1]
    return Math.max(0, Number(seconds) * 1_000 - RESOLUTION_MS)
  }
  return { p99_ms: value('p99'), max_ms: value('max') }
}

/** Waits for a time that an attack or a measurement takes. */
export function lasting(seconds: number): Promise<void> {
  return delay(seconds * 1_000)
}

/** Answers of a load, and what they cost the service. */
export interface Throughput {
  answers_per_s: number
  /** User and system time of the service for each answer, in µs: on a machine with other work the figure to trust. */
  cpu_us: number
}

/** Right answers that an attack or a load gets within a time. */
export async function throughputOf(load: Attack, pid: number, seconds: number): Promise<Throughput> {
  const look = async () => ({
    answers: (await load.counts()).answers[200] ?? 0,
    cpu_s: cpuSeconds(pid) ?? Number.NaN,
    at_ms: performance.now(),
  })
  const before = await look()
  await lasting(seconds)
  const after = await look()
  const answers = after.answers - before.answers
  return { answers_per_s: (answers * 1_000) / (after.at_ms - before.at_ms), cpu_us: ((after.cpu_s - before.cpu_s) * 1e6) / answers }
}
