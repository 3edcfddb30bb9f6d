import type { SignedAuthorization } from '../../pure/payments/authorization.ts'
import { isObject } from '../../pure/is-object.ts'
import { limits } from '../limits.ts'
import { decodeUtf8, readStrictJson } from '../../pure/documents/strict-json.ts'

/** A payment as a caller brought it, in one form for both generations of x402. */

/** The entry of our terms that a client of version 2 says it accepted. Addresses as they came. */
export interface AcceptedTerms {
  network: string
  amount_minor: bigint
  asset: string
  pay_to: string
  /** Null where the client named none. */
  domain_name: string | null
  domain_version: string | null
  payment_flow: string | null
}

export interface X402Payment {
  version: 1 | 2
  scheme: 'exact'
  /** As the client named it: CAIP-2, or a name of version 1. */
  network: string
  /** Null in version 1, which does not repeat the terms. */
  accepted: AcceptedTerms | null
  authorization: SignedAuthorization
  /** What the client says it pays for. A claim: the signature does not cover it. */
  resource_url: string | null
  /** Id of the x402 extension payment-identifier, which never reaches the chain; null without one. */
  identifier: string | null
}

/** A payment that is not taken. `x402_reason` is the code that official facilitators give for it; `detail` never quotes the caller. */
export interface PaymentFault<Code extends string> {
  ok: false
  code: Code
  detail: string
  x402_reason: string
}

export function paymentFault<Code extends string>(code: Code, detail: string, x402_reason: string): PaymentFault<Code> {
  return { ok: false, code, detail, x402_reason }
}

/** The members of a payment: which must be there, and what each may be. */

export type PaymentReading = { ok: true; payment: X402Payment } | PaymentFault<'MALFORMED_PAYMENT' | 'SCHEME_UNSUPPORTED'>

const NAME_CHARS = 128
const URL_CHARS = 2_048
const UINT256_END = 1n << 256n

/** Ends the reading; only `readPaymentFields` catches it. */
class Refused extends Error {
  readonly refusal: PaymentFault<'MALFORMED_PAYMENT' | 'SCHEME_UNSUPPORTED'>
  constructor(refusal: PaymentFault<'MALFORMED_PAYMENT' | 'SCHEME_UNSUPPORTED'>) {
    super()
    this.refusal = refusal
  }
}

/** Reads the JSON value of a payment. Every other member than those that decide is ignored. */
export function readPaymentFields(value: unknown): PaymentReading {
  try {
    const fields = record(value, 'The payment')
    const version = own(fields, 'x402Version')
    if (version === 1) return { ok: true, payment: readV1(fields) }
    if (version === 2) return { ok: true, payment: readV2(fields) }
    return paymentFault('MALFORMED_PAYMENT', 'x402Version must be the number 1 or 2.', 'invalid_x402_version')
  } catch (error) {
    if (error instanceof Refused) return error.refusal
    throw error
  }
}

