import { z } from 'zod'
import { COMPANY_NUMBER_DATA_AS_OF } from '../../pure/checks/company-number.ts'
import { JURISDICTIONS_AS_OF } from '../../pure/checks/countries.ts'
import { DOMAIN_DATA_AS_OF, DOMAINS_MAX, readVendorDomains, type VendorDomain } from '../../pure/checks/domains.ts'
import { IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { LEI_DATA_AS_OF } from '../../pure/checks/lei.ts'
import { PLACES_AS_OF } from '../../pure/checks/prohibited-places.ts'
import { TERRITORIES_AS_OF } from '../../pure/checks/same-country.ts'
import { VAT_DATA_AS_OF } from '../../pure/checks/vat.ts'
import { decideDisbursement, domainAge } from '../../pure/rulebooks/counterparty.ts'
import type { RegistrationData } from '../../ports/registers.ts'
import { defineTool, SourceDown } from '../../service/catalogue/define.ts'
import {
  BIRTH_DATE,
  nameConcern,
  PACK_VALUE,
  packInput,
  PAYEE_NAME,
  RISK_FLAGS,
  screenParty,
  withNameRemark,
} from '../../service/catalogue/packs.ts'
import { DATA_AS_OF, NAMES_ANSWER, RULE_BOOK, COUNTRY_CODE } from '../../service/catalogue/schemas.ts'

const CHECK = z.record(z.string(), z.unknown()).nullable()
const ADDRESS_CHARS = 1_000
/** Longest public name of a mailbox: 64 characters, an at sign and a domain of 253. */
const DOMAIN_CHARS = 320

const DOMAIN = z.strictObject({
  host: z.string().nullable().describe('The domain in ASCII form, or null when none could be read.'),
  registrable: z.string().nullable().describe('What was asked about: one label below a public suffix.'),
  mailbox: z.boolean().describe('An e-mail address was given.'),
  status: z.enum(['pass', 'flagged', 'unknown']).describe('unknown is never a pass.'),
  age_days: z.int().min(0).max(1_000_000).nullable().describe('Whole days since registration.'),
  registered_at: z.string().nullable().describe('Date of registration, as the registry says.'),
  unknown_reason: z.string().nullable().describe('Why the age is not known.'),
  source: z.enum(['rdap', 'fixed_sample']).describe('fixed_sample in a sandbox: it says nothing about the world.'),
})

/** Lists reasons not to pay this party, before the money is sent. */
export default defineTool({
  id: 'pre-disbursement-guard',
  title: 'Check a payee before paying',
  description:
    'Screens a payee before money leaves: IBAN, LEI, VAT and UK company number, age of the vendor’s domain (RDAP, under 30 days is a ' +
    'scam signal), disposable mail domains, mismatches of countries, and the payee’s name if this service has a screening engine. A published rule book gives CLEAR, REVIEW or BLOCK.',
  family: 'packs',
  version: '1.4.0',
  price: 'check',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: [
      'identifiers by their own rules, where each warning is at least REVIEW; countries against one another',
      'age of the domain as its registry says (in a sandbox: fixed samples, marked in source)',
      'mail domains against lists',
      'the name of the payee, if names.engine is not null, on the lists in names.lists; a possible match is at least REVIEW',
    ],
    not_checked: [
      'who owns the account or the domain',
      'that a possible match is the payee, and the name where names.status is not_screened',
      'company numbers of other countries than the UK',
      'VAT numbers of declared countries outside the EU, the UK, Switzerland and Norway',
    ],
  },
  headline: [
    { when: { decision: 'BLOCK' }, tone: 'bad', word: 'BLOCK', sentence: '{summary}' },
    { when: { decision: 'REVIEW' }, tone: 'caution', word: 'REVIEW', sentence: '{summary}' },
    { when: { decision: 'CLEAR' }, tone: 'good', word: 'CLEAR', sentence: '{summary}' },
  ],
  sources: ['clock', 'registrations', 'names'],
  reads_outside: ({ vendor_domain, payee_name }, screens_names) =>
    (screens_names && payee_name !== undefined) || (typeof vendor_domain === 'string' && readVendorDomains(vendor_domain).some(isAsked)),
  input: packInput(
    {
      recipient_iban: PACK_VALUE.describe('The account to be paid.'),
      payee_name: PAYEE_NAME,
      vendor_domain: z
        .string()
        .max(DOMAIN_CHARS)
        .optional()
        .describe('Domain of the vendor, or the e-mail address that invoices; up to four, separated by commas.'),
      declared_country: COUNTRY_CODE.optional().describe('Country that the payee claims; ISO 3166-1 alpha-2.'),
      company_number: PACK_VALUE.describe('UK company number; judged when the declared country is GB or absent.'),
      lei: PACK_VALUE.describe('LEI; Legal Entity Identifier.'),
      vat_number: PACK_VALUE.describe('VAT number; judged for the EU, XI, GB, CH and NO, or when no country is declared.'),
      physical_address: z.string().max(ADDRESS_CHARS).optional().describe('Postal address, the country last.'),
      invoice_amount_usd: z
        .union([
          z.number().min(0).max(1e15),
          z
            .string()
            .max(40)
            .regex(/^[0-9]{1,15}(\.[0-9]{1,18})?$/),
        ])
        .optional()
        .describe('Amount in US dollars, as number or decimal text.'),
    },
    { birth_date: BIRTH_DATE },
  ),
  output: z.strictObject({
    decision: z
      .enum(['CLEAR', 'REVIEW', 'BLOCK'])
      .describe(
        'Below 20, below 50, from 50. CLEAR only with a valid account, LEI, VAT or company number, no given value that is invalid, unread or has a ' +
          'warning, and no possible match of the name; else at least REVIEW. The summary says if the name was not screened.',
      ),
    clear_to_disburse: z.boolean().describe('Whether the decision is CLEAR. It does not prove anything.'),
    risk_score: z.int().min(0).max(100).describe('Sum of the points, at most 100.'),
    risk_level: z.enum(['low', 'elevated', 'high', 'critical']).describe('0-19, 20-44, 45-69, 70-100.'),
    summary: z.string().describe('One sentence.'),
    flags_triggered: RISK_FLAGS,
    recommendations: z.array(z.string()).describe('What to do next.'),
    inspected_counterparty: z
      .strictObject({
        declared_country: z.string().nullable().describe('As it was read, or null.'),
        iban_country: z.string().nullable().describe('Read off the IBAN, or null.'),
        address_country: z.string().nullable().describe('Named in the address, by name, code or postal code; or null.'),
        domain: DOMAIN.nullable().describe('The domain and its age, or null when none was given.'),
        other_domains: z.array(DOMAIN).max(DOMAINS_MAX).describe('Further domains of vendor_domain, each judged as the first.'),
      })
      .describe('What was read off the input.'),
    checks: z
      .strictObject({
        recipient_iban: CHECK.describe('As iban-check answers, or null.'),
        lei: CHECK.describe('As lei-check answers, or null.'),
        vat_number: CHECK.describe('As vat-mod97-check answers, or null when not given or of a country that it does not know.'),
        company_number: CHECK.describe('As company-number-format answers, or null when not given or not British.'),
      })
      .describe('The checks of the identifiers.'),
    names: NAMES_ANSWER.describe('Screening of the payee’s name; null if none was given.'),
    ...RULE_BOOK,
    evaluated_at: z.string().describe('Time of the answer, from which ages are counted.'),
    data_as_of: DATA_AS_OF,
  }),
  example: {
    recipient_iban: 'GB82 WEST 1234 5698 7654 32',
    vendor_domain: 'billing@young.example',
    declared_country: 'GB',
    invoice_amount_usd: 12_500,
  },
  async run(asked, { clock, registrations, names: screening }) {
    const now_ms = clock.now_ms()
    const { payee_name: name, birth_date } = asked
    const names = await screenParty({ name, birth_date }, screening, now_ms)
    // The domain is read and its registry asked now; everything else is read from the tables that are in use when the answer came.
    const { public_suffixes, rdap_bootstrap } = DOMAIN_DATA_AS_OF
    const domains = await agedDomains(asked.vendor_domain, registrations, now_ms)
    const [domain = null, ...other_domains] = domains
    const { seen, decision, ...risk } = decideDisbursement(
      { ...asked, domain, other_domains },
      asked.invoice_amount_usd,
      nameConcern(names),
    )
    return {
      decision,
      clear_to_disburse: decision === 'CLEAR',
      risk_score: risk.score,
      risk_level: risk.level,
      summary: withNameRemark(risk.summary, names),
      flags_triggered: risk.fired,
      recommendations: [...(names?.status === 'possible_match' ? [COMPARE] : []), ...risk.recommendations],
      inspected_counterparty: {
        declared_country: seen.declared_country,
        iban_country: seen.iban_country,
        address_country: seen.address?.country ?? null,
        domain: domain === null ? null : domainShown(domain, registrations.source),
        other_domains: other_domains.map((one) => domainShown(one, registrations.source)),
      },
      checks: {
        recipient_iban: seen.iban && { ...seen.iban },
        lei: seen.lei && { ...seen.lei },
        vat_number: seen.vat && { ...seen.vat },
        company_number: seen.company && { ...seen.company },
      },
      names,
      standard: risk.standard,
      policy_hash: risk.policy_hash,
      evaluated_at: new Date(now_ms).toISOString(),
      data_as_of: {
        ...((asked.declared_country ?? asked.physical_address) !== undefined && JURISDICTIONS_AS_OF),
        ...(asked.physical_address !== undefined && PLACES_AS_OF),
        ...(seen.iban && IBAN_DATA_AS_OF),
        ...(seen.lei && LEI_DATA_AS_OF),
        ...(asked.vat_number !== undefined && { ...VAT_DATA_AS_OF, ...TERRITORIES_AS_OF }),
        ...(seen.company && COMPANY_NUMBER_DATA_AS_OF),
        ...(domain && { ...DOMAIN_DATA_AS_OF, public_suffixes, rdap_bootstrap }),
      },
    }
  },
})

