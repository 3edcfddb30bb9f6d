/** When a domain was registered, as its registry says. */

/**
 * `unknown`: the registry was asked and said nothing that can be used, or there is none to ask; nothing may be concluded from it, least of
 * all that the domain is old. `down`: the registry cannot be asked now; the same question is worth another try.
 */
export type Registration =
  | { kind: 'registered'; at_ms: number; server: string }
  | { kind: 'unknown'; reason: UnknownReason; server: string | null }
  | { kind: 'down'; server: string }

type UnknownReason =
  /** No registry for this top-level domain is known here. */
  | 'no_registry'
  /** The registry has no such domain. */
  | 'not_found'
  /** It answered, and named no date of registration. */
  | 'no_date'
  | 'rate_limited'
  | 'timeout'
  /** It refused, or sent the question on to where it must not go. */
  | 'refused'
  /** It answered about another domain, not as a registry does, or without end. */
  | 'unreadable'
  /** Outside the fixed samples. */
  | 'no_sample'

export interface RegistrationData {
  /** Kind of source: registries over RDAP, or fixed samples that do not describe real domains. */
  readonly source: 'rdap' | 'fixed_sample'
  /** The registrable domain in ASCII form, lower case, such as `example.com`. Never rejects. */
  lookup(domain: string): Promise<Registration>
}
