import { z } from 'zod'
import { checkUpiVpa, UPI_DATA_AS_OF } from '../../pure/checks/upi-vpa.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, PARTS } from '../../service/catalogue/schemas.ts'
import { limits } from '../../service/limits.ts'

const FACTS = z.strictObject({
  local: z.string().describe('What stands before the @.'),
  local_kind: z.enum(['mobile_number', 'name']).describe('Ten digits are a mobile number.'),
  handle: z.string().describe('What stands behind the @.'),
  handle_status: z.enum(['known', 'legacy', 'unknown']).describe('legacy: of a merged or closed bank, or redirected.'),
  psp: z.string().nullable().describe('Bank behind the handle, or null when unknown.'),
  app: z.string().nullable().describe('App that gives out the handle, or null.'),
  sebi_category: z.string().nullable().describe('Kind of SEBI intermediary that a validated handle stands for, or null.'),
  parts: PARTS,
})

/** Whether a text is built like a UPI address, and what its handle says. */
export default defineTool({
  id: 'upi-vpa-check',
  title: 'Check a UPI address',
  description:
    'Checks a UPI payment address (name@handle): form, handle against a dated, partial list, and the rules for the ' +
    'validated handles of SEBI intermediaries. An unknown handle is a warning; a look-alike of a known one is named. An ' +
    'e-mail address is told apart. Nobody is asked whether the address exists.',
  family: 'bank',
  version: '1.0.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['form of name and handle', 'handle against a dated, partial list', 'look-alike handles', 'names at validated handles (SEBI)'],
    not_checked: ['that the address exists', 'whose it is', 'handles newer than the list'],
  },
  sources: [],
  input: z.strictObject({
    vpa: z.string().max(limits.identifier_chars).describe('The address, name@handle; capitals do not matter.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { vpa: 'name@okhdfcbank' },
  run({ vpa }) {
    return { ...checkUpiVpa(vpa), data_as_of: { ...UPI_DATA_AS_OF } }
  },
})
