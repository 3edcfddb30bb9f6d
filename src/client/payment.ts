import { isObject } from '../pure/is-object.ts'
import { usdcDecimal, usdcOn } from '../pure/payments/usdc.ts'
import { ZERO_ADDRESS } from '../pure/receipts/receipt.ts'
import { type AssayError, localError, type Payment } from './answer.ts'
import { batchPrice } from '../pure/payments/price-curve.ts'
import type { Exchange } from './exchange.ts'
import { toHex } from '../pure/receipts/crypto.ts'
import type { Hex, Signer, TransferTypedData, SpendCap } from './options.ts'

function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

/** Decodes standard base64; null if it is invalid or not UTF-8. */
function fromBase64(text: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/**
 * Validates the terms of a 402 before signing. They come from the network, so each part is compared with known facts: chain, token,
 * recipient and call.
 */

/** Maximum validity of a transfer that is signed, in seconds. */
const TIMEOUT_S_MAX = 3_600

/** Validated payment terms. */
interface SignableTerms {
  amount_minor: bigint
  /** The same as decimal text. */
  amount_usdc: string
  pay_to: string
  chain_id: number
  token: { address: string; name: string; version: string }
  timeout_s: number
  /** Chosen entry and resource as received, because the service expects them in the payment. */
  accepted: Readonly<Record<string, unknown>>
  resource: Readonly<Record<string, unknown>>
}

/** Expected values of the terms. */
interface ExpectedTerms {
  tool: string
  /** Chains on which may be paid, the preferred first. */
  pay_on: readonly number[]
  /** Lower case. */
  pay_to: string
  /** Lower case; terms that pay the payer are refused. */
  payer: string | null
}

/**
 * Reads PAYMENT-REQUIRED (x402 version 2) and chooses the first matching entry of the most preferred chain. Throws TERMS_REFUSED with the
 * reason for the first entry.
 */
export function readPaymentRequired(header: string | null, expected: ExpectedTerms): SignableTerms {
  const required = header === null ? null : parseObject(fromBase64(header))
  if (required === null || required['x402Version'] !== 2) throw termsRefused('the answer carries no terms of x402 version 2')
  const { resource, accepts } = required
  if (!isObject(resource) || !isResourceOf(resource['url'], expected.tool)) throw termsRefused('they are for another call')
  if (!Array.isArray(accepts) || accepts.length > 32) throw termsRefused('they offer nothing')
  const read = expected.pay_on.flatMap((chain_id) => accepts.map((entry) => readEntry(entry, resource, chain_id, expected)))
  const fitting = read.find((one) => typeof one !== 'string')
  if (fitting !== undefined && typeof fitting !== 'string') return fitting
  const [first] = read
  throw termsRefused(typeof first === 'string' ? first : 'they offer nothing')
}

/** Returns the entry as terms, or the reason why it is refused. */
function readEntry(
  entry: unknown,
  resource: Readonly<Record<string, unknown>>,
  chain_id: number,
  expected: ExpectedTerms,
): SignableTerms | string {
  if (!isObject(entry)) return 'they offer nothing'
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra } = entry
  const token = tokenOn(chain_id)
  const amount_minor = readMinor(amount)
  if (token === null) return `no USDC is known on the chain ${chain_id}, which the service names`
  if (scheme !== 'exact') return 'their scheme is not exact'
  if (network !== `eip155:${chain_id}`) return `they are not for the chain eip155:${chain_id}`
  if (!isSame(asset, token.address)) return 'their asset is not the USDC of this chain'
  if (!isObject(extra) || extra['name'] !== token.name || extra['version'] !== token.version) return 'they name another signing domain'
  const { paymentFlow = 'authorization' } = extra
  if (paymentFlow !== 'authorization') return 'they ask for another way of paying'
  if (amount_minor === null || amount_minor === 0n) return 'their amount is none'
  if (!isSame(payTo, expected.pay_to)) return 'their recipient is not the one of this service'
  if (expected.pay_to === expected.payer || expected.pay_to === ZERO_ADDRESS) return 'their recipient is the payer or the zero address'
  if (!isTimeout(maxTimeoutSeconds)) return 'their time for settling is out of bounds'
  const amount_usdc = usdcDecimal(amount_minor)
  return { amount_minor, amount_usdc, pay_to: expected.pay_to, chain_id, token, timeout_s: maxTimeoutSeconds, accepted: entry, resource }
}

/** Null for an unsupported chain. */
function tokenOn(chain_id: number): ReturnType<typeof usdcOn> | null {
  try {
    return usdcOn(chain_id)
  } catch {
    return null
  }
}

