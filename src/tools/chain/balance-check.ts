import { z } from 'zod'
import { balanceText, DECIMALS_CALL, givenAddress, quantityOf, tokenBalance } from '../../pure/chain/state.ts'
import { tokenText } from '../../pure/chain/token-amount.ts'
import { balanceCall } from '../../pure/payments/token-calls.ts'
import { usdcOn } from '../../pure/payments/usdc.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, BLOCK, blockShown, CHAIN, chainShown } from '../../service/catalogue/schemas.ts'

const ETHER_DECIMALS = 18
const STATUS = z.enum(['ok', 'not_a_contract', 'reverted', 'malformed'])

/** Balances of an account in the coin of the chain and in one token, both at one block. */
export default defineTool({
  id: 'balance-check',
  title: 'Read an account’s balances',
  description:
    'Native balance and balance of one token (USDC unless another is named) of an address on the L2, read at one block. Raw units, ' +
    'decimals as the token itself states them, and where they came from. Not charged while the chain cannot be read.',
  family: 'chain',
  version: '1.1.0',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['native balance, balanceOf() and decimals() at one block'],
    not_checked: ['who controls the account', 'whether the token is worth anything', 'what was pending at that time'],
  },
  headline: [
    {
      when: { valid: true, 'token.is_usdc': true },
      tone: 'neutral',
      word: '{token.formatted} USDC',
      sentence: 'And {native.formatted} ETH, at block {block.number}.',
      badge: 'balance',
    },
    {
      when: { valid: true },
      tone: 'neutral',
      word: '{token.formatted} tokens',
      sentence: 'And {native.formatted} ETH, at block {block.number}.',
      badge: 'balance',
    },
    {
      when: { valid: true },
      tone: 'caution',
      word: '{token.raw} smallest units',
      sentence: 'The token does not say its decimals. And {native.formatted} ETH, at block {block.number}.',
      badge: 'balance without decimals',
    },
    {
      when: { valid: false },
      tone: 'caution',
      word: 'TOKEN BALANCE NOT READ',
      sentence: 'balanceOf() of the token: {token.status}. The account has {native.formatted} ETH, at block {block.number}.',
    },
  ],
  sources: ['chain', 'clock'],
  input: z.strictObject({
    address: ADDRESS.describe('The account: 0x and 40 hexadecimal digits.'),
    token_address: ADDRESS.optional().describe('The token; USDC of the chain when left out.'),
  }),
  output: z.strictObject({
    valid: z.boolean().describe('Both balances were read.'),
    address: z.string().describe('The account, with the capitals of EIP-55.'),
    address_checksum: z.enum(['absent', 'holds', 'broken']).describe('Whether the capitals that were given are those of EIP-55.'),
    chain: CHAIN,
    block: BLOCK,
    native: z
      .strictObject({
        symbol: z.literal('ETH').describe('The coin of the chain.'),
        raw: z.string().describe('In wei.'),
        decimals: z.int().min(18).max(18).describe('Fixed by the protocol.'),
        formatted: z.string().describe('In ether, exact.'),
      })
      .describe('The coin in which gas is paid.'),
    token: z
      .strictObject({
        address: z.string().describe('The token, with the capitals of EIP-55.'),
        address_checksum: z
          .enum(['absent', 'holds', 'broken'])
          .describe('Whether the capitals that were given for it are those of EIP-55.'),
        is_usdc: z.boolean().describe('It is the USDC of this chain.'),
        status: STATUS.describe('How balanceOf() answered.'),
        raw: z.string().nullable().describe('In the smallest unit, or null.'),
        decimals: z.int().min(0).max(255).nullable().describe('What decimals() returned, or null.'),
        decimals_source: z.enum(['on_chain', 'unavailable']).describe('They are never guessed.'),
        formatted: z.string().nullable().describe('In whole tokens, exact, or null without decimals.'),
      })
      .describe('The token.'),
  }),
  example: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
  async run(asked, { chain, clock }) {
    const account = givenAddress(asked.address)
    const token = givenAddress(asked.token_address ?? usdcOn(chain.chain_id).address)
    const { header, said } = await chain.atOneBlock(async (at) => ({
      header: at.header,
      said: await at.read([
        { kind: 'balance', address: account.address },
        { kind: 'code', address: token.address },
        { kind: 'call', to: token.address, data: balanceCall(account.address), gas: 1_000_000n },
        { kind: 'call', to: token.address, data: DECIMALS_CALL, gas: 1_000_000n },
      ]),
    }))
    const [native, code, balance, decimals] = said
    const held = tokenBalance(code, balance, decimals)
    const wei = quantityOf(native)
    return {
      valid: held.status === 'ok',
      address: account.checksummed,
      address_checksum: account.checksum,
      chain: chainShown(chain),
      block: blockShown(header, clock.now_ms()),
      native: {
        symbol: 'ETH' as const,
        raw: String(wei),
        decimals: ETHER_DECIMALS,
        formatted: tokenText(wei, ETHER_DECIMALS),
      },
      token: {
        address: token.checksummed,
        address_checksum: token.checksum,
        is_usdc: token.checksummed === usdcOn(chain.chain_id).address,
        status: held.status,
        raw: held.raw === null ? null : String(held.raw),
        decimals: held.on_chain_decimals,
        decimals_source: held.on_chain_decimals === null ? ('unavailable' as const) : ('on_chain' as const),
        formatted: balanceText(held.raw, held.on_chain_decimals),
      },
    }
  },
})
