import { checkCompanyNumber } from '../checks/company-number.ts'
import { disposableDomain, freeMailDomain } from '../checks/disposable-domains.ts'
import { checkIban } from '../checks/iban.ts'
import type { IbanFacts } from '../checks/iban-facts.ts'
import { readJurisdiction, tidied } from '../checks/jurisdictions.ts'
import { checkLei, type LeiFacts } from '../checks/lei.ts'
import { readPostalAddress, type PostalAddress } from '../checks/postal-address.ts'
import { addressedWith, alpha2, banksWith, ibanCountry, taxedWith, vatHost } from '../checks/same-country.ts'
import { sanctionsHint, type SanctionsHint } from '../checks/sanctions.ts'
import { bareVatNumber, checkVat } from '../checks/vat.ts'
import { BY_LETTERS } from '../checks/vat/countries.ts'
import type { VendorDomain } from '../checks/vendor-domain.ts'
import type { Check } from '../checks/verdict.ts'
import { type Decision, type DomainAge, domainFound, type Found } from './counterparty.ts'

/** What is known of the party that is to be paid; what is absent was not given. */
export interface Counterparty {
  recipient_iban?: string | undefined
  declared_country?: string | undefined
  company_number?: string | undefined
  lei?: string | undefined
  vat_number?: string | undefined
  physical_address?: string | undefined
  /** Null when no domain was given. */
  domain: { name: VendorDomain | null; age: DomainAge } | null
}

export interface Inspected {
  found: Found[]
  declared_country: string | null
  iban_country: string | null
  iban: Check<IbanFacts> | null
  lei: Check<LeiFacts> | null
  /** Null when none was given, or when it is of a country whose numbers are not judged here. */
  vat: VatCheck | null
  /** Null when none was given, or when it is no number of the United Kingdom and so cannot be judged. */
  company: ReturnType<typeof checkCompanyNumber> | null
  address: PostalAddress | null
  /** Nothing that was given could be inspected, so nothing speaks for or against the recipient. */
  empty: boolean
  /** A company number was given that cannot be judged here. */
  company_unjudged: boolean
  /** The same of a tax number. */
  vat_unjudged: boolean
  /** An account, LEI, VAT or company number was given and is valid. */
  verified: boolean
  /** Fields that were given and of which nothing could be told. */
  unknown: string[]
}

/** Checks everything that was given, by itself and against the declared country. A country code that no country has differs from all. */
export function inspect(given: Counterparty): Inspected {
  const declared = given.declared_country ?? null
  const declared_country = declared === null ? null : alpha2(declared)
  const found: Found[] = []
  const differs = (same: (country: string) => boolean) => declared !== null && (declared_country === null || !same(declared_country))
  const iban = given.recipient_iban === undefined ? null : checkIban(given.recipient_iban)
  const iban_country = iban === null ? null : ibanCountry(iban)
  if (iban !== null) found.push(...ibanFound(iban, iban_country, differs))
  const vat_unjudged = given.vat_number !== undefined && isForeignVat(given.vat_number, declared_country)
  const vat = given.vat_number === undefined || vat_unjudged ? null : vatCheck(given.vat_number, declared_country)
  if (vat !== null) found.push(...vatFound(vat, differs))
  const lei = given.lei === undefined ? null : checkLei(given.lei)
  if (lei?.valid === false) found.push({ factor: 'lei_invalid', reason: `The LEI does not hold: ${lei.reason}` })
  const british = declared === null || declared_country === 'GB'
  const company = given.company_number === undefined || !british ? null : checkCompanyNumber(given.company_number)
  if (company?.valid === false) {
    found.push({ factor: 'company_number_malformed', reason: `The company number has not the form of a UK one: ${company.reason}` })
  }
  const address = given.physical_address === undefined ? null : readPostalAddress(given.physical_address)
  if (address !== null) found.push(...addressFound(address, differs))
  const places = placesFound(declared_country, iban_country, address, given.physical_address ?? '')
  found.push(...places)
  if (given.domain !== null) found.push(...mailFound(given.domain.name), ...domainFound(given.domain.age))
  const company_unjudged = given.company_number !== undefined && !british
  const checked = [iban, lei, vat, company, given.domain?.name ?? null].some((part) => part !== null)
  const read = address !== null && (address.country !== null || address.po_box)
  const empty = !checked && !read && places.length === 0
  const verified = [iban, lei, vat, company].some((check) => check?.valid === true)
  const unknown = [
    ...(declared !== null && declared_country === null ? ['declared_country'] : []),
    ...(company_unjudged ? ['company_number'] : []),
    ...(vat_unjudged ? ['vat_number'] : []),
    ...(given.domain !== null && given.domain.name === null ? ['vendor_domain'] : []),
  ]
  const read_off = { declared_country, iban_country, iban, lei, vat, company, address }
  return { found, ...read_off, empty, company_unjudged, vat_unjudged, verified, unknown }
}

/** Whole dollars from which on an unknown age of the domain is looked at by a person. */
const LARGE_USD = 10_000n

/**
 * Whether a payee against whom little was found may be cleared: something that identifies it was given and is valid, nothing that was given
 * is unknown, and the age of its domain is known where much is at stake. Null, or why a person must look.
 */
