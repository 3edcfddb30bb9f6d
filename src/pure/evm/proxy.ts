import type { CloneKind } from './clones.ts'
import type { CodeScan } from './code-scan.ts'
import type { Loupe } from './diamond.ts'
import { isDead } from './owner.ts'
import type { SlotName, SlotState } from './slots.ts'
import type { AccountKind } from '../chain/account-kind.ts'

type ProxyKind =
  | CloneKind
  | 'eip7702'
  | 'eip1967'
  | 'eip1967_transparent'
  | 'eip1967_uups'
  | 'eip1967_beacon'
  | 'eip1822'
  | 'zeppelinos'
  | 'matic'
  | 'safe'
  | 'diamond'
  | 'implementation_call'

/** How far the address that a proxy delegates to may be believed. */
type ImplementationStatus = 'code' | 'no_code' | 'dirty' | 'unknown'

export interface ProxyFacts {
  /** Null: it passes calls on, and where to cannot be told. */
  is_proxy: boolean | null
  kind: ProxyKind | null
  implementation: string | null
  /** Null when there is nothing to implement. */
  implementation_status: ImplementationStatus | null
  implementation_code_hash: string | null
  admin: string | null
  admin_kind: AccountKind | 'proxy_admin' | null
  /** Whom owner() of a ProxyAdmin names; null for every other admin. */
  admin_owner: string | null
  beacon: string | null
  upgradeable: boolean | null
  slots_checked: SlotState[]
  facet_count: number | null
}

/** Where a contract keeps what it delegates to, as far as its own code and storage tell. */
export type Lead =
  | { via: 'clone'; kind: CloneKind | 'eip7702'; target: string }
  | { via: 'slot'; kind: ProxyKind; slot: SlotState }
  | { via: 'beacon'; slot: SlotState }
  | { via: 'diamond'; loupe: Loupe }
  | { via: 'call'; target: string }

/** Slots that hold an implementation, in the order in which they are believed. */
const IMPLEMENTATION_SLOTS: readonly [SlotName, ProxyKind][] = [
  ['eip1967_implementation', 'eip1967'],
  ['zeppelinos_implementation', 'zeppelinos'],
  ['eip1822_logic', 'eip1822'],
  ['matic_implementation', 'matic'],
  ['safe_singleton', 'safe'],
]

export interface LeadsGiven {
  clone: { kind: CloneKind | 'eip7702'; target: string } | null
  scan: CodeScan
  slots: readonly SlotState[]
  loupe: Loupe | null
  /** What implementation() returned, when it was an address. */
  told: string | null
}

/**
 * Follows what is certain first: code that is a clone; a slot that is set and that the code names; any slot that is set; the loupe; and
 * what the contract says of itself. Code that cannot delegate has no lead, whatever its storage holds.
 */
export function findLead({ clone, scan, slots, loupe, told }: LeadsGiven): Lead | null {
  if (clone !== null) return { via: 'clone', kind: clone.kind, target: clone.target }
  if (!delegates(scan)) return null
  const set = slots.filter((slot) => slot.state !== 'zero')
  for (const among of [set.filter((slot) => slot.named_in_code), set]) {
    for (const [name, kind] of IMPLEMENTATION_SLOTS) {
      const slot = among.find((one) => one.name === name)
      if (slot !== undefined) return { via: 'slot', kind, slot }
    }
    const beacon = among.find((one) => one.name === 'eip1967_beacon')
    if (beacon !== undefined) return { via: 'beacon', slot: beacon }
  }
  if (loupe !== null) return { via: 'diamond', loupe }
  return told === null ? null : { via: 'call', target: told }
}

export function delegates(scan: CodeScan): boolean {
  return scan.opcodes.DELEGATECALL + scan.opcodes.CALLCODE > 0
}

/** What was learned about the lead with later reads. */
export interface LeadResolved {
  implementation: string | null
  implementation_scan: CodeScan | null
  /** The implementation is an account that borrows the code of another (EIP-7702), which was not read. */
  implementation_borrows: boolean
  /** A call got an answer that none of the code that was read offers. */
  answers_unnamed: boolean
  beacon_scan: CodeScan | null
  admin: string | null
  admin_kind: ProxyFacts['admin_kind']
  admin_owner: string | null
}

