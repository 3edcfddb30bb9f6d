import { bandOf, type FiredFactor, ruleBook, type RuleBook, scoreOf } from './rule-book.ts'
import { type Band, TENANCY_TABLE } from './tenancy.ts'
import { checkCompanyNumber } from '../checks/company-number.ts'
import { type VendorDomain, DISPOSABLE_DOMAINS, FREE_MAIL_DOMAINS } from '../checks/domains.ts'
import { doubtSentence, fieldDoubts, type FieldDoubt } from '../checks/field-doubts.ts'
import { checkIban, type IbanFacts } from '../checks/iban.ts'
import { readJurisdiction } from '../checks/jurisdictions.ts'
import { cleanText } from '../checks/place-names.ts'
import { readPostalAddress, type PostalAddress } from '../checks/postal-address.ts'
import { checkLei, type LeiFacts } from '../checks/lei.ts'
import { alpha2, banksWith, ibanCountry, taxedWith, vatHost } from '../checks/same-country.ts'
import { sanctionsHint, type SanctionsHint } from '../checks/countries.ts'
import { bareVatNumber, checkVat } from '../checks/vat.ts'
import { VAT_BY_LETTERS } from '../checks/vat/countries.ts'
import type { Check } from '../checks/verdict.ts'

/**
 * Returns the listed domain of disposable mailboxes: the domain itself or one of its parents, never a substring. Null when
 * there is none. Errs towards null: new ones appear daily.
 */
export function disposableDomain(domain: string): string | null {
  return ancestor(domain, DISPOSABLE_DOMAINS.view())
}

/** Returns the listed domain of a provider of free mailboxes, or null. */
export function freeMailDomain(domain: string): string | null {
  return ancestor(domain, FREE_MAIL_DOMAINS.view())
}

function ancestor(domain: string, listed: ReadonlySet<string>): string | null {
  let rest = domain
  while (rest.includes('.')) {
    if (listed.has(rest)) return rest
    rest = rest.slice(rest.indexOf('.') + 1)
  }
  return null
}

/** Territories whose postal addresses end with the name of their state as often as with their own. */
const POSTAL_STATES: Readonly<Record<string, readonly string[]>> = {
  AU: ['CC', 'CX', 'NF'],
  CN: ['HK', 'MO'],
  DK: ['FO', 'GL'],
  FI: ['AX'],
  FR: ['BL', 'GF', 'GP', 'MF', 'MQ', 'NC', 'PF', 'PM', 'RE', 'TF', 'WF', 'YT'],
  GB: ['GG', 'IM', 'JE'],
  NL: ['AW', 'BQ', 'CW', 'SX'],
  NO: ['SJ'],
  NZ: ['TK'],
  US: ['AS', 'GU', 'MP', 'PR', 'UM', 'VI'],
}

/** Tests whether an address in one country may name the other: Puerto Rico and the USA, Réunion and France. */
function addressedWith(country: string, named: string): boolean {
  const within = (state: string, territory: string) => POSTAL_STATES[state]?.includes(territory) === true
  return country === named || within(named, country) || within(country, named)
}

/** Points of known warning signs of payments to the wrong party. Each weight is a judgement; the table is published so that it can be checked and replaced. */
const COUNTERPARTY_TABLE = {
  factors: {
    iban_country_sanctioned: 100,
    iban_invalid: 60,
    disposable_email_domain: 45,
    domain_age_under_30_days: 40,
    lei_invalid: 25,
    iban_country_mismatch: 20,
    vat_invalid: 20,
    free_mail_domain: 15,
    company_number_malformed: 15,
    vat_country_mismatch: 10,
    domain_age_unknown: 10,
    address_country_mismatch: 10,
    po_box: 5,
    country_sanctioned: 100,
    country_elevated: 20,
    place_needs_review: 0,
  },
  /** Factors that need a human review at every score: the address may name a prohibited place. */
  review_at_least: ['place_needs_review'],
  /** Whole US dollars from which on a payment weighs more, once a factor of at least `grave_points` was found; the highest step counts. */
  large_amount: [
    { from_usd: 10_000, points: 10 },
    { from_usd: 100_000, points: 15 },
  ],
  grave_points: 40,
  /** A domain is young below so many whole days. */
  young_days: 30,
  cap: 100,
  bands: TENANCY_TABLE.bands,
  decisions: { CLEAR: 0, REVIEW: 20, BLOCK: 50 },
} as const

