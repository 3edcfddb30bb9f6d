import { Worker } from 'node:worker_threads'
import type { HeavyClient, HeavyFault, HeavyFaultCode, HeavyRead, HeavyWork } from '../../ports/heavy-work.ts'

export interface HeavyPoolOptions {
  /** The module that a worker runs: it takes a HeavyJob as a message and answers with a HeavyAnswer. */
  module: URL
  workers: number
  /** Maximum number of queued jobs in addition to running ones; more are refused. */
  queue: number
  /** Jobs of one client that wait, those of paid calls and those of free calls each. */
  client_queue: number
  /** Jobs of one client that may be ended for their time or memory in such a span, before the client has to wait until the oldest is past. */
  client_ended: number
  client_ended_ms: number
  /** Maximum run time of one job. */
  deadline_ms: number
  /** Maximum memory of one worker. */
  memory_mb: number
  /** Returns what is given to a worker when it starts. */
  data?: () => unknown
}

/** A tool to run. */
export interface HeavyToolJob {
  family: string
  tool: string
  input: Record<string, unknown> | Uint8Array
}

export type HeavyJob = HeavyToolJob | { read: HeavyRead }

/** Message of a worker about a job. */
export type HeavyAnswer = { ok: true; result: Record<string, unknown> } | { ok: false; message: string }

class HeavyWorkError extends Error implements HeavyFault {
  override readonly name = 'HeavyWorkError'
  readonly code: HeavyFaultCode

  constructor(code: HeavyFaultCode, message: string) {
    super(message)
    this.code = code
  }
}

interface Thread {
  worker: Worker
  /** It has run a job before. */
  started: boolean
}

interface Waiting {
  job: HeavyJob
  by: HeavyClient
  resolve(result: Record<string, unknown>): void
  reject(error: Error): void
}

/**
 * A few threads, made when they are first needed and kept, each with one job at a time. A job that runs too long is ended with its thread,
 * and so is one that needs too much memory; the next job gets a new thread. Of one client one job runs at a time; see FairQueue for the order.
 */
export function createHeavyPool(options: HeavyPoolOptions): HeavyWork {
  const pool = new HeavyPool(options)
  return {
    run: (family, tool, input, by) => pool.run({ family, tool, input }, by),
    read: (body, by) => pool.run({ read: { ...body, bytes: ownBytes(body.bytes) } }, by),
    waiting: () => pool.waiting(),
    renew: () => pool.renew(),
    stop: () => pool.stop(),
  }
}

/**
 * Queue that is fair over clients: paid jobs before free ones, among them round robin over the clients, and within a client in order of
 * arrival. A full queue makes room for a paid job, or for one of a client with fewer jobs, by refusing the newest free job of the client
 * that has most.
 */
class FairQueue {
  /** Jobs by client; the client whose turn is next comes first. */
  readonly #paid = new Map<string, Waiting[]>()
  readonly #free = new Map<string, Waiting[]>()
  readonly #most: number
  readonly #client_most: number
  #size = 0

  constructor({ queue, client_queue }: Pick<HeavyPoolOptions, 'queue' | 'client_queue'>) {
    this.#most = queue
    this.#client_most = client_queue
  }

  get size(): number {
    return this.#size
  }

