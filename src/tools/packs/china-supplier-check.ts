import { checkBic } from '../../pure/checks/bic.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { abroadFindings, accountFindings, countryAsHome, PACK_BIC_DATA_AS_OF } from '../../pure/checks/pack.ts'
import { checkUscc, USCC_DATA_AS_OF } from '../../pure/checks/uscc.ts'
import { definePack } from '../../service/catalogue/packs.ts'

const HOME = countryAsHome('CN', false)

/** Code, IBAN and BIC of one supplier, each by itself and against one another. */
export default definePack({
  id: 'china-supplier-check',
  title: 'Check a Chinese supplier',
  description:
    'Checks unified social credit code, IBAN and BIC of a Chinese supplier, whichever are given, in one call and one receipt, ' +
    'and holds them against one another: IBAN country and BIC country, accounts outside China (which has no IBANs), sanctions ' +
    'by country. A given name is screened if this service has an engine. No register is asked: a pass proves no supplier.',
  version: '1.3.0',
  party: 'supplier',
  checked: ['IBAN country against BIC country', 'accounts outside China', 'sanctions by country'],
  parts: {
    uscc: { check: checkUscc, input: 'Unified social credit code, 18 characters.', tool: 'uscc-check', dates: USCC_DATA_AS_OF },
    iban: { check: checkIban, input: 'IBAN; the account to be paid.', tool: 'iban-check', dates: IBAN_DATA_AS_OF },
    swift: {
      check: checkBic,
      input: 'BIC of the bank; SWIFT code of 8 or 11 characters.',
      tool: 'swift-bic-check',
      dates: PACK_BIC_DATA_AS_OF,
    },
  },
  example: { uscc: '91110000600037341L', swift: 'BKCHCNBJ' },
  cross: ({ iban, swift }) => [...accountFindings(iban, swift), ...abroadFindings(iban, swift, HOME)],
})
