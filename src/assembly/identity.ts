import { createHmac, createSecretKey } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../adapters/clock/system.ts'
import { readSecret } from '../adapters/secret/file.ts'
import type { SigningBackend } from '../adapters/signer/choose.ts'
import { activeKey, loadKeyring, type Keyring } from '../adapters/signer/keyring.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import { secretFileFault } from '../pure/secret-file.ts'
import type { Settings } from '../service/config.ts'

/** Files and values that identify a deployment, read in the same way by the server and the command line. */

/** A reason not to start, in one sentence that names the setting or file and the fix. */
export class StartError extends Error {}

export function orStop<Value extends { ok: true }>(read: Value | { ok: false; message: string }): Value {
  if (!read.ok) throw new StartError(read.message)
  return read
}

/** Paths of store, keys and secret. A path that is not set is in the data folder; the file is made on the first start. */
export const places = {
  store: (settings: Settings) => settings.ASSAY_STORE || join(settings.ASSAY_DATA_DIR, 'assay.sqlite'),
  receiptKeys: (settings: Settings) => settings.ASSAY_RECEIPT_KEY_FILE || join(settings.ASSAY_DATA_DIR, 'receipt-keys.json'),
  secret: (settings: Settings) => settings.ASSAY_SECRET_FILE || join(settings.ASSAY_DATA_DIR, 'secret.key'),
  logKey: (settings: Settings) => settings.ASSAY_LOG_KEY_FILE || join(settings.ASSAY_DATA_DIR, 'log.key'),
} as const

/** File whose content must stay secret, and the setting that names it or the folder it lies in. */
export interface SecretFile {
  setting: keyof Settings
  path: string
}

/** Every secret file that a start with these settings reads or makes. */
export function secretFiles(settings: Settings): SecretFile[] {
  const made = (setting: keyof Settings, path: string): SecretFile => ({
    setting: settings[setting] === '' ? 'ASSAY_DATA_DIR' : setting,
    path,
  })
  const named = (
    ['ASSAY_GAS_KEY_FILE', 'ASSAY_STRIPE_SECRET_KEY_FILE', 'ASSAY_STRIPE_WEBHOOK_SECRET_FILE', 'ASSAY_COMPANIES_HOUSE_KEY_FILE'] as const
  )
    .map((setting) => ({ setting, path: settings[setting] }))
    .filter(({ path }) => path !== '')
  const networks: SecretFile[] = settings.ASSAY_NETWORKS.filter(({ gas_key_file }) => gas_key_file !== '').map(({ gas_key_file }) => ({
    setting: 'ASSAY_NETWORKS',
    path: gas_key_file,
  }))
  const sandbox: SecretFile[] =
    settings.ASSAY_MODE === 'sandbox' ? [{ setting: 'ASSAY_DATA_DIR', path: join(settings.ASSAY_DATA_DIR, 'sandbox', 'payer.key') }] : []
  return [
    made('ASSAY_RECEIPT_KEY_FILE', places.receiptKeys(settings)),
    made('ASSAY_SECRET_FILE', places.secret(settings)),
    made('ASSAY_LOG_KEY_FILE', places.logKey(settings)),
    ...named,
    ...networks,
    ...sandbox,
  ]
}

/** Permission fault of a secret file as one sentence; null when there is none, and when the file does not exist yet. */
export function permissionFault(file: SecretFile): string | null {
  // Windows has no such bits, and no user ids.
  const own_uid = process.getuid?.()
  if (own_uid === undefined) return null
  try {
    return secretFileFault(statSync(file.path), own_uid, file)
  } catch {
    // Missing, or out of reach: reading it says why.
    return null
  }
}

/** The origin under which a server with this address is reached from its own machine. */
export function localOrigin(host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Returns true for an address that only the same machine can reach (RFC 5735 §3: all of 127.0.0.0/8). */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/**
 * Identity of this deployment: mode, chain and payee. In the sandbox the payee is a wallet whose key is derived from the secret of the
 * deployment: instances that share the secret share the payee, and the key cannot be guessed.
 */
export function identityOf(settings: Settings, signing: SigningBackend): StoreIdentity {
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

const FINGERPRINT_NOTE = 'secret-fingerprint'

/** Fingerprint that shows only whether two secrets are equal: the secret has 256 random bits. */
function fingerprintOf(secret: Uint8Array): string {
  return createHmac('sha256', createSecretKey(secret)).update('fingerprint of the secret of a deployment').digest('hex').slice(0, 32)
}

/**
 * Binds the store to the secret at the first start and compares afterwards: with another secret the paid answers, tasks and credits in it could
 * not be read. Throws a StartError.
 */
export async function bindSecret(store: Pick<Store, 'remember'>, settings: Settings, secret: Uint8Array): Promise<void> {
  const mine = fingerprintOf(secret)
  if ((await store.remember(FINGERPRINT_NOTE, mine)) !== mine) throw new StartError(otherSecret(settings))
}

/** The same without binding a store that was never started: nothing is written. */
export async function checkBoundSecret(store: Pick<Store, 'recall'>, settings: Settings, secret: Uint8Array): Promise<void> {
  const bound = await store.recall(FINGERPRINT_NOTE)
  if (bound !== null && bound !== fingerprintOf(secret)) throw new StartError(otherSecret(settings))
}

function otherSecret(settings: Settings): string {
  return (
    `The store was begun with another secret than that in ${places.secret(settings)}, so paid answers and credits in it could not be read. ` +
    'Restore the secret that the store was begun with (ASSAY_SECRET_FILE), or name another store (ASSAY_STORE).'
  )
}
