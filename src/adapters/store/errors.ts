import type { StoreFault, StoreFaultCode } from '../../ports/store.ts'

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
