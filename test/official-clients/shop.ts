import assert from 'node:assert/strict'
import { createPublicClient, http, keccak256, parseAbi, toBytes, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { base, baseSepolia } from 'viem/chains'
import { readKeyList, verifyReceipt } from '../../src/pure/receipts/index.ts'
import { startTestApp, type TestAppOptions } from '../support/app.ts'
import { asMembers, readJson } from '../support/documents.ts'
import { fund } from '../support/paying.ts'

/** The networks that payments are made on here, with the names that both generations of x402 have for them. */
export const NETWORKS = [
  { chain: baseSepolia, v1: 'base-sepolia', v2: 'eip155:84532' },
  { chain: base, v1: 'base', v2: 'eip155:8453' },
] as const

export type Network = (typeof NETWORKS)[number]

/** A sandbox without free calls, and its chain as viem sees it. */
export interface Shop {
  url: string
  network: Network
  rpc_url: string
  token: Hex
  pay_to: Hex
  /** A new account that holds 1 USDC of the sandbox unless told otherwise. */
  payer(balance_minor?: bigint): Promise<PrivateKeyAccount>
  callUrl(tool: string): string
  stop(): Promise<void>
}

export async function openShop(
  network: Network = NETWORKS[0],
  { settings = {}, ...options }: Pick<TestAppOptions, 'settings' | 'start' | 'data_dir'> = {},
): Promise<Shop> {
  const app = await startTestApp({ ...options, free_daily: 0, settings: { ASSAY_CHAIN_ID: String(network.chain.id), ...settings } })
  const sandbox = asMembers((await readJson(`${app.url}/health`))['sandbox'])
  const rpc_url = String(sandbox['rpc_url'])
  const token = sandbox['usdc'] as Hex
  return {
    url: app.url,
    network,
    rpc_url,
    token,
    pay_to: sandbox['pay_to'] as Hex,
    async payer(balance_minor = 1_000_000n) {
      const payer = privateKeyToAccount(generatePrivateKey())
      await fund(rpc_url, token, payer.address, balance_minor)
      return payer
    },
    callUrl: (tool) => `${app.url}/v1/tools/${tool}/call`,
    stop: () => app.stop(),
  }
}

/** The chain as a stranger reads it. */
export function chainOf({ rpc_url, network }: Pick<Shop, 'rpc_url' | 'network'>) {
  return createPublicClient({ chain: network.chain, transport: http(rpc_url), pollingInterval: 50 })
}

/** ERC-20 and EIP-3009. */
const [TRANSFER, AUTHORIZATION_USED] = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

/** Everything that the token ever saw this account pay, and every authorization that it used up. */
export async function seenOnChain(shop: Shop, payer: Hex) {
  const chain = chainOf(shop)
  const all = { address: shop.token, fromBlock: 0n, toBlock: 'latest', strict: true } as const
  const [transfers, used] = await Promise.all([
    chain.getLogs({ ...all, event: TRANSFER, args: { from: payer } }),
    chain.getLogs({ ...all, event: AUTHORIZATION_USED, args: { authorizer: payer } }),
  ])
  return {
    transfers: transfers.map(({ args, transactionHash: transaction }) => ({ to: args.to.toLowerCase(), value: args.value, transaction })),
    used: used.map(({ args, transactionHash: transaction }) => ({ nonce: args.nonce, transaction })),
  }
}

export async function assertNothingPaid(shop: Shop, payer: Hex): Promise<void> {
  assert.deepEqual(await seenOnChain(shop, payer), { transfers: [], used: [] })
}

interface Bought {
  payer: Hex
  amount_minor: bigint
  tool: string
  /** Members in the order of RFC 8785. */
  input: unknown
  answer: Record<string, unknown>
}

/**
 * One payment on the chain and no other, of exactly the price to the one who is to be paid; and a receipt that says this and covers what
 * was asked and answered. Resolves with the hash of the transaction.
 */
export async function assertBought(shop: Shop, bought: Bought): Promise<Hex> {
  const { payer, amount_minor, answer } = bought
  const { transfers, used } = await seenOnChain(shop, payer)
  const [spent] = used
  assert.ok(spent !== undefined && used.length === 1)
  const { transaction, nonce } = spent
  assert.deepEqual(transfers, [{ to: shop.pay_to.toLowerCase(), value: amount_minor, transaction }])
  assert.equal((await chainOf(shop).getTransactionReceipt({ hash: transaction })).status, 'success')
  const settlement = {
    network: shop.network.v2,
    transaction,
    payer: payer.toLowerCase(),
    amount_minor: String(amount_minor),
    method: 'self',
  }
  assert.deepEqual(answer['settlement'], settlement)
  await assertReceipt(shop, bought, nonce)
  return transaction
}

async function assertReceipt(shop: Shop, { payer, amount_minor, tool, input, answer }: Bought, nonce: Hex): Promise<void> {
  const keys = readKeyList(await readJson(`${shop.url}/.well-known/xdr-1.json`))
  assert.ok(keys !== null)
  const receipt = asMembers(answer['receipt'])
  const verdict = verifyReceipt(receipt, keys)
  assert.deepEqual([verdict.valid, verdict.signer_published, verdict.signer_valid_at_ts, verdict.warnings], [true, true, true, []])
  const { tier, recipient, amount, output_hash, input_hash, payer: named, nonce: bound, tool: used } = receipt
  assert.deepEqual(
    { tier, recipient, amount, output_hash, input_hash, named, bound, used },
    {
      tier: 'paid',
      recipient: shop.pay_to.toLowerCase(),
      amount: String(amount_minor),
      // The members of a result arrive in the order of RFC 8785, so what came is what was hashed.
      output_hash: keccak256(toBytes(JSON.stringify(answer['result']))),
      input_hash: keccak256(toBytes(JSON.stringify(input))),
      named: payer.toLowerCase(),
      bound: nonce,
      used: tool,
    },
  )
  assert.equal(answer['tier'], 'paid')
}

interface Recorder {
  fetch: typeof fetch
  /** Headers of each request in its order. */
  requests: Headers[]
  /** Each response; their bodies can still be read. */
  responses: Response[]
}

/** The global fetch, watched. */
export function recorder(): Recorder {
  const requests: Headers[] = []
  const responses: Response[] = []
  return {
    requests,
    responses,
    fetch: async (input, init) => {
      requests.push(new Request(input instanceof Request ? input.clone() : input, init).headers)
      const response = await fetch(input, init)
      responses.push(response.clone())
      return response
    },
  }
}
