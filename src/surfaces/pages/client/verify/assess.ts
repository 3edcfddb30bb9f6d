import type { AuditBundle } from '../../../../pure/audit/bundle.ts'
import type { BundleReport } from '../../../../pure/audit/verify-bundle.ts'
import type { Headline } from '../../../../pure/headline.ts'
import { isObject } from '../../../../pure/is-object.ts'
import { readReceiptHash, verifyLink, type LinkVerdict } from '../../../../pure/receipts/chain.ts'
import { judgeKey, type KeyList, type PublishedKey } from '../../../../pure/receipts/keys.ts'
import { valueHash } from '../../../../pure/receipts/receipt.ts'
import { verifyReceipt, type ReceiptVerdict } from '../../../../pure/receipts/verify.ts'
import { verifyPolicy, type PolicyVerdict } from '../../../../pure/rulebooks/pol1.ts'
import { timeText } from '../../components/receipt-proof.ts'
import type { GivenDocument, ReceiptInput } from './documents.ts'

type Decision = Omit<Headline, 'code'>

/** Key list of this service, null if it could not be loaded, and the list that the user pasted. */
export interface KeyLists {
  service: KeyList | null
  pasted: KeyList
  /** Documents of both issuers that name the keys of their logs. */
  logs: { service: unknown; pasted: unknown }
}

export interface ReceiptAssessment extends Decision {
  receipt: ReceiptVerdict
  /** Published key that signed; null if it is on neither list. */
  key: PublishedKey | null
  key_list: 'service' | 'pasted'
  /** The given result has the hash in the receipt; null if no result was given. */
  result_matches: boolean | null
  link: LinkVerdict | null
}

/** Verifies a receipt and what was given with it. The decision is never better than its weakest part. */
export function assessReceipt({ receipt, result, chain }: ReceiptInput, { service, pasted }: KeyLists): ReceiptAssessment {
  const by_service = verifyReceipt(receipt, service ?? undefined)
  const { digest, signer_recovered } = by_service
  const findKey = (keys: KeyList | null) => keys?.find(({ address }) => address === signer_recovered) ?? null
  const key_list = findKey(service) === null && findKey(pasted) !== null ? 'pasted' : 'service'
  const assessment = {
    receipt: key_list === 'pasted' ? verifyReceipt(receipt, pasted) : by_service,
    key: findKey(key_list === 'pasted' ? pasted : service),
    key_list,
    result_matches: result === undefined ? null : isObject(receipt) && hashOf(result) === receipt['output_hash'],
    link: chain === undefined || digest === null || signer_recovered === null ? null : verifyLink(chain, digest, signer_recovered),
  } as const
  return { ...decideReceipt(assessment), ...assessment }
}

/** Codes of a well-formed receipt whose signature does not match; any other code means that the document is not a receipt. */
const FORGED: readonly string[] = ['signer_mismatch', 'not_recoverable']

function decideReceipt({ receipt, key_list, result_matches, link }: Omit<ReceiptAssessment, keyof Decision>): Decision {
  if (!receipt.valid) return bad(FORGED.includes(receipt.reason_code) ? 'Altered or forged' : 'Not a valid receipt', receipt.reason)
  if (receipt.signer_published === true && receipt.signer_valid_at_ts !== true)
    return bad('Key not valid at that time', receipt.warnings.at(-1)?.message ?? '')
  if (result_matches === false) return bad('Result was changed', 'The result was changed: this receipt was issued for a different result.')
  if (link !== null && !link.valid) return bad('Broken link', link.reason)
  if (receipt.signer_published === 'not_checked')
    return caution(
      'Signature valid, signer not checked',
      'The key list of this service could not be loaded. Reload the page while you are online to look up the signer.',
    )
  if (!receipt.signer_published)
    return caution(
      'Unknown signer',
      'The signature is valid, but this service does not publish its key. Ask the issuer for its key list and paste it in the form.',
    )
  if (key_list === 'pasted')
    return good(
      'Verified with your key list',
      'A key on the list that you pasted signed exactly this receipt. This service does not publish it.',
    )
  return good('Verified', 'A key that this service publishes signed exactly this receipt.')
}

function good(word: string, sentence: string): Decision {
  return { tone: 'good', word, sentence }
}

