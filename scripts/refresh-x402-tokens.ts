/**
 * Rebuilds data/x402-tokens.json from the table of default tokens in the npm package @x402/evm, which clients and servers of x402 sign
 * and verify with. A few tokens that the package does not list are Circle's own (developers.circle.com, USDC contract addresses).
 *
 *   node scripts/refresh-x402-tokens.ts --package test/official-clients/node_modules/@x402/evm --published 2026-11-10 --retrieved 2026-11-21
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { classifyEvmAddress, isSolanaAddress } from '../src/pure/protocols/kit/addresses.ts'
import { assert, option, printDifference, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  /** CAIP-2. */
  network: string
  asset: string
  symbol: string
  /** Name and version of the EIP-712 domain; null where there is none, or it is not known. */
  name: string | null
  version: string | null
  decimals: number
  /** Transfer method of x402. */
  transfer: string
}

interface PackageRow {
  asset: string
  name: string
  version: string
  decimals: number
  symbol: string
  assetTransferMethod?: string
}

const PATH = new URL('../data/x402-tokens.json', import.meta.url)

const usdc = (network: string, asset: string, name: string | null): Row => ({
  network,
  asset,
  symbol: 'USDC',
  name,
  version: name === null ? null : '2',
  decimals: 6,
  transfer: 'eip3009',
})
const solana = (network: string, asset: string): Row => ({
  network,
  asset,
  symbol: 'USDC',
  name: null,
  version: null,
  decimals: 6,
  transfer: 'svm',
})

/** Circle's own tokens that the package does not list, or lists in another package. */
const CIRCLE: Row[] = [
  // What this one calls itself on chain was not looked up.
  usdc('eip155:43113', '0x5425890298aed601595a70AB815c96711a31Bc65', null),
  usdc('eip155:80002', '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC'),
  solana('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
  solana('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
  solana('solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
]

const folder = resolve(option('package'))
const { version } = JSON.parse(await readFile(resolve(folder, 'package.json'), 'utf8')) as { version: string }
const { DEFAULT_ASSETS } = (await import(pathToFileURL(resolve(folder, 'dist/esm/index.mjs')).href)) as {
  DEFAULT_ASSETS: Record<string, PackageRow[]>
}
const listed = Object.entries(DEFAULT_ASSETS).flatMap(([network, assets]) =>
  assets.map((one): Row => ({
    network,
    asset: one.asset,
    symbol: one.symbol,
    name: one.name,
    version: one.version,
    decimals: one.decimals,
    transfer: one.assetTransferMethod ?? 'eip3009',
  })),
)
const key = ({ network, asset }: Row) => `${network}/${asset.toLowerCase()}`
const known = new Set(listed.map(key))
const rows = [...listed, ...CIRCLE.filter((row) => !known.has(key(row)))].toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
const before = await rowsOf<Row>(PATH)
assert(rows.length >= 20 && rows.length <= 2_000, `${rows.length} tokens`)
assert(rows.length >= before.length * 0.8, `the table shrank from ${before.length} to ${rows.length} tokens`)
for (const row of rows) {
  const isAddress = row.network.startsWith('eip155:')
    ? ['checked', 'one_case'].includes(classifyEvmAddress(row.asset))
    : isSolanaAddress(row.asset)
  assert(isAddress, `${row.asset} is not an address on ${row.network}`)
  assert(Number.isInteger(row.decimals) && row.decimals >= 0 && row.decimals <= 36, `${row.asset} has odd decimals`)
}
for (const [network, asset] of [
  ['eip155:8453', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  ['eip155:84532', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
  ['eip155:1', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
])
  assert(
    rows.some((row) => row.network === network && row.asset === asset),
    `USDC of ${network} should be in the table`,
  )
printDifference(before, rows, key)
await writeTable(
  PATH,
  {
    schema: 'assay/x402-tokens/1',
    source: 'npm package @x402/evm, default assets; Circle, USDC contract addresses',
    source_version: version,
    ...tableDates(null),
    notes:
      'Tokens that x402 clients know, with the EIP-712 domain that an EIP-3009 signature needs. A token that is missing here is only unknown.',
  },
  rows,
)
