import { accountKind, type AccountKind, delegateOf } from '../chain/state.ts'
import { type CodeFacts, codeFacts, type CodeScan, scanCode } from './code-scan.ts'
import { type CloneKind, type Loupe, readClone, readLoupe } from './proxy.ts'
import {
  addressAnswer,
  callRead,
  firstWord,
  PROXY_SLOTS,
  type SlotState,
  type StateRead,
  type StateResults,
  ZERO,
  type StateResult,
  type SlotName,
} from './state-reads.ts'
import { erc20Facts, isDead, namedOwner, OWNER_CALLS, ownerFacts, tokenReads } from './token-answers.ts'

/** Work that asks for state as it goes: each yield is one batch of questions, answered in their order. */
type Reading<Value> = Generator<readonly StateRead[], Value, readonly StateResult[]>

/** Runs named reads in one batch; without reads there is no request. */
function* ask(reads: ReadonlyMap<string, StateRead>): Reading<StateResults> {
  if (reads.size === 0) return new Map()
  const results = yield [...reads.values()]
  return new Map([...reads.keys()].flatMap((name, index) => (results[index] === undefined ? [] : [[name, results[index]]])))
}

/** The data of a read that cannot revert, or what an absent account has. */
function dataOf(results: StateResults, name: string, absent = '0x'): string {
  const found = results.get(name)
  return found?.ok === true ? found.data : absent
}

const SLOT_NAMES = Object.keys(PROXY_SLOTS) as SlotName[]

/** Reads a slot's word; `word` is 32 bytes of 0x-prefixed hex. */
function slotState(name: SlotName, word: string, named_in_code: boolean): SlotState {
  const digits = word.slice(2).padStart(64, '0')
  const slot = PROXY_SLOTS[name]
  if (/^0*$/.test(digits)) return { name, slot, state: 'zero', address: null, named_in_code }
  if (!/^0{24}/.test(digits)) return { name, slot, state: 'dirty', address: null, named_in_code }
  return { name, slot, state: 'address', address: `0x${digits.slice(24)}`, named_in_code }
}

const IMPLEMENTATION_CALL = '0x5c60da1b'
const FACETS_CALL = '0x7a0ed627'
const FACET_ADDRESSES_CALL = '0x52ef6b2c'
/** A diamond reads a slot for each of its functions. */
const LOUPE_GAS = 10_000_000n
/** masterCopy(), which the code of a Safe's proxy answers itself. */
const MASTER_COPY = 0xa619486e