function readV1(fields: Fields): X402Payment {
  refuseOtherSchemes(fields, 'scheme')
  const network = readName(own(fields, 'network'), 'network')
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

function readV2(fields: Fields): X402Payment {
  const given = record(own(fields, 'accepted'), 'accepted')
  refuseOtherSchemes(given, 'accepted.scheme')
  const accepted = readAccepted(given)
  const resource = own(fields, 'resource') ?? null
  return {
    version: 2,
    scheme: 'exact',
    network: accepted.network,
    accepted,
    authorization: readPayload(fields, 2),
    resource_url: resource === null ? null : readText(own(record(resource, 'resource'), 'url'), 'resource.url', URL_CHARS),
    identifier: readIdentifier(own(fields, 'extensions')),
  }
}

/** The client's id; null where the extension is absent, or was only echoed from the terms. */
function readIdentifier(extensions: unknown): string | null {
  const given = isObject(extensions) ? own(extensions, 'payment-identifier') : undefined
  const info = isObject(given) ? own(given, 'info') : undefined
  const id = isObject(info) ? (own(info, 'id') ?? null) : null
  if (id === null || (typeof id === 'string' && /^[A-Za-z0-9_-]{16,128}$/.test(id))) return id
  return refuse('extensions.payment-identifier.info.id must be 16 to 128 letters, digits, hyphens or underscores.')
}

function readAccepted(given: Fields): AcceptedTerms {
  const extra = own(given, 'extra') ?? null
  const more = extra === null ? {} : record(extra, 'accepted.extra')
  refuseOtherTransfers(more)
  return {
    network: readName(own(given, 'network'), 'accepted.network'),
    amount_minor: uint(own(given, 'amount'), 'accepted.amount', false),
    asset: address(own(given, 'asset'), 'accepted.asset'),
    pay_to: address(own(given, 'payTo'), 'accepted.payTo'),
    domain_name: optionalName(more, 'name'),
    domain_version: optionalName(more, 'version'),
    payment_flow: optionalName(more, 'paymentFlow'),
  }
}

/** Version 1 has its numbers as text only; facilitators of version 2 take JSON integers too, and both read them alike. */
function readPayload(fields: Fields, version: 1 | 2): SignedAuthorization {
  const payload = record(own(fields, 'payload'), 'payload')
  if (Object.hasOwn(payload, 'permit2Authorization')) {
    refuseScheme('payload.permit2Authorization is Permit2; pay with an EIP-3009 authorization.', 'unsupported_payload_type')
  }
  const given = record(own(payload, 'authorization'), 'payload.authorization')
  const number = (member: string) => uint(own(given, member), `payload.authorization.${member}`, version === 2)
  return {
    from: address(own(given, 'from'), 'payload.authorization.from'),
    to: address(own(given, 'to'), 'payload.authorization.to'),
    value_minor: number('value'),
    valid_after_s: number('validAfter'),
    valid_before_s: number('validBefore'),
    nonce: matching(own(given, 'nonce'), /^0x[0-9a-fA-F]{64}$/, 66, 'payload.authorization.nonce must be 0x and 64 hexadecimal digits.'),
    signature: matching(
      own(payload, 'signature'),
      /^0x(?:[0-9a-fA-F]{2})+$/,
      2 + 2 * limits.payment_signature_bytes,
      `payload.signature must be 0x and an even number of hexadecimal digits, at most ${2 * limits.payment_signature_bytes}.`,
    ),
  }
}

function refuseOtherSchemes(fields: Fields, place: string): void {
  const scheme = readName(own(fields, 'scheme'), place)
  if (scheme !== 'exact') refuseScheme(`${place} must be exact.`, 'unsupported_scheme')
}

function refuseOtherTransfers(extra: Fields): void {
  const method = optionalName(extra, 'assetTransferMethod')
  if (method !== null && method !== 'eip3009') {
    refuseScheme('accepted.extra.assetTransferMethod must be eip3009, or left out.', 'unsupported_asset_transfer_method')
  }
}

type Fields = Readonly<Record<string, unknown>>

/** A member that the object has itself; whatever hangs on prototypes is nobody's payment. */
function own(fields: Fields, member: string): unknown {
  return Object.hasOwn(fields, member) ? fields[member] : undefined
}

function record(value: unknown, place: string): Fields {
  if (isObject(value)) return value
  return refuse(`${place} must be an object.`)
}

function readText(value: unknown, place: string, chars: number): string {
  // Half characters have no UTF-8 form; a message that was not read strictly may hold them.
  if (typeof value === 'string' && value !== '' && value.length <= chars && value.isWellFormed()) return value
  return refuse(`${place} must be a text of 1 to ${chars} characters.`)
}

function readName(value: unknown, place: string): string {
  return readText(value, place, NAME_CHARS)
}

function optionalName(extra: Fields, member: string): string | null {
  const value = own(extra, member) ?? null
  return value === null ? null : readName(value, `accepted.extra.${member}`)
}

function matching(value: unknown, pattern: RegExp, chars: number, detail: string): string {
  return typeof value === 'string' && value.length <= chars && pattern.test(value) ? value.toLowerCase() : refuse(detail)
}

function address(value: unknown, place: string): string {
  return matching(value, /^0x[0-9a-fA-F]{40}$/, 42, `${place} must be 0x and 40 hexadecimal digits.`)
}

/** A uint256. Hexadecimal, exponents, signs and spaces are read differently from one language to the next. */
function uint(value: unknown, place: string, integers: boolean): bigint {
  if (integers && typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  const number = typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : UINT256_END
  return number < UINT256_END ? number : refuse(`${place} must be a whole number below 2^256 in decimal digits, as text.`)
}

function refuse(detail: string): never {
  throw new Refused(paymentFault('MALFORMED_PAYMENT', detail, 'invalid_payload'))
}

function refuseScheme(detail: string, x402_reason: string): never {
  throw new Refused(paymentFault('SCHEME_UNSUPPORTED', detail, x402_reason))
}

/**
 * Reads a payment from where clients put it: X-PAYMENT (x402 version 1), PAYMENT-SIGNATURE (version 2) and the `_meta` of an MCP request,
 * there as an object or as Base64. The version stands in the payment itself, so each place may hold either.
 */

/** Depth and size of a payment with the extensions that clients send back. */
const JSON_BOUNDS = { depth: 32, nodes: 1_000 }

export type PaymentGiven =
  | { kind: 'header'; name: 'x-payment' | 'payment-signature'; text: string }
  /** From a message that was read as strict JSON. */
  | { kind: 'value'; value: unknown }

/**
 * Takes what official facilitators take: fields of other extensions are ignored, addresses may be in either case, Base64 may lack its
 * padding. Refuses what two readers could read differently. Never throws; never quotes what was sent.
 */
export function readPayment(given: PaymentGiven): PaymentReading {
  const known = readings.get(given)
  if (known !== undefined) return known
  const reading = readGiven(given)
  readings.set(given, reading)
  return reading
}

/** Admission and verification read the same payment. */
const readings = new WeakMap<PaymentGiven, PaymentReading>()

function readGiven(given: PaymentGiven): PaymentReading {
  if (given.kind === 'header') return readBase64(given.text, given.name === 'x-payment' ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE')
  return typeof given.value === 'string' ? readBase64(given.value, 'The payment') : readPaymentFields(given.value)
}

function readBase64(text: string, name: string): PaymentReading {
  const fault = base64Fault(text)
  if (fault !== null) return malformed(`${name} ${fault}`)
  const json = decodeUtf8(Buffer.from(text, 'base64'))
  if (json === null) return malformed(`${name} is Base64 of something else than UTF-8 text.`)
  const read = readStrictJson(json, JSON_BOUNDS)
  return read.ok ? readPaymentFields(read.value) : malformed(`${name} does not hold strict JSON. ${read.message}`)
}

function base64Fault(text: string): string | null {
  if (text === '') return 'is empty.'
  if (text.length > limits.payment_header_chars) return `is longer than ${limits.payment_header_chars} characters.`
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) {
    const url_safe = /^[\w-]+={0,2}$/.test(text)
    return url_safe ? 'is in the URL-safe alphabet; Base64 of payments has + and / in place of - and _.' : 'is not Base64.'
  }
  const whole = text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1
  return whole ? null : 'is Base64 that was cut off.'
}

function malformed(detail: string): PaymentReading {
  return paymentFault('MALFORMED_PAYMENT', detail, 'invalid_payload')
}
