import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { anvilBinary, rpcRequest, type RpcRequest, sandboxFiles } from '../../src/adapters/chain/sandbox-process.ts'
import { inTurn } from './in-turn.ts'
import { mint, placeCode, placeDepositFactory, placeEuro, SANDBOX_OWNER } from '../../src/adapters/chain/sandbox-contracts.ts'
import { launchAnvil } from '../../src/adapters/chain/sandbox.ts'

/** Circle's published addresses of USDC on Base, Base Sepolia and Polygon. */
export const USDC: Readonly<Record<number, `0x${string}`>> = {
  8453: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  84532: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  137: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
}

/** Circle's published addresses of EURC. */
export const EURC: Readonly<Record<number, `0x${string}`>> = {
  8453: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42',
  84532: '0x808456652fdb597867f38412077A9182bf77359F',
}

export interface AnvilOptions {
  /** 8453 unless told otherwise; the token then stands where USDC stands on that chain. */
  chain_id?: number
  /** Accounts made with random keys; ten unless told otherwise. */
  accounts?: number
  /** Ether of each, in wei; 10 ether unless told otherwise. */
  balance_wei?: bigint
}

export interface Anvil {
  rpc_url: string
  chain_id: number
  token: `0x${string}`
  /** The token's owner; nobody has its key, the node acts for it. */
  owner: string
  accounts: PrivateKeyAccount[]
  rpc: RpcRequest
  /** Mints test USDC, or another test token; the chain must mine by itself. */
  mint(to: string, amount_minor: bigint, of?: string): Promise<void>
  /** A transaction of the token's owner, as blacklist(address) or pause(); resolves when mined. */
  asOwner(data: string): Promise<void>
  setCode(address: string, code: string): Promise<void>
  setBalance(address: string, wei: bigint): Promise<void>
  /** Returns what revert takes; a snapshot can be reverted to once. */
  snapshot(): Promise<string>
  revert(snapshot: string): Promise<void>
  mine(blocks?: number): Promise<void>
  automine(on: boolean): Promise<void>
  stop(): Promise<void>
}

/** The test token is called USD Coin on Base alone, as in its code; here it is also on this chain, where USDC has that name. */
async function nameAsOnBase(rpc: RpcRequest, token: string, chain_id: number): Promise<void> {
  const code = String(await rpc('eth_getCode', [token, 'latest']))
  // PUSH2 8453, where the code compares the chain.
  await rpc('anvil_setCode', [token, code.replaceAll('612105', `61${chain_id.toString(16).padStart(4, '0')}`)])
}

/** A chain of its own on a free port, with the test USDC and the batch contract in their places; gone when stopped or when the caller dies. */
export async function startAnvil({ chain_id = 8453, accounts = 10, balance_wei = 10n ** 19n }: AnvilOptions = {}): Promise<Anvil> {
  const token = USDC[chain_id] ?? USDC[8453] ?? '0x'
  const directory = await mkdtemp(join(tmpdir(), 'assay-anvil-'))
  const anvil = await launchAnvil({ binary: anvilBinary(), files: sandboxFiles(directory), chain_id, keeping: 'guarded', port: 0 })
  const { rpc_url } = anvil
  const rpc = rpcRequest(rpc_url)
  const people = Array.from({ length: accounts }, () => privateKeyToAccount(generatePrivateKey()))
  const setBalance = async (address: string, wei: bigint) => void (await rpc('anvil_setBalance', [address, `0x${wei.toString(16)}`]))
  await rpc('anvil_setLoggingEnabled', [false])
  await placeCode(rpc_url, token, [])
  if (chain_id === 137) await nameAsOnBase(rpc, token, chain_id)
  const euro = EURC[chain_id]
  if (euro !== undefined) await placeEuro(rpc_url, token, euro)
  await placeDepositFactory(rpc_url)
  await Promise.all(people.map(({ address }) => setBalance(address, balance_wei)))
  return {
    rpc_url,
    chain_id,
    token,
    owner: SANDBOX_OWNER,
    accounts: people,
    rpc,
    setBalance,
    mint: (to, amount_minor, of = token) => inTurn(SANDBOX_OWNER, async () => void (await mint(rpc_url, of, to, amount_minor))),
    async asOwner(data) {
      await inTurn(SANDBOX_OWNER, () => rpc('eth_sendTransaction', [{ from: SANDBOX_OWNER, to: token, data, gas: '0x30d40' }]))
      await rpc('evm_mine')
    },
    setCode: async (address, code) => void (await rpc('anvil_setCode', [address, code])),
    snapshot: async () => String(await rpc('evm_snapshot')),
    async revert(snapshot) {
      if ((await rpc('evm_revert', [snapshot])) !== true) throw new Error('the snapshot was reverted to before')
    },
    mine: async (blocks = 1) => void (await rpc('anvil_mine', [`0x${blocks.toString(16)}`])),
    automine: async (on) => void (await rpc('evm_setAutomine', [on])),
    async stop() {
      await anvil.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
