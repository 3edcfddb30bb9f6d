import type { ChainFault } from '../ports/chain.ts'

/** Whether an adapter failed because the chain could not be read: a fault of nobody here, and one that may pass. */
export function isChainFault(error: unknown): error is ChainFault {
  return error instanceof Error && 'code' in error && error.code === 'CHAIN_UNAVAILABLE'
}
