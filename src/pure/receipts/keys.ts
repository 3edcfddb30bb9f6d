/**
 * Published list of receipt keys with their periods of validity. Lists are immutable; rotation and revocation return new ones. Times are
 * seconds since 1970-01-01T00:00:00Z.
 */
import type { ReceiptCode } from './reasons.ts'

export type KeyStatus = 'active' | 'retired' | 'revoked'

/** Validity of a key: for receipts dated from not_before to not_after, inclusive, and before revoked_at. */
export interface KeyLife {
  /** 0x-prefixed lower-case address. */
  address: string
  status: KeyStatus
  not_before: number
  not_after: number | null
  /** Signatures dated at or after this time are invalid; it may be earlier than the revocation itself. */
  revoked_at: number | null
  /** Reason of the revocation; null otherwise. */
  reason: string | null
}

export interface PublishedKey extends KeyLife {
  /** Mode and chain of the deployment; receipts contain neither. */
  mode: string
  chain_id: number
}

export type KeyList = readonly PublishedKey[]

export interface KeyVerdict {
  signer_published: boolean
  /** False also for an unpublished key. */
  signer_valid_at_ts: boolean
  code: Extract<ReceiptCode, 'signer_not_published' | 'signer_not_yet_valid' | 'signer_retired' | 'signer_revoked' | 'revoked_later'> | null
}

/**
 * Checks a signer against the list at the date of a receipt. A key that is listed more than once is valid in each of its periods and
 * revoked by any revocation.
 */
export function judgeKey(keys: readonly KeyLife[], address: string, ts: number): KeyVerdict {
  const lives = keys.filter((candidate) => candidate.address.toLowerCase() === address.toLowerCase())
  if (lives.length === 0) return { signer_published: false, signer_valid_at_ts: false, code: 'signer_not_published' }
  const refusals = lives.map((life) => refusal(life, ts))
  const refused = refusals.find((code) => code === 'signer_revoked') ?? (refusals.includes(null) ? null : (refusals[0] ?? null))
  if (refused !== null) return { signer_published: true, signer_valid_at_ts: false, code: refused }
  return { signer_published: true, signer_valid_at_ts: true, code: lives.some(isRevoked) ? 'revoked_later' : null }
}

/** A revocation time applies regardless of the status. */
function isRevoked({ status, revoked_at }: KeyLife): boolean {
  return status === 'revoked' || revoked_at !== null
}

function refusal(key: KeyLife, ts: number): 'signer_revoked' | 'signer_not_yet_valid' | 'signer_retired' | null {
  // A revocation without a time applies to all dates.
  if (isRevoked(key) && ts >= (key.revoked_at ?? 0)) return 'signer_revoked'
  if (ts < key.not_before) return 'signer_not_yet_valid'
  if (key.not_after !== null && ts > key.not_after) return 'signer_retired'
  return null
}

/** Current signing key; undefined if all keys are retired or revoked. */
export function activeOf<Key extends KeyLife>(keys: readonly Key[]): Key | undefined {
  return keys.find((key) => key.status === 'active')
}

/** Retires the active key at `retire_ts` and adds `next`, which must be active, in front. */
export function rotated<Key extends KeyLife>(keys: readonly Key[], next: Key, retire_ts: number): Key[] {
  return [next, ...keys.map((key) => (key.status === 'active' ? { ...key, status: 'retired' as const, not_after: retire_ts } : key))]
}

/** Revokes a key from `revoked_ts`. Unchanged if the address is not on the list; an earlier revocation is kept. */
export function revoked<Key extends KeyLife>(keys: readonly Key[], address: string, reason: string, revoked_ts: number): Key[] {
  return keys.map((key) => {
    if (key.address !== address.toLowerCase()) return key
    return { ...key, status: 'revoked' as const, revoked_at: Math.min(key.revoked_at ?? revoked_ts, revoked_ts), reason }
  })
}

/** Reads a published list: an array, or a document with `keys`; null if invalid. */
export function readKeyList(document: unknown): PublishedKey[] | null {
  const rows: unknown = Array.isArray(document) ? document : property(document, 'keys')
  if (!Array.isArray(rows)) return null
  const keys = rows.map(readKey)
  return keys.every((key) => key !== null) ? keys : null
}

function readKey(row: unknown): PublishedKey | null {
  const [address, status, mode] = [property(row, 'address'), property(row, 'status'), property(row, 'mode')]
  const [not_before, chain_id, reason] = [property(row, 'not_before'), property(row, 'chain_id'), property(row, 'reason') ?? null]
  const [not_after, revoked_at] = [property(row, 'not_after') ?? null, property(row, 'revoked_at') ?? null]
  if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address)) return null
  if (status !== 'active' && status !== 'retired' && status !== 'revoked') return null
  if (!isTime(not_before) || !isTimeOrNull(not_after) || !isTimeOrNull(revoked_at)) return null
  if (typeof mode !== 'string' || !isTime(chain_id) || (reason !== null && typeof reason !== 'string')) return null
  return { address: address.toLowerCase(), status, not_before, not_after, revoked_at, reason, mode, chain_id }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isTimeOrNull(value: unknown): value is number | null {
  return value === null || isTime(value)
}
