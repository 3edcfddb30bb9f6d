import { z } from 'zod'
import { checkSedol } from '../../pure/checks/sedol.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  form: z.enum(['numeric', 'alphanumeric', 'user_defined']).describe('Issued before 26 January 2004, since, or set by its user.'),
  region_hint: z.string().nullable().describe('Where old codes with this first digit were usually given out.'),
  check_digit: z.string().describe('Character 7.'),
  gb_isin: z.string().nullable().describe('Its ISIN, should it be numbered in the United Kingdom; null when user-defined or wrong.'),
  parts: PARTS,
})

/** Checks a SEDOL by its own characters. */
export default defineTool({
  id: 'sedol-check',
  title: 'Check a SEDOL',
  description:
    'Checks a SEDOL: 7 characters without vowels and the check digit (weights 1, 3, 1, 7, 3, 9, modulus 10). Returns old or new form, the ' +
    'digit expected and the British ISIN it would have. Does not establish that the code was issued.',
  family: 'securities',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length, characters and their places', 'check digit (weights 1, 3, 1, 7, 3, 9, modulus 10)'],
    not_checked: ['that the code was issued', 'which security it names', 'letters ten places apart, which the method confuses'],
  },
  batch_field: 'sedol',
  sources: [],
  input: z.strictObject({
    sedol: IDENTIFIER.describe('The SEDOL, 7 characters; spaces, hyphens and the word SEDOL are allowed.'),
  }),
  output: checkOutput(FACTS),
  example: { sedol: 'B0YBKJ7' },
  run: ({ sedol }) => checkSedol(sedol),
})
