import { z } from 'zod'
import { BIC_DATA_AS_OF, checkBic } from '../../pure/checks/bic.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS, SANCTIONS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  party_prefix: z.string().describe('Characters 1-4.'),
  country: z.string().describe('Country code, ISO 3166 alpha-2 or XK.'),
  country_name: z.string().describe('Country, as ISO 3166-1 names it.'),
  country_alpha3: z.string().describe('Country code, alpha-3.'),
  party_suffix: z.string().describe('Characters 7 and 8.'),
  branch: z.string().nullable().describe('Characters 9-11, or null in a code of eight.'),
  bic8: z.string().describe('The code without a branch.'),
  bic11: z.string().describe('The code with its branch, XXX for the head office.'),
  head_office: z.boolean().describe('No branch, or XXX.'),
  test: z.boolean().describe('Character 8 is 0: by custom a code for tests and training.'),
  connection_hint: z
    .enum(['test_and_training', 'passive_participant', 'reverse_billing'])
    .nullable()
    .describe('Connection that character 8 indicated by custom; ISO 9362 no longer defines it.'),
  numeric_prefix: z.boolean().describe('Characters 1-4 hold digits, as ISO 9362:2022 allows.'),
  sanctions: SANCTIONS,
  parts: PARTS,
})

/** Checks the form of a Business Identifier Code. */
export default defineTool({
  id: 'swift-bic-check',
  title: 'Check a BIC (SWIFT code)',
  description:
    'Checks a BIC or SWIFT code against ISO 9362:2022: 8 or 11 characters, digits in the prefix allowed, a real country. Returns ' +
    'prefix, country, branch, both lengths and test codes. A BIC has no checksum; the directory is not asked.',
  family: 'bank',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length and characters (ISO 9362:2022)', 'country (ISO 3166-1, and XK)'],
    not_checked: ['that the code is registered or connected', 'typing errors: a BIC has no check digits'],
  },
  batch_field: 'bic',
  sources: [],
  input: z.strictObject({
    bic: IDENTIFIER.describe('The BIC, 8 or 11 characters; spaces and hyphens are allowed.'),
  }),
  output: checkOutput(FACTS).extend({
    country: z.string().nullable().describe('Country code, once the structure could be read.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { bic: 'DEUTDEFF500' },
  run({ bic }) {
    const check = checkBic(bic)
    return { ...check, country: check.facts?.country ?? null, data_as_of: { ...BIC_DATA_AS_OF } }
  },
})
