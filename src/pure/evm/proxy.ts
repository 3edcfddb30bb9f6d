import type { CodeScan } from './code-scan.ts'
import { isDead } from './owner.ts'
import type { SlotName, SlotState } from './state-reads.ts'
import type { AccountKind } from '../chain/state.ts'

/** Contracts whose whole code delegates to one address in that code. */
type CloneKind = 'eip1167' | 'eip1167_args' | 'eip1167_vanity' | 'clone_0age' | 'erc7511' | 'solady_push0' | 'vyper_clone' | 'erc3448'

interface Clone {
  kind: CloneKind
  /** 0x-prefixed, lower case. */
  target: string
  /** Bytes that can run, from the start; what follows them is data. */
  code_bytes: number
}

type Pattern = readonly [CloneKind, before: string, after: string]

/** The bytes before and after the address: EIP-1167 (2018), 0age's and Solady's shorter ones, ERC-7511 (2023), Vyper before 0.2.9. */
const EXACT: readonly [Pattern, ...Pattern[]] = [
  ['eip1167', '363d3d373d3d3d363d73', '5af43d82803e903d91602b57fd5bf3'],
  ['clone_0age', '3d3d3d3d363d3d37363d73', '5af43d3d93803e602a57fd5bf3'],
  ['erc7511', '365f5f375f5f365f73', '5af43d5f5f3e5f3d91602a57fd5bf3'],
  ['solady_push0', '5f5f365f5f37365f73', '5af43d5f5f3e6029573d5ffd5b3d5ff3'],
  ['vyper_clone', '366000600037611000600036600073', '5af4602c57600080fd5b6110006000f3'],
]

const ADDRESS_DIGITS = 40
const [, EIP1167_HEAD, EIP1167_TAIL] = EXACT[0]
const EIP1167_DIGITS = EIP1167_HEAD.length + ADDRESS_DIGITS + EIP1167_TAIL.length
const META_HEAD = '363d3d373d3d3d3d60368038038091363936013d73'
const META_TAIL = '5af43d3d93803e603457fd5bf3'
const META_DIGITS = META_HEAD.length + ADDRESS_DIGITS + META_TAIL.length
const WORD_DIGITS = 64
/** A clone of ERC-3448 carries data behind its code; no contract is longer than this. */
const META_DIGITS_MAX = 2 * 65_536

/**
 * The clone pattern of a code, or null. `code` is 0x-prefixed hex in lower case. Whole patterns and lengths count: code with one byte
 * more is not a clone here and is classified by its opcodes, except where libraries append arguments to a pattern whose end is never
 * reached.
 */
export function readClone(code: string): Clone | null {
  const digits = code.slice(2)
  for (const [kind, before, after] of EXACT) {
    if (digits.length !== before.length + ADDRESS_DIGITS + after.length) continue
    if (digits.startsWith(before) && digits.endsWith(after)) return cloneOf(kind, digits, before.length, digits.length)
  }
  return readVanity(digits) ?? readMeta(digits) ?? readArguments(digits)
}

/** Leading zero bytes of the target are left out: a shorter push, and a jump that lands as much earlier. */
function readVanity(digits: string): Clone | null {
  const shape = /^363d3d373d3d3d363d(6[0-9a-f]|7[0-2])((?:[0-9a-f]{2}){1,19})5af43d82803e903d9160([0-9a-f]{2})57fd5bf3$/.exec(digits)
  const [, push, target, jump] = shape ?? []
  if (push === undefined || target === undefined || jump === undefined) return null
  const bytes = Number.parseInt(push, 16) - 0x5f
  if (target.length !== 2 * bytes || Number.parseInt(jump, 16) !== 0x2b - (20 - bytes)) return null
  return { kind: 'eip1167_vanity', target: `0x${target.padStart(ADDRESS_DIGITS, '0')}`, code_bytes: digits.length / 2 }
}

/** ERC-3448 (2021): data follows the code, and its length in the last word. */
function readMeta(digits: string): Clone | null {
  const data_digits = digits.length - META_DIGITS - WORD_DIGITS
  if (data_digits < 0 || digits.length > META_DIGITS_MAX || !digits.startsWith(META_HEAD)) return null
  if (digits.slice(META_HEAD.length + ADDRESS_DIGITS, META_DIGITS) !== META_TAIL) return null
  if (BigInt(`0x${digits.slice(-WORD_DIGITS)}`) !== BigInt(data_digits / 2)) return null
  return cloneOf('erc3448', digits, META_HEAD.length, META_DIGITS)
}

/** Clones with immutable arguments of OpenZeppelin (since 5.2) and Solady: EIP-1167, and what the target reads off the clone's own code. */
function readArguments(digits: string): Clone | null {
  if (digits.length <= EIP1167_DIGITS || !digits.startsWith(EIP1167_HEAD)) return null
  const tail = digits.slice(EIP1167_DIGITS - EIP1167_TAIL.length, EIP1167_DIGITS)
  return tail === EIP1167_TAIL ? cloneOf('eip1167_args', digits, EIP1167_HEAD.length, EIP1167_DIGITS) : null
}

