import { nobleCrypto } from '../pure/receipts/crypto.ts'
import { ZERO_ADDRESS } from '../pure/receipts/receipt.ts'
import { noChain } from '../adapters/chain/no-chain.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { createDerivation } from '../adapters/derivation/hmac.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import { choosePrices } from '../adapters/prices/choose.ts'
import { chooseRegistrations } from '../adapters/registration-data/choose.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { activeKey } from '../adapters/signer/keyring.ts'
import type { Stamp } from '../service/calls/prepare.ts'
import { itemCatalogue } from '../service/catalogue/items.ts'
import { publishedSchemas } from '../service/catalogue/published.ts'
import { SourceDown, type Sources } from '../service/catalogue/define.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import type { Settings } from '../service/config.ts'
import { identityOf, localOrigin, ringOf, secretOf, StartError } from '../assembly/identity.ts'
import { chainHere } from './chain-here.ts'
import { CliError } from './exit-codes.ts'

const SANDBOX_CHAIN_ID = 84_532

/** What this deployment signs with, put together from its settings as a start does, but without store, port or network. */
export async function stampHere(settings: Settings): Promise<Stamp> {
  const signing = await chooseSigning()
  const identity = orConfig(() => identityOf(settings, signing))
  const active = activeKey(orConfig(() => ringOf(settings, identity)))
  if (active === undefined) throw new CliError('config', 'No receipt key is active; "assay keys rotate" makes one.')
  return {
    signer: signing.signer(active.private_key),
    queue: null,
    log: null,
    crypto: signing.crypto,
    clock: systemClock,
    recipient: identity.pay_to,
    origins: { site_url: settings.ASSAY_SITE_URL || localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT) },
    randomNonce: createNonceSource(),
  }
}

/** What tools may reach for on the command line; a replay reaches for nothing outside, so it is given no settings and made as in a sandbox. */
export function sourcesHere(catalogue: Catalogue, settings: Settings | null): Sources {
  const mode = settings?.ASSAY_MODE ?? 'sandbox'
  return {
    ...(settings === null ? noChain(SANDBOX_CHAIN_ID) : chainHere(settings)),
    clock: systemClock,
    catalogue: itemCatalogue(() => catalogue.tools),
    crypto: nobleCrypto,
    prices: choosePrices(mode, systemClock),
    registrations: chooseRegistrations(mode, systemClock),
    screening: { on_stale_list: mode === 'live' ? 'refuse' : 'report' },
    derive: derivationHere(settings),
    assured: noRecords,
    invoices: { create: needsService, look: needsService, pilot: needsService },
    disputes: { find: needsService, file: needsService },
    insurance: noInsurance,
    schemas: publishedSchemas(() => catalogue.tools),
    registrar: noRegistrar,
  }
}

/** Records live in the store of a service; a command line has none. */
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

/** What signs certificates lives where they are kept. */
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

/** The secret is read when a tool asks for it, so that other tools run without one. A replay is given none. */
function derivationHere(settings: Settings | null): Sources['derive'] {
  if (settings !== null) return { hmac: (tag, text) => createDerivation(orConfig(() => secretOf(settings))).hmac(tag, text) }
  return {
    hmac() {
      throw new CliError('undecided', 'The result follows from the secret of the service that gave it, which a replay does not have.')
    },
  }
}

/** Turns a reason not to start into a reason not to run. */
export function orConfig<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof StartError) throw new CliError('config', error.message)
    throw error
  }
}
