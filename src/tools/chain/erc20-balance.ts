import { z } from 'zod'
import { balanceText, DECIMALS_CALL, givenAddress, tokenBalance } from '../../pure/chain/state.ts'
import { balanceCall } from '../../pure/payments/token-calls.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, BLOCK, blockShown, CHAIN, chainShown } from '../../service/catalogue/schemas.ts'

/** Balance of an account in one token. */
export default defineTool({
  id: 'erc20-balance',
  title: 'Read a token balance',
  description:
    'balanceOf() of one ERC-20 token at one block, raw and in whole tokens. Decimals are read from the token; an override is used where ' +
    'given, and returned next to the decimals of the token. Not charged while the chain cannot be read.',
  family: 'chain',
  version: '1.1.0',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['balanceOf() and decimals() at one block'],
    not_checked: ['whether the contract is an honest token', 'who controls the account', 'what was pending at that time'],
  },
  headline: [
    {
      when: { valid: true },
      tone: 'neutral',
      word: '{formatted} tokens',
      sentence: 'Balance of {address} at block {block.number}.',
      badge: 'balance',
    },
    {
      when: { valid: true },
      tone: 'caution',
      word: '{raw} smallest units',
      sentence: 'The token does not say its decimals, so the amount in whole tokens is unknown.',
      badge: 'balance without decimals',
    },
    {
      when: { status: 'not_a_contract' },
      tone: 'bad',
      word: 'NOT A CONTRACT',
      sentence: 'There is no contract at {token_address}, so there is no balance.',
    },
    { tone: 'caution', word: 'BALANCE NOT READ', sentence: 'balanceOf() of {token_address}: {status}.' },
  ],
  sources: ['chain', 'clock'],
  input: z.strictObject({
    address: ADDRESS.describe('The account: 0x and 40 hexadecimal digits.'),
    token_address: ADDRESS.describe('The token contract.'),
    decimals: z.int().min(0).max(255).optional().describe('Decimals to write the amount with, instead of the token’s own.'),
  }),
  output: z.strictObject({
    valid: z.boolean().describe('The balance was read.'),
    address: z.string().describe('The account, with the capitals of EIP-55.'),
    address_checksum: z.enum(['absent', 'holds', 'broken']).describe('Whether the capitals that were given are those of EIP-55.'),
    token_address: z.string().describe('The token, with the capitals of EIP-55.'),
    token_address_checksum: z
      .enum(['absent', 'holds', 'broken'])
      .describe('Whether the capitals that were given for it are those of EIP-55.'),
    chain: CHAIN,
    block: BLOCK,
    status: z.enum(['ok', 'not_a_contract', 'reverted', 'malformed']).describe('How balanceOf() answered.'),
    raw: z.string().nullable().describe('In the smallest unit, or null.'),
    formatted: z.string().nullable().describe('In whole tokens, exact, or null without decimals.'),
    decimals: z.int().min(0).max(255).nullable().describe('Those that `formatted` is written with, or null.'),
    decimals_source: z.enum(['override', 'on_chain', 'unavailable']).describe('Where they come from.'),
    on_chain_decimals: z.int().min(0).max(255).nullable().describe('What decimals() returned, or null.'),
    decimals_differ: z.boolean().describe('The override is not what the token says.'),
  }),
  example: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', token_address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
  async run(asked, { chain, clock }) {
    const account = givenAddress(asked.address)
    const token = givenAddress(asked.token_address)
    const { header, said } = await chain.atOneBlock(async (at) => ({
      header: at.header,
      said: await at.read([
        { kind: 'code', address: token.address },
        { kind: 'call', to: token.address, data: balanceCall(account.address), gas: 1_000_000n },
        { kind: 'call', to: token.address, data: DECIMALS_CALL, gas: 1_000_000n },
      ]),
    }))
    const held = tokenBalance(said[0], said[1], said[2])
    const decimals = asked.decimals ?? held.on_chain_decimals
    const own = held.on_chain_decimals === null ? ('unavailable' as const) : ('on_chain' as const)
    return {
      valid: held.status === 'ok',
      address: account.checksummed,
      address_checksum: account.checksum,
      token_address: token.checksummed,
      token_address_checksum: token.checksum,
      chain: chainShown(chain),
      block: blockShown(header, clock.now_ms()),
      status: held.status,
      raw: held.raw === null ? null : String(held.raw),
      formatted: balanceText(held.raw, decimals),
      decimals,
      decimals_source: asked.decimals === undefined ? own : ('override' as const),
      on_chain_decimals: held.on_chain_decimals,
      decimals_differ: asked.decimals !== undefined && held.on_chain_decimals !== null && asked.decimals !== held.on_chain_decimals,
    }
  },
})
