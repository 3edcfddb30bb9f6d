import { networkOf } from '../pure/networks.ts'
import { isObject } from '../pure/is-object.ts'
import type { Tool } from '../service/catalogue/define.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { callUrl } from '../service/catalogue/text.ts'
import type { PaymentRequired } from '../service/calls/outcome.ts'
import { limits } from '../service/limits.ts'
import { createCallExtensions, type ExtensionSigner, type Extensions } from '../service/payments/extensions.ts'
import type { PaymentRefusal } from '../service/payments/payment-refusals.ts'
import type { SignInChallenge } from '../service/payments/resends.ts'
import type { CreditSettlement, PaidSettlement, ChargedChannel } from '../service/payments/settlement.ts'
import {
  caip2,
  type Challenge,
  challengeOf,
  type ChannelOffer,
  mcpResource,
  type Offer,
  offeredTerms,
  type PaymentTerms,
  type Terms,
  channelStateJson,
  signInExtension,
  toBase64,
} from '../service/payments/terms.ts'
import type { AppDeps } from './deps.ts'
import { assetPath } from './pages/assets.ts'

interface RendererDeps extends Pick<AppDeps, 'origins' | 'terms' | 'schemas'> {
  call: { catalogue: Catalogue; issuer: ExtensionSigner }
}

/** Names of the service for catalogues. They take icons only from public https addresses. */
function serviceWords({ family }: Tool, site_url: string) {
  const words = { serviceName: 'assay', tags: [family, 'verification', 'signed-receipt'] }
  return site_url.startsWith('https://') ? { ...words, iconUrl: site_url + assetPath('icon.svg') } : words
}

/** Renders payment terms and settlements in the format of x402. */
export interface PaymentRenderer {
  /** Terms of a 402; null if this deployment takes no payments. */
  challenge(outcome: PaymentRequired): Challenge | null
  /**
   * Headers of a settled payment; none for a credit, which has no x402 settlement metadata. Those of a call include the signed receipt of
   * the x402 extension `offer-receipt`, the same for every resend.
   */
  responseHeaders(settlement: PaidSettlement | CreditSettlement): Record<string, string>
  /** Headers of a failed settlement; none if no settlement was tried. */
  failureHeaders(refusal: Pick<PaymentRefusal, 'x402_reason' | 'payer' | 'network'>): Record<string, string>
  /** Settlement as an object for `_meta`; null for a credit. */
  response(settlement: PaidSettlement | CreditSettlement): Record<string, unknown> | null
}

const UNPAID = 'payment required'
/** x402 error reason for settlement failures that have no other reason. */
const UNSAID = 'unexpected_settle_error'
const NOTHING_MOVED = { success: false, transaction: '' } as const

/** Renderer for REST and A2A: the resource of a tool is its call URL. */
export function restPaymentRenderer(deps: RendererDeps): PaymentRenderer {
  return createPaymentRenderer(deps, {
    surface: 'http',
    resource: ({ id }) => callUrl(deps, { id }),
    outputSchema: ({ id }) => httpSchema(deps.schemas.get(id)?.input),
  })
}

/** Renderer for MCP: the resource of a tool is not an HTTP endpoint. */
export function mcpPaymentRenderer(deps: RendererDeps): PaymentRenderer {
  return createPaymentRenderer(deps, {
    surface: 'mcp',
    resource: ({ id }) => mcpResource(id),
    outputSchema: () => undefined,
  })
}

/**
 * Input and output of a call as `outputSchema` of x402 version 1 describes them, for catalogues of paid resources: method, names and
 * types of the body, and the answer. x402.json has the full schemas.
 */
function httpSchema(input_schema: Record<string, unknown> | undefined): Record<string, unknown> {
  const properties = isObject(input_schema?.['properties']) ? input_schema['properties'] : {}
  const required = Array.isArray(input_schema?.['required']) ? input_schema['required'] : []
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = isObject(schema) && typeof schema['type'] === 'string' ? { type: schema['type'] } : {}
    return [name, { ...type, required: required.includes(name) }]
  })
  const input = { type: 'object', required: true, properties: Object.fromEntries(fields) as Record<string, unknown> }
  return {
    input: { type: 'http', method: 'POST', discoverable: true, bodyType: 'json', bodyFields: { input } },
    output: { type: 'object', properties: { result: { type: 'object' }, receipt: { type: 'object' } } },
  }
}

