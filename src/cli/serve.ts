import cluster from 'node:cluster'
import type { Signer } from '../ports/signer.ts'
import { StartError } from '../assembly/identity.ts'
import { start, type Running } from '../assembly/start.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { markMode, settingsHere } from './settings.ts'
import { remark } from './terminal.ts'
import { hasSpareCore, superviseWorkers, workersOf } from './workers.ts'

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
