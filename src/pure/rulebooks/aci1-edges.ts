/**
 * Sponsor edges of ACI-1: an address vouches for a subject, in one role or any, until a time. The edge is signed like a receipt: raw
 * keccak-256 over `ACI-1-EDGE`, sponsor, subject, scope, issued_at and expires_at joined by bars, a 65-byte signature with low s. No field
 * of the grammar can hold a bar, and the text can be neither an EIP-191 or EIP-712 message nor a transaction.
 *
 * An edge says that a key signed it. It costs nothing to make keys, so sponsors weigh little and never lift anybody to T3.
 */
import { nobleCrypto, type ReceiptCrypto, readSignature } from '../receipts/crypto.ts'

export interface SponsorEdge {
  /** Address, letters of any case. */
  sponsor: string
  /** Address or `c402:` name. */
  subject: string
  /** The role that is vouched for: payer, seller or any. */
  scope: string
  /** Seconds since 1970, both included. */
  issued_at: number
  expires_at: number
  /** 0x-prefixed hex of 65 bytes. */
  signature: string
}

export type Role = 'payer' | 'seller'

/** Reasons why an edge does not count, in the order of the checks. */
export const EDGE_REASONS = {
  malformed: 'A field of the edge does not have the form that ACI-1 requires.',
  wrong_subject: 'The edge vouches for another subject.',
  self: 'The sponsor and the subject are the same.',
  other_scope: 'The edge vouches for another role.',
  not_yet_valid: 'The edge is dated later than now.',
  expired: 'The edge has expired.',
  duplicate_sponsor: 'Another edge of this sponsor counts already.',
  bad_signature: 'The sponsor did not sign exactly this edge.',
} as const

export type EdgeFault = keyof typeof EDGE_REASONS

export interface EdgeValidation {
  /** Its place among the edges that were given. */
  index: number
  /** Lower-case address; null when none could be read. */
  sponsor: string | null
  /** Null: the edge counts. */
  void_reason: EdgeFault | null
}

/** A subject as it is compared and signed; null when it is neither an address nor a c402 name. Nothing is resolved. */
export function readSubject(text: string): string | null {
  if (C402.test(text)) return text
  return ADDRESS.test(text) ? text.toLowerCase() : null
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const C402 = /^c402:[a-z0-9._-]{1,64}$/
const SCOPES: readonly string[] = ['payer', 'seller', 'any']
/** As many digits as the date of a receipt may have. */
const TIME_MAX_S = 999_999_999_999

/** The text that is signed. Sponsor and address subjects are lower-case in it. */
export function edgeText({ sponsor, subject, scope, issued_at, expires_at }: Omit<SponsorEdge, 'signature'>): string {
  return `ACI-1-EDGE|${sponsor}|${subject}|${scope}|${issued_at}|${expires_at}`
}

interface EdgeQuestion {
  /** As `readSubject` gave it. */
  subject: string
  role: Role
  now_s: number
}

/** Says of each edge whether it counts, in the order given. Of several good edges of one sponsor the first counts. */
export function validateEdges(edges: readonly SponsorEdge[], asked: EdgeQuestion, crypto: ReceiptCrypto = nobleCrypto): EdgeValidation[] {
  const counted = new Set<string>()
  return edges.map((edge, index) => {
    const sponsor = ADDRESS.test(edge.sponsor) ? edge.sponsor.toLowerCase() : null
    const void_reason = sponsor === null ? 'malformed' : findEdgeFault({ ...edge, sponsor }, asked, counted, crypto)
    if (sponsor !== null && void_reason === null) counted.add(sponsor)
    return { index, sponsor, void_reason }
  })
}

function findEdgeFault(edge: SponsorEdge, asked: EdgeQuestion, counted: ReadonlySet<string>, crypto: ReceiptCrypto): EdgeFault | null {
  const subject = readSubject(edge.subject)
  if (subject === null || !SCOPES.includes(edge.scope) || !isTime(edge.issued_at) || !isTime(edge.expires_at)) return 'malformed'
  if (edge.expires_at < edge.issued_at) return 'malformed'
  if (subject !== asked.subject) return 'wrong_subject'
  if (subject === edge.sponsor) return 'self'
  if (edge.scope !== 'any' && edge.scope !== asked.role) return 'other_scope'
  if (edge.issued_at > asked.now_s) return 'not_yet_valid'
  if (edge.expires_at < asked.now_s) return 'expired'
  // Before the expensive signature check; the result is the same in either order.
  if (counted.has(edge.sponsor)) return 'duplicate_sponsor'
  return isSigned({ ...edge, subject }, crypto) ? null : 'bad_signature'
}

function isTime(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= TIME_MAX_S
}

function isSigned(edge: SponsorEdge, crypto: ReceiptCrypto): boolean {
  const signature = readSignature(edge.signature)
  if (!signature.ok || signature.high_s) return false
  return crypto.recover(crypto.keccak256(edgeText(edge)), signature.rs, signature.recovery) === edge.sponsor
}
