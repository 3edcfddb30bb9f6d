import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { query, startPostgres, type PostgresServer } from './postgres.ts'
import { running, until } from './until.ts'

/** What can befall a database server as a process. */
export interface MortalPostgres extends Omit<PostgresServer, 'power'> {
  /** SIGKILL for the postmaster, as the machine's own killer would; resolves when all its processes are gone. */
  kill(): Promise<void>
  /** An orderly end, with every connection closed. */
  end(): Promise<void>
  /** After either of these; resolves when it takes connections again. */
  begin(): Promise<void>
  /** SIGSTOP for every process of the server: connections are taken and nothing is ever said. */
  stall(): Promise<void>
  resume(): void
}

export async function startMortalPostgres(): Promise<MortalPostgres> {
  const server = await startPostgres()
  const [place] = await query(server.url, 'show data_directory')
  const pid_file = join(String(place?.['data_directory']), 'postmaster.pid')
  let up = true
  let stalled: number[] = []

  async function processes(): Promise<[postmaster: number, ...others: number[]]> {
    const postmaster = Number((await readFile(pid_file, 'utf8')).split('\n')[0])
    const rows = await query(server.url, 'select pid from pg_stat_activity')
    return [postmaster, ...rows.map(({ pid }) => Number(pid))]
  }

  const resume = () => {
    for (const pid of stalled.splice(0)) if (running(pid)) process.kill(pid, 'SIGCONT')
  }
  const begin = async () => {
    if (up) return
    await server.power('start')
    up = true
  }
  return {
    url: server.url,
    createDatabase: (name) => server.createDatabase(name),
    async kill() {
      const all = await processes()
      process.kill(all[0], 'SIGKILL')
      up = false
      await until('all processes of a killed server are gone', () => all.every((pid) => !running(pid)))
    },
    async end() {
      await server.power('stop')
      up = false
    },
    begin,
    async stall() {
      stalled = await processes()
      for (const pid of stalled) if (running(pid)) process.kill(pid, 'SIGSTOP')
    },
    resume,
    async stop() {
      resume()
      // One that was killed has nothing left to stop.
      await begin()
      await server.stop()
    },
  }
}
