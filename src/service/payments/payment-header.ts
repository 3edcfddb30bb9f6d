import { CHANNEL_ERRORS, type ChannelConfig, type DepositAuthorization } from '../../pure/payments/channels.ts'
import type { SignedAuthorization } from '../../pure/payments/eip3009.ts'
import { isObject } from '../../pure/is-object.ts'
import { limits } from '../limits.ts'
import { decodeUtf8, readStrictJson } from '../../pure/documents/strict-json.ts'

/** Entry of the payment terms that a version 2 client says it accepted. Addresses keep the case of the request. */
interface AcceptedTerms {
  network: string
  amount_minor: bigint
  asset: string
  pay_to: string
  /** Null when the client sent none. */
  domain_name: string | null
  domain_version: string | null
  payment_flow: string | null
}

export interface X402Payment {
  version: 1 | 2
  scheme: 'exact'
  /** Network as sent by the client: CAIP-2, or a name of version 1. */
  network: string
  /** Null in version 1, which does not repeat the terms. */
  accepted: AcceptedTerms | null
  authorization: SignedAuthorization
  /** Resource that the client says it pays for; not covered by the signature. */
  resource_url: string | null
  /** Id of the x402 extension payment-identifier, which never reaches the chain; null without one. */
  identifier: string | null
}

/** Payment of the scheme batch-settlement: the voucher of a payment channel, alone or with a deposit, or with the request of a refund. */
export interface ChannelPayment {
  version: 2
  scheme: 'batch-settlement'
  network: string
  accepted: AcceptedTerms
  config: ChannelConfig
  /** Channel id as the client computed it, lower case. */
  channel_id: string
  /** Total that the voucher allows to claim. */
  total_minor: bigint
  /** Signature of the voucher. */
  signature: string
  /** Null in a voucher without a deposit, and in a refund. */
  deposit: DepositAuthorization | null
  /** Null unless a refund is requested; `amount_minor` null asks for all that is left. */
  refund: { amount_minor: bigint | null } | null
  resource_url: string | null
  identifier: string | null
}

export type AnyPayment = X402Payment | ChannelPayment

/** Refusal of a payment. `x402_reason` is the code of official facilitators for it; `detail` never quotes the caller. */
export interface PaymentFault<Code extends string> {
  ok: false
  code: Code
  detail: string
  x402_reason: string
}

export function paymentFault<Code extends string>(code: Code, detail: string, x402_reason: string): PaymentFault<Code> {
  return { ok: false, code, detail, x402_reason }
}

type FormCode = 'MALFORMED_PAYMENT' | 'PAYMENT_UNDECODABLE' | 'PAYMENT_IDENTIFIER_INVALID' | 'SCHEME_UNSUPPORTED'

export type DecodedPayment = { ok: true; payment: AnyPayment } | PaymentFault<FormCode>

/** Offers of the x402 extension offer-receipt that a client sent back with its payment. */
export function offersOf(payment: AnyPayment): readonly unknown[] {
  return echoedOffers.get(payment) ?? []
}

/** Read only for a payment whose row was lost. */
const echoedOffers = new WeakMap<AnyPayment, readonly unknown[]>()
const OFFERS_READ = 8

function keepOffers<Kept extends AnyPayment>(payment: Kept, extensions: unknown): Kept {
  const given = isObject(extensions) ? ownMember(extensions, 'offer-receipt') : undefined
  const info = isObject(given) ? ownMember(given, 'info') : undefined
  const offers = isObject(info) ? ownMember(info, 'offers') : undefined
  if (Array.isArray(offers)) echoedOffers.set(payment, offers.slice(0, OFFERS_READ))
  return payment
}

/** Narrows to the scheme exact, for payments of invoices, which have no other. */
export function exactOnly(read: DecodedPayment): { ok: true; payment: X402Payment } | PaymentFault<FormCode> {
  if (!read.ok) return read
  const { payment } = read
  return payment.scheme === 'exact'
    ? { ok: true, payment }
    : paymentFault('SCHEME_UNSUPPORTED', 'accepted.scheme must be exact.', 'unsupported_scheme')
}

const NAME_CHARS = 128
const URL_CHARS = 2_048
const UINT256_END = 1n << 256n

/** Stops decoding; caught by `readPaymentFields` only. */
class PaymentFieldError extends Error {
  readonly refusal: PaymentFault<FormCode>
  constructor(refusal: PaymentFault<FormCode>) {
    super()
    this.refusal = refusal
  }
}

