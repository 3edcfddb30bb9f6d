import { BUNDLED_ADDRESSES, createScreening, type Screening } from '../../pure/checks/ofac.ts'
import { datasetDefinition, DATASET_IDS, DATASETS, isDatasetId, type DatasetId } from '../../pure/datasets/datasets.ts'
import {
  compareSnapshots,
  readSnapshot,
  snapshotHash,
  updateFault,
  type Snapshot,
  type SnapshotDifference,
} from '../../pure/datasets/definition.ts'
import { NAME_LIST_IDS, type NameRow } from '../../pure/datasets/listed-names.ts'
import type { OfacRow } from '../../pure/datasets/ofac-addresses.ts'
import { buildNameIndex } from '../../pure/screening/name-index.ts'
import { buildInSlices, type NameList } from '../../pure/screening/screen-name.ts'
import { once } from '../../pure/once.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DatasetStore, FeedState } from '../../ports/datasets.ts'
import type { Log } from '../../ports/log.ts'
import { datasetLimits } from '../limits.ts'

/** Snapshot from which checks answer now. */
interface ActiveDataset {
  id: DatasetId
  sha256: string
  snapshot: Snapshot
  origin: 'bundled' | 'store'
  pinned: boolean
  /** The list as the screening of names uses it; null for other datasets. */
  names: NameList | null
}

type ActiveMap = ReadonlyMap<DatasetId, ActiveDataset>

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
  /** The same for the datasets that the release contains; the others follow with the first `refresh`, so that a start need not wait for them. */
  refreshBundled(): Promise<void>
  /** Stores a new snapshot and makes it active if it passes every check; otherwise the active one stays. */
  offer(id: string, text: string): Promise<OfferResult>
  /** Offers the snapshots of one document: if one of them is refused, none becomes active. */
  offerAll(offered: readonly OfferedText[]): Promise<OfferResult[]>
  /** Text of a stored snapshot; null if the store has none with this SHA-256. */
  text(sha256: string): Promise<string | null>
}

interface OfferedText {
  dataset: string
  text: string
}

interface DatasetServiceParts {
  /** Queues a hash for the public log; left out where no log is kept. */
  publish?: (sha256: string) => Promise<void>
  store: DatasetStore
  clock: Clock
  log: Log
}

/** Snapshots of the release. Lists of names have none: they are used once a feed or an import brought them. */
const FLOOR: Partial<Record<DatasetId, () => ActiveDataset>> = {
  ofac_addresses: once(() => ({
    id: 'ofac_addresses',
    sha256: snapshotHash(BUNDLED_ADDRESSES),
    snapshot: BUNDLED_ADDRESSES,
    origin: 'bundled',
    pinned: false,
    names: null,
  })),
}

const FLOORS = Object.values(FLOOR)

/** Snapshot that passed every check but those that compare it with the active one. */
type CheckedOffer = { ok: true; id: DatasetId; snapshot: Snapshot; difference: SnapshotDifference; before: ActiveDataset | undefined }
type RefusedOffer = { ok: false; result: Extract<OfferResult, { kind: 'refused' }> }

/** Lists of names of a set. */
function namesOf(active: ActiveMap): NameList[] {
  return NAME_LIST_IDS.map((id) => active.get(id)?.names ?? null).filter((names) => names !== null)
}

/** Snapshots that are active now. `load` brings the lists of names of a process that has just started; until `complete`, a call waits for it. */
function createActiveSet(log: Log, load: () => Promise<void>) {
  let complete = false
  const bundled: ActiveMap = new Map(FLOORS.map((floor) => floor()).map((active) => [active.id, active]))
  const screening = (active: ActiveMap): Screening => {
    const loaded = namesOf(active)
    return screeningOf(active, complete ? { loaded } : { loaded, load: () => load().then(() => namesOf(current.active)) })
  }
  // One object for all, so that a call never sees the lists of two moments.
  let current: { active: ActiveMap; screening: Screening } = { active: bundled, screening: screening(bundled) }
  return {
    current: () => current,
    use(active: ActiveDataset): void {
      const before = current.active.get(active.id)
      const next = new Map(current.active).set(active.id, active)
      if (before?.sha256 === active.sha256) {
        current = { ...current, active: next }
        return
      }
      log.info(
        { dataset: active.id, before: before?.sha256 ?? null, after: active.sha256, published_at: active.snapshot.published_at },
        'a dataset changed',
      )
      current = { active: next, screening: screening(next) }
    },
    complete(): void {
      if (complete) return
      complete = true
      current = { ...current, screening: screening(current.active) }
    },
  }
}

