import type { ReadProgress, WorkerMessage, WorkerReplies, WorkerRequest } from './messages.ts'

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

  start(): void {
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

  request<Kind extends keyof WorkerReplies>(request: WorkerRequest & { kind: Kind }): Promise<WorkerReplies[Kind]> {
    const id = ++this.last_id
    return new Promise((resolve) => {
      this.pending.set(id, resolve as (value: unknown) => void)
      this.worker?.postMessage({ id, request })
    })
  }
}