const PROXIABLE_UUID = 0x52d1902d
const DIAMOND_CUT = 0x1f931c1c
const UPGRADE_TO = 0x3659cfe6
/** upgradeTo, upgradeToAndCall, setImplementation. */
const UPGRADES = [UPGRADE_TO, 0x4f1ef286, 0xd784d426]

/** The facts, from the lead and from what it led to. `is_contract` is false for accounts without code. */
export function proxyFacts(lead: Lead | null, scan: CodeScan | null, slots: readonly SlotState[], found: LeadResolved): ProxyFacts {
  const { admin, admin_kind, admin_owner } = found
  const none = { kind: null, implementation: null, implementation_status: null, implementation_code_hash: null, facet_count: null }
  const common = { admin, admin_kind, admin_owner, beacon: null, slots_checked: [...slots] }
  if (lead === null) {
    // Some proxies forward by CALL and keep the state elsewhere: then answers come that their own code does not give.
    const is_proxy = scan === null || !(delegates(scan) || (scan.calls && found.answers_unnamed)) ? false : null
    return { is_proxy, ...none, ...common, upgradeable: is_proxy }
  }
  const kind = kindOf(lead, found)
  if (lead.via === 'diamond') {
    const upgradeable = lead.loupe.selectors.has(DIAMOND_CUT) ? true : null
    return { is_proxy: true, ...none, kind, ...common, upgradeable, facet_count: lead.loupe.facets.length }
  }
  const status = statusOf(lead, found)
  return {
    is_proxy: lead.via === 'clone' ? true : sure(lead) && status === 'code' ? true : null,
    kind,
    implementation: found.implementation,
    implementation_status: status,
    implementation_code_hash: found.implementation_scan?.hash ?? null,
    ...common,
    beacon: lead.via === 'beacon' ? lead.slot.address : null,
    upgradeable: canUpgrade(lead, scan, found),
    facet_count: null,
  }
}

/** Whether the code itself says that it delegates to what stands in this slot. */
function sure(lead: Exclude<Lead, { via: 'clone' | 'diamond' }>): boolean {
  return lead.via === 'call' ? false : lead.slot.named_in_code
}

function kindOf(lead: Lead, { admin, implementation_scan }: LeadResolved): ProxyKind {
  switch (lead.via) {
    case 'clone':
      return lead.kind
    case 'beacon':
      return 'eip1967_beacon'
    case 'diamond':
      return 'diamond'
    case 'call':
      return 'implementation_call'
    case 'slot':
      if (lead.kind !== 'eip1967') return lead.kind
      if (admin !== null) return 'eip1967_transparent'
      return implementation_scan?.selectors.get(PROXIABLE_UUID) === 'dispatcher' ? 'eip1967_uups' : 'eip1967'
  }
}

function statusOf(lead: Exclude<Lead, { via: 'diamond' }>, found: LeadResolved): ImplementationStatus {
  const { implementation, implementation_scan, implementation_borrows } = found
  if ((lead.via === 'slot' || lead.via === 'beacon') && lead.slot.state === 'dirty') return 'dirty'
  if (implementation === null || implementation_borrows) return 'unknown'
  return implementation_scan === null ? 'no_code' : 'code'
}

/** Whom an admin with code calls its owner is its own word, so that an owner given up does not undo this. */
function hasAdmin({ admin }: LeadResolved): boolean {
  return admin !== null && !isDead(admin)
}

/** Whether somebody can change what runs: true on evidence, false only where the target stands in the code, null otherwise. */
function canUpgrade(lead: Exclude<Lead, { via: 'diamond' }>, scan: CodeScan | null, found: LeadResolved): boolean | null {
  const upgrades = (one: CodeScan | null) => UPGRADES.some((selector) => one?.selectors.get(selector) === 'dispatcher')
  switch (lead.via) {
    case 'clone':
      if (lead.kind === 'eip7702') return true
      return found.implementation_scan !== null && !delegates(found.implementation_scan) ? false : null
    case 'beacon':
      return found.beacon_scan?.selectors.get(UPGRADE_TO) === 'dispatcher' ? true : null
    case 'slot':
    case 'call':
      // Upgrade functions of the proxy itself are its admin's; those of the implementation have an owner of their own.
      return hasAdmin(found) || (found.admin === null && upgrades(scan)) || upgrades(found.implementation_scan) ? true : null
  }
}
