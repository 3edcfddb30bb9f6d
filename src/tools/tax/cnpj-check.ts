import { z } from 'zod'
import { checkCnpj } from '../../pure/checks/cnpj.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  root: z.string().describe('Characters 1-8: the enterprise.'),
  branch: z.string().describe('Characters 9-12: the establishment.'),
  is_head_office: z.boolean().describe('The establishment is 0001.'),
  check_digits: z.string().describe('Characters 13 and 14.'),
  alphanumeric: z.boolean().describe('Whether it has letters.'),
  print_form: z.string().describe('With dots, slash and hyphen.'),
  parts: PARTS,
})

/** Checks a CNPJ by its check digits. */
export default defineTool({
  id: 'cnpj-check',
  title: 'Check a CNPJ',
  description:
    'Checks a Brazilian CNPJ, digits or with letters as issued since July 2026: two check digits modulo 11. Returns root, ' +
    'establishment, head office flag, print form and the digits expected. Does not ask the Receita Federal whether the ' +
    'company exists or is active.',
  family: 'tax',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length and characters, letters included (IN RFB 2229/2024)', 'both check digits (modulo 11)'],
    not_checked: ['that the number was ever issued', 'whose it is, and whether it is active'],
  },
  sources: [],
  input: z.strictObject({
    cnpj: IDENTIFIER.describe('The CNPJ, 14 characters; spaces, dots, slash and hyphen are allowed.'),
  }),
  output: checkOutput(FACTS),
  example: { cnpj: '16.727.230/0001-97' },
  run: ({ cnpj }) => checkCnpj(cnpj),
})
