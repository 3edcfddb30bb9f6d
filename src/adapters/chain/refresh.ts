import { ChainUnavailableError } from './errors.ts'

/** Before a reading: a sandbox mines a block when its newest is old; a live chain needs nothing. */
export async function refresh(beforeRead: (() => Promise<void>) | undefined): Promise<void> {
  try {
    await beforeRead?.()
  } catch {
    throw new ChainUnavailableError('The chain cannot be read: the sandbox did not mine a block.')
  }
}
