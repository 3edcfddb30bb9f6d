import { createNameScreening } from '../adapters/name-screening/http.ts'
import { createNameSource } from '../service/name-screening.ts'
import { noNameScreening } from '../service/catalogue/names.ts'
import { join } from 'node:path'
import { existsSync } from 'node:fs'
import { noChain, createChainFacts } from '../adapters/chain/facts.ts'
import { Pool } from '../adapters/chain/pool.ts'
import { freshener, readRecord, sandboxFiles, rpcRequest } from '../adapters/chain/sandbox-process.ts'
import { createTransfers } from '../adapters/chain/history.ts'
import { systemClock } from '../adapters/clock/system.ts'
import type { ChainFacts, FinalizedRangeStore, Transfers } from '../ports/chain-facts.ts'
import { readSettings } from '../service/read-settings.ts'
import { type Settings, isPostgres } from '../service/config.ts'
import { bundledScreening } from '../pure/checks/ofac.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import { ZERO_ADDRESS } from '../pure/receipts/receipt.ts'
import { createDerivation } from '../adapters/derivation/hmac.ts'
import { choosePrices } from '../adapters/prices/choose.ts'
import { chooseRegistrations } from '../adapters/public-https/choose.ts'
import { createOutsideResolver } from '../adapters/public-https/outside-names.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { itemCatalogue } from '../service/catalogue/decode.ts'
import { publishedSchemas } from '../service/catalogue/wire-schemas.ts'
import { SourceDown, type Sources } from '../service/catalogue/define.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { checkBoundSecret, identityOf, secretOf, StartError, places } from '../assembly/identity.ts'
import { CliError } from './errors.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import { openStore } from '../adapters/store/open.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import { modeMark } from '../service/catalogue/text.ts'
import { remark } from './terminal.ts'

/** Chain of the settings, or of a sandbox that is running on this machine. */
function localChain(settings: Settings): { chain: ChainFacts; transfers: Transfers } {
  const chain_id = settings.ASSAY_CHAIN_ID
  if (settings.ASSAY_MODE === 'live') return over(settings.ASSAY_RPC_URLS, chain_id)
  const record = readRecord(sandboxFiles(join(settings.ASSAY_DATA_DIR, 'sandbox')).record)
  if (record?.chain_id !== chain_id) return noChain(chain_id)
  return over([record.rpc_url], chain_id, freshener(rpcRequest(record.rpc_url), systemClock))
}

function over(urls: readonly string[], chain_id: number, beforeRead?: () => Promise<void>): { chain: ChainFacts; transfers: Transfers } {
  const options = { pool: new Pool(urls, chain_id, systemClock), chain_id, clock: systemClock, beforeRead }
  return { chain: createChainFacts(options), transfers: createTransfers({ ...options, store: FORGETFUL }) }
}

/** The command line runs once, so chain history is not kept. */
const FORGETFUL: FinalizedRangeStore = {
  stretches: () => Promise.resolve([]),
  keep_stretches: () => Promise.resolve(),
  purge_stretches: () => Promise.resolve(0),
}

const SANDBOX_CHAIN_ID = 84_532

/** Sources of tools on the command line. A replay has no settings and no external sources. */
export function localSources(catalogue: Catalogue, settings: Settings | null): Sources {
  const mode = settings?.ASSAY_MODE ?? 'sandbox'
  return {
    ...(settings === null ? noChain(SANDBOX_CHAIN_ID) : localChain(settings)),
    clock: systemClock,
    catalogue: itemCatalogue(() => catalogue.tools),
    crypto: nobleCrypto,
    prices: choosePrices(mode, systemClock),
    registrations: chooseRegistrations(mode, systemClock, createOutsideResolver(systemClock, settings?.ASSAY_NAME_SERVERS)),
    names: localNames(settings),
    screening: { on_stale_list: mode === 'live' ? 'refuse' : 'report', active: bundledScreening },
    derive: localDerivation(settings),
    assured: noRecords,
    invoices: { create: needsService, look: needsService, absent: needsService, pilot: needsService },
    disputes: { find: needsService, file: needsService },
    insurance: noInsurance,
    schemas: publishedSchemas(() => catalogue.tools),
    registrar: noRegistrar,
  }
}

