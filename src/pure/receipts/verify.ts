/**
 * Verifies a receipt of any issuer, offline. Three questions are kept apart: did the declared signer sign exactly this (`valid`), is
 * that signer on a given key list, and was its key good at the receipt's own date. None of them says that money moved or that the
 * result was true.
 *
 * Errs towards valid only in form: a receipt whose fields break the XDR-1 grammar but whose signature recovers is valid with warnings,
 * since other issuers write such receipts. It never errs in arithmetic.
 */
import { nobleCrypto, toHex, type ReceiptCrypto } from './crypto.ts'
import { judgeKey, type KeyList } from './keys.ts'
import { finding, RECEIPT_CODES, type ReceiptCode, type ReceiptFinding } from './reasons.ts'
import { digestText, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, type Joinable, type SignedField, type TailField } from './receipt.ts'
import { readSignature } from './signature.ts'

/** Longest field that is read, in UTF-16 units. */
export const FIELD_CHARS_MAX = 1_024

export interface ReceiptVerdict {
  /** The signature is good and the declared signer made it. */
  valid: boolean
  reason_code: 'ok' | ReceiptCode
  reason: string
  /** keccak-256 of `canonical`; null when no text could be formed. */
  digest: string | null
  /** The text that the signature covers. */
  canonical: string | null
  /** Lower-case; null when the receipt declares no address. */
  declared_signer: string | null
  signer_recovered: string | null
  /** `not_checked` without a key list, and when the signature is not valid. */
  signer_published: boolean | 'not_checked'
  signer_valid_at_ts: boolean | 'not_checked'
  /** Why it is not valid. */
  findings: ReceiptFinding[]
  /** What a careful reader should know all the same. */
  warnings: ReceiptFinding[]
}

/** Never throws, whatever it is given. Without `keys` the two questions about the key list stay open. */
export function verifyReceipt(receipt: unknown, keys?: KeyList, crypto: ReceiptCrypto = nobleCrypto): ReceiptVerdict {
  const read = snapshot(receipt)
  if (read === null) return verdict({ findings: [finding('not_an_object')] })
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
  return verdict({ ...base, ...onList, warnings: code === null ? warnings : [...warnings, finding(code, 'signer')] })
}

const SIGNED = [...SIGNED_FIELDS, ...TAIL_FIELDS] as const
const KNOWN: readonly string[] = [...SIGNED, 'signer', 'signature']

type Fields = ReadonlyMap<string, unknown>

/** The known fields, each read once; a tail field that is null counts as absent. Null when this is no object that can be read. */
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

/** Whatever keeps a field out of the signed text: one finding or none. */
function faultOf(name: SignedField | TailField, fields: Fields): ReceiptFinding[] {
  const value = fields.get(name)
  if (value === undefined) return name === 'successor' || name === 'stream_state' ? [] : [finding('missing_field', name)]
  if (name === 'ts') return Number.isSafeInteger(value) ? [] : [finding('wrong_type', name)]
  if (typeof value !== 'string') return [finding('wrong_type', name)]
  if (value.length > FIELD_CHARS_MAX) return [finding('field_too_long', name)]
  if (!value.isWellFormed()) return [finding('ill_formed_text', name)]
  if (value.includes('|')) return [finding('holds_bar', name)]
  // Fatal, unlike other breaks of the grammar: with another beginning the text could be a message that was signed for another end.
  return name === 'v' && value !== 'XDR-1' ? [finding('bad_version', name)] : []
}

function readSigner(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? value.toLowerCase() : null
}

type SignatureVerdict = Pick<ReceiptVerdict, 'signer_recovered' | 'findings'>

function checkSignature(fields: Fields, declared: string | null, digest: Uint8Array, crypto: ReceiptCrypto): SignatureVerdict {
  const findings: ReceiptFinding[] = []
  if (declared === null) findings.push(finding(fields.has('signer') ? 'bad_signer' : 'missing_field', 'signer'))
  const text = fields.get('signature')
  if (typeof text !== 'string') {
    findings.push(finding(text === undefined ? 'missing_field' : 'wrong_type', 'signature'))
    return { signer_recovered: null, findings }
  }
  const reading = readSignature(text)
  if (!reading.ok) return { signer_recovered: null, findings: [...findings, finding(reading.code, 'signature')] }
  const signer_recovered = crypto.recover(digest, reading.rs, reading.recovery)
  if (signer_recovered === null) findings.push(finding('not_recoverable', 'signature'))
  if (reading.high_s) findings.push(finding('high_s', 'signature'))
  if (signer_recovered !== null && declared !== null && signer_recovered !== declared) findings.push(finding('signer_mismatch', 'signer'))
  return { signer_recovered, findings }
}

function warningsOf(fields: Fields, extra: boolean): ReceiptFinding[] {
  const warnings = SIGNED.filter((name) => fields.has(name) && !GRAMMAR[name].test(String(fields.get(name)))).map((name) =>
    finding('off_grammar', name),
  )
  const signer = readSigner(fields.get('signer'))
  if (signer !== null && signer !== fields.get('signer')) warnings.push(finding('signer_case', 'signer'))
  if (extra) warnings.push(finding('unsigned_fields'))
  return warnings
}

/** Completes a verdict; `valid` and the reason follow from the findings alone. */
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
