import { NETWORKS } from '../../pure/networks.ts'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import type { Sources, Tool } from '../../service/catalogue/define.ts'
import { CHECK_HEADLINES } from '../../service/catalogue/headlines.ts'
import { priceWords } from '../../service/catalogue/text.ts'
import { priceOf, type PricesNow } from '../../service/payments/price-book.ts'
import type { AppDeps } from '../deps.ts'
import type { PaymentWays } from './components/pay-panel.ts'
import type { ToolDeskProps } from './components/tool-desk.ts'
import { fieldsOf } from './fields.ts'

/** Props of the desk of a tool, with the answer to its example. */
export async function deskProps(deps: AppDeps, tool: Tool): Promise<ToolDeskProps> {
  const schemas = deps.schemas.get(tool.id)
  const { api_url, mcp_url } = deps.origins
  return {
    title: tool.title,
    target: { tool: tool.id, api_url, mcp_url },
    fields: fieldsOf(schemas?.input ?? { properties: {} }, tool.example),
    example: await exampleResult(tool, deps.call.sources),
    reading: {
      headlines: tool.headlines === CHECK_HEADLINES ? null : tool.headlines,
      order: Object.keys(schemas?.output?.['properties'] ?? {}),
    },
    ways: paymentWays(deps),
  }
}

/** Payment options that a page offers for a call. */
export function paymentWays(deps: AppDeps): PaymentWays {
  const states = deps.paymentNetworks?.() ?? []
  const ids = new Set([deps.chain_id, ...states.map(({ network }) => Number(network.replace('eip155:', '')))])
  const tokens = NETWORKS.filter(({ chain_id }) => ids.has(chain_id)).flatMap(({ chain_id, name: network_name, usdc, eurc }) => {
    const place = { chain_id, network_name }
    const euro = eurc === null ? [] : [{ ...place, currency: 'EURC', asset: eurc.address }]
    return [{ ...place, currency: 'USDC', asset: usdc.address }, ...euro]
  })
  return { takes_payments: deps.takes_payments, sandbox: deps.sandbox !== null, tokens }
}

/** The free calls of a day for this tool. */
export function freeWords(deps: AppDeps, tool: Tool): string {
  if (tool.price === 'free') return 'without limit'
  const own = ownAllowance(deps, tool)
  return own === undefined ? `${deps.free.free_daily} a day, all tools together` : `${own} a day, counted separately`
}

/** The free calls of a tool that is counted separately. */
export function ownAllowance(deps: AppDeps, tool: Tool): number | undefined {
  return Object.hasOwn(deps.free.overrides, tool.id) ? deps.free.overrides[tool.id] : undefined
}

/** The current price, or its bounds while it is unknown; for a price by the item that of the smallest batch. */
export function priceNowWords(tool: Pick<Tool, 'price'>, prices: PricesNow | null): string {
  if (tool.price === 'free' || prices === null) return priceWords(tool)
  return `${tool.price === 'batch' ? 'from ' : ''}${usdcDecimal(priceOf(tool.price, null, prices).amount_minor)} USDC`
}

/** The answer to the example of a tool; null where it would have to be fetched or would be stored. */
async function exampleResult(tool: Tool, sources: Sources): Promise<Record<string, unknown> | null> {
  const known = results.get(tool)
  if (known !== undefined) return known
  if (!tool.annotations.read_only || tool.annotations.open_world) return null
  const result = await tool.execute(tool.input.parse(tool.example), sources)
  // A tool without sources always answers the same.
  if (tool.sources.length === 0) results.set(tool, result)
  return result
}

const results = new WeakMap<Tool, Record<string, unknown>>()