/** Everything that depends on nothing: one batch, 23 reads. */
function firstReads(address: string): ReadonlyMap<string, StateRead> {
  const slots = SLOT_NAMES.map((name): [string, StateRead] => [name, { kind: 'storage', address, slot: PROXY_SLOTS[name] }])
  return new Map<string, StateRead>([
    ...accountReads(address),
    ...slots,
    ...tokenReads(address),
    ['implementation', callRead(address, IMPLEMENTATION_CALL)],
    ['facets', callRead(address, FACETS_CALL, LOUPE_GAS)],
    ['facet_addresses', callRead(address, FACET_ADDRESSES_CALL, LOUPE_GAS)],
  ])
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

interface ProxyFacts {
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
type Lead =
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
function findLead({ clone, scan, slots, loupe, told }: LeadsGiven): Lead | null {
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

function delegates(scan: CodeScan): boolean {
  return scan.opcodes.DELEGATECALL + scan.opcodes.CALLCODE > 0
}

/** Facts about the target from later reads. */
interface LeadResolved {
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
function proxyFacts(lead: Lead | null, scan: CodeScan | null, slots: readonly SlotState[], found: LeadResolved): ProxyFacts {
  const { admin, admin_kind, admin_owner } = found
  const none = { kind: null, implementation: null, implementation_status: null, implementation_code_hash: null, facet_count: null }
  const common = { admin, admin_kind, admin_owner, beacon: null, slots_checked: [...slots] }
  if (lead === null) {
    // Some proxies forward by CALL and keep the state elsewhere: then answers come that their own code does not give.
    const is_proxy = scan === null || !(delegates(scan) || (scan.calls && found.answers_unnamed)) ? false : null
    return { is_proxy, ...none, ...common, upgradeable: is_proxy }
  }
  const kind = proxyKindOf(lead, found)
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

function proxyKindOf(lead: Lead, { admin, implementation_scan }: LeadResolved): ProxyKind {
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

/** Facts of the first batch about the account itself. */
interface OwnFacts {
  kind: AccountKind
  code: string
  /** Null unless it is a contract. */
  scan: CodeScan | null
  slots: SlotState[]
  loupe: Loupe | null
  lead: Lead | null
  admin: string | null
}

function ownFacts(address: string, first: StateResults): OwnFacts {
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
  const loupe = readLoupe(dataOf(first, 'facets'), dataOf(first, 'facet_addresses'))
  const lead = findLead({
    clone,
    scan,
    slots,
    loupe,
    told: told.kind === 'address' && told.address !== ZERO ? told.address : null,
  })
  return { kind, code, scan, slots, loupe, lead, admin: delegates(scan) ? adminOf(slots) : null }
}

/** Values of the slots; the Safe's only where the code is that of a Safe. */
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

/** Reads that the target, the admin and the owner lead to: one batch, at most ten reads. */
function secondReads({ lead, admin }: OwnFacts, owner: string | null): ReadonlyMap<string, StateRead> {
  const reads = new Map<string, StateRead>()
  const target = targetOf(lead)
  const beacon = lead?.via === 'beacon' ? lead.slot.address : null
  for (const code_of of [target, beacon]) if (code_of !== null) reads.set(`code ${code_of}`, { kind: 'code', address: code_of })
  if (beacon !== null) reads.set('beacon_implementation', callRead(beacon, IMPLEMENTATION_CALL))
  if (admin !== null) reads.set('admin_owner', callRead(admin, OWNER_CALLS.owner))
  for (const account of [admin, owner]) if (account !== null) for (const [name, read] of accountReads(account)) reads.set(name, read)
  return reads
}

/** Delegation target that the first batch already shows. */
function targetOf(lead: Lead | null): string | null {
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

/** Kind of an account whose code, nonce and balance were read. */
function kindOf(address: string, results: StateResults): AccountKind {
  const quantity = (kind: 'nonce' | 'balance') => BigInt(dataOf(results, `${kind} ${address}`, '0x0'))
  return accountKind({ code: dataOf(results, `code ${address}`), nonce: quantity('nonce'), balance_wei: quantity('balance') })
}

/** Which selectors, slots, patterns and flags the facts are drawn from; it moves with any of them. */
export const TOKEN_RULES = 'token-contract/1'

export interface TokenFacts extends CodeFacts {
  account: { kind: AccountKind; code_size: number; code_hash: string | null; metadata_bytes: number | null }
  is_contract: boolean
  erc20: ReturnType<typeof erc20Facts>
  proxy: ProxyFacts
  owner: ReturnType<typeof ownerFacts>
}

/**
 * Facts about the contract at an address, in at most three batches of reads: independent reads; the addresses that they lead to; the
 * code behind a beacon. `address` is lower-case hex. All batches must be answered at one block. Unknown facts are null, never false.
 */
export function* readTokenContract(address: string): Reading<TokenFacts> {
  const asked = firstReads(address)
  const first = yield* ask(asked)
  const own = ownFacts(address, first)
  const second = yield* ask(secondReads(own, own.code === '0x' ? null : namedOwner(first)))
  const behind = behindBeacon(own, second)
  const third = yield* ask(new Map(behind === null ? [] : [[`code ${behind}`, { kind: 'code', address: behind }]]))
  const found = resolved(own, second, third, behind)
  const answers_unnamed = answered(asked, first).some((selector) => !isNamed(own, found.implementation_scan, selector))
  return assemble(own, first, second, { ...found, answers_unnamed })
}

function behindBeacon({ lead }: OwnFacts, second: StateResults): string | null {
  if (lead?.via !== 'beacon') return null
  const told = addressAnswer(second.get('beacon_implementation'))
  return told.kind === 'address' && told.address !== ZERO ? told.address : null
}

function resolved(own: OwnFacts, second: StateResults, third: StateResults, behind: string | null): Omit<LeadResolved, 'answers_unnamed'> {
  const { lead, admin } = own
  const implementation = targetOf(lead) ?? behind
  const beacon = lead?.via === 'beacon' ? lead.slot.address : null
  const code = implementation === null ? '0x' : dataOf(behind === null ? second : third, `code ${implementation}`)
  const beacon_scan = beacon === null ? null : scanOf(dataOf(second, `code ${beacon}`))
  return {
    implementation,
    implementation_scan: scanOf(code),
    // DELEGATECALL follows one delegation; code that is borrowed already is not looked up once more (EIP-7702).
    implementation_borrows: own.kind === 'contract' && delegateOf(code) !== null,
    beacon_scan,
    admin,
    ...adminFacts(admin, second),
  }
}

/** Null for an account without its own code. */
function scanOf(code: string): CodeScan | null {
  return code === '0x' || delegateOf(code) !== null ? null : scanCode(code)
}

/** upgrade(address,address) and upgradeAndCall(address,address,bytes) of OpenZeppelin's ProxyAdmin; since 5.0 it has only the second. */
const PROXY_ADMIN = [0x99a88ec4, 0x9623609d]

function adminFacts(admin: string | null, second: StateResults): Pick<ProxyFacts, 'admin_kind' | 'admin_owner'> {
  if (admin === null || isDead(admin)) return { admin_kind: null, admin_owner: null }
  const kind = kindOf(admin, second)
  const scan = kind === 'contract' ? scanCode(dataOf(second, `code ${admin}`)) : null
  const is_proxy_admin = PROXY_ADMIN.some((selector) => scan?.selectors.get(selector) === 'dispatcher')
  if (!is_proxy_admin) return { admin_kind: kind, admin_owner: null }
  const owner = addressAnswer(second.get('admin_owner'))
  return { admin_kind: 'proxy_admin', admin_owner: owner.kind === 'address' ? owner.address : null }
}

function assemble(own: OwnFacts, first: StateResults, second: StateResults, found: LeadResolved): TokenFacts {
  const proxy = proxyFacts(own.lead, own.scan, own.slots, found)
  const has = knowledgeOf(own, found, proxy)
  const answers = own.code === '0x' ? null : first
  const facets = own.lead?.via === 'diamond' ? own.lead.loupe.selectors : new Set<number>()
  return {
    account: {
      kind: own.kind,
      code_size: (own.code.length - 2) / 2,
      code_hash: own.scan?.hash ?? null,
      metadata_bytes: own.scan?.metadata_bytes ?? null,
    },
    is_contract: own.kind === 'contract',
    erc20: erc20Facts(answers, has),
    proxy,
    owner: ownerFacts(answers, has, (owner) => kindOf(owner, second)),
    ...codeFacts(own.scan, found.implementation_scan, facets),
  }
}

/** The functions that were called and returned something. */
function answered(asked: ReadonlyMap<string, StateRead>, first: StateResults): number[] {
  return [...asked].flatMap(([name, read]) => {
    const result = first.get(name)
    return read.kind === 'call' && result?.ok === true && firstWord(result.data) !== null ? [selectorOf(read.data)] : []
  })
}

const SELECTOR_CHARS = 10

function selectorOf(data: string): number {
  return Number.parseInt(data.slice(2, SELECTOR_CHARS), 16)
}

function isNamed({ scan, lead }: OwnFacts, implementation: CodeScan | null, selector: number): boolean {
  const listed = lead?.via === 'diamond' && lead.loupe.selectors.has(selector)
  return listed || [scan, implementation].some((one) => one?.selectors.get(selector) === 'dispatcher')
}

/**
 * Presence of a function in the code that answers a call: true when a dispatcher names it, false only where all of that code is known
 * and its dispatcher is of a readable kind, else null.
 */
function knowledgeOf(own: OwnFacts, found: LeadResolved, proxy: ProxyFacts): (selector: number) => boolean | null {
  const scans = [own.scan, found.implementation_scan].filter((scan) => scan !== null)
  const listed = own.lead?.via === 'diamond' && own.lead.loupe.selectors.size > 0
  // A loupe is what the contract says of itself; an answer that it does not list shows that it does not list all.
  const whole = (listed && !found.answers_unnamed) || isWhole(proxy, found)
  const readable = listed || scans.some(({ selectors }) => [...selectors.values()].includes('dispatcher'))
  return (selector) => {
    if (isNamed(own, found.implementation_scan, selector)) return true
    return !whole || !readable || scans.some(({ selectors }) => selectors.has(selector)) ? null : false
  }
}

/** True when all code that answers was read: nothing delegates further, and nothing answers that is not in this code. */
function isWhole({ is_proxy }: ProxyFacts, { implementation_scan, answers_unnamed }: LeadResolved): boolean {
  if (answers_unnamed) return false
  return is_proxy === false || (is_proxy === true && implementation_scan !== null && !delegates(implementation_scan))
}
