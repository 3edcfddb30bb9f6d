import type { KeyList } from '../pure/receipts/keys.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { Store } from '../ports/store.ts'
import type { TaskStore } from '../ports/tasks.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { CallDeps } from '../service/calls/call.ts'
import type { CreditDesk } from '../service/credits/desk.ts'
import type { PilotReleased } from '../service/credits/pilot.ts'
import type { CodeShown, CreditShop } from '../service/credits/shop.ts'
import type { InvoiceDesk } from '../service/invoices/desk.ts'
import type { InvoiceLive } from '../service/invoices/live.ts'
import type { InvoiceRelay } from '../service/invoices/relay.ts'
import type { SchemaList } from '../service/catalogue/json-schema.ts'
import type { AllowanceRules } from '../service/payments/allowance.ts'
import type { GasSeen } from '../service/payments/gas-budget.ts'
import type { PriceBook } from '../service/payments/price-book.ts'
import type { PaymentPlace } from '../service/payments/terms.ts'
import type { History } from '../service/telemetry/history.ts'
import type { ChainHead, StandingParts } from '../service/telemetry/standing.ts'
import type { Origins } from './http/reply.ts'
import type { ReceiptsLog } from '../service/log/receipts-log.ts'
import type { InsuranceParts } from '../service/records/insurance.ts'

/** What it takes to pay in the sandbox. */
export interface SandboxShown {
  rpc_url: string
  chain_id: number
  usdc: string
  payer: string
  pay_to: string
  /** How the chain stands, as it is now; null where another service on the same folder runs it. */
  readonly chain: { running: boolean; restarts: number; restarted_at: string | null; stopped_because: string | null } | null
}

/** How payment stands now. */
export interface PaymentHealth {
  enabled: boolean
  method: 'self' | 'facilitator' | null
  /** The chain answers with a fresh head. */
  chain_ok: boolean
  /** A payment could be settled now. */
  ready: boolean
  /** Payments that have been open for longer than they should; null until first counted. */
  overdue: number | null
}

/** Balances and budgets, which only the operator port shows. */
export interface OperatorFacts {
  /** The gas wallets as they were last looked at, in the order of the key file; null before. */
  gas(): readonly (GasSeen | null)[]
  /** Free calls in a UTC day that read sources, of all callers together, and those of today. */
  source_reads_daily: number
  source_reads_used(): Promise<number>
}

/** Everything that the surfaces show or use; put together once, in `main`. */
export interface AppDeps {
  call: CallDeps
  /** Derived once from the catalogue, by tool id. */
  schemas: SchemaList
  /** Store of A2A tasks; the surface seals what it writes there. */
  tasks: TaskStore
  sealer: Sealer
  store: Pick<Store, 'kind' | 'ping' | 'instances'> & StandingParts['store']
  /** Where invoices are made and read, and carried to the chain; no relay where nothing can settle. */
  invoices: { desk: InvoiceDesk; relay: InvoiceRelay | null; live: InvoiceLive }
  /** The directory of underwriters and its certificates. */
  insurance: InsuranceParts
  /** The public log of receipts; null where none is kept. */
  log: ReceiptsLog | null
  /** Where prepaid credits are debited and looked at, and sold where cards are taken. */
  credits: {
    desk: CreditDesk
    shop: CreditShop | null
    handOver(session_id: string, secret: string, seen: boolean): Promise<CodeShown>
    /** The calls that a pilot invoice bought, for the signature of its payer. Draws on the reads of the client. */
    release(invoice_id: string, signature: string, client: string): Promise<PilotReleased>
  }
  telemetry: Telemetry
  /** Left out, or null, where nobody traces. */
  tracing?: Tracing | null
  /** What this process counted lately. */
  history: History
  /** The newest block that was seen; null where there is no chain. */
  chain_head(): ChainHead | null
  /** The chain of the sandbox; null in live mode, and where it did not start. */
  sandbox: SandboxShown | null
  paymentHealth(): Promise<PaymentHealth>
  operator: OperatorFacts
  /** Whom to pay, in what. */
  place: PaymentPlace
  origins: Origins
  mode: 'sandbox' | 'live'
  chain_id: number
  free: AllowanceRules
  /** Calls of one client in flight that nobody pays for; left out for the service's own bound. */
  client_calls?: number
  /** Preflights of one client in a minute. */
  preflight_per_minute: number
  /** A call can be paid for here. */
  takes_payments: boolean
  /** The prices of the moment. */
  prices: PriceBook
  /** The published receipt keys. */
  keys: KeyList
  version: string
  started_ms: number
  /** Calls that are running now. */
  inFlight(): number
}
