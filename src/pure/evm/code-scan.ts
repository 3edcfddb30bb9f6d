import { fromHex, nobleCrypto } from '../receipts/crypto.ts'
import { PROXY_SLOTS, type SlotName } from './state-reads.ts'

/** Keys that compilers write at the end of a contract, and how long the value of each is. */
const KEYS = ['ipfs', 'bzzr0', 'bzzr1', 'solc', 'experimental', 'vyper']
/** An IPFS hash is a multihash of SHA-256: two bytes of head, 32 of hash. */
const IPFS_BYTES = 34
const SWARM_BYTES = 32
const LENGTH_BYTES = 2
const ENTRIES_MAX = 4

/**
 * Start of the compiler's metadata: a CBOR map (RFC 8949) of known keys that ends exactly two bytes before the end of the code, followed
 * by its length (Solidity documentation, "Contract Metadata", 0.8.37; Vyper 0.3.5 to 0.3.9). Null for any other form: then all of the
 * code is read as code.
 */
function metadataStart(code: Uint8Array): number | null {
  const end = code.length - LENGTH_BYTES
  if (end < 1) return null
  const start = end - (((code[end] ?? 0) << 8) | (code[end + 1] ?? 0))
  const entries = (code[start] ?? 0) - 0xa0
  if (start < 1 || entries < 1 || entries > ENTRIES_MAX) return null
  let at = start + 1
  for (let entry = 0; entry < entries; entry++) {
    const key = readKey(code, at)
    if (key === null) return null
    const size = valueSize(code, at + 1 + key.length, key)
    if (size === null) return null
    at += 1 + key.length + size
  }
  return at === end ? start : null
}

/** A short text that is one of the keys; its head is one byte. */
function readKey(code: Uint8Array, at: number): string | null {
  const length = (code[at] ?? 0) - 0x60
  if (length < 1 || length > 12) return null
  const text = String.fromCharCode(...code.subarray(at + 1, at + 1 + length))
  return KEYS.includes(text) ? text : null
}

/** Bytes that the value of this key takes, its head included; null for a value that this key does not have. */
function valueSize(code: Uint8Array, at: number, key: string): number | null {
  const head = code[at] ?? 0
  switch (key) {
    case 'ipfs':
      return head === 0x58 && code[at + 1] === IPFS_BYTES && code[at + 2] === 0x12 && code[at + 3] === 0x20 ? 2 + IPFS_BYTES : null
    case 'bzzr0':
    case 'bzzr1':
      return head === 0x58 && code[at + 1] === SWARM_BYTES ? 2 + SWARM_BYTES : null
    case 'solc':
      return head === 0x43 ? 4 : solcText(code, at)
    case 'experimental':
      return head === 0xf5 || head === 0xf4 ? 1 : null
    default:
      return head === 0x83 && [1, 2, 3].every((step) => (code[at + step] ?? 0xff) < 0x18) ? 4 : null
  }
}

/** Compilers between releases write their version as text. */
function solcText(code: Uint8Array, at: number): number | null {
  const head = code[at] ?? 0
  if (head >= 0x60 && head < 0x78) return 1 + head - 0x60
  return head === 0x78 ? 2 + (code[at + 1] ?? 0) : null
}

/** Evidence for a selector: compared and used for a jump, or only present in the code as a constant. */
type SelectorEvidence = 'dispatcher' | 'constant_only'

type WatchedOpcode = 'DELEGATECALL' | 'CALLCODE' | 'SELFDESTRUCT' | 'CREATE' | 'CREATE2' | 'ORIGIN' | 'SSTORE'

export interface CodeScan {
  size: number
  /** keccak-256 of the whole code. */
  hash: string
  /** Bytes of compiler metadata that were left out; null when none was recognised, or when the code jumps into it. */
  metadata_bytes: number | null
  /** By number of 32 bits. */
  selectors: ReadonlyMap<number, SelectorEvidence>
  opcodes: Readonly<Record<WatchedOpcode, number>>
  /** The code has a CALL: it may forward calls to another contract that answers. */
  calls: boolean
  slots_named: ReadonlySet<SlotName>
}

