import { Worker } from 'node:worker_threads'

/** After a commit, the checkpoint comes so much later: what is written often in between goes into the file once. */
const DELAY_MS = 500

const MODULE = new URL('./checkpoint-worker.ts', import.meta.url)

/** Checkpoints of one SQLite file in a thread of their own, which is made for the first of them: they would hold up the event loop. */
export class Checkpoints {
  readonly #path: string
  readonly #module: URL
  readonly #onFault: (why: string) => void
  #thread: Worker | null = null
  #due: NodeJS.Timeout | null = null
  #busy = false
  #given_up = false

  /** When the thread dies, `onFault` is told why, and from then on nothing is done here. */
  constructor(path: string, onFault: (why: string) => void, module = MODULE) {
    this.#path = path
    this.#module = module
    this.#onFault = onFault
  }

  /** Something was committed. */
  committed(): void {
    if (this.#due !== null || this.#given_up) return
    this.#due = setTimeout(() => this.#begin(), DELAY_MS)
    this.#due.unref()
  }

  async stop(): Promise<void> {
    this.#given_up = true
    if (this.#due !== null) clearTimeout(this.#due)
    await this.#thread?.terminate()
  }

  #begin(): void {
    this.#due = null
    if (this.#busy || this.#given_up) return
    this.#busy = true
    this.#thread ??= this.#made()
    this.#thread.postMessage('checkpoint', [])
  }

  #made(): Worker {
    const thread = new Worker(this.#module, { workerData: { path: this.#path } })
    thread.unref()
    thread.on('message', () => (this.#busy = false))
    thread.on('error', (error) => this.#gaveUp(error.message))
    thread.on('exit', () => this.#gaveUp('the thread ended'))
    return thread
  }

  #gaveUp(why: string): void {
    if (this.#given_up) return
    this.#given_up = true
    this.#onFault(why)
  }
}
