/** Contracts whose whole code delegates to one address in that code. */
export type CloneKind =
  | 'eip1167'
  | 'eip1167_args'
  | 'eip1167_vanity'
  | 'clone_0age'
  | 'erc7511'
  | 'solady_push0'
  | 'vyper_clone'
  | 'erc3448'

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

/** The loupe, from what facets() returned, or else from what facetAddresses() returned. */
export function readLoupe(facets: string, facet_addresses: string): Loupe | null {
  return readFacets(facets) ?? readFacetAddresses(facet_addresses)
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
