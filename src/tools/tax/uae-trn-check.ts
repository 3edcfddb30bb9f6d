import { z } from 'zod'
import { checkUaeTrn } from '../../pure/checks/uae-trn.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  tin: z.string().describe('The first ten digits: taxpayer identification number.'),
  suffix: z.string().describe('The last five digits.'),
  peppol_participant_id: z.string().describe('Scheme 0235 and the TIN.'),
  parts: PARTS,
})

/** Checks the form of a TRN. */
export default defineTool({
  id: 'uae-trn-check',
  title: 'Check the form of a UAE TRN',
  description:
    'Checks the form of a tax registration number of the United Arab Emirates: 15 digits that begin with 100. Series 101 to ' +
    '109 (104 and 105 are in use) are well_formed_unverifiable, valid: false. No check digit has been published, so a mistyped ' +
    'digit goes unnoticed. Returns the TIN (first ten digits) and the Peppol id. Does not ask the Federal Tax Authority.',
  family: 'tax',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['15 digits', 'series 100, and the newer series 101 to 109 apart from it'],
    not_checked: ['any check digit: none is published', 'that the number was issued, and to whom'],
  },
  sources: [],
  input: z.strictObject({
    trn: IDENTIFIER.describe('The TRN, 15 digits; spaces, hyphens and the word TRN in front are allowed.'),
  }),
  output: checkOutput(FACTS),
  example: { trn: '100123456700003' },
  run: ({ trn }) => checkUaeTrn(trn),
})
