import { z } from 'zod'
import { checkJapanCorp } from '../../pure/checks/japan-corp.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  check_digit: z.string().describe('The first digit.'),
  base: z.string().describe('The twelve digits behind it.'),
  kind: z
    .enum(['public_body', 'unregistered_body', 'registered'])
    .describe('By range: public body, body outside the commercial register, or in it.'),
  registry_office_code: z.string().nullable().describe('Code of the registry office, or null.'),
  invoice_number: z.string().describe('The form on a qualified invoice, if registered for that.'),
  parts: PARTS,
})

/** Checks a Japanese corporate number. */
export default defineTool({
  id: 'japan-corp-check',
  title: 'Check a Japanese corporate number',
  description:
    'Checks a Japanese corporate number: a check digit 1-9 (modulus 9) in front of twelve digits; the T of an invoice ' +
    'number is taken off. Modulus 9 takes a 0 for a 9. Returns base number, kind and invoice form. Does not ask the tax ' +
    'agency whether the body exists.',
  family: 'company',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['13 digits', 'check digit (modulus 9)'],
    not_checked: ['that the number was issued', 'whose it is', 'registration for consumption tax'],
  },
  sources: [],
  input: z.strictObject({
    number: IDENTIFIER.describe('The number, 13 digits; spaces, hyphens and a T in front are allowed.'),
  }),
  output: checkOutput(FACTS),
  example: { number: '7000012050002' },
  run: ({ number }) => checkJapanCorp(number),
})
