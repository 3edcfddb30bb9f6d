import { canonicalText } from '../receipts/canonical.ts'
import { toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { digestText, ZERO_ADDRESS, type Joinable } from '../receipts/receipt.ts'
import { readSignature } from '../receipts/signature.ts'
import { verifyReceipt } from '../receipts/verify.ts'

/** A receipt as disputes carry it: signer, tool_version and tier may be left out. */
export interface DisputedReceipt {
  v: string
  tool: string
  payer: string
  recipient: string
  amount: string
  ts: number
  input_hash: string
  output_hash: string
  nonce: string
  signature: string
  tool_version?: string | undefined
  tier?: string | undefined
  signer?: string | undefined
  successor?: string | null | undefined
  stream_state?: string | null | undefined
}

export interface IssuerFacts {
  crypto: ReceiptCrypto
  /** Whether a key of this service was good at that time, in seconds since 1970. */
  owns(address: string, ts: number): boolean
  /** The version in which this service has the tool now; null when it has none of this name. */
  versionOf(tool: string): string | null
}

/** Who signed: this service, somebody else, or nobody that can be told. */
type Issuer = 'own' | 'other' | 'unknown'

export interface ReadReceipt {
  fields: DisputedReceipt
  /** The digest where the signature is good; else a hash of all that was given, which no good receipt shares. */
  hash: string
  /** Recovered; null where it could not be checked. */
  signer: string | null
  issuer: Issuer
  /** The version that is signed, or that was given; null when unknown. */
  tool_version: string | null
  /** Somebody paid on chain. */
  paid: boolean
  /** Which gate it fails. */
  fault: 'DIP-G1' | 'DIP-G2' | null
}

const HASH = /^0x[0-9a-fA-F]{64}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const AMOUNT = /^(?:0|[1-9][0-9]{0,77})$/

/**
 * Reads a receipt and checks its signature as far as that can be done. Where fields were left out, this service's own keys can still be
 * recognised: the missing version and tier are taken to be those of today, and the recovered address is looked up among them.
 */
export function readDisputed(fields: DisputedReceipt, facts: IssuerFacts): ReadReceipt {
  const { crypto } = facts
  const unverified = crypto.keccak256Hex(`DIP-1-UNVERIFIED|${canonicalText(withoutAbsent(fields))}`)
  const paid = isPaid(fields)
  const unread = { fields, hash: unverified, signer: null, issuer: 'unknown', tool_version: fields.tool_version ?? null, paid } as const
  const verdict = verifyReceipt(completed(fields, facts), undefined, crypto)
  if (!hasShape(fields) || verdict.digest === null) return { ...unread, fault: 'DIP-G1' }
  if (fields.signer !== undefined && fields.tool_version !== undefined && fields.tier !== undefined) {
    if (!verdict.valid || verdict.signer_recovered === null) return { ...unread, fault: 'DIP-G2' }
    const issuer = facts.owns(verdict.signer_recovered, fields.ts) ? 'own' : 'other'
    return { ...unread, hash: verdict.digest, signer: verdict.signer_recovered, issuer, fault: null }
  }
  const own = ownSigner(fields, facts)
  if (own === null) return { ...unread, fault: null }
  if (fields.signer !== undefined && fields.signer.toLowerCase() !== own.signer) return { ...unread, fault: 'DIP-G2' }
  return { ...unread, ...own, issuer: 'own', fault: null }
}

function hasShape({ v, input_hash, output_hash, amount }: DisputedReceipt): boolean {
  return v === 'XDR-1' && HASH.test(input_hash) && HASH.test(output_hash) && AMOUNT.test(amount)
}

function isPaid({ tier, amount, payer }: DisputedReceipt): boolean {
  return tier !== 'free' && AMOUNT.test(amount) && amount !== '0' && ADDRESS.test(payer) && payer !== ZERO_ADDRESS
}

function completed(fields: DisputedReceipt, { versionOf }: IssuerFacts) {
  const given = withoutAbsent(fields)
  const tier = fields.amount === '0' ? 'free' : 'paid'
  return { tool_version: versionOf(fields.tool) ?? '0.0.0', tier, signer: ZERO_ADDRESS, ...given }
}

function withoutAbsent(fields: DisputedReceipt): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

/** The key of this service that signed the completed receipt; null when none did. */
function ownSigner(fields: DisputedReceipt, facts: IssuerFacts): Pick<ReadReceipt, 'hash' | 'signer' | 'tool_version'> | null {
  const reading = readSignature(fields.signature)
  if (!reading.ok || reading.high_s) return null
  const whole = completed(fields, facts) as unknown as Joinable
  const digest = facts.crypto.keccak256(digestText(whole))
  const signer = facts.crypto.recover(digest, reading.rs, reading.recovery)
  if (signer === null || !facts.owns(signer, fields.ts)) return null
  return { hash: toHex(digest), signer, tool_version: whole.tool_version }
}
