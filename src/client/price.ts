import { isObject } from '../pure/is-object.ts'
import { batchPrice } from '../pure/payments/price-curve.ts'
import { localError } from './error.ts'
import { getJson, type Link } from './exchange.ts'
import { readMinor, usdcOf } from './money.ts'

/** What a call costs now. Prices move every ten seconds; a quoted one stays payable for two minutes. */
export interface Price {
  tool: string
  /** Minor units of USDC. */
  amount_minor: bigint
  /** The same as decimal text. */
  amount_usdc: string
  /** Between these it moves. */
  floor_usdc: string
  cap_usdc: string
}

/** Reads the price list: nothing is called, sent or counted. Throws when the service does not know its prices now. */
export async function readPrice(link: Link, tool: string, input: object): Promise<Price> {
  const document = await getJson(link, '/health')
  const tools = isObject(document) && Array.isArray(document['tools']) ? (document['tools'] as unknown[]) : []
  const prices = tools.filter(isObject).map(({ name, price }) => ({ name, price: isObject(price) ? price : {} }))
  const found = prices.find(({ name }) => name === tool)
  if (found === undefined) throw localError('BAD_RESPONSE', 'The price list does not hold this tool.')
  const check = prices.find(({ price }) => price['class'] === 'check')
  const [floor_minor, cap_minor] = [readMinor(found.price['floor_minor']), readMinor(found.price['cap_minor'])]
  const of = found.price['class'] === 'batch' ? check?.price : found.price
  const unit_minor = readMinor(of?.['amount_minor'])
  if (floor_minor === null || cap_minor === null || unit_minor === null) {
    throw localError('BAD_RESPONSE', 'The service does not say now what this tool costs.', { retryable: true })
  }
  const amount_minor = found.price['class'] === 'batch' ? batchPrice(itemsIn(input), unit_minor, { floor_minor, cap_minor }) : unit_minor
  return { tool, amount_minor, amount_usdc: usdcOf(amount_minor), floor_usdc: usdcOf(floor_minor), cap_usdc: usdcOf(cap_minor) }
}

function itemsIn(input: object): number {
  return 'items' in input && Array.isArray(input.items) ? input.items.length : 1
}
