import { nobleCrypto } from '../receipts/crypto.ts'

/** An EVM address read from text. */
export interface EvmAddress {
  /** 0x and 40 lower-case hexadecimal digits. */
  address: string
  /** The same with the capitals of EIP-55. */
  checksummed: string
  /** `absent`: all letters of one case, so nothing was promised. */
  checksum: 'absent' | 'holds' | 'broken'
  /** The chain that a CAIP-10 account names, null for a bare address. */
  chain_id: string | null
}

const CAIP_10 = /^eip155:([0-9]{1,32}):(.*)$/i

/**
 * Reads 0x and 40 hexadecimal digits of any case, also without 0x, or a CAIP-10 account of the namespace eip155. Null for everything else.
 * A broken checksum (EIP-55, 2016) is reported, not rejected: the address can still be screened.
 */
export function readEvmAddress(text: string): EvmAddress | null {
  const account = CAIP_10.exec(text)
  const body = account?.[2] ?? text
  const digits = /^(?:0x)?([0-9a-fA-F]{40})$/i.exec(body)?.[1]
  if (digits === undefined) return null
  const lower = digits.toLowerCase()
  const checksummed = eip55(lower)
  const promised = /[a-f]/.test(digits) && /[A-F]/.test(digits)
  const checksum = !promised ? 'absent' : checksummed === digits ? 'holds' : 'broken'
  return { address: `0x${lower}`, checksummed: `0x${checksummed}`, checksum, chain_id: account?.[1] ?? null }
}

/** A letter is a capital when the digit of the hash in its place is 8 or more. */
function eip55(lower: string): string {
  const hash = nobleCrypto.keccak256Hex(lower).slice(2)
  let written = ''
  for (let index = 0; index < lower.length; index++) {
    const digit = lower.charAt(index)
    written += hash.charAt(index) >= '8' ? digit.toUpperCase() : digit
  }
  return written
}
