import { z } from 'zod'
import { checkGstin, GSTIN_DATA_AS_OF } from '../../pure/checks/gstin.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  kind: z
    .enum(['regular', 'tcs_collector', 'tds_deductor', 'government', 'uin', 'non_resident', 'oidar'])
    .describe('Kind of registration by shape; regular includes composite and casual.'),
  state_code: z.string().describe('Characters 1-2.'),
  state_name: z.string().describe('State or territory.'),
  state_status: z.string().describe('current, or legacy when new numbers no longer carry the code.'),
  pan: z.string().nullable().describe('PAN inside, or null for kinds without one.'),
  pan_holder_type: z.string().nullable().describe('Kind of holder, from the fourth letter of the PAN.'),
  tan: z.string().nullable().describe('TAN in place of the PAN, or null.'),
  entity_number: z.string().nullable().describe('Which registration of this PAN in this state.'),
  parts: PARTS,
})

/** Checks a GSTIN by state, PAN and check character. */
export default defineTool({
  id: 'gstin-check',
  title: 'Check a GSTIN',
  description:
    'Checks an Indian GSTIN: state code (01-38, 97, 99), PAN, registration number, kind and check character (Luhn in base ' +
    '36). Reads the shapes for UIN, OIDAR, non-residents, TDS and TCS too. Returns state, PAN and kind of holder. Does not ' +
    'ask the portal whether the registration is active.',
  family: 'tax',
  version: '1.1.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['state code', 'PAN inside', 'shape of each kind of registration', 'check character (Luhn, base 36)'],
    not_checked: ['that the registration exists or is active', 'whose it is'],
  },
  batch_field: 'gstin',
  sources: [],
  input: z.strictObject({
    gstin: IDENTIFIER.describe('The GSTIN, 15 characters; spaces and hyphens are allowed.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { gstin: '27AAPFU0939F1ZV' },
  run({ gstin }) {
    return { ...checkGstin(gstin), data_as_of: { ...GSTIN_DATA_AS_OF } }
  },
})
