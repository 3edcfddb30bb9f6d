/**
 * Contracts that only sandboxes and tests place. The token answers as USDC does and is worth nothing; payment channels have the interface of
 * those on public chains. Sources: contracts/TestUsdc.sol and contracts/ChannelSettlement.sol.
 */
import collector from '../../../data/contracts/authorization-collector.json' with { type: 'json' }
import settlement from '../../../data/contracts/channel-settlement.json' with { type: 'json' }
import artifact from '../../../data/contracts/test-usdc.json' with { type: 'json' }
import { AUTHORIZATION_COLLECTOR, CHANNEL_SETTLEMENT } from '../payments/channels.ts'

/** Code that, run as a contract's creation, returns the code to place; `owner` may mint, pause and blacklist. */
export function testUsdcCreation(owner: string): string {
  return `${artifact.creation_code}${owner.slice(2).toLowerCase().padStart(64, '0')}`
}

export const CHANNEL_CONTRACTS = [
  { address: CHANNEL_SETTLEMENT, creation_code: settlement.creation_code },
  { address: AUTHORIZATION_COLLECTOR, creation_code: collector.creation_code },
] as const