export type CounterpartyFactor = keyof (typeof COUNTERPARTY_TABLE)['factors']
type Decision = keyof (typeof COUNTERPARTY_TABLE)['decisions']

interface CounterpartyTable {
  factors: Readonly<Record<CounterpartyFactor, number>>
  review_at_least: readonly CounterpartyFactor[]
  large_amount: readonly { from_usd: number; points: number }[]
  grave_points: number
  young_days: number
  cap: number
  bands: Readonly<Record<Band, number>>
  decisions: Readonly<Record<Decision, number>>
}

const COUNTERPARTY: RuleBook<CounterpartyTable> = ruleBook('COUNTERPARTY-2', COUNTERPARTY_TABLE)

/** A factor that was found, and why. */
export interface FoundFactor {
  factor: CounterpartyFactor
  reason: string
}

interface CounterpartyRisk {
  score: number
  level: Band
  decision: Decision
  fired: FiredFactor<CounterpartyFactor | 'large_amount'>[]
}

/**
 * Adds up what was found. `whole_usd` is the amount without its cents, null when none was given. A further factor, or a larger amount, never
 * lowers the score. A factor of `review_at_least` is never CLEAR. Errs both ways: nothing that was found proves fraud, and nothing found
 * proves nothing.
 */
export function counterpartyRisk(found: readonly FoundFactor[], whole_usd: bigint | null, { table } = COUNTERPARTY): CounterpartyRisk {
  const fired: CounterpartyRisk['fired'] = found.map(({ factor, reason }) => ({ factor, points: table.factors[factor], reason }))
  const grave = fired.some(({ points }) => points >= table.grave_points)
  const reached = table.large_amount.filter(({ from_usd }) => whole_usd !== null && whole_usd >= BigInt(from_usd))
  if (grave && reached.length > 0) {
    const { from_usd, points } = reached.reduce((highest, step) => (step.points > highest.points ? step : highest))
    fired.push({ factor: 'large_amount', points, reason: `At least ${from_usd} USD are at stake in addition to a grave factor.` })
  }
  const score = scoreOf(fired, table.cap)
  const by_points = bandOf(score, table.decisions)
  const looked_at = found.some(({ factor }) => table.review_at_least.includes(factor))
  return { score, level: bandOf(score, table.bands), decision: looked_at && by_points === 'CLEAR' ? 'REVIEW' : by_points, fired }
}

const DAY_MS = 86_400_000

/** Why a registry said nothing that can be used. */
type RegistrySilence = 'no_registry' | 'not_found' | 'no_date' | 'rate_limited' | 'timeout' | 'refused' | 'unreadable' | 'no_sample'

/** Registration data of a domain. */
type Registered = { kind: 'registered'; at_ms: number } | { kind: 'unknown'; reason: RegistrySilence }

/** Why the age of a domain is not known; each of them is a warning, none is a pass. */
type AgeUnknown = RegistrySilence | 'not_a_domain' | 'shared_platform' | 'in_future'

type DomainAge = { kind: 'known'; days: number; registered_at: string; young: boolean } | { kind: 'unknown'; reason: AgeUnknown }

/** Clocks of registries may run ahead of ours by so much. */
const SKEW_MS = DAY_MS

/** Whole days of 24 hours since the registration. A date in the future counts as unknown. */
export function domainAge(registration: Registered, now_ms: number): DomainAge {
  if (registration.kind === 'unknown') return { kind: 'unknown', reason: registration.reason }
  const { at_ms } = registration
  if (at_ms > now_ms + SKEW_MS) return { kind: 'unknown', reason: 'in_future' }
  const days = Math.max(0, Math.floor((now_ms - at_ms) / DAY_MS))
  return { kind: 'known', days, registered_at: new Date(at_ms).toISOString(), young: days < COUNTERPARTY_TABLE.young_days }
}

