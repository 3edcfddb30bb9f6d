import { BUNDLED_ADDRESSES, createScreening, type Screening } from '../../pure/checks/ofac.ts'
import {
  datasetDefinition,
  DATASET_IDS,
  isDatasetId,
  isTableId,
  TABLE_IDS,
  TABLES,
  type BoundTable,
  type DatasetId,
} from '../../pure/datasets/datasets.ts'
import {
  compareSnapshotsSteps,
  isOlder,
  readSnapshotSteps,
  snapshotDay,
  snapshotHash,
  updateFault,
  type Snapshot,
  type SnapshotDifference,
} from '../../pure/datasets/definition.ts'
import type { OfacRow } from '../../pure/datasets/sanctions-lists.ts'
import { once } from '../../pure/once.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ActiveSnapshot, DatasetStore, FeedState, FeedReader } from '../../ports/datasets.ts'
import type { Log } from '../../ports/log.ts'
import { datasetLimits } from '../limits.ts'
import { FEED_NAMES, type FeedName } from '../../pure/datasets/feeds.ts'
import type { Job } from '../jobs/jobs.ts'

/** Snapshot from which checks answer now. */
interface ActiveDataset {
  id: DatasetId
  sha256: string
  snapshot: Snapshot
  origin: 'bundled' | 'store'
  pinned: boolean
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
  offer(id: string, text: string, bounds?: UpdateBounds): Promise<OfferResult>
  /** Offers the snapshots of one document: if one of them is refused, none becomes active. */
  offerAll(offered: readonly OfferedText[], bounds?: UpdateBounds): Promise<OfferResult[]>
  /** Text of a stored snapshot by its SHA-256 or the first 12 digits of it; null if the store has none. */
  text(sha256: string): Promise<string | null>
}

/** `accepted`: an operator compared the update, so the bounds of removed and changed rows do not apply. */
export type UpdateBounds = 'checked' | 'accepted'

interface OfferedText {
  dataset: string
  text: string
}

interface DatasetServiceParts {
  /** Binds the tables of checks in this process; left out where other code answers calls. */
  bind?: (tables: readonly BoundTable[]) => void
  /** Queues a hash for the public log; left out where no log is kept. */
  publish?: (sha256: string) => Promise<void>
  store: DatasetStore
  clock: Clock
  log: Log
}

/** Snapshot of the release. */
function floorOf(id: DatasetId): ActiveDataset | null {
  return FLOORS.get(id)?.() ?? null
}

const lazyFloor = (id: DatasetId, bundled: () => Snapshot) =>
  once((): ActiveDataset => {
    const snapshot = bundled()
    return { id, sha256: snapshotHash(snapshot), snapshot, origin: 'bundled', pinned: false }
  })

/** Made at first use: the hash of a large table takes some time. */
const FLOORS: ReadonlyMap<DatasetId, () => ActiveDataset> = new Map([
  ['ofac_addresses', lazyFloor('ofac_addresses', () => BUNDLED_ADDRESSES)],
  ...TABLE_IDS.map((id) => [id, lazyFloor(id, TABLES[id].bundled)] as const),
])

/** Snapshot that passed every check but those that compare it with the active one. */
type CheckedOffer = { ok: true; id: DatasetId; snapshot: Snapshot; difference: SnapshotDifference; before: ActiveDataset | undefined }
type RefusedOffer = { ok: false; result: Extract<OfferResult, { kind: 'refused' }> }

/** Snapshots that are active now. */
function createActiveSet({ log, bind }: Pick<DatasetServiceParts, 'log' | 'bind'>) {
  const addresses = floorOf('ofac_addresses')
  // Tables of the release are bound from the start, so the map contains those from the store alone.
  const bundled: ActiveMap = new Map(addresses === null ? [] : [[addresses.id, addresses]])
  // One object for all, so that a call never sees the lists of two moments.
  let current: { active: ActiveMap; screening: Screening } = { active: bundled, screening: screeningOf(bundled) }
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
        { dataset: active.id, before: before?.sha256 ?? null, after: active.sha256, published_at: snapshotDay(active.snapshot) },
        'a dataset changed',
      )
      if (!isTableId(active.id)) {
        current = { active: next, screening: screeningOf(next) }
        return
      }
      current = { ...current, active: next }
      bind?.(boundTables(next))
    },
  }
}

function boundTables(active: ActiveMap): BoundTable[] {
  return [...active.values()].flatMap(({ id, sha256, snapshot, origin }) =>
    isTableId(id) && origin === 'store' ? [{ id, sha256, snapshot }] : [],
  )
}

