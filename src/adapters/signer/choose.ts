import { createKeccak } from 'hash-wasm'
import { fromHex, nobleCrypto, type ReceiptCrypto, toHex, readSignature } from '../../pure/receipts/crypto.ts'
import type { Signer } from '../../ports/signer.ts'
import { loadNative, nativeRecover, type NativeSecp256k1, nativeSigner } from './native.ts'
import { nobleSigner } from './noble.ts'

/** keccak-256 in WebAssembly: several times as fast as JavaScript. */

/** Compiles the hasher once; afterwards hashing is synchronous. */
export async function wasmKeccak(): Promise<Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>> {
  // One mutable instance: init, update and digest must stay in one synchronous stretch, and here they do.
  const hasher = await createKeccak(256)
  return {
    keccak256: (data) => hasher.init().update(data).digest('binary'),
    keccak256Hex: (data) => `0x${hasher.init().update(data).digest('hex')}`,
  }
}

/** Chooses the arithmetic of receipts at start: the fast parts where they load and agree with the reference, the reference else. */

export interface SigningBackend {
  /** Signing and recovery. */
  readonly implementation: Signer['implementation']
  readonly keccak: 'hash-wasm' | 'noble'
  /** One sentence for each fast part that is not in use; empty when all are. */
  readonly refusals: readonly string[]
  /** A signer for a 32-byte private key; throws for a key outside the group. */
  signer(private_key: Uint8Array): Signer
  readonly crypto: ReceiptCrypto
}

type Keccak = Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>

/** Replacements of the real parts, so that tests can show refusals. */
export interface Candidates {
  native?: () => NativeSecp256k1
  keccak?: () => Promise<Keccak>
}

/** Tries the fast parts on fixed vectors, for which noble's answers are known; a part that fails to load or differs in one of them is not used. */
export async function chooseSigning(candidates: Candidates = {}): Promise<SigningBackend> {
  const refusals: string[] = []
  const keccak = await attempt('The WebAssembly keccak-256', refusals, async () =>
    agreeingKeccak(await (candidates.keccak ?? wasmKeccak)()),
  )
  const hashing: Keccak = keccak ?? nobleCrypto
  const native = await attempt('The native secp256k1', refusals, async () => agreeingNative((candidates.native ?? loadNative)()))
  return {
    implementation: native === null ? 'noble' : 'secp256k1-native',
    keccak: keccak === null ? 'noble' : 'hash-wasm',
    refusals,
    signer: (private_key) => (native === null ? nobleSigner(private_key) : nativeSigner(native, private_key)),
    crypto: {
      keccak256: hashing.keccak256,
      keccak256Hex: hashing.keccak256Hex,
      recover: native === null ? nobleCrypto.recover : nativeRecover(native, hashing.keccak256),
    },
  }
}

async function attempt<Part>(name: string, refusals: string[], load: () => Promise<Part | string>): Promise<Part | null> {
  let refusal: string
  try {
    const part = await load()
    if (typeof part !== 'string') return part
    refusal = part
  } catch {
    refusal = 'it does not load on this machine'
  }
  refusals.push(`${name} is not used: ${refusal}.`)
  return null
}

/** Around the 136-byte block of keccak-256, where padding goes wrong if it does. */
const HASHED_CHARS = [0, 1, 135, 136, 137, 1_000]

function agreeingKeccak(keccak: Keccak): Keccak | string {
  const agrees = HASHED_CHARS.every((chars) => {
    const text = '\u{e9}'.repeat(chars >> 1) + 'a'.repeat(chars & 1)
    const expected = nobleCrypto.keccak256Hex(text)
    return keccak.keccak256Hex(text) === expected && toHex(keccak.keccak256(new TextEncoder().encode(text))) === expected
  })
  return agrees ? keccak : 'it hashes a fixed text otherwise than the reference'
}

/**
 * Results of the reference implementation for keys and digests at the limits and in the middle of their ranges; stored, because
 * computing them again would take more of each start than the rest of the choice. The keys are public and used nowhere else. Digests
 * stay below the order of the group: above it libsecp256k1 derives its nonce from the digest itself and RFC 6979 from the reduced one,
 * so that both sign correctly but differently, which no keccak-256 is ever expected to show (odds of 2^-128).
 */
export const SIGNED = [
  {
    key: `0x${'1'.padStart(64, '0')}`,
    address: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    digest: `0x${'00'.repeat(32)}`,
    signature:
      '0xa0b37f8fba683cc68f6574cd43b39f0343a50008bf6ccea9d13231d9e7e2e1e4' +
      '11edc8d307254296264aebfc3dc76cd8b668373a072fd64665b50000e9fcce521c',
  },
  {
    key: `0x${'7f'.repeat(32)}`,
    address: '0xa1d79dfa76e98d5e8a776114d9524c4b6e888daa',
    digest: `0x${'fe'.repeat(32)}`,
    signature:
      '0xba622cfb8b36b2371e1dffdb23ca6091d246cfa8218084b9d6389a834f443706' +
      '36aeb229fd890386730e61be6b7c98744659e005a6577543065ee7a616565f511c',
  },
  {
    key: `0x${'1'.padStart(64, '0')}`,
    address: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    digest: '0x198802f02d72ad4ba1e4432d3c94178090781739c3d0cdeece5dfef24120a46e',
    signature:
      '0xf6230ca7fd1f7020073d785cc2397e7ac1b9aec3610fc20081b0bf3f7b09edd2' +
      '7a57dde70efa8c3cf8d572165c62c8c3ac04d550e7db947024dd840faba65ab61b',
  },
]

function agreeingNative(native: NativeSecp256k1): NativeSecp256k1 | string {
  const recover = nativeRecover(native, nobleCrypto.keccak256)
  for (const { key, address, digest, signature } of SIGNED) {
    const [mine, hash, reading] = [nativeSigner(native, bytesOf(key)), bytesOf(digest), readSignature(signature)]
    if (mine.address !== address) return 'it derives another address than the reference'
    if (mine.sign(hash) !== signature) return 'it signs a fixed digest otherwise than the reference'
    if (!reading.ok || recover(hash, reading.rs, reading.recovery) !== address) return 'it recovers another signer than the reference'
  }
  return native
}

function bytesOf(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array()
}
