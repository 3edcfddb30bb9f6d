import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A cluster of scripts/failover-cluster.ts, with its orders as functions. */
export interface RunningCluster {
  /** The database, at an address that follows the primary. */
  url: string
  /** Waits for a primary that takes writes; returns its name. */
  primary(): Promise<string>
  /** Stops replication from the primary: what is committed from now on is lost with it. */
  lag(): Promise<void>
  /** SIGKILL for Patroni and PostgreSQL of the primary; returns its name. */
  kill(): Promise<string>
  /** Starts dead nodes again and waits until both standbys follow. */
  rejoin(): Promise<void>
  stop(): Promise<void>
}

const SCRIPT = fileURLToPath(new URL('../../scripts/failover-cluster.ts', import.meta.url))

export async function startFailoverCluster(mode: 'synchronous' | 'asynchronous'): Promise<RunningCluster> {
  // Detached, so that an interrupt at the keyboard does not end it before it has removed its processes; the pipe ends with this process.
  const child = spawn(process.execPath, [SCRIPT, ...(mode === 'asynchronous' ? ['--asynchronous'] : [])], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const exited = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the cluster ended with exit code ${String(code)}`)))
  exited.catch(() => undefined)
  const lines = createInterface(child.stdout)
  const answer = async () => {
    const [line] = (await Promise.race([once(lines, 'line'), exited])) as [string]
    return JSON.parse(line) as Record<string, string>
  }
  const order = (name: string) => {
    const answered = answer()
    child.stdin.write(`${name}\n`)
    return answered
  }
  const { url = '' } = await answer()
  return {
    url,
    primary: async () => (await order('primary'))['node'] ?? '',
    lag: async () => void (await order('lag')),
    kill: async () => (await order('kill'))['node'] ?? '',
    rejoin: async () => void (await order('rejoin')),
    async stop() {
      child.stdin.end()
      await exited.catch(() => undefined)
    },
  }
}
