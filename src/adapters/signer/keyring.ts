/** The receipt keys of a deployment: made once, rotated, revoked. Times are seconds since 1970-01-01T00:00:00Z. */
import { closeSync, openSync, rmSync } from 'node:fs'
import type { StoreIdentity } from '../../ports/store.ts'
import { activeOf, revoked, rotated, type KeyList } from '../../pure/receipts/keys.ts'
import { codeOf, createRingFile, freshKey, readRingFile, replaceRingFile, type RingKey } from './keyring-file.ts'

export interface Keyring {
  readonly identity: StoreIdentity
  /** Newest first. */
  readonly keys: readonly RingKey[]
}

/** The message is one sentence that names the file and the fix. */
export type KeyringRead = { ok: true; ring: Keyring } | { ok: false; message: string }

/** The keys as they may be published: no secrets, with the mode and chain that they serve. */
export function publicKeys(ring: Keyring): KeyList {
  const { mode, chain_id } = ring.identity
  return ring.keys.map(({ private_key: _secret, ...life }) => ({ ...life, mode, chain_id }))
}

/** The key that signs; undefined when there is none. */
export function activeKey(ring: Keyring): (RingKey & { private_key: Uint8Array }) | undefined {
  const key = activeOf(ring.keys)
  return key?.private_key ? { ...key, private_key: key.private_key } : undefined
}

/**
 * Reads the keys of this deployment, creating the file with one fresh key when there is none. Processes that start simultaneously end
 * with the same key. A file of another deployment is refused; a file with a bare key is accepted by every deployment.
 */
export function loadKeyring(path: string, identity: StoreIdentity, now_ts: number): KeyringRead {
  const found = readRing(path, identity)
  if (found !== null) return found
  return guarded(path, () => {
    createRingFile(path, { identity, keys: [freshKey(now_ts)] })
    return readRing(path, identity) ?? { ok: false, message: `The receipt key file ${path} vanished while it was read; start again.` }
  })
}

/**
 * Puts a fresh key in charge. The old one stays good for receipts dated up to `retire_ts`, which should leave time for running services to
 * take up the new one; its secret is forgotten.
 */
export function rotateKey(path: string, identity: StoreIdentity, now_ts: number, retire_ts = now_ts): KeyringRead {
  return change(path, identity, (keys) => rotated(keys, freshKey(now_ts), retire_ts))
}

/** Revokes a key for everything dated from `revoked_ts` on, for a published reason; when it is the active one, a fresh key takes over. */
export function revokeKey(
  path: string,
  identity: StoreIdentity,
  address: string,
  reason: string,
  now_ts: number,
  revoked_ts = now_ts,
): KeyringRead {
  const held = readRing(path, identity)
  if (held?.ok === true && !held.ring.keys.some((key) => key.address === address.toLowerCase())) {
    return { ok: false, message: `No key in ${path} has that address; "assay keys" lists them.` }
  }
  return change(path, identity, (keys) => {
    const rest = revoked(keys, address, reason, revoked_ts)
    return activeOf(rest) === undefined ? rotated(rest, freshKey(now_ts), now_ts) : rest
  })
}

function readRing(path: string, identity: StoreIdentity): KeyringRead | null {
  const read = readRingFile(path)
  if (read === null || !read.ok) return read
  const owner = read.file.identity ?? identity
  if (describe(owner) === describe(identity)) return { ok: true, ring: { identity, keys: read.file.keys } }
  const both = `belongs to ${describe(owner)}, but this deployment is ${describe(identity)}`
  return { ok: false, message: `The receipt key file ${path} ${both}: name another file in ASSAY_RECEIPT_KEY_FILE.` }
}

function describe({ mode, chain_id, pay_to }: StoreIdentity): string {
  return `${mode} on chain ${chain_id} with pay-to ${pay_to.toLowerCase()}`
}

/** Reads, changes and writes under a lock file, so that two simultaneous changes do not lose one. */
function change(path: string, identity: StoreIdentity, edit: (keys: readonly RingKey[]) => RingKey[]): KeyringRead {
  const lock = `${path}.lock`
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return cannotWrite(path, error)
    return { ok: false, message: `${lock} exists: another change is under way; remove it if that one was interrupted.` }
  }
  try {
    return guarded(path, () => {
      const found = readRing(path, identity) ?? {
        ok: false,
        message: `There is no receipt key file ${path} yet; starting the service makes it.`,
      }
      if (!found.ok) return found
      const keys = edit(found.ring.keys).map((key) => (key.status === 'active' ? key : { ...key, private_key: null }))
      replaceRingFile(path, { identity, keys })
      return { ok: true, ring: { identity, keys } }
    })
  } finally {
    rmSync(lock, { force: true })
  }
}

function guarded(path: string, write: () => KeyringRead): KeyringRead {
  try {
    return write()
  } catch (error) {
    return cannotWrite(path, error)
  }
}

function cannotWrite(path: string, error: unknown): KeyringRead {
  return { ok: false, message: `The receipt key file ${path} cannot be written (${codeOf(error)}); give this user access to its folder.` }
}
