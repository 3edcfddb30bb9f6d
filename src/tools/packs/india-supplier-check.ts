import { indiaFindings, checkIfGiven, PACK_HEADLINES, packAnswer } from '../../pure/checks/pack.ts'
import { checkGstin, GSTIN_DATA_AS_OF } from '../../pure/checks/gstin.ts'
import { checkIfsc, IFSC_DATA_AS_OF } from '../../pure/checks/ifsc.ts'
import { checkPan } from '../../pure/checks/pan.ts'
import { checkUpiVpa, UPI_DATA_AS_OF } from '../../pure/checks/upi-vpa.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { PACK_CHECK, PACK_VALUE, packInput, packOutput } from '../../service/catalogue/schemas.ts'

/** GSTIN, PAN, UPI address and IFSC of one supplier, each by itself and against one another. */
export default defineTool({
  id: 'india-supplier-check',
  title: 'Check an Indian supplier',
  description:
    'Checks GSTIN, PAN, UPI address and IFSC of an Indian supplier, whichever are given, in one call and one receipt, and ' +
    'holds them against one another: the PAN inside the GSTIN, kind and state of the registration, unknown UPI handles. No ' +
    'register is asked: a pass proves no supplier.',
  family: 'packs',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['each value by its own check', 'PAN inside the GSTIN', 'kind and state of the registration', 'handle of the UPI address'],
    not_checked: ['that any of the values was issued', 'whose they are', 'that a payment would arrive'],
  },
  headline: PACK_HEADLINES,
  sources: [],
  input: packInput({
    gstin: PACK_VALUE.describe('GSTIN, 15 characters.'),
    pan: PACK_VALUE.describe('PAN, 10 characters.'),
    vpa: PACK_VALUE.describe('UPI payment address, name@handle.'),
    ifsc: PACK_VALUE.describe('IFSC of the branch, 11 characters.'),
  }),
  output: packOutput({
    gstin: PACK_CHECK.describe('As gstin-check answers, or null.'),
    pan: PACK_CHECK.describe('As pan-format-check answers, or null.'),
    vpa: PACK_CHECK.describe('As upi-vpa-check answers, or null.'),
    ifsc: PACK_CHECK.describe('As ifsc-check answers, or null.'),
  }),
  example: { gstin: '29AAGCB7383J1Z4', pan: 'AAGCB7383J', vpa: 'name@okhdfcbank', ifsc: 'HDFC0000001' },
  run(input) {
    const checks = {
      gstin: checkIfGiven(input.gstin, checkGstin),
      pan: checkIfGiven(input.pan, checkPan),
      vpa: checkIfGiven(input.vpa, checkUpiVpa),
      ifsc: checkIfGiven(input.ifsc, checkIfsc),
    }
    const cross_checks = indiaFindings(checks.gstin, checks.pan, checks.vpa)
    return {
      ...packAnswer(checks, cross_checks),
      data_as_of: { ...(checks.gstin && GSTIN_DATA_AS_OF), ...(checks.vpa && UPI_DATA_AS_OF), ...(checks.ifsc && IFSC_DATA_AS_OF) },
    }
  },
})
