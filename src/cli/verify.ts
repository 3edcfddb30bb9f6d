import { claimsBundle } from '../pure/audit/bundle.ts'
import { logKeyIn, logNameOf } from '../pure/audit/verify-bundle.ts'
import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import { judgeKey, type KeyList, readKeyList } from '../pure/receipts/keys.ts'
import { claimsPolicy, type Policy, type PolicyVerdict, verifyPolicy } from '../pure/rulebooks/pol1.ts'
import { dateText, headlineMark, paint, printable, say, table, terminalWidth, wantsJson, wrap } from './terminal.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit } from './errors.ts'
import { readJsonFile, readReceipts, readTextFile, type ReceiptFile } from './input.ts'
import {
  bytesToHex,
  originOf,
  readVerifierKey,
  type VerifierKey,
  logEntry,
  verifyLogProof,
  type LogVerdict,
} from '../pure/log/checkpoint.ts'
import { isObject } from '../pure/is-object.ts'
import type { HeadlineTone } from '../pure/headline.ts'
import { verifyLink, type LinkCode } from '../pure/receipts/chain.ts'
import type { ReceiptCode, ReceiptFinding } from '../pure/receipts/reasons.ts'
import { valueHash } from '../pure/receipts/receipt.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'

/** Verification of a POL-1 certificate. */
export interface PolicyReport extends PolicyVerdict {
  document: 'POL-1'
  verified: boolean
  outcome: VerifyOutcome
  policy_id: string | null
  registrar_published: boolean | 'not_checked'
  not_proved: string[]
}

/** Certificate in a document, directly or under `certificate`; null if there is none. */
export function findPolicy(document: unknown): unknown {
  if (claimsPolicy(document)) return document
  const inner = typeof document === 'object' && document !== null ? (document as Record<string, unknown>)['certificate'] : null
  return claimsPolicy(inner) ? inner : null
}

/** Verifies a certificate offline, with the key list of its registrar if given. */
export function checkPolicy(certificate: unknown, keys: KeyList | null, crypto: ReceiptCrypto): PolicyReport {
  const verdict = verifyPolicy(certificate, crypto)
  const { policy_id, issued_at } = certificate as Partial<Policy>
  const registrar_published =
    keys === null || verdict.registrar === null
      ? ('not_checked' as const)
      : judgeKey(keys, verdict.registrar, issued_at ?? 0).signer_valid_at_ts
  const outcome = !verdict.valid || registrar_published === false ? 'failed' : keys === null ? 'issuer_unknown' : 'verified'
  return {
    document: 'POL-1',
    verified: outcome === 'verified',
    outcome,
    policy_id: typeof policy_id === 'string' ? policy_id : null,
    ...verdict,
    registrar_published,
    not_proved: [
      'that the underwriter is an insurer, licensed or solvent',
      'that a premium was paid or a claim would be',
      ...(verdict.underwriter_attested
        ? ['that the contract wallet of the underwriter accepted the countersignature: the registrar says so']
        : []),
      ...(verdict.underwriter_signed || verdict.underwriter_attested ? [] : ['any cover: the underwriter has not countersigned']),
      ...(registrar_published === 'not_checked' ? ['whose key the registrar’s is'] : []),
    ],
  }
}

function policyHeadline({ outcome, valid }: PolicyReport): string {
  switch (outcome) {
    case 'verified':
      return 'verified'
    case 'issuer_unknown':
      return 'signatures valid, registrar unknown'
    case 'failed':
      return valid ? 'unknown registrar' : 'certificate altered or not valid'
  }
}

function countersignatureWords({ underwriter_signed, underwriter_attested }: PolicyReport): string {
  if (underwriter_signed) return 'countersigned'
  return underwriter_attested ? 'countersigned by its contract wallet, as the registrar attests' : 'has not countersigned'
}