export function reasonToReview({ empty, verified, unknown, found: factors }: Inspected, whole_usd: bigint | null): string | null {
  if (empty) return 'Nothing about the recipient was given that could be inspected.'
  if (!verified) return 'No account, LEI, VAT number or company number was given that is valid.'
  if (unknown.length > 0) return `Nothing could be told about ${unknown.join(', ')}.`
  const ageless = factors.some(({ factor }) => factor === 'domain_age_unknown')
  return ageless && whole_usd !== null && whole_usd >= LARGE_USD ? 'The age of the domain is unknown, and the amount is large.' : null
}

type VatCheck = ReturnType<typeof checkVat>

type Differs = (same: (country: string) => boolean) => boolean

function ibanFound(iban: Check<IbanFacts>, country: string | null, differs: Differs): Found[] {
  const found: Found[] = []
  if (country !== null && sanctionsHint(country)?.level === 'comprehensive') {
    found.push({ factor: 'iban_country_sanctioned', reason: `Nearly all dealings with ${country} are prohibited under OFAC programmes.` })
  }
  if (!iban.valid) found.push({ factor: 'iban_invalid', reason: `The IBAN does not hold: ${iban.reason}` })
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

/** A number of a declared country whose rule is not known here, such as a GSTIN of India: no letters of another country stand in front. */
function isForeignVat(text: string, declared: string | null): boolean {
  if (declared === null || BY_LETTERS.has(vatHost(declared))) return false
  const number = checkVat(text).normalized
  if (WITHOUT_VAT.has(declared)) return ONE_STOP_SHOP.test(number)
  return !BY_LETTERS.has(number.slice(0, 2)) && number.replace(/[^0-9]/g, '').length >= TAX_DIGITS
}

/** A number without its country letters is tried with those of the declared country, since that is what they would be. */
function vatCheck(text: string, declared: string | null): VatCheck {
  const check = checkVat(text)
  const prefix = declared === null ? undefined : BY_LETTERS.get(vatHost(declared))?.prefixes[0]
  const number = bareVatNumber(text)
  if (prefix === undefined || number === null) return check
  const prefixed = checkVat(prefix + number)
  return prefixed.valid || !check.valid ? prefixed : check
}

function vatFound(vat: VatCheck, differs: Differs): Found[] {
  if (!vat.valid) return [{ factor: 'vat_invalid', reason: `The VAT number does not hold: ${vat.reason}` }]
  const country = vat.facts?.country ?? null
  if (country === null || !differs((declared) => taxedWith(declared, country))) return []
  return [{ factor: 'vat_country_mismatch', reason: `The VAT number is of ${country}, not of the declared country.` }]
}

function addressFound({ country, po_box }: PostalAddress, differs: Differs): Found[] {
  const found: Found[] = []
  if (country !== null && differs((declared) => addressedWith(declared, country))) {
    found.push({ factor: 'address_country_mismatch', reason: `The address names ${country}, not the declared country.` })
  }
  if (po_box) found.push({ factor: 'po_box', reason: 'The address is a post office box.' })
  return found
}

/**
 * Places under sanctions that the payee declares, banks in, or that its address names. The country of the account has a factor of its own
 * where nearly all dealings with it are prohibited, and is not counted twice. A homonym, and a region of which a part is prohibited, leave the
 * score as it is, and a person must look.
 */
function placesFound(declared: string | null, iban_country: string | null, address: PostalAddress | null, text: string): Found[] {
  const read = readJurisdiction(tidied(text))
  const listed = read.kind === 'listed' ? read.places : []
  const named = [declared, address?.country ?? null].filter((code) => code !== null)
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
    ...foundAt('country_sanctioned', prohibited, (places) => `Nearly all dealings with ${places} are prohibited under OFAC programmes.`),
    ...foundAt('country_elevated', elevated, (places) => `OFAC has list-based or sectoral programmes for ${places}.`),
    ...foundAt(
      'place_needs_review',
      unsure.map(({ name }) => name),
      (places) => `The address may name a prohibited place (${places}): a person must decide which place is meant.`,
    ),
  ]
}

function foundAt(factor: Found['factor'], places: readonly (string | null)[], reason: (places: string) => string): Found[] {
  return places.length === 0 ? [] : [{ factor, reason: reason([...new Set(places)].join(' and ')) }]
}

function mailFound(name: VendorDomain | null): Found[] {
  if (name === null) return []
  const [disposable, free] = [disposableDomain(name.host), freeMailDomain(name.host)]
  if (disposable !== null)
    return [{ factor: 'disposable_email_domain', reason: `Mailboxes under ${disposable} are handed out for minutes.` }]
  return free === null ? [] : [{ factor: 'free_mail_domain', reason: `Anybody may open a mailbox under ${free}.` }]
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

/** `why` is the reason to review beside the factors; null for none. */
export function summaryOf(decision: Decision, flags: number, why: string | null, empty: boolean): string {
  const factors = `${flags === 0 ? 'No factor' : flags === 1 ? 'One factor' : `${flags} factors`} of the rule book fired.`
  if (empty && why !== null) return why
  return why === null || decision === 'BLOCK' ? `${DECISION_WORDS[decision]} ${factors}` : `${DECISION_WORDS.REVIEW} ${why} ${factors}`
}

/** What a person should do next, in the order of weight. */
export function advice({ found, company_unjudged, vat_unjudged, empty }: Inspected, decision: Decision): string[] {
  const has = (...factors: Found['factor'][]) => found.some(({ factor }) => factors.includes(factor))
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
