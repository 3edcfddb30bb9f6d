import type { AssuredMark, AssuredRecord, AssuredRecords, NewAssuredRecord, DisputeRecord, Disputes } from '../../ports/assured-records.ts'
import type { WebhookEvent } from '../../ports/webhooks.ts'
import { columns, count, key_type, nullable, parameter, pick, text_type, type ValuesOf, word_type, flag } from './columns.ts'
import { assertStorable, type Database, execute, presentRow, type Work } from './database.ts'
import { inserted, matched, raw, replaced, selected, sql, statement } from './statements.ts'
import { noteEvent } from './webhook-store.ts'

/** Assured records in the SQL that both databases share. */

const MARKS = ['OPEN', 'DISPUTED', 'ADJUDICATED'] as const
const receipt = columns({ receipt_hash: key_type })
const terms = columns({ assured_id: key_type, terms: text_type, window_ends_s: count, created_ms: count })
const signature = columns({ signed_by: nullable(key_type), terms_signature: nullable(key_type) })
const marked = columns({ mark: word_type(...MARKS) })
const assured_record = { ...receipt, ...terms, ...signature, ...marked }

/** One statement decides between two that come together. Returns the row when it was written. */
const KEEP_ASSURED = statement(
  'keep_assured',
  sql`insert into assured_record ${inserted({ ...receipt, ...terms, ...signature }, { mark: raw(`'OPEN'`) })}
    on conflict (receipt_hash) do update set ${replaced({ ...pick(terms, 'terms', 'created_ms'), ...signature })}
    where assured_record.signed_by is null and excluded.signed_by is not null
    returning ${selected(assured_record)}`,
)

const FIND_ASSURED = statement('find_assured', sql`select ${selected(assured_record)} from assured_record where ${matched(receipt)}`)

const MARK_ASSURED = statement(
  'mark_assured',
  sql`update assured_record set mark = ${marked.mark} where ${matched(receipt)} and mark = ${parameter('before', word_type(...MARKS))}
    returning receipt_hash`,
)

/** The one mark from which each other is reached. */
const BEFORE: Readonly<Record<Exclude<AssuredMark, 'OPEN'>, AssuredMark>> = { DISPUTED: 'OPEN', ADJUDICATED: 'DISPUTED' }

export class SqlAssuredStore implements AssuredRecords {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async keep({ signed, ...record }: NewAssuredRecord): Promise<{ created: boolean; record: AssuredRecord }> {
    const signature_columns = { signed_by: signed?.by ?? null, terms_signature: signed?.signature ?? null }
    const written = await this.#database.writeFirst(KEEP_ASSURED, { ...record, ...signature_columns })
    if (written !== null) return { created: true, record: recordOf(written) }
    // Rows are never removed, so that the row of the other is found.
    return { created: false, record: presentRow(await this.find(record.receipt_hash)) }
  }

  async find(receipt_hash: string): Promise<AssuredRecord | null> {
    const found = await this.#database.readFirst(FIND_ASSURED, { receipt_hash })
    return found === null ? null : recordOf(found)
  }

  mark(receipt_hash: string, to: Exclude<AssuredMark, 'OPEN'>): Promise<boolean> {
    return this.#database.execute(MARK_ASSURED, { receipt_hash, mark: to, before: BEFORE[to] })
  }
}

function recordOf({ signed_by, terms_signature, ...record }: ValuesOf<typeof assured_record>): AssuredRecord {
  return { ...record, signed: signed_by === null ? null : { by: signed_by, signature: presentRow(terms_signature) } }
}

/** Disputes in the SQL that both databases share. */

const dispute_key = columns({ receipt_hash: key_type, dispute_id: key_type })
const dispute = { ...dispute_key, ...columns({ body_hash: key_type, payer_signed: flag, outcome: text_type, filed_ms: count }) }

/** One statement decides between two that come together. Returns a row when something was written. */
const FILE_DISPUTE = statement(
  'file_dispute',
  sql`insert into dispute ${inserted(dispute)}
    on conflict (receipt_hash, dispute_id) do update set
      outcome = case when dispute.body_hash = excluded.body_hash then dispute.outcome else excluded.outcome end,
      filed_ms = case when dispute.body_hash = excluded.body_hash then dispute.filed_ms else excluded.filed_ms end,
      body_hash = excluded.body_hash,
      payer_signed = 1
    where dispute.payer_signed = 0 and excluded.payer_signed = 1
    returning filed_ms`,
)

const FIND_DISPUTE = statement('find_dispute', sql`select ${selected(dispute)} from dispute where ${matched(dispute_key)}`)

export class SqlDisputeStore implements Disputes {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  find(receipt_hash: string, dispute_id: string): Promise<DisputeRecord | null> {
    return this.#database.readFirst(FIND_DISPUTE, { receipt_hash, dispute_id })
  }

  async file(filed: DisputeRecord, event: WebhookEvent): Promise<{ created: boolean; record: DisputeRecord }> {
    assertStorable(FILE_DISPUTE, filed)
    const written = await this.#database.atomically(function* (): Work<boolean> {
      if (!(yield* execute(FILE_DISPUTE, filed))) return false
      yield* noteEvent(event)
      return true
    })
    const record = presentRow(await this.#database.readFirst(FIND_DISPUTE, filed))
    // A signature that comes later writes too, and keeps the outcome and the time of the first filing.
    return { created: written && record.outcome === filed.outcome && record.filed_ms === filed.filed_ms, record }
  }
}
