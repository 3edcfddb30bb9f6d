import type { Sealer } from '../../ports/signer.ts'
import { text_type } from './columns.ts'
import { type Database, DatabaseStore } from './database.ts'
import { StoreRefusedError, StoreUnavailableError } from './errors.ts'

/** Before each sealed text, which distinguishes it from the texts of a release without sealing, such as JSON or a URL. */
const SEALED = 'sealed:'

/** Texts of callers, sealed for the columns of a store under the secret of its deployment. */
export interface SealedText {
  /** The sealed text. `context` names its row, so that a text that was copied to another row does not open. */
  seal(text: string, context: string): string
  sealNullable(text: string | null, context: string): string | null
  /** The text of a column; a text that was stored before sealing is returned as it is. Throws a StoreUnavailableError for one that does not open. */
  open(stored: string, context: string): string
  openNullable(stored: string | null, context: string): string | null
  /** Keyed hash by which a row is found without its text: 64 hexadecimal digits. */
  hash(text: string, use: string): string
}

/** `sealer` is null for a store that was opened without the secret: it neither writes nor reads texts of callers. */
export function createSealedText(sealer: Sealer | null): SealedText {
  const known = (): Sealer => {
    if (sealer === null) throw new StoreRefusedError('The store was opened without the secret of its deployment, which seals this text.')
    return sealer
  }
  const seal = (text: string, context: string) => SEALED + known().seal(storable(text), context)
  const open = (stored: string, context: string) => {
    if (!stored.startsWith(SEALED)) return stored
    const text = known().open(stored.slice(SEALED.length), context)
    if (text === null) throw new StoreUnavailableError('A sealed text of the store does not open: it is damaged, or the secret is another.')
    return text
  }
  return {
    seal,
    open,
    sealNullable: (text, context) => (text === null ? null : seal(text, context)),
    openNullable: (stored, context) => (stored === null ? null : open(stored, context)),
    hash: (text, use) => known().token(`${use}|${storable(text)}`),
  }
}

/** Refuses what a column of text refuses: an unpaired surrogate would not come back as it was. */
function storable(text: string): string {
  if (text !== '' && text_type.encode(text) !== undefined) return text
  throw new StoreRefusedError(`The store cannot hold this text: expected ${text_type.expected}, not empty.`)
}

/** Contexts of sealed texts, and uses of keyed hashes. A released one never changes. */
export const CONTEXTS = {
  terms: (invoice_id: string) => `invoice terms ${invoice_id}`,
  bank_payment: (invoice_id: string) => `invoice bank payment ${invoice_id}`,
  bank_report: (entry_hash: string) => `invoice bank report ${entry_hash}`,
  webhook_url: (subscription_id: string) => `webhook url ${subscription_id}`,
  webhook_body: (subscription_id: string, event_id: string) => `webhook body ${subscription_id} ${event_id}`,
} as const

export const HASH_USES = {
  content: 'invoice content',
  bank_reference: 'invoice bank reference',
  bank_entry: 'invoice bank report',
} as const

/** Base of the stores whose tables hold texts of callers. */
export abstract class SealedStore extends DatabaseStore {
  protected readonly texts: SealedText

  constructor(database: Database, texts: SealedText) {
    super(database)
    this.texts = texts
  }
}