export function renderPolicy(report: PolicyReport): string {
  const { outcome, policy_id, digest, reason, registrar, underwriter, status_proved, registrar_published } = report
  const unlisted = report.valid ? 'not checked: give the key list of the registrar with --keys' : 'not checked: a signature is not valid'
  const published = registrar_published === 'not_checked' ? unlisted : registrar_published ? 'yes' : 'no, or not valid at the date of issue'
  const rows = [
    ['Signatures', reason],
    ['Status', status_proved ?? 'nothing is proved'],
    ['Registrar', registrar ?? 'unknown: no signature gives a key'],
    ['On the key list', published],
    ['Underwriter', `${underwriter ?? 'unknown: no signature gives a key'}, ${countersignatureWords(report)}`],
  ]
  const heading = `${headlineMark(OUTCOME_TONES[outcome], policyHeadline(report))}  ${printable(policy_id ?? 'POL-1')}  ${paint('muted', digest ?? 'no digest')}`
  return [
    heading,
    ...table(rows, terminalWidth(), ['muted']),
    '',
    ...wrap(`Not proved: ${report.not_proved.join('; ')}.`, terminalWidth()),
  ].join('\n')
}

/** `assay verify`: verifies receipts or a POL-1 certificate offline: signatures, key list, inputs, results and links. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [name] = invocation.words
  if (name === undefined)
    throw new CliError('usage', 'Give the file with the receipt, or - for standard input: assay verify <receipt.json | ->.')
  const files = ['keys', 'input', 'result'].map((option) => invocation.text(option))
  if ([name, ...files].filter((file) => file === '-').length > 1)
    throw new CliError('usage', 'Only one file can be read from standard input. Use - once.')
  const [keys, input, result] = await Promise.all([readKeys(files[0]), readNamed(files[1]), readNamed(files[2])])
  const proof = await readLogProof(invocation)
  const { crypto } = await chooseSigning()
  const show = wantsJson(invocation) ? showJson : showText
  const seen = new Set<string>()
  let held: ReceiptReport | null = null
  let policy: unknown = null
  let bundle: unknown = null
  let count = 0
  const outcomes: Record<VerifyOutcome, number> = { verified: 0, issuer_unknown: 0, failed: 0 }
  for await (const file of readReceipts(name)) {
    if (policy !== null) throw new CliError('usage', 'A file with a POL-1 certificate must contain nothing else.')
    if (bundle !== null) throw new CliError('usage', 'A file with an audit bundle must contain nothing else.')
    bundle = count === 0 && claimsBundle(file.receipt) ? file.receipt : null
    if (bundle !== null) continue
    policy = count === 0 ? findPolicy(file.receipt) : null
    if (policy !== null) continue
    if (count > 0 && (input !== undefined || result !== undefined || proof !== null))
      throw new CliError('usage', '--input, --result and --log need a file with a single receipt.')
    if (held !== null) show.several(held)
    held = checkReceipt({ ...file, result: result ?? file.result, input }, { keys, crypto, seen, index: count++, proof })
    outcomes[held.outcome]++
  }
  if (bundle !== null) {
    if ([input, result, proof].some((one) => one !== undefined && one !== null))
      throw new CliError('usage', '--input, --result and --log need a file with a single receipt; a bundle has them all.')
    const { verifyBundleFile } = await import('./bundle.ts')
    return verifyBundleFile(invocation, bundle, { keys, ...(await readLogKeys(invocation, logNameOf(bundle))) })
  }
  if (policy !== null) return showPolicy(invocation, checkPolicy(policy, keys, crypto))
  if (held === null) throw new CliError('data', `${printable(name)} contains no receipt.`)
  if (count === 1) show.single(held)
  else {
    show.several(held)
    show.end(count, outcomes)
  }
  return OUTCOME_EXITS[worst(outcomes)]
}

function worst({ failed, issuer_unknown }: Record<VerifyOutcome, number>): VerifyOutcome {
  return failed > 0 ? 'failed' : issuer_unknown > 0 ? 'issuer_unknown' : 'verified'
}

function showPolicy(invocation: Invocation, report: PolicyReport): Exit {
  say(wantsJson(invocation) ? JSON.stringify(report) : renderPolicy(report))
  return OUTCOME_EXITS[report.outcome]
}

async function readNamed(name: string | null | undefined): Promise<unknown> {
  return name === null || name === undefined ? undefined : readJsonFile(name)
}

async function readKeys(name: string | null | undefined): Promise<KeyList | null> {
  if (name === null || name === undefined) return null
  const keys = readKeyList(await readJsonFile(name))
  if (keys === null)
    throw new CliError('data', `${printable(name)} is not a key list. The issuer publishes its key list at /.well-known/xdr-1.json.`)
  return keys
}

const showJson = {
  single: (report: ReceiptReport) => say(JSON.stringify(report)),
  several: (report: ReceiptReport) => say(JSON.stringify(report)),
  end: () => undefined,
}

const showText = {
  single: (report: ReceiptReport) =>
    say(
      [
        receiptHeading(report),
        ...failureLines(report),
        ...details(report),
        '',
        ...wrap(`Not proved: ${report.not_proved.join('; ')}.`, terminalWidth()),
      ].join('\n'),
    ),
  several: (report: ReceiptReport) => say([receiptHeading(report), ...report.failures.map((failure) => `    ${failure}`)].join('\n')),
  end: (count: number, outcomes: Record<VerifyOutcome, number>) => {
    const unknown = outcomes.issuer_unknown > 0 ? `; ${outcomes.issuer_unknown} with a valid signature of an unknown issuer` : ''
    say(headlineMark(OUTCOME_TONES[worst(outcomes)], `${outcomes.verified} of ${count} receipts verified${unknown}`))
  },
}

/** Failures as wrapped lines. */
function failureLines({ failures: sentences }: ReceiptReport): string[] {
  return sentences.flatMap((sentence) => wrap(printable(sentence), terminalWidth()))
}

