import { join } from 'node:path'
import { systemClock } from './adapters/clock/system.ts'
import { readSecret } from './adapters/secret/file.ts'
import type { Signing } from './adapters/signer/choose.ts'
import { loadKeyring, type Keyring } from './adapters/signer/keyring.ts'
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
  sandboxPayTo: (settings: Settings) => join(settings.ASSAY_DATA_DIR, 'sandbox', 'pay-to.key'),
} as const

/** The origin under which a server with this address is reached from its own machine. */
export function localOrigin(host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Which deployment this is: in the sandbox the payee is a wallet made once, whose key stays beside the store. */
export function identityOf(settings: Settings, signing: Signing): StoreIdentity {
  const sandbox = settings.ASSAY_MODE === 'sandbox'
  const pay_to = sandbox ? signing.signer(orStop(readSecret(places.sandboxPayTo(settings), true)).secret).address : settings.ASSAY_PAY_TO
  return { mode: settings.ASSAY_MODE, chain_id: settings.ASSAY_CHAIN_ID, pay_to }
}

/** The receipt keys: those of the file that is named, else those made once in the data folder. */
export function ringOf(settings: Settings, identity: StoreIdentity): Keyring {
  return orStop(loadKeyring(places.receiptKeys(settings), identity, Math.floor(systemClock.now_ms() / 1000))).ring
}

export function secretOf(settings: Settings): Uint8Array {
  return orStop(readSecret(places.secret(settings), settings.ASSAY_SECRET_FILE === '')).secret
}
