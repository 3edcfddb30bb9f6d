import type { Pool } from '../adapters/chain/pool.ts'
import type { openStoreClock } from '../adapters/clock/store.ts'
import type { Signing } from '../adapters/signer/choose.ts'
import type { Keyring } from '../adapters/signer/keyring.ts'
import type { Chain, ChainSender, ChainTransactions } from '../ports/chain.ts'
import type { Clock, SteadyClock } from '../ports/clock.ts'
import type { GasWallet } from '../ports/gas-wallet.ts'
import type { Log } from '../ports/log.ts'
import type { Signer } from '../ports/signer.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import type { Settings } from '../service/config.ts'
import type { FailureCount } from '../service/payments/on-chain-bounds.ts'
import type { OutsideReads } from '../service/payments/outside-reads.ts'
import type { PriceBook } from '../service/payments/price-book.ts'
import type { SandboxShown } from '../surfaces/deps.ts'
import type { Origins } from '../surfaces/http/reply.ts'
import type { activeOf } from './identity.ts'

/**
 * What one deployment stands on, made once at the start. The parts of the service take it whole, and beside it only what other parts made.
 */
export interface Deployment {
  readonly settings: Settings
  readonly identity: StoreIdentity
  readonly signing: Signing
  readonly ring: Keyring
  /** The key of the ring that signs receipts. */
  readonly active: ReturnType<typeof activeOf>
  readonly receipt_signer: Signer
  /** What seals and derives: paid answers, tasks, credits, links. */
  readonly secret: Uint8Array
  readonly catalogue: Catalogue
  readonly store: Store
  readonly clock: Clock & SteadyClock
  /** The store's own time: leases are held by it. */
  readonly lease_clock: Awaited<ReturnType<typeof openStoreClock>>
  /** Null where this machine has no chain. */
  readonly base: ChainBase | null
  readonly prices: PriceBook
  readonly origins: Origins
  /** Where the service listens: empty until it does. */
  readonly listening: { url: string }
  /** Failed verifications of clients, counted over payments and signatures. */
  readonly failures: FailureCount
  /** Budget of the reads for requests without a payment. */
  readonly reads: OutsideReads
  readonly log: Log
  readonly tracing: Tracing | null
}

/** The chain of the deployment, and what pays its gas. */
export interface ChainBase {
  chain: Chain & ChainSender & ChainTransactions
  /** The endpoints, shared by payments and facts. */
  pool: Pool
  /** Of the sandbox: mines a block when the newest is old. */
  beforeRead: (() => Promise<void>) | undefined
  wallets: GasWallet[]
  sandbox: SandboxShown | null
  stop(): Promise<void>
}
