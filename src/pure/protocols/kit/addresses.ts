import { readEvmAddress } from '../../checks/evm-address.ts'

/** Checks addresses and chain ids by form and checksum only. */

/**
 * `wrong_case`: mixed case with a wrong EIP-55 checksum. `one_case`: letters of one case, so no checksum. `checked`: a correct checksum, or
 * no letters.
 */
type EvmAddressForm = 'none' | 'checked' | 'one_case' | 'wrong_case'

const MIXED = new Map<string, EvmAddressForm>()
const SOLANA = new Map<string, boolean>()

/** Caches answers: a document repeats the same few addresses, and each costs a hash. */
function memoize<Answer>(known: Map<string, Answer>, text: string, compute: (text: string) => Answer): Answer {
  const before = known.get(text)
  if (before !== undefined) return before
  const answer = compute(text)
  if (known.size >= MOST_REMEMBERED) known.clear()
  known.set(text, answer)
  return answer
}

const MOST_REMEMBERED = 1_024

/** Classifies a text as an EVM address, 0x and 40 hexadecimal digits, by its checksum (EIP-55, 2016). */
export function classifyEvmAddress(text: string): EvmAddressForm {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return 'none'
  const [small, large] = [/[a-f]/.test(text), /[A-F]/.test(text)]
  if (small && large) return memoize(MIXED, text, (one) => (readEvmAddress(one)?.checksum === 'holds' ? 'checked' : 'wrong_case'))
  return small || large ? 'one_case' : 'checked'
}

/** Returns whether a text is a Solana address: base58 of 32 bytes. */
export function isSolanaAddress(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && memoize(SOLANA, text, (one) => base58Bytes(one) === 32)
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** So many digits of base 58 fit into a double. */
const AT_ONCE = 9

function base58Bytes(text: string): number {
  let value = 0n
  for (let at = 0; at < text.length; at += AT_ONCE) {
    const digits = text.slice(at, at + AT_ONCE)
    let part = 0
    for (const digit of digits) part = part * 58 + BASE58.indexOf(digit)
    value = value * 58n ** BigInt(digits.length) + BigInt(part)
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  return zeros + (value === 0n ? 0 : Math.ceil(value.toString(16).length / 2))
}

/** A CAIP-2 chain id in its two parts; null for everything else. */
export function readCaip2(text: string | null): { namespace: string; reference: string } | null {
  const match = text === null ? null : /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})$/.exec(text)
  return match?.[1] === undefined || match[2] === undefined ? null : { namespace: match[1], reference: match[2] }
}

/** Addresses without a usable private key, in lower case; Solana's keep their case. */
const BURN: ReadonlySet<string> = new Set([
  '0x0000000000000000000000000000000000000000',
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000042069420694206942069',
  '11111111111111111111111111111111',
  '1nc1nerator11111111111111111111111111111111',
])

export function isBurnAddress(text: string): boolean {
  return BURN.has(text.startsWith('0x') ? text.toLowerCase() : text)
}

/** Compares EVM addresses without case, everything else exactly. */
export function sameAccount(one: string, other: string): boolean {
  const isEvm = /^0x[0-9a-fA-F]{40}$/.test(one)
  return isEvm ? one.toLowerCase() === other.toLowerCase() : one === other
}
