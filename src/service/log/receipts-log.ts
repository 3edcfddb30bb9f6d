import type { LogBook } from './book.ts'
import type { Witness } from './witness.ts'

/** What the surfaces use of the log. */
export interface ReceiptsLog {
  book: LogBook
  witness: Witness
  verifier_key: string
  witness_key: string
  /** Writes an entry down as waiting; durable when it resolves. */
  handIn(entry: string): Promise<void>
}
