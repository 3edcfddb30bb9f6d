import { checkGstin, GSTIN_DATA_AS_OF, type GstinFacts } from '../../pure/checks/gstin.ts'
import { checkIfsc, IFSC_DATA_AS_OF } from '../../pure/checks/ifsc.ts'
import { type CrossFinding, usableFacts } from '../../pure/checks/pack.ts'
import { checkPan, type PanFacts } from '../../pure/checks/pan.ts'
import { checkUpiVpa, UPI_DATA_AS_OF, type UpiVpaFacts } from '../../pure/checks/upi-vpa.ts'
import type { Check } from '../../pure/checks/verdict.ts'
import { definePack } from '../../service/catalogue/packs.ts'

/** Compares GSTIN, PAN and UPI address of one Indian supplier. */
function indiaFindings(gstin: Check<GstinFacts> | null, pan: Check<PanFacts> | null, vpa: Check<UpiVpaFacts> | null): CrossFinding[] {
  const registration = usableFacts(gstin)
  const address = usableFacts(vpa)
  return [
    ...(registration !== null && pan !== null && pan.valid ? panFindings(registration, pan.normalized) : []),
    ...(registration === null ? [] : registrationFindings(registration)),
    ...(address === null ? [] : addressFindings(address)),
  ]
}

function panFindings({ pan: inside, kind }: GstinFacts, pan: string): CrossFinding[] {
  const fields = ['gstin', 'pan']
  if (inside === null) {
    const message = `A GSTIN of this kind (${kind}) contains no PAN, so the two cannot be compared.`
    return [{ code: 'gstin_without_pan', fields, severity: 'warning', message }]
  }
  if (inside === pan) return [{ code: 'pan_in_gstin', fields, severity: 'info', message: 'The GSTIN contains this PAN.' }]
  const message = `The GSTIN contains another PAN, ${inside}: they belong to different taxpayers.`
  return [{ code: 'pan_not_in_gstin', fields, severity: 'fatal', message }]
}

function registrationFindings({ kind, state_code, state_name }: GstinFacts): CrossFinding[] {
  const fields = ['gstin']
  if (kind === 'oidar' || kind === 'non_resident') {
    const message = 'The registration is that of a supplier abroad; an Indian account or UPI address would be unusual.'
    return [{ code: 'gstin_of_foreign_supplier', fields, severity: 'warning', message }]
  }
  if (kind === 'uin') {
    const message = 'A UIN is given to embassies and bodies of the United Nations for refunds; they do not sell under it.'
    return [{ code: 'gstin_of_no_supplier', fields, severity: 'warning', message }]
  }
  return [{ code: 'gstin_state', fields, severity: 'info', message: `Registered in ${state_name} (${state_code}).` }]
}

function addressFindings({ handle, handle_status, sebi_category }: UpiVpaFacts): CrossFinding[] {
  const fields = ['vpa']
  if (handle_status === 'unknown') {
    const message = `The partial registry of handles lacks @${handle}: confirm it before you pay.`
    return [{ code: 'upi_handle_unknown', fields, severity: 'warning', message }]
  }
  if (sebi_category === null) return []
  const message = `A validated handle, given only to intermediaries of SEBI: ${sebi_category}.`
  return [{ code: 'upi_handle_validated', fields, severity: 'info', message }]
}

/** GSTIN, PAN, UPI address and IFSC of one supplier, each by itself and against one another. */
export default definePack({
  id: 'india-supplier-check',
  title: 'Check an Indian supplier',
  description:
    'Checks GSTIN, PAN, UPI address and IFSC of an Indian supplier, whichever are given, in one call and one receipt, and ' +
    'holds them against one another: the PAN inside the GSTIN, kind and state of the registration, unknown UPI handles. A ' +
    'given name is screened if this service has an engine. No register is asked: a pass proves no supplier.',
  version: '1.3.0',
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
