/** The node of a sandbox's own chain, as its faucet and its public JSON-RPC use it. */

export const TEST_TOKENS = ['usdc', 'eurc', 'eth'] as const

/** Tokens of the faucet: two tokens without value, and ether of the sandbox's chain for transactions that a wallet sends itself. */
export type TestToken = (typeof TEST_TOKENS)[number]

/** One JSON-RPC call, without its id. */
export interface NodeCall {
  method: string
  params: readonly unknown[]
}

export type NodeAnswer = { result: unknown } | { error: { code: number; message: string; data?: unknown } }

export interface SandboxNode {
  /** Passes calls on and returns the answers in their order. Rejects when the node gives no usable answer. */
  relay(calls: readonly NodeCall[]): Promise<NodeAnswer[]>
  /** Gives this amount to an address; resolves with the hash of the mined transaction. One call at a time. */
  give(token: TestToken, to: string, amount: bigint): Promise<string>
  /** Balances in the smallest units. */
  balances(address: string): Promise<Readonly<Record<TestToken, bigint>>>
}
