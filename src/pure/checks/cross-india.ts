import type { GstinFacts } from './gstin.ts'
import { type CrossFinding, sound } from './pack.ts'
import type { PanFacts } from './pan.ts'
import type { UpiVpaFacts } from './upi-vpa.ts'
import type { Check } from './verdict.ts'

/** What GSTIN, PAN and UPI address of one Indian supplier say of one another. */
export function indiaFindings(
  gstin: Check<GstinFacts> | null,
  pan: Check<PanFacts> | null,
  vpa: Check<UpiVpaFacts> | null,
): CrossFinding[] {
  const registration = sound(gstin)
  const address = sound(vpa)
  return [
    ...(registration !== null && pan !== null && pan.valid ? panFindings(registration, pan.normalized) : []),
    ...(registration === null ? [] : registrationFindings(registration)),
    ...(address === null ? [] : addressFindings(address)),
  ]
}

function panFindings({ pan: inside, kind }: GstinFacts, pan: string): CrossFinding[] {
  const fields = ['gstin', 'pan']
  if (inside === null) {
    const message = `A GSTIN of this kind (${kind}) holds no PAN, so the two cannot be compared.`
    return [{ code: 'gstin_without_pan', fields, severity: 'warning', message }]
  }
  if (inside === pan) return [{ code: 'pan_in_gstin', fields, severity: 'info', message: 'The GSTIN holds this very PAN.' }]
  const message = `The GSTIN holds the PAN ${inside}, which is another one: they belong to different taxpayers.`
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
