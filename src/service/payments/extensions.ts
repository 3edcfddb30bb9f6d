import { isObject } from '../../pure/is-object.ts'
import { type TypedDomain, typedDigest, typedSigner, type TypedStruct } from '../../pure/payments/typed-data.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signer } from '../../ports/signer.ts'
import { limits } from '../limits.ts'

/**
 * Extensions of x402 version 2 in the terms of a 402 and in the settlement of a paid call: `payment-identifier`, `bazaar` and
 * `offer-receipt`. Source: x402-foundation/x402, specs/extensions, read 2026-11-23; the package @x402/extensions 2.27.0 accepts them all.
 * A client sends the extensions of the terms back with its payment, so all of them together must fit into a header.
 */
export type Extensions = Readonly<Record<string, { info: object; schema?: object }>>

const SCHEMA_2020 = 'https://json-schema.org/draft/2020-12/schema'

/** The client may choose an id: a resend of the same payment is answered again, and another payment under the id is refused uncharged. */
const PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    $schema: SCHEMA_2020,
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
}

/** One call of a tool, as `bazaar` describes it to catalogues of paid resources. */
type DiscoveredCall =
  | { type: 'http'; method: 'POST'; bodyType: 'json'; body: object }
  | { type: 'mcp'; toolName: string; transport: 'streamable-http'; inputSchema: object; example: object }

interface DescribedTool {
  id: string
  example: object
}

/**
 * Describes a call by its example; one over MCP also by the names and types of its arguments, because tools/list has the whole schema.
 */
function discoveredCall(
  surface: DiscoveredCall['type'],
  tool: DescribedTool,
  input_schema: Readonly<Record<string, unknown>> | undefined,
): DiscoveredCall {
  if (surface === 'http') return { type: 'http', method: 'POST', bodyType: 'json', body: { input: tool.example } }
  const properties = isObject(input_schema?.['properties']) ? input_schema['properties'] : {}
  const types = Object.entries(properties).map(([name, schema]) => [
    name,
    isObject(schema) && 'type' in schema ? { type: schema['type'] } : {},
  ])
  const required = input_schema?.['required'] ?? []
  const inputSchema = { type: 'object', properties: Object.fromEntries(types) as Record<string, unknown>, required }
  return { type: 'mcp', toolName: tool.id, transport: 'streamable-http', inputSchema, example: tool.example }
}

/** `schema` states of each member of `info` its value where that is fixed, else its type. */
function bazaar(input: DiscoveredCall) {
  const properties = Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, typeof value === 'string' ? { const: value } : { type: 'object' }]),
  )
  const described = { type: 'object', properties, required: Object.keys(input) }
  return { info: { input }, schema: { $schema: SCHEMA_2020, type: 'object', properties: { input: described }, required: ['input'] } }
}

/** Terms that an offer promises, in the words of an entry of `accepts`. */
interface OfferedTerms {
  /** Place of the entry. */
  acceptIndex: number
  scheme: string
  /** CAIP-2. */
  network: string
  asset: string
  payTo: string
  /** Minor units. */
  amount: string
}

const OFFER: TypedStruct = {
  name: 'Offer',
  fields: [
    { name: 'version', type: 'uint256' },
    { name: 'resourceUrl', type: 'string' },
    { name: 'scheme', type: 'string' },
    { name: 'network', type: 'string' },
    { name: 'asset', type: 'string' },
    { name: 'payTo', type: 'string' },
    { name: 'amount', type: 'string' },
    { name: 'validUntil', type: 'uint256' },
  ],
}

const RECEIPT: TypedStruct = {
  name: 'Receipt',
  fields: [
    { name: 'version', type: 'uint256' },
    { name: 'network', type: 'string' },
    { name: 'resourceUrl', type: 'string' },
    { name: 'payer', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'transaction', type: 'string' },
  ],
}

/** Domains of offers and receipts name chain 1 on every network. */
const OFFERS: TypedDomain = { name: 'x402 offer', version: '1', chainId: 1 }
const RECEIPTS: TypedDomain = { name: 'x402 receipt', version: '1', chainId: 1 }
const VERSION = 1

export interface ExtensionSigner {
  signer: Pick<Signer, 'sign'>
  crypto: ReceiptCrypto
  clock: Pick<Clock, 'now_ms'>
}

const HEX_BYTES = { type: 'string', pattern: '^0x[0-9a-f]+$' }

