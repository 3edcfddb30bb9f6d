import { z } from 'zod'
import { cryptoAsset, CRYPTO_SYMBOLS, CRYPTO_SYMBOLS_AS_OF, nearCryptoSymbols } from '../../pure/market/crypto-symbols.ts'
import { defineTool, SourceDown } from '../../service/catalogue/define.ts'
import { DATA_AS_OF } from '../../service/catalogue/schemas.ts'

const SYMBOL_CHARS = 64

const SYMBOL = z
  .string()
  .max(SYMBOL_CHARS)
  .check(({ value, issues }) => {
    if (cryptoAsset(value) !== null) return
    const near = nearCryptoSymbols(value)
    const hint = near.length === 0 ? 'The schema of this tool lists all of them.' : `Near ones: ${near.join(', ')}.`
    issues.push({ code: 'custom', input: undefined, message: `The symbol is not in the table. ${hint}`, params: {} })
  })
  .describe('Ticker such as BTC, in capitals or small letters, or asset id such as bitcoin.')
  // What JSON Schema can say of it: an unknown symbol is refused.
  .meta({ enum: [...CRYPTO_SYMBOLS] })

const SOURCE = z.strictObject({
  name: z.enum(['coinbase', 'kraken', 'coingecko', 'fixed_sample']).describe('The source.'),
  price_usd: z.string().describe('As it writes it.'),
  as_of: z.string().describe('Its own time, or when it answered.'),
})

/** Current price of a crypto asset in dollars, where two public sources agree. */
export default defineTool({
  id: 'crypto-ticker',
  title: 'Price of a crypto asset',
  description:
    'Current US dollar spot price of one of some eighty crypto assets, by ticker or asset id: the mean of two independent public sources, ' +
    'refused, uncharged, when they differ by more than 1 %. Cached for at most 60 seconds. Not a price to trade at.',
  family: 'market',
  version: '1.1.1',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['two public sources against one another (in a sandbox: fixed samples, marked in source)', 'age of at most 60 seconds'],
    not_checked: ['volume and depth behind the price', 'when the last trade was, where a source does not report it', 'future prices'],
  },
  headline: [{ tone: 'neutral', word: '{price_usd} USD', sentence: 'Price of one {symbol} ({name}) at {as_of}.', badge: 'price' }],
  sources: ['clock', 'prices'],
  input: z.strictObject({ symbol: SYMBOL }),
  output: z.strictObject({
    symbol: z.string().describe('The ticker.'),
    asset_id: z.string().describe('CoinGecko id.'),
    name: z.string().describe('Name of the asset.'),
    price_usd: z.string().describe('Dollars for one unit, decimal text: the mean of the sources, exact.'),
    as_of: z.string().describe('Time of the oldest quote.'),
    source: z.enum(['public_api', 'fixed_sample']).describe('fixed_sample in a sandbox: it says nothing about the world.'),
    sources: z.array(SOURCE).describe('Who said what.'),
    cached: z.boolean().describe('Whether it was fetched for an earlier call.'),
    evaluated_at: z.string().describe('Time of the answer.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { symbol: 'BTC' },
  async run({ symbol }, { clock, prices }) {
    const asset = cryptoAsset(symbol)
    if (asset === null) throw new RangeError('the schema lets no unknown symbol through')
    const spot = await prices.spot(asset.asset_id)
    if (spot.kind === 'down') {
      const words =
        spot.reason === 'sources_disagree'
          ? 'The sources of prices differ by more than 1 % now.'
          : 'Fewer than two sources gave a price now.'
      throw new SourceDown(`${words} Nothing was charged; ask again later.`, spot.reason)
    }
    return {
      symbol: asset.ticker,
      asset_id: asset.asset_id,
      name: asset.name,
      price_usd: spot.price_usd,
      as_of: new Date(spot.as_of_ms).toISOString(),
      source: prices.source,
      sources: spot.quotes.map(({ name, price_usd, as_of_ms }) => ({ name, price_usd, as_of: new Date(as_of_ms).toISOString() })),
      cached: spot.cached,
      evaluated_at: new Date(clock.now_ms()).toISOString(),
      data_as_of: { ...CRYPTO_SYMBOLS_AS_OF },
    }
  },
})