const WATCHED = new Map<number, WatchedOpcode>([
  [0xf4, 'DELEGATECALL'],
  [0xf2, 'CALLCODE'],
  [0xff, 'SELFDESTRUCT'],
  [0xf0, 'CREATE'],
  [0xf5, 'CREATE2'],
  [0x32, 'ORIGIN'],
  [0x55, 'SSTORE'],
])

const SUB = 0x03
const EQ = 0x14
const ISZERO = 0x15
const XOR = 0x18
const SHL = 0x1b
const CALLDATALOAD = 0x35
const MLOAD = 0x51
const JUMPI = 0x57
const CALL = 0xf1
const JUMPDEST = 0x5b
const PUSH0 = 0x5f
const PUSH1 = 0x60
const PUSH32 = 0x7f
const DUP1 = 0x80
const SWAP16 = 0x9f
/**
 * After STOP, JUMP, RETURN, REVERT, INVALID and SELFDESTRUCT nothing runs before the next JUMPDEST. 0x22 is not an instruction of any
 * fork; in metadata it follows `ipfs`, so that a block that runs into the metadata ends there.
 */
const ENDS = new Set([0x00, 0x22, 0x56, 0xf3, 0xfd, 0xfe, 0xff])

const SLOT_OF = new Map(Object.entries(PROXY_SLOTS).map(([name, slot]): [string, SlotName] => [slot, name as SlotName]))

/**
 * One linear pass over a contract's code that skips the data of pushes. Bytes after the end of a block are not counted before a
 * JUMPDEST, and the compiler's metadata is left out unless a constant in the code points at a JUMPDEST within it, or the code runs on
 * into it. Creation code of a factory and data tables may still be counted: an opcode found here is in the code, and may never run. Errs
 * towards reporting. `code_bytes`: only this many bytes from the start can run.
 */
export function scanCode(code: string, code_bytes?: number): CodeScan {
  const bytes = fromHex(code) ?? new Uint8Array()
  if (code_bytes !== undefined) return scanned(bytes, walk(bytes, code_bytes), null)
  const start = metadataStart(bytes)
  const body = walk(bytes, start ?? bytes.length)
  const found = start !== null && body.reaches_tail ? walk(bytes, bytes.length) : body
  return scanned(bytes, found, start === null || body.reaches_tail ? null : bytes.length - start)
}

function scanned(bytes: Uint8Array, found: ReturnType<typeof walk>, metadata_bytes: number | null): CodeScan {
  const { selectors, opcodes, calls, slots_named } = found
  return { size: bytes.length, hash: nobleCrypto.keccak256Hex(bytes), metadata_bytes, selectors, opcodes, calls, slots_named }
}

function walk(code: Uint8Array, end: number) {
  const selectors = new Map<number, SelectorEvidence>()
  const slots_named = new Set<SlotName>()
  const opcodes = { DELEGATECALL: 0, CALLCODE: 0, SELFDESTRUCT: 0, CREATE: 0, CREATE2: 0, ORIGIN: 0, SSTORE: 0 }
  let calls = false
  let reaches_tail = false
  let runs = true
  for (let at = 0; at < end; at++) {
    const op = code[at] ?? 0
    if (op < PUSH1 || op > PUSH32) {
      if (op === JUMPDEST) runs = true
      if (!runs) continue
      if (op === CALL) calls = true
      const watched = WATCHED.get(op)
      if (watched !== undefined) opcodes[watched]++
      if (ENDS.has(op)) runs = false
      continue
    }
    const size = op - PUSH0
    const next = at + 1 + size
    if (runs && next <= end) {
      if (size === 3 || size === 4) noteSelector(selectors, code, at + 1, size, next, end)
      if (size <= 4) noteShifted(selectors, numberAt(code, at + 1, size), code, next)
      if (size === 32) noteWord(selectors, slots_named, code, at + 1, next, end)
      const target = numberAt(code, at + 1, size)
      if (target >= end && code[target] === JUMPDEST) reaches_tail = true
    }
    at += size
  }
  return { selectors, opcodes, calls, slots_named, reaches_tail: reaches_tail || runs }
}

