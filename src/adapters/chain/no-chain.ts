import type { ChainFacts, Transfers } from '../../ports/chain-facts.ts'
import { ChainUnavailableError } from './errors.ts'

/** In place of a chain, where this machine has none: whoever asks is told. */
export function noChain(chain_id: number): { chain: ChainFacts; transfers: Transfers } {
  const refuse = () => Promise.reject(new ChainUnavailableError('There is no chain here to read.'))
  return {
    chain: { chain_id, sandbox: true, atOneBlock: refuse, block: refuse },
    transfers: { chain_id, sandbox: true, history: refuse },
  }
}