export function createDatasetService({ store, clock, log, publish, bind }: DatasetServiceParts): DatasetService {
  let feeds: readonly FeedState[] = []
  const set = createActiveSet(bind === undefined ? { log } : { log, bind })
  const activeOf = (id: DatasetId) => set.current().active.get(id) ?? floorOf(id) ?? undefined

  const useChosen = createChooser({ store, ...(publish === undefined ? {} : { publish }) }, set)
  const refreshOne = async (id: DatasetId) => useChosen(id, await store.active())

  const failed = (error: unknown) => log.error({ error: String(error) }, 'a dataset could not be loaded')

  async function refreshAll(): Promise<void> {
    const chosen = await store.active().catch(failed)
    if (chosen !== undefined) for (const id of DATASET_IDS) await useChosen(id, chosen).catch(failed)
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
    refresh: refreshAll,
    async refreshBundled() {
      const chosen = await store.active().catch(failed)
      if (chosen !== undefined) for (const id of FLOORS.keys()) await useChosen(id, chosen).catch(failed)
    },
    async offer(dataset, text, bounds) {
      const [result = HELD_BACK] = await offerAll([{ dataset, text }], bounds)
      return result
    },
    offerAll,
    text: cachedTexts(store),
  }
}

type ActiveSet = ReturnType<typeof createActiveSet>

/** Makes active what the store says about a dataset. */
function createChooser({ store, publish }: Pick<DatasetServiceParts, 'store' | 'publish'>, set: ActiveSet) {
  /** Stored snapshots that are older than that of the release, and so are read once, by dataset. */
  const outdated = new Map<DatasetId, string>()

  return async (id: DatasetId, all: readonly ActiveSnapshot[]): Promise<void> => {
    const chosen = all.find(({ dataset }) => dataset === id)
    const before = set.current().active.get(id)
    const floor = floorOf(id)
    if (chosen === undefined) {
      if (floor !== null && before !== undefined) set.use(floor)
      return
    }
    const { sha256, pinned } = chosen
    if (!pinned && outdated.get(id) === sha256) return
    const known = sha256 === before?.sha256
    const snapshot = known ? before.snapshot : await readStored(store, id, sha256)
    // A release may carry a newer list than the store.
    if (!pinned && floor !== null && isOlder(snapshot, floor.snapshot)) {
      outdated.set(id, sha256)
      if (before !== undefined) set.use(floor)
      return
    }
    // Queued before the first answer from it; the log passes over a hash that it has.
    if (!known) await publish?.(sha256)
    set.use({ id, sha256, snapshot, origin: 'store', pinned })
  }
}

/** Checks and activates the snapshots of one document. */
function createOffers(
  { store, clock }: Pick<DatasetServiceParts, 'store' | 'clock'>,
  refreshOne: (id: DatasetId) => Promise<void>,
  activeOf: (id: DatasetId) => ActiveDataset | undefined,
): DatasetService['offerAll'] {
  async function check({ dataset: id, text }: OfferedText, bounds: UpdateBounds): Promise<CheckedOffer | RefusedOffer> {
    const refuse = (reason: string, difference: SnapshotDifference | null = null): RefusedOffer => ({
      ok: false,
      result: { kind: 'refused', reason, difference },
    })
    if (!isDatasetId(id)) return refuse(`There is no dataset ${id}; there are ${DATASET_IDS.join(', ')}.`)
    const found = await inSlices(readSnapshotSteps(datasetDefinition(id), text, utcDate(clock.now_ms())))
    if (!found.ok) return refuse(found.reason)
    await refreshOne(id)
    const before = activeOf(id)
    const difference = await inSlices(compareSnapshotsSteps(datasetDefinition(id), before?.snapshot ?? null, found.snapshot))
    const fault =
      before === undefined || bounds === 'accepted' ? null : updateFault(datasetDefinition(id), before.snapshot, found.snapshot, difference)
    return fault === null ? { ok: true, id, snapshot: found.snapshot, difference, before } : refuse(fault, difference)
  }

  async function activate({ id, snapshot, difference, before }: CheckedOffer): Promise<OfferResult> {
    const published_at = snapshotDay(snapshot)
    const newer = before === undefined || (isOlder(before.snapshot, snapshot) && datasetDefinition(id).undated !== true)
    if (before !== undefined && isEmpty(difference) && !newer) return { kind: 'unchanged', sha256: before.sha256 }
    const now_ms = clock.now_ms()
    // Stored in canonical form, so that equal snapshots have one hash.
    const text = JSON.stringify(snapshot)
    const sha256 = await store.add({ dataset: id, published_at, rows: snapshot.rows.length, added_ms: now_ms }, text)
    const activated = await store.activate_unpinned({ dataset: id, sha256, activated_ms: now_ms })
    if (activated) await refreshOne(id)
    return { kind: activated ? 'activated' : 'pinned_elsewhere', sha256, difference }
  }

  return async (offered, bounds = 'checked') => {
    const checked = []
    for (const one of offered) checked.push(await check(one, bounds))
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

function screeningOf(active: ActiveMap): Screening {
  const addresses = active.get('ofac_addresses')
  const { snapshot, sha256 } = addresses ?? { snapshot: BUNDLED_ADDRESSES, sha256: snapshotHash(BUNDLED_ADDRESSES) }
  return createScreening(snapshot as Snapshot<OfacRow>, sha256)
}

/** Runs work in steps, and lets other work run between them. */
async function inSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await pause()
  }
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

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
  const found = await inSlices(readSnapshotSteps(datasetDefinition(id), stored, '9999-12-31'))
  if (!found.ok) throw new Error(`snapshot ${sha256} cannot be used: ${found.reason}`)
  return found.snapshot
}

