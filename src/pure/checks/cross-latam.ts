import type { CnpjFacts } from './cnpj.ts'
import type { IbanFacts } from './iban-facts.ts'
import { type CrossFinding, sound } from './pack.ts'
import type { RfcFacts } from './rfc.ts'
import type { Check } from './verdict.ts'

/** What CNPJ, RFC and IBAN of one Latin American supplier say of one another. */
export function latamFindings(cnpj: Check<CnpjFacts> | null, rfc: Check<RfcFacts> | null, iban: Check<IbanFacts> | null): CrossFinding[] {
  const [brazilian, mexican, account] = [sound(cnpj), sound(rfc), sound(iban)]
  const findings: CrossFinding[] = []
  if (brazilian !== null && mexican !== null) {
    const message = 'A Brazilian and a Mexican tax number for one supplier: find out which of the two is paid.'
    findings.push({ code: 'two_tax_countries', fields: ['cnpj', 'rfc'], severity: 'warning', message })
  }
  if (mexican !== null && mexican.generic !== null) {
    const message = 'A generic RFC stands for anybody (the public, or parties abroad) and names no supplier.'
    findings.push({ code: 'rfc_generic', fields: ['rfc'], severity: 'warning', message })
  }
  // A Brazilian IBAN begins with the ISPB of the bank, which is the root of the bank's own CNPJ.
  if (brazilian !== null && account?.country === 'BR' && account.bank_code === brazilian.root) {
    const message = 'The CNPJ is that of the bank which keeps the account, so it may not be the supplier’s own.'
    findings.push({ code: 'cnpj_root_is_bank', fields: ['cnpj', 'iban'], severity: 'warning', message })
  }
  if (brazilian !== null && !brazilian.is_head_office) {
    const message = `The CNPJ is that of branch ${brazilian.branch}; the head office has the same root ${brazilian.root}.`
    findings.push({ code: 'cnpj_of_branch', fields: ['cnpj'], severity: 'info', message })
  }
  return findings
}
