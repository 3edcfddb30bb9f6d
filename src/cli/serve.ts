import cluster, { type Worker } from 'node:cluster'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../service/config.ts'
import { CliError, type Exit, EXIT_CODES } from './errors.ts'
import { remark } from './terminal.ts'
import type { Signer } from '../ports/signer.ts'
import { StartError } from '../assembly/identity.ts'
import { keepLastAddresses } from '../adapters/public-https/operator-names.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { type Running, start } from '../assembly/start.ts'
import type { Invocation } from './commands.ts'
import { markMode, readEnvironment } from './deployment.ts'

const WORKERS_MAX = 64
/** A worker that dies soon after its start is restarted after increasing pauses; one that ran for this long counts as healthy. */
const PAUSE_MS = 100
const PAUSE_MAX_MS = 10_000
const WELL_MS = 30_000
/** Environment variable with the number of workers on this machine. */
const COUNT_NAME = 'SERVE_WORKERS'

/** Number of processes from `--workers`: a number, or `auto` for one per core. Throws a CliError for an invalid value. */
export function workersOf(text: string | null, settings: Settings): number {
  if (text === null) return 1
  const count = text === 'auto' ? Math.min(WORKERS_MAX, availableParallelism()) : /^[1-9]\d?$/.test(text) ? Number(text) : 0
  if (count < 1 || count > WORKERS_MAX) throw new CliError('usage', `--workers takes a number from 1 to ${WORKERS_MAX}, or auto.`)
  if (count > 1 && settings.ASSAY_MODE === 'sandbox')
    throw new CliError(
      'usage',
      'The sandbox serves from one process, since its chain ends with the one that started it; leave --workers out.',
    )
  return count
}

/** True if a signing thread has its own core in addition to this process and its siblings. */
export function hasSpareCore(): boolean {
  return availableParallelism() >= 2 * Number(process.env[COUNT_NAME] ?? 1)
}

/**
 * Serves from several processes that share the port and the store; a dead one is replaced. Resolves after a stop signal, when all
 * processes have finished.
 */
export function superviseWorkers(count: number): Promise<Exit> {
  // Each process accepts connections from the shared socket. If the primary distributed them, connections on the way to a dying process
  // would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: fileURLToPath(new URL('../cli.ts', import.meta.url)), args: ['serve'] })
  return new Promise((resolve) => {
    const begun = new Map<Worker, number>()
    const listening = new Set<Worker>()
    let [failures, stopping] = [0, false]
    let timers: NodeJS.Timeout[] = []
    const begin = () => begun.set(cluster.fork({ [COUNT_NAME]: String(count) }), performance.now())
    const stop = (exit: Exit, signal: NodeJS.Signals) => {
      stopping = true
      for (const timer of timers) clearTimeout(timer)
      timers = []
      for (const worker of begun.keys()) worker.process.kill(signal)
      if (begun.size === 0) resolve(exit)
      else ending = exit
    }
    let ending: Exit = 'ok'
    cluster.on('listening', (worker) => {
      // A process may listen on two ports, and a replacement is not counted again.
      if (listening.size === count) return
      listening.add(worker)
      if (listening.size === count) remark(`${count} processes share the port`)
    })
    cluster.on('exit', (worker, code, signal) => {
      const lived_ms = performance.now() - (begun.get(worker) ?? 0)
      begun.delete(worker)
      if (stopping) {
        if (begun.size === 0) resolve(ending)
        return
      }
      // Invalid settings would stop each replacement too.
      if (code === EXIT_CODES.config.code) return stop('config', 'SIGTERM')
      failures = lived_ms > WELL_MS ? 0 : failures + 1
      const pause_ms = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** Math.min(failures, 10))
      remark(`a process ended (${signal ?? code}); another one starts in ${pause_ms} ms`)
      timers.push(setTimeout(begin, pause_ms))
    })
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop('ok', stopping ? 'SIGKILL' : 'SIGTERM'))
    for (let started = 0; started < count; started++) begin()
  })
}

/** `assay serve` and `npm start`: serves until SIGINT or SIGTERM, then waits for running calls; a second signal ends it immediately. */
export async function run(invocation: Invocation): Promise<Exit> {
  const settings = readEnvironment()
  const workers = workersOf(invocation.text('workers'), settings)
  if (workers > 1 && cluster.isPrimary) return superviseWorkers(workers)
  keepLastAddresses(systemClock)
  const running = await start(settings, { signing_thread: hasSpareCore() }).catch((error: unknown) => {
    throw error instanceof StartError ? new CliError('config', error.message) : error
  })
  // With several processes, only the first one prints this.
  if ((cluster.worker?.id ?? 1) === 1) {
    markMode(settings)
    announce(running, running.app.deps.call.issuer.signer)
  }
  if (hasSpareCore()) setTimeout(() => void preparePages(), PREPARE_PAGES_AFTER_MS).unref()
  await stopSignal()
  await running.stop()
  // The channel to the primary process would keep this one alive.
  if (cluster.isWorker) process.disconnect()
  return 'ok'
}

/** Time for the first calls before the files of pages are compressed. */
const PREPARE_PAGES_AFTER_MS = 10_000

async function preparePages(): Promise<void> {
  const { prepareAssets } = await import('../surfaces/pages/assets.ts')
  await prepareAssets()
}

/** Resolves at the first stop signal. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1)
        stopping = true
        resolve()
      })
    }
  })
}

/** Start message on standard error; standard output is the log. */
function announce({ url, operator_url }: Running, signer: Signer): void {
  remark(`assay listens on ${url}${operator_url === null ? '' : ` (operator: ${operator_url})`}`)
  remark(`receipts are signed by ${signer.address} (${signer.implementation})`)
  remark(`try it:  curl -s ${url}/v1/tools/iban-check/call -d '{"input":{"iban":"GB82 WEST 1234 5698 7654 32"}}'`)
}