  /** Adds a job; `starts` says that a thread is ready for it. Returns why it is refused, or null. */
  add(waiting: Waiting, starts: boolean): HeavyWorkError | null {
    const { client, paid } = waiting.by
    const list = paid ? this.#paid : this.#free
    const own = list.get(client) ?? []
    if (own.length >= this.#client_most) return new HeavyWorkError('WORK_CLIENT_BUSY', 'Too much work of this client waits already.')
    if (!starts && this.#size >= this.#most && !this.#displace(paid ? 0 : own.length + 1)) return tooMuchWaits()
    own.push(waiting)
    list.set(client, own)
    this.#size++
    return null
  }

  /** Takes the job that is next, of a client that is not among those given. */
  next(running: ReadonlySet<string>): Waiting | null {
    for (const list of [this.#paid, this.#free]) {
      for (const [client, own] of list) {
        if (running.has(client)) continue
        const waiting = own.shift()
        list.delete(client)
        if (own.length > 0) list.set(client, own)
        this.#size--
        return waiting ?? null
      }
    }
    return null
  }

  clear(): Waiting[] {
    const all = [...this.#paid.values(), ...this.#free.values()].flat()
    this.#paid.clear()
    this.#free.clear()
    this.#size = 0
    return all
  }

  /** Refuses the newest free job of the client with most of them, if these are more than `than`. */
  #displace(than: number): boolean {
    let longest: Waiting[] = []
    for (const own of this.#free.values()) if (own.length > longest.length) longest = own
    if (longest.length <= than) return false
    const last = longest.pop()
    if (last === undefined) return false
    if (longest.length === 0) this.#free.delete(last.by.client)
    this.#size--
    last.reject(tooMuchWaits())
    return true
  }
}

function tooMuchWaits(): HeavyWorkError {
  return new HeavyWorkError('WORK_REFUSED', 'Too much work waits already.')
}

class HeavyPool {
  readonly #options: HeavyPoolOptions
  readonly #idle: Worker[] = []
  readonly #busy = new Set<Worker>()
  /** Busy threads that were started with data that has changed since. */
  readonly #outdated = new WeakSet<Worker>()
  /** Clients with a job under way. */
  readonly #running = new Set<string>()
  readonly #queue: FairQueue
  /** Times at which jobs of a client were ended; a client that is forgotten for others starts from none. */
  readonly #ended = new Map<string, number[]>()
  #stopped = false

  constructor(options: HeavyPoolOptions) {
    this.#options = options
    this.#queue = new FairQueue(options)
  }

  run(job: HeavyJob, by: HeavyClient): Promise<Record<string, unknown>> {
    if (this.#stopped) return Promise.reject(tooMuchWaits())
    if (this.#isPaused(by.client)) {
      return Promise.reject(new HeavyWorkError('WORK_CLIENT_PAUSED', 'Too much work of this client was ended.'))
    }
    return new Promise((resolve, reject) => {
      const refused = this.#queue.add({ job, by, resolve, reject }, this.#hasRoom() && !this.#running.has(by.client))
      if (refused === null) this.#next()
      else reject(refused)
    })
  }

  waiting(): number {
    return this.#queue.size
  }

  /** Ends each thread after the job that it runs, so that later jobs start with the data of now. */
  renew(): void {
    for (const worker of this.#busy) this.#outdated.add(worker)
    for (const worker of this.#idle.splice(0)) void worker.terminate()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const { reject } of this.#queue.clear()) reject(new HeavyWorkError('WORK_REFUSED', 'The service stops.'))
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.terminate()))
  }

  #isPaused(client: string): boolean {
    const since_ms = performance.now() - this.#options.client_ended_ms
    const lately = (this.#ended.get(client) ?? []).filter((at_ms) => at_ms > since_ms)
    if (lately.length === 0) this.#ended.delete(client)
    return lately.length >= this.#options.client_ended
  }

  #countEnded(client: string): void {
    const before = this.#ended.get(client) ?? []
    this.#ended.delete(client)
    this.#ended.set(client, [...before, performance.now()].slice(-this.#options.client_ended))
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > ENDED_CLIENTS && oldest !== undefined) this.#ended.delete(oldest)
  }

  #hasRoom(): boolean {
    return this.#idle.length > 0 || this.#busy.size < this.#options.workers
  }

  #next(): void {
    if (this.#stopped || !this.#hasRoom()) return
    const waiting = this.#queue.next(this.#running)
    if (waiting === null) return
    const idle = this.#idle.pop()
    const worker = idle ?? this.#made()
    this.#busy.add(worker)
    this.#running.add(waiting.by.client)
    void this.#serve({ worker, started: idle !== undefined }, waiting)
  }

  #made(): Worker {
    const { module, memory_mb, data } = this.#options
    const worker = new Worker(module, { workerData: data?.(), resourceLimits: { maxOldGenerationSizeMb: memory_mb } })
    // An error between two jobs, or after the end of one, belongs to no job; the next job notices that the worker is gone.
    worker.on('error', () => undefined)
    // A process that has nothing else to do may end.
    worker.unref()
    worker.once('exit', () => this.#forget(worker))
    return worker
  }

  #forget(worker: Worker): void {
    const at = this.#idle.indexOf(worker)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  async #serve(thread: Thread, { job, by, resolve, reject }: Waiting): Promise<void> {
    const { worker } = thread
    const answer = await answerOf(thread, job, this.#options.deadline_ms)
    this.#busy.delete(worker)
    if (answer.kind === 'answered' && !this.#stopped && !this.#outdated.has(worker)) this.#idle.push(worker)
    else await worker.terminate()
    this.#running.delete(by.client)
    this.#next()
    switch (answer.kind) {
      case 'answered':
        if (answer.answer.ok) resolve(answer.answer.result)
        else reject(new Error(answer.answer.message))
        return
      case 'ended':
        this.#countEnded(by.client)
        reject(new HeavyWorkError('WORK_TIMED_OUT', answer.why))
        return
      case 'broken':
        reject(this.#stopped ? new HeavyWorkError('WORK_REFUSED', 'The service stops.') : new Error(answer.why))
    }
  }
}

/** Clients whose ended jobs are remembered. */
const ENDED_CLIENTS = 10_000

type Ending = { kind: 'answered'; answer: HeavyAnswer } | { kind: 'ended' | 'broken'; why: string }

/** Gives the job to the worker and waits for the first of its answer, its death and its timeout. */
function answerOf({ worker, started }: Thread, job: HeavyJob, deadline_ms: number): Promise<Ending> {
  return new Promise((resolve) => {
    worker.ref()
    let timer: NodeJS.Timeout | undefined
    // The start of a thread is none of the work's time.
    const begin = () => (timer = setTimeout(() => end({ kind: 'ended', why: 'The work took longer than a call may.' }), deadline_ms))
    const onMessage = (answer: HeavyAnswer) => end({ kind: 'answered', answer })
    const onError = (error: Error) =>
      end(isMemory(error) ? { kind: 'ended', why: 'The work took more memory than a call may.' } : broken(error.message))
    const onExit = () => end(broken('The worker ended by itself.'))
    const end = (ending: Ending) => {
      clearTimeout(timer)
      worker.off('online', begin).off('message', onMessage).off('error', onError).off('exit', onExit)
      worker.unref()
      resolve(ending)
    }
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    if (started) begin()
    else worker.once('online', begin)
    worker.postMessage(job, transferred(job))
  })
}

/** Bytes with a separate buffer, which can be transferred. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
}

/** Bytes are handed over and not copied: a copy of megabytes would block the event loop. */
function transferred(job: HeavyJob): ArrayBuffer[] {
  const bytes = 'read' in job ? job.read.bytes : job.input
  return bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : []
}

function broken(why: string): Ending {
  return { kind: 'broken', why }
}

function isMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}
