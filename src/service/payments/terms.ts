import { networkOf } from '../../pure/networks.ts'
import type { Fraction } from '../../pure/market/fraction.ts'
import { cutText } from '../../pure/cut-text.ts'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { limits } from '../limits.ts'
import type { Extensions } from './extensions.ts'
import type { Authorization } from '../../pure/payments/eip3009.ts'
import type { ChannelState } from '../../pure/payments/channels.ts'
import type { ChannelCorrection, PaymentRefusal } from './payment-refusals.ts'
import type { SignInChallenge } from './resends.ts'
import { paymentFault, type PaymentFault, type X402Payment } from './payment-header.ts'

/** Scheme `exact` on an EIP-3009 token is the only one offered. */
const SCHEME = 'exact'

/** Maximum length of a description in a challenge, in UTF-16 units: it is part of a header, which small proxies cut at 4 kB. */
const TERMS_DESCRIPTION_CHARS = 200

/** Terms that all payments to a deployment share. */
export interface PaymentTerms {
  pay_to: string
  /** `name` and `version` are the EIP-712 domain; a signature over any other fails. */
  token: { address: string; name: string; version: string }
  chain_id: number
  /** Name of the chain in version 1, such as `base`; version 2 says eip155:<chain id>. */
  network: string
  /** Terms of payment channels; absent where the scheme batch-settlement is not offered. */
  channels?: ChannelTerms
  /** Networks of calls; absent where there is only this one. */
  networks?: OfferedNetworks
  /** US dollars for one token; absent for USDC. */
  rate?: Fraction
}

/** Returns the amount of a token that pays a price, rounded up, in minor units of six decimals. */
export function tokenAmount(price_minor: bigint, rate: Fraction): bigint {
  const product = price_minor * rate.denominator
  return product / rate.numerator + (product % rate.numerator === 0n ? 0n : 1n)
}

/** Networks and tokens in which calls can be paid now. */
export interface OfferedNetworks {
  /** `primary`: USDC on the network of the deployment is among them. `key` changes whenever one comes or goes, and with the rate. */
  now(): {
    primary: boolean
    further: readonly PaymentTerms[]
    key: string
    /** Gas of the network of the deployment costs more than a call: it is not among the terms even if none is left. */
    primary_too_dear?: boolean
  }
  /** Reason why no payment can be taken now, in a sentence; null while the terms have a network. */
  noneNow?(): string | null
}

/** Terms of the scheme batch-settlement in addition to those of all payments. */
interface ChannelTerms {
  /** Address that signs claims and refunds. */
  receiver_authorizer: string
  withdraw_delay_s: number
  /** Proposed deposit as a multiple of the price. */
  deposit_prices: bigint
  /** Smallest deposit that covers its gas now, in minor units; absent where gas costs the service nothing. */
  least_deposit_minor?(): bigint
}

/** The scheme batch-settlement in the terms of a call. */
export interface ChannelOffer {
  /**
   * Corrects a client that has lost the state of its channel, on the network (CAIP-2) of that channel. Then no other network lists channels:
   * the official client takes the first entry of the scheme for the corrected one.
   */
  correction: { network: string; state: ChannelCorrection } | null
}

/** Price and resource of one call. */
export interface Offer {
  /** Absolute URL; for MCP it is that of `mcpResource`. */
  resource: string
  /** Plain text, cut to TERMS_DESCRIPTION_CHARS. */
  description: string
  amount_minor: bigint
  /** Schema of the call, for version 1 clients and catalogues; undefined when the resource is not an HTTP endpoint. */
  output_schema?: Record<string, unknown> | undefined
  /** Networks of a call; left out, the network of the terms alone. */
  offered?: ReturnType<OfferedNetworks['now']> | undefined
  /** Of version 2, in addition to the scheme exact, on each network whose terms have channels. */
  channel_offer?: ChannelOffer | undefined
  /** Of version 2: names of the service for catalogues, and the extensions, which a client sends back with its payment. */
  described?: { service: ServiceWords; extensions: Extensions } | undefined
}

/** Members of an x402 resource by which catalogues show it: at most 32 printable ASCII characters each, at most 5 tags. */
interface ServiceWords {
  serviceName: string
  tags: readonly string[]
  /** Public https address; absent elsewhere. */
  iconUrl?: string
}

export interface Terms extends PaymentTerms, Offer {}

/** Returns the resource URL of a tool called over MCP. */
export function mcpResource(tool: string): string {
  return `mcp://tool/${tool}`
}

/** Returns the CAIP-2 name of an EVM chain. */
export function caip2(chain_id: number): string {
  return `eip155:${chain_id}`
}

/** Returns the address with the EIP-55 checksum, which reveals a mistyped character. */
export function checksumAddress(address: string): string {
  return readEvmAddress(address)?.checksummed ?? address
}

