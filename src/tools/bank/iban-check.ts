import { z } from 'zod'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS, SANCTIONS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  country: z.string().describe('Country code, ISO 3166 alpha-2 or XK.'),
  country_name: z.string().describe('Country, as ISO 3166-1 names it.'),
  country_alpha3: z.string().describe('Country code, alpha-3.'),
  check_digits: z.string().describe('Characters 3 and 4.'),
  bban: z.string().describe('The national account number behind the check digits.'),
  bank_code: z.string().nullable().describe('Bank identifier, or null when the registry names none.'),
  branch_code: z.string().nullable().describe('Branch identifier, or null.'),
  account: z.string().describe('Account number part.'),
  national_check: z
    .strictObject({
      digits: z.string().describe('Check digits found, such as 06.'),
      expected: z.string().nullable().describe('Check digits expected from the rest; null when none would match.'),
      valid: z.boolean().describe('Whether both agree.'),
    })
    .nullable()
    .describe('Check digits inside the BBAN; null when not checked.'),
  checksum_ok: z.boolean().describe('Whether the two check digits are valid, independent of other findings.'),
  sepa_scope: z.boolean().describe('Inside the scope of the SEPA schemes; a bank may still not take part.'),
  sepa_as_of: z.string().describe('Date of the SEPA list.'),
  iban_registry: z.boolean().describe('Whether the country is in the IBAN registry.'),
  registry_release: z.string().describe('Release of the IBAN registry.'),
  territories: z.array(z.string()).describe('Territories whose accounts carry this country code.'),
  sanctions: SANCTIONS,
  print_form: z.string().describe('In groups of four.'),
  parts: PARTS,
})

/** Checks an IBAN and returns findings and facts. */
export default defineTool({
  id: 'iban-check',
  title: 'Check an IBAN',
  description:
    'Checks an IBAN: country format of the registry, ISO 7064 check digits 02-98, and national check digits where they are known. ' +
    'Returns bank, branch, account, SEPA scope and the digits expected. Does not establish that the account exists or whose it is.',
  family: 'bank',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'country, length and characters by the IBAN registry',
      'check digits (ISO 7064 MOD 97-10)',
      'national check digits where known',
    ],
    not_checked: ['that the account or the bank exists', 'who owns the account', 'that a payment would arrive'],
  },
  batch_field: 'iban',
  sources: [],
  input: z.strictObject({
    iban: IDENTIFIER.describe('The IBAN; spaces, hyphens, dots and the word IBAN in front are allowed.'),
  }),
  output: checkOutput(FACTS).extend({
    country: z.string().nullable().describe('Country code, once the format could be read.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { iban: 'GB82 WEST 1234 5698 7654 32' },
  run({ iban }) {
    const check = checkIban(iban)
    return { ...check, country: check.facts?.country ?? null, data_as_of: { ...IBAN_DATA_AS_OF } }
  },
})