function receiptHeading({ headline, tool, tool_version, digest }: ReceiptReport): string {
  const call = tool === null ? '' : `  ${printable(`${tool} ${tool_version ?? ''}`)}`
  return `${headlineMark(headline.tone, headline.word)}${call}  ${paint('muted', digest ?? 'no digest')}`
}

function details(report: ReceiptReport): string[] {
  const { signature, signer, signer_published, signer_valid_at_ts, link, log, log_entry } = report
  const rows = [
    ['Signature', signature.reason],
    ['Signed by', signer ?? 'unknown: the signature gives no key'],
    ['Dated', report.dated ?? 'not readable'],
    ['On the key list', keyCheckText(signer_published, signature.valid)],
    ['Key valid then', keyCheckText(signer_valid_at_ts, signature.valid)],
    ['Input', MATCH_TEXT[report.input]],
    ['Result', MATCH_TEXT[report.output]],
    ...(link === null ? [] : [['Link', link.reason]]),
    ...(log === null ? [] : [['Log', logText(log)]]),
    ...(log_entry === null || log !== null ? [] : [['Log entry', log_entry]]),
    ...report.warnings.map(({ message }) => ['Note', message]),
  ]
  return table(rows, terminalWidth(), ['muted'])
}

function logText(log: LogReport): string {
  const { reason, checkpoint, index, witnesses } = log
  if (checkpoint === null || index === null) return reason
  const seen = witnesses.map(({ name, time_s }) => ` Signed by the witness ${printable(name)} at ${dateText(time_s)}.`)
  const missing = log.valid ? logFailures(log).map((failure) => ` ${failure}`) : []
  return `${reason} Entry ${index} of ${checkpoint.size} in ${printable(checkpoint.origin)}.${[...seen, ...missing].join('')}`
}