const COMPARE = 'Compare the payee with the possible match in names, and ask counsel before you pay.'

type AgedDomain = { name: VendorDomain | null; age: ReturnType<typeof domainAge> }

function agedDomains(text: string | undefined, registrations: RegistrationData, now_ms: number): Promise<AgedDomain[]> {
  const names = text === undefined ? [] : readVendorDomains(text)
  return Promise.all(names.map((name) => agedDomain(name, registrations, now_ms)))
}

/** Returns whether a registry is asked about a domain: it is not below a shared platform. */
function isAsked(name: VendorDomain | null): boolean {
  return name !== null && name.shared_platform === null
}

async function agedDomain(name: VendorDomain | null, registrations: RegistrationData, now_ms: number): Promise<AgedDomain> {
  if (name === null) return { name, age: { kind: 'unknown', reason: 'not_a_domain' } }
  if (name.shared_platform !== null) return { name, age: { kind: 'unknown', reason: 'shared_platform' } }
  const registration = await registrations.lookup(name.registrable)
  if (registration.kind === 'down') {
    throw new SourceDown(
      'The registry of the vendor’s domain does not answer now. Nothing was charged; ask again, or leave out vendor_domain.',
    )
  }
  return { name, age: domainAge(registration, now_ms) }
}

function domainShown({ name, age }: AgedDomain, source: RegistrationData['source']) {
  const known = age.kind === 'known' ? age : null
  return {
    host: name?.host ?? null,
    registrable: name?.registrable ?? null,
    mailbox: name?.mailbox ?? false,
    status: known === null ? ('unknown' as const) : known.young ? ('flagged' as const) : ('pass' as const),
    age_days: known?.days ?? null,
    registered_at: known?.registered_at ?? null,
    unknown_reason: age.kind === 'unknown' ? age.reason : null,
    source,
  }
}
