import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import type { ActiveSnapshot, DatasetStore, FeedState, StoredSnapshot } from '../../ports/datasets.ts'
import { datasetLimits } from '../../service/limits.ts'
import { columns, count, flag, hash_type, key_type, nullable, parameter, pick, text_type, word_type } from './columns.ts'
import { inserted, matched, raw, replaced, selected, sql, statement } from './statements.ts'
import { DatabaseStore } from './database.ts'
import { StoreRefusedError } from './errors.ts'

/** Snapshots of datasets in the SQL that both databases share. Texts are stored as Brotli (RFC 7932) in base64. */

const snapshot = columns(
  { sha256: hash_type, dataset: key_type, published_at: key_type, rows: count, added_ms: count },
  { rows: 'row_count' },
)
const packed = columns({ packed: text_type })
const active = columns({ dataset: key_type, sha256: hash_type, pinned: flag, activated_ms: count })
const feed = columns({
  feed: key_type,
  etag: nullable(key_type),
  outcome: word_type('updated', 'unchanged', 'failed', 'refused'),
  detail: text_type,
  read_ms: count,
})

const ADD = statement(
  'add_dataset_snapshot',
  sql`insert into dataset_snapshot ${inserted({ ...snapshot, ...packed })} on conflict (sha256) do nothing`,
)
const TEXT = statement('dataset_text', sql`select ${selected(packed)} from dataset_snapshot where ${matched(pick(snapshot, 'sha256'))}`)
const SHORT_HASH_DIGITS = 12
const WHOLE_HASH = statement(
  'dataset_hash',
  sql`select ${selected(pick(snapshot, 'sha256'))} from dataset_snapshot
    where substr(sha256, 1, ${raw(String(SHORT_HASH_DIGITS))}) = ${parameter('digits', key_type)} order by sha256 limit 1`,
)
const SNAPSHOTS = statement(
  'dataset_snapshots',
  sql`select ${selected(snapshot)} from dataset_snapshot order by added_ms desc, sha256 limit ${parameter('limit', count)}`,
)
const ACTIVATE = statement(
  'activate_dataset',
  sql`insert into dataset_active ${inserted(active)} on conflict (dataset) do update set ${replaced(active)}`,
)
const ACTIVATE_UNPINNED = statement(
  'activate_unpinned_dataset',
  sql`insert into dataset_active ${inserted(active)} on conflict (dataset) do update set ${replaced(active)}
    where dataset_active.pinned = 0 returning dataset`,
)
const ACTIVE = statement('active_datasets', sql`select ${selected(active)} from dataset_active order by dataset`)
const SAVE_FEED = statement(
  'save_dataset_feed',
  sql`insert into dataset_feed ${inserted(feed)} on conflict (feed) do update set ${replaced(feed)}`,
)
const FEEDS = statement('dataset_feeds', sql`select ${selected(feed)} from dataset_feed order by feed`)

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)
/** Half the size of gzip's at a third of the time of the best quality. */
const QUALITY = 6

export class SqlDatasetStore extends DatabaseStore implements DatasetStore {
  async add(described: Omit<StoredSnapshot, 'sha256'>, text: string): Promise<string> {
    const bytes = Buffer.from(text, 'utf8')
    if (bytes.length > datasetLimits.snapshot_bytes)
      throw new StoreRefusedError(`a snapshot of ${bytes.length} bytes; at most ${datasetLimits.snapshot_bytes} are stored`)
    const sha256 = hashOf(bytes)
    const body = await compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } })
    await this.database.execute(ADD, { ...described, sha256, packed: body.toString('base64') })
    return sha256
  }

  async text(sha256: string): Promise<string | null> {
    const found = await this.database.readFirst(TEXT, { sha256 })
    if (found === null) return null
    const bytes = await decompress(Buffer.from(found.packed, 'base64'), { maxOutputLength: datasetLimits.snapshot_bytes })
    if (hashOf(bytes) !== sha256) throw new StoreRefusedError(`the stored snapshot ${sha256} is damaged`)
    return bytes.toString('utf8')
  }

  async whole_hash(digits: string): Promise<string | null> {
    return (await this.database.readFirst(WHOLE_HASH, { digits }))?.sha256 ?? null
  }

  snapshots(limit: number): Promise<StoredSnapshot[]> {
    return this.database.readAll(SNAPSHOTS, { limit })
  }

  async activate(chosen: ActiveSnapshot): Promise<void> {
    await this.database.execute(ACTIVATE, chosen)
  }

  activate_unpinned(chosen: Omit<ActiveSnapshot, 'pinned'>): Promise<boolean> {
    return this.database.execute(ACTIVATE_UNPINNED, { ...chosen, pinned: false })
  }

  active(): Promise<ActiveSnapshot[]> {
    return this.database.readAll(ACTIVE, {})
  }

  async save_feed(state: FeedState): Promise<void> {
    await this.database.execute(SAVE_FEED, state)
  }

  feeds(): Promise<FeedState[]> {
    return this.database.readAll(FEEDS, {})
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