/** Only the signer of a valid signature can be looked up, and only with `--keys`. */
function keyCheckText(value: boolean | 'not_checked', signature_valid: boolean): string {
  if (value !== 'not_checked') return value ? 'yes' : 'no'
  return signature_valid ? 'not checked: give the key list of the issuer with --keys' : 'not checked: the signature is not valid'
}

const MATCH_TEXT = {
  match: 'matches the receipt',
  mismatch: 'was changed: the receipt was issued for a different one',
  not_checked: 'not checked: not given',
} as const

/** Inclusion proof and the accepted keys. */
export interface LogProofGiven {
  text: string
  log: VerifierKey
  witnesses: VerifierKey[]
}

/** Reads `--log` and the log key from `--log-key` or the key list; null without `--log`. */
async function readLogProof(invocation: Invocation): Promise<LogProofGiven | null> {
  const file = invocation.text('log')
  if (file === null) return null
  const text = await readTextFile(file)
  const { log, witnesses } = await readLogKeys(invocation, originOf(text.slice(text.indexOf('\n\n') + 2)))
  if (log === null) throw new CliError('usage', 'Give --log-key, the verifier key of the log; the issuer publishes it at /log/key.')
  return { text, log, witnesses }
}

/** Key of the log of this name from `--log-key` or the key list, null without either; and the keys of `--witness`. */
async function readLogKeys(
  invocation: Invocation,
  log_name: string | null,
): Promise<{ log: VerifierKey | null; witnesses: VerifierKey[] }> {
  const given = invocation.text('log-key') ?? (await keyInList(invocation.text('keys'), log_name))
  const witness = invocation.text('witness')
  return {
    log: given === null ? null : readKeyOption(given, 'log', '--log-key'),
    witnesses: witness === null ? [] : witness.split(',').map((one) => readKeyOption(one, 'witness', '--witness')),
  }
}

async function keyInList(file: string | null, log_name: string | null): Promise<string | null> {
  return file === null ? null : logKeyIn(await readJsonFile(file), log_name)
}

function readKeyOption(text: string, type: VerifierKey['type'], option: string): VerifierKey {
  const key = readVerifierKey(text.trim())
  if (key?.type === type) return key
  throw new CliError('usage', `${option} takes the verifier key of a ${type}, name+id+key; ${printable(text.slice(0, 80))} is none.`)
}

/** Log entry of a receipt; null if its signature cannot be read. */
export function receiptEntry(digest: string | null, receipt: unknown): Uint8Array | null {
  const signature = typeof receipt === 'object' && receipt !== null && 'signature' in receipt ? receipt.signature : null
  return digest === null || typeof signature !== 'string' ? null : logEntry(digest, signature)
}

export function entryText(entry: Uint8Array | null): string | null {
  return entry === null ? null : bytesToHex(entry)
}

/** `missing_witnesses`: requested witnesses that did not sign the checkpoint of a valid proof. */
export type LogReport = LogVerdict & { missing_witnesses: string[] }

export function checkLogProof(entry: Uint8Array | null, given: LogProofGiven | null): LogReport | null {
  if (given === null) return null
  const judged = (witnesses: VerifierKey[]) => verifyLogProof(given.text, entry ?? new Uint8Array(), given.log, witnesses)
  const verdict = judged(given.witnesses)
  const missing = verdict.valid ? given.witnesses.filter((key) => judged([key]).witnesses.length === 0) : []
  return { ...verdict, missing_witnesses: missing.map(({ name }) => name) }
}

/** Missing witnesses as sentences. */
export function logFailures(log: LogReport | null): string[] {
  if (log === null) return []
  if (!log.valid) return [log.reason]
  return log.missing_witnesses.map((name) => `The witness ${printable(name)} did not sign the checkpoint of the proof.`)
}

/**
 * `verified`: a published key of the issuer signed it, and no check contradicts it. `issuer_unknown`: the signature is valid, but no key
 * list was given, and anyone can create a key. `failed`: see `failures`.
 */
type VerifyOutcome = 'verified' | 'issuer_unknown' | 'failed'

