import { z } from 'zod'
import type { TokenTransfer } from '../../ports/chain-facts.ts'
import { givenAddress } from '../../pure/chain/state.ts'
import { tokenText } from '../../pure/chain/token-amount.ts'
import { USDC_DECIMALS, usdcOn } from '../../pure/payments/usdc.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, BLOCK, blockShown, CHAIN, chainShown } from '../../service/catalogue/schemas.ts'
import { limits } from '../../service/limits.ts'

/** From and to are lower-case addresses. */
interface Moved {
  from: string
  to: string
  amount_minor: bigint
}

interface Flow {
  count: number
  total_minor: bigint
}

/** Sums of incoming and outgoing transfers; a transfer to oneself is neither, and counted once. Exact. */
interface TransferTotals {
  sent: Flow
  received: Flow
  to_self: Flow
  /** Received less sent. */
  net_minor: bigint
  /** Addresses on the other side. */
  counterparties: number
}

export function transferTotals(account: string, transfers: readonly Moved[]): TransferTotals {
  const totals = { sent: nothing(), received: nothing(), to_self: nothing() }
  const others = new Set<string>()
  for (const { from, to, amount_minor } of transfers) {
    const flow = from === to ? totals.to_self : from === account ? totals.sent : totals.received
    flow.count += 1
    flow.total_minor += amount_minor
    if (from !== to) others.add(from === account ? to : from)
  }
  return { ...totals, net_minor: totals.received.total_minor - totals.sent.total_minor, counterparties: others.size }
}

function nothing(): Flow {
  return { count: 0, total_minor: 0n }
}

const FLOW = z.strictObject({
  count: z.int().min(0).max(100_000_000).describe('Transfers.'),
  total_minor: z.string().describe('Their sum in minor units, exact.'),
  total: z.string().describe('Their sum in USDC, exact.'),
})

/** Recent payments of an account in USDC, incoming and outgoing. */
export default defineTool({
  id: 'settlement-history-check',
  title: 'Read two days of USDC transfers',
  description:
    'USDC sent and received by an address over about the last 48 hours of blocks: exact totals both ways, transfers to itself once, and the ' +
    'newest transfers. A history that could not be read whole is refused, never sold. Not charged while the chain cannot be read.',
  family: 'chain',
  version: '1.1.0',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: [`Transfer logs of USDC in the last ${limits.history_blocks} blocks (about 48 hours), to two below the head`],
    not_checked: ['what the transfers were for', 'other tokens', 'older transfers', 'who controls the addresses'],
  },
  headline: [
    {
      tone: 'neutral',
      word: '{received.count} received, {sent.count} sent',
      sentence: 'Received {received.total} and sent {sent.total} USDC in the last {coverage.blocks|block|blocks}.',
      badge: 'history',
    },
  ],
  sources: ['transfers', 'clock'],
  input: z.strictObject({ address: ADDRESS.describe('The account: 0x and 40 hexadecimal digits.') }),
  output: z.strictObject({
    valid: z.literal(true).describe('The whole window was read.'),
    address: z.string().describe('The account, with the capitals of EIP-55.'),
    address_checksum: z.enum(['absent', 'holds', 'broken']).describe('Whether the capitals that were given are those of EIP-55.'),
    chain: CHAIN,
    token: z.string().describe('USDC of this chain.'),
    block: BLOCK.describe('The last block that was read.'),
    usdc_sent: z.string().describe('USDC sent to others, exact decimal text: sent.total.'),
    usdc_received: z.string().describe('USDC received from others, exact decimal text: received.total.'),
    sent: FLOW.describe('To others.'),
    received: FLOW.describe('From others.'),
    to_self: FLOW.describe('From the account to itself: in neither of the two.'),
    net_minor: z.string().describe('Received less sent, in minor units.'),
    counterparties: z.int().min(0).max(100_000_000).describe('Different addresses on the other side.'),
    coverage: z
      .strictObject({
        from_block: z.string().describe('First block, decimal.'),
        to_block: z.string().describe('Last block, decimal.'),
        blocks: z.int().min(1).max(1_000_000).describe('Blocks that were read.'),
        complete: z.literal(true).describe('No block between them was left out.'),
        clipped_at_genesis: z.boolean().describe('The chain is younger than the window.'),
      })
      .describe('What the totals are over.'),
    transfers: z
      .array(
        z.strictObject({
          direction: z.enum(['sent', 'received', 'to_self']).describe('As the account sees it.'),
          counterparty: z.string().describe('The other side, lower case.'),
          amount_minor: z.string().describe('In minor units.'),
          block: z.string().describe('Height, decimal.'),
          transaction: z.string().describe('Hash.'),
          log_index: z.int().min(0).max(10_000_000).describe('Place within the block.'),
        }),
      )
      .describe(`The newest ${limits.history_transfers}, newest first; totals count all.`),
    transfers_truncated: z.boolean().describe('There are more than are listed.'),
  }),
  example: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
  async run(asked, { transfers: source, clock }) {
    const account = givenAddress(asked.address)
    const token = usdcOn(source.chain_id)
    const history = await source.history(token.address.toLowerCase(), account.address, limits.history_blocks)
    const { sent, received, to_self, net_minor, counterparties } = transferTotals(account.address, history.transfers)
    return {
      valid: true as const,
      address: account.checksummed,
      address_checksum: account.checksum,
      chain: chainShown(source),
      token: token.address,
      block: blockShown(history.to, clock.now_ms()),
      usdc_sent: tokenText(sent.total_minor, USDC_DECIMALS),
      usdc_received: tokenText(received.total_minor, USDC_DECIMALS),
      sent: flowShown(sent),
      received: flowShown(received),
      to_self: flowShown(to_self),
      net_minor: String(net_minor),
      counterparties,
      coverage: {
        from_block: String(history.from_block),
        to_block: String(history.to.number),
        blocks: Number(history.to.number - history.from_block) + 1,
        complete: true as const,
        clipped_at_genesis: history.clipped_at_genesis,
      },
      transfers: history.transfers
        .slice(-limits.history_transfers)
        .toReversed()
        .map((one) => transferShown(account.address, one)),
      transfers_truncated: history.transfers.length > limits.history_transfers,
    }
  },
})

function flowShown({ count, total_minor }: Flow) {
  return { count, total_minor: String(total_minor), total: tokenText(total_minor, USDC_DECIMALS) }
}

function transferShown(account: string, { from, to, amount_minor, block_number, transaction_hash, log_index }: TokenTransfer) {
  const direction = from === to ? ('to_self' as const) : from === account ? ('sent' as const) : ('received' as const)
  return {
    direction,
    counterparty: from === account ? to : from,
    amount_minor: String(amount_minor),
    block: String(block_number),
    transaction: transaction_hash,
    log_index,
  }
}
