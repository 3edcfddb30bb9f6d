/** JSON-RPC to the local node, in one round trip for any number of questions. viem would cost more to load than the chain to start. */

export interface RpcCall {
  method: string
  params: readonly unknown[]
}

export type RpcRequest = (method: string, params?: readonly unknown[]) => Promise<unknown>

/** Longest wait for one answer of the local node. */
const ANSWER_MS = 10_000

interface RpcAnswer {
  id: number
  result?: unknown
  error?: { message: string }
}

/** The results in the order of the calls. Rejects when nobody answers, or with the node's words when it refuses one of them. */
export async function rpcBatch(rpc_url: string, calls: readonly RpcCall[]): Promise<unknown[]> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  const response = await fetch(rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const answers = (await response.json()) as RpcAnswer[]
  return calls.map(({ method }, id) => {
    const answer = answers.find((one) => one.id === id)
    if (answer === undefined || answer.error !== undefined) throw new Error(`${method}: ${answer?.error?.message ?? 'no answer'}`)
    return answer.result
  })
}

/** One question at a time, for callers that need no more. */
export function rpcRequest(rpc_url: string): RpcRequest {
  return async (method, params = []) => (await rpcBatch(rpc_url, [{ method, params }]))[0]
}