function localNames(settings: Settings | null): Sources['names'] {
  if (settings === null || settings.ASSAY_SCREENING_URL === '') return noNameScreening
  return createNameSource(createNameScreening(settings.ASSAY_SCREENING_ENGINE, settings.ASSAY_SCREENING_URL), systemClock)
}

/** Records need the store of a service, which the command line lacks. */
const noRecords: Sources['assured'] = { keep: needsService, find: needsService, mark: needsService }

const noInsurance: Sources['insurance'] = {
  register: needsService,
  remove: needsService,
  underwriters: needsService,
  underwriter: needsService,
  bind: needsService,
  policy: needsService,
  countersign: needsService,
}

/** Certificates are signed where they are stored. */
const noRegistrar: Sources['registrar'] = {
  origin: '',
  chain_id: SANDBOX_CHAIN_ID,
  address: ZERO_ADDRESS,
  sign() {
    throw new SourceDown('This tool signs with the key of a running service: call it there.', 'no_store')
  },
  owns: () => false,
}

function needsService(): Promise<never> {
  return Promise.reject(new SourceDown('This tool keeps records in the store of a running service: call it there.', 'no_store'))
}

/** The secret is read on first use, so that other tools run without it. A replay has none. */
function localDerivation(settings: Settings | null): Sources['derive'] {
  if (settings !== null) return { hmac: (tag, text) => createDerivation(orConfig(() => secretOf(settings))).hmac(tag, text) }
  return {
    hmac() {
      throw new CliError('undecided', 'The result follows from the secret of the service that gave it, which a replay does not have.')
    },
  }
}

/** Converts a configuration error to a CliError. */
export function orConfig<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof StartError) throw new CliError('config', error.message)
    throw error
  }
}

/** Opened store of this deployment. */
export interface LedgerDesk {
  store: Store
  identity: StoreIdentity
}

/**
 * Opens the store, runs the work and closes the store. Creates nothing. `texts`: the work reads or writes sealed texts, which takes the secret of the
 * deployment. Throws a CliError for a missing store or secret, or for those of another deployment.
 */
export async function withLedger<Value>(
  settings: Settings,
  work: (desk: LedgerDesk) => Promise<Value>,
  { texts = false }: { texts?: boolean } = {},
): Promise<Value> {
  const target = places.store(settings)
  if (!isPostgres(target) && !existsSync(target)) throw new CliError('no_input', 'There is no store yet; the first start makes it.')
  const sandbox = settings.ASSAY_MODE === 'sandbox'
  // The payee of a sandbox is derived from the secret; a new secret would be that of another deployment.
  if ((sandbox || texts) && !existsSync(places.secret(settings))) {
    const need = texts ? 'its texts cannot be read' : 'the owner of the store cannot be checked'
    throw new CliError('config', `The secret of this deployment is missing, so ${need}: set ASSAY_DATA_DIR or ASSAY_SECRET_FILE.`)
  }
  const secret = texts ? orConfig(() => secretOf(settings)) : null
  const signing = await chooseSigning()
  const identity = orConfig(() => identityOf(settings, signing))
  const store = await openStore(target, secret === null ? {} : { sealer: createSealer(secret) }).catch((error: unknown) => {
    throw new CliError('unavailable', `ASSAY_STORE cannot be opened: ${reasonOf(error)}`)
  })
  try {
    await refuseStranger(store, identity)
    if (secret !== null) await checkBoundSecret(store, settings, secret)
    return await work({ store, identity })
  } catch (error) {
    if (error instanceof StartError) throw new CliError('config', error.message)
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

/** True for a store or a chain that does not answer or changed during reading; such messages contain no URL. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return error.name === 'ChainMovedError' || code === 'CHAIN_UNAVAILABLE' || /^STORE_(BUSY|UNAVAILABLE|NEWER)$/.test(code)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason'
}

/** Reads the settings from the environment. Throws a CliError that names an invalid variable. */
export function readEnvironment(): Settings {
  const read = readSettings(process.env)
  if (!read.ok) throw new CliError('config', read.message)
  return read.settings
}

/** Writes a notice to standard error if no real money is involved. */
export function markMode({ ASSAY_MODE, ASSAY_CHAIN_ID }: Settings): void {
  const mark = modeMark({ mode: ASSAY_MODE, chain_id: ASSAY_CHAIN_ID })
  if (mark !== null) remark(`//// ${mark} ////`)
}
