import { z } from 'zod'
import { checkE164, E164_DATA_AS_OF } from '../../pure/checks/e164.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  country_calling_code: z.string().nullable().describe('Country code, or null when no numbering plan has it.'),
  region: z
    .string()
    .nullable()
    .describe('ISO 3166 alpha-2 code by the range of the number, or null for numbers that belong to no single country.'),
  region_name: z.string().nullable().describe('That country or territory, as ISO 3166-1 names it.'),
  nanp: z.boolean().describe('One of the countries that share +1.'),
  national_number: z.string().nullable().describe('The number behind the country code.'),
  type: z.string().nullable().describe('mobile, fixed_line, toll_free and the like, where the range shows it.'),
  possible: z.boolean().describe('The length fits the metadata of data_as_of.'),
  in_numbering_plan: z.boolean().describe('The range is in the metadata of data_as_of; a newer one may be missing.'),
  extension: z.string().nullable().describe('Extension behind the number; no part of E.164.'),
  e164: z.string().describe('Plus sign and digits as dialled from abroad; these facts are about this number.'),
  international_form: z.string().nullable().describe('As printed for callers from abroad.'),
  national_form: z.string().nullable().describe('As printed inside the country.'),
  rfc3966: z.string().describe('As a tel: link (RFC 3966).'),
  parts: PARTS,
})

/** Checks a telephone number in E.164 form and returns its numbering plan data. */
export default defineTool({
  id: 'e164-check',
  title: 'Check a phone number (E.164)',
  description:
    'Checks the form of E.164: a plus sign, 8 to 15 digits, no leading zero. Also reports whether the numbering plan knows the length ' +
    'and the range, the region (Guernsey is not GB), the type and the print forms. No call is made.',
  family: 'contact',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['structure (ITU-T E.164)', 'length and range by the numbering plan, as warnings'],
    not_checked: ['that the number is in use', 'whose it is, and which network carries it'],
  },
  batch_field: 'phone',
  sources: [],
  input: z.strictObject({
    phone: IDENTIFIER.describe('The number with + and country code; spaces, dots, hyphens, parentheses and an extension are allowed.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { phone: '+44 20 7183 8750' },
  run({ phone }) {
    return { ...checkE164(phone), data_as_of: { ...E164_DATA_AS_OF } }
  },
})
