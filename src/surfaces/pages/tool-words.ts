import type { Sources, Tool } from '../../service/catalogue/define.ts'
import { priceWords } from '../../service/catalogue/text.ts'
import { priceOf, usdcText, type PricesNow } from '../../service/payments/price.ts'
import type { AppDeps } from '../deps.ts'

/** The free calls of a day, as far as this tool is concerned. */
export function freeWords(deps: AppDeps, tool: Tool): string {
  if (tool.price === 'free') return 'without limit'
  const own = ownAllowance(deps, tool)
  return own === undefined ? `${deps.free.free_daily} a day` : `${own} a day, counted apart`
}

/** The free calls of a tool that is counted apart. */
export function ownAllowance(deps: AppDeps, tool: Tool): number | undefined {
  return Object.hasOwn(deps.free.overrides, tool.id) ? deps.free.overrides[tool.id] : undefined
}

/** The price of the moment; the bounds of it while the moment is not known. A price by the item is that of the least. */
export function priceNowWords(tool: Pick<Tool, 'price'>, prices: PricesNow | null): string {
  if (tool.price === 'free' || prices === null) return priceWords(tool)
  return `${tool.price === 'batch' ? 'from ' : ''}${usdcText(priceOf(tool.price, null, prices).amount_minor)} USDC`
}

/** What the tool answers to its own example; null where the answer would have to be fetched or would leave a trace. */
export async function exampleResult(tool: Tool, sources: Sources): Promise<Record<string, unknown> | null> {
  const known = results.get(tool)
  if (known !== undefined) return known
  if (!tool.annotations.read_only || tool.annotations.open_world) return null
  const result = await tool.execute(tool.input.parse(tool.example), sources)
  // What reads no source answers the same for ever.
  if (tool.sources.length === 0) results.set(tool, result)
  return result
}

const results = new WeakMap<Tool, Record<string, unknown>>()