/** Builds the object in PAYMENT-REQUIRED, which an unpaid call over MCP returns too. */
export function v2PaymentRequired(terms: Terms, error: string) {
  const { resource, description, described } = terms
  return {
    x402Version: 2 as const,
    error,
    resource: { url: resource, description: shortened(description), mimeType: 'application/json', ...described?.service },
    accepts: acceptedWays(terms).map(({ way }) => way),
    ...(described === undefined ? {} : { extensions: described.extensions }),
  }
}

/** Ways to pay, in the order of preference: those on the network of the deployment first, since clients take the first that they can. */
function acceptedWays({ offered, channel_offer, ...terms }: Terms) {
  const places = [...(offered?.primary === false ? [] : [terms]), ...(offered?.further ?? [])]
  return places.flatMap((place) => waysOn(place, terms.amount_minor, channel_offer).map((way) => ({ place, way })))
}

function waysOn(place: PaymentTerms, amount_minor: bigint, channel_offer: ChannelOffer | undefined) {
  const { extra, scheme: _, ...common } = exactEntry(place, amount_minor)
  const correction = channel_offer?.correction ?? null
  const has_channels = channel_offer !== undefined && (correction === null || correction.network === common.network)
  if (!has_channels || place.channels === undefined) return [{ scheme: SCHEME, ...common, extra }]
  return [{ scheme: SCHEME, ...common, extra }, channelEntry(common, extra, place.channels, correction?.state ?? null)]
}

function exactEntry({ chain_id, token, pay_to, rate }: PaymentTerms, price_minor: bigint) {
  const amount_minor = rate === undefined ? price_minor : tokenAmount(price_minor, rate)
  return {
    scheme: SCHEME,
    network: caip2(chain_id),
    amount: amount_minor.toString(),
    asset: token.address,
    payTo: checksumAddress(pay_to),
    maxTimeoutSeconds: limits.max_timeout_s,
    extra: { name: token.name, version: token.version },
  }
}

function channelEntry<Common extends { amount: string }>(
  common: Common,
  domain: { name: string; version: string },
  terms: ChannelTerms,
  state: ChannelCorrection | null,
) {
  return { scheme: 'batch-settlement', ...common, extra: { ...domain, ...channelExtra(terms, state, BigInt(common.amount)) } }
}

/** Builds the object in PAYMENT-REQUIRED at the address of refunds, where nothing has to be paid. */
export function refundRequired(
  places: readonly PaymentTerms[],
  resource: string,
  error: string,
  { channel = null, sign_in }: { channel?: ChannelCorrection | null; sign_in?: SignInChallenge | undefined } = {},
) {
  const accepts = places.flatMap(({ channels, ...place }) => {
    const { extra, scheme: _, ...common } = exactEntry(place, 0n)
    return channels === undefined ? [] : [channelEntry(common, extra, channels, channel)]
  })
  return {
    x402Version: 2 as const,
    error,
    resource: { url: resource, description: 'Refund of a payment channel', mimeType: 'application/json' },
    accepts,
    ...(sign_in === undefined ? {} : { extensions: signInExtension(sign_in) }),
  }
}

/** The extension sign-in-with-x of a 402. */
export function signInExtension(sign_in: SignInChallenge) {
  return { 'sign-in-with-x': sign_in }
}

function channelExtra(terms: ChannelTerms, state: ChannelCorrection | null, amount_minor: bigint) {
  const { receiver_authorizer, withdraw_delay_s, deposit_prices } = terms
  const [by_price, by_gas] = [amount_minor * deposit_prices, terms.least_deposit_minor?.() ?? 0n]
  const extra = {
    receiverAuthorizer: checksumAddress(receiver_authorizer),
    withdrawDelay: withdraw_delay_s,
    minDeposit: (by_price > by_gas ? by_price : by_gas).toString(),
  }
  if (state === null) return extra
  const { channel_id, charged_minor, signature } = state
  const channelState = { channelId: channel_id, ...channelStateJson(state) }
  if (charged_minor === null) return { ...extra, channelState }
  Object.assign(channelState, { chargedCumulativeAmount: charged_minor.toString() })
  if (signature === '') return { ...extra, channelState }
  return { ...extra, channelState, voucherState: { signedMaxClaimable: charged_minor.toString(), signature } }
}

/** State of a channel as @x402/evm 2.27.0 writes it: numbers as text, but for the time. */
export function channelStateJson(state: ChannelState) {
  return {
    balance: state.balance_minor.toString(),
    totalClaimed: state.claimed_minor.toString(),
    withdrawRequestedAt: state.withdraw_requested_s,
    refundNonce: state.refund_nonce.toString(),
  }
}

