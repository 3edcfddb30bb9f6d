import type { ChainFault } from '../ports/chain.ts'

/** True when an adapter failed because the chain could not be read; a later attempt may succeed. */
export function isChainFault(error: unknown): error is ChainFault {
  return error instanceof Error && 'code' in error && error.code === 'CHAIN_UNAVAILABLE'
}