const UNKNOWN_WORDS: Readonly<Record<AgeUnknown, string>> = {
  no_registry: 'no registry for this ending is known here',
  not_found: 'the registry has no such domain',
  no_date: 'the registry names no date',
  rate_limited: 'the registry takes no more questions for now',
  timeout: 'the registry did not answer in time',
  refused: 'the registry refused the question, or sent it elsewhere',
  unreadable: 'the answer of the registry cannot be used',
  no_sample: 'the fixed samples of the sandbox lack it',
  not_a_domain: 'the given name is not a registrable domain',
  shared_platform: 'anyone can get a name on this platform immediately',
  in_future: 'the registry names a date that lies ahead',
}

function domainFactors(age: DomainAge): FoundFactor[] {
  if (age.kind === 'unknown')
    return [{ factor: 'domain_age_unknown', reason: `The age of the domain is unknown: ${UNKNOWN_WORDS[age.reason]}.` }]
  if (!age.young) return []
  return [
    { factor: 'domain_age_under_30_days', reason: `The domain was registered ${age.days} days ago, on ${age.registered_at.slice(0, 10)}.` },
  ]
}

/** Data of the payee; absent members were not given. */
interface Counterparty {
  recipient_iban?: string | undefined
  declared_country?: string | undefined
  company_number?: string | undefined
  lei?: string | undefined
  vat_number?: string | undefined
  physical_address?: string | undefined
  /** Null when no domain was given. */
  domain: InspectedDomain | null
  /** Further domains of the same field. */
  other_domains?: readonly InspectedDomain[]
}

interface InspectedDomain {
  name: VendorDomain | null
  age: DomainAge
}

interface Inspected {
  found: FoundFactor[]
  declared_country: string | null
  iban_country: string | null
  iban: Check<IbanFacts> | null
  lei: Check<LeiFacts> | null
  /** Null when none was given, or when it is of a country whose numbers are not judged here. */
  vat: VatCheck | null
  /** null if none was given or the country is not the United Kingdom, so that it cannot be checked. */
  company: ReturnType<typeof checkCompanyNumber> | null
  address: PostalAddress | null
  /** True if none of the given data could be checked. */
  empty: boolean
  /** A company number was given that cannot be judged here. */
  company_unjudged: boolean
  /** The same of a tax number. */
  vat_unjudged: boolean
  /** An account, LEI, VAT or company number was given and is valid. */
  verified: boolean
  /** Given fields without a result. */
  unknown: string[]
  /** Given fields that are invalid, unconfirmed or unread, and those with a warning. */
  doubts: FieldDoubt[]
}

/** Checks everything that was given, by itself and against the declared country. A country code that no country has differs from all. */
export function inspectCounterparty(given: Counterparty): Inspected {
  const declared = given.declared_country ?? null
  const declared_country = declared === null ? null : alpha2(declared)
  const found: FoundFactor[] = []
  const differs = (same: (country: string) => boolean) => declared !== null && (declared_country === null || !same(declared_country))
  const iban = given.recipient_iban === undefined ? null : checkIban(given.recipient_iban)
  const iban_country = iban === null ? null : ibanCountry(iban)
  if (iban !== null) found.push(...ibanFactors(iban, iban_country, differs))
  const vat_unjudged = given.vat_number !== undefined && isForeignVat(given.vat_number, declared_country)
  const vat = given.vat_number === undefined || vat_unjudged ? null : vatCheck(given.vat_number, declared_country)
  if (vat !== null) found.push(...vatFactors(vat, differs))
  const lei = given.lei === undefined ? null : checkLei(given.lei)
  if (lei?.valid === false) found.push({ factor: 'lei_invalid', reason: `The LEI is invalid: ${lei.reason}` })
  const british = declared === null || declared_country === 'GB'
  const company = given.company_number === undefined || !british ? null : checkCompanyNumber(given.company_number)
  if (company?.valid === false) {
    found.push({
      factor: 'company_number_malformed',
      reason: `The company number does not have the form of a UK company number: ${company.reason}`,
    })
  }
  const address = given.physical_address === undefined ? null : readPostalAddress(given.physical_address)
  if (address !== null) found.push(...addressFactors(address, differs))
  const places = placeFactors(declared_country, iban_country, address, given.physical_address ?? '')
  found.push(...places)
  const domains = given.domain === null ? [] : [given.domain, ...(given.other_domains ?? [])]
  const of_domains = domains.flatMap(({ name, age }) => [...mailFactors(name), ...domainFactors(age)])
  // Each factor counts once, however many domains have it.
  found.push(...of_domains.filter(({ factor }, index) => of_domains.findIndex((one) => one.factor === factor) === index))
  const company_unjudged = given.company_number !== undefined && !british
  const checked = [iban, lei, vat, company, ...domains.map(({ name }) => name)].some((part) => part !== null)
  const read = address !== null && (address.read || places.length > 0)
  const empty = !checked && !read && places.length === 0
  const verified = [iban, lei, vat, company].some((check) => check?.valid === true)
  const unknown = [
    ...(declared !== null && declared_country === null ? ['declared_country'] : []),
    ...(company_unjudged ? ['company_number'] : []),
    ...(vat_unjudged ? ['vat_number'] : []),
    ...(domains.some(({ name }) => name === null) ? ['vendor_domain'] : []),
  ]
  const judged = { recipient_iban: iban, lei, vat_number: vat, company_number: company }
  const doubts = fieldDoubts(judged, address === null || read ? [] : ['physical_address'])
  const read_off = { declared_country, iban_country, iban, lei, vat, company, address }
  return { found, ...read_off, empty, company_unjudged, vat_unjudged, verified, unknown, doubts }
}

