import { rename, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { AnvilProcess } from './sandbox-process.ts'
import { rpcRequest } from './sandbox-rpc.ts'

/** How often a new block is looked for, whose state is then saved. */
const LOOK_MS = 1_000
/** Saving may take one of so many parts of the time: the state of a long chain takes seconds. */
const SAVING_PARTS = 50
/** Waits before each new try to start the chain; after the last one it stays down. */
const PAUSES_MS = [0, 500, 2_000, 5_000, 15_000]
/** A chain that ran for so long begins with the first pause again. */
const STEADY_MS = 600_000

/** How the chain of the sandbox stands. */
export interface SandboxRun {
  running: boolean
  /** How often it was started again after it had ended by itself. */
  restarts: number
  /** Time of the last of them, RFC 3339; null before. */
  restarted_at: string | null
  /** Why it stays down; null while it runs or is started again. */
  stopped_because: string | null
}

export interface Keeper {
  run(): SandboxRun
  /** Ends the chain, keeping its state, and starts it no more. */
  stop(): Promise<void>
}

export interface KeeperParts {
  first: AnvilProcess
  /** File of the state that the next start of the chain goes on from. */
  state_file: string
  /** Starts the chain again on the port of the first, ready for use. */
  again(): Promise<AnvilProcess>
}

const unpacked = promisify(gunzip)

/**
 * Starts the chain again when it ends by itself, from the state of about a second before: payments of that second are settled anew, as after a
 * reorganisation. A state that takes long to save is saved less often.
 */
export function keepRunning(parts: KeeperParts): Keeper {
  const keeper = new ChainKeeper(parts)
  const watching = keeper.watch()
  return {
    run: () => ({ ...keeper.run }),
    async stop() {
      await keeper.stop()
      await watching
    },
  }
}

class ChainKeeper {
  readonly run: SandboxRun = { running: true, restarts: 0, restarted_at: null, stopped_because: null }
  readonly #parts: KeeperParts
  readonly #timer: NodeJS.Timeout
  #anvil: AnvilProcess
  #stopping = false
  #wake = (): void => undefined
  #saving: Promise<void> = Promise.resolve()
  #saved_head: unknown = null
  #save_from_ms = 0

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#anvil = parts.first
    this.#timer = setInterval(() => {
      // A chain that does not answer has ended, or is asked again.
      if (this.run.running && performance.now() >= this.#save_from_ms)
        this.#saving = this.#saving.then(() => this.#save()).catch(() => undefined)
    }, LOOK_MS)
    this.#timer.unref()
  }

  async #save(): Promise<void> {
    const request = rpcRequest(this.#anvil.rpc_url)
    const head = await request('eth_blockNumber')
    if (head === this.#saved_head) return
    const before_ms = performance.now()
    const dump = String(await request('anvil_dumpState'))
    const draft = `${this.#parts.state_file}.${process.pid}.saved`
    await writeFile(draft, await unpacked(Buffer.from(dump.slice(2), 'hex')), { mode: 0o600 })
    // The chain may have ended meanwhile and left a newer state itself.
    if (!this.#stopping && this.run.running) await rename(draft, this.#parts.state_file)
    else await rm(draft, { force: true })
    this.#saved_head = head
    this.#save_from_ms = performance.now() + SAVING_PARTS * (performance.now() - before_ms)
  }

  async watch(): Promise<void> {
    let since_ms = performance.now()
    let attempt = 0
    for (;;) {
      await this.#anvil.gone
      if (this.#stopping) return
      this.run.running = false
      if (performance.now() - since_ms >= STEADY_MS) attempt = 0
      const started = await this.#again(attempt)
      if (started === null) return
      attempt = started
      since_ms = performance.now()
    }
  }

  /** The attempt that the next one begins with; null when it was stopped meanwhile, or every try failed. */
  async #again(first_attempt: number): Promise<number | null> {
    let why = ''
    for (let attempt = first_attempt; attempt < PAUSES_MS.length; attempt++) {
      await this.#pause(PAUSES_MS[attempt] ?? 0)
      if (this.#stopping) return null
      try {
        this.#anvil = await this.#parts.again()
        if (this.#stopping) {
          await this.#anvil.stop()
          return null
        }
        this.run.running = true
        this.run.restarts++
        this.run.restarted_at = new Date(performance.timeOrigin + performance.now()).toISOString()
        return attempt + 1
      } catch (error) {
        why = error instanceof Error ? error.message : String(error)
      }
    }
    this.run.stopped_because =
      `The sandbox chain ended ${PAUSES_MS.length} times within ten minutes; stop and start the service. ${why}`.trim()
    return null
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, ms).unref()
    })
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearInterval(this.#timer)
    this.#wake()
    await this.#saving
    await this.#anvil.stop()
  }
}
