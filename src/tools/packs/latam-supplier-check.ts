import { checkCnpj, type CnpjFacts } from '../../pure/checks/cnpj.ts'
import { checkIban, IBAN_DATA_AS_OF, type IbanFacts } from '../../pure/checks/iban.ts'
import { abroadFindings, accountFindings, countryAsHome, HOME_REGIONS, type CrossFinding, usableFacts } from '../../pure/checks/pack.ts'
import { checkRfc, type RfcFacts } from '../../pure/checks/rfc.ts'
import type { Check } from '../../pure/checks/verdict.ts'
import { definePack } from '../../service/catalogue/packs.ts'

/** Compares CNPJ, RFC and IBAN of one Latin American supplier. */
function latamFindings(cnpj: Check<CnpjFacts> | null, rfc: Check<RfcFacts> | null, iban: Check<IbanFacts> | null): CrossFinding[] {
  const [brazilian, mexican, account] = [usableFacts(cnpj), usableFacts(rfc), usableFacts(iban)]
  const findings: CrossFinding[] = []
  if (brazilian !== null && mexican !== null) {
    const message = 'A Brazilian and a Mexican tax number for one supplier: find out which of the two is paid.'
    findings.push({ code: 'two_tax_countries', fields: ['cnpj', 'rfc'], severity: 'warning', message })
  }
  if (mexican !== null && mexican.generic !== null) {
    const message = 'A generic RFC is used for the public or for parties abroad and names no supplier.'
    findings.push({ code: 'rfc_generic', fields: ['rfc'], severity: 'warning', message })
  }
  // A Brazilian IBAN begins with the ISPB of the bank, which is the root of the bank's own CNPJ.
  if (brazilian !== null && account?.country === 'BR' && account.bank_code === brazilian.root) {
    const message = 'The CNPJ is that of the bank of the account, so it may not be the supplier’s own.'
    findings.push({ code: 'cnpj_root_is_bank', fields: ['cnpj', 'iban'], severity: 'warning', message })
  }
  if (brazilian !== null && !brazilian.is_head_office) {
    const message = `The CNPJ is that of branch ${brazilian.branch}; the head office has the same root ${brazilian.root}.`
    findings.push({ code: 'cnpj_of_branch', fields: ['cnpj'], severity: 'info', message })
  }
  return findings
}

/** The country whose tax number was given; the region for none or both. Mexico has no IBANs. */
function homeFor(brazilian: boolean, mexican: boolean) {
  if (brazilian === mexican) return HOME_REGIONS.latin_america
  return brazilian ? countryAsHome('BR', true) : countryAsHome('MX', false)
}

/** CNPJ, RFC and IBAN of one supplier, each by itself and against one another. */
export default definePack({
  id: 'latam-supplier-check',
  title: 'Check a Latin American supplier',
  description:
    'Checks CNPJ (Brazil), RFC (Mexico) and IBAN of a supplier, whichever are given, in one call and one receipt, and holds ' +
    "them against one another: two tax countries, a CNPJ that is the bank's own, accounts abroad, sanctions by country. A " +
    'given name is screened if this service has an engine. No register is asked: a pass proves no supplier.',
  version: '1.3.0',
  party: 'supplier',
  checked: [
    'two tax countries, generic RFC, branches',
    'CNPJ root against the bank in the IBAN',
    'accounts abroad and sanctions by country',
  ],
  parts: {
    cnpj: { check: checkCnpj, input: 'Brazilian CNPJ, 14 characters.', tool: 'cnpj-check' },
    rfc: { check: (text: string) => checkRfc(text), input: 'Mexican RFC, 12 or 13 characters.', tool: 'rfc-check' },
    iban: { check: checkIban, input: 'IBAN; the account to be paid.', tool: 'iban-check', dates: IBAN_DATA_AS_OF },
  },
  example: { cnpj: '16.727.230/0001-97', iban: 'BR1500000000000010932840814P2' },
  cross: ({ cnpj, rfc, iban }) => [
    ...latamFindings(cnpj, rfc, iban),
    ...accountFindings(iban, null),
    ...abroadFindings(iban, null, homeFor(cnpj !== null, rfc !== null)),
  ],
})
