import { z } from 'zod'
import { checkEin, EIN_DATA_AS_OF } from '../../pure/checks/ein.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  prefix: z.string().describe('Digits 1 and 2.'),
  campuses: z.array(z.string()).describe('Who may assign numbers with this prefix; before 2001 it showed the region.'),
  prefixes_as_of: z.string().describe('Date of the list of prefixes.'),
  serial: z.string().describe('Digits 3-9.'),
  print_form: z.string().describe('NN-NNNNNNN.'),
  parts: PARTS,
})

/** Checks the form of a US Employer Identification Number; which has no check digit. */
export default defineTool({
  id: 'ein-format-check',
  title: 'Check the form of an EIN',
  description:
    'Checks the form of a US Employer Identification Number: 9 digits and a prefix that the IRS assigns. Dashes and spaces are allowed ' +
    'anywhere; unusual places are a warning. An EIN has no check digit: a good form is well_formed_unverifiable.',
  family: 'tax',
  version: '1.1.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['9 digits', 'prefix by the list of the IRS', 'grouping of the digits'],
    not_checked: ['typing mistakes: there is no check digit', 'that the number was issued, and to whom'],
  },
  batch_field: 'ein',
  sources: [],
  input: z.strictObject({
    ein: IDENTIFIER.describe('The EIN, 9 digits; dashes, spaces and the word EIN in front are allowed.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { ein: '91-1144442' },
  run: ({ ein }) => ({ ...checkEin(ein), data_as_of: { ...EIN_DATA_AS_OF } }),
})
