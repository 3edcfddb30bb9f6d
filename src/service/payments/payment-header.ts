/**
 * Reads a payment from where clients put it: X-PAYMENT (x402 version 1), PAYMENT-SIGNATURE (version 2) and the `_meta` of an MCP request,
 * there as an object or as Base64. The version stands in the payment itself, so each place may hold either.
 */
import { decodeUtf8, readStrictJson } from '../../pure/documents/strict-json.ts'
import { limits } from '../limits.ts'
import { paymentFault } from './payment.ts'
import { readPaymentFields, type PaymentReading } from './payment-fields.ts'

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
