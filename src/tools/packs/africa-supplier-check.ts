import { checkBic } from '../../pure/checks/bic.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkKraPin } from '../../pure/checks/kra-pin.ts'
import { abroadFindings, accountFindings, countryAsHome, HOME_REGIONS, PACK_BIC_DATA_AS_OF } from '../../pure/checks/pack.ts'
import { definePack } from '../../service/catalogue/packs.ts'

/** KRA PIN, IBAN and BIC of one supplier, each by itself and against one another. */
export default definePack({
  id: 'africa-supplier-check',
  title: 'Check an African supplier',
  description:
    'Checks Kenyan KRA PIN, IBAN and BIC of an African supplier, whichever are given, in one call and one receipt, and holds ' +
    'them against one another: IBAN country and BIC country, accounts outside Kenya (which has no IBANs) or Africa, sanctions ' +
    'by country. A given name is screened if this service has an engine. No register is asked: a pass proves no supplier.',
  version: '1.3.0',
  party: 'supplier',
  checked: ['IBAN country against BIC country', 'accounts outside Kenya or Africa', 'sanctions by country'],
  parts: {
    kra_pin: { check: checkKraPin, input: 'Kenyan KRA PIN, 11 characters.', tool: 'kra-pin-check' },
    iban: { check: checkIban, input: 'IBAN; the account to be paid.', tool: 'iban-check', dates: IBAN_DATA_AS_OF },
    swift: {
      check: checkBic,
      input: 'BIC of the bank; SWIFT code of 8 or 11 characters.',
      tool: 'swift-bic-check',
      dates: PACK_BIC_DATA_AS_OF,
    },
  },
  example: { kra_pin: 'P051365947M', swift: 'KCBLKENX' },
  cross: ({ kra_pin, iban, swift }) => [
    ...accountFindings(iban, swift),
    ...abroadFindings(iban, swift, kra_pin === null ? HOME_REGIONS.africa : countryAsHome('KE', false)),
  ],
})
