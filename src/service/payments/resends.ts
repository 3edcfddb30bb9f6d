import type { Clock } from '../../ports/clock.ts'
import type { Payment, PaymentKey } from '../../ports/payments.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import { clientHasher, widerNetwork } from '../clients.ts'
import { limits } from '../limits.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Sealer } from '../../ports/signer.ts'
import { decodeUtf8, readStrictJson } from '../../pure/documents/strict-json.ts'
import { normaliseSignature, recoverPayer } from '../../pure/payments/eip3009.ts'
import { personalMessageDigest, signInText } from '../../pure/payments/sign-in.ts'

const HOUR_MS = 3_600_000
const HOURS = 24

/** Counts of wrong inputs and wrong secrets that a client sent with one payment, by the hour, over all instances, under a keyed hash. */
interface Mismatches {
  /** Counts one; false beyond the bound of the hour. */
  add(key: PaymentKey, client: string): Promise<boolean>
  exhausted(key: PaymentKey, client: string): Promise<boolean>
}

export function createMismatches(store: Pick<Store, 'take' | 'used'>, clock: Clock, secret: Uint8Array): Mismatches {
  const clientHash = clientHasher(secret)
  const requestFor = ({ payer, nonce }: PaymentKey, client: string): AllowanceRequest => {
    const hours = Math.floor(clock.now_ms() / HOUR_MS)
    const day = Math.floor(hours / HOURS)
    const limit = limits.mismatches_per_hour
    return { day, bucket: `mismatch-${hours % HOURS}`, client: `${clientHash(day, client)}:${payer}:${nonce}`, limit }
  }
  return {
    add: async (key, client) => (await store.take(requestFor(key, client))).granted,
    exhausted: async (key, client) => (await store.used(requestFor(key, client))) >= limits.mismatches_per_hour,
  }
}

/** Secrets that a request may carry in addition to its payment. */
export interface ResendSecrets {
  /** Answer token of an earlier PAYMENT_PENDING answer; null when none was sent. */
  answer_token: string | null
  /** Value of the SIGN-IN-WITH-X header; null when none was sent. */
  sign_in: string | null
}

export const NO_SECRETS: ResendSecrets = { answer_token: null, sign_in: null }

/** Members of a resend that decide on its right to the answer. */
export interface Resend extends ResendSecrets {
  address: string
  /** Client under which mismatches are counted. */
  client: string
  /** payment-identifier id of the payment. */
  identifier: string | null
  /** The client network counts also when the first request is older than stored answers. */
  at_any_age?: boolean
  /** The payment carries offers that a client sends back. */
  echoed_offer?: boolean
}

export interface ResendParts {
  sealer: Sealer
  clock: Clock
  mismatches: Mismatches
  signIn: SignIn
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'>
}

/** Returns the text that identifies a payment: the context of its sealed answer and of its answer token. */
export function paymentContext({ payer, nonce }: PaymentKey): string {
  return `${payer}:${nonce}`
}

/** Returns the digest by which the store finds a payment from its answer token. */
export function tokenHash({ crypto }: Pick<ResendParts, 'crypto'>, token: string): string {
  return crypto.keccak256Hex(token)
}

/**
 * Returns keyed hashes of the first request, stored with its claim. That of the network depends on the payment, so that it cannot link two
 * payments; that of the payment-identifier id depends on the payer, for whom an id belongs to one payment.
 */
export function resendHashes(sealer: Sealer, key: PaymentKey, address: string, identifier: string | null) {
  const identifier_hash = identifier === null ? null : identifierHash(sealer, key.payer, identifier)
  return { network_hash: networkHash(sealer, key, address), identifier_hash }
}

/** True for the answer token of the payment. */
export function hasToken(parts: Pick<ResendParts, 'crypto' | 'sealer'>, key: PaymentKey, token: string): boolean {
  return tokenHash(parts, token) === tokenHash(parts, parts.sealer.token(paymentContext(key)))
}

/** True for an address of the client network that sent the claim. */
export function hasNetwork(sealer: Sealer, found: PaymentKey & Pick<Payment, 'network_hash'>, address: string): boolean {
  return networkHash(sealer, found, address) === found.network_hash
}

function networkHash(sealer: Sealer, key: PaymentKey, address: string): string {
  return sealer.token(`client network|${paymentContext(key)}|${widerNetwork(address)}`)
}

export function identifierHash(sealer: Sealer, payer: string, identifier: string): string {
  return sealer.token(`payment identifier of a payer|${payer}|${identifier}`)
}

