import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseSignature,
  type Abi,
  type Hex,
  type PrivateKeyAccount,
} from 'viem'
import type { Anvil } from '../support/anvil.ts'
import { signTransfer, type Authorization } from '../support/authorization.ts'
import { contract } from '../support/contracts.ts'
import { until } from '../support/settlement.ts'

/**
 * A chain seen through viem. Every transaction is mined when its promise resolves, and has left the node's pool: a receipt can be read
 * before it has, and a transaction that follows a revert in that instant would get a wrong account nonce, or be taken for the one mined.
 */
export function clientsOf(anvil: Anvil) {
  const chain = defineChain({
    id: anvil.chain_id,
    name: 'test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [anvil.rpc_url] } },
  })
  const reader = createPublicClient({ chain, transport: http(), pollingInterval: 5, cacheTime: 0 })
  const wallet = createWalletClient({ chain, transport: http() })
  const send = async (account: PrivateKeyAccount, to: Hex | null, data: Hex, gas?: bigint) => {
    const hash = await wallet.sendTransaction({ account, to, data, ...(gas === undefined ? {} : { gas }) })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    await until('the pool is empty', async () => poolSize(await anvil.rpc('txpool_status')) === 0)
    return receipt
  }
  return { chain, reader, send }
}

export type Clients = ReturnType<typeof clientsOf>

const usdc = contract('test-usdc').abi

function poolSize(status: unknown): number {
  const { pending, queued } = status as Record<'pending' | 'queued', string>
  return Number(pending) + Number(queued)
}

/** What a view of the token returns. */
export function view(clients: Clients, address: Hex, functionName: string, args: unknown[] = [], abi: Abi = usdc): Promise<unknown> {
  return clients.reader.readContract({ address, abi, functionName, args })
}

/** The arguments of a signed transfer: with the signature split, as wallets of one key send it, or whole. */
export async function signedArguments(anvil: Anvil, signer: PrivateKeyAccount, message: Authorization, form: 'split' | 'bytes') {
  const signature = await signTransfer(signer, anvil.chain_id, anvil.token, message)
  return argumentsOf(message, signature, form)
}

export function argumentsOf(message: Authorization, signature: Hex, form: 'split' | 'bytes'): readonly unknown[] {
  const { from, to, value, validAfter, validBefore, nonce } = message
  const head = [from, to, value, validAfter, validBefore, nonce]
  if (form === 'bytes') return [...head, signature]
  const { r, s, yParity } = parseSignature(signature)
  return [...head, 27 + yParity, r, s]
}

/** The text, or the name of the error, with which a call of the token reverts; null when it succeeds. */
export async function revertOf(
  clients: Clients,
  address: Hex,
  functionName: string,
  args: readonly unknown[],
  account?: Hex,
): Promise<string | null> {
  try {
    await clients.reader.simulateContract({ address, abi: usdc, functionName, args, ...(account === undefined ? {} : { account }) })
    return null
  } catch (error) {
    const cause = error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
    if (!(cause instanceof ContractFunctionRevertedError)) throw error
    return cause.reason ?? cause.data?.errorName ?? 'no reason'
  }
}
