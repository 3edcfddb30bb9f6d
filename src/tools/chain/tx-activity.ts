import { z } from 'zod'
import { accountKind, bytesOf, delegateOf, givenAddress, quantityOf } from '../../pure/chain/state.ts'
import { tokenText } from '../../pure/chain/token-amount.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, BLOCK, blockShown, CHAIN, chainShown } from '../../service/catalogue/schemas.ts'

/** Activity of an account: whether it ever sent a transaction, is a contract, and has coin to pay gas. */
export default defineTool({
  id: 'tx-activity',
  title: 'Read an account’s activity',
  description:
    'Outbound nonce, kind of account (key, contract, key with borrowed code after EIP-7702) and whether it holds coin for gas, at one ' +
    'block. Not charged while the chain cannot be read.',
  family: 'chain',
  version: '1.0.0',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['account nonce, code and native balance at one block'],
    not_checked: ['transactions received', 'transfers of tokens', 'who controls the account', 'what was pending at that time'],
  },
  headline: [
    {
      when: { account_kind: 'contract' },
      tone: 'neutral',
      word: 'CONTRACT',
      sentence: 'It has {native_formatted} ETH at block {block.number}.',
    },
    {
      when: { has_sent: true },
      tone: 'neutral',
      word: 'HAS SENT',
      sentence: '{outbound_nonce|transaction|transactions} sent; it has {native_formatted} ETH at block {block.number}.',
    },
    {
      when: { has_sent: false },
      tone: 'neutral',
      word: 'NEVER SENT',
      sentence: 'No transaction sent; it has {native_formatted} ETH at block {block.number}.',
    },
  ],
  sources: ['chain', 'clock'],
  input: z.strictObject({ address: ADDRESS.describe('The account: 0x and 40 hexadecimal digits.') }),
  output: z.strictObject({
    valid: z.literal(true).describe('The account was read.'),
    address: z.string().describe('The account, with the capitals of EIP-55.'),
    address_checksum: z.enum(['absent', 'holds', 'broken']).describe('Whether the capitals that were given are those of EIP-55.'),
    chain: CHAIN,
    block: BLOCK,
    outbound_nonce: z.string().describe('Transactions sent; for a contract, contracts it created plus one.'),
    has_sent: z.boolean().describe('An account with a key has sent, or delegated, at least once.'),
    is_contract: z.boolean().describe('True for an account with its own code; false for a delegated account (EIP-7702).'),
    account_kind: z.enum(['empty', 'eoa', 'delegated_eoa', 'contract']).describe('empty: no code, nonce or coin.'),
    delegate: z.string().nullable().describe('Whose code a delegated account runs, or null.'),
    code_size: z.int().min(0).max(1_000_000).describe('Bytes of code.'),
    funded: z.boolean().describe('Its native balance is above zero.'),
    native_raw: z.string().describe('Native balance in wei.'),
    native_formatted: z.string().describe('Native balance in ether, exact.'),
  }),
  example: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
  async run(asked, { chain, clock }) {
    const account = givenAddress(asked.address)
    const { address } = account
    const { header, said } = await chain.atOneBlock(async (at) => ({
      header: at.header,
      said: await at.read([
        { kind: 'nonce', address },
        { kind: 'code', address },
        { kind: 'balance', address },
      ]),
    }))
    const nonce = quantityOf(said[0])
    const code = bytesOf(said[1])
    const balance_wei = quantityOf(said[2])
    const kind = accountKind({ code, nonce, balance_wei })
    return {
      valid: true as const,
      address: account.checksummed,
      address_checksum: account.checksum,
      chain: chainShown(chain),
      block: blockShown(header, clock.now_ms()),
      outbound_nonce: String(nonce),
      has_sent: kind !== 'contract' && nonce > 0n,
      is_contract: kind === 'contract',
      account_kind: kind,
      delegate: delegateOf(code),
      code_size: (code.length - 2) / 2,
      funded: balance_wei > 0n,
      native_raw: String(balance_wei),
      native_formatted: tokenText(balance_wei, 18),
    }
  },
})
