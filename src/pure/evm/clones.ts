/** Contracts all of whose code delegates to one address that stands in it. */
export type CloneKind =
  | 'eip1167'
  | 'eip1167_args'
  | 'eip1167_vanity'
  | 'clone_0age'
  | 'erc7511'
  | 'solady_push0'
  | 'vyper_clone'
  | 'erc3448'

export interface Clone {
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
 * The clone that a code is, or null. `code` is 0x-prefixed hex in lower case. Whole patterns and lengths count: code with one byte more is
 * not a clone here, and is told by its opcodes instead, but where libraries put arguments behind a pattern whose end nothing passes.
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
