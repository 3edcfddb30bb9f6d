import type { Store, StoreReplication } from '../ports/store.ts'
import type { Gauge } from '../ports/telemetry.ts'

/** Replication of the store: it decides if a commit survives the loss of the database server that made it. */

/**
 * `none`: SQLite, or a server without standbys. `synchronous`: each commit waits for a standby. `waiting`: it would, but no standby matches
 * the setting, so commits wait. `asynchronous`: standbys are attached, and none is synchronous. `unknown`: the rights to see
 * whether a standby matches the setting are missing.
 */
const STATES = ['none', 'synchronous', 'waiting', 'asynchronous', 'unknown'] as const

type ReplicationState = (typeof STATES)[number]

export interface ReplicationFinding {
  state: ReplicationState
  words: string
}

const COMMITS_WAIT: ReadonlySet<string> = new Set(['on', 'remote_write', 'remote_apply'])

const ADVICE =
  'Set synchronous_standby_names (Patroni: synchronous_mode: true), so that a failover loses no payment that was answered and no entry of the log; ' +
  'ASSAY_ASYNC_STANDBY=accept accepts that loss.'

export function judgeReplication(found: StoreReplication | null): ReplicationFinding {
  if (found === null) return { state: 'none', words: 'SQLite: one file on one disk; a loss of the disk loses all since the last backup.' }
  const { standbys, standby_names, synchronous_commit } = found
  const is_waited_for = standby_names !== '' && COMMITS_WAIT.has(synchronous_commit)
  if (standbys === null && is_waited_for) return { state: 'unknown', words: unknownWords(standby_names) }
  if (standbys === null) return asynchronous('Standbys are attached', found)
  const attached = `${standbys.length} ${standbys.length === 1 ? 'standby is' : 'standbys are'} attached`
  if (standbys.length === 0) {
    const single = 'No standby is attached: a loss of this server loses all since the last backup, unless its storage is replicated.'
    return standby_names === ''
      ? { state: 'none', words: single }
      : { state: 'waiting', words: waitingWords(standby_names, 'no standby is attached') }
  }
  if (is_waited_for) {
    const synchronous = standbys.filter((state) => state === 'sync' || state === 'quorum').length
    if (synchronous > 0) return { state: 'synchronous', words: `${attached}, ${synchronous} of them synchronous; commits wait for it.` }
    return { state: 'waiting', words: waitingWords(standby_names, `${attached}, but none matches it`) }
  }
  return asynchronous(attached, found)
}

function asynchronous(attached: string, { synchronous_commit }: StoreReplication): ReplicationFinding {
  const cause = COMMITS_WAIT.has(synchronous_commit) ? 'synchronous_standby_names is empty' : `synchronous_commit is ${synchronous_commit}`
  return {
    state: 'asynchronous',
    words: `${attached} to PostgreSQL and none is synchronous (${cause}): a failover loses the newest commits. ${ADVICE}`,
  }
}

function waitingWords(names: string, why: string): string {
  return `synchronous_standby_names is "${names}" and ${why}: every commit waits until one is attached.`
}

function unknownWords(names: string): string {
  return (
    `Standbys are attached and synchronous_standby_names is "${names}", but the user of ASSAY_STORE may not see if one matches: "grant pg_read_all_stats to …" shows it. ` +
    'On a managed database check that its failover loses no commit.'
  )
}

/** Reads the replication now and then; the last finding is in memory. */
export interface ReplicationWatch {
  /** Never rejects: a store that does not answer leaves the last finding. */
  look(): Promise<void>
  last(): ReplicationFinding
  gauge: Gauge
}

export function watchReplication(store: Pick<Store, 'replication'>): ReplicationWatch {
  let last: ReplicationFinding = { state: 'unknown', words: 'Replication was not read yet.' }
  return {
    look: async () => {
      await store.replication().then(
        (found) => void (last = judgeReplication(found)),
        () => undefined,
      )
    },
    last: () => last,
    gauge: {
      name: 'assay_store_replication',
      help: '1 for the state of replication of the store: none, synchronous, waiting, asynchronous or unknown.',
      kind: 'gauge',
      read: () => STATES.map((state) => ({ labels: { state }, value: Number(state === last.state) })),
    },
  }
}
