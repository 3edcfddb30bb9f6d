/**
 * Verifies an audit bundle offline, part by part. Three grades: a part is valid, failed, or not checked, because what it takes is not in the bundle. The
 * key list in a bundle comes from the maker of the bundle; only a list that the auditor got from the issuer shows who signed. Not verified here: that
 * results are right, that money moved, and that the bundle holds every answer that there is.
 */
import { dataDate } from '../datasets/table.ts'
import { isObject, jsonObject } from '../is-object.ts'
import {
  isSignedBy,
  logEntry,
  readCheckpoint,
  readNote,
  readVerifierKey,
  verifyLogProof,
  type Note,
  type VerifierKey,
  readConsistency,
  bytesToHex,
  hexToBytes,
} from '../log/checkpoint.ts'
import { isConsistent } from '../log/tree.ts'
import { CanonicalError, canonicalText } from '../receipts/canonical.ts'
import { linkIn, readReceiptHash, resultIn, verifyLink } from '../receipts/chain.ts'
import { readKeyList, type KeyList } from '../receipts/keys.ts'
import { valueHash } from '../receipts/receipt.ts'
import { verifyReceipt, type ReceiptVerdict } from '../receipts/verify.ts'
import { pointerStep } from '../documents/json-schema/json.ts'
import { namedDatasets, type AuditBundle, type BundledDataset, type BundledLog, type NamedDataset } from './bundle.ts'
import { sha256 as sha256Of } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

/** Things that are checked. */
type BundleCheckKind =
  | 'manifest'
  | 'keys'
  | 'receipt'
  | 'input'
  | 'result'
  | 'tier'
  | 'link'
  | 'log_key'
  | 'checkpoint'
  | 'log_proof'
  | 'consistency'
  | 'dataset'
  | 'replay'

interface BundleCheck {
  /** JSON pointer of the part. */
  pointer: string
  kind: BundleCheckKind
  state: 'valid' | 'failed' | 'not_checked'
  message: string
}

/** Facts of one answer, for lists. */
interface BundledReceipt {
  tool: string | null
  tool_version: string | null
  digest: string | null
  /** Digest that its link names; null without a link. */
  follows: string | null
}

/** `issuer_unknown`: nothing failed, but the key list is that of the bundle. */
type BundleOutcome = 'verified' | 'issuer_unknown' | 'failed'

export interface BundleReport {
  outcome: BundleOutcome
  service: string
  made_at: string
  receipts: BundledReceipt[]
  checks: BundleCheck[]
}

/** Keys and datasets that the auditor has from elsewhere. */
export interface AuditorKeys {
  /** Key list of the issuer; null to use that of the bundle. */
  keys: KeyList | null
  /** Verifier key of the log; null to use that of the bundle. */
  log: VerifierKey | null
  /** Witnesses that must have signed the checkpoint. */
  witnesses: readonly VerifierKey[]
  /** SHA-256 of datasets that the auditor has from elsewhere, such as those of the release. */
  datasets: ReadonlySet<string>
}

const NO_KEYS: AuditorKeys = { keys: null, log: null, witnesses: [], datasets: new Set() }

/** Never throws. `more` are checks that were made elsewhere, such as replays. */
export function verifyBundle(bundle: AuditBundle, given: AuditorKeys = NO_KEYS, more: readonly BundleCheck[] = []): BundleReport {
  const bundled_keys = readKeyList(bundle.keys)
  const keys = given.keys ?? bundled_keys
  const answers = bundle.answers.map((one, index) => checkAnswer(one, index, keys))
  const checks = [
    ...manifestChecks(bundle),
    keysCheck(bundled_keys, given.keys),
    ...answers.flatMap((one) => one.checks),
    ...linkChecks(answers),
    ...logChecks(bundle, answers, given),
    ...datasetChecks(bundle.datasets, answers, given.datasets),
    ...more,
  ]
  const failed_any = checks.some(({ state }) => state === 'failed')
  return {
    outcome: failed_any ? 'failed' : given.keys === null ? 'issuer_unknown' : 'verified',
    service: bundle.service,
    made_at: bundle.made_at,
    receipts: answers.map(({ receipt }) => receipt),
    checks,
  }
}

type Check = (kind: BundleCheckKind, pointer: string, message: string) => BundleCheck

const valid: Check = (kind, pointer, message) => ({ kind, pointer, state: 'valid', message })
const failed: Check = (kind, pointer, message) => ({ kind, pointer, state: 'failed', message })
const notChecked: Check = (kind, pointer, message) => ({ kind, pointer, state: 'not_checked', message })