/** Three bytes are a selector only where they are compared: its first byte is zero then. */
function noteSelector(found: Map<number, SelectorEvidence>, code: Uint8Array, at: number, size: number, next: number, end: number): void {
  const value = numberAt(code, at, size)
  if (isCompared(code, next, end)) found.set(value, 'dispatcher')
  else if (size === 4 && !found.has(value)) found.set(value, 'constant_only')
}

/** A constant that is shifted to the left end of a word, as a selector is in memory: compilers drop its trailing zero bits. */
function noteShifted(found: Map<number, SelectorEvidence>, value: number, code: Uint8Array, next: number): void {
  const shift = (code[next + 1] ?? 0) - 224
  if (code[next] !== PUSH1 || code[next + 2] !== SHL || shift < 0) return
  const selector = value * 2 ** shift
  if (selector <= 0xffffffff && !found.has(selector)) found.set(selector, 'constant_only')
}

/** A word may be a slot, or a selector followed by zeros. */
function noteWord(
  found: Map<number, SelectorEvidence>,
  slots: Set<SlotName>,
  code: Uint8Array,
  at: number,
  next: number,
  end: number,
): void {
  let tail = 0
  for (let index = at + 4; index < at + 32; index++) tail |= code[index] ?? 0
  if (tail !== 0) {
    const name = SLOT_OF.get(hexAt(code, at))
    if (name !== undefined) slots.add(name)
    return
  }
  const value = numberAt(code, at, 4)
  const loads = code[next] === PUSH0 ? next + 1 : code[next] === PUSH1 && code[next + 1] === 0 ? next + 2 : next
  if (isCompared(code, code[loads] === CALLDATALOAD ? loads + 1 : next, end)) found.set(value, 'dispatcher')
  else if (!found.has(value)) found.set(value, 'constant_only')
}

/**
 * Returns true when the constant before `at` is compared and used for a jump, as in the dispatchers of Solidity, Vyper and Huff; Vyper
 * before 0.3 loads the compared value from memory. The jump must lead to a JUMPDEST: in creation code inside a factory, jumps count from
 * another beginning.
 */
function isCompared(code: Uint8Array, at: number, end: number): boolean {
  let here = at
  for (let steps = 0; steps < 3 && isShuffle(code[here] ?? 0); steps++) here++
  if (code[here] === PUSH1 && code[here + 1] === 0 && code[here + 2] === MLOAD) here += 3
  const comparison = code[here] ?? 0
  if (comparison !== EQ && comparison !== XOR && comparison !== SUB) return false
  here++
  for (let steps = 0; steps < 2 && code[here] === ISZERO; steps++) here++
  const push = code[here] ?? 0
  if (push < PUSH1 || push > PUSH32) return false
  const jump = here + 1 + push - PUSH0
  return jump < end && code[jump] === JUMPI && code[numberAt(code, here + 1, push - PUSH0)] === JUMPDEST
}

function isShuffle(op: number): boolean {
  return op >= DUP1 && op <= SWAP16
}

/** Exact below 2^53, far beyond any place in a code. */
function numberAt(code: Uint8Array, at: number, size: number): number {
  let value = 0
  for (let index = at; index < at + size; index++) value = value * 256 + (code[index] ?? 0)
  return value
}

function hexAt(code: Uint8Array, at: number): string {
  let text = '0x'
  for (let index = at; index < at + 32; index++) text += (code[index] ?? 0).toString(16).padStart(2, '0')
  return text
}

/** Power over holders of a token that a function of this kind gives to its caller. */
export const SELECTOR_CATEGORIES = [
  'mint',
  'burn_others',
  'pause_freeze',
  'blacklist',
  'fees',
  'exemptions',
  'limits',
  'trading',
  'upgrade',
  'ownership',
  'lock',
  'roles',
  'rescue',
  'balances',
] as const

type SelectorCategory = (typeof SELECTOR_CATEGORIES)[number]

