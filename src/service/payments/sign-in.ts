import { decodeUtf8, readStrictJson } from '../../pure/documents/strict-json.ts'
import { normaliseSignature, recoverPayer } from '../../pure/payments/eip3009.ts'
import { personalMessageDigest, signInText } from '../../pure/payments/sign-in.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PaymentKey } from '../../ports/payments.ts'
import type { Sealer } from '../../ports/sealer.ts'
import type { Store } from '../../ports/store.ts'
import { limits } from '../limits.ts'

/** Challenge of the x402 extension sign-in-with-x (CAIP-122) for one payment. */
export interface SignInChallenge {
  info: {
    domain: string
    uri: string
    version: '1'
    statement: string
    nonce: string
    issuedAt: string
    expirationTime: string
  }
  supportedChains: [{ chainId: string; type: 'eip191' }]
}

export interface SignIn {
  challenge(key: PaymentKey): SignInChallenge
  /** Whether the header proves that the payer's own key signed a fresh, unused challenge for this payment. */
  accepts(key: PaymentKey, header: string): Promise<boolean>
}

export interface SignInParts {
  store: Pick<Store, 'take'>
  clock: Clock
  sealer: Sealer
  crypto: Pick<ReceiptCrypto, 'keccak256' | 'recover'>
  chain_id: number
  /** Origin of the REST interface, read when a challenge is made: it is known once the server listens. */
  api_url(): string
  /** 32 random bytes as 0x-prefixed hex. */
  randomNonce(): string
}

const DAY_MS = 24 * 3_600_000
const STATEMENT = 'Fetch the answer that this account paid for.'
const JSON_BOUNDS = { depth: 4, nodes: 64 }

/**
 * Issues and checks challenges without storing them: half of a nonce is random, the other half is a keyed hash of it, the payment and the
 * time. The signed text is rebuilt from what was issued, so that no field of the header can differ from it. Accounts with a key only; a
 * contract wallet uses the token or the identifier.
 */
export function createSignIn(parts: SignInParts): SignIn {
  return {
    challenge(key) {
      return challengeOf(parts, key, parts.randomNonce().slice(2, 2 + RANDOM_CHARS), parts.clock.now_ms())
    },
    async accepts(key, header) {
      const given = readHeader(header)
      if (given === null) return false
      const issued_ms = Date.parse(given.issuedAt)
      const age_ms = parts.clock.now_ms() - issued_ms
      if (!(age_ms >= 0 && age_ms < limits.sign_in_ms)) return false
      const { info } = challengeOf(parts, key, given.nonce.slice(0, RANDOM_CHARS), issued_ms)
      // Compared as keyed hashes: the time that it takes reveals nothing of the nonce.
      if (parts.sealer.token(info.nonce) !== parts.sealer.token(given.nonce) || info.issuedAt !== given.issuedAt) return false
      const signature = normaliseSignature(given.signature)
      if (signature === null || given.address.toLowerCase() !== key.payer) return false
      const text = signInText({ ...info, address: given.address, chain_id: parts.chain_id })
      const signer = recoverPayer(personalMessageDigest(text, parts.crypto), signature, parts.crypto.recover)
      if (signer !== key.payer) return false
      const used = { day: Math.floor(issued_ms / DAY_MS), bucket: 'sign-in', client: info.nonce, limit: 1 }
      return (await parts.store.take(used)).granted
    },
  }
}

const RANDOM_CHARS = 16
const SEAL_CHARS = 16

function challengeOf({ sealer, chain_id, api_url }: SignInParts, key: PaymentKey, random: string, issued_ms: number): SignInChallenge {
  const uri = `${api_url()}/v1/payments/${key.payer}/${key.nonce}`
  const issuedAt = new Date(issued_ms).toISOString()
  return {
    info: {
      domain: new URL(uri).host,
      uri,
      version: '1',
      statement: STATEMENT,
      nonce: random + sealer.token(`sign in|${uri}|${random}|${issuedAt}`).slice(0, SEAL_CHARS),
      issuedAt,
      expirationTime: new Date(issued_ms + limits.sign_in_ms).toISOString(),
    },
    supportedChains: [{ chainId: `eip155:${chain_id}`, type: 'eip191' }],
  }
}

type SignInHeader = Record<'address' | 'nonce' | 'issuedAt' | 'signature', string>

/** Null for anything but Base64 of a JSON object with the four texts that count. */
function readHeader(header: string): SignInHeader | null {
  if (header.length > limits.payment_header_chars || !/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return null
  const json = decodeUtf8(Buffer.from(header, 'base64'))
  const read = json === null ? null : readStrictJson(json, JSON_BOUNDS)
  const value: unknown = read?.ok === true ? read.value : null
  if (typeof value !== 'object' || value === null) return null
  const { address, nonce, issuedAt, signature } = value as Record<string, unknown>
  if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address) || typeof nonce !== 'string') return null
  if (typeof issuedAt !== 'string' || Number.isNaN(Date.parse(issuedAt))) return null
  return typeof signature === 'string' && /^0x[0-9a-fA-F]{130}$/.test(signature) ? { address, nonce, issuedAt, signature } : null
}
