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

function standing(receipt: ReceiptVerdict, keysRead: boolean, result_matches: boolean | null, link: LinkVerdict | null): Standing {
  if (!receipt.valid) return { mark: 'invalid', word: 'broken', reason: receipt.reason }
  if (result_matches === false)
    return {
      mark: 'invalid',
      word: 'another result',
      reason: 'The receipt is genuine, but the result beside it is not the one that it stamps.',
    }
  if (link !== null && !link.valid) return { mark: 'invalid', word: 'broken link', reason: link.reason }
  if (!keysRead)
    return {
      mark: 'unverifiable',
      word: 'signed',
      reason: 'The signature holds; the key list of this service could not be read, so the signer stays unknown.',
    }
  if (receipt.signer_published !== true)
    return {
      mark: 'unverifiable',
      word: 'signed by a stranger',
      reason: 'The signature holds, but this service does not publish that key. Ask the issuer for its key list.',
    }
  if (receipt.signer_valid_at_ts !== true)
    return { mark: 'invalid', word: 'key does not count', reason: receipt.warnings.at(-1)?.message ?? '' }
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