/** One check if all parts have their hash, else one for each that has not. */
function manifestChecks(bundle: AuditBundle): BundleCheck[] {
  const parts = bundleParts(bundle)
  const { manifest } = bundle
  const faults = [...parts].flatMap(([pointer, value]): BundleCheck[] => {
    if (!Object.hasOwn(manifest, pointer))
      return [failed('manifest', pointer, 'This part is not in the manifest: it was added after the bundle was made.')]
    return hashOrNull(() => partHash(value)) === manifest[pointer]
      ? []
      : [failed('manifest', pointer, 'This part, or its SHA-256 in the manifest, was changed after the bundle was made.')]
  })
  const removed = Object.keys(manifest)
    .filter((pointer) => !parts.has(pointer))
    .map((pointer) => failed('manifest', pointer, 'The manifest names this part, but it is not in the bundle: it was removed.'))
  const found = [...faults, ...removed]
  return found.length > 0 ? found : [valid('manifest', '/manifest', `All ${parts.size} parts have the SHA-256 of the manifest.`)]
}

function hashOrNull(hash: () => string): string | null {
  try {
    return hash()
  } catch (error) {
    if (error instanceof CanonicalError) return null
    throw error
  }
}

function keysCheck(bundled: KeyList | null, own: KeyList | null): BundleCheck {
  if (bundled === null) return failed('keys', '/keys', 'This is not a key list.')
  if (own === null)
    return notChecked(
      'keys',
      '/keys',
      'The key list comes with the bundle, so it shows only what its maker says. Get the list of the issuer, /.well-known/xdr-1.json, from the issuer.',
    )
  const unknown = bundled.filter(({ address }) => !own.some((key) => key.address.toLowerCase() === address.toLowerCase()))
  return unknown.length === 0
    ? valid('keys', '/keys', 'Every key of the bundle is on the list that you gave; receipts are verified with yours.')
    : notChecked(
        'keys',
        '/keys',
        `${unknown[0]?.address ?? ''} is not on the list that you gave; receipts are verified with yours. Is it the newest list?`,
      )
}

interface CheckedAnswer {
  pointer: string
  receipt: BundledReceipt
  verdict: ReceiptVerdict
  /** Log entry in hex; null if the receipt has none. */
  entry: string | null
  /** Result that the receipt covers; undefined if there is none. */
  result: unknown
  chain: unknown
  checks: BundleCheck[]
}

