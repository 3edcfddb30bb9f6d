import { z } from 'zod'
import { checkKraPin } from '../../pure/checks/kra-pin.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  taxpayer_type: z.enum(['individual', 'non_individual']).describe('individual for A, non_individual for P.'),
  serial: z.string().describe('The nine digits.'),
  check_letter: z.string().describe('The last letter.'),
  check_letter_verifiable: z.boolean().describe('False: its rule is not public.'),
  parts: PARTS,
})

/** Checks the form of a KRA PIN. */
export default defineTool({
  id: 'kra-pin-check',
  title: 'Check the form of a KRA PIN',
  description:
    'Checks the form of a Kenyan tax PIN: A for individuals or P for others, nine digits, a letter. No algorithm for the ' +
    'check letter has been published, so it is not verified and a wrong PIN can pass. Does not ask the Kenya Revenue ' +
    'Authority.',
  family: 'tax',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['A or P, nine digits, a letter'],
    not_checked: ['the check letter: no algorithm is public', 'that the PIN was issued, and to whom'],
  },
  sources: [],
  input: z.strictObject({
    pin: IDENTIFIER.describe('The PIN, 11 characters; spaces and hyphens are allowed.'),
  }),
  output: checkOutput(FACTS),
  example: { pin: 'P051365947M' },
  run: ({ pin }) => checkKraPin(pin),
})