const SHA256_DIGITS = 64

/** Reads texts of stored snapshots, the last few of which are cached. */
function cachedTexts(store: Pick<DatasetStore, 'text' | 'whole_hash'>): DatasetService['text'] {
  const texts = new Map<string, string>()
  return async (stated) => {
    const sha256 = texts.has(stated) || stated.length === SHA256_DIGITS ? stated : await store.whole_hash(stated)
    if (sha256 === null) return null
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

interface FeedParts {
  store: DatasetStore
  service: Pick<DatasetService, 'offerAll'>
  reader: FeedReader
  clock: Clock
  log: Log
}

/** Reads one feed and offers its snapshots. A document that fails any check leaves the active snapshots as they are; its tag is not kept. Returns null for
 * an optional document that the mirror lacks and that was never read. */
export async function readFeed({ store, service, reader, clock, log }: FeedParts, feed: FeedName): Promise<FeedState | null> {
  const before = (await store.feeds()).find((state) => state.feed === feed)
  const now_ms = clock.now_ms()
  const known = before?.etag ?? null
  const result = await reader.read(feed, known, new Date(now_ms).toISOString().slice(0, 10))
  const state = { feed, etag: known, read_ms: now_ms }
  const finish = async (found: FeedState): Promise<FeedState> => {
    await store.save_feed(found)
    const facts = { feed, outcome: found.outcome, detail: found.detail }
    if (found.outcome === 'failed' || found.outcome === 'refused') log.error(facts, 'a feed was not accepted; the active data stays')
    else log.info(facts, 'a feed was read')
    return found
  }
  if (result.kind === 'absent') {
    if (before === undefined) return null
    return finish({ ...state, outcome: 'failed', detail: result.reason })
  }
  if (result.kind === 'failed') return finish({ ...state, outcome: 'failed', detail: result.reason })
  if (result.kind === 'unchanged') return finish({ ...state, outcome: 'unchanged', detail: 'The document has not changed.' })
  const offers = await service.offerAll(result.snapshots)
  const detail = offers.map((offer, index) => `${result.snapshots[index]?.dataset ?? ''}: ${describeOffer(offer)}`).join(' ')
  if (offers.some(({ kind }) => kind === 'refused')) return finish({ ...state, outcome: 'refused', detail })
  const updated = offers.some(({ kind }) => kind === 'activated')
  return finish({ ...state, etag: result.etag, outcome: updated ? 'updated' : 'unchanged', detail })
}

/** Sentence for operators. */
export function describeOffer(offer: OfferResult): string {
  switch (offer.kind) {
    case 'refused':
      return `Refused. ${offer.reason}`
    case 'unchanged':
      return `Already active as ${offer.sha256}.`
    case 'activated':
      return `Now active as ${offer.sha256}: ${differenceText(offer)}.`
    case 'pinned_elsewhere':
      return `Stored as ${offer.sha256}, not active because another snapshot is pinned: ${differenceText(offer)}.`
  }
}

function differenceText({
  difference: { added, removed, changed },
}: Extract<OfferResult, { kind: 'activated' | 'pinned_elsewhere' }>): string {
  return `${added.length} rows added, ${removed.length} removed, ${changed.length} changed`
}

/** Reads every feed; of all instances on a store, the holder of the lease does. */
export function feedsJob(parts: FeedParts, every_ms: number): Job {
  return {
    name: 'dataset-feeds',
    every_ms,
    run: async () => {
      for (const feed of FEED_NAMES) await readFeed(parts, feed)
    },
  }
}
