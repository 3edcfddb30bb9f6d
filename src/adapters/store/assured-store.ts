import type { AssuredMark, AssuredRecord, AssuredRecords, NewAssuredRecord } from '../../ports/assured-records.ts'
import { StoreUnavailableError } from './errors.ts'
import { integer, oneOf, text, textOrNull } from './rows.ts'
import { assertCounts, assertKeys, assertTexts } from './storable.ts'
import type { Database, Row, Statement } from './work.ts'

const COLUMNS = 'receipt_hash, assured_id, terms, window_ends_s, created_ms, mark, signed_by, terms_signature'

/** One statement decides between two that come together. Returns the row when it was written. */
const KEEP: Statement = {
  name: 'keep_assured',
  text: `insert into assured_record (${COLUMNS}) values (?1, ?2, ?3, ?4, ?5, 'OPEN', ?6, ?7)
    on conflict (receipt_hash) do update set terms = excluded.terms, created_ms = excluded.created_ms, signed_by = excluded.signed_by,
      terms_signature = excluded.terms_signature
    where assured_record.signed_by is null and excluded.signed_by is not null
    returning ${COLUMNS}`,
}

const FIND: Statement = {
  name: 'find_assured',
  text: `select ${COLUMNS} from assured_record where receipt_hash = ?1`,
}

const MARK: Statement = {
  name: 'mark_assured',
  text: 'update assured_record set mark = ?2 where receipt_hash = ?1 and mark = ?3 returning receipt_hash',
}

/** The one mark from which each other is reached. */
const BEFORE: Readonly<Record<Exclude<AssuredMark, 'OPEN'>, AssuredMark>> = { DISPUTED: 'OPEN', ADJUDICATED: 'DISPUTED' }
const MARKS: readonly AssuredMark[] = ['OPEN', 'DISPUTED', 'ADJUDICATED']

/** Assured records in the SQL that both databases share. */
export class SqlAssuredStore implements AssuredRecords {
  readonly #database: Pick<Database, 'read' | 'write'>

  constructor(database: Pick<Database, 'read' | 'write'>) {
    this.#database = database
  }

  async keep(record: NewAssuredRecord): Promise<{ created: boolean; record: AssuredRecord }> {
    const { receipt_hash, assured_id, terms, window_ends_s, created_ms, signed } = record
    assertKeys({ receipt_hash, assured_id, signed_by: signed?.by ?? '-', terms_signature: signed?.signature ?? '-' })
    assertTexts({ terms })
    assertCounts({ window_ends_s, created_ms })
    const values = [receipt_hash, assured_id, terms, window_ends_s, created_ms, signed?.by ?? null, signed?.signature ?? null]
    const [written] = await this.#database.write(KEEP, values)
    if (written !== undefined) return { created: true, record: recordOf(written) }
    // Rows are never removed, so that the loser finds the winner's.
    const kept = await this.find(receipt_hash)
    if (kept === null) throw new StoreUnavailableError('The store lost a record that it had kept.')
    return { created: false, record: kept }
  }

  async find(receipt_hash: string): Promise<AssuredRecord | null> {
    assertKeys({ receipt_hash })
    const [row] = await this.#database.read(FIND, [receipt_hash])
    return row === undefined ? null : recordOf(row)
  }

  async mark(receipt_hash: string, to: Exclude<AssuredMark, 'OPEN'>): Promise<boolean> {
    assertKeys({ receipt_hash })
    return (await this.#database.write(MARK, [receipt_hash, to, BEFORE[to]])).length === 1
  }
}

function recordOf(row: Row): AssuredRecord {
  const signed_by = textOrNull(row, 'signed_by')
  return {
    receipt_hash: text(row, 'receipt_hash'),
    assured_id: text(row, 'assured_id'),
    terms: text(row, 'terms'),
    window_ends_s: integer(row, 'window_ends_s'),
    created_ms: integer(row, 'created_ms'),
    mark: oneOf(row, 'mark', MARKS),
    signed: signed_by === null ? null : { by: signed_by, signature: text(row, 'terms_signature') },
  }
}
