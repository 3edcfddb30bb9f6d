/**
 * Rebuilds data/uniswap-pools.json. A pool's address follows from its factory, its tokens and its fee or tick spacing (CREATE2, EIP-1014),
 * so it is computed here and nothing needs to be believed; the tokens are the issuers' own addresses.
 *
 *   node scripts/refresh-uniswap-pools.ts --version <text> --compiled <date> --retrieved <date>
 */
import { concat, encodeAbiParameters, getContractAddress, keccak256, type Hex } from 'viem'
import { assert, option, printDifference, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  base: string
  quote: string
  venue: string
  address: string
  token0: string
  token1: string
  decimals0: number
  decimals1: number
  window_s: number
  least_reserve_minor: string
}

const PATH = new URL('../data/uniswap-pools.json', import.meta.url)
const TOKENS = {
  WETH: { address: '0x4200000000000000000000000000000000000006', decimals: 18 },
  USDC: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 },
  EURC: { address: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', decimals: 6 },
} as const
/** Factory, code hash of what it deploys, and the type of the third part of the salt. Slipstream deploys minimal proxies (EIP-1167). */
const VENUES = {
  uniswap_v3: {
    factory: '0x33128a8fC17869897dcE68Ed026d694621f6FDfD',
    code_hash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
    third: 'uint24',
  },
  aerodrome_slipstream: {
    factory: '0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A',
    code_hash: keccak256(
      concat([
        '0x3d602d80600a3d3981f3363d3d373d3d3d363d73',
        '0xeC8E5342B19977B4eF8892e02D8DAEcfa1315831',
        '0x5af43d82803e903d91602b57fd5bf3',
      ]),
    ),
    third: 'int24',
  },
} as const
/** Third part: the fee in millionths, or the tick spacing. The deepest pool of each pair that keeps observations. */
const POOLS = [
  { base: 'WETH', quote: 'USDC', venue: 'uniswap_v3', third: 500 },
  { base: 'EURC', quote: 'USDC', venue: 'aerodrome_slipstream', third: 50 },
] as const
/** A half hour, and ten million dollars over all prices: some fifty thousand to move the price by one percent, and to hold it there. */
const WINDOW_S = 1_800
const LEAST_RESERVE_MINOR = '10000000000000'
/** As block explorers show them. */
const SENTINELS = ['0xd0b53d9277642d899df5c87a3966a349a798f224', '0xe846373c1a92b167b4e9cd5d8e4d6b1db9e90ec7']

const rows = POOLS.map(({ base, quote, venue, third }): Row => {
  const [token0, token1] = [TOKENS[base], TOKENS[quote]]
  assert(token0.address.toLowerCase() < token1.address.toLowerCase(), `${base} is not the first token`)
  const { factory, code_hash, third: type } = VENUES[venue]
  const salt = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'address' }, { type }], [token0.address, token1.address, third]))
  const address: Hex = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecodeHash: code_hash })
  return {
    base,
    quote,
    venue,
    address: address.toLowerCase(),
    token0: token0.address.toLowerCase(),
    token1: token1.address.toLowerCase(),
    decimals0: token0.decimals,
    decimals1: token1.decimals,
    window_s: WINDOW_S,
    least_reserve_minor: LEAST_RESERVE_MINOR,
  }
})
for (const address of SENTINELS) assert(new Set(rows.map((row) => row.address)).has(address), `${address} is missing`)
printDifference(await rowsOf<Row>(PATH), rows, ({ address }) => address)
await writeTable(
  PATH,
  {
    schema: 'assay/uniswap-pools/1',
    source: 'Uniswap v3 and Aerodrome Slipstream on Base (chain 8453); addresses computed from their factories',
    source_version: option('version'),
    ...tableDates(null),
    notes:
      'base is the first token, quote the second. window_s and least_reserve_minor are our own bounds: length of the average, and the least ' +
      'that the pool must have of its second token, were its liquidity spread over every price.',
  },
  rows,
)
