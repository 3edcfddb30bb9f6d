import { z } from 'zod'
import { checkCompanyNumber, COMPANY_NUMBER_DATA_AS_OF } from '../../pure/checks/company-number.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  prefix: z.string().describe('The letters in front; empty for companies of England and Wales.'),
  number: z.string().describe('What follows the letters.'),
  register: z.string().nullable().describe('England and Wales, Scotland, Northern Ireland or United Kingdom; null for an unknown prefix.'),
  entity_family: z.string().nullable().describe('Kind of entity that has the prefix, such as company or limited_partnership.'),
  description: z.string().nullable().describe('The same in words.'),
  is_companies_act_company: z.boolean().nullable().describe('Registered under the Companies Acts, judging by the prefix.'),
  print_form: z.string().describe('The number in its eight characters.'),
  parts: PARTS,
})

/** Checks the form of a UK company number. */
export default defineTool({
  id: 'company-number-format',
  title: 'Check the form of a UK company number',
  description:
    'Checks the form of a Companies House number: 8 digits, 2 letters and 6 digits, and the rare shapes on the register; short ones get ' +
    'their zeros. Returns register and kind of entity. Without a checksum the form cannot prove a company.',
  family: 'company',
  version: '1.1.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length and characters', 'prefix against the list of registers'],
    not_checked: ['that the company exists or is active', 'typing errors: the number has no check digits', 'community interest status'],
  },
  batch_field: 'company_number',
  sources: [],
  input: z.strictObject({
    company_number: IDENTIFIER.describe('The company number, such as 00445790 or SC045551.'),
  }),
  register: {
    id: 'companies-house',
    number: ({ normalized }) => ({ country: '', number: String(normalized) }),
    settles: ['that the company exists or is active', 'typing errors: the number has no check digits'],
  },
  output: checkOutput(FACTS).extend({
    country: z.string().describe('Always GB.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { company_number: 'SC045551' },
  run({ company_number }) {
    return { ...checkCompanyNumber(company_number), country: 'GB', data_as_of: { ...COMPANY_NUMBER_DATA_AS_OF } }
  },
})
