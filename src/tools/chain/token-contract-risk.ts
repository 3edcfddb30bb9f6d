import { z } from 'zod'
import { givenAddress } from '../../pure/chain/state.ts'
import { SELECTOR_CATEGORIES } from '../../pure/evm/code-scan.ts'
import type { StateRead, StateResult } from '../../pure/evm/state-reads.ts'
import { readTokenContract, TOKEN_RULES, type TokenFacts } from '../../pure/evm/token-facts.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, BLOCK, blockShown } from '../../service/catalogue/schemas.ts'

type Severity = 'info' | 'caution' | 'warning'

/** Something worth a look. No flag means nothing; many flags mean no verdict either. */
export interface Flag {
  id: string
  severity: Severity
  /** JSONPath (RFC 9535) of each fact that it rests on. */
  facts: string[]
}

interface FlagCounts {
  info: number
  caution: number
  warning: number
  total: number
}

/** Facts for the flags; `account.checksum` is the result of the checksum in the caller's spelling. */
type FlaggedFacts = TokenFacts & { account: { checksum: 'absent' | 'holds' | 'broken' } }

/** Risk for token holders by functions of a kind. */
const CATEGORY_SEVERITY: Readonly<Record<(typeof SELECTOR_CATEGORIES)[number], Severity>> = {
  mint: 'caution',
  burn_others: 'warning',
  pause_freeze: 'caution',
  blacklist: 'caution',
  fees: 'caution',
  exemptions: 'caution',
  limits: 'caution',
  trading: 'caution',
  upgrade: 'caution',
  ownership: 'info',
  lock: 'warning',
  roles: 'info',
  rescue: 'info',
  balances: 'warning',
}

type Raise = (when: boolean, id: string, severity: Severity, ...facts: string[]) => void

/** Every flag that these facts raise, in a fixed order; each points at what it rests on. */
function raiseFlags(facts: FlaggedFacts): Flag[] {
  const flags: Flag[] = []
  const raise: Raise = (when, id, severity, ...paths) => {
    if (when) flags.push({ id, severity, facts: paths })
  }
  accountFlags(facts, raise)
  tokenFlags(facts, raise)
  proxyFlags(facts, raise)
  ownerFlags(facts, raise)
  selectorFlags(facts, raise)
  opcodeFlags(facts, raise)
  return flags
}

export function countFlags(flags: readonly Flag[]): FlagCounts {
  const of = (severity: Severity) => flags.filter((flag) => flag.severity === severity).length
  return { info: of('info'), caution: of('caution'), warning: of('warning'), total: flags.length }
}

function accountFlags({ account, is_contract }: FlaggedFacts, raise: Raise): void {
  raise(account.checksum === 'broken', 'address_checksum_broken', 'warning', '$.account.checksum')
  raise(!is_contract, 'not_a_contract', 'info', '$.is_contract', '$.account.kind')
  raise(account.kind === 'delegated_eoa', 'account_delegates', 'caution', '$.account.kind', '$.proxy.implementation')
}

function tokenFlags({ erc20, is_contract }: FlaggedFacts, raise: Raise): void {
  raise(is_contract && erc20.conforms === false, 'not_erc20', 'caution', '$.erc20.conforms', '$.erc20.missing')
  raise(is_contract && erc20.conforms === null, 'erc20_unknown', 'info', '$.erc20.conforms')
  const failed = Object.keys(erc20.errors)
  raise(failed.length > 0, 'metadata_unreadable', 'info', ...failed.map((field) => `$.erc20.errors.${field}`))
  const misleading = erc20.altered.map((field) => `$.erc20.${field}`)
  raise(misleading.length > 0, 'metadata_text_altered', 'caution', '$.erc20.altered', ...misleading)
  raise(erc20.total_supply === '0', 'no_supply', 'info', '$.erc20.total_supply')
}

