/**
 * Audit bundle: one JSON file with everything that an auditor needs to verify answers offline. It holds inputs, answers with receipts and links, the key
 * list, log proofs under one checkpoint, and the datasets that the answers name. `manifest` has a SHA-256 for each part: it shows which part was changed,
 * but anyone can compute it, so it proves nothing about the maker. Signatures prove receipts, links and the log.
 */
import { isObject } from '../is-object.ts'

export const BUNDLE_FORMAT = 'assay-audit-bundle'
export const BUNDLE_VERSION = 1

/** Bounds of the format. Every reader of JSON documents in this project accepts a bundle of this size. */
export const BUNDLE_LIMITS = { answers: 200, datasets: 32, bytes: 5 * 1_048_576 } as const
/** Limits of requests for the part of the service: each reads up to 232 proofs, of which the entries have 16 kB. */
export const BUNDLE_RULES = { per_minute: 10, body_bytes: 32_768 } as const
/** An answer and a dataset each have at most one log entry. */
export const BUNDLE_ENTRIES_MAX = BUNDLE_LIMITS.answers + BUNDLE_LIMITS.datasets

export interface BundledAnswer {
  /** Input of the call, without the wrapper `input`; absent if it was not given. */
  input?: unknown
  /** Answer as the service gave it, or an object with `receipt` alone. */
  answer: Record<string, unknown>
}

/** Proof of one log entry (C2SP tlog-proof). */
interface BundledProof {
  /** 64 lower-case hexadecimal digits. */
  entry: string
  proof: string
}

/** Entry that has no proof: it waits to be appended, or the log does not have it. */
interface UnprovedEntry {
  entry: string
  state: 'waiting' | 'unknown'
}

export interface BundledLog {
  verifier_key: string
  /** Signed checkpoint that all proofs lead to; null if the log has none yet. */
  checkpoint: string | null
  proofs: BundledProof[]
  unproved: UnprovedEntry[]
  /** Checkpoint that the auditor kept from an earlier audit. */
  earlier_checkpoint?: string
  /** Proof that `checkpoint` continues the earlier one: "old <size>", hashes, empty line, checkpoint. */
  consistency?: string
}

export interface BundledDataset {
  /** Name as in `data_as_of` of answers. */
  id: string
  /** SHA-256 of `text`, 64 lower-case hexadecimal digits. */
  sha256: string
  /** Exact text; absent if it must be fetched from GET /v1/datasets/{sha256}. */
  text?: string
}

export interface AuditBundle {
  format: typeof BUNDLE_FORMAT
  version: typeof BUNDLE_VERSION
  /** Address of the JSON Schema. */
  schema: string
  /** Public origin of the service. */
  service: string
  /** RFC 3339. */
  made_at: string
  answers: BundledAnswer[]
  /** Key list of the service, as at /.well-known/xdr-1.json. */
  keys: Record<string, unknown>
  /** Null if the service keeps no log. */
  log: BundledLog | null
  datasets: BundledDataset[]
  /** SHA-256 of the RFC 8785 text of each part, by JSON pointer. */
  manifest: Record<string, string>
}

/** True for a document that says it is a bundle; it may still be malformed. */
export function claimsBundle(document: unknown): document is Record<string, unknown> {
  return isObject(document) && document['format'] === BUNDLE_FORMAT
}

export type BundleReading = { ok: true; bundle: AuditBundle } | { ok: false; pointer: string; reason: string }

/** Checks the form of a bundle. Members are read as they are; verification decides about their contents. */
export function readBundle(document: unknown): BundleReading {
  if (!claimsBundle(document)) return refuse('/format', `Expected "${BUNDLE_FORMAT}".`)
  const { version, schema, service, made_at, answers, keys, log, datasets, manifest } = document
  if (version !== BUNDLE_VERSION)
    return refuse('/version', `Version ${JSON.stringify(version) ?? 'missing'} is not known here; expected ${BUNDLE_VERSION}.`)
  for (const [name, value] of Object.entries({ schema, service, made_at })) {
    if (typeof value !== 'string') return refuse(`/${name}`, 'Expected text.')
  }
  if (!isObject(keys)) return refuse('/keys', 'Expected the key list of the service, an object.')
  if (!isObject(manifest)) return refuse('/manifest', 'Expected an object of SHA-256 by JSON pointer.')
  const fault = answersFault(answers) ?? logFault(log) ?? datasetsFault(datasets)
  return fault ?? { ok: true, bundle: document as unknown as AuditBundle }
}