/** Decodes the JSON value of a payment. Members that do not affect the payment are ignored. */
export function readPaymentFields(value: unknown): DecodedPayment {
  try {
    const fields = readObject(value, 'The payment')
    const version = ownMember(fields, 'x402Version')
    if (version === 1) return { ok: true, payment: readV1(fields) }
    if (version === 2) return { ok: true, payment: readV2(fields) }
    return paymentFault('MALFORMED_PAYMENT', 'x402Version must be the number 1 or 2.', 'invalid_x402_version')
  } catch (error) {
    if (error instanceof PaymentFieldError) return error.refusal
    throw error
  }
}

function readV1(fields: Fields): X402Payment {
  requireExactScheme(fields, 'scheme')
  const network = readName(ownMember(fields, 'network'), 'network')
  return {
    version: 1,
    scheme: 'exact',
    network,
    accepted: null,
    authorization: readPayload(fields, 1),
    resource_url: null,
    identifier: null,
  }
}

function readV2(fields: Fields): AnyPayment {
  const given = readObject(ownMember(fields, 'accepted'), 'accepted')
  const is_channel = ownMember(given, 'scheme') === 'batch-settlement'
  if (!is_channel) requireExactScheme(given, 'accepted.scheme')
  const accepted = readAccepted(given)
  const resource = ownMember(fields, 'resource') ?? null
  const common = {
    version: 2 as const,
    network: accepted.network,
    accepted,
    resource_url: resource === null ? null : readText(ownMember(readObject(resource, 'resource'), 'url'), 'resource.url', URL_CHARS),
    identifier: readIdentifier(ownMember(fields, 'extensions')),
  }
  if (is_channel) return { ...common, scheme: 'batch-settlement', ...readChannelPayload(fields) }
  return keepOffers({ ...common, scheme: 'exact', authorization: readPayload(fields, 2) }, ownMember(fields, 'extensions'))
}

const UINT128_END = 1n << 128n
const UINT40_END = 1n << 40n

/** Payload types of the client: `voucher`, `deposit` and `refund`. Those of a server to its facilitator are not accepted. */
function readChannelPayload(fields: Fields) {
  const payload = readObject(ownMember(fields, 'payload'), 'payload')
  const type = readName(ownMember(payload, 'type'), 'payload.type')
  if (type !== 'voucher' && type !== 'deposit' && type !== 'refund') {
    rejectScheme('payload.type must be voucher, deposit or refund.', CHANNEL_ERRORS.payload_type)
  }
  const voucher = readObject(ownMember(payload, 'voucher'), 'payload.voucher')
  const place = 'payload.voucher.maxClaimableAmount'
  return {
    config: readConfig(readObject(ownMember(payload, 'channelConfig'), 'payload.channelConfig')),
    channel_id: readWord(ownMember(voucher, 'channelId'), 'payload.voucher.channelId'),
    total_minor: readUint(ownMember(voucher, 'maxClaimableAmount'), place, false, UINT128_END),
    signature: readSignatureHex(ownMember(voucher, 'signature'), 'payload.voucher.signature'),
    deposit: type === 'deposit' ? readDeposit(readObject(ownMember(payload, 'deposit'), 'payload.deposit')) : null,
    refund: type === 'refund' ? { amount_minor: readRefundAmount(ownMember(payload, 'amount') ?? null) } : null,
  }
}

function readConfig(given: Fields): ChannelConfig {
  const account = (member: string) => readAddress(ownMember(given, member), `payload.channelConfig.${member}`)
  return {
    payer: account('payer'),
    payer_authorizer: account('payerAuthorizer'),
    receiver: account('receiver'),
    receiver_authorizer: account('receiverAuthorizer'),
    token: account('token'),
    withdraw_delay_s: Number(readUint(ownMember(given, 'withdrawDelay'), 'payload.channelConfig.withdrawDelay', true, UINT40_END)),
    salt: readWord(ownMember(given, 'salt'), 'payload.channelConfig.salt'),
  }
}

function readDeposit(deposit: Fields): DepositAuthorization {
  const authorization = readObject(ownMember(deposit, 'authorization'), 'payload.deposit.authorization')
  if (!Object.hasOwn(authorization, 'erc3009Authorization')) {
    const detail = 'payload.deposit.authorization must have erc3009Authorization; deposits with Permit2 are not accepted here.'
    rejectScheme(detail, CHANNEL_ERRORS.authorization_required)
  }
  const place = 'payload.deposit.authorization.erc3009Authorization'
  const given = readObject(ownMember(authorization, 'erc3009Authorization'), place)
  return {
    amount_minor: readUint(ownMember(deposit, 'amount'), 'payload.deposit.amount', false, UINT128_END),
    valid_after_s: readUint(ownMember(given, 'validAfter'), `${place}.validAfter`, false),
    valid_before_s: readUint(ownMember(given, 'validBefore'), `${place}.validBefore`, false),
    salt: BigInt(readWord(ownMember(given, 'salt'), `${place}.salt`)),
    signature: readSignatureHex(ownMember(given, 'signature'), `${place}.signature`),
  }
}

