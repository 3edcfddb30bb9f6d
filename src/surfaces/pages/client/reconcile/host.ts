import type { Asked, Query, Side, Told, VerdictShown, EntryShown } from './messages.ts'

/** Kinds that Trusted Types know; not every browser has them, and then a plain text is taken. */
interface ScriptPolicies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

/** A worker may be started from a script address only; this one lets through the address that the page itself names, and no other. */
function workerAddress(address: string): string {
  const policies = (globalThis as { trustedTypes?: ScriptPolicies }).trustedTypes
  if (policies === undefined) return address
  const allowed = new URL(address, location.href).href
  const createScriptURL = (url: string) => {
    if (new URL(url, location.href).href !== allowed) throw new TypeError('another script was asked for')
    return url
  }
  return policies.createPolicy('reconcile-worker', { createScriptURL }).createScriptURL(address)
}

/** The worker as the page sees it: one run at a time, and rows of the latest question only. */
export class Host {
  private readonly address: string
  private readonly told: (told: Told) => void
  private worker: Worker | null = null
  private turn = 0

  constructor(address: string, told: (told: Told) => void) {
    this.address = workerAddress(address)
    this.told = told
  }

  run(files: Record<Side, File>, require_settlement_evidence: boolean): void {
    this.stop()
    const worker = new Worker(this.address, { type: 'module' })
    this.worker = worker
    worker.addEventListener('message', ({ data }: MessageEvent<Told>) => {
      if (this.worker === worker && !('turn' in data && data.turn !== this.turn)) this.told(data)
    })
    worker.addEventListener('error', () => this.worker === worker && this.told({ kind: 'failed' }))
    this.ask({ kind: 'run', ...files, require_settlement_evidence })
  }

  /** Ends whatever runs; its rows are gone. */
  stop(): void {
    this.worker?.terminate()
    this.worker = null
  }

  query(query: Query): void {
    this.ask({ kind: 'query', turn: ++this.turn, query })
  }

  rows(from: number, to: number): void {
    this.ask({ kind: 'rows', turn: this.turn, from, to })
  }

  export(format: 'csv' | 'json'): void {
    this.ask({ kind: 'export', format })
  }

  private ask(asked: Asked): void {
    this.worker?.postMessage(asked)
  }
}

export type RowShown = VerdictShown | EntryShown
