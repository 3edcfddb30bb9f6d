/**
 * Verifies receipts of any issuer offline. Three separate questions: did the declared signer sign exactly this receipt (`valid`), is the
 * signer on the given key list, and was its key valid at the date of the receipt. None of them proves that money moved or that the result
 * is true. Errs towards valid in format only: a receipt whose fields violate the XDR-1 grammar but whose signature recovers is valid with
 * warnings, because other issuers write such receipts.
 */
import { nobleCrypto, toHex, type ReceiptCrypto, readSignature } from './crypto.ts'
import { judgeKey, type KeyList } from './keys.ts'
import { RECEIPT_CODES, type ReceiptCode, type ReceiptFinding } from './reasons.ts'
import { digestText, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, type Joinable, type SignedField, type TailField } from './receipt.ts'

function receiptFinding(code: ReceiptCode, field: string | null = null): ReceiptFinding {
  return { code, field, message: RECEIPT_CODES[code] }
}

/** Maximum length of a field in UTF-16 units. */
export const FIELD_CHARS_MAX = 1_024

export interface ReceiptVerdict {
  /** The declared signer made this signature. */
  valid: boolean
  reason_code: 'ok' | ReceiptCode
  reason: string
  /** keccak-256 of `canonical`; null if there is no signed text. */
  digest: string | null
  /** Signed text. */
  canonical: string | null
  /** Lower case; null if the receipt has no valid address. */
  declared_signer: string | null
  signer_recovered: string | null
  /** `not_checked` without a key list or a valid signature. */
  signer_published: boolean | 'not_checked'
  signer_valid_at_ts: boolean | 'not_checked'
  /** Reasons why it is not valid. */
  findings: ReceiptFinding[]
  /** Facts that do not make it invalid. */
  warnings: ReceiptFinding[]
}

/** Never throws. Without `keys`, the signer is not looked up. */
export function verifyReceipt(receipt: unknown, keys?: KeyList, crypto: ReceiptCrypto = nobleCrypto): ReceiptVerdict {
  const read = snapshot(receipt)
  if (read === null) return verdict({ findings: [receiptFinding('not_an_object')] })
  const { fields } = read
  const declared_signer = readSigner(fields.get('signer'))
  const faults = SIGNED.flatMap((name) => faultOf(name, fields))
  if (faults.length > 0) return verdict({ declared_signer, findings: faults })
  const joinable = Object.fromEntries(fields) as unknown as Joinable
  const canonical = digestText(joinable)
  const digest = crypto.keccak256(canonical)
  const signature = checkSignature(fields, declared_signer, digest, crypto)
  const warnings = warningsOf(fields, read.extra)
  const base = { canonical, digest: toHex(digest), declared_signer, ...signature, warnings }
  if (signature.findings.length > 0 || signature.signer_recovered === null || keys === undefined) return verdict(base)
  const { code, ...onList } = judgeKey(keys, signature.signer_recovered, joinable.ts)
  return verdict({ ...base, ...onList, warnings: code === null ? warnings : [...warnings, receiptFinding(code, 'signer')] })
}

const SIGNED = [...SIGNED_FIELDS, ...TAIL_FIELDS] as const
const KNOWN: readonly string[] = [...SIGNED, 'signer', 'signature']

type Fields = ReadonlyMap<string, unknown>

/** Known fields, each read once; null counts as absent for tail fields. Null if the receipt is not a readable object. */
function snapshot(receipt: unknown): { fields: Fields; extra: boolean } | null {
  if (typeof receipt !== 'object' || receipt === null || Array.isArray(receipt)) return null
  try {
    const fields = new Map(Object.entries(receipt).filter(([name]) => KNOWN.includes(name)))
    const extra = Object.keys(receipt).length > fields.size
    for (const name of TAIL_FIELDS) if ((fields.get(name) ?? null) === null) fields.delete(name)
    return { fields, extra }
  } catch {
    return null
  }
}

/** Finding for a field that cannot be part of the signed text. */
function faultOf(name: SignedField | TailField, fields: Fields): ReceiptFinding[] {
  const value = fields.get(name)
  if (value === undefined) return name === 'successor' || name === 'stream_state' ? [] : [receiptFinding('missing_field', name)]
  if (name === 'ts') return Number.isSafeInteger(value) ? [] : [receiptFinding('wrong_type', name)]
  if (typeof value !== 'string') return [receiptFinding('wrong_type', name)]
  if (value.length > FIELD_CHARS_MAX) return [receiptFinding('field_too_long', name)]
  if (!value.isWellFormed()) return [receiptFinding('ill_formed_text', name)]
  if (value.includes('|')) return [receiptFinding('holds_bar', name)]
  // Always a fault: with another prefix the text could be a message signed for another purpose.
  return name === 'v' && value !== 'XDR-1' ? [receiptFinding('bad_version', name)] : []
}

function readSigner(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? value.toLowerCase() : null
}

type SignatureVerdict = Pick<ReceiptVerdict, 'signer_recovered' | 'findings'>

function checkSignature(fields: Fields, declared: string | null, digest: Uint8Array, crypto: ReceiptCrypto): SignatureVerdict {
  const findings: ReceiptFinding[] = []
  if (declared === null) findings.push(receiptFinding(fields.has('signer') ? 'bad_signer' : 'missing_field', 'signer'))
  const text = fields.get('signature')
  if (typeof text !== 'string') {
    findings.push(receiptFinding(text === undefined ? 'missing_field' : 'wrong_type', 'signature'))
    return { signer_recovered: null, findings }
  }
  const reading = readSignature(text)
  if (!reading.ok) return { signer_recovered: null, findings: [...findings, receiptFinding(reading.code, 'signature')] }
  const signer_recovered = crypto.recover(digest, reading.rs, reading.recovery)
  if (signer_recovered === null) findings.push(receiptFinding('not_recoverable', 'signature'))
  if (reading.high_s) findings.push(receiptFinding('high_s', 'signature'))
  if (signer_recovered !== null && declared !== null && signer_recovered !== declared)
    findings.push(receiptFinding('signer_mismatch', 'signer'))
  return { signer_recovered, findings }
}

function warningsOf(fields: Fields, extra: boolean): ReceiptFinding[] {
  const warnings = SIGNED.filter((name) => fields.has(name) && !GRAMMAR[name].test(String(fields.get(name)))).map((name) =>
    receiptFinding('off_grammar', name),
  )
  const signer = readSigner(fields.get('signer'))
  if (signer !== null && signer !== fields.get('signer')) warnings.push(receiptFinding('signer_case', 'signer'))
  if (extra) warnings.push(receiptFinding('unsigned_fields'))
  return warnings
}

/** Completes a verdict; `valid` and the reason follow from the findings. */
function verdict(part: Partial<ReceiptVerdict> & Pick<ReceiptVerdict, 'findings'>): ReceiptVerdict {
  const first = part.findings[0]
  return {
    valid: first === undefined,
    reason_code: first?.code ?? 'ok',
    reason: first === undefined ? 'The declared signer signed exactly this receipt.' : RECEIPT_CODES[first.code],
    digest: null,
    canonical: null,
    declared_signer: null,
    signer_recovered: null,
    signer_published: 'not_checked',
    signer_valid_at_ts: 'not_checked',
    warnings: [],
    ...part,
  }
}
