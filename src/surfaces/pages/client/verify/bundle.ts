import type { AuditBundle } from '../../../../pure/audit/bundle.ts'
import { verifyBundle, type BundleReport } from '../../../../pure/audit/verify-bundle.ts'
import { readVerifierKey } from '../../../../pure/log/checkpoint.ts'
import { verifyReceipt } from '../../../../pure/receipts/verify.ts'
import { bad, caution, emptyRow, good, type AssessedDocument, type Decision, type KeyLists } from './assess.ts'
import type { GivenDocument } from './documents.ts'

/** Verifies an audit bundle with the list that has all its signers: that of this service, else the pasted one, else that of the bundle. */
export function assessBundle(document: Extract<GivenDocument, { kind: 'bundle' }>, lists: KeyLists): AssessedDocument {
  const { bundle } = document
  const name = (['service', 'pasted'] as const).find((one) => hasSigners(bundle, lists, one)) ?? null
  const keys = name === null ? null : lists[name]
  const log_key = name === null ? null : lists.logs[name]
  const log = log_key === null ? null : readVerifierKey(log_key)
  const report = verifyBundle(bundle, { keys, log: log?.type === 'log' ? log : null, witnesses: [], datasets: new Set() })
  return { ...emptyRow(document), ...decideBundle(report), title: 'Audit bundle', details: { kind: 'bundle', report } }
}

function hasSigners({ answers }: AuditBundle, lists: KeyLists, name: 'service' | 'pasted'): boolean {
  const addresses = new Set(lists[name]?.map(({ address }) => address.toLowerCase()))
  return answers.every(({ answer }) => addresses.has(verifyReceipt(answer['receipt']).signer_recovered ?? ''))
}

function decideBundle({ outcome, checks, receipts }: BundleReport): Decision {
  const failures = checks.filter(({ state }) => state === 'failed')
  const open = checks.filter(({ state }) => state === 'not_checked').length
  const answers = receipts.length === 1 ? 'one answer' : `${receipts.length} answers`
  const rest = open === 0 ? '' : ` ${open === 1 ? 'One part was' : `${open} parts were`} not checked.`
  switch (outcome) {
    case 'failed':
      return bad('Bundle not verified', `${failures.length} of ${checks.length} checks failed, first at ${failures[0]?.pointer ?? ''}.`)
    case 'issuer_unknown':
      return caution(
        'Unknown issuer',
        `Everything matches in ${answers}, but only by the key list in the bundle, which anyone could have made.${rest}`,
      )
    case 'verified':
      return good('Bundle verified', `Receipts, hashes, links and log proofs of ${answers} are valid.${rest}`)
  }
}
