import { type CrossFinding, sound } from './pack.ts'
import type { UaeTrnFacts } from './uae-trn.ts'
import type { Check } from './verdict.ts'

/** What the number names beside itself: the TIN, by which invoices reach the supplier over Peppol. */
export function trnFindings(trn: Check<UaeTrnFacts> | null): CrossFinding[] {
  const facts = sound(trn)
  if (facts === null) return []
  const message = `The first ten digits are the TIN ${facts.tin}; an invoice that names another TIN or Peppol id than ${facts.peppol_participant_id} is not this supplier’s.`
  return [{ code: 'trn_holds_tin', fields: ['trn'], severity: 'info', message }]
}
