/** The whole text of an answer of which the caller got the brief form, stored for a day. */
export interface StoredAnswer {
  /** Hash of the token that opens it; the token itself is not stored. */
  token_hash: string
  /** Keyed hash of the client network and the day, never an address: hexadecimal text. */
  client: string
  /** Length of `sealed`. */
  bytes: number
  created_ms: number
  /** Encrypted text. */
  sealed: string
}

/** Limits of what the answers of one client network take. */
export interface StoredAnswerBounds {
  client_answers: number
  client_bytes: number
}

export interface StoredAnswerStore {
  /**
   * Stores an answer within the limits of its client network; false, with nothing stored, beyond them. True as well for an answer that is
   * already stored under its token, which stays as it is.
   */
  keep(answer: StoredAnswer, bounds: StoredAnswerBounds): Promise<boolean>
  find(token_hash: string): Promise<Pick<StoredAnswer, 'sealed' | 'created_ms'> | null>
  /** Bytes of all stored answers. */
  total_bytes(): Promise<number>
  /** Deletes answers that were stored before `before_ms`; returns how many. */
  purge(before_ms: number): Promise<number>
}