interface PrivilegedSelector {
  category: SelectorCategory
  signature: string
  /** First four bytes of keccak-256 of the signature, 0x-prefixed. */
  selector: string
}

/**
 * Functions that tokens on EVM chains are known to keep for their operators, by their Solidity signatures: OpenZeppelin 4 and 5, Circle's
 * FiatToken, Tether, ERC-2535, ERC-7802, and the templates that most launch tokens are copied from (collected November 2026). The list is
 * finite: a function under another name is not found, and a name says nothing about who may call it.
 */
export const PRIVILEGED_SIGNATURES: Readonly<Record<SelectorCategory, readonly string[]>> = {
  mint: [
    'mint(address,uint256)',
    'mint(uint256)',
    'mintTo(address,uint256)',
    'configureMinter(address,uint256)',
    'addMinter(address)',
    'setMinter(address)',
    'issue(uint256)',
    'updateMasterMinter(address)',
    'crosschainMint(address,uint256)',
  ],
  burn_others: ['burn(address,uint256)', 'burnBlackFunds(address)', 'destroyBlackFunds(address)', 'wipeFrozenAddress(address)'],
  pause_freeze: ['pause()', 'unpause()', 'setPaused(bool)', 'freeze(address)', 'unfreeze(address)'],
  blacklist: [
    'blacklist(address)',
    'unBlacklist(address)',
    'blacklist(address,bool)',
    'updateBlacklister(address)',
    'addBlackList(address)',
    'removeBlackList(address)',
    'setBlacklist(address,bool)',
    'blacklistAddress(address,bool)',
    'setBots(address[],bool)',
    'addBots(address[])',
    'delBots(address[])',
    'setBot(address,bool)',
    'blockBots(address[])',
  ],
  fees: [
    'setFee(uint256)',
    'setFees(uint256,uint256)',
    'setTax(uint256)',
    'setTaxes(uint256,uint256)',
    'setBuyFee(uint256)',
    'setSellFee(uint256)',
    'updateFees(uint256,uint256)',
    'updateBuyFees(uint256,uint256,uint256)',
    'updateSellFees(uint256,uint256,uint256)',
    'reduceFee(uint256)',
    'setTaxFeePercent(uint256)',
    'setLiquidityFeePercent(uint256)',
    'setMarketingWallet(address)',
    'setParams(uint256,uint256)',
  ],
  exemptions: [
    'excludeFromFees(address,bool)',
    'excludeFromFee(address)',
    'includeInFee(address)',
    'setIsFeeExempt(address,bool)',
    'excludeFromMaxTransaction(address,bool)',
    'setIsTxLimitExempt(address,bool)',
  ],
  limits: [
    'setMaxTx(uint256)',
    'setMaxTxAmount(uint256)',
    'setMaxTxPercent(uint256)',
    'updateMaxTxnAmount(uint256)',
    'setMaxWallet(uint256)',
    'setMaxWalletAmount(uint256)',
    'updateMaxWalletAmount(uint256)',
    'removeLimits()',
    'setCooldownEnabled(bool)',
  ],
  trading: [
    'enableTrading()',
    'openTrading()',
    'setTrading(bool)',
    'setTradingEnabled(bool)',
    'launch()',
    'startTrading()',
    'setAutomatedMarketMakerPair(address,bool)',
    'setSwapEnabled(bool)',
    'updateSwapEnabled(bool)',
  ],
  upgrade: [
    'upgradeTo(address)',
    'upgradeToAndCall(address,bytes)',
    'changeAdmin(address)',
    'setImplementation(address)',
    'upgrade(address,address)',
    'upgradeAndCall(address,address,bytes)',
    'diamondCut((address,uint8,bytes4[])[],address,bytes)',
    'proxiableUUID()',
  ],
  ownership: [
    'owner()',
    'getOwner()',
    'transferOwnership(address)',
    'renounceOwnership()',
    'acceptOwnership()',
    'pendingOwner()',
    'setOwner(address)',
    'setAuthority(address)',
  ],
  lock: ['lock(uint256)', 'unlock()'],
  roles: [
    'grantRole(bytes32,address)',
    'revokeRole(bytes32,address)',
    'renounceRole(bytes32,address)',
    'setOperator(address)',
    'addAdmin(address)',
    'beginDefaultAdminTransfer(address)',
  ],
  rescue: [
    'rescueERC20(address,address,uint256)',
    'rescueTokens(address,uint256)',
    'recoverERC20(address,uint256)',
    'withdraw()',
    'withdrawToken(address)',
    'sweep(address)',
    'withdrawStuckETH()',
    'clearStuckBalance(uint256)',
    'emergencyWithdraw()',
  ],
  balances: ['setBalance(address,uint256)', 'rebase(uint256,int256)', 'execute(address,uint256,bytes)'],
}

