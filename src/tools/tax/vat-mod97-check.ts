import { z } from 'zod'
import { checkVat, VAT_DATA_AS_OF } from '../../pure/checks/vat.ts'
import { isObject } from '../../pure/is-object.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  country: z.string().nullable().describe('ISO 3166 code: GR for EL, GB for XI.'),
  country_name: z.string().nullable().describe('The country in English.'),
  prefix: z.string().nullable().describe('Prefix of the number, EL for Greece.'),
  eu_member: z.boolean().describe('Whether the country is a member of the EU.'),
  tax_name: z.string().nullable().describe('Name of the tax in the country.'),
  number_name: z.string().nullable().describe('Name of the number in the country.'),
  entity_hint: z.string().nullable().describe('Kind of holder that the characters point to; a hint, not a legal form.'),
  scheme: z.string().nullable().describe('The calculation that was valid; null when none was or none is public.'),
  enterprise_number: z.string().nullable().describe('Belgian enterprise number (KBO/BCE).'),
  siren: z.string().nullable().describe('French SIREN.'),
  vies: z
    .strictObject({
      country_code: z.string().describe('Country code as VIES takes it.'),
      number: z.string().describe('Number as VIES takes it.'),
    })
    .nullable()
    .describe('What to ask the VIES service; null outside VIES or when the number does not pass.'),
  print_form: z.string().nullable().describe('As the country prints it.'),
  also_passes: z.array(z.string()).describe('Prefixes under which a number without prefix would pass.'),
  parts: PARTS,
})

/** Checks a VAT number by the format and check digits of its country. */
export default defineTool({
  id: 'vat-mod97-check',
  title: 'Check a VAT number',
  description:
    'Checks a VAT number by format and national check digits: Belgium (modulus 97, prefix optional), every EU member, and XI, GB, CH, NO. ' +
    'A number without prefix is read as Belgian; other countries it would pass for are named. Does not ask VIES.',
  family: 'tax',
  version: '1.1.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['format (VIES list)', 'check digits, each country by its own rule'],
    not_checked: ['that the number is registered (ask VIES)', 'whose it is'],
  },
  batch_field: 'vat_number',
  sources: [],
  input: z.strictObject({
    vat_number: IDENTIFIER.describe('The VAT number, such as BE 0428.759.497; the prefix BE is optional.'),
  }),
  register: {
    id: 'vies',
    // Null for countries outside VIES and for personal codes.
    number: ({ facts }) => {
      const vies = isObject(facts) ? facts['vies'] : null
      return isObject(vies) ? { country: String(vies['country_code']), number: String(vies['number']) } : null
    },
    settles: ['that the number is registered (ask VIES)', 'whose it is'],
  },
  output: checkOutput(FACTS).extend({
    country: z.string().nullable().describe('ISO 3166 code of the country that the number was checked for.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { vat_number: 'BE 0428.759.497' },
  run({ vat_number }) {
    const check = checkVat(vat_number)
    return { ...check, country: check.facts?.country ?? null, data_as_of: { ...VAT_DATA_AS_OF } }
  },
})
