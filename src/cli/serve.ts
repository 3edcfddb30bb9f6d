import cluster, { type Worker } from 'node:cluster'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../service/config.ts'
import { CliError, type Exit, EXIT_CODES } from './exit-codes.ts'
import { remark } from './terminal.ts'
import type { Signer } from '../ports/signer.ts'
import { StartError } from '../assembly/identity.ts'
import { type Running, start } from '../assembly/start.ts'
import type { Invocation } from './arguments.ts'
import { markMode, settingsHere } from './settings.ts'

const WORKERS_MAX = 64
/** A worker that died soon after its start is followed later each time; one that lived for this long counts as well again. */
const PAUSE_MS = 100
const PAUSE_MAX_MS = 10_000
const WELL_MS = 30_000
/** Tells a worker how many share the machine. */
const COUNT_NAME = 'SERVE_WORKERS'

/** How many processes serve, from `--workers`: a number, or `auto` for one on each core. Throws a CliError for what cannot be. */
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

/** Whether a thread for signatures has a core of its own, beside this process and its siblings. */
export function hasSpareCore(): boolean {
  return availableParallelism() >= 2 * Number(process.env[COUNT_NAME] ?? 1)
}

/** Serves from several processes that share the port and the store; a dead one is replaced. Ends when asked, once all have finished. */
export function superviseWorkers(count: number): Promise<Exit> {
  // Each process takes connections from the shared socket itself. Handed on by the first process, those on their way to one that dies would hang.
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
      // A process may listen on two ports, and one that takes the place of another is not counted again.
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
      // What is wrong with the settings is as wrong for the next one.
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

/** `assay serve`, and `npm start`: serves until SIGINT or SIGTERM, then lets calls in flight finish; a second signal ends it at once. */
export async function run(invocation: Invocation): Promise<Exit> {
  const settings = settingsHere()
  const workers = workersOf(invocation.text('workers'), settings)
  if (workers > 1 && cluster.isPrimary) return superviseWorkers(workers)
  const running = await start(settings, { signing_thread: hasSpareCore() }).catch((error: unknown) => {
    throw error instanceof StartError ? new CliError('config', error.message) : error
  })
  // Of several processes the first speaks for all.
  if ((cluster.worker?.id ?? 1) === 1) {
    markMode(settings)
    announce(running, running.app.deps.call.stamp.signer)
  }
  await signalled()
  await running.stop()
  // The line to the first process would keep this one alive.
  if (cluster.isWorker) process.disconnect()
  return 'ok'
}

/** Resolves at the first signal to stop. */
function signalled(): Promise<void> {
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

/** What a newcomer wants to know first, on standard error, so that standard output stays a log. */
function announce({ url, operator_url }: Running, signer: Signer): void {
  remark(`assay listens on ${url}${operator_url === null ? '' : ` (operator: ${operator_url})`}`)
  remark(`receipts are signed by ${signer.address} (${signer.implementation})`)
  remark(`try it:  curl -s ${url}/v1/tools/iban-check/call -d '{"input":{"iban":"GB82 WEST 1234 5698 7654 32"}}'`)
}
