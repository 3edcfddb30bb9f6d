import { z } from 'zod'
import { checkIfsc, IFSC_DATA_AS_OF } from '../../pure/checks/ifsc.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  bank_code: z.string().describe('Characters 1-4.'),
  bank_name: z.string().nullable().describe('Bank, or null when the list lacks the code.'),
  branch_code: z.string().describe('Characters 6-11; leading zeros belong to it.'),
  parts: PARTS,
})

/** Checks the structure of an IFSC and names its bank. */
export default defineTool({
  id: 'ifsc-check',
  title: 'Check an IFSC',
  description:
    'Checks an Indian Financial System Code: four letters, a zero, six letters or digits, and names the bank from a dated ' +
    'list. There is no checksum, so a wrong code can pass; branches are not looked up. The letter O typed for the zero is ' +
    'found and corrected in the suggestion.',
  family: 'bank',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length and structure (Reserve Bank of India)', 'bank code against a dated list'],
    not_checked: ['that the branch exists', 'that an account there exists'],
  },
  batch_field: 'ifsc',
  sources: [],
  input: z.strictObject({
    ifsc: IDENTIFIER.describe('The code, 11 characters; spaces and hyphens are allowed.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { ifsc: 'HDFC0000001' },
  run({ ifsc }) {
    return { ...checkIfsc(ifsc), data_as_of: { ...IFSC_DATA_AS_OF } }
  },
})