type Fault = Extract<BundleReading, { ok: false }>

function refuse(pointer: string, reason: string): Fault {
  return { ok: false, pointer, reason }
}

function answersFault(answers: unknown): Fault | null {
  if (!Array.isArray(answers) || answers.length === 0) return refuse('/answers', 'Expected a list with at least one answer.')
  if (answers.length > BUNDLE_LIMITS.answers)
    return refuse('/answers', `There are ${answers.length} answers; a bundle has at most ${BUNDLE_LIMITS.answers}.`)
  const index = answers.findIndex((one) => !isObject(one) || !isObject(one['answer']) || !isObject(one['answer']['receipt']))
  return index === -1 ? null : refuse(`/answers/${index}`, 'Expected an object whose member answer has a receipt.')
}

function logFault(log: unknown): Fault | null {
  if (log === null) return null
  if (!isObject(log)) return refuse('/log', 'Expected an object, or null for a service without a log.')
  const { verifier_key, checkpoint, proofs, unproved, earlier_checkpoint = '', consistency = '' } = log
  if (typeof verifier_key !== 'string') return refuse('/log/verifier_key', 'Expected text.')
  if (checkpoint !== null && typeof checkpoint !== 'string') return refuse('/log/checkpoint', 'Expected text or null.')
  if (typeof earlier_checkpoint !== 'string') return refuse('/log/earlier_checkpoint', 'Expected text.')
  if (typeof consistency !== 'string') return refuse('/log/consistency', 'Expected text.')
  for (const [name, list, member] of [
    ['proofs', proofs, 'proof'],
    ['unproved', unproved, 'state'],
  ] as const) {
    if (!Array.isArray(list) || list.length > BUNDLE_ENTRIES_MAX)
      return refuse(`/log/${name}`, `Expected a list of at most ${BUNDLE_ENTRIES_MAX} entries.`)
    const index = list.findIndex((one) => !isObject(one) || !isSha256(one['entry']) || typeof one[member] !== 'string')
    if (index !== -1)
      return refuse(`/log/${name}/${index}`, `Expected an object with entry, 64 lower-case hexadecimal digits, and ${member}.`)
  }
  return null
}

function datasetsFault(datasets: unknown): Fault | null {
  if (!Array.isArray(datasets) || datasets.length > BUNDLE_LIMITS.datasets)
    return refuse('/datasets', `Expected a list of at most ${BUNDLE_LIMITS.datasets} datasets.`)
  const index = datasets.findIndex(
    (one) =>
      !isObject(one) || typeof one['id'] !== 'string' || !isSha256(one['sha256']) || !['string', 'undefined'].includes(typeof one['text']),
  )
  return index === -1 ? null : refuse(`/datasets/${index}`, 'Expected an object with id, sha256 and, if it is included, text.')
}

function isSha256(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** Dataset that a result names in `data_as_of`: its date, and the start of its SHA-256 if the result states one. */
export interface NamedDataset {
  id: string
  as_of: string
  /** 12 or 64 hexadecimal digits; null if the result gives only a date. */
  sha256: string | null
}

/** Names in `data_as_of` of a dataset with another id. */
const ALIASES: Readonly<Record<string, string>> = { sanctioned_countries: 'prohibited_jurisdictions' }

/** Datasets that a result names. */
export function namedDatasets(result: unknown): NamedDataset[] {
  const data_as_of = isObject(result) ? result['data_as_of'] : null
  if (!isObject(data_as_of)) return []
  const list = isObject(result) && isObject(result['list']) ? result['list'] : {}
  return Object.entries(data_as_of)
    .slice(0, BUNDLE_LIMITS.datasets)
    .flatMap(([name, as_of]): NamedDataset[] => {
      if (typeof as_of !== 'string') return []
      const id = (Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined) ?? name
      const whole = list['name'] === id && typeof list['sha256'] === 'string' ? list['sha256'] : null
      return [{ id, as_of, sha256: whole ?? / sha256:([0-9a-f]{12})$/.exec(as_of)?.[1] ?? null }]
    })
}