/** Whole dollars from which on an unknown age of the domain is looked at by a person. */
const LARGE_USD = 10_000n

/**
 * Returns why a person must review a payee with few factors, or null to clear it: it needs a valid identifier, no given data that has a warning,
 * is invalid, or has no result, and a known age of the domain if the amount is large.
 */
function reasonToReview({ empty, verified, unknown, doubts, found: factors }: Inspected, whole_usd: bigint | null): string | null {
  if (empty) return 'Nothing about the recipient was given that could be inspected.'
  if (!verified) return 'No account, LEI, VAT number or company number was given that is valid.'
  if (unknown.length > 0) return `There is no result for ${unknown.join(', ')}.`
  const doubt = doubtSentence(doubts)
  if (doubt !== null) return doubt
  const ageless = factors.some(({ factor }) => factor === 'domain_age_unknown')
  return ageless && whole_usd !== null && whole_usd >= LARGE_USD ? 'The age of the domain is unknown, and the amount is large.' : null
}

type VatCheck = ReturnType<typeof checkVat>

type Differs = (same: (country: string) => boolean) => boolean

function ibanFactors(iban: Check<IbanFacts>, country: string | null, differs: Differs): FoundFactor[] {
  const found: FoundFactor[] = []
  if (country !== null && sanctionsHint(country)?.level === 'comprehensive') {
    found.push({ factor: 'iban_country_sanctioned', reason: `Nearly all dealings with ${country} are prohibited under OFAC programmes.` })
  }
  if (!iban.valid) found.push({ factor: 'iban_invalid', reason: `The IBAN is invalid: ${iban.reason}` })
  if (country !== null && differs((declared) => banksWith(declared, country))) {
    found.push({ factor: 'iban_country_mismatch', reason: `The account lies in ${country}, not in the declared country.` })
  }
  return found
}

/** Digits that every tax number has. */
const TAX_DIGITS = 5

/** They have neither VAT nor GST, so what is given as a number of theirs is none. */
const WITHOUT_VAT = new Set(['HK', 'US'])
/** The one-stop shops give such numbers to suppliers outside the EU and to importers (IOSS); VIES does not know them. */
const ONE_STOP_SHOP = /^(?:EU[0-9]{9}|I[MN][0-9]{10})$/

/** Returns whether this is a tax number of a country without rules here, such as an Indian GSTIN: it has no prefix of another country. */
function isForeignVat(text: string, declared: string | null): boolean {
  if (declared === null || VAT_BY_LETTERS.has(vatHost(declared))) return false
  const number = checkVat(text).normalized
  if (WITHOUT_VAT.has(declared)) return ONE_STOP_SHOP.test(number)
  return !VAT_BY_LETTERS.has(number.slice(0, 2)) && number.replace(/[^0-9]/g, '').length >= TAX_DIGITS
}

