import type { AssuredRecords } from '../../ports/assured-records.ts'
import type { StretchStore } from '../../ports/chain-facts.ts'
import type { CreditStore } from '../../ports/credits.ts'
import type { Disputes } from '../../ports/disputes.ts'
import type { InsuranceStore } from '../../ports/insurance.ts'
import type { Instances } from '../../ports/instances.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { PaymentStore } from '../../ports/payments.ts'
import type { ReceiptsLogStore } from '../../ports/receipts-log.ts'
import type { AllowanceGrant, AllowanceRequest, Store, StoreIdentity } from '../../ports/store.ts'
import type { TaskStore } from '../../ports/tasks.ts'
import { limits } from '../../service/limits.ts'
import { SqlAssuredStore } from './assured-store.ts'
import { SqlCreditStore } from './credits/credit-store.ts'
import { SqlDisputeStore } from './dispute-store.ts'
import { StoreRefusedError } from './errors.ts'
import { SqlInvoiceStore } from './invoices/invoice-store.ts'
import { SqlInsuranceStore } from './insurance-store.ts'
import { SqlReceiptsLogStore } from './log/log-store.ts'
import { SqlPaymentStore } from './payments/payment-store.ts'
import { integer, text } from './rows.ts'
import { GIVE_BACK, PING, PURGE, READ_IDENTITY, READ_NOTE, READ_USED, TAKE_LEASE, WRITE_IDENTITY, WRITE_NOTE } from './sql.ts'
import { isKey } from './storable.ts'
import { SqlStretchStore } from './stretch-store.ts'
import { SqlTaskStore } from './task-store.ts'
import type { AtomicOptions, Database, Row, Statement, Value, Work } from './work.ts'

/** Days from 1970 that a 32-bit signed column holds. */
const DAY_MAX = 2_147_483_647
const PURGE_ROWS = 1_000

/** What both databases do alike: everything but taking a unit. */
export abstract class SqlStore implements Store {
  abstract readonly kind: 'sqlite' | 'postgres'
  readonly #database: Database = {
    joinsWrites: () => this.kind === 'postgres',
    read: (statement, values) => this.read(statement, values),
    write: (statement, values) => this.write(statement, values),
    atomically: (work, options) => this.atomically(work, options),
  }
  readonly payments: PaymentStore = new SqlPaymentStore(this.#database)
  readonly closed: StretchStore = new SqlStretchStore(this.#database)
  readonly assured: AssuredRecords = new SqlAssuredStore(this.#database)
  readonly invoices: InvoiceStore = new SqlInvoiceStore(this.#database)
  readonly disputes: Disputes = new SqlDisputeStore(this.#database)
  readonly insurance: InsuranceStore = new SqlInsuranceStore(this.#database)
  readonly tasks: TaskStore = new SqlTaskStore(this.#database)
  readonly log: ReceiptsLogStore = new SqlReceiptsLogStore(this.#database)
  readonly credits: CreditStore = new SqlCreditStore(this.#database)
  abstract take(request: AllowanceRequest): Promise<AllowanceGrant>
  abstract readonly instances: Instances
  abstract readonly waiting: () => number
  abstract now_ms(): Promise<number>
  abstract settings(): Promise<Record<string, string>>
  abstract close(): Promise<void>
  /** Runs one statement that changes nothing. */
  protected abstract read(statement: Statement, values: Value[]): Promise<Row[]>
  /** Runs one statement and resolves when its change is durable. */
  protected abstract write(statement: Statement, values: Value[]): Promise<Row[]>
  /** Runs a work of several statements: all of them or none. */
  protected abstract atomically<Outcome>(work: () => Work<Outcome>, options?: AtomicOptions<Outcome>): Promise<Outcome>

  async give_back(request: AllowanceRequest): Promise<void> {
    assertStorable(request)
    await this.write(GIVE_BACK, [request.day, request.bucket, request.client])
  }

  async used(request: AllowanceRequest): Promise<number> {
    assertStorable(request)
    const [row] = await this.read(READ_USED, [request.day, request.bucket, request.client])
    return row === undefined ? 0 : integer(row, 'used')
  }

  async identity(mine: StoreIdentity): Promise<StoreIdentity> {
    await this.write(WRITE_IDENTITY, [mine.mode, mine.chain_id, mine.pay_to])
    const [row] = await this.read(READ_IDENTITY, [])
    return { mode: text(row, 'mode'), chain_id: integer(row, 'chain_id'), pay_to: text(row, 'pay_to') }
  }

  async remember(name: string, note: string): Promise<string> {
    await this.write(WRITE_NOTE, [name, note])
    const [row] = await this.read(READ_NOTE, [name])
    return text(row, 'note')
  }

  async recall(name: string): Promise<string | null> {
    const [row] = await this.read(READ_NOTE, [name])
    return row === undefined ? null : text(row, 'note')
  }

  async lease(name: string, holder: string, now_ms: number, until_ms: number): Promise<number | null> {
    const [row] = await this.write(TAKE_LEASE, [name, holder, now_ms, until_ms])
    return row === undefined ? null : integer(row, 'fence')
  }

  async purge_allowance(day: number): Promise<number> {
    let gone = 0
    for (;;) {
      const rows = await this.write(PURGE, [day, PURGE_ROWS])
      gone += rows.length
      if (rows.length < PURGE_ROWS) return gone
    }
  }

  async ping(): Promise<void> {
    await this.read(PING, [])
  }
}

/** Throws for a request that one of the databases cannot hold, so that both refuse the same requests, before a batch is made. */
export function assertStorable(request: AllowanceRequest): void {
  const { day, bucket, client, limit } = request
  const countable = Number.isInteger(limit) && limit >= 0 && limit <= limits.free_daily_max
  if (!countable || !Number.isInteger(day) || day < 0 || day > DAY_MAX || !isKey(bucket) || !isKey(client)) {
    throw new StoreRefusedError('An allowance request has a day, bucket, client or limit that cannot be stored.')
  }
}