/** The resource must be the call URL of this tool; its host may be another name of the service. */
function isResourceOf(url: unknown, tool: string): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { pathname, search } = new URL(url)
  return pathname.endsWith(`/v1/tools/${tool}/call`) && search === ''
}

function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= TIMEOUT_S_MAX
}

function isSame(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.toLowerCase() === other.toLowerCase()
}

function parseObject(text: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function termsRefused(why: string): AssayError {
  return localError('TERMS_REFUSED', `The terms of payment were refused: ${why}. Nothing was signed.`, { status: 402 })
}

/** USDC has six decimals; amounts are minor units as bigint, or decimal text. */
const DECIMALS = 6

/** "0.05" becomes 50000n; null if the text is not a decimal number with at most six decimals. */
function minorOf(usdc: string): bigint | null {
  const parts = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$/.exec(usdc)
  const [, whole, fraction = ''] = parts ?? []
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

/** Amount in minor units as x402 writes it; null if invalid. */
function readMinor(value: unknown): bigint | null {
  return typeof value === 'string' && /^(?:0|[1-9][0-9]{0,30})$/.test(value) ? BigInt(value) : null
}

/** Current price of a call. Prices change every ten seconds; a quoted price can be paid for two minutes. */
export interface Price {
  tool: string
  amount_minor: bigint
  /** Amount as decimal text. */
  amount_usdc: string
  /** Range of the price. */
  floor_usdc: string
  cap_usdc: string
}

/** Reads the price list without sending the input. Throws if the service does not know its current prices. */
export async function readPrice(exchange: Exchange, tool: string, input: object): Promise<Price> {
  const document = await exchange.json('/health')
  const tools = isObject(document) && Array.isArray(document['tools']) ? (document['tools'] as unknown[]) : []
  const prices = tools.filter(isObject).map(({ name, price }) => ({ name, price: isObject(price) ? price : {} }))
  const found = prices.find(({ name }) => name === tool)
  if (found === undefined) throw localError('BAD_RESPONSE', 'The price list does not hold this tool.')
  const check = prices.find(({ price }) => price['class'] === 'check')
  const [floor_minor, cap_minor] = [readMinor(found.price['floor_minor']), readMinor(found.price['cap_minor'])]
  const of = found.price['class'] === 'batch' ? check?.price : found.price
  const unit_minor = readMinor(of?.['amount_minor'])
  if (floor_minor === null || cap_minor === null || unit_minor === null) {
    throw localError('BAD_RESPONSE', 'The service does not say now what this tool costs.', { retryable: true })
  }
  const amount_minor = found.price['class'] === 'batch' ? batchPrice(itemsIn(input), unit_minor, { floor_minor, cap_minor }) : unit_minor
  return {
    tool,
    amount_minor,
    amount_usdc: usdcDecimal(amount_minor),
    floor_usdc: usdcDecimal(floor_minor),
    cap_usdc: usdcDecimal(cap_minor),
  }
}

function itemsIn(input: object): number {
  return 'items' in input && Array.isArray(input.items) ? input.items.length : 1
}

/** Fields of an EIP-3009 transfer in the signed order. */
const TRANSFER = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]

/** Call that a payment is for. */
interface Purpose {
  tool: string
  input_text: string
  previous_receipt: string | null
}

/**
 * Has the signer sign one transfer of the exact amount with a random nonce, and encodes it for PAYMENT-SIGNATURE. The payment-identifier
 * id is a secret that is not written to the chain: with it the same request can fetch the answer from another network. Throws
 * SIGNING_FAILED if the signer fails.
 */
async function signPayment(signer: Signer, terms: SignableTerms, purpose: Purpose, now_ms: number): Promise<Payment> {
  const valid_before_s = Math.floor(now_ms / 1_000) + terms.timeout_s
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(32))) as Hex
  const data = typedData(signer.address, terms, nonce, valid_before_s)
  const signature = await requestSignature(signer, data)
  const { from, to, value } = data.message
  const authorization = { from, to, value: value.toString(), validAfter: '0', validBefore: valid_before_s.toString(), nonce }
  const { resource, accepted } = terms
  const extensions = { 'payment-identifier': { info: { required: false, id: toHex(crypto.getRandomValues(new Uint8Array(16))).slice(2) } } }
  return {
    v: 1,
    ...purpose,
    payer: from.toLowerCase(),
    pay_to: terms.pay_to,
    nonce,
    amount_minor: value.toString(),
    chain_id: terms.chain_id,
    asset: terms.token.address,
    valid_before_s,
    header: toBase64(JSON.stringify({ x402Version: 2, resource, accepted, payload: { signature, authorization }, extensions })),
  }
}