function proxyFlags({ proxy, erc20, is_contract, opcodes }: FlaggedFacts, raise: Raise): void {
  const { implementation_status, slots_checked } = proxy
  const delegatingOf = (place: string) =>
    opcodes.findIndex(({ name, where }) => where === place && (name === 'DELEGATECALL' || name === 'CALLCODE'))
  const delegating = delegatingOf('contract')
  const slots = (holds: (slot: (typeof slots_checked)[number]) => boolean) =>
    slots_checked.flatMap((slot, index) => (holds(slot) ? [`$.proxy.slots_checked[${index}]`] : []))
  raise(is_contract && proxy.upgradeable === true, 'upgradeable', 'caution', '$.proxy.kind', '$.proxy.upgradeable')
  raise(
    proxy.admin_kind === 'eoa' || proxy.admin_kind === 'delegated_eoa',
    'admin_is_eoa',
    'caution',
    '$.proxy.admin',
    '$.proxy.admin_kind',
  )
  raise(implementation_status === 'no_code', 'implementation_without_code', 'warning', '$.proxy.implementation')
  const unread = unreadCode(proxy, delegating, delegatingOf('implementation'))
  const blind = implementation_status === 'unknown' || erc20.conforms === null
  raise(unread.length > 0, 'implementation_unresolved', blind ? 'warning' : 'caution', ...unread)
  raise(proxy.facet_count !== null, 'facets_not_scanned', 'info', '$.proxy.facet_count')
  const unresolved = proxy.is_proxy === null && proxy.kind === null
  raise(unresolved && delegating >= 0, 'delegatecall_unresolved', 'caution', `$.opcodes[${delegating}]`)
  const dirty = slots(({ state }) => state === 'dirty')
  raise(dirty.length > 0, 'slot_dirty', 'warning', ...dirty)
  const set = slots(({ state }) => state !== 'zero')
  raise(delegating < 0 && set.length > 0, 'slot_without_delegatecall', 'caution', ...set)
  const unnamed = slots(({ state, name, named_in_code }) => state !== 'zero' && !named_in_code && !name.endsWith('_admin'))
  raise(proxy.is_proxy === null && unnamed.length > 0, 'slot_not_named_in_code', 'caution', ...unnamed)
}

/**
 * Evidence that unread code answers: behind an unknown or delegated implementation, behind one that delegates further, or behind a CALL.
 * An implementation that upgrades itself (UUPS) delegates to its successor; that is reported as `upgradeable`.
 */
function unreadCode({ implementation_status, is_proxy, kind }: FlaggedFacts['proxy'], delegating: number, onward: number): string[] {
  if (implementation_status === 'unknown') return ['$.proxy.implementation_status']
  if (onward >= 0 && kind !== 'eip1967_uups') return [`$.opcodes[${onward}]`]
  return is_proxy === null && kind === null && delegating < 0 ? ['$.proxy.is_proxy'] : []
}

function ownerFlags({ owner }: FlaggedFacts, raise: Raise): void {
  const { status, account_kind } = owner
  raise(status === 'address' && account_kind !== 'contract', 'owner_is_one_key', 'caution', '$.owner.address', '$.owner.account_kind')
  raise(status === 'address' && account_kind === 'contract', 'owner_is_contract', 'info', '$.owner.address', '$.owner.account_kind')
  raise(status === 'zero' || status === 'dead', 'ownership_given_up', 'info', '$.owner.status', '$.owner.address')
  raise(status === 'reverted' || status === 'unknown', 'owner_unknown', 'info', '$.owner.status')
  raise(owner.pending_owner !== null, 'owner_pending', 'caution', '$.owner.pending_owner')
}

/** A selector that is only a constant in the code may be a function that this contract calls elsewhere. */
function selectorFlags({ privileged_selectors }: FlaggedFacts, raise: Raise): void {
  for (const category of SELECTOR_CATEGORIES) {
    const found = privileged_selectors.flatMap((one, index) => (one.category === category ? [{ ...one, index }] : []))
    const certain = found.some(({ evidence }) => evidence !== 'constant_only')
    const severity = certain ? CATEGORY_SEVERITY[category] : 'info'
    raise(found.length > 0, `can_${category}`, severity, ...found.map(({ index }) => `$.privileged_selectors[${index}]`))
  }
}

const OPCODE_FLAGS: readonly { name: string; id: string; severity: Severity }[] = [
  { name: 'SELFDESTRUCT', id: 'has_selfdestruct', severity: 'warning' },
  { name: 'CALLCODE', id: 'has_callcode', severity: 'caution' },
  { name: 'DELEGATECALL', id: 'has_delegatecall', severity: 'info' },
  { name: 'CREATE', id: 'has_create', severity: 'info' },
  { name: 'CREATE2', id: 'has_create2', severity: 'info' },
  { name: 'ORIGIN', id: 'asks_origin', severity: 'caution' },
]

function opcodeFlags({ opcodes, proxy }: FlaggedFacts, raise: Raise): void {
  for (const { name, id, severity } of OPCODE_FLAGS) {
    const found = opcodes.flatMap((one, index) => (one.name === name ? [`$.opcodes[${index}]`] : []))
    raise(found.length > 0, id, severity, ...found)
  }
  const stores = opcodes.findIndex(({ name, where }) => name === 'SSTORE' && where === 'contract')
  raise(proxy.is_proxy === false && opcodes[stores]?.count === 0, 'stores_nothing', 'info', `$.opcodes[${stores}]`)
}

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
