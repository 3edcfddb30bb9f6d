/** Code of the contracts of payment channels for sandboxes, whose chain has no other. Source: contracts/ChannelSettlement.sol. */
import collector from '../../../data/contracts/authorization-collector.json' with { type: 'json' }
import settlement from '../../../data/contracts/channel-settlement.json' with { type: 'json' }
import { AUTHORIZATION_COLLECTOR, CHANNEL_SETTLEMENT } from '../payments/channels.ts'

export const CHANNEL_CONTRACTS = [
  { address: CHANNEL_SETTLEMENT, creation_code: settlement.creation_code },
  { address: AUTHORIZATION_COLLECTOR, creation_code: collector.creation_code },
] as const
