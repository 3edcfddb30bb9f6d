/** The receipt keys of a deployment: made once, rotated, revoked. Times are seconds since 1970-01-01T00:00:00Z. */
import { closeSync, openSync, rmSync, fsyncSync, linkSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import type { StoreIdentity } from '../../ports/store.ts'
import { activeOf, revoked, rotated, type KeyList, readKeyList, type KeyLife } from '../../pure/receipts/keys.ts'
import { readStrictJson } from '../../pure/documents/strict-json.ts'
import { fromHex, toHex } from '../../pure/receipts/crypto.ts'
import { addressOf, isPrivateKey } from './noble.ts'

/** Only the active key keeps its secret: a retired or revoked one never signs again. */
interface RingKey extends KeyLife {
  private_key: Uint8Array | null
}

/** `identity` is null in a file that holds a bare key. */
interface RingFile {
  identity: StoreIdentity | null
  keys: RingKey[]
}

type RingRead = { ok: true; file: RingFile } | { ok: false; message: string }

/** Null when there is no such file. */
export function readRingFile(path: string): RingRead | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = codeOf(error)
    return code === 'ENOENT'
      ? null
      : { ok: false, message: `The receipt key file ${path} cannot be read (${code}); give this user access to it.` }
  }
  const file = parseRing(text)
  if (file !== null) return { ok: true, file }
  const fix = 'restore it from a backup, or name another file in ASSAY_RECEIPT_KEY_FILE'
  return { ok: false, message: `The receipt key file ${path} holds neither a list of receipt keys nor one 32-byte hex key: ${fix}.` }
}

function freshKey(not_before: number): RingKey {
  let private_key: Uint8Array
  do private_key = Uint8Array.from(randomBytes(32))
  while (!isPrivateKey(private_key))
  return activeKeyOf(private_key, not_before)
}

/** Creates the file unless it exists; of several processes that try simultaneously, exactly one writes. Throws the system's error. */
function createRingFile(path: string, file: RingFile): void {
  const draft = writeDraft(path, file)
  try {
    // A link, unlike a rename, fails when the name is taken, and the file appears with all its bytes.
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(path)
}

/** Replaces the file in one step: readers see the old keys or the new ones. */
function replaceRingFile(path: string, file: RingFile): void {
  renameSync(writeDraft(path, file), path)
  syncFolder(path)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

function writeDraft(path: string, { identity, keys }: RingFile): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const rows = keys.map(({ private_key, ...life }) => ({ ...life, private_key: private_key === null ? null : toHex(private_key) }))
  writeFileSync(draft, `${JSON.stringify({ ...identity, keys: rows }, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return draft
}

/** Makes the new name durable; Windows has no such thing for folders and does not need it. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(dirname(path), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } catch (error) {
    if (process.platform !== 'win32') throw error
  }
}

function parseRing(text: string): RingFile | null {
  const bare = /^(?:0x)?([0-9a-fA-F]{64})\s*$/.exec(text)?.[1]
  if (bare !== undefined) {
    const private_key = readPrivateKey(`0x${bare}`)
    return private_key === null ? null : { identity: null, keys: [activeKeyOf(private_key, 0)] }
  }
  const read = readStrictJson(text, { depth: 4, nodes: 20_000 })
  if (!read.ok || typeof read.value !== 'object' || read.value === null) return null
  const { mode, chain_id, pay_to, keys } = read.value as Record<string, unknown>
  if (typeof mode !== 'string' || !/^[a-z]{1,16}$/.test(mode) || typeof chain_id !== 'number' || !Array.isArray(keys)) return null
  if (typeof pay_to !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(pay_to)) return null
  const ring = parseKeys(keys, { mode, chain_id })
  return ring === null ? null : { identity: { mode, chain_id, pay_to }, keys: ring }
}

function parseKeys(rows: readonly unknown[], place: { mode: string; chain_id: number }): RingKey[] | null {
  if (!rows.every((row): row is Record<string, unknown> => typeof row === 'object' && row !== null)) return null
  const lives = readKeyList(rows.map((row) => ({ ...row, ...place })))
  if (lives === null) return null
  const keys: RingKey[] = []
  for (const [index, { mode: _mode, chain_id: _chain, ...life }] of lives.entries()) {
    const given = rows[index]?.['private_key'] ?? null
    const private_key = readPrivateKey(given)
    // A secret that does not belong to its address would sign receipts that cannot be verified.
    if (given !== null && (private_key === null || addressOf(private_key) !== life.address)) return null
    if (given === null && life.status === 'active') return null
    keys.push({ ...life, private_key })
  }
  return keys
}

function readPrivateKey(text: unknown): Uint8Array | null {
  const bytes = typeof text === 'string' ? fromHex(text) : null
  return bytes !== null && bytes.length === 32 && isPrivateKey(bytes) ? bytes : null
}

function activeKeyOf(private_key: Uint8Array, not_before: number): RingKey {
  return { address: addressOf(private_key), private_key, status: 'active', not_before, not_after: null, revoked_at: null, reason: null }
}

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
