import { until } from '../support/until.ts'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { encodeFunctionData, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { readRecord, sandboxFiles, type ChainRecord, rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { startSandboxChain, type SandboxChain, type SandboxOptions } from '../../src/adapters/chain/sandbox.ts'
import { USDC } from '../support/anvil.ts'
import { authorization, signTransfer } from '../support/authorization.ts'
import { contract } from '../support/contracts.ts'

export const PAYEE = '0x00000000000000000000000000000000000a11ce'
export const CHAIN_ID = 84532
const TOKEN: Hex = USDC[CHAIN_ID] ?? '0x'
export const payer = privateKeyToAccount(generatePrivateKey())
export const gas_wallet = privateKeyToAccount(generatePrivateKey())

const undoings = new WeakMap<TestContext, (() => unknown)[]>()

/** Undone after the test, the last first: a chain stops before its folder goes. */
function afterwards(t: TestContext, undo: () => unknown): void {
  const list = undoings.get(t) ?? []
  if (list.length === 0) {
    undoings.set(t, list)
    t.after(async () => {
      for (const one of list.toReversed()) await one()
    })
  }
  list.push(undo)
}

/** Options for a chain in a folder of its own, which goes with the test. */
export function options(t: TestContext, other: Partial<SandboxOptions> = {}): SandboxOptions {
  const directory = mkdtempSync(join(tmpdir(), 'assay-sandbox-'))
  afterwards(t, () => rmSync(directory, { recursive: true, force: true }))
  const wallets = { payer_address: payer.address, gas_address: gas_wallet.address }
  return { directory, chain_id: CHAIN_ID, token: { address: TOKEN }, ...wallets, ...other }
}

/** Starts the chain of these options in this process, and stops it with the test at the latest. */
export async function startChain(t: TestContext, order: SandboxOptions): Promise<SandboxChain> {
  const chain = await startSandboxChain(order)
  afterwards(t, chain.stop)
  return chain
}

/** The record of the chain that runs in this folder. */
export function record({ directory }: { directory: string }): ChainRecord {
  const found = readRecord(sandboxFiles(directory).record)
  if (found === null) throw new Error('no chain is recorded')
  return found
}

/** Pays one USDC as the service would: signed by the payer, sent raw by the gas wallet. Returns the hash of the mined transaction. */
export async function pay(rpc_url: string): Promise<string> {
  const rpc = rpcRequest(rpc_url)
  const message = authorization(payer.address, PAYEE, 1_000_000n)
  const signature = await signTransfer(payer, CHAIN_ID, TOKEN, message)
  const { from, to, value, validAfter, validBefore, nonce } = message
  const args = [from, to, value, validAfter, validBefore, nonce, signature]
  const data = encodeFunctionData({ abi: contract('test-usdc').abi, functionName: 'transferWithAuthorization', args })
  const raw = await gas_wallet.signTransaction({
    chainId: CHAIN_ID,
    nonce: Number(await rpc('eth_getTransactionCount', [gas_wallet.address, 'latest'])),
    to: TOKEN,
    data,
    gas: 150_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
  })
  const hash = String(await rpc('eth_sendRawTransaction', [raw]))
  // The node mines by itself, a moment after it has answered.
  await until('the payment to be mined', async () => (await rpc('eth_getTransactionReceipt', [hash])) !== null)
  return hash
}

export async function usdcOf(rpc_url: string, address: string): Promise<bigint> {
  const data = encodeFunctionData({ abi: contract('test-usdc').abi, functionName: 'balanceOf', args: [address] })
  return BigInt(String(await rpcRequest(rpc_url)('eth_call', [{ to: TOKEN, data }, 'latest'])))
}

export interface Service {
  process: ChildProcess
  /** Starts the chain and tells what it got. */
  start(): Promise<{ rpc_url: string; owned: boolean }>
  /** An orderly end. */
  stop(): Promise<void>
  kill(): Promise<void>
}

/** Another process that runs, or joins, the chain of these options; ready to start it. Killed with the test at the latest. */
export async function service(t: TestContext, order: SandboxOptions): Promise<Service> {
  const script = fileURLToPath(new URL('../support/sandbox-worker.ts', import.meta.url))
  const child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  afterwards(t, async () => {
    if (child.kill('SIGKILL')) await exited
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  return {
    process: child,
    async start() {
      child.stdin.write('start\n')
      return JSON.parse(String((await lines.next()).value)) as { rpc_url: string; owned: boolean }
    },
    async stop() {
      child.stdin.end()
      await exited
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
