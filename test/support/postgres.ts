import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

export interface PostgresServer {
  /** URL of the database `postgres`, as superuser. */
  url: string
  /** Makes an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>
  /** Stops the server, or starts it again with what it held, at the same address. */
  power(state: 'stop' | 'start'): Promise<void>
  stop(): Promise<void>
}

/** Where the PostgreSQL of the whole run listens, when there is one (shared-parts.ts). */
export const SHARED_POSTGRES = 'TEST_POSTGRES'

/** Empty databases in the PostgreSQL of the whole run, or in one of the caller's own. */
export async function openPostgres(): Promise<Pick<PostgresServer, 'createDatabase' | 'stop'>> {
  const url = process.env[SHARED_POSTGRES]
  if (url === undefined) return startPostgres()
  const names: string[] = []
  return {
    async createDatabase(name) {
      const own = `${name}_${process.pid}_${names.length}`
      await query(url, `create database ${pg.escapeIdentifier(own)}`)
      names.push(own)
      return url.replace(/postgres$/, own)
    },
    async stop() {
      for (const name of names) await query(url, `drop database ${pg.escapeIdentifier(name)} with (force)`)
    },
  }
}

/**
 * A real PostgreSQL on a free port of this machine, with an empty data directory of its own; gone when stopped or when the caller dies. One
 * that no test kills need not wait for the disk.
 */
export async function startPostgres({ waits_for_disk = true } = {}): Promise<PostgresServer> {
  const script = fileURLToPath(new URL('postgres-server.ts', import.meta.url))
  // Detached, so that an interrupt at the keyboard does not reach the server before its orderly stop.
  const child = spawn(process.execPath, [script, ...(waits_for_disk ? [] : ['--no-sync'])], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const started = once(lines, 'line').then(([line]) => String(line))
  const url = await Promise.race([started, exited.then(() => Promise.reject(new Error('PostgreSQL did not start')))])
  return {
    url,
    async createDatabase(name) {
      await query(url, `create database ${pg.escapeIdentifier(name)}`)
      return url.replace(/postgres$/, name)
    },
    async power(state) {
      const done = once(lines, 'line')
      child.stdin.write(`${state}\n`)
      await done
    },
    async stop() {
      child.stdin.end()
      await exited
    },
  }
}

/** Runs one statement on a connection of its own. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}
