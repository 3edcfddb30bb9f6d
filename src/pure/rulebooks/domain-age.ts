import { COUNTERPARTY_TABLE, type Found } from './counterparty.ts'

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
