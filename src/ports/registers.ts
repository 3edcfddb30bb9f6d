/** Facts of public registers: when a domain was registered, and the records of VAT numbers, legal entities and companies. */

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

/** VIES: VAT numbers of the EU and Northern Ireland; GLEIF: legal entity identifiers; Companies House: UK companies. */
export type RegisterId = 'vies' | 'gleif' | 'companies-house'

/** Number in the form of its register, such as EL and 094019245 for VIES. */
export interface RegisterNumber {
  /** Country code of the register; empty where a number needs none. */
  country: string
  number: string
}

/** Record of a number; null for each fact that the register does not publish. Days are YYYY-MM-DD. */
export interface RegisterRecord {
  name: string | null
  /** One line, its parts separated by commas. */
  address: string | null
  /** Meaning of the statuses. `lapsed`: the entity exists, and its registration was not renewed; `unknown`: a status that is not listed here. */
  state: 'active' | 'lapsed' | 'insolvency' | 'inactive' | 'unknown'
  /** Status of the registration, in the word of the register. */
  register_status: string | null
  /** Status of the entity itself, where the register distinguishes the two. */
  entity_status: string | null
  registered_on: string | null
  ended_on: string | null
  renewal_due: string | null
  updated_on: string | null
}

/**
 * `partly_down`: the register answers, the national database behind it does not. `unreadable`: not the publisher's format, too long, or a
 * record of another number. `refused`: a redirect, or a question that the register rejects.
 */
export type RegisterFault = 'timeout' | 'down' | 'partly_down' | 'rate_limited' | 'not_authorized' | 'refused' | 'unreadable'

export type RegisterReading =
  | { kind: 'found'; record: RegisterRecord }
  | { kind: 'not_found' }
  /** `pause_s`: how long the register asked to be left alone. */
  | { kind: 'not_reached'; fault: RegisterFault; pause_s: number | null }

export interface RegisterReader {
  readonly id: RegisterId
  /** Address of the record at its publisher, also where a mirror is read. */
  url(number: RegisterNumber): string
  /** Reads one record, within the time of the signal. Never rejects. */
  read(number: RegisterNumber, signal: AbortSignal): Promise<RegisterReading>
}