/** A number without its country letters is tried with those of the declared country, since that is what they would be. */
function vatCheck(text: string, declared: string | null): VatCheck {
  const check = checkVat(text)
  const prefix = declared === null ? undefined : VAT_BY_LETTERS.get(vatHost(declared))?.prefixes[0]
  const number = bareVatNumber(text)
  if (prefix === undefined || number === null) return check
  const prefixed = checkVat(prefix + number)
  return prefixed.valid || !check.valid ? prefixed : check
}

function vatFactors(vat: VatCheck, differs: Differs): FoundFactor[] {
  if (!vat.valid) return [{ factor: 'vat_invalid', reason: `The VAT number is invalid: ${vat.reason}` }]
  const country = vat.facts?.country ?? null
  if (country === null || !differs((declared) => taxedWith(declared, country))) return []
  return [{ factor: 'vat_country_mismatch', reason: `The VAT number is of ${country}, not of the declared country.` }]
}

function addressFactors({ country, po_box }: Pick<PostalAddress, 'country' | 'po_box'>, differs: Differs): FoundFactor[] {
  const found: FoundFactor[] = []
  if (country !== null && differs((declared) => addressedWith(declared, country))) {
    found.push({ factor: 'address_country_mismatch', reason: `The address names ${country}, not the declared country.` })
  }
  if (po_box) found.push({ factor: 'po_box', reason: 'The address is a post office box.' })
  return found
}

/**
 * Sanctioned places that the payee declares, banks in, or names in its address. The country of the account has a separate factor for
 * comprehensive programmes and is not counted twice. A homonym, or a region that is only partly prohibited, adds no points but needs a
 * review.
 */
function placeFactors(declared: string | null, iban_country: string | null, address: PostalAddress | null, text: string): FoundFactor[] {
  const read = readJurisdiction(cleanText(text))
  const listed = read.kind === 'listed' ? read.places : []
  // Whether an address lies in a prohibited country is decided by the reading of places, which knows streets and homonyms.
  const in_address = address?.country ?? address?.town_country ?? null
  const named = [declared, in_address !== null && sanctionsHint(in_address)?.level === 'comprehensive' ? null : in_address].filter(
    (code) => code !== null,
  )
  const of_level = (level: SanctionsHint['level'], codes: readonly (string | null)[]) =>
    codes.filter((code) => code !== null && sanctionsHint(code)?.level === level)
  const meant = listed.filter((place) => place.meant)
  const prohibited = [
    ...of_level('comprehensive', named).filter((code) => code !== iban_country),
    ...meant
      .filter(({ level, code }) => level === 'comprehensive' && code !== iban_country)
      .map(({ kind, code, name }) => (kind === 'region' ? name : code)),
  ]
  const elevated = [
    ...of_level('elevated', [...named, iban_country]),
    ...meant.filter(({ level }) => level === 'elevated').map(({ code }) => code),
  ]
  const unsure = listed.filter(({ level, meant: sure }) => level === 'needs_review' || (level === 'comprehensive' && !sure))
  return [
    ...placeFactor(
      'country_sanctioned',
      prohibited,
      (places) => `Nearly all dealings with ${places} are prohibited under OFAC programmes.`,
    ),
    ...placeFactor('country_elevated', elevated, (places) => `OFAC has list-based or sectoral programmes for ${places}.`),
    ...placeFactor(
      'place_needs_review',
      unsure.map(({ name }) => name),
      (places) => `The address may name a prohibited place (${places}): a person must decide which place is meant.`,
    ),
  ]
}

function placeFactor(factor: FoundFactor['factor'], places: readonly (string | null)[], reason: (places: string) => string): FoundFactor[] {
  return places.length === 0 ? [] : [{ factor, reason: reason([...new Set(places)].join(' and ')) }]
}

function mailFactors(name: VendorDomain | null): FoundFactor[] {
  if (name === null) return []
  const [disposable, free] = [disposableDomain(name.host), freeMailDomain(name.host)]
  if (disposable !== null)
    return [{ factor: 'disposable_email_domain', reason: `Mailboxes under ${disposable} are handed out for minutes.` }]
  return free === null ? [] : [{ factor: 'free_mail_domain', reason: `Anyone can open a mailbox under ${free}.` }]
}

