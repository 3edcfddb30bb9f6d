import type { AssuredRecords, Disputes, AssuredMark, AssuredRecord, NewAssuredRecord, DisputeRecord } from '../../ports/assured-records.ts'
import type { FinalizedRangeStore } from '../../ports/chain-facts.ts'
import type { CallCountStore, CallCount } from '../../ports/call-counts.ts'
import type { ChannelStore } from '../../ports/channels.ts'
import type { DatasetStore } from '../../ports/datasets.ts'
import type { CreditStore } from '../../ports/credits.ts'
import type { InsuranceStore } from '../../ports/insurance.ts'
import type { Instances, AllowanceGrant, AllowanceRequest, Store, StoreIdentity, StoreReplication } from '../../ports/store.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { PrivacyStore } from '../../ports/privacy.ts'
import type { Sealer } from '../../ports/signer.ts'
import type { PaymentStore } from '../../ports/payments.ts'
import type { ReceiptsLogStore } from '../../ports/receipts-log.ts'
import type { StoredAnswerStore } from '../../ports/stored-answers.ts'
import type { TaskStore } from '../../ports/tasks.ts'
import type { WebhookStore, WebhookEvent } from '../../ports/webhooks.ts'
import { limits } from '../../service/limits.ts'
import { SqlChannelStore } from './channel-store.ts'
import { SqlDatasetStore } from './dataset-store.ts'
import {
  columns,
  count,
  count32,
  countUpTo,
  key_type,
  parameter,
  pick,
  type BoundValue,
  text_type,
  nullable,
  type ValuesOf,
  word_type,
  flag,
} from './columns.ts'
import {
  expression,
  inserted,
  matched,
  type PreparedStatement,
  raw,
  selected,
  sql,
  statement,
  type StoredRow,
  replaced,
} from './statements.ts'
import { SqlCreditStore } from './credit-store.ts'
import { type AtomicOptions, Database, presentRow, type Work, execute, assertStorable, DatabaseStore } from './database.ts'
import { SqlInvoiceStore } from './invoice-store.ts'
import { SqlInsuranceStore } from './insurance-store.ts'
import { SqlPrivacyStore } from './privacy-store.ts'
import { createSealedText, SealedStore } from './sealed-text.ts'
import { SqlReceiptsLogStore } from './log-store.ts'
import { SqlPaymentStore } from './payment-store.ts'
import { SqlStoredAnswerStore } from './stored-answer-store.ts'
import { SqlStretchStore } from './stretch-store.ts'
import { SqlTaskStore } from './task-store.ts'
import { SqlWebhookStore, noteEvent } from './webhook-store.ts'

export const allowance_key = columns({ day: count32, bucket: key_type, client: key_type })
const used = columns({ used: count32 })
const limit = parameter('limit', countUpTo(limits.free_daily_max))

/** Returns no row once the limit is reached. The first unit is granted without a check, so the limit must not be zero. */
export const TAKE_ONE = statement(
  'take_one',
  sql`insert into allowance ${inserted(allowance_key, { used: raw('1') })}
    on conflict (day, bucket, client) do update set used = used + 1 where used < ${limit}
    returning ${selected(used)}`,
)

export const READ_USED = statement('read_used', sql`select ${selected(used)} from allowance where ${matched(allowance_key)}`)

const GIVE_BACK = statement('give_back', sql`update allowance set used = used - 1 where ${matched(allowance_key)} and used > 0`)

const PURGE_ALLOWANCE = statement(
  'purge',
  sql`delete from allowance where (day, bucket, client) in
      (select day, bucket, client from allowance where day < ${allowance_key.day} limit ${parameter('limit', count)})
    returning day`,
)

const identity = columns({ mode: key_type, chain_id: count, pay_to: text_type })
const WRITE_IDENTITY = statement(
  'write_identity',
  sql`insert into identity ${inserted(identity, { one: raw('1') })} on conflict (one) do nothing`,
)
const READ_IDENTITY = statement('read_identity', sql`select ${selected(identity)} from identity`)

const note = columns({ name: key_type, note: text_type })
const WRITE_NOTE = statement('write_note', sql`insert into note ${inserted(note)} on conflict (name) do nothing`)
const READ_NOTE = statement('read_note', sql`select ${selected(pick(note, 'note'))} from note where name = ${note.name}`)

const lease = columns({ name: key_type, holder: key_type, until_ms: count })
const now = parameter('now_ms', count)

