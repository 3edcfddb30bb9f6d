/** The whole text of an answer of which the caller got the brief form, stored for a day. */
export interface StoredAnswer {
  /** Hash of the token that opens it; the token itself is not stored. */
  token_hash: string
  /** Keyed hash of the client network and the day, never an address: hexadecimal text. */
  client: string
  /** The same of the provider's network (/16, /32). */
  provider: string
  /** The call was paid: not deleted to make room for answers of unpaid calls. */
  paid: boolean
  /** Length of `sealed`. */
  bytes: number
  created_ms: number
  /** Encrypted text. */
  sealed: string
}

/** Limits of what the answers of one client network take, and of those of its provider; paid and unpaid ones are counted apart. */
export interface StoredAnswerBounds {
  client_answers: number
  client_bytes: number
  provider_bytes: number
}

export interface StoredAnswerStore {
  /**
   * Stores an answer within the limits of its client network and provider; false, with nothing stored, beyond them. True as well for an answer that is
   * already stored under its token, which stays as it is.
   */
  keep(answer: StoredAnswer, bounds: StoredAnswerBounds): Promise<boolean>
  find(token_hash: string): Promise<Pick<StoredAnswer, 'sealed' | 'created_ms'> | null>
  /** Bytes of all stored answers. */
  total_bytes(): Promise<number>
  /** Bytes of unpaid answers by provider, the widest first. */
  unpaid_bytes(limit: number): Promise<{ provider: string; bytes: number }[]>
  /** Of the unpaid answers of a provider keeps the newest of at most so many bytes. */
  trim_provider(provider: string, bytes: number): Promise<void>
  /** Deletes answers that were stored before `before_ms`; returns how many. */
  purge(before_ms: number): Promise<number>
}