function signed(
  domain: TypedDomain,
  struct: TypedStruct,
  payload: Readonly<Record<string, string | number>>,
  parts: Pick<ExtensionSigner, 'signer' | 'crypto'>,
) {
  const message = Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]),
  )
  const signature = parts.signer.sign(typedDigest(domain, struct, message, parts.crypto))
  return { format: 'eip712' as const, payload, signature }
}

function signedSchema(name: string, value: object) {
  return { $schema: SCHEMA_2020, type: 'object', properties: { [name]: value }, required: [name] }
}

const SIGNED = { type: 'object', properties: { format: { const: 'eip712' }, payload: { type: 'object' }, signature: HEX_BYTES } }

function signedOffers(resource: string, ways: readonly OfferedTerms[], parts: ExtensionSigner) {
  const validUntil = Math.floor(parts.clock.now_ms() / 1_000) + limits.max_timeout_s
  const offers = ways.map(({ acceptIndex, scheme, network, asset, payTo, amount }) => {
    const payload = { version: VERSION, resourceUrl: resource, scheme, network, asset, payTo, amount, validUntil }
    return { acceptIndex, ...signed(OFFERS, OFFER, payload, parts) }
  })
  // Short, because it is part of each 402, whose header should stay below 4 kB.
  return { info: { offers }, schema: signedSchema('offers', { type: 'array', items: { type: 'object' } }) }
}

/** Extensions of one way to call tools. */
interface CallExtensions {
  /**
   * Returns the extensions of the terms of a call. There are offers for the ways to pay, signed by the receipt key and valid as long as a quoted
   * price is.
   */
  ofTerms(tool: DescribedTool, resource: string, ways: readonly OfferedTerms[]): Extensions
  /** Returns the extensions of a settlement: a receipt of `offer-receipt`, which says that the payer paid and was answered. */
  ofSettlement(resource: string, settled_s: number, paid: { network: string; payer: string; transaction: string }): Extensions
}

/** Creates the extensions of calls over HTTP or MCP. `schemaOf` returns the input schema of a tool. */
export function createCallExtensions(
  surface: DiscoveredCall['type'],
  schemaOf: (tool: string) => Readonly<Record<string, unknown>> | undefined,
  parts: ExtensionSigner,
): CallExtensions {
  return {
    ofTerms: (tool, resource, ways) => ({
      'payment-identifier': PAYMENT_IDENTIFIER,
      bazaar: bazaar(discoveredCall(surface, tool, schemaOf(tool.id))),
      'offer-receipt': signedOffers(resource, ways, parts),
    }),
    ofSettlement(resource, settled_s, { network, payer, transaction }) {
      const payload = { version: VERSION, network, resourceUrl: resource, payer, issuedAt: settled_s, transaction }
      return {
        'offer-receipt': { info: { receipt: signed(RECEIPTS, RECEIPT, payload, parts) }, schema: signedSchema('receipt', SIGNED) },
      }
    },
  }
}

/** Offer of this service that a client sent back with its payment. */
export interface EchoedOffer {
  resource: string
  amount_minor: bigint
  /** Time at which it was signed. */
  issued_s: number
}

/** Reads what a client sent back of the offers of `offer-receipt`; null for anything that was not signed by this key. */
export function readEchoedOffer(value: unknown, signing_address: string, crypto: ReceiptCrypto): EchoedOffer | null {
  const payload = isObject(value) && isObject(value['payload']) ? value['payload'] : {}
  const signature = isObject(value) ? value['signature'] : null
  const message: Record<string, string | bigint> = {}
  for (const { name, type } of OFFER.fields) {
    const member = Object.hasOwn(payload, name) ? payload[name] : undefined
    const is_number = type === 'uint256' && Number.isSafeInteger(member) && Number(member) >= 0
    if (!is_number && !(type === 'string' && typeof member === 'string' && member.isWellFormed())) return null
    message[name] = is_number ? BigInt(Number(member)) : String(member)
  }
  const amount = String(message['amount'])
  if (typeof signature !== 'string' || !/^0x[0-9a-f]{130}$/i.test(signature) || !/^\d{1,78}$/.test(amount)) return null
  const signer = typedSigner(typedDigest(OFFERS, OFFER, message, crypto), signature, crypto)
  if (signer !== signing_address) return null
  return {
    resource: String(message['resourceUrl']),
    amount_minor: BigInt(amount),
    issued_s: Number(message['validUntil']) - limits.max_timeout_s,
  }
}
