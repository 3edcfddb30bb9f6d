import type { HeadlineTone } from '../../../../pure/headline.ts'
import { SIGNED_FIELDS } from '../../../../pure/receipts/receipt.ts'
import { timeText } from '../../components/receipt-proof.ts'
import type { ReceiptAssessment } from './assess.ts'
import type { ReceiptInput } from './documents.ts'

/** One check of a receipt: `good`, `caution`, `bad`, or `neutral` if it was not made. */
export interface ReceiptCheck {
  name: string
  tone: HeadlineTone
  message: string
  /** Fields of the receipt that the message is about. */
  fields: readonly string[]
}

type RunCheck = (assessment: ReceiptAssessment, input: ReceiptInput) => Omit<ReceiptCheck, 'name'> | null

/** Returns the checks of a receipt in the order in which it can fail them. */
export function listChecks(assessment: ReceiptAssessment, input: ReceiptInput): ReceiptCheck[] {
  return Object.entries(CHECKS).flatMap(([name, run]) => {
    const check = run(assessment, input)
    return check === null ? [] : [{ name, ...check }]
  })
}

const FORMAT_WARNINGS: readonly string[] = ['off_grammar', 'signer_case', 'unsigned_fields']

const CHECKS: Readonly<Record<string, RunCheck>> = {
  Fields({ receipt }) {
    const faults = receipt.canonical === null ? receipt.findings : []
    if (faults.length > 0) return { tone: 'bad', message: messagesOf(faults), fields: fieldsOf(faults) }
    const warnings = receipt.warnings.filter(({ code }) => FORMAT_WARNINGS.includes(code))
    if (warnings.length > 0) return { tone: 'caution', message: messagesOf(warnings), fields: fieldsOf(warnings) }
    return { tone: 'good', message: `All ${SIGNED_FIELDS.length} signed fields are present and match the XDR-1 format.`, fields: [] }
  },
  Signature({ receipt }) {
    if (receipt.canonical === null)
      return { tone: 'neutral', message: 'Not checked: without valid fields there is no signed text.', fields: [] }
    if (receipt.valid) return { tone: 'good', message: 'The declared signer signed exactly this text.', fields: [] }
    const mismatch = receipt.findings.every(({ code }) => code === 'signer_mismatch' || code === 'not_recoverable')
    if (!mismatch) return { tone: 'bad', message: messagesOf(receipt.findings), fields: fieldsOf(receipt.findings) }
    const message =
      'It does not match this text and this signer. One signature covers all fields, so it does not show which one was changed: a field, ' +
      'the declared signer or the signature itself.'
    return { tone: 'bad', message, fields: ['signature'] }
  },
  Key({ receipt, key, key_list }) {
    if (!receipt.valid) return { tone: 'neutral', message: 'Not checked: the signature is not valid.', fields: [] }
    if (receipt.signer_published === 'not_checked')
      return { tone: 'caution', message: 'Unknown signer: the key list of this service could not be loaded.', fields: [] }
    if (key === null)
      return { tone: 'caution', message: 'Unknown signer: the key is not on the key list of this service.', fields: ['signer'] }
    if (receipt.signer_valid_at_ts !== true)
      return { tone: 'bad', message: receipt.warnings.at(-1)?.message ?? 'The key was not valid at that time.', fields: ['signer', 'ts'] }
    const { status, mode, chain_id, not_before, not_after } = key
    const until = not_after === null ? '' : ` to ${timeText(not_after)}`
    const list = key_list === 'pasted' ? 'On the key list that you pasted' : 'Published by this service'
    return {
      tone: 'good',
      message: `${list}: ${status}, ${mode}, chain ${chain_id}, valid from ${timeText(not_before)}${until}.`,
      fields: [],
    }
  },
  Result({ result_matches }) {
    switch (result_matches) {
      case null:
        return { tone: 'neutral', message: 'Not checked: paste the whole answer to compare its result with the receipt.', fields: [] }
      case true:
        return { tone: 'good', message: 'The hash of the result is output_hash: the receipt was issued for this result.', fields: [] }
      case false:
        return {
          tone: 'bad',
          message: 'The hash of the result is not output_hash: the result was changed, or belongs to another receipt.',
          fields: ['output_hash'],
        }
    }
  },
  Link({ link }, { chain }) {
    if (chain === undefined) return null
    if (link === null) return { tone: 'neutral', message: 'Not checked: the receipt has no digest and signer to link.', fields: [] }
    return { tone: link.valid ? 'good' : 'bad', message: link.reason, fields: [] }
  },
}

type Findings = ReceiptAssessment['receipt']['findings']

function messagesOf(findings: Findings): string {
  return findings.map(({ field, message }) => (field === null ? message : `${field}: ${message}`)).join(' ')
}

function fieldsOf(findings: Findings): string[] {
  return findings.flatMap(({ field }) => (field === null ? [] : [field]))
}
