import { z } from 'zod'
import { givenAddress } from '../../pure/chain/state.ts'
import type { StateRead, StateResult } from '../../pure/evm/state-reads.ts'
import { readTokenContract, TOKEN_RULES } from '../../pure/evm/token-facts.ts'
import { countFlags, raiseFlags } from '../../pure/evm/token-flags.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, BLOCK, blockShown } from '../../service/catalogue/schemas.ts'

const YES_NO_UNKNOWN = z.boolean().nullable()
const TEXT = z.string().nullable()
const COUNT = z.int().min(0).max(1_000_000)

const ACCOUNT = z
  .strictObject({
    kind: z.enum(['empty', 'eoa', 'delegated_eoa', 'contract']).describe('empty: no code, nonce or coin.'),
    code_size: COUNT.describe('Bytes of code.'),
    code_hash: TEXT.describe('keccak-256 of it, or null.'),
    metadata_bytes: COUNT.nullable().describe('Compiler metadata left out of the scan, or null.'),
    checksum: z.enum(['absent', 'holds', 'broken']).describe('Whether the given capitals are those of EIP-55.'),
  })
  .describe('The account at the address.')

const ERC20 = z
  .strictObject({
    conforms: YES_NO_UNKNOWN.describe('All six functions of EIP-20 were found; null: the code is not known.'),
    name: TEXT.describe('As the token says, unseen characters removed, at most 64.'),
    symbol: TEXT.describe('The same for its symbol.'),
    decimals: z.int().min(0).max(255).nullable().describe('What decimals() returned, or null.'),
    total_supply: TEXT.describe('In the smallest unit.'),
    encoding: z.enum(['string', 'bytes32']).nullable().describe('How name or symbol were returned.'),
    altered: z.array(z.string()).describe('Fields whose text was not fit to show as it was.'),
    missing: z.array(z.string()).describe('Functions of EIP-20 that were not found.'),
    errors: z.record(z.string(), z.enum(['reverted', 'no_data', 'malformed', 'out_of_range'])).describe('By field.'),
  })
  .describe('What it answers as a token.')

const PROXY = z
  .strictObject({
    is_proxy: YES_NO_UNKNOWN.describe('null: it passes calls on, and where to is not certain.'),
    kind: TEXT.describe('Such as eip1967_uups, eip1167 or diamond.'),
    implementation: TEXT.describe('What it delegates to, lower case.'),
    implementation_status: z.enum(['code', 'no_code', 'dirty', 'unknown']).nullable().describe('How far that address holds.'),
    implementation_code_hash: TEXT.describe('keccak-256 of its code.'),
    admin: TEXT.describe('Read from the admin slot.'),
    admin_kind: z.enum(['empty', 'eoa', 'delegated_eoa', 'contract', 'proxy_admin']).nullable().describe('What the admin is.'),
    admin_owner: TEXT.describe('Whom owner() of a ProxyAdmin names; null for other admins.'),
    beacon: TEXT.describe('Whom it asks for the implementation.'),
    upgradeable: YES_NO_UNKNOWN.describe('null: unknown.'),
    slots_checked: z.array(z.record(z.string(), z.unknown())).describe('{name, slot, state, address, named_in_code} each.'),
    facet_count: COUNT.nullable().describe('Facets of a diamond.'),
  })
  .describe('What it delegates to.')

const OWNER = z
  .strictObject({
    status: z.enum(['address', 'zero', 'dead', 'not_present', 'reverted', 'unknown']).describe('How owner() answered.'),
    address: TEXT.describe('The owner, lower case.'),
    method: z.enum(['owner()', 'getOwner()']).nullable().describe('Who said so.'),
    pending_owner: TEXT.describe('Who may take over.'),
    account_kind: z.enum(['empty', 'eoa', 'delegated_eoa', 'contract']).nullable().describe('What the owner is.'),
    note: TEXT.describe('What this does not rule out.'),
  })
  .describe('Who owns it, as far as it says.')

const SELECTORS = z
  .array(
    z.strictObject({
      category: z.string().describe('What it is for.'),
      signature: z.string().describe('Its Solidity signature.'),
      selector: z.string().describe('Its four bytes.'),
      where: z.enum(['contract', 'implementation', 'facet']).describe('Whose code.'),
      evidence: z.enum(['dispatcher', 'constant_only', 'loupe']).describe('constant_only: it may be called, not offered.'),
    }),
  )
  .describe('Well-known functions for operators that occur.')

const OPCODES = z
  .array(
    z.strictObject({
      name: z.string().describe('Of the opcode.'),
      count: COUNT.describe('Number of occurrences in the code.'),
      where: z.enum(['contract', 'implementation', 'facet']).describe('Whose code.'),
      evidence: z.literal('linear_sweep').describe('Present in the code; it may never run.'),
      note: TEXT.describe('How to read it.'),
    }),
  )
  .describe('Opcodes worth knowing of. SSTORE is always listed.')

