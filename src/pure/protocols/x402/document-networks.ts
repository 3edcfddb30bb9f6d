import table from '../../../../data/x402-tokens.json' with { type: 'json' }
import { isWords, orNull, referenceTable, rowOf } from '../../datasets/table.ts'
import { readCaip2 } from '../kit/addresses.ts'
import type { JsonCursor } from '../json-cursor.ts'

/** Networks and tokens that x402 clients know. Others are unknown, not wrong. */

export interface KnownToken {
  /** CAIP-2. */
  network: string
  asset: string
  symbol: string
  name: string | null
  version: string | null
  decimals: number
  transfer: string
}

/** Families of addresses. `other` covers every namespace that is neither. */
export type AddressFamily = 'evm' | 'svm' | 'other'

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const SOLANA_TESTNET = 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'

/** CAIP-2 references of Solana: the beginning of the genesis hash. */
export const SOLANA_NETWORKS = [SOLANA, SOLANA_DEVNET, SOLANA_TESTNET] as const

/** Names of version 1 with their CAIP-2 form (x402 1.2.0 and @x402/evm 2.27.0). */
export const V1_NETWORKS: ReadonlyMap<string, string> = new Map([
  ['ethereum', 'eip155:1'],
  ['sepolia', 'eip155:11155111'],
  ['abstract', 'eip155:2741'],
  ['abstract-testnet', 'eip155:11124'],
  ['base', 'eip155:8453'],
  ['base-sepolia', 'eip155:84532'],
  ['avalanche', 'eip155:43114'],
  ['avalanche-fuji', 'eip155:43113'],
  ['iotex', 'eip155:4689'],
  ['sei', 'eip155:1329'],
  ['sei-testnet', 'eip155:1328'],
  ['polygon', 'eip155:137'],
  ['polygon-amoy', 'eip155:80002'],
  ['peaq', 'eip155:3338'],
  ['story', 'eip155:1514'],
  ['educhain', 'eip155:41923'],
  ['skale-base-sepolia', 'eip155:324705682'],
  ['megaeth', 'eip155:4326'],
  ['monad', 'eip155:143'],
  ['stable', 'eip155:988'],
  ['stable-testnet', 'eip155:2201'],
  ['celo', 'eip155:42220'],
  ['flare', 'eip155:14'],
  ['solana', SOLANA],
  ['solana-devnet', SOLANA_DEVNET],
])

/** Networks whose tokens are worth nothing, as far as known. */
const TESTNETS: ReadonlySet<string> = new Set([
  ...[
    '11155111',
    '11124',
    '84532',
    '43113',
    '1328',
    '80002',
    '324705682',
    '2201',
    '421614',
    '31611',
    '72344',
    '181228',
    '51',
    '11142220',
  ].map((id) => `eip155:${id}`),
  SOLANA_DEVNET,
  SOLANA_TESTNET,
])

/** The publishers state the addresses in source code and pages, so newer ones come by an import only. */
export const X402_TOKENS = referenceTable(
  {
    id: 'x402_tokens',
    source_urls: [],
    licence: 'Apache-2.0 (@x402/evm); addresses as Circle publishes them, facts',
    limit_days: 200,
    rows_min: 20,
    rows_max: 2_000,
    removed_share_max: 0.2,
    present: [
      'eip155:1 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      'eip155:8453 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      'eip155:84532 0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    ],
    isRow: rowOf<KnownToken>({
      network: /^[a-z0-9-]{3,8}:[A-Za-z0-9_-]{1,32}$/,
      asset: /^(?:0x[0-9a-fA-F]{40}|[A-Za-z0-9:._-]{3,128})$/,
      symbol: isWords,
      name: orNull(isWords),
      version: orNull(isWords),
      decimals: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 36,
      transfer: /^[a-z0-9_-]{2,30}$/,
    }),
    key: ({ network, asset }) => `${network} ${asset}`,
  },
  () => table,
  ({ rows }) => {
    const by_network: ReadonlyMap<string, readonly KnownToken[]> = Map.groupBy(rows, ({ network }) => network)
    const by_asset = Map.groupBy(rows, ({ asset }) => foldAsset(asset))
    return { by_network, by_asset, known: new Set([...by_network.keys(), ...V1_NETWORKS.values(), ...SOLANA_NETWORKS]) }
  },
)

/** EVM addresses mean the same in any case; all others do not. */
export function foldAsset(asset: string): string {
  return asset.startsWith('0x') ? asset.toLowerCase() : asset
}

export interface X402Network {
  /** CAIP-2. */
  id: string
  family: AddressFamily
  known: boolean
  testnet: boolean
}

/** The genesis hash of Algorand in full, as the scheme for it writes it (scheme_exact_algo); CAIP-2 has room for 32 characters of it. */
const LONG_ALGORAND = /^(algorand:[A-Za-z0-9+/_-]{32})[A-Za-z0-9+/_-]{11}=$/

/** The CAIP-2 id of a network that is written longer than CAIP-2 allows; null for all others. */
export function shortenNetworkId(text: string | null): string | null {
  return LONG_ALGORAND.exec(text ?? '')?.[1] ?? null
}

/** Returns whether a CAIP-2 id fits its namespace: references of eip155 are numbers (CAIP-2 of eip155). Other namespaces pass. */
export function isOfNamespace(text: string): boolean {
  return !text.startsWith('eip155:') || /^eip155:[1-9][0-9]{0,31}$/.test(text)
}

/** The network here: a CAIP-2 id or a name of version 1, in documents of both versions. null for everything else. */
export function networkAt(cursor: JsonCursor): X402Network | null {
  const text = cursor.text()
  const id = V1_NETWORKS.get(text ?? '') ?? shortenNetworkId(text) ?? text
  const parts = readCaip2(id)
  if (id === null || parts === null || !isOfNamespace(id)) return null
  const family = parts.namespace === 'eip155' ? 'evm' : parts.namespace === 'solana' ? 'svm' : 'other'
  return { id, family, known: X402_TOKENS.view.known.has(id), testnet: TESTNETS.has(id) }
}

/** Tokens known on a network; none for a network without any. */
export function tokensOf(network: X402Network): readonly KnownToken[] {
  return X402_TOKENS.view.by_network.get(network.id) ?? []
}

/** Returns whether a text has the form of network names of version 1, to allow for new ones. */
export function hasNetworkNameForm(text: string | null): boolean {
  return text !== null && /^[a-z][a-z0-9-]{1,63}$/.test(text)
}
