import { accountKind, type AccountKind, delegateOf } from '../chain/state.ts'
import {
  delegates,
  findLead,
  type Lead,
  type LeadResolved,
  type Loupe,
  proxyFacts,
  type ProxyFacts,
  readClone,
  readFacetAddresses,
  readFacets,
} from './proxy.ts'
import { type CodeScan, scanCode } from './code-scan.ts'
import { isDead, OWNER_CALLS, ownerFacts, type OwnerFacts, readOwner } from './owner.ts'
import {
  addressAnswer,
  firstWord,
  PROXY_SLOTS,
  type SlotState,
  type StateRead,
  type StateResults,
  ZERO,
  type StateResult,
  type SlotName,
} from './state-reads.ts'
import { type OpcodeFact, opcodeFacts, type PrivilegedFact, privilegedFacts } from './privileged-selectors.ts'
import { fromHex } from '../receipts/crypto.ts'
import { addressWord } from '../payments/token-calls.ts'

/** Work that asks for state as it goes: each yield is one batch of questions, answered in their order. */
type Reading<Value> = Generator<readonly StateRead[], Value, readonly StateResult[]>

/** Runs named reads in one batch; without reads there is no request. */
function* ask(reads: ReadonlyMap<string, StateRead>): Reading<StateResults> {
  if (reads.size === 0) return new Map()
  const results = yield [...reads.values()]
  return new Map([...reads.keys()].flatMap((name, index) => (results[index] === undefined ? [] : [[name, results[index]]])))
}

/** Gas limit of a call without arguments: a hostile token is cut off, an honest one needs a fraction. */
const CALL_GAS = 1_000_000n

function callRead(to: string, data: string, gas: bigint = CALL_GAS): StateRead {
  return { kind: 'call', to, data, gas }
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

/** A name or symbol that a token reports, cleaned for display. */
interface TokenText {
  /** At most 64 characters, in one line, nothing invisible. */
  text: string
  encoding: 'string' | 'bytes32'
  /** Something was taken out, or the text was longer. */
  altered: boolean
}

const WORD_DIGITS = 64
/** More of a text is never decoded. */
const TEXT_BYTES = 1_024
const SHOWN_CHARS = 64
/** Controls, formats (direction, zero width, tags), separators, private, unassigned; fillers that look like nothing; variation selectors. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{VS}\u115f\u1160\u2800\u3164\uffa0]/gu
/** Combining marks on one letter beyond the needs of any language. */
const PILED = /(\p{M}{2})\p{M}+/gu
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The six functions that EIP-20 (2015) demands; name, symbol and decimals are optional there. */
const REQUIRED: readonly { signature: string; selector: number; read: string | null }[] = [
  { signature: 'totalSupply()', selector: 0x18160ddd, read: 'total_supply' },
  { signature: 'balanceOf(address)', selector: 0x70a08231, read: 'balance_of' },
  { signature: 'transfer(address,uint256)', selector: 0xa9059cbb, read: null },
  { signature: 'transferFrom(address,address,uint256)', selector: 0x23b872dd, read: null },
  { signature: 'approve(address,uint256)', selector: 0x095ea7b3, read: null },
  { signature: 'allowance(address,address)', selector: 0xdd62ed3e, read: 'allowance' },
]

type MetadataError = 'reverted' | 'no_data' | 'malformed' | 'out_of_range'

interface Erc20Facts {
  /** Null when the code that answers is not known. */
  conforms: boolean | null
  name: string | null
  symbol: string | null
  decimals: number | null
  /** Minor units as decimal text. */
  total_supply: string | null
  encoding: 'string' | 'bytes32' | null
  /** Fields whose text was shortened, or freed of what cannot be seen. */
  altered: string[]
  missing: string[]
  errors: Record<string, MetadataError>
}

/** Facts about an account that runs no code. */
const NO_TOKEN: Erc20Facts = {
  conforms: false,
  name: null,
  symbol: null,
  decimals: null,
  total_supply: null,
  encoding: null,
  altered: [],
  missing: REQUIRED.map(({ signature }) => signature),
  errors: {},
}

/** Everything that depends on nothing: one batch, 23 reads. */
function firstReads(address: string): ReadonlyMap<string, StateRead> {
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

/**
 * Reads what name() or symbol() returned: an ABI string, or 32 bytes filled up with zeros as tokens before 2018 return them, also with
 * nothing but zeros behind (old clones of Vyper). Null for anything else and for what is not UTF-8. Padding is not insisted on, since
 * deployed tokens leave it out.
 */
export function readTokenText(data: string): TokenText | null {
  const digits = data.slice(2)
  if (digits.length === WORD_DIGITS) return shown(digits.replace(/(?:00)+$/, ''), 'bytes32', false)
  if (digits.length < 2 * WORD_DIGITS) return null
  const offset = smallWord(digits, 0)
  if (offset === null && /^0*$/.test(digits.slice(WORD_DIGITS))) return readTokenText(data.slice(0, 2 + WORD_DIGITS))
  if (offset === null || 2 * offset + WORD_DIGITS > digits.length) return null
  const length = smallWord(digits, 2 * offset)
  const begin = 2 * offset + WORD_DIGITS
  if (length === null || begin + 2 * length > digits.length) return null
  return shown(digits.slice(begin, begin + 2 * Math.min(length, TEXT_BYTES)), 'string', length > TEXT_BYTES)
}

/** A word that fits a small number. */
function smallWord(digits: string, at: number): number | null {
  const word = digits.slice(at, at + WORD_DIGITS)
  return /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word.slice(56), 16) : null
}

function shown(digits: string, encoding: TokenText['encoding'], cut: boolean): TokenText | null {
  const bytes = fromHex(`0x${digits.length % 2 === 0 ? digits : `${digits}0`}`)
  if (bytes === null) return null
  try {
    // A text that was cut may end within a character, which streaming leaves out.
    const whole = cut ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }) : UTF8.decode(bytes)
    const clean = whole.replace(/\s+/gu, ' ').replace(UNSEEN, '').replace(PILED, '$1').replace(/ {2,}/g, ' ').trim()
    const text = Array.from(clean).slice(0, SHOWN_CHARS).join('').trimEnd()
    return { text, encoding, altered: cut || text !== whole }
  } catch {
    return null
  }
}