const FLAGS = z
  .array(
    z.strictObject({
      id: z.string().describe('Name of the flag.'),
      severity: z.enum(['info', 'caution', 'warning']).describe('How much it deserves a look.'),
      facts: z.array(z.string()).describe('JSONPath of what it rests on.'),
    }),
  )
  .describe('What deserves a look. No flag does not mean safe.')

/** Facts about a token contract, all read at one block; no verdict. */
export default defineTool({
  id: 'token-contract-risk',
  title: 'Read facts about a token contract',
  description:
    'Facts about a token contract on Base at one block: contract or plain account, ERC-20 metadata, proxy and implementation (EIP-1967, ' +
    '1822, 1167, 2535 and others), owner, well-known privileged functions and opcodes in the bytecode, with evidence for each flag. ' +
    'Facts, not a verdict: no flag does not mean safe.',
  family: 'chain',
  version: '1.1.0',
  price: 'contract',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: [
      'code, proxy slots and view calls of one address at one block, and the code that it delegates to',
      `selectors, slots, clone patterns and flags of the rule set ${TOKEN_RULES}`,
    ],
    not_checked: [
      'whether it can be bought and sold (no simulation)',
      'liquidity, holders and past transfers',
      'source code and its verification',
      'functions under other names, and who may call those found',
      'code of the facets of a diamond',
      'control outside the chain',
    ],
  },
  headline: [
    {
      when: { is_contract: false },
      tone: 'caution',
      word: 'NOT A CONTRACT',
      sentence: 'There is no contract code at this address.',
    },
    {
      when: { 'flag_counts.warning': 0, 'flag_counts.caution': 0 },
      tone: 'neutral',
      word: 'no warnings',
      sentence: 'Facts at block {block.number}, not a verdict: no flag does not mean safe.',
    },
    {
      when: { 'flag_counts.warning': 0 },
      tone: 'caution',
      word: '{flag_counts.caution|caution|cautions}',
      sentence: 'Facts at block {block.number}, not a verdict: each flag names what it rests on.',
      badge: 'cautions',
    },
    {
      tone: 'caution',
      word: '{flag_counts.warning|warning|warnings}, {flag_counts.caution|caution|cautions}',
      sentence: 'Facts at block {block.number}, not a verdict: each flag names what it rests on.',
      badge: 'warnings',
    },
  ],
  sources: ['chain', 'clock'],
  input: z.strictObject({
    address: ADDRESS.describe('The contract: 0x and 40 hexadecimal digits.'),
    chain: z.enum(['base']).optional().describe('Only base.'),
  }),
  output: z.strictObject({
    valid: z.literal(true).describe('Everything was read.'),
    address: z.string().describe('The address, with the capitals of EIP-55.'),
    is_contract: z.boolean().describe('True for an account with its own code; false for a delegated account (EIP-7702).'),
    account: ACCOUNT,
    chain: z.literal('base').describe('The chain that was asked for.'),
    block: BLOCK.extend({
      chain_id: z.int().min(1).max(1_000_000_000).describe('EIP-155 chain id that was read.'),
      sandbox: z.boolean().describe('A chain of this machine, which says nothing about the world.'),
    }).describe('Everything was read at this one block.'),
    erc20: ERC20,
    proxy: PROXY,
    owner: OWNER,
    privileged_selectors: SELECTORS,
    opcodes: OPCODES,
    flags: FLAGS,
    flag_counts: z
      .strictObject({
        info: COUNT.describe('Flags of this severity.'),
        caution: COUNT.describe('Flags of this severity.'),
        warning: COUNT.describe('Flags of this severity.'),
        total: COUNT.describe('All flags.'),
      })
      .describe('How many flags there are.'),
    reason: z.null().describe('Why the facts are not valid; in an answer never set.'),
    retryable: z.literal(false).describe('Whether to ask again; only problems may be.'),
  }),
  example: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', chain: 'base' },
  async run(asked, { chain, clock }) {
    const given = givenAddress(asked.address)
    const { header, facts } = await chain.atOneBlock(async (at) => ({
      header: at.header,
      facts: await gather(given.address, (reads) => at.read(reads)),
    }))
    const { account, proxy, ...rest } = facts
    const flagged = { ...rest, proxy, account: { ...account, checksum: given.checksum } }
    const flags = raiseFlags(flagged)
    return {
      valid: true as const,
      address: given.checksummed,
      ...flagged,
      proxy: { ...proxy, slots_checked: proxy.slots_checked.map((slot) => ({ ...slot })) },
      chain: 'base' as const,
      block: { ...blockShown(header, clock.now_ms()), chain_id: chain.chain_id, sandbox: chain.sandbox },
      flags,
      flag_counts: countFlags(flags),
      reason: null,
      retryable: false as const,
    }
  },
})

/** Runs the reading, batch by batch: at most three round trips. */
async function gather(address: string, read: (reads: readonly StateRead[]) => Promise<readonly StateResult[]>) {
  const reading = readTokenContract(address)
  let step = reading.next()
  while (step.done !== true) step = reading.next(await read(step.value))
  return step.value
}