export function createDatasetService({ store, clock, log, publish }: DatasetServiceParts): DatasetService {
  let feeds: readonly FeedState[] = []
  let first_refresh: Promise<void> | null = null
  const set = createActiveSet(log, () => (first_refresh ??= refreshAll()))
  const activeOf = (id: DatasetId) => set.current().active.get(id)

  async function refreshOne(id: DatasetId): Promise<void> {
    const chosen = (await store.active()).find(({ dataset }) => dataset === id)
    const floor = FLOOR[id]?.()
    if (chosen === undefined) return floor && set.use(floor)
    const { sha256, pinned } = chosen
    const before = activeOf(id)
    const known = sha256 === before?.sha256
    const snapshot = known ? before.snapshot : await readStored(store, id, sha256)
    // A release may carry a newer list than the store.
    if (!pinned && floor !== undefined && snapshot.published_at < floor.snapshot.published_at) return set.use(floor)
    // Queued before the first answer from it; the log passes over a hash that it has.
    if (!known) await publish?.(sha256)
    set.use({ id, sha256, snapshot, origin: 'store', pinned, names: known ? before.names : nameList(id, sha256, snapshot) })
  }

  const failed = (error: unknown) => log.error({ error: String(error) }, 'a dataset could not be loaded')

  async function refreshAll(): Promise<void> {
    for (const id of DATASET_IDS) await refreshOne(id).catch(failed)
    set.complete()
    feeds = await store.feeds().catch((error: unknown) => {
      failed(error)
      return feeds
    })
  }

  const offerAll = createOffers({ store, clock }, refreshOne, activeOf)
  return {
    screening: () => set.current().screening,
    active: () => [...set.current().active.values()],
    feeds: () => feeds,
    refresh() {
      const refreshed = refreshAll()
      first_refresh ??= refreshed
      return refreshed
    },
    async refreshBundled() {
      for (const id of DATASET_IDS) if (FLOOR[id] !== undefined) await refreshOne(id).catch(failed)
    },
    async offer(dataset, text) {
      const [result = HELD_BACK] = await offerAll([{ dataset, text }])
      return result
    },
    offerAll,
    text: cachedTexts(store),
  }
}

/** Checks and activates the snapshots of one document. */
function createOffers(
  { store, clock }: Pick<DatasetServiceParts, 'store' | 'clock'>,
  refreshOne: (id: DatasetId) => Promise<void>,
  activeOf: (id: DatasetId) => ActiveDataset | undefined,
): DatasetService['offerAll'] {
  async function check({ dataset: id, text }: OfferedText): Promise<CheckedOffer | RefusedOffer> {
    const refuse = (reason: string, difference: SnapshotDifference | null = null): RefusedOffer => ({
      ok: false,
      result: { kind: 'refused', reason, difference },
    })
    if (!isDatasetId(id)) return refuse(`There is no dataset ${id}; there are ${DATASET_IDS.join(', ')}.`)
    const found = readSnapshot(datasetDefinition(id), text, utcDate(clock.now_ms()))
    if (!found.ok) return refuse(found.reason)
    await refreshOne(id)
    const before = activeOf(id)
    const difference = compareSnapshots(datasetDefinition(id), before?.snapshot ?? null, found.snapshot)
    const fault = before === undefined ? null : updateFault(DATASETS[id], before.snapshot, found.snapshot, difference)
    return fault === null ? { ok: true, id, snapshot: found.snapshot, difference, before } : refuse(fault, difference)
  }

  async function activate({ id, snapshot, difference, before }: CheckedOffer): Promise<OfferResult> {
    const { published_at } = snapshot
    if (before !== undefined && isEmpty(difference) && published_at === before.snapshot.published_at)
      return { kind: 'unchanged', sha256: before.sha256 }
    const now_ms = clock.now_ms()
    // Stored in canonical form, so that equal snapshots have one hash.
    const text = JSON.stringify(snapshot)
    const sha256 = await store.add({ dataset: id, published_at, rows: snapshot.rows.length, added_ms: now_ms }, text)
    const activated = await store.activate_unpinned({ dataset: id, sha256, activated_ms: now_ms })
    if (activated) await refreshOne(id)
    return { kind: activated ? 'activated' : 'pinned_elsewhere', sha256, difference }
  }

  return async (offered) => {
    const checked = []
    for (const one of offered) checked.push(await check(one))
    if (checked.some(({ ok }) => !ok)) return checked.map((one) => (one.ok ? HELD_BACK : one.result))
    const results = []
    for (const one of checked) if (one.ok) results.push(await activate(one))
    return results
  }
}

const HELD_BACK: OfferResult = {
  kind: 'refused',
  reason: 'It was not used, because another dataset of the same document was refused.',
  difference: null,
}

function screeningOf(active: ActiveMap, names: Parameters<typeof createScreening>[2]): Screening {
  const addresses = active.get('ofac_addresses')
  const { snapshot, sha256 } = addresses ?? { snapshot: BUNDLED_ADDRESSES, sha256: snapshotHash(BUNDLED_ADDRESSES) }
  return createScreening(snapshot as Snapshot<OfacRow>, sha256, names)
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

function nameList(id: DatasetId, sha256: string, { published_at, count, rows }: Snapshot): NameList | null {
  const list = NAME_LIST_IDS.find((one) => one === id)
  if (list === undefined) return null
  return { id: list, published_at, count, sha256, index: once(() => buildInSlices(buildNameIndex(rows as NameRow[]), pause)) }
}

function isEmpty({ added, removed, changed }: SnapshotDifference): boolean {
  return added.length + removed.length + changed.length === 0
}

function utcDate(now_ms: number): string {
  return new Date(now_ms).toISOString().slice(0, 10)
}

async function readStored(store: Pick<DatasetStore, 'text'>, id: DatasetId, sha256: string): Promise<Snapshot> {
  const stored = await store.text(sha256)
  if (stored === null) throw new Error(`the store has no snapshot ${sha256}`)
  // A clock that was set back must not make an accepted snapshot unreadable.
  const found = readSnapshot(datasetDefinition(id), stored, '9999-12-31')
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
  let last = refresh()
  const timer = setInterval(() => {
    last = last.then(refresh)
  }, datasetLimits.poll_ms)
  timer.unref()
  return () => {
    clearInterval(timer)
    return last
  }
}
