/**
 * The receipt key file: its text, and how it is written. Either a JSON object with the deployment that the keys belong to and the life of
 * each key, or, for a key made elsewhere, nothing but 32 bytes as hex. Messages name the file and the fix and never any key.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { StoreIdentity } from '../../ports/store.ts'
import { readStrictJson } from '../../pure/documents/strict-json.ts'
import { fromHex, toHex } from '../../pure/receipts/crypto.ts'
import { readKeyList, type KeyLife } from '../../pure/receipts/keys.ts'
import { addressOf, isPrivateKey } from './noble.ts'

/** Only the active key keeps its secret: a retired or revoked one never signs again. */
export interface RingKey extends KeyLife {
  private_key: Uint8Array | null
}

/** `identity` is null in a file that holds a bare key. */
export interface RingFile {
  identity: StoreIdentity | null
  keys: RingKey[]
}

export type RingRead = { ok: true; file: RingFile } | { ok: false; message: string }

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

export function freshKey(not_before: number): RingKey {
  let private_key: Uint8Array
  do private_key = Uint8Array.from(randomBytes(32))
  while (!isPrivateKey(private_key))
  return activeKeyOf(private_key, not_before)
}

/** Creates the file unless it exists; of several processes that try simultaneously, exactly one writes. Throws the system's error. */
export function createRingFile(path: string, file: RingFile): void {
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
export function replaceRingFile(path: string, file: RingFile): void {
  renameSync(writeDraft(path, file), path)
  syncFolder(path)
}

export function codeOf(error: unknown): string {
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
