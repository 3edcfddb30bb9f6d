import { existsSync } from 'node:fs'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { openStore } from '../adapters/store/open.ts'
import { identityOf, places } from '../assembly/identity.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import { isPostgres, type Settings } from '../service/config.ts'
import { orConfig } from './deployment.ts'
import { CliError } from './exit-codes.ts'

/** What the work is done on: the store of this deployment, once it is known to be its own. */
export interface LedgerDesk {
  store: Store
  identity: StoreIdentity
}

/** Opens the store for the work and closes it again. Nothing is made that is missing. Throws a CliError for a store that is not there or not ours. */
export async function withLedger<Value>(settings: Settings, work: (desk: LedgerDesk) => Promise<Value>): Promise<Value> {
  const target = places.store(settings)
  if (!isPostgres(target) && !existsSync(target)) throw new CliError('no_input', 'There is no store yet; the first start makes it.')
  const sandbox = settings.ASSAY_MODE === 'sandbox'
  // The payee of a sandbox follows from the secret; a secret made now would be another deployment's.
  if (sandbox && !existsSync(places.secret(settings))) {
    throw new CliError(
      'config',
      'The secret of this deployment is missing, so that nobody can tell whose store it is: set ASSAY_DATA_DIR or ASSAY_SECRET_FILE.',
    )
  }
  const signing = await chooseSigning()
  const identity = orConfig(() => identityOf(settings, signing))
  const store = await openStore(target).catch((error: unknown) => {
    throw new CliError('unavailable', `ASSAY_STORE cannot be opened: ${reasonOf(error)}`)
  })
  try {
    await refuseStranger(store, identity)
    return await work({ store, identity })
  } catch (error) {
    if (!isOutage(error)) throw error
    throw new CliError('unavailable', reasonOf(error))
  } finally {
    await store.close()
  }
}

async function refuseStranger(store: Store, mine: StoreIdentity): Promise<void> {
  const written = await store.identity(mine)
  if (written.mode === mine.mode && written.chain_id === mine.chain_id && written.pay_to === mine.pay_to) return
  const describe = (one: StoreIdentity) => `${one.mode}, chain ${one.chain_id}, pay-to ${one.pay_to}`
  throw new CliError('config', `The store belongs to another deployment (${describe(written)}) than these settings (${describe(mine)}).`)
}

/** A store or a chain that does not answer, or changed while it was read; their messages hold no URL. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return error.name === 'ChainMovedError' || code === 'CHAIN_UNAVAILABLE' || /^STORE_(BUSY|UNAVAILABLE|NEWER)$/.test(code)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason'
}
