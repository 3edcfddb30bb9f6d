import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startLink, type Link } from '../../test/support/fault-link.ts'
import { lastingPort } from '../../test/support/service.ts'
import { running, until } from '../../test/support/until.ts'
import { PROGRAM_ENVIRONMENT, type ClusterPrograms } from './cluster-programs.ts'
import { startPrimaryProxy, type ClusterNode, type PrimaryProxy } from './primary-proxy.ts'

/**
 * Patroni's timing, in seconds. The leader key of a dead primary expires after `ttl`; a busy machine must be able to renew it, which needs
 * loop_wait + 2 × retry_timeout ≤ ttl.
 */
const TIMING = { ttl: 12, loop_wait: 1, retry_timeout: 5 }
const START_MS = 120_000
const NODES = ['one', 'two', 'three'] as const
const ROLE = 'assay'

interface Node extends ClusterNode {
  folder: string
  /** The way of the other nodes to this one: the path that replication takes. */
  link: Link
  link_port: number
  patroni: ChildProcess | null
}

export interface ClusterOptions {
  synchronous: boolean
  programs: ClusterPrograms
}

/** Three PostgreSQL servers under Patroni with one etcd, on loopback, in a temporary folder. */
export class FailoverCluster {
  readonly #options: ClusterOptions
  readonly #folder: string
  readonly #nodes: readonly Node[]
  readonly #etcd_port: number
  readonly #output: string[] = []
  #etcd: ChildProcess | null = null
  #proxy: PrimaryProxy | null = null
  #lagging: Node | null = null

  private constructor(options: ClusterOptions, folder: string, nodes: readonly Node[], etcd_port: number) {
    this.#options = options
    this.#folder = folder
    this.#nodes = nodes
    this.#etcd_port = etcd_port
  }

