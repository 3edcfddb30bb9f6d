import { FEED_NAMES, type FeedName } from '../../pure/datasets/feeds.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DatasetStore, FeedReader, FeedState } from '../../ports/datasets.ts'
import type { Log } from '../../ports/log.ts'
import type { Job } from '../jobs/jobs.ts'
import type { DatasetService, OfferResult } from './dataset-service.ts'

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
