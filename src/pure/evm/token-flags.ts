import { SELECTOR_CATEGORIES, type SelectorCategory } from './privileged-selectors.ts'
import type { TokenFacts } from './token-facts.ts'

type Severity = 'info' | 'caution' | 'warning'

/** Something worth a look. No flag means nothing; many flags mean no verdict either. */
export interface Flag {
  id: string
  severity: Severity
  /** JSONPath (RFC 9535) of each fact that it rests on. */
  facts: string[]
}

export interface FlagCounts {
  info: number
  caution: number
  warning: number
  total: number
}

/** Facts for the flags; `account.checksum` is the result of the checksum in the caller's spelling. */
export type FlaggedFacts = TokenFacts & { account: { checksum: 'absent' | 'holds' | 'broken' } }

/** Risk for token holders by functions of a kind. */
const CATEGORY_SEVERITY: Readonly<Record<SelectorCategory, Severity>> = {
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
export function raiseFlags(facts: FlaggedFacts): Flag[] {
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