/** One way to call a tool. */
interface CallDescription {
  surface: 'http' | 'mcp'
  /** URL that names the tool in terms and offers. */
  resource(tool: Pick<Tool, 'id'>): string
  outputSchema(tool: Pick<Tool, 'id'>): Record<string, unknown> | undefined
}

/** x402 has an empty text where no transaction settled the payment. */
function transactionOf({ transaction, channel }: PaidSettlement | Omit<PaidSettlement, 'sold'>): string {
  return channel?.deposit?.transaction ?? transaction ?? ''
}

/** Names of a network in both versions of x402: those of the terms, or of the further network of a payment. */
function networkNames(network: string, { chain_id, network: v1_name }: PaymentTerms): Pick<PaymentTerms, 'chain_id' | 'network'> {
  const paid_on = Number(network.slice(network.indexOf(':') + 1))
  return paid_on === chain_id ? { chain_id, network: v1_name } : { chain_id: paid_on, network: networkOf(paid_on)?.v1_name ?? network }
}

/** Adds the challenge of the extension sign-in-with-x. */
function withSignIn({ described, ...terms }: Terms, sign_in: SignInChallenge): Terms {
  const extensions = { ...described?.extensions, ...signInExtension(sign_in) }
  return described === undefined ? terms : { ...terms, described: { ...described, extensions } }
}

/** An offer is signed again after this time, so that at least three quarters of its validity are left. */
const OFFER_REUSE_MS = (limits.max_timeout_s * 1_000) / 4

/** Returns a renderer. Terms of one tool and amount are the same bytes for all clients for a while; only a refusal adds its reason. */
function createPaymentRenderer(deps: RendererDeps, description: CallDescription): PaymentRenderer {
  const { terms: place, origins } = deps
  const { catalogue, issuer } = deps.call
  const call_extensions = createCallExtensions(description.surface, (tool) => deps.schemas.get(tool)?.input, issuer)
  const build = ({ tool, ...offer }: Offer & { tool: Tool }, correction: ChannelOffer['correction'] = null): Terms => {
    const terms = { ...place, ...offer, channel_offer: { correction }, offered: place.networks?.now() }
    const extensions = call_extensions.ofTerms(tool, terms.resource, offeredTerms(terms))
    return { ...terms, described: { service: serviceWords(tool, origins.site_url), extensions } }
  }
  const ready = createChallenges((offer: Offer & { tool: Tool }) => build(offer), UNPAID, {
    now_ms: () => issuer.clock.now_ms(),
    ways_key: () => place.networks?.now().key ?? '',
    reuse_ms: OFFER_REUSE_MS,
  })
  const endOf = ({ sold, ...settlement }: PaidSettlement) => ({
    ...networkNames(settlement.network, place),
    success: true,
    transaction: transactionOf(settlement),
    payer: settlement.payer,
    amount_minor: BigInt(settlement.amount_minor),
    ...(settlement.channel === undefined ? {} : { channel: settlement.channel }),
    ...(sold === null
      ? {}
      : {
          extensions: call_extensions.ofSettlement(description.resource({ id: sold.tool }), sold.settled_s, {
            ...settlement,
            transaction: transactionOf(settlement),
          }),
        }),
  })
  return {
    challenge({ tool: id, amount_minor, x402_reason, channel, network, sign_in }) {
      const tool = catalogue.find(id)
      if (amount_minor === null || tool === undefined) return null
      const offer = {
        tool,
        resource: description.resource(tool),
        description: tool.description,
        amount_minor,
        output_schema: description.outputSchema(tool),
      }
      const none = place.networks?.noneNow?.() ?? null
      if (none !== null) return challengeOf(build(offer), none)
      if (x402_reason === null) return ready(offer)
      const correction = channel === undefined ? null : { network: network ?? caip2(place.chain_id), state: channel }
      const terms = build(offer, correction)
      return challengeOf(sign_in === undefined ? terms : withSignIn(terms, sign_in), x402_reason)
    },
    failureHeaders({ x402_reason, payer, network }) {
      if (payer === undefined) return {}
      const names = network === undefined ? place : networkNames(network, place)
      return paymentResponseHeaders({ ...names, ...NOTHING_MOVED, payer, error_reason: x402_reason ?? UNSAID })
    },
    responseHeaders: (settlement) => (settlement.method === 'credit' ? {} : paymentResponseHeaders(endOf(settlement))),
    response: (settlement) => (settlement.method === 'credit' ? null : v2PaymentResponse(endOf(settlement))),
  }
}

