/**
 * Rebuilds data/crypto-symbols.json from tab-separated lines: ticker, asset_id (of CoinGecko), name, coinbase (pair), kraken (key of the pair
 * in its answers). The last two may be empty, but a price needs two sources, and CoinGecko is one of them.
 *
 *   node scripts/refresh-crypto-symbols.ts --source <path or URL> --version <text> (--published | --compiled) <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

await refreshTabTable({
  path: new URL('../data/crypto-symbols.json', import.meta.url),
  head: {
    schema: 'assay/crypto-symbols/1',
    source: 'CoinGecko: list of coins; Coinbase: currency pairs; Kraken: tradable asset pairs',
    notes: 'Written by hand from published copies; not compared with the live lists yet. No pair where an exchange fixes the price itself.',
  },
  columns: {
    ticker: /^[A-Z0-9]{2,10}$/,
    asset_id: /^[a-z0-9]+(-[a-z0-9]+)*$/,
    name: /^[A-Za-z0-9. ]{2,40}$/,
    coinbase: /^([A-Z0-9]{2,10}-USD)?$/,
    kraken: /^([A-Z0-9]{5,14})?$/,
  },
  key: ['ticker'],
  rows: [60, 250],
  sentinels: ['BTC|bitcoin|Bitcoin|BTC-USD|XXBTZUSD', 'ETH|ethereum|Ethereum|ETH-USD|XETHZUSD', 'USDC|usd-coin|USDC||USDCUSD'],
})