/** Rows of older releases have a hash that depends on the payment. */
export function hasIdentifier(sealer: Sealer, found: PaymentKey & Pick<Payment, 'identifier_hash'>, identifier: string): boolean {
  if (found.identifier_hash === null) return false
  const older = () => sealer.token(`payment identifier|${paymentContext(found)}|${identifier}`)
  return found.identifier_hash === identifierHash(sealer, found.payer, identifier) || found.identifier_hash === older()
}

/**
 * Returns the right of a resend to the answer of the payment. From settlement on, authorization and signature can be read from the chain,
 * so the payment header alone proves nothing: the resend must come from the client network of the first request, within a day, or carry a
 * secret that was never on chain. `limited`: this client sent too many wrong secrets or inputs within the hour; then the right input is
 * refused too, since a limit on wrong guesses alone would limit nothing.
 */
export async function resendAccess(parts: ResendParts, found: Payment, resend: Resend): Promise<'granted' | 'refused' | 'limited'> {
  const { sealer, mismatches } = parts
  const { answer_token, identifier, sign_in, client } = resend
  if (answer_token !== null && hasToken(parts, found, answer_token)) return 'granted'
  if (await mismatches.exhausted(found, client)) return 'limited'
  const is_recent = resend.at_any_age === true || parts.clock.now_ms() < found.created_ms + limits.answer_kept_ms
  if (is_recent && hasNetwork(sealer, found, resend.address)) return 'granted'
  if (identifier !== null && hasIdentifier(sealer, found, identifier)) return 'granted'
  if (sign_in !== null && (await parts.signIn.accepts(found, sign_in))) return 'granted'
  if (answer_token === null && identifier === null && sign_in === null) return 'refused'
  return (await mismatches.add(found, client)) ? 'refused' : 'limited'
}

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

interface SignIn {
  challenge(key: PaymentKey, use?: SignInUse): SignInChallenge
  /** Returns true when the header proves that the payer's own key, or one of `use`, signed a fresh, unused challenge for this payment. */
  accepts(key: PaymentKey, header: string, use?: SignInUse): Promise<boolean>
}

/** A use of the challenge other than fetching an answer. */
export interface SignInUse {
  statement: string
  /** Accounts that may sign, lower case. */
  signers: readonly string[]
}

interface SignInParts {
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
    challenge(key, use) {
      return challengeOf(parts, key, parts.randomNonce().slice(2, 2 + RANDOM_CHARS), parts.clock.now_ms(), use?.statement)
    },
    async accepts(key, header, use) {
      const given = readHeader(header)
      if (given === null) return false
      const issued_ms = Date.parse(given.issuedAt)
      const age_ms = parts.clock.now_ms() - issued_ms
      if (!(age_ms >= 0 && age_ms < limits.sign_in_ms)) return false
      const { info } = challengeOf(parts, key, given.nonce.slice(0, RANDOM_CHARS), issued_ms, use?.statement)
      // Compared as keyed hashes: the time that it takes reveals nothing of the nonce.
      if (parts.sealer.token(info.nonce) !== parts.sealer.token(given.nonce) || info.issuedAt !== given.issuedAt) return false
      const signature = normaliseSignature(given.signature)
      const account = given.address.toLowerCase()
      if (signature === null || !(use?.signers ?? [key.payer]).includes(account)) return false
      const text = signInText({ ...info, address: given.address, chain_id: parts.chain_id })
      const signer = recoverPayer(personalMessageDigest(text, parts.crypto), signature, parts.crypto.recover)
      if (signer !== account) return false
      const used = { day: Math.floor(issued_ms / DAY_MS), bucket: 'sign-in', client: info.nonce, limit: 1 }
      return (await parts.store.take(used)).granted
    },
  }
}

const RANDOM_CHARS = 16
const SEAL_CHARS = 16

function challengeOf(
  { sealer, chain_id, api_url }: SignInParts,
  key: PaymentKey,
  random: string,
  issued_ms: number,
  statement = STATEMENT,
): SignInChallenge {
  const uri = `${api_url()}/v1/payments/${key.payer}/${key.nonce}`
  const issuedAt = new Date(issued_ms).toISOString()
  return {
    info: {
      domain: new URL(uri).host,
      uri,
      version: '1',
      statement,
      nonce: random + sealer.token(`sign in|${uri}|${random}|${issuedAt}`).slice(0, SEAL_CHARS),
      issuedAt,
      expirationTime: new Date(issued_ms + limits.sign_in_ms).toISOString(),
    },
    supportedChains: [{ chainId: `eip155:${chain_id}`, type: 'eip191' }],
  }
}

type SignInHeader = Record<'address' | 'nonce' | 'issuedAt' | 'signature', string>

/** Decodes the header; null for anything but Base64 of a JSON object with the four required texts. */
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