/**
 * Returns what the offers of `offer-receipt` promise: one for each entry of `accepts`, in the same order, except EURC and the channels of further
 * networks. Clients send all offers back with each payment, whose header would become too long.
 */
export function offeredTerms(terms: Terms) {
  return acceptedWays(terms).flatMap(({ place, way: { scheme, network, asset, payTo, amount } }, acceptIndex) => {
    const has_offer = place.rate === undefined && (scheme === SCHEME || place.chain_id === terms.chain_id)
    return has_offer ? [{ acceptIndex, scheme, network, asset, payTo, amount }] : []
  })
}

/**
 * Builds the members for the body of a 402. Clients ignore other members next to them, but reject all entries when they cannot read one.
 */
export function v1PaymentRequired(terms: Terms, error: string) {
  const { resource, description, amount_minor, output_schema, offered } = terms
  // Clients of version 1 refuse null here.
  const schema = output_schema === undefined ? {} : { outputSchema: output_schema }
  const entryOf = ({ network, pay_to, token }: PaymentTerms) => ({
    scheme: SCHEME,
    network,
    maxAmountRequired: amount_minor.toString(),
    resource,
    description: shortened(description),
    mimeType: 'application/json',
    ...schema,
    payTo: checksumAddress(pay_to),
    maxTimeoutSeconds: limits.max_timeout_s,
    asset: token.address,
    extra: { name: token.name, version: token.version },
  })
  // A network without a name in version 1 would make its clients reject all entries, and so would an empty list. They take every amount
  // for one of US dollars.
  const isKnown = ({ chain_id, rate }: PaymentTerms) => rate === undefined && networkOf(chain_id)?.v1_name != null
  const further = offered?.further.filter(isKnown) ?? []
  const is_further_only = offered?.primary === false && (further.length > 0 || offered.primary_too_dear === true)
  const ways = is_further_only ? further : [terms, ...further]
  return { x402Version: 1 as const, error, accepts: ways.map(entryOf) }
}

/** Builds the value of PAYMENT-REQUIRED. */
export function paymentRequiredHeader(terms: Terms, error: string): string {
  return toBase64(JSON.stringify(v2PaymentRequired(terms, error)))
}

/** Serialised 402 response. */
export interface Challenge {
  /** The value of PAYMENT-REQUIRED. */
  header: string
  /** Version 1 members as JSON without the braces around them, for the body of a problem. */
  body_members_json: string
  /** Version 2 object as JSON, for MCP. */
  required_json: string
}

/** Builds the challenge for these terms; `createChallenges` caches repeated ones. */
export function challengeOf(terms: Terms, error: string): Challenge {
  const required_json = asciiJson(v2PaymentRequired(terms, error))
  return { header: toBase64(required_json), body_members_json: asciiJson(v1PaymentRequired(terms, error)).slice(1, -1), required_json }
}

/** Cuts at the maximum length with an ellipsis, never inside a surrogate pair; lone surrogates are replaced. */
function shortened(description: string): string {
  return cutText(description.toWellFormed(), TERMS_DESCRIPTION_CHARS)
}

/** Serialises to ASCII by escaping all other characters: an ASCII body is written without encoding it again for each answer. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Encodes in the standard alphabet, the only one that clients accept. */
export function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}

export interface AcceptableTerms extends PaymentTerms {
  /** Prices that are accepted now. */
  amounts: ReadonlySet<bigint>
  /** Refusal of every payment that was not settled before, while the network or the token takes none. */
  unavailable?: PaymentRefusal
}

type MismatchCode =
  | 'SCHEME_UNSUPPORTED'
  | 'NETWORK_MISMATCH'
  | 'ASSET_MISMATCH'
  | 'DOMAIN_MISMATCH'
  | 'RECIPIENT_MISMATCH'
  | 'PRICE_MISMATCH'

export type TermsMatch = { ok: true } | PaymentFault<MismatchCode>

/**
 * Compares a payment with the terms: addresses in either case, networks by either name. The authorization decides, since only it moves
 * money; the terms that version 2 repeats must agree with it. Order and reasons are those of the facilitator in @x402/evm 2.27.0.
 */
export function matchTerms(payment: X402Payment, acceptable: AcceptableTerms): TermsMatch {
  const { chain_id, network, networks } = acceptable
  if (payment.network !== network && payment.network !== caip2(chain_id)) {
    const others =
      networks
        ?.now()
        .further.filter(({ rate }) => rate === undefined)
        .map((other) => `, ${other.network} (${caip2(other.chain_id)})`) ?? []
    return paymentFault(
      'NETWORK_MISMATCH',
      `Payments are accepted on ${network} (${caip2(chain_id)})${others.join('')} only.`,
      'invalid_exact_evm_network_mismatch',
    )
  }
  return acceptedMismatch(payment, acceptable) ?? transferMismatch(payment, acceptable) ?? { ok: true }
}

