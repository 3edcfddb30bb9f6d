import { setTimeout as delay } from 'node:timers/promises'
import { BATCH_SETTLER } from '../../pure/contracts/batch-settler.ts'
import { testUsdcCreation } from '../../pure/contracts/test-usdc.ts'
import { rpcBatch, type RpcCall } from './sandbox-rpc.ts'

/** Owner of the sandbox token. Nobody has its key; only the sandbox node, which acts for any address, can mint. */
export const SANDBOX_OWNER = '0x0000000000000000000000000053414e44424f58'

const PAYER_USDC_MINOR = 1_000_000_000n
const WALLET_WEI = 10n ** 19n
const MINT_GAS = 200_000n
const LOOK_MS = 2
const LOOKS = 5_000
const TOTAL_SUPPLY = '0x18160ddd'
const MINT = '0x40c10f19'

export interface Placement {
  token: { address: string }
  payer_address: string
  gas_address: string
}

/** Puts token, batch contract and money onto a new chain; leaves a chain alone that has them. */
export async function place(rpc_url: string, { token, payer_address, gas_address }: Placement): Promise<void> {
  const [supply] = await rpcBatch(rpc_url, [call({ to: token.address, data: TOTAL_SUPPLY })])
  // Minting comes last, so a supply means that all the rest is there. Without code the call returns nothing.
  if (supply !== '0x' && BigInt(String(supply)) > 0n) return
  await placeCode(rpc_url, token.address, [payer_address, gas_address])
  await mint(rpc_url, token.address, payer_address, PAYER_USDC_MINOR)
  await rpcBatch(rpc_url, [{ method: 'anvil_stopImpersonatingAccount', params: [SANDBOX_OWNER] }])
}

/**
 * Places token and batch contract, gives each of `wallets` 10 ETH, and lets the node act as the token's owner. Creation code is run without a
 * transaction: what it returns is what a deployment would have stored, immutables filled.
 */
export async function placeCode(rpc_url: string, token: string, wallets: readonly string[]): Promise<void> {
  const creations = [testUsdcCreation(SANDBOX_OWNER), BATCH_SETTLER.creation_code]
  const [token_code, batch_code] = await rpcBatch(
    rpc_url,
    creations.map((data) => call({ data })),
  )
  await rpcBatch(rpc_url, [
    { method: 'anvil_setCode', params: [token, token_code] },
    { method: 'anvil_setCode', params: [BATCH_SETTLER.address, batch_code] },
    ...[SANDBOX_OWNER, ...wallets].map((address) => ({ method: 'anvil_setBalance', params: [address, quantity(WALLET_WEI)] })),
    { method: 'anvil_impersonateAccount', params: [SANDBOX_OWNER] },
  ])
}

/** A real mint with its Transfer event, mined before this resolves. The chain must mine by itself. */
export async function mint(rpc_url: string, token: string, to: string, amount_minor: bigint): Promise<void> {
  const data = `${MINT}${word(BigInt(to))}${word(amount_minor)}`
  const transaction = { from: SANDBOX_OWNER, to: token, data, gas: quantity(MINT_GAS) }
  const [hash] = await rpcBatch(rpc_url, [{ method: 'eth_sendTransaction', params: [transaction] }])
  for (let look = 0; look < LOOKS; look += 1) {
    const [receipt] = await rpcBatch(rpc_url, [{ method: 'eth_getTransactionReceipt', params: [hash] }])
    if (receipt !== null) {
      if ((receipt as { status: string }).status !== '0x1') throw new Error('The sandbox token refused to mint.')
      return
    }
    await delay(LOOK_MS)
  }
  throw new Error('The sandbox chain does not mine.')
}

function call(request: { to?: string; data: string }): RpcCall {
  return { method: 'eth_call', params: [request, 'latest'] }
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}
