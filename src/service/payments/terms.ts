/**
 * What a payment must be, as x402 says it in its two generations: version 1 in the body of a 402, version 2 in its PAYMENT-REQUIRED
 * header, so that clients of either can pay one and the same answer. Read against x402-fetch 1.2.0 and @x402/core 2.27.0 (2026-09).
 */
import { cutText } from '../../pure/cut-text.ts'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { limits } from '../limits.ts'

/** The scheme `exact` on an EIP-3009 token is the only one that is offered. */
const SCHEME = 'exact'

/** Longest description in a challenge, in UTF-16 units: it stands in a header, which small proxies cut at 4 kB. */
const TERMS_DESCRIPTION_CHARS = 200

/** Challenges kept ready; each is some 2 kB. Prices move, so the oldest make room. */
const CHALLENGES_KEPT = 1_024

/** What every payment to a deployment has in common. */
export interface PaymentPlace {
  pay_to: string
  /** `name` and `version` are the EIP-712 domain; a signature over any other fails. */
  token: { address: string; name: string; version: string }
  chain_id: number
  /** Name of the chain in version 1, such as `base`; version 2 says eip155:<chain id>. */
  network: string
}

/** What one call costs. */
interface Offer {
  /** Absolute URL; for MCP it is that of `mcpResource`. */
  resource: string
  /** Plain text, cut to the bound. */
  description: string
  amount_minor: bigint
  /** How the resource is called, as version 1 and the catalogues that read it want it; undefined where it is no HTTP endpoint. */
  output_schema?: Record<string, unknown> | undefined
}

export interface Terms extends PaymentPlace, Offer {}

/** The resource of a tool that is called over MCP. */
export function mcpResource(tool: string): string {
  return `mcp://tool/${tool}`
}

/** CAIP-2 name of an EVM chain. */
export function caip2(chain_id: number): string {
  return `eip155:${chain_id}`
}

/** The address with the capitals of EIP-55, by which a person or a program can see a slip. */
export function checksumAddress(address: string): string {
  return readEvmAddress(address)?.checksummed ?? address
}

/** The object in PAYMENT-REQUIRED, and what an unpaid call over MCP returns. Carries no extensions, since clients send them all back. */
export function v2PaymentRequired(terms: Terms, error: string) {
  const { resource, description, amount_minor, pay_to, token, chain_id } = terms
  return {
    x402Version: 2 as const,
    error,
    resource: { url: resource, description: shortened(description), mimeType: 'application/json' },
    accepts: [
      {
        scheme: SCHEME,
        network: caip2(chain_id),
        amount: amount_minor.toString(),
        asset: token.address,
        payTo: checksumAddress(pay_to),
        maxTimeoutSeconds: limits.max_timeout_s,
        extra: { name: token.name, version: token.version },
      },
    ],
  }
}

/** Members for the body of a 402. Clients ignore further members beside them, but refuse all entries for one they cannot read. */
export function v1PaymentRequired(terms: Terms, error: string) {
  const { resource, description, amount_minor, pay_to, token, network, output_schema } = terms
  return {
    x402Version: 1 as const,
    error,
    accepts: [
      {
        scheme: SCHEME,
        network,
        maxAmountRequired: amount_minor.toString(),
        resource,
        description: shortened(description),
        mimeType: 'application/json',
        // Clients of version 1 refuse null here.
        ...(output_schema !== undefined && { outputSchema: output_schema }),
        payTo: checksumAddress(pay_to),
        maxTimeoutSeconds: limits.max_timeout_s,
        asset: token.address,
        extra: { name: token.name, version: token.version },
      },
    ],
  }
}

/** The value of PAYMENT-REQUIRED. */
export function paymentRequiredHeader(terms: Terms, error: string): string {
  return toBase64(JSON.stringify(v2PaymentRequired(terms, error)))
}

/** A 402 made ready. */
export interface Challenge {
  /** The value of PAYMENT-REQUIRED. */
  header: string
  /** The version 1 members as JSON without the braces around them, to stand inside the body of a problem. */
  body_members_json: string
  /** The version 2 object as JSON, for MCP. */
  required_json: string
}

export type Challenges = (offer: Offer) => Challenge

/**
 * Serialises each challenge once for a resource and an amount, with one fixed error text. A resource must keep its description for as long
 * as this lives.
 */
export function createChallenges(place: PaymentPlace, error: string, kept: number = CHALLENGES_KEPT): Challenges {
  const ready = new Map<string, Challenge>()
  return (offer) => {
    const key = `${offer.amount_minor} ${offer.resource}`
    const found = ready.get(key)
    if (found !== undefined) return found
    const made = challengeOf({ ...place, ...offer }, error)
    const oldest = ready.size < kept ? undefined : ready.keys().next().value
    if (oldest !== undefined) ready.delete(oldest)
    ready.set(key, made)
    return made
  }
}

/** The challenge for these terms; `createChallenges` keeps those that are asked for again. */
export function challengeOf(terms: Terms, error: string): Challenge {
  const required_json = asciiJson(v2PaymentRequired(terms, error))
  return { header: toBase64(required_json), body_members_json: asciiJson(v1PaymentRequired(terms, error)).slice(1, -1), required_json }
}

/** How a payment ended, for the client that made it. */
export interface PaymentEnd extends Pick<PaymentPlace, 'chain_id' | 'network'> {
  success: boolean
  /** Hash; empty when there is none. */
  transaction: string
  payer: string
  /** An x402 code, only when it failed. */
  error_reason?: string
  amount_minor?: bigint
}

/** The version 2 form: PAYMENT-RESPONSE, and `_meta["x402/payment-response"]` over MCP. */
export function v2PaymentResponse({ success, transaction, chain_id, payer, error_reason, amount_minor }: PaymentEnd) {
  return {
    success,
    transaction,
    network: caip2(chain_id),
    payer,
    ...(error_reason === undefined ? {} : { errorReason: error_reason }),
    ...(amount_minor === undefined ? {} : { amount: amount_minor.toString() }),
  }
}

/** Both response headers: a client reads the one of its generation. */
export function paymentResponseHeaders(end: PaymentEnd): { 'payment-response': string; 'x-payment-response': string } {
  const { amount: _amount, ...rest } = { amount: undefined, ...v2PaymentResponse(end) }
  return {
    'payment-response': toBase64(JSON.stringify(v2PaymentResponse(end))),
    'x-payment-response': toBase64(JSON.stringify({ ...rest, network: end.network })),
  }
}

/** Cut at the bound with a mark, never inside a character of two units; half characters in the text are replaced. */
function shortened(description: string): string {
  return cutText(description.toWellFormed(), TERMS_DESCRIPTION_CHARS)
}

/** Other characters escaped: a body of one byte a character is written without being encoded anew for each answer. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Clients take the standard alphabet only. */
function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
