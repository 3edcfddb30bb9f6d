/**
 * The `code` of the error with which a store rejects. Nothing is granted by a rejected promise. After `STORE_BUSY`, `STORE_REFUSED` and
 * `STORE_NEWER` nothing was written either; after `STORE_UNAVAILABLE` the store may have counted the call before the answer was lost.
 */
type StoreFaultCode = 'STORE_BUSY' | 'STORE_UNAVAILABLE' | 'STORE_REFUSED' | 'STORE_NEWER'

interface StoreFault extends Error {
  readonly code: StoreFaultCode
}

/** Everything that a store rejects with; the port says what each code promises. */
export abstract class StoreError extends Error implements StoreFault {
  abstract readonly code: StoreFaultCode
}

/** Others held the lock for longer than the store waits. Nothing was written. */
export class StoreBusyError extends StoreError {
  override readonly name = 'StoreBusyError'
  readonly code = 'STORE_BUSY'

  constructor(cause: unknown) {
    super('The store is busy; nothing was counted.', { cause })
  }
}

/** The database did not answer, or could not make the write durable. */
export class StoreUnavailableError extends StoreError {
  override readonly name = 'StoreUnavailableError'
  readonly code = 'STORE_UNAVAILABLE'

  constructor(message: string, cause?: unknown) {
    super(message, { cause })
  }
}

/** This one value cannot be stored; its neighbours in the batch were served. */
export class StoreRefusedError extends StoreError {
  override readonly name = 'StoreRefusedError'
  readonly code = 'STORE_REFUSED'

  constructor(message: string, cause?: unknown) {
    super(message, { cause })
  }
}

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html, which classify its errors. */
const SQLITE_BUSY = 5
const SQLITE_CANNOT_HOLD: ReadonlySet<number | undefined> = new Set([18, 19, 20])

/** Another connection holds the lock of the SQLite file. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined
  return error.errcode & 0xff
}

/** The fault of one statement: the value's own, where SQLite says so. */
export function fault(error: unknown): StoreError {
  return SQLITE_CANNOT_HOLD.has(resultCode(error)) ? new StoreRefusedError('The store cannot hold this value.', error) : outage(error)
}

/** The error of a whole transaction, or of the SQLite file. */
export function outage(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  if (isBusy(error)) return new StoreBusyError(error)
  const reason = resultCode(error) ?? 'no result code'
  return new StoreUnavailableError(`The SQLite store could not be read or written${sqliteWords(error)} (${reason}).`, error)
}

/** SQLite's text for the result code, such as a full disk; it contains nothing of the statement. */
function sqliteWords(error: unknown): string {
  return error instanceof Error && 'errstr' in error && typeof error.errstr === 'string' ? `: ${error.errstr}` : ''
}