function typedData(
  from: Hex,
  { amount_minor, pay_to, chain_id, token }: SignableTerms,
  nonce: Hex,
  valid_before_s: number,
): TransferTypedData {
  const validBefore = BigInt(valid_before_s)
  return {
    domain: { name: token.name, version: token.version, chainId: chain_id, verifyingContract: token.address as Hex },
    types: { TransferWithAuthorization: TRANSFER.map((field) => ({ ...field })) },
    primaryType: 'TransferWithAuthorization',
    message: { from, to: pay_to as Hex, value: amount_minor, validAfter: 0n, validBefore, nonce },
  }
}

async function requestSignature(signer: Signer, data: TransferTypedData): Promise<string> {
  try {
    const signature: unknown = await signer.signTypedData(data)
    if (typeof signature === 'string' && /^0x(?:[0-9a-fA-F]{2}){64,8192}$/.test(signature)) return signature
  } catch (cause) {
    throw localError('SIGNING_FAILED', 'The signer did not sign the payment. Nothing was sent.', { cause })
  }
  throw localError('SIGNING_FAILED', 'The signer returned no signature. Nothing was sent.')
}

/** Spending of this client. Amounts are decimal text in USDC. */
export interface Spending {
  per_call_usdc: string
  session_usdc: string
  /** Total signed. A signed transfer counts until it expires, because it could still be executed. */
  signed_usdc: string
  left_usdc: string
}

/**
 * Signer with spending caps. An amount is reserved before signing and returned only if the signer fails, so that concurrent calls cannot
 * exceed the session cap.
 */
export class Wallet {
  /** Lower case. */
  readonly payer: string
  readonly #signer: Signer
  readonly #call_minor: bigint
  readonly #session_minor: bigint
  #signed_minor = 0n

  /** Throws BAD_OPTIONS for invalid caps. */
  constructor(signer: Signer, { per_call_usdc, session_usdc }: SpendCap) {
    this.payer = signer.address.toLowerCase()
    this.#signer = signer
    this.#call_minor = capOf(per_call_usdc, 'spend_cap.per_call_usdc')
    this.#session_minor = capOf(session_usdc, 'spend_cap.session_usdc')
  }

  /** Signs one payment. Throws ABOVE_CALL_CAP, ABOVE_SESSION_CAP or SIGNING_FAILED; nothing was signed then. */
  async pay(terms: SignableTerms, purpose: Purpose, own_cap_minor: bigint | null, now_ms: number): Promise<Payment> {
    const found = this.objection(terms.amount_minor, own_cap_minor)
    if (found !== null) throw found
    this.#signed_minor += terms.amount_minor
    try {
      return await signPayment(this.#signer, terms, purpose, now_ms)
    } catch (error) {
      this.#signed_minor -= terms.amount_minor
      throw error
    }
  }

  /** Returns the error that `pay` would throw before it asks the signer; null if there is none. */
  objection(amount_minor: bigint, own_cap_minor: bigint | null): AssayError | null {
    const cap = own_cap_minor !== null && own_cap_minor < this.#call_minor ? own_cap_minor : this.#call_minor
    if (amount_minor > cap) {
      return localError(
        'ABOVE_CALL_CAP',
        `The call costs ${usdcDecimal(amount_minor)} USDC, and one call may cost ${usdcDecimal(cap)}. Nothing was signed.`,
      )
    }
    if (this.#signed_minor + amount_minor <= this.#session_minor) return null
    const left = usdcDecimal(this.#session_minor - this.#signed_minor)
    return localError(
      'ABOVE_SESSION_CAP',
      `The call costs ${usdcDecimal(amount_minor)} USDC, and ${left} are left to this session. Nothing was signed.`,
    )
  }

  spending(): Spending {
    return {
      per_call_usdc: usdcDecimal(this.#call_minor),
      session_usdc: usdcDecimal(this.#session_minor),
      signed_usdc: usdcDecimal(this.#signed_minor),
      left_usdc: usdcDecimal(this.#session_minor - this.#signed_minor),
    }
  }
}

/** Cap in minor units. */
export function capOf(usdc: string, name: string): bigint {
  const minor = typeof usdc === 'string' ? minorOf(usdc) : null
  if (minor === null) throw localError('BAD_OPTIONS', `${name} must be USDC as decimal text, such as "0.05".`)
  return minor
}
