import { normaliseSignature, recoverPayer } from '../payments/eip3009.ts'
import { personalMessageDigest } from '../payments/sign-in.ts'
import type { ReceiptCrypto } from '../receipts/crypto.ts'

/**
 * The form of a credit code: `ac_`, 32 characters of Crockford's base 32 (160 random bits), and one check character. Lower case is written,
 * either case is read, as are O for 0 and I or L for 1; hyphens and spaces around or between are passed over.
 */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const PREFIX = 'ac_'
const BODY_CHARS = 32
const BITS = 5
/** Longest text that is looked at. */
const TEXT_CHARS = 64
/** x^5 + x^2 + 1, which is primitive over GF(2): its powers of x run through all 31 values before they repeat. */
const POLYNOMIAL = 0b100101

const VALUE: ReadonlyMap<string, number> = new Map([
  ...Array.from(ALPHABET, (character, value): [string, number] => [character, value]),
  ['o', 0],
  ['i', 1],
  ['l', 1],
])

/** The code of 40 hexadecimal digits, which must be random. */
export function creditCode(random_hex: string): string {
  if (!/^[0-9a-f]{40}$/.test(random_hex)) throw new TypeError('a credit code is made of 40 hexadecimal digits')
  const bits = BigInt(`0x${random_hex}`)
  const values = Array.from({ length: BODY_CHARS }, (_, place) => Number((bits >> BigInt(BITS * (BODY_CHARS - 1 - place))) & 31n))
  return PREFIX + [...values, checkOf(values)].map((value) => ALPHABET[value]).join('')
}

/**
 * The code as it was made, whichever way it was written; null for a text that cannot be one. One wrong character, or two neighbours
 * that changed places, are always found. Errs towards null: a code with more than one slip may pass, and is then unknown to the store.
 */
export function readCreditCode(text: string): string | null {
  if (text.length > TEXT_CHARS) return null
  const plain = text.replace(/[\s-]/g, '').replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32))
  if (!plain.startsWith(PREFIX) || plain.length !== PREFIX.length + BODY_CHARS + 1) return null
  const values: number[] = []
  for (const character of plain.slice(PREFIX.length)) {
    const value = VALUE.get(character)
    if (value === undefined) return null
    values.push(value)
  }
  const body = values.slice(0, BODY_CHARS)
  return checkOf(body) === values[BODY_CHARS] ? PREFIX + values.map((value) => ALPHABET[value]).join('') : null
}

/** Horner's rule over GF(32): the value at place i counts x^(32-i) times, the check character once; neighbours never count alike. */
function checkOf(values: readonly number[]): number {
  return values.reduce((sum, value) => timesX(sum ^ value), 0)
}

function timesX(value: number): number {
  const doubled = value << 1
  return doubled > 31 ? doubled ^ POLYNOMIAL : doubled
}

/** Sums of a credit. All amounts are in the unit of the credit, and none is below zero. */
interface CreditSums {
  granted: bigint
  /** Amount taken back by reversed card payments: refunds, and disputes that are open or lost. At most `granted`. */
  reversed: bigint
  /** Cost of answered calls. */
  spent: bigint
  /** Maximum cost of the calls that are running now. */
  reserved: bigint
}

/** Amount that further calls may spend. */
export function availableOf({ granted, reversed, spent, reserved }: CreditSums): bigint {
  const left = granted - reversed - spent - reserved
  return left > 0n ? left : 0n
}

/** Amount that a reversal could not take back, because it was already spent. */
export function shortfallOf({ granted, reversed, spent }: CreditSums): bigint {
  const missing = reversed + spent - granted
  return missing > 0n ? missing : 0n
}

/** Text that the payer of a pilot invoice signs as a plain wallet message (EIP-191, version 0x45) to receive the credit. */
export function releaseText(invoice_id: string, chain_id: number): string {
  return `Release the calls of invoice ${invoice_id} on chain ${chain_id} as an assay credit code.`
}

/** The 32 bytes that are signed. */
export function releaseDigest(invoice_id: string, chain_id: number, crypto: Pick<ReceiptCrypto, 'keccak256'>): Uint8Array {
  return personalMessageDigest(releaseText(invoice_id, chain_id), crypto)
}

/** The account whose own key signed the release; null when none did. A contract wallet is asked on the chain. */
export function releasedBy(
  invoice_id: string,
  chain_id: number,
  signature: string,
  crypto: Pick<ReceiptCrypto, 'keccak256' | 'recover'>,
): string | null {
  const read = normaliseSignature(signature)
  return read === null ? null : recoverPayer(releaseDigest(invoice_id, chain_id, crypto), read, crypto.recover)
}