function acceptedMismatch({ accepted }: X402Payment, { token }: AcceptableTerms): PaymentFault<MismatchCode> | null {
  if (accepted === null) return null
  if (accepted.payment_flow !== null && accepted.payment_flow !== 'authorization') {
    const detail = 'accepted.extra.paymentFlow must be authorization or absent.'
    return paymentFault('SCHEME_UNSUPPORTED', detail, 'unsupported_payment_flow')
  }
  if (!isSame(accepted.asset, token.address)) {
    return paymentFault('ASSET_MISMATCH', `accepted.asset must be ${token.address}.`, 'invalid_payment_requirements')
  }
  return domainMismatch(accepted, token)
}

/** A wrong domain makes the signature recover to another address; this check names the cause. A missing domain is not a fault. */
function domainMismatch(
  accepted: NonNullable<X402Payment['accepted']>,
  token: AcceptableTerms['token'],
): PaymentFault<'DOMAIN_MISMATCH'> | null {
  const { domain_name, domain_version } = accepted
  if (domain_name !== null && domain_name !== token.name) {
    return paymentFault('DOMAIN_MISMATCH', `accepted.extra.name must be ${token.name}.`, 'invalid_exact_evm_token_name_mismatch')
  }
  if (domain_version !== null && domain_version !== token.version) {
    return paymentFault('DOMAIN_MISMATCH', `accepted.extra.version must be ${token.version}.`, 'invalid_exact_evm_token_version_mismatch')
  }
  return null
}

function transferMismatch(payment: X402Payment, { pay_to, amounts }: AcceptableTerms): PaymentFault<MismatchCode> | null {
  const { accepted, authorization, version } = payment
  if (!isSame(authorization.to, pay_to) || (accepted !== null && !isSame(accepted.pay_to, pay_to))) {
    const place = isSame(authorization.to, pay_to) ? 'accepted.payTo' : 'payload.authorization.to'
    return paymentFault('RECIPIENT_MISMATCH', `${place} must be ${pay_to}.`, 'invalid_exact_evm_recipient_mismatch')
  }
  const reason = version === 1 ? 'invalid_exact_evm_authorization_value' : 'invalid_exact_evm_payload_authorization_value_mismatch'
  if (!amounts.has(authorization.value_minor)) {
    return paymentFault(
      'PRICE_MISMATCH',
      'payload.authorization.value is neither the current price nor a quoted price that is still valid. See the amount in accepts.',
      reason,
    )
  }
  if (accepted !== null && accepted.amount_minor !== authorization.value_minor) {
    return paymentFault('PRICE_MISMATCH', 'accepted.amount and payload.authorization.value must be the same.', reason)
  }
  return null
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Bounds of the validity window, in seconds. */
interface WindowBounds {
  /** Minimum time that is left to settle it. */
  least_left_s: number
  /** Maximum time until it expires. */
  longest_s: number
  /** Tolerance for a client clock that is ahead. */
  skew_s: number
}

type WindowCheck = { ok: true } | PaymentFault<'EXPIRED' | 'NOT_YET_VALID' | 'WINDOW_TOO_LONG'>

/**
 * Checks that an authorization can be settled now. The token accepts it strictly between its two times, by the time of the block; a block
 * may be slightly earlier than the local clock, which the simulation covers. The tolerance applies where the client's clock sets a bound
 * too high, never to an authorization that is about to expire.
 */
export function checkWindow(authorization: Authorization, now_s: number, bounds: WindowBounds): WindowCheck {
  const { valid_after_s, valid_before_s } = authorization
  const now = BigInt(Math.floor(now_s))
  const skew = BigInt(bounds.skew_s)
  if (valid_before_s < now + BigInt(bounds.least_left_s) || valid_before_s <= valid_after_s + 1n) {
    const detail = `payload.authorization.validBefore must be at least ${bounds.least_left_s} seconds from now and after validAfter.`
    return paymentFault('EXPIRED', detail, 'invalid_exact_evm_payload_authorization_valid_before')
  }
  if (valid_after_s > now + skew) {
    const detail = 'payload.authorization.validAfter is in the future.'
    return paymentFault('NOT_YET_VALID', detail, 'invalid_exact_evm_payload_authorization_valid_after')
  }
  if (valid_before_s > now + BigInt(bounds.longest_s) + skew) {
    const detail = `payload.authorization.validBefore must be at most ${bounds.longest_s} seconds from now.`
    return paymentFault('WINDOW_TOO_LONG', detail, 'invalid_exact_evm_payload_authorization_valid_before')
  }
  return { ok: true }
}
