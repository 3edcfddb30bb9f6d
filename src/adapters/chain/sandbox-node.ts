import type { NodeAnswer, NodeCall, SandboxNode, TestToken } from '../../ports/sandbox.ts'
import { isObject } from '../../pure/is-object.ts'
import { SANDBOX_RPC_RULES } from '../../service/limits.ts'
import { mint, SANDBOX_OWNER, sendAsOwner } from './sandbox-contracts.ts'
import { rawBatch, rpcBatch } from './sandbox-process.ts'

const BALANCE_OF = '0x70a08231'
/** The owner pays the fees of what it gives, and the ether itself. It gets more before it runs out. */
const OWNER_LEAST_WEI = 10n ** 18n
const OWNER_WEI = 10n ** 19n
/** Enough for a wallet that is a contract to receive ether. */
const TRANSFER_GAS = 100_000n

interface SandboxNodeOptions {
  rpc_url: string
  /** Contracts of the test tokens. */
  tokens: Readonly<Record<Exclude<TestToken, 'eth'>, string>>
}

/** Access to the local node, which acts for the owner of the test tokens; that account has no known key. */
export function sandboxNode({ rpc_url, tokens }: SandboxNodeOptions): SandboxNode {
  return {
    relay: (calls) => relay(rpc_url, calls),
    async give(token, to, amount) {
      await readyOwner(rpc_url)
      if (token !== 'eth') return mint(rpc_url, tokens[token], to, amount)
      return sendAsOwner(rpc_url, { to, value: quantity(amount), gas: quantity(TRANSFER_GAS) })
    },
    async balances(address) {
      const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`
      const [usdc, eurc, eth] = await rpcBatch(rpc_url, [
        { method: 'eth_call', params: [{ to: tokens.usdc, data }, 'latest'] },
        { method: 'eth_call', params: [{ to: tokens.eurc, data }, 'latest'] },
        { method: 'eth_getBalance', params: [address, 'latest'] },
      ])
      return { usdc: BigInt(String(usdc)), eurc: BigInt(String(eurc)), eth: BigInt(String(eth)) }
    },
  }
}

/** A restarted node no longer acts for the owner, and a chain of an earlier release may have given its ether away. */
async function readyOwner(rpc_url: string): Promise<void> {
  const [, wei] = await rpcBatch(rpc_url, [
    { method: 'anvil_impersonateAccount', params: [SANDBOX_OWNER] },
    { method: 'eth_getBalance', params: [SANDBOX_OWNER, 'latest'] },
  ])
  if (BigInt(String(wei)) >= OWNER_LEAST_WEI) return
  await rpcBatch(rpc_url, [{ method: 'anvil_setBalance', params: [SANDBOX_OWNER, quantity(OWNER_WEI)] }])
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

async function relay(rpc_url: string, calls: readonly NodeCall[]): Promise<NodeAnswer[]> {
  const { attempt_ms, answer_bytes } = SANDBOX_RPC_RULES
  const answers = await rawBatch(rpc_url, calls, attempt_ms, answer_bytes)
  return calls.map((_, id) => answerOf(answers.find((one) => isObject(one) && one['id'] === id)))
}

function answerOf(answer: unknown): NodeAnswer {
  if (isObject(answer) && Object.hasOwn(answer, 'result')) return { result: answer['result'] }
  const error = isObject(answer) ? answer['error'] : null
  if (!isObject(error) || typeof error['code'] !== 'number') throw new Error('The node left a call unanswered.')
  const { code, message, data } = error
  return { error: { code, message: String(message), ...(data === undefined ? {} : { data }) } }
}