/** The calls; balance and allowance are asked of the token itself, since some refuse the zero address. */
function erc20Reads(token: string): [name: string, read: StateRead][] {
  const own = addressWord(token)
  const calls = {
    name: '0x06fdde03',
    symbol: '0x95d89b41',
    decimals: '0x313ce567',
    total_supply: '0x18160ddd',
    balance_of: `0x70a08231${own}`,
    allowance: `0xdd62ed3e${own}${own}`,
  }
  return Object.entries(calls).map(([name, data]) => [name, callRead(token, data)])
}

/** Reads the answers; `has` says whether the code that answers has a function, null when that code is not known. */
function erc20Facts(results: StateResults, has: (selector: number) => boolean | null): Erc20Facts {
  const errors: Record<string, MetadataError> = {}
  const name = metadataText(results, 'name', errors)
  const symbol = metadataText(results, 'symbol', errors)
  const decimals = number(results, 'decimals', errors)
  const supply = number(results, 'total_supply', errors)
  if (decimals !== null && decimals > 255n) errors['decimals'] = 'out_of_range'
  const absent = REQUIRED.filter(({ selector, read }) => !(read !== null && isNumber(results.get(read))) && has(selector) !== true)
  const unknown = absent.some(({ selector }) => has(selector) === null)
  return {
    conforms: absent.length === 0 ? true : unknown ? null : false,
    name: name?.text ?? null,
    symbol: symbol?.text ?? null,
    decimals: decimals === null || decimals > 255n ? null : Number(decimals),
    total_supply: supply?.toString() ?? null,
    encoding: name?.encoding ?? symbol?.encoding ?? null,
    altered: [...(name?.altered === true ? ['name'] : []), ...(symbol?.altered === true ? ['symbol'] : [])],
    missing: unknown ? [] : absent.map(({ signature }) => signature),
    errors,
  }
}

function metadataText(results: StateResults, field: string, errors: Record<string, MetadataError>) {
  const data = returned(results.get(field), field, errors)
  const found = data === null ? null : readTokenText(data)
  if (data !== null && found === null) errors[field] = 'malformed'
  return found
}

function number(results: StateResults, field: string, errors: Record<string, MetadataError>): bigint | null {
  const data = returned(results.get(field), field, errors)
  if (data === null) return null
  const word = firstWord(data)
  if (word !== null) return BigInt(word)
  errors[field] = 'malformed'
  return null
}

function returned(result: StateResult | undefined, field: string, errors: Record<string, MetadataError>): string | null {
  if (result?.ok === true && result.data !== '0x') return result.data
  errors[field] = result?.ok === true ? 'no_data' : 'reverted'
  return null
}

function isNumber(result: StateResult | undefined): boolean {
  return result?.ok === true && firstWord(result.data) !== null
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

export interface TokenFacts {
  account: { kind: AccountKind; code_size: number; code_hash: string | null; metadata_bytes: number | null }
  is_contract: boolean
  erc20: Erc20Facts
  proxy: ProxyFacts
  owner: OwnerFacts
  privileged_selectors: PrivilegedFact[]
  opcodes: OpcodeFact[]
}

/**
 * Facts about the contract at an address, in at most three batches of reads: independent reads; the addresses that they lead to; the
 * code behind a beacon. `address` is lower-case hex. All batches must be answered at one block. Unknown facts are null, never false.
 */
export function* readTokenContract(address: string): Reading<TokenFacts> {
  const asked = firstReads(address)
  const first = yield* ask(asked)
  const own = ownFacts(address, first)
  const owner = own.code === '0x' ? null : readOwner(first, () => null).address
  const second = yield* ask(secondReads(own, owner === ZERO ? null : owner))
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
  const runs_code = own.code !== '0x'
  const has = knowledgeOf(own, found, proxy)
  const answer = runs_code ? readOwner(first, has) : ({ status: 'not_present', address: null, method: null, pending_owner: null } as const)
  const facets = own.lead?.via === 'diamond' ? own.lead.loupe.selectors : new Set<number>()
  return {
    account: {
      kind: own.kind,
      code_size: (own.code.length - 2) / 2,
      code_hash: own.scan?.hash ?? null,
      metadata_bytes: own.scan?.metadata_bytes ?? null,
    },
    is_contract: own.kind === 'contract',
    erc20: runs_code ? erc20Facts(first, has) : NO_TOKEN,
    proxy,
    owner: ownerFacts(answer, answer.address === null || answer.address === ZERO ? null : kindOf(answer.address, second)),
    privileged_selectors: privilegedFacts(own.scan, found.implementation_scan, facets),
    opcodes: opcodeFacts(own.scan, found.implementation_scan),
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