/** The dollars before the point, null without an amount; thresholds are whole, so the cents decide nothing. */
export function wholeUsd(usd: number | string | undefined): bigint | null {
  if (usd === undefined) return null
  return BigInt(typeof usd === 'number' ? Math.floor(usd) : (usd.split('.')[0] ?? '0'))
}

const DECISION_WORDS: Readonly<Record<Decision, string>> = {
  CLEAR: 'Little was found against this payee.',
  REVIEW: 'A person should look at this payee before it is paid.',
  BLOCK: 'Do not pay this before the flags are resolved.',
}

/** `why` is a reason to review that is not a factor; null for none. */
function summarizeDecision(decision: Decision, flags: number, why: string | null, empty: boolean): string {
  const factors = `${flags === 0 ? 'No factor' : flags === 1 ? 'One factor' : `${flags} factors`} of the rule book fired.`
  if (empty && why !== null) return why
  return why === null || decision === 'BLOCK' ? `${DECISION_WORDS[decision]} ${factors}` : `${DECISION_WORDS.REVIEW} ${why} ${factors}`
}

/** Recommended next steps, most important first. */
function advice({ found, company_unjudged, vat_unjudged, empty, doubts }: Inspected, decision: Decision): string[] {
  const has = (...factors: FoundFactor['factor'][]) => found.some(({ factor }) => factors.includes(factor))
  const given: string[] = []
  if (empty) given.push('Give the account, the domain or an identifier of the payee.')
  if (has('iban_country_sanctioned')) given.push('Stop, and ask counsel: the country of the account is under a comprehensive programme.')
  if (has('country_sanctioned')) {
    given.push('Stop, and ask counsel: the declared country, or a place of the address, is under a comprehensive programme.')
  }
  if (has('place_needs_review')) given.push('Find out where exactly the payee is: the address may lie in a prohibited place.')
  if (has('country_elevated'))
    given.push('Screen the names of the payee and of its bank: the country is under a list-based or sectoral programme.')
  if (has('iban_invalid')) given.push('Ask for the account again, by a way that you already know.')
  if (doubts.some(({ kind }) => kind === 'warning' || kind === 'unconfirmed')) {
    given.push('Ask the payee to confirm the values that have a warning, by a way that you already know.')
  }
  if (doubts.some(({ kind }) => kind === 'unread')) given.push('Write the address with its country at the end: it could not be read.')
  if (has('disposable_email_domain', 'free_mail_domain', 'domain_age_under_30_days')) {
    given.push('Call the vendor back on a number that you had before this invoice.')
  }
  if (has('domain_age_unknown')) given.push('Find out the age of the domain by hand: unknown is not old.')
  if (has('iban_country_mismatch', 'vat_country_mismatch', 'address_country_mismatch')) given.push('Ask why the countries differ.')
  if (has('lei_invalid', 'vat_invalid', 'company_number_malformed')) given.push('Look the vendor up in the public register.')
  if (company_unjudged) given.push('Look up the company number in the register of its country; only British ones are judged here.')
  if (vat_unjudged) given.push('Look up the tax number in the register of its country; its numbers are not judged here.')
  if (decision === 'CLEAR') given.push('A first payment still deserves a call to the vendor.')
  return given
}

/**
 * Decides about a payee. `concern` is why a person must look at its name, null for none; with one, or with too little that is verified, the
 * decision is at least REVIEW: missing data about the recipient does not justify paying.
 */
export function decideDisbursement(given: Counterparty, amount_usd: number | string | undefined, concern: string | null) {
  const seen = inspectCounterparty(given)
  const whole_usd = wholeUsd(amount_usd)
  const risk = counterpartyRisk(seen.found, whole_usd)
  const why = risk.decision === 'BLOCK' ? null : (concern ?? reasonToReview(seen, whole_usd))
  const decision = risk.decision === 'CLEAR' && why !== null ? ('REVIEW' as const) : risk.decision
  const summary = summarizeDecision(decision, risk.fired.length, why, seen.empty)
  const { standard, policy_hash } = COUNTERPARTY
  return { ...risk, decision, summary, recommendations: advice(seen, decision), seen, standard, policy_hash }
}
