import { checkCompanyNumber, COMPANY_NUMBER_DATA_AS_OF } from '../checks/company-number.ts'
import { doubtSentence, fieldDoubts, type FieldDoubt } from '../checks/field-doubts.ts'
import { checkIban, IBAN_DATA_AS_OF, type IbanFacts } from '../checks/iban.ts'
import { checkLei, LEI_DATA_AS_OF } from '../checks/lei.ts'
import { alpha2, banksWith, ibanCountry } from '../checks/same-country.ts'
import { sanctionsHint } from '../checks/countries.ts'
import type { Check } from '../checks/verdict.ts'
import type { HeadlineRule } from '../headline.ts'
import { bandOf, ruleBook, scoreOf, type FiredFactor, type RuleBook } from './rule-book.ts'

/** Headlines of the tools that answer with a band. */
export const TENANCY_HEADLINES: readonly HeadlineRule[] = [
  { when: { band: 'critical' }, tone: 'bad', word: 'CRITICAL RISK', sentence: '{recommendation}' },
  { when: { band: 'high' }, tone: 'bad', word: 'HIGH RISK', sentence: '{recommendation}' },
  { when: { band: 'elevated' }, tone: 'caution', word: 'ELEVATED RISK', sentence: '{recommendation}' },
  { when: { band: 'low' }, tone: 'good', word: 'LOW RISK', sentence: '{recommendation}' },
]

/** Points of known warning signs of rental fraud. Each weight is a judgement, not a measurement; the table is published so that it can be checked and replaced. */
export const TENANCY_TABLE = {
  listing: {
    payment_irreversible: 25,
    landlord_abroad_cannot_meet: 20,
    photos_reverse_image_hit: 20,
    contact_moves_offplatform: 15,
    no_in_person_viewing: 15,
    urgency_pressure: 10,
    identity_docs_requested_upfront: 10,
  },
  /** Percent below the market that is exceeded, and its points; the highest counts. */
  price_below_market: [
    { above_pct: 10, points: 5 },
    { above_pct: 20, points: 12 },
    { above_pct: 35, points: 20 },
    { above_pct: 50, points: 25 },
  ],
  together: { irreversible_and_no_viewing: 10, abroad_and_no_viewing: 5 },
  deposit: { iban_invalid: 40, country_sanctioned: 100, country_elevated: 20, country_mismatch: 25, deposit_before_viewing: 30 },
  landlord: { landlord_lei_invalid: 20, landlord_company_number_malformed: 15 },
  /** The verdict's score: the higher of the two, and the lower divided by this, rounded down. */
  lower_score_divisor: 3,
  cap: 100,
  bands: { low: 0, elevated: 20, high: 45, critical: 70 },
  verdicts: { PROCEED: 0, CAUTION: 20, STOP: 45 },
} as const

interface TenancyTable {
  listing: Readonly<Record<keyof (typeof TENANCY_TABLE)['listing'], number>>
  price_below_market: readonly { above_pct: number; points: number }[]
  together: Readonly<Record<keyof (typeof TENANCY_TABLE)['together'], number>>
  deposit: Readonly<Record<keyof (typeof TENANCY_TABLE)['deposit'], number>>
  landlord: Readonly<Record<keyof (typeof TENANCY_TABLE)['landlord'], number>>
  lower_score_divisor: number
  cap: number
  bands: Readonly<Record<keyof (typeof TENANCY_TABLE)['bands'], number>>
  verdicts: Readonly<Record<keyof (typeof TENANCY_TABLE)['verdicts'], number>>
}

export const TENANCY: RuleBook<TenancyTable> = ruleBook('TENANCY-2', TENANCY_TABLE)

export type Band = keyof TenancyTable['bands']
type TenancyVerdict = keyof TenancyTable['verdicts']

type ListingFlag = keyof TenancyTable['listing']
type ListingFactor = ListingFlag | keyof TenancyTable['together'] | 'price_below_market'
type DepositFactor = keyof TenancyTable['deposit']
type LandlordFactor = keyof TenancyTable['landlord']

/** Observed signals of a listing; absent ones were not observed. */
export type ListingSignals = { readonly [Flag in ListingFlag]?: boolean | undefined } & {
  readonly price_below_market_pct?: number | undefined
}

interface Risk<Factor extends string> {
  score: number
  band: Band
  fired: FiredFactor<Factor>[]
}

const LISTING_REASONS: Readonly<Record<ListingFlag, string>> = {
  payment_irreversible: 'Payment is requested in an irreversible form.',
  landlord_abroad_cannot_meet: 'The landlord claims to be abroad and unable to meet.',
  photos_reverse_image_hit: 'The photos are found elsewhere.',
  contact_moves_offplatform: 'The contact is moved off the platform.',
  no_in_person_viewing: 'The place cannot be viewed in person.',
  urgency_pressure: 'There is pressure to decide immediately.',
  identity_docs_requested_upfront: 'Identity documents are asked before anything else.',
}

