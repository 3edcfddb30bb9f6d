import { z } from 'zod'
import { checkUpiVpa, UPI_DATA_AS_OF } from '../../pure/checks/upi-vpa.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  local: z.string().describe('Part before the @.'),
  local_kind: z.enum(['mobile_number', 'name']).describe('Ten digits are a mobile number.'),
  handle: z.string().describe('Part after the @.'),
  handle_status: z
    .enum(['known', 'legacy', 'withdrawn', 'unknown'])
    .describe('legacy: redirected, or of a merged bank. unknown: not in the registry.'),
  psp: z.string().nullable().describe('Bank behind the handle, or null when unknown.'),
  app: z.string().nullable().describe('App that gives out the handle, or null.'),
  handle_source: z.string().nullable().describe('List that names the handle, with its date, or null.'),
  sebi_category: z.string().nullable().describe('Kind of SEBI intermediary of a validated handle, or null.'),
  parts: PARTS,
})

/** Checks the form of a UPI address and looks its handle up in the registry. */
export default defineTool({
  id: 'upi-vpa-check',
  title: 'Check a UPI address',
  description:
    'Checks a UPI payment address (name@handle): form, handle in a dated, partial registry, and the rules for the validated ' +
    'handles of SEBI intermediaries. A listed handle is valid, with a warning when it is redirected or of a merged bank; one ' +
    'that is not listed is valid: false, well_formed_unverifiable, and a look-alike is named. Does not ask whether the address exists.',
  family: 'bank',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['form of name and handle', 'handle in a dated, partial registry', 'look-alike handles', 'names at validated handles (SEBI)'],
    not_checked: ['that the address exists', 'whose it is', 'handles newer than the registry'],
  },
  sources: [],
  input: z.strictObject({
    vpa: IDENTIFIER.describe('The address, name@handle; capitals do not matter.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { vpa: 'name@okhdfcbank' },
  run({ vpa }) {
    return { ...checkUpiVpa(vpa), data_as_of: { ...UPI_DATA_AS_OF } }
  },
})
