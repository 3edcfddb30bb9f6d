import { accountKind, delegateOf, type AccountKind } from '../chain/account-kind.ts'
import { delegates, findLead, type Lead, type Loupe, readClone, readFacetAddresses, readFacets } from './proxy.ts'
import { scanCode, type CodeScan } from './code-scan.ts'
import { erc20Reads } from './erc20.ts'
import { OWNER_CALLS } from './owner.ts'
import { PROXY_SLOTS, SLOT_NAMES, slotState, type SlotState } from './slots.ts'
import { addressAnswer, callRead, dataOf, ZERO, type StateRead, type StateResults } from './state-reads.ts'

const IMPLEMENTATION_CALL = '0x5c60da1b'
const FACETS_CALL = '0x7a0ed627'
const FACET_ADDRESSES_CALL = '0x52ef6b2c'
/** A diamond reads a slot for each of its functions. */
const LOUPE_GAS = 10_000_000n
/** masterCopy(), which the code of a Safe's proxy answers itself. */
const MASTER_COPY = 0xa619486e

/** Everything that depends on nothing: one batch, 23 reads. */
export function firstReads(address: string): ReadonlyMap<string, StateRead> {
  const owner_calls = Object.entries(OWNER_CALLS).map(([name, data]): [string, StateRead] => [name, callRead(address, data)])
  const slots = SLOT_NAMES.map((name): [string, StateRead] => [name, { kind: 'storage', address, slot: PROXY_SLOTS[name] }])
  return new Map<string, StateRead>([
    ...accountReads(address),
    ...slots,
    ...erc20Reads(address),
    ...owner_calls,
    ['implementation', callRead(address, IMPLEMENTATION_CALL)],
    ['facets', callRead(address, FACETS_CALL, LOUPE_GAS)],
    ['facet_addresses', callRead(address, FACET_ADDRESSES_CALL, LOUPE_GAS)],
  ])
}

/** What the first batch tells about the account itself. */
export interface OwnFacts {
  kind: AccountKind
  code: string
  /** Null unless it is a contract. */
  scan: CodeScan | null
  slots: SlotState[]
  loupe: Loupe | null
  lead: Lead | null
  admin: string | null
}

export function ownFacts(address: string, first: StateResults): OwnFacts {
  const code = dataOf(first, `code ${address}`)
  const kind = kindOf(address, first)
  const clone = readClone(code)
  const scan = kind === 'contract' ? scanCode(code, clone?.code_bytes) : null
  const slots = scan === null ? [] : slotsOf(scan, code, first)
  const delegate = delegateOf(code)
  if (scan === null) {
    const lead = delegate === null ? null : ({ via: 'clone', kind: 'eip7702', target: delegate } as const)
    return { kind, code, scan, slots, loupe: null, lead, admin: null }
  }
  const told = addressAnswer(first.get('implementation'))
  const loupe = readFacets(dataOf(first, 'facets')) ?? readFacetAddresses(dataOf(first, 'facet_addresses'))
  const lead = findLead({
    clone,
    scan,
    slots,
    loupe,
    told: told.kind === 'address' && told.address !== ZERO ? told.address : null,
  })
  return { kind, code, scan, slots, loupe, lead, admin: delegates(scan) ? adminOf(slots) : null }
}

/** The slots as they stand; the Safe's only where the code is a Safe's. */
function slotsOf(scan: CodeScan, code: string, first: StateResults): SlotState[] {
  const safe = scan.selectors.has(MASTER_COPY)
  return SLOT_NAMES.filter((name) => name !== 'safe_singleton' || safe).map((name) =>
    namedSlot(slotState(name, dataOf(first, name), name === 'safe_singleton' ? safe : scan.slots_named.has(name)), code),
  )
}

/** OpenZeppelin's beacon proxies carry their beacon and write the slot only for others to read. */
function namedSlot(slot: SlotState, code: string): SlotState {
  return slot.name === 'eip1967_beacon' && slot.address !== null && code.includes(slot.address.slice(2))
    ? { ...slot, named_in_code: true }
    : slot
}

/** The slot that the code names first: an implementation can write to any other, and nothing reads it. */
function adminOf(slots: readonly SlotState[]): string | null {
  const admins = slots.filter(({ name, address }) => (name === 'eip1967_admin' || name === 'zeppelinos_admin') && address !== null)
  return (admins.find(({ named_in_code }) => named_in_code) ?? admins[0])?.address ?? null
}

/** What the lead, the admin and the owner point at: one batch, at most ten reads. */
export function secondReads({ lead, admin }: OwnFacts, owner: string | null): ReadonlyMap<string, StateRead> {
  const reads = new Map<string, StateRead>()
  const target = targetOf(lead)
  const beacon = lead?.via === 'beacon' ? lead.slot.address : null
  for (const code_of of [target, beacon]) if (code_of !== null) reads.set(`code ${code_of}`, { kind: 'code', address: code_of })
  if (beacon !== null) reads.set('beacon_implementation', callRead(beacon, IMPLEMENTATION_CALL))
  if (admin !== null) reads.set('admin_owner', callRead(admin, OWNER_CALLS.owner))
  for (const account of [admin, owner]) if (account !== null) for (const [name, read] of accountReads(account)) reads.set(name, read)
  return reads
}

/** Whom the first batch already tells that the contract delegates to. */
export function targetOf(lead: Lead | null): string | null {
  switch (lead?.via) {
    case 'clone':
    case 'call':
      return lead.target
    case 'slot':
      return lead.slot.address
    case 'beacon':
    case 'diamond':
    case undefined:
      return null
  }
}

function accountReads(address: string): [name: string, read: StateRead][] {
  return (['code', 'nonce', 'balance'] as const).map((kind) => [`${kind} ${address}`, { kind, address }])
}

/** What an account is whose code, nonce and balance were read. */
export function kindOf(address: string, results: StateResults): AccountKind {
  const quantity = (kind: 'nonce' | 'balance') => BigInt(dataOf(results, `${kind} ${address}`, '0x0'))
  return accountKind({ code: dataOf(results, `code ${address}`), nonce: quantity('nonce'), balance_wei: quantity('balance') })
}