/** Exit code by the worst outcome. */
const OUTCOME_EXITS = { verified: 'ok', issuer_unknown: 'undecided', failed: 'negative' } as const satisfies Record<VerifyOutcome, Exit>

const OUTCOME_TONES = { verified: 'good', issuer_unknown: 'caution', failed: 'bad' } as const satisfies Record<VerifyOutcome, HeadlineTone>

type Match = 'match' | 'mismatch' | 'not_checked'

/** All offline checks of one receipt. */
interface ReceiptReport {
  verified: boolean
  outcome: VerifyOutcome
  /** Headline for people. */
  headline: { tone: HeadlineTone; word: string }
  /** Position in the file, from 0. */
  index: number
  tool: string | null
  tool_version: string | null
  ts: number | null
  /** `ts` as RFC 3339. */
  dated: string | null
  digest: string | null
  signer: string | null
  signature: { valid: boolean; reason_code: 'ok' | ReceiptCode; reason: string }
  signer_published: boolean | 'not_checked'
  signer_valid_at_ts: boolean | 'not_checked'
  /** Mode of the deployment in the key list; in `sandbox` no real money moves. */
  key_mode: string | null
  input: Match
  output: Match
  link: { valid: boolean; code: LinkCode | 'previous_not_here'; reason: string; prev_receipt_hash: string | null } | null
  /** Entry of the receipt in the issuer's log, for /log/proof/{entry}. */
  log_entry: string | null
  /** Result of the given proof; null without one. */
  log: LogReport | null
  findings: ReceiptFinding[]
  warnings: ReceiptFinding[]
  /** Reasons why it is not verified. */
  failures: string[]
  not_proved: string[]
}

interface Context {
  keys: KeyList | null
  crypto: ReceiptCrypto
  /** Digests of the earlier receipts in the file; this receipt's digest is added. */
  seen: Set<string>
  index: number
  /** Inclusion proof; null if none was given. */
  proof: LogProofGiven | null
}

/** Verifies a receipt with the other members of its answer. `input` and `result` are undefined if unavailable. */
function checkReceipt(
  { receipt, result, chain, input }: ReceiptFile & { input: unknown },
  { keys, crypto, seen, index, proof }: Context,
): ReceiptReport {
  const verdict = verifyReceipt(receipt, keys ?? undefined, crypto)
  const fields = isObject(receipt) ? receipt : {}
  const ts = Number.isSafeInteger(fields['ts']) ? (fields['ts'] as number) : null
  const { digest, signer_published, signer_valid_at_ts, signer_recovered, findings, warnings } = verdict
  const link = chain === undefined ? null : judgeLink(chain, digest, signer_recovered, crypto, index === 0 ? null : seen)
  if (digest !== null) seen.add(digest)
  const entry = receiptEntry(digest, receipt)
  const facts = {
    index,
    tool: textOrNull(fields['tool']),
    tool_version: textOrNull(fields['tool_version']),
    ts,
    dated: ts === null ? null : dateText(ts),
    digest,
    signer: signer_recovered,
    signature: { valid: verdict.valid, reason_code: verdict.reason_code, reason: verdict.reason },
    signer_published,
    signer_valid_at_ts,
    key_mode: keys?.find(({ address }) => address === signer_recovered)?.mode ?? null,
    input: inputMatches(input, fields['input_hash'], crypto),
    output: matches(result, fields['output_hash'], crypto),
    link,
    log_entry: entryText(entry),
    log: checkLogProof(entry, proof),
    findings,
    warnings,
  }
  const found = listFailures(facts)
  const outcome = found.length > 0 ? 'failed' : keys === null ? 'issuer_unknown' : 'verified'
  const headline = { tone: OUTCOME_TONES[outcome], word: found[0]?.word ?? GOOD_WORDS[outcome] }
  const failures = found.map(({ sentence }) => sentence)
  return { verified: outcome === 'verified', outcome, headline, ...facts, failures, not_proved: notProved(facts) }
}

