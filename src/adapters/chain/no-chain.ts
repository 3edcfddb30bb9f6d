import type { ChainFacts, Transfers } from '../../ports/chain-facts.ts'
import { ChainUnavailableError } from './errors.ts'

/** Chain of a machine without one: every read is rejected. */
export function noChain(chain_id: number): { chain: ChainFacts; transfers: Transfers } {
  const refuse = () => Promise.reject(new ChainUnavailableError('There is no chain here to read.'))
  return {
    chain: { chain_id, sandbox: true, atOneBlock: refuse, block: refuse },
    transfers: { chain_id, sandbox: true, history: refuse },
  }
}
