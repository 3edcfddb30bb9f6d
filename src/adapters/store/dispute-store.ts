import type { DisputeRecord, Disputes } from '../../ports/disputes.ts'
import { StoreUnavailableError } from './errors.ts'
import { integer, text } from './rows.ts'
import { assertCounts, assertKeys, assertTexts } from './storable.ts'
import type { Database, Row, Statement } from './work.ts'

/** One statement decides between two that come at once. Returns a row when something was written. */
const FILE: Statement = {
  name: 'file_dispute',
  text: `insert into dispute (receipt_hash, dispute_id, body_hash, payer_signed, outcome, filed_ms) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict (receipt_hash, dispute_id) do update set
      outcome = case when dispute.body_hash = excluded.body_hash then dispute.outcome else excluded.outcome end,
      filed_ms = case when dispute.body_hash = excluded.body_hash then dispute.filed_ms else excluded.filed_ms end,
      body_hash = excluded.body_hash,
      payer_signed = 1
    where dispute.payer_signed = 0 and excluded.payer_signed = 1
    returning filed_ms`,
}

const FIND: Statement = {
  name: 'find_dispute',
  text: `select receipt_hash, dispute_id, body_hash, payer_signed, outcome, filed_ms from dispute
    where receipt_hash = ?1 and dispute_id = ?2`,
}

/** Disputes in the SQL that both databases share. */
export class SqlDisputeStore implements Disputes {
  readonly #database: Pick<Database, 'read' | 'write'>

  constructor(database: Pick<Database, 'read' | 'write'>) {
    this.#database = database
  }

  async find(receipt_hash: string, dispute_id: string): Promise<DisputeRecord | null> {
    assertKeys({ receipt_hash, dispute_id })
    const [row] = await this.#database.read(FIND, [receipt_hash, dispute_id])
    return row === undefined ? null : recordOf(row)
  }

  async file(given: DisputeRecord): Promise<{ created: boolean; record: DisputeRecord }> {
    const { receipt_hash, dispute_id, body_hash, payer_signed, outcome, filed_ms } = given
    assertKeys({ receipt_hash, dispute_id, body_hash })
    assertTexts({ outcome })
    assertCounts({ filed_ms })
    const written = await this.#database.write(FILE, [receipt_hash, dispute_id, body_hash, payer_signed ? 1 : 0, outcome, filed_ms])
    const record = await this.find(receipt_hash, dispute_id)
    if (record === null) throw new StoreUnavailableError('The store lost a dispute that it had kept.')
    // A signature that comes later writes too, and keeps the outcome and the time of the first filing.
    return { created: written.length === 1 && record.outcome === outcome && record.filed_ms === filed_ms, record }
  }
}

function recordOf(row: Row): DisputeRecord {
  return {
    receipt_hash: text(row, 'receipt_hash'),
    dispute_id: text(row, 'dispute_id'),
    body_hash: text(row, 'body_hash'),
    payer_signed: integer(row, 'payer_signed') === 1,
    outcome: text(row, 'outcome'),
    filed_ms: integer(row, 'filed_ms'),
  }
}
