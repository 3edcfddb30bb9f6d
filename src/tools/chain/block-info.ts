import { z } from 'zod'
import type { BlockTag } from '../../ports/chain-facts.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { CHAIN, chainShown } from '../../service/catalogue/schemas.ts'

const TAGS = ['latest', 'earliest', 'pending', 'finalized', 'safe'] as const satisfies readonly BlockTag[]

/** The header of one block. */
export default defineTool({
  id: 'block-info',
  title: 'Read a block header',
  description:
    'Header of a block by number (decimal or hex) or tag: number, hash, time, count of transactions, base fee, gas, and whether the chain ' +
    'calls it final. Not charged while the chain cannot be read.',
  family: 'chain',
  version: '1.0.1',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['the header as a node of this chain returns it'],
    not_checked: ['what the transactions did', 'proofs of consensus'],
  },
  headline: [
    {
      when: { found: true },
      tone: 'neutral',
      word: 'block {number}',
      sentence: '{transaction_count|transaction|transactions}, at {timestamp}.',
      badge: 'block',
    },
    { when: { found: true }, tone: 'neutral', word: 'block {number}', sentence: 'At {timestamp}.', badge: 'block' },
    { when: { found: false }, tone: 'caution', word: 'BLOCK NOT FOUND', sentence: 'The chain has no block {requested}.' },
  ],
  sources: ['chain', 'clock'],
  input: z.strictObject({
    block: z
      .string()
      .max(66)
      .regex(/^(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}|latest|earliest|pending|finalized|safe)$/)
      .optional()
      .describe('Number, decimal or 0x hex, or latest (default), earliest, pending, finalized, safe.'),
  }),
  output: z.strictObject({
    valid: z.boolean().describe('The chain has this block.'),
    found: z.boolean().describe('The chain has this block.'),
    requested: z.string().describe('What was looked for: a tag, or a decimal number.'),
    chain: CHAIN,
    number: z.string().nullable().describe('Height, decimal.'),
    hash: z.string().nullable().describe('Null while pending.'),
    parent_hash: z.string().nullable().describe('Hash of the block before.'),
    timestamp_s: z.int().nullable().describe('Seconds since 1970.'),
    timestamp: z.string().nullable().describe('The same, RFC 3339.'),
    age_s: z.int().nullable().describe('Seconds between that time and this answer.'),
    transaction_count: z.int().nullable().describe('Transactions in it.'),
    base_fee_wei: z.string().nullable().describe('Wei per gas, or null before EIP-1559.'),
    gas_used: z.string().nullable().describe('Gas of its transactions.'),
    gas_limit: z.string().nullable().describe('Gas that it could have held.'),
    final: z.boolean().nullable().describe('Nothing will replace it; null where the node does not say.'),
  }),
  example: { block: 'latest' },
  async run({ block = 'latest' }, { chain, clock }) {
    const tag = TAGS.find((one) => one === block)
    const asked = tag ?? BigInt(block)
    const [facts, finalized] = await Promise.all([chain.block(asked), tag === undefined ? chain.block('finalized') : null])
    const seen = { found: facts !== null, valid: facts !== null, requested: String(asked), chain: chainShown(chain) }
    if (facts === null) return { ...seen, ...ABSENT }
    return {
      ...seen,
      number: facts.number === null ? null : String(facts.number),
      hash: facts.hash,
      parent_hash: facts.parent_hash,
      timestamp_s: facts.timestamp_s,
      timestamp: new Date(facts.timestamp_s * 1_000).toISOString(),
      age_s: Math.floor(clock.now_ms() / 1_000) - facts.timestamp_s,
      transaction_count: facts.transaction_count,
      base_fee_wei: facts.base_fee_wei === null ? null : String(facts.base_fee_wei),
      gas_used: String(facts.gas_used),
      gas_limit: String(facts.gas_limit),
      final: isFinal(tag, facts.number, finalized?.number ?? null),
    }
  },
})

const ABSENT = {
  number: null,
  hash: null,
  parent_hash: null,
  timestamp_s: null,
  timestamp: null,
  age_s: null,
  transaction_count: null,
  base_fee_wei: null,
  gas_used: null,
  gas_limit: null,
  final: null,
}

/** The tags say it themselves; of a number, the finalized block does. */
function isFinal(tag: BlockTag | undefined, number: bigint | null, finalized: bigint | null): boolean | null {
  switch (tag) {
    case 'finalized':
    case 'earliest':
      return true
    case 'latest':
    case 'pending':
    case 'safe':
      return false
    case undefined:
      return number === null || finalized === null ? null : number <= finalized
  }
}
