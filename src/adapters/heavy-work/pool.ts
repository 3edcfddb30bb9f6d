import { Worker } from 'node:worker_threads'
import type { HeavyFault, HeavyFaultCode, HeavyWork } from '../../ports/heavy-work.ts'

export interface HeavyPoolOptions {
  /** The module that a worker runs: it takes a HeavyJob as a message and answers with a HeavyAnswer. */
  module: URL
  workers: number
  /** Jobs that wait beside those under way; more are refused. */
  queue: number
  /** How long one job may run. */
  deadline_ms: number
  /** How much one worker may hold. */
  memory_mb: number
}

export interface HeavyJob {
  family: string
  tool: string
  input: Record<string, unknown>
}

/** What a worker says of a job. */
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
  resolve(result: Record<string, unknown>): void
  reject(error: Error): void
}

/**
 * A few threads, made when they are first needed and kept, each with one job at a time. A job that runs too long is ended with its thread,
 * and so is one that needs too much memory; the next job gets a new thread.
 */
export function createHeavyPool(options: HeavyPoolOptions): HeavyWork {
  const pool = new HeavyPool(options)
  return { run: (family, tool, input) => pool.run({ family, tool, input }), waiting: () => pool.waiting(), stop: () => pool.stop() }
}

class HeavyPool {
  readonly #options: HeavyPoolOptions
  readonly #idle: Worker[] = []
  readonly #busy = new Set<Worker>()
  readonly #waiting: Waiting[] = []
  #stopped = false

  constructor(options: HeavyPoolOptions) {
    this.#options = options
  }

  run(job: HeavyJob): Promise<Record<string, unknown>> {
    if (this.#stopped || (this.#waiting.length >= this.#options.queue && !this.#hasRoom())) {
      return Promise.reject(new HeavyWorkError('WORK_REFUSED', 'Too much work waits already.'))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject })
      this.#next()
    })
  }

  waiting(): number {
    return this.#waiting.length
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const { reject } of this.#waiting.splice(0)) reject(new HeavyWorkError('WORK_REFUSED', 'The service stops.'))
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.terminate()))
  }

  #hasRoom(): boolean {
    return this.#idle.length > 0 || this.#busy.size < this.#options.workers
  }

  #next(): void {
    if (this.#stopped || !this.#hasRoom()) return
    const waiting = this.#waiting.shift()
    if (waiting === undefined) return
    const idle = this.#idle.pop()
    const worker = idle ?? this.#made()
    this.#busy.add(worker)
    void this.#serve({ worker, started: idle !== undefined }, waiting)
  }

  #made(): Worker {
    const { module, memory_mb } = this.#options
    const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: memory_mb } })
    // An error between two jobs, or after the end of one, is nobody's answer; the next job finds out that the worker is gone.
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

  async #serve(thread: Thread, { job, resolve, reject }: Waiting): Promise<void> {
    const { worker } = thread
    const answer = await answerOf(thread, job, this.#options.deadline_ms)
    this.#busy.delete(worker)
    if (answer.kind === 'answered' && !this.#stopped) this.#idle.push(worker)
    else await worker.terminate()
    this.#next()
    switch (answer.kind) {
      case 'answered':
        if (answer.answer.ok) resolve(answer.answer.result)
        else reject(new Error(answer.answer.message))
        return
      case 'ended':
        reject(new HeavyWorkError('WORK_TIMED_OUT', answer.why))
        return
      case 'broken':
        reject(new Error(answer.why))
    }
  }
}

type Ending = { kind: 'answered'; answer: HeavyAnswer } | { kind: 'ended' | 'broken'; why: string }

/** Gives the job to the worker and waits for whatever comes first: its answer, its death, or the end of its time. */
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
    worker.postMessage(job, [])
  })
}

function broken(why: string): Ending {
  return { kind: 'broken', why }
}

function isMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}
