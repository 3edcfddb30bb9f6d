import { checkBic } from '../../pure/checks/bic.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import {
  abroadFindings,
  accountFindings,
  countryAsHome,
  HOME_REGIONS,
  type CrossFinding,
  usableFacts,
  PACK_BIC_DATA_AS_OF,
} from '../../pure/checks/pack.ts'
import { checkUaeTrn, type UaeTrnFacts } from '../../pure/checks/uae-trn.ts'
import type { Check } from '../../pure/checks/verdict.ts'
import { definePack } from '../../service/catalogue/packs.ts'

/** Reports the TIN inside the number, by which invoices reach the supplier over Peppol. */
function trnFindings(trn: Check<UaeTrnFacts> | null): CrossFinding[] {
  const facts = usableFacts(trn)
  if (facts === null) return []
  const message = `The first ten digits are the TIN ${facts.tin}; an invoice that names another TIN or Peppol id than ${facts.peppol_participant_id} is not this supplier’s.`
  return [{ code: 'trn_holds_tin', fields: ['trn'], severity: 'info', message }]
}

/** TRN, IBAN and BIC of one supplier, each by itself and against one another. */
export default definePack({
  id: 'gulf-supplier-check',
  title: 'Check a Gulf supplier',
  description:
    'Checks UAE tax registration number, IBAN and BIC of a Gulf supplier, whichever are given, in one call and one receipt, ' +
    'and holds them against one another: IBAN country and BIC country, accounts outside the Emirates (or the Gulf), sanctions ' +
    'by country; names TIN and Peppol id. A given name is screened if this service has an engine. No register is asked: a pass ' +
    'proves no supplier.',
  version: '1.3.0',
  party: 'supplier',
  checked: ['TIN inside the TRN', 'IBAN country against BIC country', 'accounts abroad and sanctions by country'],
  parts: {
    trn: { check: checkUaeTrn, input: 'UAE tax registration number, 15 digits.', tool: 'uae-trn-check' },
    iban: { check: checkIban, input: 'IBAN; the account to be paid.', tool: 'iban-check', dates: IBAN_DATA_AS_OF },
    swift: {
      check: checkBic,
      input: 'BIC of the bank; SWIFT code of 8 or 11 characters.',
      tool: 'swift-bic-check',
      dates: PACK_BIC_DATA_AS_OF,
    },
  },
  example: { trn: '100123456700003', iban: 'AE070331234567890123456', swift: 'EBILAEAD' },
  cross: ({ trn, iban, swift }) => [
    ...trnFindings(trn),
    ...accountFindings(iban, swift),
    ...abroadFindings(iban, swift, trn === null ? HOME_REGIONS.gulf : countryAsHome('AE', true)),
  ],
})
