import type { AssuredRecords, Disputes } from './assured-records.ts'
import type { FinalizedRangeStore } from './chain-facts.ts'
import type { CallCountStore } from './call-counts.ts'
import type { ChannelStore } from './channels.ts'
import type { DatasetStore } from './datasets.ts'
import type { CreditStore } from './credits.ts'
import type { InsuranceStore } from './insurance.ts'
import type { InvoiceStore } from './invoices.ts'
import type { PaymentStore } from './payments.ts'
import type { PrivacyStore } from './privacy.ts'
import type { StoredAnswerStore } from './stored-answers.ts'
import type { TaskStore } from './tasks.ts'
import type { WebhookStore } from './webhooks.ts'
import type { ReceiptsLogStore } from './receipts-log.ts'

/** Durable state of the service. All counting is done behind this port, never in the memory of a process. */

/** One call that wants one unit of a client's free allowance. */
export interface AllowanceRequest {
  /** Days since 1970-01-01 UTC. */
  day: number
  /** `general`, or the id of a tool that has its own count. */
  bucket: string
  /** Keyed hash of the client, changed daily; never an address. */
  client: string
  /** Units that this client may use on this day in this bucket. */
  limit: number
}

/** `used` counts this call too when it was granted. */
export interface AllowanceGrant {
  granted: boolean
  used: number
}

/** Deployment that a store belongs to; a store refuses to serve another. */
export interface StoreIdentity {
  mode: string
  chain_id: number
  /** 0x-prefixed lower-case address. */
  pay_to: string
}

/** A lease that has not expired. */
interface LeaseHolder {
  name: string
  /** Random id of the process that has it. */
  holder: string
  until_ms: number
}

export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  /** Takes one unit if one is left: atomic and durable before it resolves, over all processes on the store. */
  take(request: AllowanceRequest): Promise<AllowanceGrant>
  /** Gives back one unit taken by a call that then failed; never below zero. */
  give_back(request: AllowanceRequest): Promise<void>
  /** Units used so far. */
  used(request: AllowanceRequest): Promise<number>
  /** Writes the identity on first use; afterwards returns the one that was written. */
  identity(mine: StoreIdentity): Promise<StoreIdentity>
  /** Writes a note under a name on first use; afterwards returns the one that was written. */
  remember(name: string, note: string): Promise<string>
  /** The note under a name; null where none was written. */
  recall(name: string): Promise<string | null>
  /**
   * Takes or renews the named lease until `until_ms`: its fencing number, which counts up whenever the lease changes hands; null when
   * another holder has it.
   */
  lease(name: string, holder: string, now_ms: number, until_ms: number): Promise<number | null>
  /** Leases that have not expired, by name. */
  leases(now_ms: number): Promise<LeaseHolder[]>
  /** Forgets allowance counts of days before `day`; returns how many rows went. */
  purge_allowance(day: number): Promise<number>
  /** Payments and all that hangs on them. */
  readonly payments: PaymentStore
  /** Payment channels of the scheme batch-settlement. */
  readonly channels: ChannelStore
  /** Cached transfers in final blocks. */
  readonly finalized_ranges: FinalizedRangeStore
  /** Receipts bound to the terms of the assured lane. */
  readonly assured: AssuredRecords
  /** Invoices and the transfers that pay them. */
  readonly invoices: InvoiceStore
  /** Sealing of texts that earlier releases stored in clear, and erasure of personal details. */
  readonly privacy: PrivacyStore
  readonly disputes: Disputes
  /** The directory of underwriters and their policies. */
  readonly insurance: InsuranceStore
  /** Tasks of the agent protocol, for a day. */
  readonly tasks: TaskStore
  /** The public log of receipts. */
  readonly log: ReceiptsLogStore
  /** Prepaid credits, what they were bought with and what they paid for. */
  readonly credits: CreditStore
  /** Daily counts of calls, for the operator. */
  readonly call_counts: CallCountStore
  /** Snapshots of reference data and the state of their feeds. */
  readonly datasets: DatasetStore
  /** Subscriptions to events, and the queue of their deliveries. */
  readonly webhooks: WebhookStore
  /** Whole answers of callers who got the brief form, for a day. */
  readonly stored_answers: StoredAnswerStore
  /** Processes that share this store. */
  readonly instances: Instances
  /** Number of reads and writes of this process that wait; bounded. */
  waiting(): number
  /** True while the circuit breaker is open: the database cannot be used, and operations are rejected without waiting for it. */
  breaker_open(): boolean
  /** The time by the clock of the database, in milliseconds since 1970. */
  now_ms(): Promise<number>
  /** Resolves when the store answers; rejects with the reason otherwise. */
  ping(): Promise<void>
  /** Durability settings of the database on the connection of the store, by the database's names. No secrets. */
  settings(): Promise<Record<string, string>>
  /** Replication of the database server; null where the store is a file. */
  replication(): Promise<StoreReplication | null>
  /** Finishes what is waiting, then closes. */
  close(): Promise<void>
}

export interface StoreReplication {
  /** Setting that names the standbys for which commits wait; empty: for none. */
  standby_names: string
  /** As it is on the connections of the store. */
  synchronous_commit: string
  /** For each attached standby `async`, `potential`, `sync` or `quorum`; null where there are some and their state may not be seen. */
  standbys: readonly string[] | null
}

/** Processes that share a store. A dead process is recognised immediately, so that another can finish its work. */
export interface Instances {
  /** Id of this process, which counts as running from then on until it ends, however it ends. */
  join(): Promise<string>
  /**
   * True when the process with this id is running. Errs towards true, for example when its machine vanished from the network. A database
   * connection that was lost a moment ago can make it false, so work that is taken over must be guarded by conditional writes.
   */
  isRunning(instance: string): Promise<boolean>
}
