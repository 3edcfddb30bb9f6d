import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** State of the service after garbage collection. */
export interface Look {
  rss_mb: number
  heap_mb: number
  /** Active resources of the event loop: sockets, timers and others. */
  resources: number
  /** Open descriptors; null where there is no /proc. */
  descriptors: number | null
}

export interface SoakedService {
  url: string
  look(): Promise<Look>
  /** Null while it runs. */
  ended(): string | null
  stop(): Promise<void>
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const MB = 2 ** 20

/**
 * Answers each message over the channel that only this script has; without the script there is no service. Its threads load it too, and have
 * no channel.
 */
const PROBE = `
  if (process.channel !== undefined) {
    process.on('message', () => {
      gc()
      gc()
      const { rss, heapUsed } = process.memoryUsage()
      process.send({ rss, heapUsed, resources: process.getActiveResourcesInfo().length })
    })
    process.on('disconnect', () => process.exit())
    process.channel.unref()
  }`

/** The service as its own process, with a door through which it is looked at. Rejects with its last words when it does not start. */
export async function startSoaked(settings: Record<string, string>): Promise<SoakedService> {
  const machine = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')))
  const flags = ['--expose-gc', '--max-semi-space-size=16', '--import', `data:text/javascript,${encodeURIComponent(PROBE)}`]
  const child = spawn(process.execPath, [...flags, MAIN], {
    env: { ...machine, ASSAY_PORT: '0', ASSAY_LOG_LEVEL: 'error', ...settings },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const closed = once(child, 'close').then(([code, signal]) => `the service ended with ${String(signal ?? code)}`)
  let end: string | null = null
  void closed.then((why) => (end = why))
  const said: string[] = []
  if (child.stderr === null) throw new Error('the service has no standard error')
  const lines = createInterface(child.stderr)
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      if (said.length < 100) said.push(line)
      const found = /listens on (http\S+)/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    void closed.then((why) => reject(new Error(`${why}\n${said.join('\n')}`)))
  })
  return {
    url,
    async look() {
      const answer = once(child, 'message')
      child.send('look')
      const [{ rss, heapUsed, resources }] = (await answer) as [{ rss: number; heapUsed: number; resources: number }]
      return { rss_mb: rss / MB, heap_mb: heapUsed / MB, resources, descriptors: descriptorsOf(child.pid ?? 0) }
    },
    ended: () => end,
    async stop() {
      if (end === null) child.kill('SIGTERM')
      await closed
    },
  }
}

function descriptorsOf(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return null
  }
}
