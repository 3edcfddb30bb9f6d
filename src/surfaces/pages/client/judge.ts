import { verifyLink, type LinkVerdict } from '../../../pure/receipts/chain.ts'
import type { PublishedKey } from '../../../pure/receipts/keys.ts'
import { valueHash } from '../../../pure/receipts/receipt.ts'
import { verifyReceipt, type ReceiptVerdict } from '../../../pure/receipts/verify.ts'
import type { BadgeVerdict } from '../../../pure/headline.ts'
import type { Given } from './given.ts'
import { isMembers } from './shapes.ts'

/** What a page may say of a receipt, all things taken together. */
export interface Judgement {
  mark: BadgeVerdict
  word: string
  reason: string
  receipt: ReceiptVerdict
  /** The published key that signed; null when none did, or the list could not be read. */
  key: PublishedKey | null
  /** Whether the result that came along is the one that was stamped; null when none came. */
  result_matches: boolean | null
  link: LinkVerdict | null
}

/**
 * Judges a receipt and what came with it. `keys` is null when the list could not be read: then nobody can say whose the signer is.
 * Never says more than the weakest part carries.
 */
export function judge({ receipt, result, chain }: Given, keys: readonly PublishedKey[] | null): Judgement {
  const verdict = verifyReceipt(receipt, keys ?? undefined)
  const { digest, signer_recovered } = verdict
  const key = keys?.find(({ address }) => address === signer_recovered) ?? null
  const result_matches = result === undefined ? null : isMembers(receipt) && hashOf(result) === receipt['output_hash']
  const link = chain === undefined || digest === null || signer_recovered === null ? null : verifyLink(chain, digest, signer_recovered)
  return { ...standing(verdict, keys !== null, result_matches, link), receipt: verdict, key, result_matches, link }
}

type Standing = Pick<Judgement, 'mark' | 'word' | 'reason'>

/** Signature faults of a well-formed receipt; any other fault means that the document is no receipt at all. */
const FORGERIES: readonly string[] = ['signer_mismatch', 'not_recoverable']

function standing(receipt: ReceiptVerdict, keysRead: boolean, result_matches: boolean | null, link: LinkVerdict | null): Standing {
  if (!receipt.valid) {
    const word = FORGERIES.includes(receipt.reason_code) ? 'receipt altered or forged' : 'not a valid receipt'
    return { mark: 'invalid', word, reason: receipt.reason }
  }
  if (receipt.signer_published === true && receipt.signer_valid_at_ts !== true)
    return { mark: 'invalid', word: 'key not valid at that time', reason: receipt.warnings.at(-1)?.message ?? '' }
  if (result_matches === false)
    return {
      mark: 'invalid',
      word: 'result was changed',
      reason: 'The result was changed: this receipt was issued for a different result.',
    }
  if (link !== null && !link.valid) return { mark: 'invalid', word: 'broken link', reason: link.reason }
  if (!keysRead)
    return {
      mark: 'unverifiable',
      word: 'signature valid, issuer unknown',
      reason: 'The key list of this service could not be read, so whose signature it is remains unknown.',
    }
  if (receipt.signer_published !== true)
    return {
      mark: 'unverifiable',
      word: 'unknown signer',
      reason: 'The signature is valid, but this service does not publish that key. Ask the issuer for its key list.',
    }
  return { mark: 'valid', word: 'verified', reason: 'A key that this service publishes signed exactly this receipt.' }
}

/** The hash of a result; null for what has no canonical text. */
function hashOf(result: unknown): string | null {
  try {
    return valueHash(result)
  } catch {
    return null
  }
}
