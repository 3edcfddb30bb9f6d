import { judgeKey, type PublishedKey } from '../../../../pure/receipts/keys.ts'
import { verifyPolicy, type PolicyVerdict } from '../../../../pure/rulebooks/pol1.ts'
import type { BadgeVerdict } from '../../../../pure/headline.ts'
import { el } from '../dom.ts'
import { factsTable } from '../facts.ts'
import { row, seal } from '../proof.ts'
import { isMembers, textOf } from '../shapes.ts'
import { verdictBlock } from '../verdict.ts'

/** What a page may say of a certificate POL-1. */
export interface PolicyJudgement {
  mark: BadgeVerdict
  word: string
  reason: string
  policy: PolicyVerdict
  /** Whether this service publishes the registrar's key, good at the date of issue; null when its list could not be read. */
  registrar_published: boolean | null
}

/** Judges a certificate by its two signatures and the key list of this service. Never says more than the weaker part carries. */
export function judgePolicy(given: unknown, keys: readonly PublishedKey[] | null): PolicyJudgement {
  const policy = verifyPolicy(given)
  const issued_at = isMembers(given) && typeof given['issued_at'] === 'number' ? given['issued_at'] : 0
  const registrar_published =
    keys === null || policy.registrar === null ? null : judgeKey(keys, policy.registrar, issued_at).signer_valid_at_ts
  return { ...standing(policy, registrar_published), policy, registrar_published }
}

function standing(policy: PolicyVerdict, published: boolean | null): Pick<PolicyJudgement, 'mark' | 'word' | 'reason'> {
  if (!policy.valid) return { mark: 'invalid', word: 'broken certificate', reason: policy.reason }
  if (published !== true) {
    const reason =
      published === null
        ? 'Its signatures are valid; the key list of this service could not be read, so the registrar remains unknown.'
        : 'Its signatures are valid, but this service does not publish the registrar’s key, or it was not good at the date of issue.'
    return { mark: 'unverifiable', word: 'certificate of an unknown registrar', reason }
  }
  return policy.underwriter_signed
    ? { mark: 'valid', word: 'bound certificate', reason: 'The registrar attests the record, and the underwriter countersigned it.' }
    : {
        mark: 'unverifiable',
        word: 'certificate, not bound',
        reason: 'The registrar attests the record. Without the underwriter’s signature there is no cover.',
      }
}

const NOT_PROVED = 'that the underwriter is an insurer, licensed or solvent; that a premium was paid or a claim would be'

export function policyView(judgement: PolicyJudgement, given: unknown): DocumentFragment {
  const { mark, word, reason, policy } = judgement
  const view = document.createDocumentFragment()
  view.append(
    verdictBlock(mark, word, reason),
    el('p', { class: 'scope-line' }, `Not proved: ${NOT_PROVED}.`),
    el(
      'section',
      { class: 'proof large', 'aria-label': 'Seal and keys' },
      seal(policy.digest, { broken: mark === 'invalid' }),
      el('dl', {}, ...rowsOf(judgement)),
    ),
  )
  const facts = isMembers(given) ? factsTable(given, policy.valid ? 'What the record says' : 'What it claims') : null
  if (facts !== null) view.append(facts)
  return view
}

function rowsOf({ policy, registrar_published }: PolicyJudgement): HTMLElement[] {
  const { digest, registrar, registrar_signed, underwriter, underwriter_signed, status_proved } = policy
  return [
    row('digest', digest ?? 'none: no text could be formed'),
    row('status that the signatures prove', status_proved ?? 'none'),
    row(
      'registrar',
      registrar === null ? 'none' : `${registrar}: ${registrar_signed ? 'signed exactly this record' : 'did not sign this record'}`,
    ),
    row(
      'registrar’s key',
      registrar_published === null ? 'not known' : registrar_published ? 'published here, good at the date of issue' : 'not published here',
    ),
    row('underwriter', underwriter === null ? 'none' : `${underwriter}: ${underwriter_signed ? 'countersigned' : 'has not countersigned'}`),
  ]
}

/** A certificate's own name, where it has one. */
export function policyName(given: unknown): string {
  return (isMembers(given) ? textOf(given['policy_id']) : null)?.slice(0, 64) ?? 'POL-1'
}