function cloneOf(kind: CloneKind, digits: string, address_at: number, code_digits: number): Clone {
  return { kind, target: `0x${digits.slice(address_at, address_at + ADDRESS_DIGITS)}`, code_bytes: code_digits / 2 }
}

/** Result of a diamond's loupe (ERC-2535, 2020). */
export interface Loupe {
  facets: readonly string[]
  /** By number of 32 bits; empty when only facetAddresses() was answered. */
  selectors: ReadonlySet<number>
}

const FACETS_MAX = 256
const SELECTORS_MAX = 4_096

/** Reads what facets() returned: a list of (address, bytes4[]). Null unless it is exactly that and within bounds; an empty list is null too. */
export function readFacets(data: string): Loupe | null {
  const digits = data.slice(2)
  const base = pointer(digits, 0, 0)
  const count = base === null ? null : small(digits, base)
  if (base === null || count === null || count < 1 || count > FACETS_MAX) return null
  const facets: string[] = []
  const selectors = new Set<number>()
  for (let index = 0; index < count; index++) {
    const facet = pointer(digits, base + WORD_DIGITS * (index + 1), base + WORD_DIGITS)
    const address = facet === null ? null : addressAt(digits, facet)
    const list = facet === null ? null : pointer(digits, facet + WORD_DIGITS, facet)
    const length = list === null ? null : small(digits, list)
    if (address === null || list === null || length === null || selectors.size + length > SELECTORS_MAX) return null
    for (let item = 0; item < length; item++) {
      const word = wordAt(digits, list + WORD_DIGITS * (item + 1))
      if (word === null || !/^[0-9a-f]{8}0{56}$/.test(word)) return null
      selectors.add(Number.parseInt(word.slice(0, 8), 16))
    }
    facets.push(address)
  }
  return { facets, selectors }
}

/** Reads what facetAddresses() returned: a list of addresses. */
export function readFacetAddresses(data: string): Loupe | null {
  const digits = data.slice(2)
  const base = pointer(digits, 0, 0)
  const count = base === null ? null : small(digits, base)
  if (base === null || count === null || count < 1 || count > FACETS_MAX) return null
  const found = Array.from({ length: count }, (_, index) => addressAt(digits, base + WORD_DIGITS * (index + 1)))
  const facets = found.filter((address) => address !== null)
  return facets.length === count ? { facets, selectors: new Set() } : null
}

function wordAt(digits: string, at: number): string | null {
  const word = digits.slice(at, at + WORD_DIGITS)
  return word.length === WORD_DIGITS ? word : null
}

function small(digits: string, at: number): number | null {
  const word = wordAt(digits, at)
  return word !== null && /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word.slice(56), 16) : null
}

/** Position in `digits` to which the offset at `at` points; offsets count bytes from `from`. */
function pointer(digits: string, at: number, from: number): number | null {
  const offset = small(digits, at)
  return offset === null ? null : from + 2 * offset
}

function addressAt(digits: string, at: number): string | null {
  const word = wordAt(digits, at)
  return word !== null && /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : null
}

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

/** Certainty of the address that a proxy delegates to. */
type ImplementationStatus = 'code' | 'no_code' | 'dirty' | 'unknown'

export interface ProxyFacts {
  /** Null: it forwards calls to an unknown target. */
  is_proxy: boolean | null
  kind: ProxyKind | null
  implementation: string | null
  /** Null when there is nothing to implement. */
  implementation_status: ImplementationStatus | null
  implementation_code_hash: string | null
  admin: string | null
  admin_kind: AccountKind | 'proxy_admin' | null
  /** Address that owner() of a ProxyAdmin names; null for every other admin. */
  admin_owner: string | null
  beacon: string | null
  upgradeable: boolean | null
  slots_checked: SlotState[]
  facet_count: number | null
}

/** Delegation target as given by a contract's own code and storage. */
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

interface LeadsGiven {
  clone: { kind: CloneKind | 'eip7702'; target: string } | null
  scan: CodeScan
  slots: readonly SlotState[]
  loupe: Loupe | null
  /** Address that implementation() returned, if any. */
  told: string | null
}

/**
 * Follows certain evidence first: code that is a clone; a slot that is set and that the code names; any slot that is set; the loupe; and
 * the contract's own claim. Code that cannot delegate has no target, even if its storage has an address.
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

/** Facts about the target from later reads. */
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

/** Returns true when the code itself delegates to the address in this slot. */
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

/** The owner that an admin contract reports is only its own claim, so a renounced owner does not change this. */
function hasAdmin({ admin }: LeadResolved): boolean {
  return admin !== null && !isDead(admin)
}

/** Upgradeability: true on evidence, false only where the target is part of the code, null otherwise. */
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
      // Upgrade functions of the proxy itself belong to its admin; those of the implementation have a separate owner.
      return hasAdmin(found) || (found.admin === null && upgrades(scan)) || upgrades(found.implementation_scan) ? true : null
  }
}
