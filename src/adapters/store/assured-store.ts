import type { AssuredMark, AssuredRecord, AssuredRecords, NewAssuredRecord } from '../../ports/assured-records.ts'
import { StoreUnavailableError } from './errors.ts'
import { integer, oneOf, text } from './rows.ts'
import { assertCounts, assertKeys, assertTexts } from './storable.ts'
import type { Database, Row, Statement } from './work.ts'

const KEEP: Statement = {
  name: 'keep_assured',
  text: `insert into assured_record (receipt_hash, assured_id, terms, window_ends_s, created_ms, mark)
    values (?1, ?2, ?3, ?4, ?5, 'OPEN') on conflict (receipt_hash) do nothing returning receipt_hash`,
}

const FIND: Statement = {
  name: 'find_assured',
  text: 'select receipt_hash, assured_id, terms, window_ends_s, created_ms, mark from assured_record where receipt_hash = ?1',
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
    const { receipt_hash, assured_id, terms, window_ends_s, created_ms } = record
    assertKeys({ receipt_hash, assured_id })
    assertTexts({ terms })
    assertCounts({ window_ends_s, created_ms })
    // One statement decides who was first; rows are never removed, so that the loser finds the winner's.
    const inserted = await this.#database.write(KEEP, [receipt_hash, assured_id, terms, window_ends_s, created_ms])
    const kept = await this.find(receipt_hash)
    if (kept === null) throw new StoreUnavailableError('The store lost a record that it had kept.')
    return { created: inserted.length === 1, record: kept }
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
  return {
    receipt_hash: text(row, 'receipt_hash'),
    assured_id: text(row, 'assured_id'),
    terms: text(row, 'terms'),
    window_ends_s: integer(row, 'window_ends_s'),
    created_ms: integer(row, 'created_ms'),
    mark: oneOf(row, 'mark', MARKS),
  }
}