function readRefundAmount(value: unknown): bigint | null {
  if (value === null) return null
  const amount = typeof value === 'string' && /^\d{1,39}$/.test(value) ? BigInt(value) : 0n
  if (amount > 0n && amount < UINT128_END) return amount
  return rejectField('payload.amount must be a positive whole number of minor units, as text.', CHANNEL_ERRORS.refund_amount)
}

/** Returns the client's id; null when the extension is absent, or was only echoed from the terms. */
function readIdentifier(extensions: unknown): string | null {
  const given = isObject(extensions) ? ownMember(extensions, 'payment-identifier') : undefined
  const info = isObject(given) ? ownMember(given, 'info') : undefined
  const id = isObject(info) ? (ownMember(info, 'id') ?? null) : null
  if (id === null || (typeof id === 'string' && /^[A-Za-z0-9_-]{16,128}$/.test(id))) return id
  const detail =
    'extensions.payment-identifier.info.id must be 16 to 128 letters, digits, hyphens or underscores. Send another id, or none.'
  return rejectField(detail, 'invalid_payload', 'PAYMENT_IDENTIFIER_INVALID')
}

function readAccepted(given: Fields): AcceptedTerms {
  const extra = ownMember(given, 'extra') ?? null
  const more = extra === null ? {} : readObject(extra, 'accepted.extra')
  requireEip3009(more)
  return {
    network: readName(ownMember(given, 'network'), 'accepted.network'),
    amount_minor: readUint(ownMember(given, 'amount'), 'accepted.amount', false),
    asset: readAddress(ownMember(given, 'asset'), 'accepted.asset'),
    pay_to: readAddress(ownMember(given, 'payTo'), 'accepted.payTo'),
    domain_name: optionalName(more, 'name'),
    domain_version: optionalName(more, 'version'),
    payment_flow: optionalName(more, 'paymentFlow'),
  }
}

/** Version 1 has numbers as text only; facilitators of version 2 accept JSON integers too, and both read them alike. */
function readPayload(fields: Fields, version: 1 | 2): SignedAuthorization {
  const payload = readObject(ownMember(fields, 'payload'), 'payload')
  if (Object.hasOwn(payload, 'permit2Authorization')) {
    rejectScheme('payload.permit2Authorization is Permit2; pay with an EIP-3009 authorization.', 'unsupported_payload_type')
  }
  const given = readObject(ownMember(payload, 'authorization'), 'payload.authorization')
  const number = (member: string) => readUint(ownMember(given, member), `payload.authorization.${member}`, version === 2)
  return {
    from: readAddress(ownMember(given, 'from'), 'payload.authorization.from'),
    to: readAddress(ownMember(given, 'to'), 'payload.authorization.to'),
    value_minor: number('value'),
    valid_after_s: number('validAfter'),
    valid_before_s: number('validBefore'),
    nonce: readWord(ownMember(given, 'nonce'), 'payload.authorization.nonce'),
    signature: readSignatureHex(ownMember(payload, 'signature'), 'payload.signature'),
  }
}

function requireExactScheme(fields: Fields, place: string): void {
  const scheme = readName(ownMember(fields, 'scheme'), place)
  if (scheme !== 'exact') rejectScheme(`${place} must be exact.`, 'unsupported_scheme')
}

