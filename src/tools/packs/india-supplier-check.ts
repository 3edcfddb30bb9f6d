import { checkGstin, GSTIN_DATA_AS_OF } from '../../pure/checks/gstin.ts'
import { checkIfsc, IFSC_DATA_AS_OF } from '../../pure/checks/ifsc.ts'
import { indiaFindings } from '../../pure/checks/pack.ts'
import { checkPan } from '../../pure/checks/pan.ts'
import { checkUpiVpa, UPI_DATA_AS_OF } from '../../pure/checks/upi-vpa.ts'
import { definePack } from '../../service/catalogue/packs.ts'

/** GSTIN, PAN, UPI address and IFSC of one supplier, each by itself and against one another. */
export default definePack({
  id: 'india-supplier-check',
  title: 'Check an Indian supplier',
  description:
    'Checks GSTIN, PAN, UPI address and IFSC of an Indian supplier, whichever are given, in one call and one receipt, and ' +
    'holds them against one another: the PAN inside the GSTIN, kind and state of the registration, unknown UPI handles. A ' +
    'given name is screened against sanctions lists. No register is asked: a pass proves no supplier.',
  version: '1.2.0',
  party: 'supplier',
  checked: ['PAN inside the GSTIN', 'kind and state of the registration', 'handle of the UPI address'],
  parts: {
    gstin: { check: checkGstin, input: 'GSTIN, 15 characters.', tool: 'gstin-check', dates: GSTIN_DATA_AS_OF },
    pan: { check: checkPan, input: 'PAN, 10 characters.', tool: 'pan-format-check' },
    vpa: { check: checkUpiVpa, input: 'UPI payment address, name@handle.', tool: 'upi-vpa-check', dates: UPI_DATA_AS_OF },
    ifsc: { check: checkIfsc, input: 'IFSC of the branch, 11 characters.', tool: 'ifsc-check', dates: IFSC_DATA_AS_OF },
  },
  example: { gstin: '29AAGCB7383J1Z4', pan: 'AAGCB7383J', vpa: 'name@okhdfcbank', ifsc: 'HDFC0000001' },
  cross: ({ gstin, pan, vpa }) => indiaFindings(gstin, pan, vpa),
})
