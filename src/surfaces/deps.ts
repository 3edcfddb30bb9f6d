import type { KeyList } from '../pure/receipts/keys.ts'
import type { Store } from '../ports/store.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { CallDeps } from '../service/calls/call.ts'
import type { InvoiceDesk } from '../service/invoices/desk.ts'
import type { InvoiceRelay } from '../service/invoices/relay.ts'
import type { ToolSchemas } from '../service/catalogue/json-schema.ts'
import type { AllowanceRules } from '../service/payments/allowance.ts'
import type { PriceBook } from '../service/payments/price-book.ts'
import type { PaymentPlace } from '../service/payments/terms.ts'
import type { Origins } from './http/reply.ts'

/** What it takes to pay in the sandbox. */
export interface SandboxShown {
  rpc_url: string
  chain_id: number
  usdc: string
  payer: string
  pay_to: string
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

/** Everything that the surfaces show or use; put together once, in `main`. */
export interface AppDeps {
  call: CallDeps
  /** Derived once from the catalogue, by tool id. */
  schemas: ReadonlyMap<string, ToolSchemas>
  store: Pick<Store, 'kind' | 'ping'>
  /** Where invoices are made and read, and carried to the chain; no relay where nothing can settle. */
  invoices: { desk: InvoiceDesk; relay: InvoiceRelay | null }
  telemetry: Telemetry
  /** The chain of the sandbox; null in live mode, and where it did not start. */
  sandbox: SandboxShown | null
  paymentHealth(): Promise<PaymentHealth>
  /** Whom to pay, in what. */
  place: PaymentPlace
  origins: Origins
  mode: 'sandbox' | 'live'
  chain_id: number
  free: AllowanceRules
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
