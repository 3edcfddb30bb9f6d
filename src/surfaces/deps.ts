import type { KeyList } from '../pure/receipts/keys.ts'
import type { Store } from '../ports/store.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { CallDeps } from '../service/calls/call.ts'
import type { ToolSchemas } from '../service/catalogue/json-schema.ts'
import type { AllowanceRules } from '../service/payments/allowance.ts'
import type { Origins } from './http/reply.ts'

/** Everything that the surfaces show or use; put together once, in `main`. */
export interface AppDeps {
  call: CallDeps
  /** Derived once from the catalogue, by tool id. */
  schemas: ReadonlyMap<string, ToolSchemas>
  store: Pick<Store, 'kind' | 'ping'>
  telemetry: Telemetry
  origins: Origins
  mode: 'sandbox' | 'live'
  chain_id: number
  free: AllowanceRules
  /** The published receipt keys. */
  keys: KeyList
  version: string
  started_ms: number
  /** Calls that are running now. */
  inFlight(): number
}