/** Adds up what speaks against a listing. Errs both ways: honest listings share these traits, and a careful fraud shows none. */
export function listingRisk(signals: ListingSignals, { table } = TENANCY): Risk<ListingFactor> {
  const { listing, together } = table
  const flags = Object.keys(LISTING_REASONS) as ListingFlag[]
  const fired: FiredFactor<ListingFactor>[] = flags
    .filter((factor) => signals[factor] === true)
    .map((factor) => ({ factor, points: listing[factor], reason: LISTING_REASONS[factor] }))
  const price = pricePoints(signals.price_below_market_pct ?? 0, table)
  if (price !== null) {
    const reason = `The price is more than ${price.above_pct} % below the market.`
    fired.push({ factor: 'price_below_market', points: price.points, reason })
  }
  const unseen = signals.no_in_person_viewing === true
  if (unseen && signals.payment_irreversible === true) {
    const reason = 'Irreversible payment for a place that cannot be viewed.'
    fired.push({ factor: 'irreversible_and_no_viewing', points: together.irreversible_and_no_viewing, reason })
  }
  if (unseen && signals.landlord_abroad_cannot_meet === true) {
    const reason = 'Neither the landlord nor the place can be seen.'
    fired.push({ factor: 'abroad_and_no_viewing', points: together.abroad_and_no_viewing, reason })
  }
  return rateRisk(fired, table)
}

/** The gravest step that is exceeded; null when none is. */
function pricePoints(below_pct: number, { price_below_market }: TenancyTable) {
  const exceeded = price_below_market.filter(({ above_pct }) => below_pct > above_pct)
  return exceeded.length === 0 ? null : exceeded.reduce((gravest, step) => (step.points > gravest.points ? step : gravest))
}

interface DepositRequest {
  deposit_iban: string
  property_country?: string | undefined
  deposit_before_viewing?: boolean | undefined
}

interface DepositRisk extends Risk<DepositFactor> {
  check: Check<IbanFacts>
  /** Read off the IBAN, null when it cannot be. */
  iban_country: string | null
  property_country: string | null
  /** Doubts about the given values. */
  doubts: FieldDoubt[]
}

/** Rates the risk of paying a deposit to this account. An unknown country code counts as another country. */
export function depositRisk(asked: DepositRequest, { table } = TENANCY): DepositRisk {
  const check = checkIban(asked.deposit_iban)
  const iban_country = ibanCountry(check)
  const given = asked.property_country ?? null
  const property_country = given === null ? null : alpha2(given)
  const fired: FiredFactor<DepositFactor>[] = []
  const fire = (factor: DepositFactor, reason: string) => fired.push({ factor, points: table.deposit[factor], reason })
  if (!check.valid) fire('iban_invalid', `The IBAN is invalid: ${check.reason}`)
  const prohibited = [iban_country, property_country].find((code) => code !== null && sanctionsHint(code)?.level === 'comprehensive')
  if (prohibited !== undefined) fire('country_sanctioned', `Nearly all dealings with ${prohibited} are prohibited under OFAC programmes.`)
  const elevated = [iban_country, property_country].find((code) => code !== null && sanctionsHint(code)?.level === 'elevated')
  if (elevated !== undefined) fire('country_elevated', `OFAC has list-based or sectoral programmes for ${elevated}.`)
  if (given !== null && iban_country !== null && (property_country === null || !banksWith(property_country, iban_country))) {
    fire(
      'country_mismatch',
      `The account lies in ${iban_country}, the property ${property_country === null ? 'in no country known here' : `in ${property_country}`}.`,
    )
  }
  if (asked.deposit_before_viewing === true) fire('deposit_before_viewing', 'The deposit is asked before a viewing.')
  const doubts = fieldDoubts({ deposit_iban: check }, given !== null && property_country === null ? ['property_country'] : [])
  return { ...rateRisk(fired, table), check, iban_country, property_country, doubts }
}

/** The score of the verdict: the higher one, a third of the lower one, and what is wrong with the landlord's numbers. */
export function verdictScore(deposit_score: number, listing_score: number, landlord: readonly FiredFactor[], { table } = TENANCY): number {
  const [lower, higher] = [Math.min(deposit_score, listing_score), Math.max(deposit_score, listing_score)]
  return Math.min(table.cap, higher + Math.floor(lower / table.lower_score_divisor) + scoreOf(landlord, table.cap))
}

export function tenancyBand(score: number, { table } = TENANCY): Band {
  return bandOf(score, table.bands)
}

/** Band of an answer: at least elevated where there is a reason why a person must look at a given value. The score does not change. */
function bandWithConcern(band: Band, concern: string | null): Band {
  return concern !== null && band === 'low' ? 'elevated' : band
}

