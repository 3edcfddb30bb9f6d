import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export interface Service {
  url: string
  operator_url: string
  process: ChildProcess
  /** Everything on standard error so far. */
  notes(): string
  /** Everything on standard output so far: the log. */
  log(): string
  /** Resolves with exit code and signal. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** The service as its own process, as an operator starts it. Resolves once it says where it listens, rejects when it stops before. */
export async function startService(settings: Record<string, string>): Promise<Service> {
  const child = spawnService(settings)
  let notes = ''
  let log = ''
  child.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }))
  assert.ok(child.stderr !== null)
  const lines = createInterface(child.stderr)
  const origins = await new Promise<Pick<Service, 'url' | 'operator_url'>>((resolve, reject) => {
    lines.on('line', (line) => {
      notes += `${line}\n`
      const [, url, operator_url = ''] = /listens on (http\S+)(?: \(operator: (http\S+)\))?/.exec(line) ?? []
      if (url !== undefined) resolve({ url, operator_url })
    })
    void ended.then(() => reject(new Error(notes)))
  })
  return { ...origins, process: child, notes: () => notes, log: () => log, ended }
}

/** Starts the service where it is expected to refuse; resolves with what it said and its exit code. */
export async function refusedService(settings: Record<string, string>): Promise<{ code: number | null; notes: string }> {
  const child = spawnService(settings)
  let notes = ''
  child.stderr?.on('data', (chunk: Buffer) => (notes += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, notes }
}

/**
 * A free port for a service that is killed and started again on it. The system gives it to no other process in between: it is below the ranges of
 * outgoing connections (from 32768 on Linux, 49152 elsewhere).
 */
export async function lastingPort(): Promise<string> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = 15_000 + Math.floor(Math.random() * 17_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    probe.close()
    await once(probe, 'close')
    return String(port)
  }
  throw new Error('no free port was found')
}

function spawnService(settings: Record<string, string>): ChildProcess {
  const machine = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')))
  return spawn(process.execPath, [MAIN], {
    env: { ...machine, ASSAY_PORT: '0', ASSAY_LOG_LEVEL: 'warn', ASSAY_FREE_DAILY: '3', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