/** Result of a settlement, as x402 returns it to the payer. */
export interface X402SettlementResponse extends Pick<PaymentTerms, 'chain_id' | 'network'> {
  success: boolean
  /** Transaction hash; empty without a transaction. */
  transaction: string
  payer: string
  /** x402 code; only on failure. */
  error_reason?: string
  amount_minor?: bigint
  /** Of version 2. */
  extensions?: Extensions
  /** Of a payment channel. */
  channel?: ChargedChannel
}

/** Builds the version 2 form: PAYMENT-RESPONSE, and `_meta["x402/payment-response"]` over MCP. */
function v2PaymentResponse(response: X402SettlementResponse) {
  const { success, transaction, chain_id, payer, error_reason, amount_minor, extensions, channel } = response
  const error = error_reason === undefined ? {} : { errorReason: error_reason }
  const amount = amount_minor === undefined ? {} : { amount: amount_minor.toString() }
  const moved = channel === undefined ? amount : channelResponse(channel)
  return { success, transaction, network: caip2(chain_id), payer, ...error, ...moved, ...(extensions === undefined ? {} : { extensions }) }
}

/** A voucher moves nothing, so its amount is empty; with a deposit it is that of the deposit. */
function channelResponse({ channel_id, charged_minor, cumulative_minor, state, deposit }: ChargedChannel) {
  const channelState = {
    channelId: channel_id,
    ...(state === null ? {} : channelStateJson(state)),
    chargedCumulativeAmount: cumulative_minor.toString(),
  }
  return { amount: deposit?.amount_minor.toString() ?? '', extra: { channelState, chargedAmount: charged_minor.toString() } }
}

/** Builds the response headers of both versions; a client reads the one of its version. */
export function paymentResponseHeaders(response: X402SettlementResponse): { 'payment-response': string; 'x-payment-response': string } {
  const { amount_minor: _, extensions: __, channel: ___, ...of_version_1 } = response
  const v1 = { ...v2PaymentResponse(of_version_1), network: response.network }
  return { 'payment-response': toBase64(JSON.stringify(v2PaymentResponse(response))), 'x-payment-response': toBase64(JSON.stringify(v1)) }
}

/** Maximum number of cached challenges, about 2 kB each. Prices change, so the oldest are evicted. */
const CHALLENGES_CACHED = 1_024

type Challenges<Offered extends Offer> = (offer: Offered) => Challenge

interface ChallengeCache {
  now_ms(): number
  /** Changes when the ways to pay change; left out, they never do. */
  ways_key?: () => string
  /** Time for which a challenge is reused. */
  reuse_ms: number
  max_cached?: number
}

/**
 * Caches one serialised challenge for each resource and amount, with a fixed error text. The description of a resource must not change
 * during the lifetime of the cache.
 */
export function createChallenges<Offered extends Offer>(
  build: (offer: Offered) => Terms,
  error: string,
  { now_ms, reuse_ms, ways_key = () => '', max_cached = CHALLENGES_CACHED }: ChallengeCache,
): Challenges<Offered> {
  const cached = new Map<string, { challenge: Challenge; made_ms: number }>()
  return (offer) => {
    const key = `${offer.amount_minor} ${offer.resource} ${ways_key()}`
    const found = cached.get(key)
    const age_ms = found === undefined ? reuse_ms : now_ms() - found.made_ms
    // A negative age is that of a clock that was set back.
    if (found !== undefined && age_ms >= 0 && age_ms < reuse_ms) return found.challenge
    cached.delete(key)
    const oldest = cached.size < max_cached ? undefined : cached.keys().next().value
    if (oldest !== undefined) cached.delete(oldest)
    const challenge = challengeOf(build(offer), error)
    cached.set(key, { challenge, made_ms: now_ms() })
    return challenge
  }
}
