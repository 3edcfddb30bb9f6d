import { SIGNED_FIELDS } from '../../../../pure/receipts/receipt.ts'
import type { BadgeVerdict } from '../../../../pure/headline.ts'
import type { Given } from '../given.ts'
import type { Judgement } from '../judge.ts'
import { timeText } from '../proof.ts'

/** One question about a receipt, with its own answer: `valid` yes, `invalid` no, `unverifiable` in part, `done` not asked. */
export interface Check {
  name: string
  mark: BadgeVerdict
  words: string
  /** The fields of the receipt that the answer is about. */
  fields: readonly string[]
}

/** A question; null where it does not arise. A later question about a receipt, such as its place in a public log, is one more of these. */
type Question = (judgement: Judgement, given: Given) => Check | null

/** Every question that can be asked of what was given, in the order in which a receipt can fail them. */
export function checksOf(judgement: Judgement, given: Given): Check[] {
  return QUESTIONS.map((question) => question(judgement, given)).filter((check) => check !== null)
}

const fields: Question = ({ receipt }) => {
  const name = 'fields'
  const broken = receipt.canonical === null ? receipt.findings : []
  if (broken.length > 0) return { name, mark: 'invalid', words: namedWords(broken), fields: fieldsOf(broken) }
  const odd = receipt.warnings.filter(({ code }) => code === 'off_grammar' || code === 'signer_case' || code === 'unsigned_fields')
  if (odd.length > 0) return { name, mark: 'unverifiable', words: namedWords(odd), fields: fieldsOf(odd) }
  return { name, mark: 'valid', words: `All ${SIGNED_FIELDS.length} signed fields are there, each in the form of XDR-1.`, fields: [] }
}

/** A signature covers all fields at once: when it does not fit, it cannot tell which of them was changed. */
const signature: Question = ({ receipt }) => {
  const name = 'signature'
  if (receipt.canonical === null) return { name, mark: 'done', words: 'Not looked at: there is no text that it could cover.', fields: [] }
  if (receipt.valid) return { name, mark: 'valid', words: 'The declared signer signed exactly this text.', fields: [] }
  const codes = receipt.findings.map(({ code }) => code)
  const unfit = codes.every((code) => code === 'signer_mismatch' || code === 'not_recoverable')
  const words = unfit
    ? 'It does not belong to this text and this signer. It covers all signed fields together, so it cannot tell which one was changed: any ' +
      'of them, the declared signer, or the signature itself.'
    : namedWords(receipt.findings)
  return { name, mark: 'invalid', words, fields: unfit ? ['signature'] : fieldsOf(receipt.findings) }
}

const key: Question = ({ receipt, key: published }) => {
  const name = 'key'
  if (!receipt.valid) return { name, mark: 'done', words: 'Not checked: the signature is not valid.', fields: [] }
  if (receipt.signer_published === 'not_checked')
    return {
      name,
      mark: 'unverifiable',
      words: 'The key list of this service could not be read, so the issuer is unknown.',
      fields: [],
    }
  if (published === null)
    return {
      name,
      mark: 'unverifiable',
      words: 'This service does not publish the key. The issuer’s own key list may.',
      fields: ['signer'],
    }
  if (receipt.signer_valid_at_ts !== true)
    return { name, mark: 'invalid', words: receipt.warnings.at(-1)?.message ?? 'It was not good at that time.', fields: ['signer', 'ts'] }
  const { status, mode, chain_id, not_before, not_after } = published
  const until = not_after === null ? '' : ` to ${timeText(not_after)}`
  const words = `This service publishes it: ${status}, ${mode}, chain ${chain_id}, good from ${timeText(not_before)}${until}.`
  return { name, mark: 'valid', words, fields: [] }
}

const result: Question = ({ result_matches }) => {
  const name = 'result'
  switch (result_matches) {
    case null:
      return { name, mark: 'done', words: 'None came along, so it was not held against the receipt.', fields: [] }
    case true:
      return { name, mark: 'valid', words: 'It is the one that was stamped: its hash is output_hash.', fields: [] }
    case false:
      return {
        name,
        mark: 'invalid',
        words: 'Its hash is not output_hash: the result was changed, or belongs to another receipt.',
        fields: ['output_hash'],
      }
  }
}

const link: Question = ({ link: verdict }, { chain }) => {
  const name = 'link'
  if (chain === undefined) return null
  if (verdict === null)
    return { name, mark: 'done', words: 'Not looked at: without digest and signer there is nothing to link.', fields: [] }
  return { name, mark: verdict.valid ? 'valid' : 'invalid', words: verdict.reason, fields: [] }
}

const QUESTIONS: readonly Question[] = [fields, signature, key, result, link]

type Named = Judgement['receipt']['findings']

function namedWords(findings: Named): string {
  return findings.map(({ field, message }) => (field === null ? message : `${field}: ${message}`)).join(' ')
}

function fieldsOf(findings: Named): string[] {
  return findings.flatMap(({ field }) => (field === null ? [] : [field]))
}
