import { verifyLink, type LinkCode } from '../pure/receipts/chain.ts'
import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import type { KeyList } from '../pure/receipts/keys.ts'
import type { ReceiptCode, ReceiptFinding } from '../pure/receipts/reasons.ts'
import { valueHash } from '../pure/receipts/receipt.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'
import { entryOf, entryText, judgeLog, logFailures, type LogProofGiven, type LogReport } from './log-report.ts'
import type { ReceiptFile } from './receipt-file.ts'
import { dateText } from './terminal.ts'

type Match = 'match' | 'mismatch' | 'not_checked'

/** All that can be said of one receipt offline, each question with its own answer. */
export interface ReceiptReport {
  /** Nothing that was checked speaks against it. */
  verified: boolean
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
  const fields = isRecord(receipt) ? receipt : {}
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
  const failures = failuresOf(facts)
  return { verified: failures.length === 0, ...facts, failures, not_proved: notProved(facts) }
}

type Facts = Omit<ReceiptReport, 'verified' | 'failures' | 'not_proved'>

function judgeLink(
  chain: unknown,
  digest: string | null,
  signer: string | null,
  crypto: ReceiptCrypto,
  seen: ReadonlySet<string> | null,
): ReceiptReport['link'] {
  const prev_receipt_hash = isRecord(chain) ? (textOf(chain['prev_receipt_hash'])?.toLowerCase() ?? null) : null
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
  const inner = isRecord(value) && Object.hasOwn(value, 'input') ? matches(value['input'], hash, crypto) : 'mismatch'
  return inner === 'match' ? inner : matches(value, hash, crypto)
}

function failuresOf({ signature, signer_published, signer_valid_at_ts, input, output, link, log, warnings }: Facts): string[] {
  const keyNote = warnings.find(({ field, code }) => field === 'signer' && code !== 'signer_case' && code !== 'revoked_later')
  return [
    ...(signature.valid ? [] : [signature.reason]),
    ...(signer_published === false || signer_valid_at_ts === false
      ? [keyNote?.message ?? 'The key was not good at the date of the receipt.']
      : []),
    ...(input === 'mismatch' ? ['The input is not the one that the receipt covers.'] : []),
    ...(output === 'mismatch' ? ['The result is not the one that the receipt covers.'] : []),
    ...(link === null || link.valid ? [] : [link.reason]),
    ...logFailures(log),
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