/**
 * Returns a row when the holder has the lease; the fence counts up when another had it before. A lease that ends later than twice the asked
 * time and a minute from now was written by a machine whose clock was ahead: it counts as run out, because otherwise it would bind until
 * the clocks of the others caught up.
 */
const TAKE_LEASE = statement(
  'take_lease',
  sql`insert into lease ${inserted(lease, { fence: raw('1') })}
    on conflict (name) do update set holder = excluded.holder, until_ms = excluded.until_ms,
      fence = case when lease.holder = excluded.holder then lease.fence else lease.fence + 1 end
    where lease.holder = excluded.holder or lease.until_ms <= ${now}
      or (${lease.until_ms} > ${now} and lease.until_ms > ${now} + 2 * (${lease.until_ms} - ${now}) + 60000)
    returning ${selected(columns({ fence: count }))}`,
)

const lease_holder = columns({ name: key_type, holder: key_type, until_ms: count })
const READ_LEASES = statement('read_leases', sql`select ${selected(lease_holder)} from lease where until_ms > ${now} order by name`)

export const PING = statement('ping', sql`select ${expression('found', count, 'number')} from migration limit 1`)

/** Base of both databases: everything except taking a unit of the allowance. */
export abstract class SqlStore implements Store {
  abstract readonly kind: Store['kind']
  readonly #database = new Database({
    joinsWrites: () => this.kind === 'postgres',
    read: (prepared, values) => this.read(prepared, values),
    write: (prepared, values) => this.write(prepared, values),
    atomically: (work, options) => this.atomically(work, options),
  })
  readonly payments: PaymentStore = new SqlPaymentStore(this.#database)
  readonly channels: ChannelStore = new SqlChannelStore(this.#database)
  readonly finalized_ranges: FinalizedRangeStore = new SqlStretchStore(this.#database)
  readonly assured: AssuredRecords = new SqlAssuredStore(this.#database)
  readonly invoices: InvoiceStore
  readonly disputes: Disputes
  readonly insurance: InsuranceStore
  readonly tasks: TaskStore = new SqlTaskStore(this.#database)
  readonly log: ReceiptsLogStore = new SqlReceiptsLogStore(this.#database)
  readonly credits: CreditStore = new SqlCreditStore(this.#database)
  readonly call_counts: CallCountStore = new SqlCallCountStore(this.#database)
  readonly datasets: DatasetStore = new SqlDatasetStore(this.#database)
  readonly webhooks: WebhookStore
  readonly stored_answers: StoredAnswerStore = new SqlStoredAnswerStore(this.#database)
  readonly privacy: PrivacyStore

  /** `sealer` is null for a store that neither writes nor reads texts of callers. */
  constructor(sealer: Sealer | null) {
    const texts = createSealedText(sealer)
    this.invoices = new SqlInvoiceStore(this.#database, texts)
    this.disputes = new SqlDisputeStore(this.#database, texts)
    this.insurance = new SqlInsuranceStore(this.#database, texts)
    this.webhooks = new SqlWebhookStore(this.#database, texts)
    this.privacy = new SqlPrivacyStore(this.#database, texts)
  }

  abstract take(request: AllowanceRequest): Promise<AllowanceGrant>
  abstract readonly instances: Instances
  abstract readonly waiting: () => number
  abstract readonly breaker_open: () => boolean
  abstract now_ms(): Promise<number>
  abstract settings(): Promise<Record<string, string>>
  abstract replication(): Promise<StoreReplication | null>
  abstract close(): Promise<void>
  /** Runs one statement that changes nothing. */
  protected abstract read(prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]>
  /** Runs one statement and resolves when its change is durable. */
  protected abstract write(prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]>
  /** Runs a work of several statements: all of them or none. */
  protected abstract atomically<Result>(work: () => Work<Result>, options?: AtomicOptions<Result>): Promise<Result>

  async give_back(request: AllowanceRequest): Promise<void> {
    await this.#database.execute(GIVE_BACK, request)
  }

  leases(now_ms: number): ReturnType<Store['leases']> {
    return this.#database.readAll(READ_LEASES, { now_ms })
  }

  async used(request: AllowanceRequest): Promise<number> {
    return (await this.#database.readFirst(READ_USED, request))?.used ?? 0
  }

  async identity(mine: StoreIdentity): Promise<StoreIdentity> {
    await this.#database.execute(WRITE_IDENTITY, mine)
    return this.#database.readOne(READ_IDENTITY, {})
  }

  async remember(name: string, text_of_note: string): Promise<string> {
    await this.#database.execute(WRITE_NOTE, { name, note: text_of_note })
    return presentRow(await this.recall(name))
  }

  async recall(name: string): Promise<string | null> {
    return (await this.#database.readFirst(READ_NOTE, { name }))?.note ?? null
  }

  async lease(name: string, holder: string, now_ms: number, until_ms: number): Promise<number | null> {
    return (await this.#database.writeFirst(TAKE_LEASE, { name, holder, now_ms, until_ms }))?.fence ?? null
  }

  purge_allowance(day: number): Promise<number> {
    return this.#database.purge(PURGE_ALLOWANCE, { day })
  }

  async ping(): Promise<void> {
    await this.#database.readFirst(PING, {})
  }
}

/** Daily counts of calls in the SQL that both databases share. */

const call_count = columns({ day: count32, tool: key_type, outcome: key_type, calls: count })

const ADD = statement(
  'add_call_count',
  sql`insert into call_count ${inserted(call_count)}
    on conflict (day, tool, outcome) do update set calls = call_count.calls + excluded.calls`,
)

const SINCE = statement(
  'call_counts_since',
  sql`select ${selected(call_count)} from call_count where day >= ${parameter('from_day', count32)} order by day, tool, outcome`,
)

const PURGE = statement(
  'purge_call_counts',
  sql`delete from call_count where (day, tool, outcome) in
      (select day, tool, outcome from call_count where day < ${parameter('before_day', count32)} limit ${parameter('limit', count)})
    returning day`,
)

class SqlCallCountStore extends DatabaseStore implements CallCountStore {
  add(counts: readonly CallCount[]): Promise<void> {
    // One order for all processes, so that two transactions never wait for each other.
    const ordered = counts.toSorted((one, other) => (rowKey(one) < rowKey(other) ? -1 : 1))
    return this.database.atomically(function* (): Work<void> {
      for (const one of ordered) yield* execute(ADD, one)
    })
  }

  since(from_day: number): Promise<CallCount[]> {
    return this.database.readAll(SINCE, { from_day })
  }

  purge(before_day: number): Promise<number> {
    return this.database.purge(PURGE, { before_day })
  }
}

function rowKey({ day, tool, outcome }: CallCount): string {
  return `${day} ${tool} ${outcome}`
}

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

class SqlAssuredStore extends DatabaseStore implements AssuredRecords {
  async keep({ signed, ...record }: NewAssuredRecord): Promise<{ created: boolean; record: AssuredRecord }> {
    const signature_columns = { signed_by: signed?.by ?? null, terms_signature: signed?.signature ?? null }
    const written = await this.database.writeFirst(KEEP_ASSURED, { ...record, ...signature_columns })
    if (written !== null) return { created: true, record: recordOf(written) }
    // Rows are never removed, so that the row of the other is found.
    return { created: false, record: presentRow(await this.find(record.receipt_hash)) }
  }

  async find(receipt_hash: string): Promise<AssuredRecord | null> {
    const found = await this.database.readFirst(FIND_ASSURED, { receipt_hash })
    return found === null ? null : recordOf(found)
  }

  mark(receipt_hash: string, to: Exclude<AssuredMark, 'OPEN'>): Promise<boolean> {
    return this.database.execute(MARK_ASSURED, { receipt_hash, mark: to, before: BEFORE[to] })
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

class SqlDisputeStore extends SealedStore implements Disputes {
  find(receipt_hash: string, dispute_id: string): Promise<DisputeRecord | null> {
    return this.database.readFirst(FIND_DISPUTE, { receipt_hash, dispute_id })
  }

  async file(filed: DisputeRecord, event: WebhookEvent): Promise<{ created: boolean; record: DisputeRecord }> {
    assertStorable(FILE_DISPUTE, filed)
    const { texts } = this
    const written = await this.database.atomically(function* (): Work<boolean> {
      if (!(yield* execute(FILE_DISPUTE, filed))) return false
      yield* noteEvent(texts, event)
      return true
    })
    const record = presentRow(await this.database.readFirst(FIND_DISPUTE, filed))
    // A signature that comes later writes too, and keeps the outcome and the time of the first filing.
    return { created: written && record.outcome === filed.outcome && record.filed_ms === filed.filed_ms, record }
  }
}
