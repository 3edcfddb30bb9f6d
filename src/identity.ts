import { createHmac, createSecretKey } from 'node:crypto'
import { join } from 'node:path'
import { systemClock } from './adapters/clock/system.ts'
import { readSecret } from './adapters/secret/file.ts'
import type { Signing } from './adapters/signer/choose.ts'
import { activeKey, loadKeyring, type Keyring } from './adapters/signer/keyring.ts'
import type { StoreIdentity } from './ports/store.ts'
import type { Settings } from './service/config.ts'

/** Where a deployment keeps what makes it itself, and what it reads there. The server and the command line see the same. */

/** A reason not to start, in one sentence that names the setting or file and the fix. */
export class StartError extends Error {}

export function orStop<Value extends { ok: true }>(read: Value | { ok: false; message: string }): Value {
  if (!read.ok) throw new StartError(read.message)
  return read
}

/** What is not named lies in the data folder, where it is made once. */
export const places = {
  store: (settings: Settings) => settings.ASSAY_STORE || join(settings.ASSAY_DATA_DIR, 'assay.sqlite'),
  receiptKeys: (settings: Settings) => settings.ASSAY_RECEIPT_KEY_FILE || join(settings.ASSAY_DATA_DIR, 'receipt-keys.json'),
  secret: (settings: Settings) => settings.ASSAY_SECRET_FILE || join(settings.ASSAY_DATA_DIR, 'secret.key'),
  logKey: (settings: Settings) => settings.ASSAY_LOG_KEY_FILE || join(settings.ASSAY_DATA_DIR, 'log.key'),
} as const

/** The origin under which a server with this address is reached from its own machine. */
export function localOrigin(host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/**
 * Which deployment this is. In the sandbox the payee is a wallet whose key follows from the secret of the deployment, so that instances
 * which share the secret share the payee, and nobody else can know it.
 */
export function identityOf(settings: Settings, signing: Signing): StoreIdentity {
  const { ASSAY_MODE: mode, ASSAY_CHAIN_ID: chain_id, ASSAY_PAY_TO } = settings
  return { mode, chain_id, pay_to: mode === 'sandbox' ? signing.signer(sandboxPayToKey(secretOf(settings))).address : ASSAY_PAY_TO }
}

function sandboxPayToKey(secret: Uint8Array): Uint8Array {
  return createHmac('sha256', createSecretKey(secret)).update('sandbox pay-to wallet').digest()
}

/** The receipt keys: those of the file that is named, else those made once in the data folder. */
export function ringOf(settings: Settings, identity: StoreIdentity): Keyring {
  return orStop(loadKeyring(places.receiptKeys(settings), identity, Math.floor(systemClock.now_ms() / 1000))).ring
}

/** The key that signs. Throws a StartError where none does. */
export function activeOf(ring: Keyring) {
  const active = activeKey(ring)
  if (active === undefined) throw new StartError('No receipt key is active; "assay keys rotate" makes one.')
  return active
}

export function secretOf(settings: Settings): Uint8Array {
  return orStop(readSecret(places.secret(settings), settings.ASSAY_SECRET_FILE === '')).secret
}