function checkAnswer(one: AuditBundle['answers'][number], index: number, keys: KeyList | null): CheckedAnswer {
  const pointer = `/answers/${index}`
  const { answer } = one
  const receipt = isObject(answer['receipt']) ? answer['receipt'] : {}
  const verdict = verifyReceipt(receipt, keys ?? undefined)
  const [result, chain] = [resultIn(answer), linkIn(answer)]
  const covers = (value: unknown, field: string) =>
    typeof receipt[field] === 'string' && hashOrNull(() => valueHash(value)) === receipt[field].toLowerCase()
  const checks = [receiptCheck(verdict, `${pointer}/answer/receipt`)]
  if (!Object.hasOwn(one, 'input')) checks.push(notChecked('input', `${pointer}/input`, 'The input is not in the bundle.'))
  else checks.push(hashCheck('input', `${pointer}/input`, covers(one.input, 'input_hash'), 'input'))
  const result_pointer = answer['result'] === undefined ? `${pointer}/answer` : `${pointer}/answer/result`
  const result_covered = result !== undefined && covers(result, 'output_hash')
  if (result === undefined) checks.push(notChecked('result', `${pointer}/answer/result`, 'The result is not in the bundle.'))
  else checks.push(hashCheck('result', result_pointer, result_covered, 'result'))
  if (Object.hasOwn(answer, 'tier') && answer['tier'] !== receipt['tier'])
    checks.push(
      failed('tier', `${pointer}/answer/tier`, `The answer says another tier than its receipt, which is "${String(receipt['tier'])}".`),
    )
  return {
    pointer,
    receipt: {
      tool: textOrNull(receipt['tool']),
      tool_version: textOrNull(receipt['tool_version']),
      digest: verdict.digest,
      follows: isObject(chain) ? readReceiptHash(textOrNull(chain['prev_receipt_hash']) ?? '') : null,
    },
    verdict,
    entry: entryOf(verdict.digest, receipt['signature']),
    result: result_covered && verdict.valid ? result : undefined,
    chain,
    checks,
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Entry of a receipt in the log of its issuer, in hex. */
export function entryOf(digest: string | null, signature: unknown): string | null {
  const entry = digest === null || typeof signature !== 'string' ? null : logEntry(digest, signature)
  return entry === null ? null : bytesToHex(entry)
}

function receiptCheck(
  { valid: signed, reason, signer_published, signer_valid_at_ts, warnings }: ReceiptVerdict,
  pointer: string,
): BundleCheck {
  if (!signed) return failed('receipt', pointer, reason)
  if (signer_published === 'not_checked')
    return notChecked('receipt', pointer, 'The signature is valid; there is no key list to look up the signer.')
  if (!signer_published) return failed('receipt', pointer, 'The signature is valid, but its signer is not on the key list.')
  if (signer_valid_at_ts !== true)
    return failed('receipt', pointer, warnings.at(-1)?.message ?? 'The key was not valid at the date of the receipt.')
  return valid('receipt', pointer, 'A key of the list, valid at the date of the receipt, signed exactly this receipt.')
}

function hashCheck(kind: 'input' | 'result', pointer: string, matches: boolean, name: string): BundleCheck {
  const field = kind === 'input' ? 'input_hash' : 'output_hash'
  return matches
    ? valid(kind, pointer, `The hash of the ${name} is ${field} of the receipt.`)
    : failed(kind, pointer, `The ${name} was changed, or belongs to another receipt: its hash is not ${field}.`)
}

function linkChecks(answers: readonly CheckedAnswer[]): BundleCheck[] {
  const digests = new Map<string, string>()
  const repeated = answers.flatMap(({ pointer, receipt: { digest } }): BundleCheck[] => {
    const first = digest === null ? undefined : digests.get(digest)
    if (digest !== null && first === undefined) digests.set(digest, pointer)
    return first === undefined ? [] : [failed('receipt', `${pointer}/answer/receipt`, `The same receipt is at ${first} too.`)]
  })
  const links = answers.flatMap(({ pointer, chain, verdict: { digest, signer_recovered }, receipt: { follows } }): BundleCheck[] => {
    if (chain === undefined) return []
    const place = `${pointer}/answer/chain`
    const { valid: linked, reason } = verifyLink(chain, digest ?? '', signer_recovered ?? '')
    if (!linked) return [failed('link', place, reason)]
    return digests.has(follows ?? '')
      ? [valid('link', place, `${reason} The earlier receipt is at ${digests.get(follows ?? '') ?? ''}.`)]
      : [notChecked('link', place, `${reason} The earlier receipt, ${follows ?? ''}, is not in the bundle.`)]
  })
  return [...repeated, ...links]
}

function logChecks(bundle: AuditBundle, answers: readonly CheckedAnswer[], given: AuditorKeys): BundleCheck[] {
  const { log } = bundle
  if (log === null) return [notChecked('log_key', '/log', 'The bundle has no log proofs: the service keeps no log.')]
  const key = readVerifierKey(log.verifier_key.trim())
  if (key?.type !== 'log') return [failed('log_key', '/log/verifier_key', 'This is not the verifier key of a log.')]
  const checks: BundleCheck[] = []
  const used = given.log ?? key
  if (given.log !== null && (key.name !== used.name || key.id !== used.id))
    checks.push(failed('log_key', '/log/verifier_key', 'It is another key than the one that you gave for this log.'))
  else if (logKeyIn(bundle.keys, key.name) !== log.verifier_key.trim())
    checks.push(failed('log_key', '/log/verifier_key', 'It is another key than the key list of the bundle names for the log.'))
  else if (given.log === null) checks.push(notChecked('log_key', '/log/verifier_key', 'The key of the log comes with the bundle.'))
  else checks.push(valid('log_key', '/log/verifier_key', 'It is the key that you gave for this log.'))
  const head = checkpointNote(log.checkpoint, used)
  if (head === null) {
    const named = log.checkpoint === null && log.proofs.length === 0
    const message = 'The checkpoint cannot be read, or is not signed by the key of the log.'
    return [
      ...checks,
      named
        ? notChecked('checkpoint', '/log/checkpoint', 'The log had no checkpoint yet.')
        : failed('checkpoint', '/log/checkpoint', message),
    ]
  }
  checks.push(...checkpointChecks(head, given.witnesses))
  checks.push(...consistencyChecks(log, used, head))
  checks.push(...proofChecks(bundle, log, answers, used, head))
  return checks
}

/** Verifier key of the log as a key list names it: the one of this log name, also if that log is retired, or else the current one. */
export function logKeyIn(key_list: unknown, log_name: string | null = null): string | null {
  const log = isObject(key_list) ? key_list['log'] : null
  if (!isObject(log)) return null
  const retired: readonly unknown[] = Array.isArray(log['retired']) ? log['retired'] : []
  const keys = [log, ...retired].flatMap((one) =>
    isObject(one) && typeof one['verifier_key'] === 'string' ? [one['verifier_key'].trim()] : [],
  )
  return keys.find((key) => key.split('+')[0] === log_name) ?? keys[0] ?? null
}

/** Name of the log of a bundle; null without one. */
export function logNameOf(bundle: unknown): string | null {
  const log = isObject(bundle) ? bundle['log'] : null
  return isObject(log) && typeof log['verifier_key'] === 'string' ? (log['verifier_key'].split('+')[0] ?? null) : null
}

interface Head {
  note: Note
  size: number
  root: Uint8Array
  text: string
}

function checkpointNote(text: string | null, key: VerifierKey): Head | null {
  const note = text === null ? null : readNote(text)
  const checkpoint = note === null ? null : readCheckpoint(note.text)
  if (text === null || note === null || checkpoint === null || checkpoint.origin !== key.name || !isSignedBy(note, key)) return null
  return { note, size: checkpoint.size, root: checkpoint.root, text }
}

function checkpointChecks({ note, size }: Head, witnesses: readonly VerifierKey[]): BundleCheck[] {
  const absent = witnesses.filter((key) => !isSignedBy(note, key))
  if (absent.length > 0)
    return absent.map(({ name }) => failed('checkpoint', '/log/checkpoint', `The witness ${name} did not sign the checkpoint.`))
  const seen = witnesses.length === 0 ? '' : ` ${witnesses.length === 1 ? 'Your witness' : 'All your witnesses'} signed it too.`
  return [valid('checkpoint', '/log/checkpoint', `The key of the log signed a tree of ${size} entries.${seen}`)]
}

function consistencyChecks({ earlier_checkpoint, consistency }: BundledLog, key: VerifierKey, head: Head): BundleCheck[] {
  if (earlier_checkpoint === undefined && consistency === undefined) return []
  const place = '/log/consistency'
  const earlier = checkpointNote(earlier_checkpoint ?? null, key)
  if (earlier === null)
    return [
      failed('consistency', '/log/earlier_checkpoint', 'The earlier checkpoint cannot be read, or is not signed by the key of the log.'),
    ]
  const proof = readConsistency(consistency ?? '')
  const proved =
    proof?.old_size === earlier.size &&
    isSignedBy(proof.note, key) &&
    proof.note.text === head.note.text &&
    isConsistent(earlier, head, proof.hashes)
  return [
    proved
      ? valid('consistency', place, `The log only grew since the earlier checkpoint of ${earlier.size} entries.`)
      : failed(
          'consistency',
          place,
          'The proof does not lead from the earlier checkpoint to this one: the log changed its past, or the proof was altered.',
        ),
  ]
}

function proofChecks(bundle: AuditBundle, log: BundledLog, answers: readonly CheckedAnswer[], key: VerifierKey, head: Head): BundleCheck[] {
  const owners = new Map<string, string>()
  for (const { entry, pointer } of answers) if (entry !== null) owners.set(entry, `the receipt at ${pointer}`)
  for (const { sha256, id } of bundle.datasets) owners.set(sha256, `the dataset ${id}`)
  const unproved = new Map(log.unproved.map(({ entry, state }) => [entry, state]))
  const proved = new Set<string>()
  const checks = log.proofs.map(({ entry, proof }, index): BundleCheck => {
    const place = `/log/proofs/${index}`
    const owner = owners.get(entry)
    if (owner === undefined) return failed('log_proof', place, 'It belongs to no receipt and no dataset of the bundle.')
    if (proved.has(entry)) return failed('log_proof', place, `There is another proof for ${owner}.`)
    proved.add(entry)
    const { valid: included, reason, index: position } = verifyLogProof(proof, hexToBytes(entry), key)
    if (!included) return failed('log_proof', place, reason)
    // One bundle, one tree: two trees of one size would show a forked log.
    if (readNote(proof.slice(proof.indexOf('\n\n') + 2))?.text !== head.note.text)
      return failed('log_proof', place, 'The proof leads to another checkpoint than that of the bundle.')
    return valid('log_proof', place, `The log has ${owner}, as entry ${position ?? 0} of ${head.size}.`)
  })
  const missing = answers.flatMap(({ entry, pointer }): BundleCheck[] => {
    if (entry === null || proved.has(entry)) return []
    const why =
      unproved.get(entry) === 'waiting'
        ? 'it waited to be appended when the bundle was made'
        : 'the log does not have it; receipts of tools that are free without limit are never logged'
    return [notChecked('log_proof', `${pointer}/answer/receipt`, `There is no log proof: ${why}.`)]
  })
  return [...checks, ...missing]
}

function datasetChecks(datasets: readonly BundledDataset[], answers: readonly CheckedAnswer[], known: ReadonlySet<string>): BundleCheck[] {
  const named = answers.flatMap(({ pointer, result }) => namedDatasets(result).map((one) => ({ pointer, ...one })))
  const missing = named.flatMap(({ pointer, ...one }): BundleCheck[] =>
    datasets.some((dataset) => isNamed(dataset, one))
      ? []
      : [notChecked('dataset', `${pointer}/answer`, `The dataset ${one.id} (${one.as_of}) is not in the bundle.`)],
  )
  return [...datasets.map((dataset, index) => datasetCheck(dataset, `/datasets/${index}`, named, known)), ...missing]
}

function datasetCheck(dataset: BundledDataset, place: string, named: readonly NamedDataset[], known: ReadonlySet<string>): BundleCheck {
  const { id, sha256, text } = dataset
  if (text !== undefined && textHash(text) !== sha256)
    return failed('dataset', place, 'The SHA-256 of its text is not the one that is stated.')
  const mine = named.filter((one) => one.id === id)
  if (mine.length === 0) return failed('dataset', place, `No verified answer of the bundle names a dataset ${id}.`)
  const matching = mine.filter((one) => isNamed(dataset, one))
  const [first] = matching
  if (first === undefined) return failed('dataset', place, `It is not the version that an answer names, which is ${mine[0]?.as_of ?? ''}.`)
  if (text === undefined) return notChecked('dataset', place, 'Its text is not in the bundle; the issuer has it at /v1/datasets/{sha256}.')
  if (matching.some((one) => one.sha256 !== null))
    return valid('dataset', place, `An answer names exactly this text by its SHA-256, as of ${first.as_of}.`)
  return known.has(sha256)
    ? valid('dataset', place, `Its date is the one that an answer names, ${first.as_of}, and its text is that of this release.`)
    : notChecked(
        'dataset',
        place,
        `Its date is the one that an answer names, ${first.as_of}; no answer states a SHA-256 to compare its text with.`,
      )
}

/** The dataset is the version that a result names, by SHA-256 or else by date. */
export function isNamed({ id, sha256, text }: BundledDataset, named: NamedDataset): boolean {
  if (id !== named.id) return false
  if (named.sha256 !== null) return sha256.startsWith(named.sha256)
  // Without a text there is no date to compare.
  if (text === undefined) return true
  const { published_at, compiled_at, source_version } = versionsIn(text)
  return [dataDate({ published_at, compiled_at }), `release ${source_version ?? ''}`].includes(named.as_of)
}

function versionsIn(text: string) {
  const members = jsonObject(text) ?? {}
  const of = (name: string) => textOrNull(members[name])
  return { published_at: of('published_at'), compiled_at: of('compiled_at'), source_version: of('source_version') }
}

type Part = [pointer: string, value: unknown]

/**
 * Parts of a bundle by JSON pointer: every member except `manifest`. Lists are divided into their elements, and these parts into their members: the
 * elements of `answers`, each `answer`, and `log`. An empty list or object is a part itself.
 */
export function bundleParts(bundle: Omit<AuditBundle, 'manifest'>): Map<string, unknown> {
  const parts = divide([['', bundle]]).filter(([pointer]) => pointer !== '/manifest')
  return new Map(
    parts.flatMap((part): Part[] => {
      switch (part[0]) {
        case '/answers':
          return divide(divide([part])).flatMap((one) => (/^\/answers\/\d+\/answer$/.test(one[0]) ? divide([one]) : [one]))
        case '/log':
          return divide([part]).flatMap((one) => (Array.isArray(one[1]) ? divide([one]) : [one]))
        case '/datasets':
          return divide([part])
        default:
          return [part]
      }
    }),
  )
}

/** Replaces each part by its elements or members, if it has any. */
function divide(parts: readonly Part[]): Part[] {
  return parts.flatMap((part): Part[] => {
    const [pointer, value] = part
    const members = Array.isArray(value) || isObject(value) ? Object.entries(value) : []
    return members.length === 0 ? [part] : members.map(([name, one]): Part => [pointer + pointerStep(name), one])
  })
}

/** SHA-256 of the RFC 8785 text of each part. Throws `CanonicalError` for a value that is not JSON. */
export function bundleManifest(bundle: Omit<AuditBundle, 'manifest'>): Record<string, string> {
  return Object.fromEntries([...bundleParts(bundle)].map(([pointer, value]) => [pointer, partHash(value)]))
}

function partHash(value: unknown): string {
  return textHash(canonicalText(value))
}

function textHash(text: string): string {
  return bytesToHex(sha256Of(utf8ToBytes(text)))
}
