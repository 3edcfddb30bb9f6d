import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import { judgeKey, type KeyList } from '../pure/receipts/keys.ts'
import { claimsPolicy, verifyPolicy, type Policy, type PolicyVerdict } from '../pure/rulebooks/pol1.ts'
import { OUTCOME_TONES, type VerifyOutcome } from './receipt-report.ts'
import { headlineMark, paint, printable, table, terminalWidth, wrap } from './terminal.ts'

/** What `assay verify` says of a POL-1 certificate. */
export interface PolicyReport extends PolicyVerdict {
  document: 'POL-1'
  /** The outcome is `verified`. */
  verified: boolean
  outcome: VerifyOutcome
  policy_id: string | null
  registrar_published: boolean | 'not_checked'
  not_proved: string[]
}

/** The certificate in a file: bare, or under `certificate` as services answer with it; null for anything else. */
export function policyIn(document: unknown): unknown {
  if (claimsPolicy(document)) return document
  const inner = typeof document === 'object' && document !== null ? (document as Record<string, unknown>)['certificate'] : null
  return claimsPolicy(inner) ? inner : null
}

/** Judges a certificate offline, with the key list of its registrar where there is one. */
export function judgePolicy(certificate: unknown, keys: KeyList | null, crypto: ReceiptCrypto): PolicyReport {
  const verdict = verifyPolicy(certificate, crypto)
  const { policy_id, issued_at } = certificate as Partial<Policy>
  const registrar_published =
    keys === null || verdict.registrar === null
      ? ('not_checked' as const)
      : judgeKey(keys, verdict.registrar, issued_at ?? 0).signer_valid_at_ts
  const outcome = !verdict.valid || registrar_published === false ? 'failed' : keys === null ? 'issuer_unknown' : 'verified'
  return {
    document: 'POL-1',
    verified: outcome === 'verified',
    outcome,
    policy_id: typeof policy_id === 'string' ? policy_id : null,
    ...verdict,
    registrar_published,
    not_proved: [
      'that the underwriter is an insurer, licensed or solvent',
      'that a premium was paid or a claim would be',
      ...(verdict.underwriter_signed ? [] : ['any cover: the underwriter has not countersigned']),
      ...(registrar_published === 'not_checked' ? ['whose key the registrar’s is'] : []),
    ],
  }
}

function wordOf({ outcome, valid }: PolicyReport): string {
  switch (outcome) {
    case 'verified':
      return 'verified'
    case 'issuer_unknown':
      return 'signatures valid, registrar unknown'
    case 'failed':
      return valid ? 'unknown registrar' : 'certificate altered or not valid'
  }
}

export function renderPolicy(report: PolicyReport): string {
  const { outcome, policy_id, digest, reason, registrar, underwriter, underwriter_signed, status_proved, registrar_published } = report
  const unlisted = report.valid ? 'not checked: give the key list of the registrar with --keys' : 'not checked: a signature is not valid'
  const published = registrar_published === 'not_checked' ? unlisted : registrar_published ? 'yes' : 'no, or not valid at the date of issue'
  const rows = [
    ['Signatures', reason],
    ['Status', status_proved ?? 'nothing is proved'],
    ['Registrar', registrar ?? 'unknown: no signature gives a key'],
    ['On the key list', published],
    [
      'Underwriter',
      `${underwriter ?? 'unknown: no signature gives a key'}${underwriter_signed ? ', countersigned' : ', has not countersigned'}`,
    ],
  ]
  const heading = `${headlineMark(OUTCOME_TONES[outcome], wordOf(report))}  ${printable(policy_id ?? 'POL-1')}  ${paint('muted', digest ?? 'no digest')}`
  return [
    heading,
    ...table(rows, terminalWidth(), ['muted']),
    '',
    ...wrap(`Not proved: ${report.not_proved.join('; ')}.`, terminalWidth()),
  ].join('\n')
}
