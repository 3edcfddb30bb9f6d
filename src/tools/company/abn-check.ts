import { z } from 'zod'
import { checkAbn } from '../../pure/checks/abn.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  check_digits: z.string().describe('Digits 1 and 2.'),
  identifier: z.string().describe('Digits 3-11.'),
  acn_embedded: z.boolean().describe('The identifier also passes as a company number (ACN); one in ten does by chance.'),
  acn: z.string().nullable().describe('The identifier as an ACN, or null when it does not pass.'),
  print_form: z.string().describe('Grouped 2-3-3-3.'),
  parts: PARTS,
})

/** Checks an Australian Business Number by its own digits. */
export default defineTool({
  id: 'abn-check',
  title: 'Check an Australian Business Number',
  description:
    'Checks an ABN: 11 digits, modulus 89, and check digits 11-99 as the register calculates them. Returns the digits expected and whether ' +
    'an ACN may be inside. Does not ask the register whether the number was issued or is active.',
  family: 'company',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['11 digits', 'check digits (modulus 89, 11 to 99)', 'check digit of the company number that may be inside'],
    not_checked: ['that the number was issued or is active', 'whose it is', 'registration for GST'],
  },
  batch_field: 'abn',
  sources: [],
  input: z.strictObject({
    abn: IDENTIFIER.describe('The ABN, 11 digits; spaces, hyphens and the word ABN in front are allowed.'),
  }),
  output: checkOutput(FACTS),
  example: { abn: '51 824 753 556' },
  run: ({ abn }) => checkAbn(abn),
})