let by_number: ReadonlyMap<number, PrivilegedSelector> | null = null

/** The list by selector, as numbers of 32 bits, in the order of the list; hashed when it is first asked for. */
export function privilegedSelectors(): ReadonlyMap<number, PrivilegedSelector> {
  by_number ??= new Map(
    SELECTOR_CATEGORIES.flatMap((category) =>
      PRIVILEGED_SIGNATURES[category].map((signature): [number, PrivilegedSelector] => {
        const selector = nobleCrypto.keccak256Hex(signature).slice(0, 10)
        return [Number.parseInt(selector, 16), { category, signature, selector }]
      }),
    ),
  )
  return by_number
}

/** Origin of the code: the address itself, its delegation target, or the facets that a diamond's loupe lists. */
type Place = 'contract' | 'implementation' | 'facet'

interface PrivilegedFact extends PrivilegedSelector {
  where: Place
  evidence: SelectorEvidence | 'loupe'
}

/** The known functions that occur, in the order of the list. */
function privilegedFacts(own: CodeScan | null, implementation: CodeScan | null, facets: ReadonlySet<number>): PrivilegedFact[] {
  const found: PrivilegedFact[] = []
  for (const [where, scan] of [['contract', own] as const, ['implementation', implementation] as const]) {
    for (const [number, known] of privilegedSelectors()) {
      const evidence = scan?.selectors.get(number)
      if (evidence !== undefined) found.push({ ...known, where, evidence })
    }
  }
  for (const [number, known] of privilegedSelectors()) if (facets.has(number)) found.push({ ...known, where: 'facet', evidence: 'loupe' })
  return found
}

interface OpcodeFact {
  name: WatchedOpcode
  count: number
  where: Place
  /** Present in the code; it may never run. */
  evidence: 'linear_sweep'
  note: string | null
}

const NOTES: Partial<Record<WatchedOpcode, string>> = {
  SELFDESTRUCT: 'Since EIP-6780 it deletes code only in the transaction that created it; it still sends away the balance.',
  ORIGIN: 'Distinguishes the signer of a transaction from contracts in between.',
}

/** Opcodes that occur. SSTORE is always that of the contract itself: without it nothing can be stored. */
function opcodeFacts(own: CodeScan | null, implementation: CodeScan | null): OpcodeFact[] {
  return [['contract', own] as const, ['implementation', implementation] as const].flatMap(([where, scan]) =>
    Object.entries(scan?.opcodes ?? {}).flatMap(([opcode, count]) => {
      const name = opcode as WatchedOpcode
      if (count === 0 && (name !== 'SSTORE' || where !== 'contract')) return []
      return [{ name, count, where, evidence: 'linear_sweep' as const, note: NOTES[name] ?? null }]
    }),
  )
}

/** Functions and opcodes that the code of a contract and of its implementation shows, and functions that the loupe of a diamond lists. */
export interface CodeFacts {
  privileged_selectors: PrivilegedFact[]
  opcodes: OpcodeFact[]
}

export function codeFacts(own: CodeScan | null, implementation: CodeScan | null, facets: ReadonlySet<number>): CodeFacts {
  return { privileged_selectors: privilegedFacts(own, implementation, facets), opcodes: opcodeFacts(own, implementation) }
}
