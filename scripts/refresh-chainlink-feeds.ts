/**
 * Rebuilds data/chainlink-feeds.json from Chainlink's own directory of feeds on Base, the file behind the address pages of docs.chain.link
 * (https://reference-data-directory.vercel.app/feeds-ethereum-mainnet-base-1.json).
 *
 *   node scripts/refresh-chainlink-feeds.ts --directory <path or URL> --version <text> --published <date> --retrieved <date>
 */
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Entry {
  name: string
  path: string
  proxyAddress: string | null
  decimals: number
  heartbeat: number
}

interface Row {
  symbol: string
  address: string
  description: string
  decimals: number
  heartbeat_s: number
  market_hours: boolean
  listed: boolean
}

const PATH = new URL('../data/chainlink-feeds.json', import.meta.url)
const CURRENCIES = ['AUD', 'BRL', 'CAD', 'CHF', 'EUR', 'GBP', 'IDR', 'MXN', 'NGN', 'NZD', 'PHP', 'SGD', 'TRY', 'ZAR']
/** The directory lists several feeds with the same name; their paths distinguish them. */
const PATHS: Readonly<Record<string, string>> = {
  ETH: 'eth-usd-svr',
  BTC: 'btc-usd-svr',
  USDC: 'usdc-usd',
  EURC: 'eurc-usd',
  ...Object.fromEntries(CURRENCIES.map((currency) => [currency, `${currency.toLowerCase()}-usd`])),
}
/** Feeds that the directory listed earlier. They serve after the listed ones, and only as long as they are updated. */
const EARLIER: Readonly<Record<string, string>> = {
  ETH: '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70',
  BTC: '0x64c911996D3c6aC71f9b455B1E8E7266BcbD848F',
}
const SENTINELS: Readonly<Record<string, string>> = {
  EUR: '0xc91D87E81faB8f93699ECf7Ee9B44D11e1D53F0F',
  USDC: '0x7e860098F58bBFC8648a4311b374B1D669a2bc6B',
}

const directory = JSON.parse(new TextDecoder().decode(await readSource(option('directory')))) as Entry[]
const rows = Object.entries(PATHS).flatMap(([symbol, path]): Row[] => {
  const entry = directory.find((one) => one.path === path && one.proxyAddress !== null)
  assert(entry !== undefined && entry.proxyAddress !== null, `the directory has no ${path}`)
  const { name, proxyAddress, decimals, heartbeat } = entry
  assert(name.toUpperCase() === `${symbol} / USD`, `${path} is called ${name}`)
  assert(decimals === 8 && heartbeat >= 60 && heartbeat <= 86_400, `${path}: ${decimals} decimals, ${heartbeat} s`)
  const shared = { symbol, description: `${symbol} / USD`, decimals, heartbeat_s: heartbeat, market_hours: CURRENCIES.includes(symbol) }
  const earlier = EARLIER[symbol]
  const listed = { ...shared, address: proxyAddress.toLowerCase(), listed: true }
  return [listed, ...(earlier === undefined ? [] : [{ ...shared, address: earlier.toLowerCase(), listed: false }])]
})
const before = await rowsOf<Row>(PATH)
for (const { address } of rows) assert(/^0x[0-9a-f]{40}$/.test(address), `${address} is not an address`)
assert(new Set(rows.map(({ address }) => address)).size === rows.length, 'an address comes twice')
for (const [symbol, address] of Object.entries(SENTINELS)) {
  assert(
    rows.some((row) => row.symbol === symbol && row.address === address.toLowerCase()),
    `${symbol} should be at ${address}`,
  )
}
const ordered = rows.map(({ symbol, address, description, decimals, heartbeat_s, market_hours, listed }) => ({
  symbol,
  address,
  description,
  decimals,
  heartbeat_s,
  market_hours,
  listed,
}))
printDifference(before, ordered, ({ address }) => address)
await writeTable(
  PATH,
  {
    schema: 'assay/chainlink-feeds/1',
    source: 'Chainlink, directory of data feeds on Base (chain 8453)',
    source_version: option('version'),
    ...tableDates(option('directory')),
    notes:
      'US dollars for one unit. Each reading holds description and decimals against this table. listed: false were in the directory earlier. ' +
      'The uptime feed of the sequencer, which it does not list, is 0xBCF85224fc0756B9Fa45aA7892530B47e10b6433.',
  },
  ordered,
)
