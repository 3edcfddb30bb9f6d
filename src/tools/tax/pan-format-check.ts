import { z } from 'zod'
import { checkPan } from '../../pure/checks/pan.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  holder_code: z.string().describe('The fourth letter.'),
  holder_type: z.string().describe('Kind of holder, such as Company.'),
  name_initial: z.string().describe('The fifth letter: initial of the surname, or of the name.'),
  masked: z.string().describe('For display: the first two and last two characters.'),
  parts: PARTS,
})

/** Checks the structure of a PAN and names the kind of holder. */
export default defineTool({
  id: 'pan-format-check',
  title: 'Check the form of a PAN',
  description:
    'Checks an Indian PAN: five letters, four digits, a letter; the fourth letter shows individual, company, firm, trust, ' +
    'HUF and so on. The calculation of the last letter is not public, so a wrong PAN can pass. Returns kind of holder and a ' +
    'masked form. Does not ask the tax department.',
  family: 'tax',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length and structure', 'fourth letter: kind of holder', 'number other than 0000'],
    not_checked: ['the last letter, whose rule is not public', 'that the PAN was issued, and to whom'],
  },
  sources: [],
  input: z.strictObject({
    pan: IDENTIFIER.describe('The PAN, 10 characters; spaces and hyphens are allowed.'),
  }),
  output: checkOutput(FACTS),
  example: { pan: 'AAPPV8261K' },
  run: ({ pan }) => checkPan(pan),
})
