/** A credit as a request brings it, unread. */
export interface CreditGiven {
  code: string
  /** Null where the request names none. */
  key: string | null
}
