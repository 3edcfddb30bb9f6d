import { setTimeout as delay } from 'node:timers/promises'
import { rpcBatch } from './sandbox-process.ts'
import { DEPOSIT_FACTORY, BATCH_SETTLER, DETERMINISTIC_DEPLOYER } from '../../pure/contracts/deployment.ts'
import { CHANNEL_CONTRACTS, testUsdcCreation } from '../../pure/contracts/test-usdc.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'

/** Owner of the sandbox token. Its key is unknown; only the sandbox node, which acts for any address, can mint. */
export const SANDBOX_OWNER = '0x0000000000000000000000000053414e44424f58'

const PAYER_USDC_MINOR = 1_000_000_000n
const WALLET_WEI = 10n ** 19n
const MINT_GAS = 200_000n
const PROBE_MS = 2
const LOOKS = 5_000
const TOTAL_SUPPLY = '0x18160ddd'
const MINT = '0x40c10f19'

export interface Placement {
  token: { address: string }
  /** Address of EURC; left out, there is none. */
  euro?: string | undefined
  payer_address: string
  gas_address: string
}

/** Puts token, contracts and money onto a new chain, and only what is missing onto another. */
export async function placeContracts(rpc_url: string, { token, euro, payer_address, gas_address }: Placement): Promise<void> {
  const [supply] = await rpcBatch(rpc_url, [call({ to: token.address, data: TOTAL_SUPPLY })])
  // Minting comes last, so a supply means that all the rest is there. Without code the call returns nothing.
  const is_new = supply === '0x' || BigInt(String(supply)) === 0n
  if (is_new) {
    await placeCode(rpc_url, token.address, [payer_address, gas_address])
    await mint(rpc_url, token.address, payer_address, PAYER_USDC_MINOR)
  }
  // Also onto a chain of an earlier release, which has everything else.
  const is_placed = await placeDepositFactory(rpc_url)
  await placeChannelContracts(rpc_url)
  const is_euro_new = euro !== undefined && (await placeEuro(rpc_url, token.address, euro))
  if (is_euro_new) await mint(rpc_url, euro, payer_address, PAYER_USDC_MINOR)
  if (!is_new && !is_placed && !is_euro_new) return
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

/** Each text of the test token's code in hexadecimal digits, and that of EURC: name and symbol, the hash of the name, and the chain of the other name. */
const EURO_CODE = [
  [hexText('USDC'), hexText('EURC')],
  [nobleCrypto.keccak256Hex('USDC').slice(2), nobleCrypto.keccak256Hex('EURC').slice(2)],
  // PUSH2 8453: on Base, USDC is called USD Coin.
  ['612105', '61ffff'],
] as const

function hexText(text: string): string {
  return Buffer.from(text).toString('hex')
}

/** Places a token that is called EURC and otherwise is the test USDC, where it is missing; true when this call did. */
export async function placeEuro(rpc_url: string, token: string, euro: string): Promise<boolean> {
  const codes = await rpcBatch(
    rpc_url,
    [token, euro].map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  if (codes[1] !== '0x') return false
  const code = EURO_CODE.reduce((text, [from, to]) => text.replaceAll(from, to), String(codes[0]))
  await rpcBatch(rpc_url, [
    { method: 'anvil_setCode', params: [euro, code] },
    { method: 'anvil_impersonateAccount', params: [SANDBOX_OWNER] },
  ])
  return true
}

/** A real mint with its Transfer event, mined before this resolves with its hash. The chain must mine by itself. */
export async function mint(rpc_url: string, token: string, to: string, amount_minor: bigint): Promise<string> {
  const data = `${MINT}${word(BigInt(to))}${word(amount_minor)}`
  return sendAsOwner(rpc_url, { to: token, data, gas: quantity(MINT_GAS) })
}

/** Runtime code of the deterministic deployer (github.com/Arachnid/deterministic-deployment-proxy, 1.0.0). */
const DEPLOYER_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
const DEPLOY_GAS = 2_000_000n

/** Deploys the factory of deposit addresses where it is missing, through the deterministic deployer; true when this call did. */
export async function placeDepositFactory(rpc_url: string): Promise<boolean> {
  const { address, deploy_calldata } = DEPOSIT_FACTORY
  const [code] = await rpcBatch(rpc_url, [{ method: 'eth_getCode', params: [address, 'latest'] }])
  if (code !== '0x') return false
  await rpcBatch(rpc_url, [
    { method: 'anvil_setCode', params: [DETERMINISTIC_DEPLOYER, DEPLOYER_CODE] },
    { method: 'anvil_impersonateAccount', params: [SANDBOX_OWNER] },
  ])
  await sendAsOwner(rpc_url, { to: DETERMINISTIC_DEPLOYER, data: deploy_calldata, gas: quantity(DEPLOY_GAS) })
  return true
}

/** Places the contracts of payment channels at their addresses on public chains, where they are missing. */
export async function placeChannelContracts(rpc_url: string): Promise<void> {
  const codes = await rpcBatch(
    rpc_url,
    CHANNEL_CONTRACTS.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  for (const [index, { address, creation_code }] of CHANNEL_CONTRACTS.entries()) {
    if (codes[index] !== '0x') continue
    const [code] = await rpcBatch(rpc_url, [call({ data: creation_code })])
    await rpcBatch(rpc_url, [{ method: 'anvil_setCode', params: [address, code] }])
  }
}

interface OwnerTransaction {
  to: string
  data?: string
  value?: string
  gas: string
}

/** Resolves with the hash when the transaction is mined. The node must act for the owner. */
export async function sendAsOwner(rpc_url: string, transaction: OwnerTransaction): Promise<string> {
  const [hash] = await rpcBatch(rpc_url, [{ method: 'eth_sendTransaction', params: [{ from: SANDBOX_OWNER, ...transaction }] }])
  for (let look = 0; look < LOOKS; look += 1) {
    const [receipt] = await rpcBatch(rpc_url, [{ method: 'eth_getTransactionReceipt', params: [hash] }])
    if (receipt !== null) {
      if ((receipt as { status: string }).status !== '0x1') throw new Error('A transaction of the sandbox owner failed.')
      return String(hash)
    }
    await delay(PROBE_MS)
  }
  throw new Error('The sandbox chain does not mine.')
}

function call(request: { to?: string; data: string }) {
  return { method: 'eth_call', params: [request, 'latest'] }
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}
