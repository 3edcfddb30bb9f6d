import type { Envelope } from './envelope.ts'
import type { Profile } from './rule.ts'

/** Where a profile came from, the strongest first. */
export type ProfileSource = 'argument' | 'business_service' | 'namespace' | 'service_level' | 'default'

/** CBPR+ names itself in the header's business service, Swiss and German variants in their namespace, SEPA in the service level. */
export function chosenProfile(asked: Profile | null, envelope: Envelope): { profile: Profile; profile_source: ProfileSource } {
  if (asked !== null) return { profile: asked, profile_source: 'argument' }
  if (/^swift\.cbprplus(?:\.|$)/i.test(envelope.header.business_service ?? '')) {
    return { profile: 'CBPR', profile_source: 'business_service' }
  }
  const by_namespace = envelope.message?.profile ?? null
  if (by_namespace !== null) return { profile: by_namespace, profile_source: 'namespace' }
  if (envelope.machine?.totals.service_level === 'SEPA') return { profile: 'SEPA', profile_source: 'service_level' }
  return { profile: 'base', profile_source: 'default' }
}
