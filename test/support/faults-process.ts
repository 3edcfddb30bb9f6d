import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { FaultPoint } from '../../src/service/payments/settlement.ts'

const FAULTY = fileURLToPath(new URL('faulty-service.ts', import.meta.url))

const alive = new Set<ChildProcess>()

export interface Fault {
  die_at?: FaultPoint
  /** How often the point is passed before: the first time is deadly unless told otherwise. */
  die_nth?: number
  ahead_ms?: number
  /** US dollars for one EURC. */
  euro_rate?: string
}

export interface FaultyService {
  url: string
  process: ChildProcess
  ended: Promise<{ signal: NodeJS.Signals | null }>
  /** As an operator stops it; one that is dead already stays so. */
  stop(): Promise<void>
}

/** Kills what a failed test left running. */
export function killLeft(): void {
  for (const child of alive) child.kill('SIGKILL')
}

/** The service of `faulty-service.ts`. Resolves once it listens; rejects with what it said when it ends before. */
export async function startFaulty(
  settings: Record<string, string>,
  { die_at, die_nth = 1, ahead_ms = 0, euro_rate }: Fault = {},
): Promise<FaultyService> {
  const machine = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')))
  const fault = {
    DIE_NTH: String(die_nth),
    AHEAD_MS: String(ahead_ms),
    ...(die_at !== undefined && { DIE_AT: die_at }),
    ...(euro_rate !== undefined && { EURO_RATE: euro_rate }),
  }
  const child = spawn(process.execPath, [FAULTY], { env: { ...machine, ...settings, ...fault }, stdio: ['pipe', 'ignore', 'pipe'] })
  const ended = once(child, 'close').then(([, signal]) => ({ signal: signal as NodeJS.Signals | null }))
  const notes: string[] = []
  alive.add(child)
  void ended.then(() => alive.delete(child))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      notes.push(line)
      const found = /listens on (http\S+)/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    void ended.then(() => reject(new Error(notes.join('\n'))))
  })
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  }
  return { url, process: child, ended, stop }
}