function caution(word: string, sentence: string): Decision {
  return { tone: 'caution', word, sentence }
}

function bad(word: string, sentence: string): Decision {
  return { tone: 'bad', word, sentence }
}

/** Returns the hash of a result; null for a value without canonical JSON. */
function hashOf(result: unknown): string | null {
  try {
    return valueHash(result)
  } catch {
    return null
  }
}

export interface PolicyAssessment extends Decision {
  policy: PolicyVerdict
  /** This service publishes the registrar's key, valid at the date of issue; null if its key list could not be loaded. */
  registrar_published: boolean | null
}

/** Verifies a certificate POL-1 by its two signatures and the key list of this service. */
function assessPolicy(given: unknown, keys: KeyList | null): PolicyAssessment {
  const policy = verifyPolicy(given)
  const issued_at = isObject(given) && typeof given['issued_at'] === 'number' ? given['issued_at'] : 0
  const registrar_published =
    keys === null || policy.registrar === null ? null : judgeKey(keys, policy.registrar, issued_at).signer_valid_at_ts
  return { ...decidePolicy(policy, registrar_published), policy, registrar_published }
}

function decidePolicy(policy: PolicyVerdict, registrar_published: boolean | null): Decision {
  if (!policy.valid) return bad('Certificate not valid', policy.reason)
  if (registrar_published === null)
    return caution(
      'Unknown registrar',
      'The signatures are valid. The key list of this service could not be loaded to look up the registrar.',
    )
  if (!registrar_published)
    return caution(
      'Unknown registrar',
      'The signatures are valid, but this service does not publish the registrar’s key, or the key was not valid at the date of issue.',
    )
  if (policy.underwriter_attested) return caution('Bound by a contract wallet', policy.reason)
  return policy.underwriter_signed
    ? good('Bound certificate', 'The registrar attests the record, and the underwriter countersigned it.')
    : caution('Not bound', 'The registrar attests the record. Without the underwriter’s signature there is no cover.')
}

/** A document with its decision, and what a row of the list shows of it. */
export interface AssessedDocument extends Decision {
  document: GivenDocument
  /** Tool, name of the certificate, or source. */
  title: string
  /** Date of the receipt; empty without one. */
  time: string
  signer: string | null
  /** Null if the receipt has no digest. */
  digest: string | null
  /** Digest that its link names; null without a link. */
  follows: string | null
  /** Null if the link could not be verified. */
  link_valid: boolean | null
  details:
    | { kind: 'receipt'; input: ReceiptInput; assessment: ReceiptAssessment }
    | { kind: 'policy'; given: unknown; assessment: PolicyAssessment }
    | { kind: 'bundle'; report: BundleReport }
    | { kind: 'unreadable' }
}

/** Row of a document without receipt fields. */
function emptyRow(document: GivenDocument) {
  return { document, title: document.source, time: '', signer: null, digest: null, follows: null, link_valid: null }
}

/** Verifies one document. Never throws. */
export async function assessDocument(document: GivenDocument, keys: KeyLists): Promise<AssessedDocument> {
  const empty = emptyRow(document)
  switch (document.kind) {
    case 'bundle':
      return { ...empty, ...(await assessBundle(document.bundle, keys)) }
    case 'receipt':
      return { ...empty, ...receiptRow(document.input, keys) }
    case 'policy': {
      const given = document.policy
      const assessment = assessPolicy(given, keys.service)
      const { tone, word, sentence, policy } = assessment
      const title = textOr(isObject(given) ? given['policy_id'] : null, 'POL-1')
      const { registrar: signer, digest } = policy
      return { ...empty, tone, word, sentence, title, signer, digest, details: { kind: 'policy', given, assessment } }
    }
    case 'unreadable': {
      const { source, reason } = document
      return { ...empty, ...bad('Not a receipt', source === '' ? reason : `${source}: ${reason}`), details: { kind: 'unreadable' } }
    }
  }
}

