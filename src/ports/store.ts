import type { AssuredRecords } from './assured-records.ts'
import type { StretchStore } from './chain-facts.ts'
import type { CreditStore } from './credits.ts'
import type { Disputes } from './disputes.ts'
import type { InsuranceStore } from './insurance.ts'
import type { Instances } from './instances.ts'
import type { InvoiceStore } from './invoices.ts'
import type { PaymentStore } from './payments.ts'
import type { TaskStore } from './tasks.ts'
import type { ReceiptsLogStore } from './receipts-log.ts'

/** What the service keeps. Everything correct about counting lives behind this port, never in the memory of a process. */

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

/** What a store belongs to; a store refuses to serve another. */
export interface StoreIdentity {
  mode: string
  chain_id: number
  /** 0x-prefixed lower-case address. */
  pay_to: string
}

/**
 * The `code` of the error with which a store rejects. Nothing is granted by a rejected promise. After `STORE_BUSY`, `STORE_REFUSED` and
 * `STORE_NEWER` nothing was written either; after `STORE_UNAVAILABLE` the store may have counted the call before the answer was lost.
 */
export type StoreFaultCode = 'STORE_BUSY' | 'STORE_UNAVAILABLE' | 'STORE_REFUSED' | 'STORE_NEWER'

export interface StoreFault extends Error {
  readonly code: StoreFaultCode
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
  /** Forgets allowance counts of days before `day`; returns how many rows went. */
  purge_allowance(day: number): Promise<number>
  /** Payments and all that hangs on them. */
  readonly payments: PaymentStore
  /** What is known of blocks that are final. */
  readonly closed: StretchStore
  /** Receipts bound to the terms of the assured lane. */
  readonly assured: AssuredRecords
  /** Invoices and the transfers that pay them. */
  readonly invoices: InvoiceStore
  readonly disputes: Disputes
  /** The directory of underwriters and their policies. */
  readonly insurance: InsuranceStore
  /** Tasks of the agent protocol, for a day. */
  readonly tasks: TaskStore
  /** The public log of receipts. */
  readonly log: ReceiptsLogStore
  /** Prepaid credits, what they were bought with and what they paid for. */
  readonly credits: CreditStore
  /** Processes that share this store. */
  readonly instances: Instances
  /** What waits in this process to be written or read; bounded. */
  waiting(): number
  /** The time by the clock of the database, in milliseconds since 1970. */
  now_ms(): Promise<number>
  /** Resolves when the store answers; rejects with the reason otherwise. */
  ping(): Promise<void>
  /** What the database says about its own durability on the connection that the store uses, by the database's names. No secrets. */
  settings(): Promise<Record<string, string>>
  /** Finishes what is waiting, then closes. */
  close(): Promise<void>
}