  static async start(options: ClusterOptions): Promise<FailoverCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'assay-failover-'))
    await chmod(folder, 0o711)
    const nodes: Node[] = []
    for (const name of NODES) nodes.push(await newNode(name, await ownFolder(join(folder, name), options.programs)))
    const cluster = new FailoverCluster(options, folder, nodes, Number(await lastingPort()))
    try {
      await cluster.#begin()
      return cluster
    } catch (error) {
      await cluster.stop()
      throw new Error(`${String(error)}\n${cluster.#output.slice(-60).join('')}`, { cause: error })
    }
  }

  /** The database of the plain role `assay`, through the proxy that follows the primary. */
  get url(): string {
    return `postgres://${ROLE}@127.0.0.1:${this.#proxy?.port ?? 0}/${ROLE}`
  }

  /** Waits until there is a primary that takes writes, and returns its name. */
  async primary(): Promise<string> {
    await until('a primary takes writes', () => this.#takesWrites(), START_MS)
    return this.#leader().name
  }

  /** Ends Patroni and all PostgreSQL processes of the primary by SIGKILL, as a machine dies. Returns its name. */
  async kill(): Promise<string> {
    const node = this.#leader()
    // What a lost link has swallowed never arrives; a link that works carries what the dying node has sent.
    if (this.#lagging === node) node.link.become('cut')
    await endNow(node)
    node.link.become('open')
    this.#lagging = null
    return node.name
  }

  /** Starts the nodes that are dead again; resolves when both standbys follow the primary, one of them synchronously where that is asked for. */
  async rejoin(): Promise<void> {
    for (const node of this.#nodes) if (node.patroni === null) await this.#startNode(node)
    await until('two standbys follow the primary', () => this.#isWhole(), START_MS)
  }

  /** Stops replication from the primary without breaking its connections: what is committed from now on is on no standby. */
  lag(): void {
    this.#lagging = this.#leader()
    this.#lagging.link.become('lost')
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(endNow))
    await this.#proxy?.stop()
    await Promise.all(this.#nodes.map(({ link }) => link.stop()))
    if (this.#etcd !== null) await ended(this.#etcd, 'SIGKILL')
    await rm(this.#folder, { recursive: true, force: true })
  }

  #leader(): Node {
    const name = this.#proxy?.primary()?.name
    const node = this.#nodes.find((one) => one.name === name)
    if (node === undefined) throw new Error('The cluster has no primary')
    return node
  }

  async #begin(): Promise<void> {
    await this.#startEtcd()
    this.#proxy = await startPrimaryProxy(this.#nodes)
    const [first, ...others] = this.#nodes
    if (first === undefined) return
    await this.#startNode(first)
    await this.primary()
    await this.#asSuperuser(`create role ${ROLE} login`)
    // As docs/operating/store.md asks of operators: without it the service cannot see whether a standby is synchronous.
    await this.#asSuperuser(`grant pg_read_all_stats to ${ROLE}`)
    await this.#asSuperuser(`create database ${ROLE} owner ${ROLE}`)
    for (const node of others) await this.#startNode(node)
    await this.rejoin()
  }

  async #startEtcd(): Promise<void> {
    const client = `http://127.0.0.1:${this.#etcd_port}`
    const peer = `http://127.0.0.1:${await lastingPort()}`
    const folder = await ownFolder(join(this.#folder, 'etcd'), this.#options.programs)
    const flags = {
      name: 'etcd',
      'data-dir': join(folder, 'data'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `etcd=${peer}`,
      // A single member loses its leadership when the disk is slow; nothing here tests etcd.
      'heartbeat-interval': '500',
      'election-timeout': '5000',
    }
    const written = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
    this.#etcd = this.#spawn(this.#options.programs.etcd, written)
    const healthy = () =>
      fetch(`${client}/health`).then(
        ({ status }) => status === 200,
        () => false,
      )
    await until('etcd is healthy', healthy, START_MS)
  }

  async #startNode(node: Node): Promise<void> {
    const file = join(node.folder, 'patroni.yml')
    await writeFile(file, JSON.stringify(this.#patroniSettings(node)))
    node.patroni = this.#spawn(this.#options.programs.patroni, [file])
  }

  /** YAML of Patroni 3; JSON is YAML. */
  #patroniSettings({ name, folder, port, link_port, rest_port }: Node): unknown {
    const { synchronous, programs } = this.#options
    const rest = `127.0.0.1:${rest_port}`
    const trusted = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
    const users = Object.fromEntries(['superuser', 'replication', 'rewind'].map((kind) => [kind, { username: 'postgres' }]))
    return {
      scope: 'assay',
      name,
      restapi: { listen: rest, connect_address: rest },
      etcd3: { hosts: `127.0.0.1:${this.#etcd_port}` },
      bootstrap: {
        dcs: {
          ...TIMING,
          synchronous_mode: synchronous,
          // A standby that lags must be promoted all the same: that is the case under test.
          maximum_lag_on_failover: 2 ** 30,
          postgresql: { use_pg_rewind: true, parameters: { wal_keep_size: '256MB', unix_socket_directories: '' } },
        },
        initdb: ['no-sync', { encoding: 'UTF8' }, { locale: 'C' }],
        pg_hba: trusted,
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${link_port}`,
        data_dir: join(folder, 'data'),
        bin_dir: programs.postgres_folder,
        basebackup: [{ checkpoint: 'fast' }],
        pgpass: join(folder, 'pgpass'),
        authentication: users,
        pg_hba: trusted,
        parameters: { shared_buffers: '32MB', log_min_messages: 'fatal' },
      },
    }
  }

  #spawn(program: string, args: string[]): ChildProcess {
    const { user } = this.#options.programs
    const child = spawn(program, args, {
      cwd: this.#folder,
      env: PROGRAM_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void this.#output.push(chunk.toString()))
    return child
  }

  async #asSuperuser(text: string): Promise<Record<string, unknown>[]> {
    const { port } = this.#leader()
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', connectionTimeoutMillis: 3_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query<Record<string, unknown>>(text)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async #takesWrites(): Promise<boolean> {
    try {
      const [row] = await this.#asSuperuser('select pg_is_in_recovery() as standby')
      return row?.['standby'] === false
    } catch {
      return false
    }
  }

  /** In synchronous mode, Patroni promotes only a standby that it has recorded as synchronous, which is later than PostgreSQL calls it so. */
  async #isWhole(): Promise<boolean> {
    try {
      const rows = await this.#asSuperuser(`select 1 from pg_stat_replication where state = 'streaming'`)
      if (rows.length !== NODES.length - 1) return false
      if (!this.#options.synchronous) return true
      const response = await fetch(`http://127.0.0.1:${this.#leader().rest_port}/cluster`, { signal: AbortSignal.timeout(1_000) })
      const { members } = (await response.json()) as { members: { role: string }[] }
      return members.some(({ role }) => role === 'sync_standby')
    } catch {
      return false
    }
  }
}

async function newNode(name: string, folder: string): Promise<Node> {
  const [port, rest_port] = [Number(await lastingPort()), Number(await lastingPort())]
  const link = await startLink(`postgres://127.0.0.1:${port}`)
  const link_port = Number(new URL(link.through(`postgres://127.0.0.1:${port}`)).port)
  return { name, folder, port, rest_port, link, link_port, patroni: null }
}

async function ownFolder(path: string, { user }: ClusterPrograms): Promise<string> {
  await mkdir(path, { mode: 0o700 })
  if (user !== undefined) chownSync(path, user.uid, user.gid)
  return path
}

/** Ends Patroni first, so that it does not start its PostgreSQL again. */
async function endNow(node: Node): Promise<void> {
  if (node.patroni !== null) await ended(node.patroni, 'SIGKILL')
  node.patroni = null
  const pids = postgresProcesses(join(node.folder, 'data', 'postmaster.pid'))
  for (const pid of pids) if (running(pid)) process.kill(pid, 'SIGKILL')
  await until(`all processes of node ${node.name} are gone`, () => pids.every((pid) => !running(pid)))
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

/** The postmaster and its children, as /proc has them. */
function postgresProcesses(pid_file: string): number[] {
  if (!existsSync(pid_file)) return []
  const postmaster = Number(readFileSync(pid_file, 'utf8').split('\n')[0])
  const children = globSync('/proc/[0-9]*/stat').flatMap((path) => {
    const parent = parentOf(path)
    return parent === postmaster ? [Number(path.split('/')[2])] : []
  })
  return running(postmaster) ? [postmaster, ...children] : children
}

function parentOf(stat_file: string): number | null {
  try {
    // The second field is a name in brackets, which may contain spaces.
    return Number(readFileSync(stat_file, 'utf8').split(') ').at(-1)?.split(' ')[1])
  } catch {
    return null
  }
}
