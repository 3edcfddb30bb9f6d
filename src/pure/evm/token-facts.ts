import { delegateOf, type AccountKind } from '../chain/account-kind.ts'
import { scanCode, type CodeScan } from './code-scan.ts'
import { erc20Facts, NO_TOKEN, type Erc20Facts } from './erc20.ts'
import { type OpcodeFact, opcodeFacts, type PrivilegedFact, privilegedFacts } from './privileged-selectors.ts'
import { isDead, ownerFacts, readOwner, type OwnerFacts } from './owner.ts'
import { delegates, proxyFacts, type LeadResolved, type ProxyFacts } from './proxy.ts'
import { addressAnswer, ask, dataOf, firstWord, ZERO, type Reading, type StateRead, type StateResults } from './state-reads.ts'
import { firstReads, kindOf, ownFacts, secondReads, targetOf, type OwnFacts } from './token-reads.ts'

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
 * Facts about the contract at an address, in at most three batches of reads: all that depends on nothing; what that points at; the code
 * behind a beacon. `address` is lower-case hex. All batches must be answered at one block. What cannot be told is null, never false.
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

/** Null for an account without code of its own. */
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
 * Whether the code that answers a call has a function: true when a dispatcher names it, false only where all of that code is known and its
 * dispatcher is of a kind that can be read, else null.
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

/** Whether all code that answers was read: nothing delegates onward, and nothing answers that this code does not offer. */
function isWhole({ is_proxy }: ProxyFacts, { implementation_scan, answers_unnamed }: LeadResolved): boolean {
  if (answers_unnamed) return false
  return is_proxy === false || (is_proxy === true && implementation_scan !== null && !delegates(implementation_scan))
}
