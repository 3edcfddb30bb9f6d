import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStoreClock } from '../adapters/clock/store.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { openStore } from '../adapters/store/open.ts'
import { openTracing } from '../adapters/tracing/open-telemetry.ts'
import type { Log } from '../ports/log.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import { loadCatalogue, type Catalogue } from '../service/catalogue/load.ts'
import { isPostgres, unknownToolInOverrides, type Settings } from '../service/config.ts'
import { createSourceBudget, createOutsideReads } from '../service/payments/allowance.ts'
import { createFailureCount, ON_CHAIN_LIMITS } from '../service/payments/reserved-balances.ts'
import { createPriceBook } from '../service/payments/price-book.ts'
import { withRegisters } from '../service/registers.ts'
import type { Origins } from '../surfaces/http/reply.ts'
import { openChain } from './chain.ts'
import { type ChainBase, type Deployment, VERSION } from './deployment.ts'
import { activeOf, bindSecret, identityOf, places, ringOf, secretOf, StartError, secretFiles } from './identity.ts'

/** Settings → keys, tools, store and chain. A start that is refused leaves nothing half made. Rejects with a StartError. */
export async function openDeployment(settings: Settings, log: Log): Promise<Deployment> {
  const tracing = settings.ASSAY_TRACING === 'on' ? await openTracing(VERSION) : null
  const signing = await chooseSigning()
  const opened = await openKept({ settings, signing, log, tracing })
  const { store, secret } = opened
  const clock = systemClock
  const listening = { url: '' }
  const failures = createFailureCount(clock, ON_CHAIN_LIMITS)
  const sources = createSourceBudget(store, clock, secret, sourceReads(settings))
  return {
    ...opened,
    clock,
    lease_clock: await openStoreClock(store),
    prices: createPriceBook({ store, clock }),
    origins: originsOf(settings, listening),
    listening,
    failures,
    reads: createOutsideReads({ clock, sources, failures }),
  }
}

/**
 * Removes the secret files and folders that are made from now on, for a start that is refused before its store was bound to them. What was there
 * before stays.
 */
function madeFromNowOn(settings: Settings): () => void {
  const folders = [join(settings.ASSAY_DATA_DIR, 'sandbox')]
  const missing = [...secretFiles(settings).map(({ path }) => path), ...folders].filter((path) => !existsSync(path))
  const is_new = !existsSync(settings.ASSAY_DATA_DIR)
  return () => {
    for (const path of missing) rmSync(path, { recursive: true, force: true })
    if (is_new && existsSync(settings.ASSAY_DATA_DIR) && readdirSync(settings.ASSAY_DATA_DIR).length === 0)
      rmdirSync(settings.ASSAY_DATA_DIR)
  }
}

/** Everything that is kept on disk or on a chain; what a refused start has made of it is removed again. */
async function openKept(given: Pick<Deployment, 'settings' | 'signing' | 'log' | 'tracing'>) {
  const { settings, signing } = given
  const undo = madeFromNowOn(settings)
  try {
    const identity = identityOf(settings, signing)
    const ring = ringOf(settings, identity)
    const active = activeOf(ring)
    const keys = { ...given, identity, ring, active, receipt_signer: signing.signer(active.private_key), secret: secretOf(settings) }
    // The chain of the sandbox needs a moment to start; everything else is made ready meanwhile.
    return { ...keys, ...(await openTogether(keys, tracedChain(given.tracing, openChain(keys)))) }
  } catch (error) {
    undo()
    throw error
  }
}

type Bare = Pick<Deployment, 'settings' | 'identity' | 'secret' | 'log' | 'tracing'>

export function sourceReads({ ASSAY_SOURCE_READS_DAILY_NETWORK, ASSAY_SOURCE_READS_DAILY }: Settings) {
  return { network: ASSAY_SOURCE_READS_DAILY_NETWORK, all: ASSAY_SOURCE_READS_DAILY }
}

export function around<Target extends object>(tracing: Tracing | null, name: string, target: Target): Target {
  return tracing === null ? target : tracing.around(name, target)
}

async function tracedChain(tracing: Tracing | null, base: Promise<ChainBase | null>): Promise<ChainBase | null> {
  const opened = await base
  return opened === null ? null : { ...opened, chain: around(tracing, 'chain', opened.chain) }
}

/**
 * Loads the catalogue and opens store and chain concurrently. When one of them fails, the others are closed again so that the process can
 * end.
 */
async function openTogether(
  bare: Bare,
  chain: Promise<ChainBase | null>,
): Promise<{ catalogue: Catalogue; store: Store; base: ChainBase | null }> {
  const opening = [loadKnown(bare.settings), openChecked(bare), chain] as const
  try {
    const [catalogue, store, base] = await Promise.all(opening)
    return { catalogue, store, base }
  } catch (error) {
    const [, store, base] = await Promise.allSettled(opening)
    if (base.status === 'fulfilled') await base.value?.stop()
    if (store.status === 'fulfilled') await store.value.close()
    throw error
  }
}

/** The tools, among which are all that the settings name. Throws a StartError for a name that is none. */
export async function loadKnown(settings: Settings): Promise<Catalogue> {
  const catalogue = withRegisters(await loadCatalogue(), settings.ASSAY_REGISTERS)
  const stray = unknownToolInOverrides(settings, catalogue.tools)
  if (stray !== null) throw new StartError(stray)
  return catalogue
}

/** The store, once it is known to belong to this deployment. */
async function openChecked({ settings, identity, secret, log, tracing }: Bare): Promise<Store> {
  const target = places.store(settings)
  const store = await openStore(target).catch((error: unknown) => {
    log.error({ error: String(error) }, 'the store did not open')
    throw new StartError(`ASSAY_STORE cannot be opened: ${error instanceof Error ? error.message : 'unknown reason'}`)
  })
  const written = await store.identity(identity)
  const mine = written.mode === identity.mode && written.chain_id === identity.chain_id && written.pay_to === identity.pay_to
  if (mine) {
    await bindSecret(store, settings, secret).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    return around(tracing, 'store', store)
  }
  await store.close()
  const describe = (one: StoreIdentity) => `${one.mode}, chain ${one.chain_id}, pay-to ${one.pay_to}`
  throw new StartError(
    `The store belongs to ${describe(written)}, the settings to ${describe(identity)}; use another ASSAY_STORE or${isPostgres(target) ? ' database or' : ''} restore the settings.`,
  )
}

/** The public origins; what is not set is the address that the server listens on, known once it does. */
function originsOf(settings: Settings, listening: { url: string }): Origins {
  const origin = (value: string) => ({ enumerable: true, get: () => value || listening.url })
  return Object.defineProperties({} as Origins, {
    base_url: origin(settings.ASSAY_BASE_URL),
    api_url: origin(settings.ASSAY_API_URL),
    site_url: origin(settings.ASSAY_SITE_URL),
    mcp_url: origin(settings.ASSAY_MCP_URL),
  })
}
