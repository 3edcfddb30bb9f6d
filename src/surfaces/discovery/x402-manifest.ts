import type { Tool } from '../../service/catalogue/define.ts'
import { allowanceWords, callUrl, modeMark, paymentWords, priceRange } from '../../service/catalogue/text.ts'
import { withoutWords } from '../../service/catalogue/json-schema.ts'
import { JSON_SCHEMA_DIALECT, paymentRequiredSchema } from '../../service/catalogue/wire-schemas.ts'
import { checksumAddress, v1PaymentRequired, v2PaymentRequired } from '../../service/payments/terms.ts'
import { priceBounds, priceOf, type PricesNow } from '../../service/payments/price.ts'
import { networkOf } from '../../pure/networks.ts'
import { USDC_DECIMALS, usdcOn } from '../../pure/payments/usdc.ts'
import type { AppDeps } from '../deps.ts'
import { httpSchema } from '../payment.ts'
import type { Examples } from './examples.ts'
import { type ProblemCode, PROBLEMS } from '../../service/problems.ts'

/** `/.well-known/x402.json`: what a call costs, in which token, to whom, and one resource a tool. */
export function x402Manifest(deps: AppDeps, examples: Examples, prices: PricesNow | null) {
  const token = usdcOn(deps.chain_id)
  const { api_url } = deps.origins
  const { tools } = deps.call.catalogue
  const listed = (some: readonly Tool[]) =>
    some.map((tool) => ({ ...resource(deps, tool, examples.get(tool.id)), ...termsNow(deps, tool, prices) }))
  return {
    name: 'assay',
    version: deps.version,
    environment: environment(deps),
    notice: modeMark(deps),
    payments_enabled: deps.takes_payments,
    statement: paymentWords(deps),
    recipient: checksumAddress(deps.call.stamp.recipient),
    network: { chain_id: token.chain_id, name: token.network, caip2: `eip155:${token.chain_id}` },
    asset: 'USDC',
    token_address: token.address,
    decimals: USDC_DECIMALS,
    eip712_domain: { name: token.name, version: token.version, chainId: token.chain_id, verifyingContract: token.address },
    pricing: {
      currency: 'USDC',
      decimals: USDC_DECIMALS,
      ...widestBounds(tools),
      live_prices_url: `${api_url}/health`,
      description: 'A call costs between floor and cap of its tool, in minor units; /health shows the prices now.',
    },
    free_allowance: { free_daily: deps.free.free_daily, description: allowanceWords(deps.free, tools) },
    receipt_signing_address: deps.call.stamp.signer.address,
    errors_url: `${api_url}/.well-known/x402-errors.json`,
    schema_url: `${api_url}/.well-known/x402-schema.json`,
    resources: listed(tools.filter(({ price }) => price !== 'free')),
    // What asks for no payment is no resource of x402.
    free_resources: listed(tools.filter(({ price }) => price === 'free')),
  }
}

function environment({ mode, chain_id }: AppDeps): 'sandbox' | 'testnet' | 'production' {
  if (mode === 'sandbox') return 'sandbox'
  return networkOf(chain_id)?.is_testnet === true ? 'testnet' : 'production'
}

/** Lowest floor and highest cap of the tools that have a price. */
function widestBounds(tools: readonly Tool[]) {
  const priced = tools.filter(({ price }) => price !== 'free').map(({ price }) => priceBounds(price))
  const floor = priced.reduce<bigint | null>(
    (least, { floor_minor }) => (least === null || floor_minor < least ? floor_minor : least),
    null,
  )
  const cap = priced.reduce((most, { cap_minor }) => (cap_minor > most ? cap_minor : most), 0n)
  return { floor_minor: `${floor ?? 0n}`, cap_minor: `${cap}` }
}

/**
 * What a 402 of this tool asks for now, in the words of both versions, exactly as it stands there. Where the price depends on the input it
 * is that of the cheapest one.
 */
function termsNow(deps: AppDeps, tool: Tool, prices: PricesNow | null) {
  if (tool.price === 'free' || prices === null || !deps.takes_payments) return { accepts: [], accepts_v1: [] }
  const { amount_minor } = priceOf(tool.price, null, prices)
  const output_schema = httpSchema(deps.schemas.get(tool.id)?.input)
  const terms = { ...deps.place, resource: callUrl(deps, tool), description: tool.description, amount_minor, output_schema }
  return { accepts: v2PaymentRequired(terms, '').accepts, accepts_v1: v1PaymentRequired(terms, '').accepts }
}

function resource(deps: AppDeps, tool: Tool, example: Record<string, unknown> | undefined) {
  const schemas = deps.schemas.get(tool.id)
  return {
    tool: tool.id,
    url: callUrl(deps, tool),
    resource: callUrl(deps, tool),
    x402Version: 2,
    type: 'http',
    method: 'POST',
    mime_type: 'application/json',
    description: tool.description,
    price: priceRange(tool),
    // Input and output schema, and an example: a hundred times as long here as all the rest.
    details_url: `${deps.origins.api_url}/v1/tools/${tool.id}`,
    extensions: { bazaar: bazaar(tool, schemas?.input, example) },
  }
}

/** Longer answers stand at `details_url` alone. */
const EXAMPLE_CHARS = 1_000

/**
 * The tool as the x402 extension `bazaar` describes an HTTP endpoint: `info` holds a request that runs and its answer, `schema` is what
 * `info` must fit. The body is the whole body of the request, so the fields of the tool stand under `input`.
 */
function bazaar(tool: Tool, input_schema: Record<string, unknown> | undefined, example: Record<string, unknown> | undefined) {
  const { $schema: _, ...input } = withoutWords(input_schema ?? {}) as Record<string, unknown>
  const answer = { type: 'object', properties: { result: { type: 'object' } }, required: ['result'] }
  return {
    info: {
      input: { type: 'http', method: 'POST', bodyType: 'json', body: { input: tool.example } },
      ...(example === undefined || JSON.stringify(example).length > EXAMPLE_CHARS
        ? {}
        : { output: { type: 'json', example: { result: example } } }),
    },
    schema: {
      $schema: JSON_SCHEMA_DIALECT,
      type: 'object',
      properties: {
        input: closed({ type: { const: 'http' }, method: { const: 'POST' }, bodyType: { const: 'json' }, body: closed({ input }) }),
        output: closed({ type: { const: 'json' }, example: answer }),
      },
      required: ['input'],
      additionalProperties: false,
    },
  }
}

function closed(properties: Record<string, unknown>) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[]

/** One problem as documents show it. */
export function problemEntry(code: ProblemCode, api_url: string) {
  const { status, title, description, retryable, phase, fault } = PROBLEMS[code]
  return { code, http_status: status, title, description, retryable, phase, fault, type: `${api_url}/problems/${code}` }
}

/** `/.well-known/x402-errors.json`: every problem that the service can answer with. */
export function x402Errors(deps: AppDeps) {
  const { api_url } = deps.origins
  return {
    description: 'Bodies are RFC 9457 problems (application/problem+json); tell them apart by code. `fault` says who can mend it.',
    errors: PROBLEM_CODES.map((code) => problemEntry(code, api_url)),
  }
}

/** `/.well-known/x402-schema.json`: JSON Schema of the body of a 402, as this version sends it. */
export function x402Schema(deps: AppDeps) {
  return {
    $schema: JSON_SCHEMA_DIALECT,
    $id: `${deps.origins.api_url}/.well-known/x402-schema.json`,
    title: 'The body of a 402 answer',
    ...paymentRequiredSchema(deps.takes_payments),
  }
}
