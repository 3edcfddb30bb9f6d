import type { Pool } from '../adapters/chain/pool.ts'
import type { openStoreClock } from '../adapters/clock/store.ts'
import type { SigningBackend } from '../adapters/signer/choose.ts'
import type { Keyring } from '../adapters/signer/keyring.ts'
import type { Chain, ChainSender, ChainTransactions } from '../ports/chain.ts'
import type { Clock, SteadyClock } from '../ports/clock.ts'
import type { GasWallet } from '../ports/gas-wallet.ts'
import type { Log } from '../ports/log.ts'
import type { Signer } from '../ports/signer.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { Resolve } from '../adapters/public-https/outside-names.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import type { FurtherNetwork } from '../pure/networks.ts'
import type { Settings } from '../service/config.ts'
import type { FailureCount } from '../service/payments/reserved-balances.ts'
import type { OutsideReads } from '../service/payments/allowance.ts'
import type { PriceBook } from '../service/payments/price-book.ts'
import type { SandboxInfo } from '../surfaces/deps.ts'
import type { Origins } from '../surfaces/http/reply.ts'
import type { activeOf } from './identity.ts'
import manifest from '../../package.json' with { type: 'json' }

/**
 * Settings, identity, keys, store, clock and log of one running service, made once at start and passed whole to the parts of the service.
 */
export interface Deployment {
  readonly settings: Settings
  readonly identity: StoreIdentity
  readonly signing: SigningBackend
  readonly ring: Keyring
  /** The key of the ring that signs receipts. */
  readonly active: ReturnType<typeof activeOf>
  readonly receipt_signer: Signer
  /** Secret that seals and derives paid answers, tasks, credits and links. */
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
  /** Address on which the service listens; empty before. */
  readonly listening: { url: string }
  /** Failed verifications of clients, counted over payments and signatures. */
  readonly failures: FailureCount
  /** Budget of the reads for requests without a payment. */
  readonly reads: OutsideReads
  /** Resolves host names that callers give. */
  readonly outside_names: Resolve
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
  /** Networks of ASSAY_NETWORKS. */
  further: readonly FurtherBase[]
  sandbox: SandboxInfo | null
  stop(): Promise<void>
}

/** A further network on which calls can be paid. */
export interface FurtherBase {
  network: FurtherNetwork
  chain: Chain & ChainSender
  wallets: GasWallet[]
}

/** The version of the service, as package.json has it. */
export const VERSION: string = manifest.version
