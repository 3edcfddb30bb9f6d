import { isObject } from '../pure/is-object.ts'
import type { HeadlineTone } from '../pure/headline.ts'
import { verifyLink, type LinkCode } from '../pure/receipts/chain.ts'
import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import type { KeyList } from '../pure/receipts/keys.ts'
import type { ReceiptCode, ReceiptFinding } from '../pure/receipts/reasons.ts'
import { valueHash } from '../pure/receipts/receipt.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'
import type { Exit } from './exit-codes.ts'
import { entryOf, entryText, judgeLog, logFailures, type LogProofGiven, type LogReport } from './log-report.ts'
import type { ReceiptFile } from './receipt-file.ts'
import { dateText } from './terminal.ts'

/**
 * `verified`: a published key of the issuer signed it, and nothing that was checked contradicts it. `issuer_unknown`: the signature is valid,
 * but no key list was given, and anyone can sign with a key of their own. `failed`: see `failures`.
 */
export type VerifyOutcome = 'verified' | 'issuer_unknown' | 'failed'

/** Exit of a command that verifies, by the worst outcome. */
export const OUTCOME_EXITS = { verified: 'ok', issuer_unknown: 'undecided', failed: 'negative' } as const satisfies Record<
  VerifyOutcome,
  Exit
>

export const OUTCOME_TONES = { verified: 'good', issuer_unknown: 'caution', failed: 'bad' } as const satisfies Record<
  VerifyOutcome,
  HeadlineTone
>

type Match = 'match' | 'mismatch' | 'not_checked'

/** All that can be said of one receipt offline, each question with its own answer. */
export interface ReceiptReport {
  /** The outcome is `verified`. */
  verified: boolean
  outcome: VerifyOutcome
  /** The outcome in a word for people, with its tone. */
  headline: { tone: HeadlineTone; word: string }
  /** Place in the file, from 0. */
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
  /** The mode of the deployment, as the key list has it; in `sandbox` no real money moves. */
  key_mode: string | null
  input: Match
  output: Match
  link: { valid: boolean; code: LinkCode | 'previous_not_here'; reason: string; prev_receipt_hash: string | null } | null
  /** Under which name the public log of its issuer knows it: asked for at /log/proof/{entry}. */
  log_entry: string | null
  /** What the proof says that was given; null without one. */
  log: LogReport | null
  findings: ReceiptFinding[]
  warnings: ReceiptFinding[]
  /** Why it is not verified, in sentences. */
  failures: string[]
  not_proved: string[]
}

interface Context {
  keys: KeyList | null
  crypto: ReceiptCrypto
  /** Digests of the receipts that stood before in the file; this one's is added. */
  seen: Set<string>
  index: number
  /** A proof that the receipt is in a log; null when none was given. */
  proof: LogProofGiven | null
}

/** Judges a receipt with whatever came with it. `input` and `result` are undefined when they are not at hand. */
export function judgeReceipt(
  { receipt, result, chain, input }: ReceiptFile & { input: unknown },
  { keys, crypto, seen, index, proof }: Context,
): ReceiptReport {
  const verdict = verifyReceipt(receipt, keys ?? undefined, crypto)
  const fields = isObject(receipt) ? receipt : {}
  const ts = Number.isSafeInteger(fields['ts']) ? (fields['ts'] as number) : null
  const { digest, signer_published, signer_valid_at_ts, signer_recovered, findings, warnings } = verdict
  const link = chain === undefined ? null : judgeLink(chain, digest, signer_recovered, crypto, index === 0 ? null : seen)
  if (digest !== null) seen.add(digest)
  const entry = entryOf(digest, receipt)
  const facts = {
    index,
    tool: textOf(fields['tool']),
    tool_version: textOf(fields['tool_version']),
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
    log: judgeLog(entry, proof),
    findings,
    warnings,
  }
  const found = failuresOf(facts)
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
  const prev_receipt_hash = isObject(chain) ? (textOf(chain['prev_receipt_hash'])?.toLowerCase() ?? null) : null
  const verdict = verifyLink(chain, digest ?? '', signer ?? '', crypto)
  if (!verdict.valid || seen === null || seen.has(prev_receipt_hash ?? '')) return { ...verdict, prev_receipt_hash }
  return {
    valid: false,
    code: 'previous_not_here',
    reason: 'The link leads to a receipt that does not stand earlier in this file.',
    prev_receipt_hash,
  }
}

function matches(value: unknown, hash: unknown, crypto: ReceiptCrypto): Match {
  if (value === undefined) return 'not_checked'
  return typeof hash === 'string' && valueHash(value, crypto) === hash.toLowerCase() ? 'match' : 'mismatch'
}

/** An input may come alone, or under the key `input` as in the body of a call. */
function inputMatches(value: unknown, hash: unknown, crypto: ReceiptCrypto): Match {
  const inner = isObject(value) && Object.hasOwn(value, 'input') ? matches(value['input'], hash, crypto) : 'mismatch'
  return inner === 'match' ? inner : matches(value, hash, crypto)
}

/** A reason why a receipt is not verified: in a word, and as a sentence. */
interface Failure {
  word: string
  sentence: string
}

/** Signature faults of a well-formed receipt; any other fault means that the document is no receipt at all. */
const FORGERIES: ReadonlySet<ReceiptCode | 'ok'> = new Set<ReceiptCode>(['signer_mismatch', 'not_recoverable'])

/** Every failure, the gravest first. */
function failuresOf({ signature, signer_published, signer_valid_at_ts, input, output, link, log, warnings }: Facts): Failure[] {
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

/** What a good signature leaves open. */
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

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