/**
 * The reason that raises the best decision: about the name of the landlord, or a given value. A doubt about a value that the decision shows already adds
 * nothing.
 */
function raisingConcern(best: boolean, name_concern: string | null, doubts: readonly FieldDoubt[]): string | null {
  const given = [name_concern, best ? doubtSentence(doubts) : null].filter((reason) => reason !== null)
  return given.length === 0 ? null : given.join(' ')
}

/** Members of an answer with the band of a risk; `name_concern` is why a person must look at the name of the landlord, null for none. */
export function bandAnswer(
  { score, band: by_score, fired, doubts = [] }: Risk<string> & { doubts?: readonly FieldDoubt[] },
  name_concern: string | null,
  recommendations: Readonly<Record<Band, string>>,
) {
  const concern = raisingConcern(by_score === 'low', name_concern, doubts)
  const band = bandWithConcern(by_score, concern)
  return {
    risk_score: score,
    band,
    recommendation: concern === null ? recommendations[band] : `${concern} ${recommendations[band]}`,
    flags: fired,
    flags_fired: fired.length,
    standard: TENANCY.standard,
    policy_hash: TENANCY.policy_hash,
  }
}

export function tenancyVerdict(score: number, { table } = TENANCY): TenancyVerdict {
  return bandOf(score, table.verdicts)
}

function rateRisk<Factor extends string>(fired: FiredFactor<Factor>[], table: TenancyTable): Risk<Factor> {
  const score = scoreOf(fired, table.cap)
  return { score, band: bandOf(score, table.bands), fired }
}

const SUMMARIES: Readonly<Record<TenancyVerdict, string>> = {
  PROCEED: 'Nothing grave was found. See the place and the contract before you pay.',
  CAUTION: 'Do not pay before the flags are explained.',
  STOP: 'Do not pay.',
}

type TenancyFacts = DepositRequest & ListingSignals & { landlord_lei?: string | undefined; landlord_company_no?: string | undefined }

/**
 * One verdict on the account, the landlord's numbers and the listing, with the checks that it rests on. `name_concern` is why a person must look
 * at the name of the landlord, null for none; with one, or with a given value that is invalid or has a warning, the verdict is at least CAUTION.
 */
export function rateTenancy(asked: TenancyFacts, name_concern: string | null) {
  const [deposit, listing] = [depositRisk(asked), listingRisk(asked)]
  const lei = asked.landlord_lei === undefined ? null : checkLei(asked.landlord_lei)
  const company = asked.landlord_company_no === undefined ? null : checkCompanyNumber(asked.landlord_company_no)
  const landlord = landlordFlags(lei, company)
  const score = verdictScore(deposit.score, listing.score, landlord)
  const by_score = tenancyVerdict(score)
  const doubts = [...deposit.doubts, ...fieldDoubts({ landlord_lei: lei, landlord_company_no: company })]
  const concern = raisingConcern(by_score === 'PROCEED', name_concern, doubts)
  const verdict = concern !== null && by_score === 'PROCEED' ? 'CAUTION' : by_score
  const { standard, policy_hash } = TENANCY
  const named = (component: 'deposit' | 'listing' | 'landlord', fired: readonly FiredFactor[]) =>
    fired.map((one) => ({ component, ...one }))
  return {
    verdict,
    risk_score: score,
    band: bandWithConcern(tenancyBand(score), concern),
    summary: concern === null ? SUMMARIES[verdict] : `${concern} ${SUMMARIES[verdict]}`,
    flags: [...named('deposit', deposit.fired), ...named('listing', listing.fired), ...named('landlord', landlord)],
    components: {
      deposit_score: deposit.score,
      listing_score: listing.score,
      landlord_points: landlord.reduce((sum, { points }) => sum + points, 0),
    },
    checks: { deposit_iban: { ...deposit.check }, landlord_lei: lei && { ...lei }, landlord_company_no: company && { ...company } },
    standard,
    policy_hash,
    data_as_of: { ...IBAN_DATA_AS_OF, ...LEI_DATA_AS_OF, ...COMPANY_NUMBER_DATA_AS_OF },
  }
}

function landlordFlags(lei: Check<unknown> | null, company: Check<unknown> | null): FiredFactor<LandlordFactor>[] {
  const { landlord_lei_invalid, landlord_company_number_malformed } = TENANCY.table.landlord
  const flags: FiredFactor<LandlordFactor>[] = []
  if (lei?.valid === false) {
    flags.push({ factor: 'landlord_lei_invalid', points: landlord_lei_invalid, reason: `The LEI is invalid: ${lei.reason}` })
  }
  if (company?.valid === false) {
    const reason = `The company number does not have the form of a UK company number: ${company.reason}`
    flags.push({ factor: 'landlord_company_number_malformed', points: landlord_company_number_malformed, reason })
  }
  return flags
}