/** Verifies an audit bundle with the list that has all its signers: that of this service, else the pasted one, else that of the bundle. */
async function assessBundle(
  bundle: AuditBundle,
  lists: KeyLists,
): Promise<Pick<AssessedDocument, keyof Decision | 'details'> & { title?: string }> {
  const verifier = await loadBundleVerifier()
  if (verifier === null) {
    const sentence = 'The verifier of bundles could not be loaded. Reload the page while you are online.'
    return { ...caution('Not checked', sentence), details: { kind: 'unreadable' } }
  }
  const { verifyBundle, logKeyIn, logNameOf, readVerifierKey } = verifier
  const name = (['service', 'pasted'] as const).find((one) => hasSigners(bundle, lists, one)) ?? null
  const keys = name === null ? null : lists[name]
  const log_key = name === null ? null : logKeyIn(lists.logs[name], logNameOf(bundle))
  const log = log_key === null ? null : readVerifierKey(log_key)
  const report = verifyBundle(bundle, { keys, log: log?.type === 'log' ? log : null, witnesses: [], datasets: new Set() })
  return { ...decideBundle(report), title: 'Audit bundle', details: { kind: 'bundle', report } }
}

/** Loads the verifier of bundles when the first one is given; null if that fails. */
async function loadBundleVerifier() {
  try {
    const [{ verifyBundle, logKeyIn, logNameOf }, { readVerifierKey }] = await Promise.all([
      import('../../../../pure/audit/verify-bundle.ts'),
      import('../../../../pure/log/checkpoint.ts'),
    ])
    return { verifyBundle, logKeyIn, logNameOf, readVerifierKey }
  } catch {
    return null
  }
}

function hasSigners({ answers }: AuditBundle, lists: KeyLists, name: 'service' | 'pasted'): boolean {
  const addresses = new Set(lists[name]?.map(({ address }) => address.toLowerCase()))
  return answers.every(({ answer }) => addresses.has(verifyReceipt(answer['receipt']).signer_recovered ?? ''))
}

function decideBundle({ outcome, checks, receipts }: BundleReport): Decision {
  const failures = checks.filter(({ state }) => state === 'failed')
  const open = checks.filter(({ state }) => state === 'not_checked').length
  const answers = receipts.length === 1 ? 'one answer' : `${receipts.length} answers`
  const rest = open === 0 ? '' : ` ${open === 1 ? 'One part was' : `${open} parts were`} not checked.`
  switch (outcome) {
    case 'failed':
      return bad('Bundle not verified', `${failures.length} of ${checks.length} checks failed, first at ${failures[0]?.pointer ?? ''}.`)
    case 'issuer_unknown':
      return caution(
        'Unknown issuer',
        `Everything matches in ${answers}, but only by the key list in the bundle, which anyone could have made.${rest}`,
      )
    case 'verified':
      return good('Bundle verified', `Receipts, hashes, links and log proofs of ${answers} are valid.${rest}`)
  }
}

function receiptRow(input: ReceiptInput, keys: KeyLists): Omit<AssessedDocument, 'document'> {
  const assessment = assessReceipt(input, keys)
  const { tone, word, sentence, receipt, link } = assessment
  const fields = isObject(input.receipt) ? input.receipt : {}
  return {
    tone,
    word,
    sentence,
    title: textOr(fields['tool'], 'no tool'),
    time: typeof fields['ts'] === 'number' ? timeText(fields['ts']) : '',
    signer: receipt.signer_recovered,
    digest: receipt.digest,
    follows: isObject(input.chain) ? readReceiptHash(textOr(input.chain['prev_receipt_hash'], '')) : null,
    link_valid: link === null ? null : link.valid,
    details: { kind: 'receipt', input, assessment },
  }
}

function textOr(value: unknown, missing: string): string {
  return typeof value === 'string' ? value.slice(0, 66) : missing
}

/** Decision on all documents: as bad as the worst of them. */
export function assessAll(assessed: readonly AssessedDocument[]): Decision {
  const count = (tone: Headline['tone']) => assessed.filter((one) => one.tone === tone).length
  const [verified, unknown, failed] = [count('good'), count('caution'), count('bad')]
  const parts = [
    `${verified} verified`,
    ...(unknown > 0 ? [`${unknown} with valid signatures but open points`] : []),
    ...(failed > 0 ? [`${failed} not valid`] : []),
  ]
  const sentence = `${assessed.length} documents: ${parts.join(', ')}.`
  if (failed > 0) return bad(`${failed} of ${assessed.length} not valid`, sentence)
  return unknown > 0 ? caution('Not all verified', sentence) : good('All verified', sentence)
}