function requireEip3009(extra: Fields): void {
  const method = optionalName(extra, 'assetTransferMethod')
  if (method !== null && method !== 'eip3009') {
    rejectScheme('accepted.extra.assetTransferMethod must be eip3009 or absent.', 'unsupported_asset_transfer_method')
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Returns an own member of the object; members of prototypes are never part of a payment. */
function ownMember(fields: Fields, member: string): unknown {
  return Object.hasOwn(fields, member) ? fields[member] : undefined
}

function readObject(value: unknown, place: string): Fields {
  if (isObject(value)) return value
  return rejectField(`${place} must be an object.`)
}

function readText(value: unknown, place: string, chars: number): string {
  // Lone surrogates have no UTF-8 form; a message that was not decoded as strict JSON may contain them.
  if (typeof value === 'string' && value !== '' && value.length <= chars && value.isWellFormed()) return value
  return rejectField(`${place} must be a text of 1 to ${chars} characters.`)
}

function readName(value: unknown, place: string): string {
  return readText(value, place, NAME_CHARS)
}

function optionalName(extra: Fields, member: string): string | null {
  const value = ownMember(extra, member) ?? null
  return value === null ? null : readName(value, `accepted.extra.${member}`)
}

function readHex(value: unknown, pattern: RegExp, chars: number, detail: string): string {
  return typeof value === 'string' && value.length <= chars && pattern.test(value) ? value.toLowerCase() : rejectField(detail)
}

function readAddress(value: unknown, place: string): string {
  return readHex(value, /^0x[0-9a-fA-F]{40}$/, 42, `${place} must be 0x and 40 hexadecimal digits.`)
}

function readWord(value: unknown, place: string): string {
  return readHex(value, /^0x[0-9a-fA-F]{64}$/, 66, `${place} must be 0x and 64 hexadecimal digits.`)
}

function readSignatureHex(value: unknown, place: string): string {
  const detail = `${place} must be 0x and an even number of hexadecimal digits, at most ${2 * limits.payment_signature_bytes}.`
  return readHex(value, /^0x(?:[0-9a-fA-F]{2})+$/, 2 + 2 * limits.payment_signature_bytes, detail)
}

/** Decodes an unsigned number in decimal digits. Hexadecimal, exponents, signs and spaces are read differently by different languages. */
function readUint(value: unknown, place: string, integers: boolean, end = UINT256_END): bigint {
  const is_integer = integers && typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  const is_text = typeof value === 'string' && /^\d{1,78}$/.test(value)
  const number = is_integer || is_text ? BigInt(value) : end
  const bits = end.toString(2).length - 1
  return number < end ? number : rejectField(`${place} must be a whole number below 2^${bits} in decimal digits, as text.`)
}

function rejectField(detail: string, x402_reason = 'invalid_payload', code: FormCode = 'MALFORMED_PAYMENT'): never {
  throw new PaymentFieldError(paymentFault(code, detail, x402_reason))
}

function rejectScheme(detail: string, x402_reason: string): never {
  throw new PaymentFieldError(paymentFault('SCHEME_UNSUPPORTED', detail, x402_reason))
}

/** Maximum depth and size of a payment, with the extensions that clients send back. */
const JSON_BOUNDS = { depth: 32, nodes: 1_000 }

export type PaymentCredential =
  | { kind: 'header'; name: 'x-payment' | 'payment-signature'; text: string }
  /** From a message that was decoded as strict JSON. */
  | { kind: 'value'; value: unknown }

/**
 * Decodes a payment from X-PAYMENT (x402 version 1), PAYMENT-SIGNATURE (version 2) or the `_meta` of an MCP request, where it is an object
 * or Base64. The version is in the payment itself, so each place may carry either. Accepts what official facilitators accept: other
 * extensions are ignored, addresses may be in either case, Base64 may lack padding. Rejects everything that two decoders could read
 * differently. Never throws, and never quotes the caller.
 */
export function readPayment(credential: PaymentCredential): DecodedPayment {
  const known = decodedPayments.get(credential)
  if (known !== undefined) return known
  const reading = decodeCredential(credential)
  decodedPayments.set(credential, reading)
  return reading
}

/** Cache of decoded payments: admission and verification decode the same one. */
const decodedPayments = new WeakMap<PaymentCredential, DecodedPayment>()

function decodeCredential(credential: PaymentCredential): DecodedPayment {
  if (credential.kind === 'header') return readBase64(credential.text, credential.name === 'x-payment' ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE')
  const { value } = credential
  if (typeof value === 'string') return readBase64(value, 'The payment')
  return isObject(value) ? readPaymentFields(value) : undecodable(`The payment is ${jsonKind(value)}.`)
}

function readBase64(text: string, name: string): DecodedPayment {
  const fault = base64Fault(text)
  if (fault !== null) return undecodable(`${name} ${fault}`)
  const json = decodeUtf8(Buffer.from(text, 'base64'))
  if (json === null) return undecodable(`${name} is not Base64 of UTF-8 text.`)
  const read = readStrictJson(json, JSON_BOUNDS)
  if (!read.ok) return undecodable(`${name} is not Base64 of strict JSON. ${read.message}`)
  return isObject(read.value) ? readPaymentFields(read.value) : undecodable(`${name} is Base64 of ${jsonKind(read.value)}.`)
}

function jsonKind(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'absent'
  return Array.isArray(value) ? 'a JSON array' : `a JSON ${typeof value}`
}

function base64Fault(text: string): string | null {
  if (text === '') return 'is empty.'
  if (text.length > limits.payment_header_chars) return `is longer than ${limits.payment_header_chars} characters.`
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) {
    const url_safe = /^[\w-]+={0,2}$/.test(text)
    return url_safe ? 'is URL-safe Base64; use the standard alphabet, with + and / instead of - and _.' : 'is not Base64.'
  }
  const whole = text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1
  return whole ? null : 'is truncated Base64.'
}

function undecodable(fault: string): DecodedPayment {
  const detail = `${fault} Send the payment object of x402, in a header as Base64 of its JSON. The same request without a payment returns the terms.`
  return paymentFault('PAYMENT_UNDECODABLE', detail, 'invalid_payload')
}
