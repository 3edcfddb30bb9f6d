import type { CurrentTable, ReadProgress, RunResult, WorkerMessage, WorkerReplies, WorkerRequest } from './messages.ts'

interface ScriptPolicies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

/** Address of the worker as Trusted Types require it: the policy admits this address only. Browsers without Trusted Types take text. */
function trustedAddress(address: string): string {
  const policies = (globalThis as { trustedTypes?: ScriptPolicies }).trustedTypes
  if (policies === undefined) return address
  const createScriptURL = (url: string) => {
    if (url !== address) throw new TypeError('Only the script of the page may be started.')
    return url
  }
  return policies.createPolicy('reconcile-worker', { createScriptURL }).createScriptURL(address)
}

const TABLE_MS = 5_000

/** Returns the table that the service uses now, read by its hash; null if the service does not send it in time. The worker itself may not send anything. */
async function currentTable(dataset: string): Promise<CurrentTable | null> {
  try {
    const signal = AbortSignal.timeout(TABLE_MS)
    const list = (await (await fetch('/v1/datasets', { signal })).json()) as { datasets: { id: string; sha256: string; origin: string }[] }
    const current = list.datasets.find(({ id }) => id === dataset)
    if (current === undefined) return null
    const { sha256, origin } = current
    return { sha256, text: origin === 'bundled' ? null : await (await fetch(`/v1/datasets/${sha256}`, { signal })).text() }
  } catch {
    return null
  }
}

interface WorkerListener {
  progress(progress: ReadProgress): void
  /** A file was removed while it was read, the engine could not be loaded, or memory ran out. */
  failed(): void
}

/** The worker, from the page: one run at a time. Replies of a stopped run never arrive. */
export class WorkerClient {
  private readonly address: string
  private readonly listener: WorkerListener
  private readonly pending = new Map<number, (value: unknown) => void>()
  private worker: Worker | null = null
  private last_id = 0

  constructor(address: string, listener: WorkerListener) {
    this.address = address
    this.listener = listener
  }

  private start(): void {
    this.stop()
    const worker = new Worker(trustedAddress(this.address), { type: 'module' })
    this.worker = worker
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => {
      if (this.worker !== worker) return
      if (data.kind === 'progress') return this.listener.progress(data.progress)
      if (data.kind === 'failed') return this.listener.failed()
      this.pending.get(data.id)?.(data.value)
      this.pending.delete(data.id)
    })
    worker.addEventListener('error', () => this.worker === worker && this.listener.failed())
  }

  stop(): void {
    this.worker?.terminate()
    this.worker = null
    this.pending.clear()
  }

  /** Starts a run; nothing is sent to the worker if another run began meanwhile. */
  async run(request: Omit<WorkerRequest & { kind: 'run' }, 'currencies'>, finish: (result: RunResult) => void): Promise<void> {
    this.start()
    const { worker } = this
    const currencies = await currentTable('iso4217')
    if (this.worker === worker) finish(await this.request({ ...request, currencies }))
  }

  request<Kind extends keyof WorkerReplies>(request: WorkerRequest & { kind: Kind }): Promise<WorkerReplies[Kind]> {
    const id = ++this.last_id
    return new Promise((resolve) => {
      this.pending.set(id, resolve as (value: unknown) => void)
      this.worker?.postMessage({ id, request })
    })
  }
}
