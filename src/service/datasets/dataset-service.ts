import { BUNDLED_ADDRESSES, bundledScreening, createScreening, type Screening } from '../../pure/checks/ofac.ts'
import { DATASET_IDS, DATASETS, type DatasetId } from '../../pure/datasets/datasets.ts'
import {
  compareSnapshots,
  readSnapshot,
  snapshotHash,
  updateFault,
  type Snapshot,
  type SnapshotDifference,
} from '../../pure/datasets/definition.ts'
import type { OfacRow } from '../../pure/datasets/ofac-addresses.ts'
import { once } from '../../pure/once.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DatasetStore, FeedState } from '../../ports/datasets.ts'
import type { Log } from '../../ports/log.ts'
import { datasetLimits } from '../limits.ts'

/** Snapshot from which checks answer now. */
interface ActiveDataset {
  id: DatasetId
  sha256: string
  snapshot: Snapshot<OfacRow>
  origin: 'bundled' | 'store'
  pinned: boolean
}

export type OfferResult =
  | { kind: 'activated' | 'pinned_elsewhere'; sha256: string; difference: SnapshotDifference }
  | { kind: 'unchanged'; sha256: string }
  | { kind: 'refused'; reason: string; difference: SnapshotDifference | null }

export interface DatasetService {
  /** Lists for one call. */
  screening(): Screening
  active(): ActiveDataset[]
  /** Last result of each feed, as of the last refresh. */
  feeds(): readonly FeedState[]
  /** Binds the snapshots that are active in the store. A snapshot that cannot be read is logged, and the previous one stays. */
  refresh(): Promise<void>
  /** Stores a new snapshot and makes it active if it passes every check; otherwise the active one stays. */
  offer(id: string, text: string): Promise<OfferResult>
  /** Text of a stored snapshot; null if the store has none with this SHA-256. */
  text(sha256: string): Promise<string | null>
}

interface DatasetServiceParts {
  /** Queues a hash for the public log; left out where no log is kept. */
  publish?: (sha256: string) => Promise<void>
  store: DatasetStore
  clock: Clock
  log: Log
}

const bundled = once((): ActiveDataset => ({
  id: 'ofac_addresses',
  sha256: snapshotHash(BUNDLED_ADDRESSES),
  snapshot: BUNDLED_ADDRESSES,
  origin: 'bundled',
  pinned: false,
}))

export function isDatasetId(id: string): id is DatasetId {
  return Object.hasOwn(DATASETS, id)
}

export function createDatasetService({ store, clock, log, publish }: DatasetServiceParts): DatasetService {
  // One object for both, so that a call never sees the lists of two moments.
  let current = { active: bundled(), screening: bundledScreening() }
  let feeds: readonly FeedState[] = []

  function use(active: ActiveDataset): void {
    if (active.sha256 === current.active.sha256) {
      current = { ...current, active }
      return
    }
    const screening = active.origin === 'bundled' ? bundledScreening() : createScreening(active.snapshot, active.sha256)
    log.info(
      { dataset: active.id, before: current.active.sha256, after: active.sha256, published_at: active.snapshot.published_at },
      'a dataset changed',
    )
    current = { active, screening }
  }

  async function refreshOne(id: DatasetId): Promise<void> {
    const chosen = (await store.active()).find(({ dataset }) => dataset === id)
    if (chosen === undefined) return use(bundled())
    const { sha256, pinned } = chosen
    const known = sha256 === current.active.sha256
    const snapshot = known ? current.active.snapshot : await readStored(store, id, sha256)
    // A release may carry a newer list than the store.
    if (!pinned && snapshot.published_at < bundled().snapshot.published_at) return use(bundled())
    // Queued before the first answer from it; the log passes over a hash that it has.
    if (!known) await publish?.(sha256)
    use({ id, sha256, snapshot, origin: 'store', pinned })
  }

  async function refresh(): Promise<void> {
    const failed = (error: unknown) => log.error({ error: String(error) }, 'a dataset could not be loaded')
    for (const id of DATASET_IDS) await refreshOne(id).catch(failed)
    feeds = await store.feeds().catch((error: unknown) => {
      failed(error)
      return feeds
    })
  }

  async function offer(id: string, offered: string): Promise<OfferResult> {
    if (!isDatasetId(id))
      return { kind: 'refused', reason: `There is no dataset ${id}; there are ${DATASET_IDS.join(', ')}.`, difference: null }
    const found = readSnapshot(DATASETS[id], offered, utcDate(clock.now_ms()))
    if (!found.ok) return { kind: 'refused', reason: found.reason, difference: null }
    await refreshOne(id)
    const before = current.active
    // Stored in canonical form, so that equal snapshots have one hash.
    const text = JSON.stringify(found.snapshot)
    const difference = compareSnapshots(DATASETS[id], before.snapshot, found.snapshot)
    const fault = updateFault(DATASETS[id], before.snapshot, found.snapshot, difference)
    if (fault !== null) return { kind: 'refused', reason: fault, difference }
    const { published_at } = found.snapshot
    if (isEmpty(difference) && published_at === before.snapshot.published_at) return { kind: 'unchanged', sha256: before.sha256 }
    const now_ms = clock.now_ms()
    const sha256 = await store.add({ dataset: id, published_at, rows: found.snapshot.rows.length, added_ms: now_ms }, text)
    const activated = await store.activate_unpinned({ dataset: id, sha256, activated_ms: now_ms })
    if (activated) await refreshOne(id)
    return { kind: activated ? 'activated' : 'pinned_elsewhere', sha256, difference }
  }

  return {
    screening: () => current.screening,
    active: () => [current.active],
    feeds: () => feeds,
    refresh,
    offer,
    text: cachedTexts(store),
  }
}

function isEmpty({ added, removed, changed }: SnapshotDifference): boolean {
  return added.length + removed.length + changed.length === 0
}

function utcDate(now_ms: number): string {
  return new Date(now_ms).toISOString().slice(0, 10)
}

async function readStored(store: Pick<DatasetStore, 'text'>, id: DatasetId, sha256: string): Promise<Snapshot<OfacRow>> {
  const stored = await store.text(sha256)
  if (stored === null) throw new Error(`the store has no snapshot ${sha256}`)
  // A clock that was set back must not make an accepted snapshot unreadable.
  const found = readSnapshot(DATASETS[id], stored, '9999-12-31')
  if (!found.ok) throw new Error(`snapshot ${sha256} cannot be used: ${found.reason}`)
  return found.snapshot
}

/** Reads texts of stored snapshots, the last few of which are cached. */
function cachedTexts(store: Pick<DatasetStore, 'text'>): DatasetService['text'] {
  const texts = new Map<string, string>()
  return async (sha256) => {
    const known = texts.get(sha256)
    if (known !== undefined) return known
    const found = await store.text(sha256)
    if (found === null) return null
    if (texts.size >= datasetLimits.cached_texts) texts.clear()
    texts.set(sha256, found)
    return found
  }
}

/** Looks for newly activated snapshots, which another process may have activated. Returns the function that ends it. */
export function followDatasets({ refresh }: Pick<DatasetService, 'refresh'>): () => Promise<void> {
  let last = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(refresh)
  }, datasetLimits.poll_ms)
  timer.unref()
  return () => {
    clearInterval(timer)
    return last
  }
}
