/** The chain of the `settlement` suite: an anvil that begins with the base fee of Base, with the test USDC in its place. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { anvilBinary, rpcRequest, type RpcRequest } from '../src/adapters/chain/sandbox-process.ts'
import { usdcOn } from '../src/pure/payments/usdc.ts'
import { placeCode } from '../src/adapters/chain/sandbox-contracts.ts'

export const CHAIN_ID = 8453
/** 0.006 gwei, a reading of Base in autumn 2026. The node alone would begin with 1 gwei. */
const BASE_FEE_WEI = '6000000'
const FEES = ['--block-base-fee-per-gas', BASE_FEE_WEI, '--disable-min-priority-fee']
const PLAIN = ['--host', '127.0.0.1', '--port', '0', '--accounts', '0', '--color', 'never', '--slots-in-an-epoch', '1']

export interface BenchChain {
  rpc_url: string
  rpc: RpcRequest
  token: string
  stop(): Promise<void>
}

export async function startChain(): Promise<BenchChain> {
  const child = spawn(anvilBinary(), [...PLAIN, '--chain-id', String(CHAIN_ID), ...FEES], { stdio: ['ignore', 'pipe', 'ignore'] })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const rpc_url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`anvil ended: ${said.slice(-500)}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      if (said.length < 10_000) said += chunk.toString()
      const address = /^Listening on (127\.0\.0\.1:\d+)\s/m.exec(said)?.[1]
      if (address !== undefined) resolve(`http://${address}`)
    })
  })
  const rpc = rpcRequest(rpc_url)
  const token = usdcOn(CHAIN_ID).address
  await rpc('anvil_setLoggingEnabled', [false])
  await placeCode(rpc_url, token, [])
  return {
    rpc_url,
    rpc,
    token,
    async stop() {
      process.off('exit', kill)
      const gone = once(child, 'exit')
      kill()
      await gone
    },
  }
}
