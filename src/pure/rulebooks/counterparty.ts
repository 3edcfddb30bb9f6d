import { bandOf, type Fired, ruleBook, type RuleBook, scoreOf } from './rule-book.ts'
import { type Band, TENANCY_TABLE } from './tenancy.ts'

/** Points of what is known to go before payments to the wrong party. Each weight is a judgement; the table is there to be seen and replaced. */
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
  /** Factors that a person must look at whatever the score: the address may name a prohibited place. */
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
export type Decision = keyof (typeof COUNTERPARTY_TABLE)['decisions']

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

export const COUNTERPARTY: RuleBook<CounterpartyTable> = ruleBook('COUNTERPARTY-2', COUNTERPARTY_TABLE)

/** A factor that was found, and why. */
export interface Found {
  factor: CounterpartyFactor
  reason: string
}

interface CounterpartyRisk {
  score: number
  level: Band
  decision: Decision
  fired: Fired<CounterpartyFactor | 'large_amount'>[]
}

/**
 * Adds up what was found. `whole_usd` is the amount without its cents, null when none was given. A further factor, or a larger amount, never
 * lowers the score. A factor of `review_at_least` is never CLEAR. Errs both ways: nothing that was found proves fraud, and nothing found
 * proves nothing.
 */
export function counterpartyRisk(found: readonly Found[], whole_usd: bigint | null, { table } = COUNTERPARTY): CounterpartyRisk {
  const fired: CounterpartyRisk['fired'] = found.map(({ factor, reason }) => ({ factor, points: table.factors[factor], reason }))
  const grave = fired.some(({ points }) => points >= table.grave_points)
  const reached = table.large_amount.filter(({ from_usd }) => whole_usd !== null && whole_usd >= BigInt(from_usd))
  if (grave && reached.length > 0) {
    const { from_usd, points } = reached.reduce((highest, step) => (step.points > highest.points ? step : highest))
    fired.push({ factor: 'large_amount', points, reason: `At least ${from_usd} USD are at stake beside a grave factor.` })
  }
  const score = scoreOf(fired, table.cap)
  const by_points = bandOf(score, table.decisions)
  const looked_at = found.some(({ factor }) => table.review_at_least.includes(factor))
  return { score, level: bandOf(score, table.bands), decision: looked_at && by_points === 'CLEAR' ? 'REVIEW' : by_points, fired }
}

const DAY_MS = 86_400_000

/** Why a registry said nothing that can be used. */
type RegistrySilence = 'no_registry' | 'not_found' | 'no_date' | 'rate_limited' | 'timeout' | 'refused' | 'unreadable' | 'no_sample'

/** What a registry said of a domain. */
type Registered = { kind: 'registered'; at_ms: number } | { kind: 'unknown'; reason: RegistrySilence }

/** Why the age of a domain is not known; each of them is a warning, none is a pass. */
type AgeUnknown = RegistrySilence | 'not_a_domain' | 'shared_platform' | 'in_future'

export type DomainAge = { kind: 'known'; days: number; registered_at: string; young: boolean } | { kind: 'unknown'; reason: AgeUnknown }

/** Clocks of registries may run ahead of ours by so much. */
const SKEW_MS = DAY_MS

/** Whole days of 24 hours since the registration. A date in the future is no date. */
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
  not_a_domain: 'what was given is no registrable domain',
  shared_platform: 'anybody may have a name on this platform at once',
  in_future: 'the registry names a date that lies ahead',
}

export function domainFound(age: DomainAge): Found[] {
  if (age.kind === 'unknown')
    return [{ factor: 'domain_age_unknown', reason: `The age of the domain is unknown: ${UNKNOWN_WORDS[age.reason]}.` }]
  if (!age.young) return []
  return [
    { factor: 'domain_age_under_30_days', reason: `The domain was registered ${age.days} days ago, on ${age.registered_at.slice(0, 10)}.` },
  ]
}