const GOOD_WORDS = { verified: 'verified', issuer_unknown: 'signature valid, issuer unknown', failed: 'not verified' } as const

type Facts = Omit<ReceiptReport, 'verified' | 'outcome' | 'headline' | 'failures' | 'not_proved'>

function judgeLink(
  chain: unknown,
  digest: string | null,
  signer: string | null,
  crypto: ReceiptCrypto,
  seen: ReadonlySet<string> | null,
): ReceiptReport['link'] {
  const prev_receipt_hash = isObject(chain) ? (textOrNull(chain['prev_receipt_hash'])?.toLowerCase() ?? null) : null
  const verdict = verifyLink(chain, digest ?? '', signer ?? '', crypto)
  if (!verdict.valid || seen === null || seen.has(prev_receipt_hash ?? '')) return { ...verdict, prev_receipt_hash }
  return {
    valid: false,
    code: 'previous_not_here',
    reason: 'The link refers to a receipt that is not earlier in this file.',
    prev_receipt_hash,
  }
}

function matches(value: unknown, hash: unknown, crypto: ReceiptCrypto): Match {
  if (value === undefined) return 'not_checked'
  return typeof hash === 'string' && valueHash(value, crypto) === hash.toLowerCase() ? 'match' : 'mismatch'
}

/** The input may be under the key `input` as in a call body. */
function inputMatches(value: unknown, hash: unknown, crypto: ReceiptCrypto): Match {
  const inner = isObject(value) && Object.hasOwn(value, 'input') ? matches(value['input'], hash, crypto) : 'mismatch'
  return inner === 'match' ? inner : matches(value, hash, crypto)
}

/** Reason why a receipt is not verified, as a headline and as a sentence. */
interface Failure {
  word: string
  sentence: string
}

/** Faults that mean a forged or altered receipt; other faults mean that the document is not a receipt. */
const FORGERIES: ReadonlySet<ReceiptCode | 'ok'> = new Set<ReceiptCode>(['signer_mismatch', 'not_recoverable'])

/** All failures, the most severe first. */
function listFailures({ signature, signer_published, signer_valid_at_ts, input, output, link, log, warnings }: Facts): Failure[] {
  const keyNote = warnings.find(({ field, code }) => field === 'signer' && code !== 'signer_case' && code !== 'revoked_later')
  const failure = (fails: boolean, word: string, sentence: string): Failure[] => (fails ? [{ word, sentence }] : [])
  return [
    ...failure(
      !signature.valid,
      FORGERIES.has(signature.reason_code) ? 'receipt altered or forged' : 'not a valid receipt',
      signature.reason,
    ),
    ...failure(
      signer_published === false,
      'unknown signer',
      'The signer is not on the key list: another service, or anyone, may have signed this receipt.',
    ),
    ...failure(
      signer_published === true && signer_valid_at_ts === false,
      'key not valid at that time',
      keyNote?.message ?? 'The key was not valid at the date of the receipt.',
    ),
    ...failure(output === 'mismatch', 'result was changed', 'The result was changed: this receipt was issued for a different result.'),
    ...failure(input === 'mismatch', 'another input', 'The input does not match: this receipt was issued for a different input.'),
    ...failure(link?.valid === false, 'broken link', link?.reason ?? ''),
    ...logFailures(log).map((sentence) => ({ word: 'log proof not valid', sentence })),
  ]
}

/** Facts that a valid signature does not prove. */
function notProved({ signer_published, input, output }: Facts): string[] {
  return [
    'that the result is right, or that anything in it exists',
    'that money moved: payer, amount and tier are the signer’s word',
    'when it was signed: the date is the signer’s word',
    ...(signer_published === 'not_checked' ? ['whose key it is'] : []),
    ...(input === 'not_checked' ? ['which input it was'] : []),
    ...(output === 'not_checked' ? ['which result it was'] : []),
  ]
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
