import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { query } from './postgres.ts'
import { until } from './until.ts'

/** A PostgreSQL primary with one streaming standby, asynchronous at first. */
export interface ReplicatedPostgres {
  /** Both as superuser; database `postgres`. */
  primary: string
  standby: string
  /** Makes commits wait for the standby, or not. */
  setSynchronous(on: boolean): Promise<void>
  /** The standby receives nothing more, as behind a broken network. */
  stopReceiving(): Promise<void>
  /** The standby becomes a primary. */
  promote(): Promise<void>
  stop(): Promise<void>
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const script = fileURLToPath(new URL('postgres-standby-server.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const exited = once(child, 'exit')
  const started = once(createInterface(child.stdout), 'line').then(([line]) => String(line))
  const line = await Promise.race([started, exited.then(() => Promise.reject(new Error('PostgreSQL did not start')))])
  const [primary = '', standby = ''] = line.split(' ')
  const reload = async (url: string, setting: string) => {
    await query(url, `alter system set ${setting}`)
    await query(url, 'select pg_reload_conf()')
  }
  const attached = async (sync_state: string) =>
    (await query(primary, 'select sync_state from pg_stat_replication')).some((row) => row['sync_state'] === sync_state)
  await until('the standby is attached', () => attached('async'))
  return {
    primary,
    standby,
    async setSynchronous(on) {
      await reload(primary, `synchronous_standby_names = '${on ? '*' : ''}'`)
      await until('the standby changed its state', () => attached(on ? 'sync' : 'async'))
    },
    async stopReceiving() {
      await reload(standby, `primary_conninfo = ''`)
      await until('the standby has left', async () => (await query(primary, 'select 1 from pg_stat_replication')).length === 0)
    },
    async promote() {
      await query(standby, 'select pg_promote()')
    },
    async stop() {
      child.stdin.end()
      await exited
    },
  }
}
