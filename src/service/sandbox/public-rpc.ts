import type { SteadyClock } from '../../ports/clock.ts'
import type { NodeAnswer, NodeCall, SandboxNode } from '../../ports/sandbox.ts'
import { isObject } from '../../pure/is-object.ts'
import { createRateGuard, quotaClient, widerNetwork } from '../clients.ts'
import { SANDBOX_RPC_RULES } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'

/** JSON-RPC of a sandbox's chain for anyone: reads, and signed transactions. */
export interface PublicRpc {
  /** Answers a request or a batch. `body` is any JSON value. */
  answer(body: unknown, caller: string): Promise<{ ok: true; body: unknown } | { ok: false; problem: Problem }>
}

interface PublicRpcParts {
  node: Pick<SandboxNode, 'relay'>
  clock: SteadyClock
  onFault(error: unknown): void
}

/** Error codes of JSON-RPC 2.0 and EIP-1474. */
const INVALID_REQUEST = -32_600
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
const LIMIT_EXCEEDED = -32_005

/** Returns the parameters for the node, or what is wrong with those given. `head` is the newest block, known where a log query needs it. */
type Rule = (params: readonly unknown[], head: bigint) => readonly unknown[] | { fault: string }

const { call_gas, log_blocks } = SANDBOX_RPC_RULES

/** At most so many parameters: further ones change the state that a node simulates on, which costs work. */
function upTo(count: number): Rule {
  return (params) => (params.length <= count ? params : { fault: `it takes at most ${count} parameters here; found ${params.length}` })
}

/** Simulation with a bounded amount of gas. */
const simulation: Rule = (params) => {
  const [call, ...rest] = params
  if (!isObject(call)) return { fault: 'the first parameter must be a call object' }
  if (rest.length > 1) return { fault: 'it takes a call and a block here, without overrides of the state' }
  const gas = call['gas'] === undefined ? null : quantityOf(call['gas'])
  if (call['gas'] !== undefined && gas === null) return { fault: 'gas must be a quantity such as "0x5208"' }
  const bounded = gas === null || gas > call_gas ? call_gas : gas
  return [{ ...call, gas: `0x${bounded.toString(16)}` }, ...rest]
}

/** Log query over one block or a bounded range of blocks. */
const logQuery: Rule = (params, head) => {
  const [filter, ...rest] = params
  if (!isObject(filter) || rest.length > 0) return { fault: 'it takes one filter object' }
  if (typeof filter['blockHash'] === 'string') return [filter]
  const [from, to] = [heightOf(filter['fromBlock'], head), heightOf(filter['toBlock'], head)]
  if (from === null || to === null) return { fault: 'fromBlock and toBlock must be quantities such as "0x10", or tags such as "latest"' }
  const blocks = to - from
  return blocks > log_blocks ? { fault: `fromBlock and toBlock may be at most ${log_blocks} blocks apart; found ${blocks}` } : [filter]
}

const HEAD_TAGS: ReadonlySet<unknown> = new Set([undefined, null, 'latest', 'pending', 'safe', 'finalized'])

/** Height of a block; tags other than `earliest` are read as the head. Null for other spellings, which the node may read as any number. */
function heightOf(block: unknown, head: bigint): bigint | null {
  if (block === 'earliest') return 0n
  return HEAD_TAGS.has(block) ? head : quantityOf(block)
}

function quantityOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? BigInt(value) : null
}

/** Offered methods: those that a wallet library needs to read balances and to send a transaction that it signed. No state of the node is changed otherwise. */
const METHODS: ReadonlyMap<string, Rule> = new Map([
  ['eth_blockNumber', upTo(0)],
  ['eth_call', simulation],
  ['eth_chainId', upTo(0)],
  ['eth_estimateGas', simulation],
  ['eth_feeHistory', feeHistory],
  ['eth_gasPrice', upTo(0)],
  ['eth_getBalance', upTo(2)],
  ['eth_getBlockByHash', upTo(2)],
  ['eth_getBlockByNumber', upTo(2)],
  ['eth_getCode', upTo(2)],
  ['eth_getLogs', logQuery],
  ['eth_getStorageAt', upTo(3)],
  ['eth_getTransactionByHash', upTo(1)],
  ['eth_getTransactionCount', upTo(2)],
  ['eth_getTransactionReceipt', upTo(1)],
  ['eth_maxPriorityFeePerGas', upTo(0)],
  ['eth_sendRawTransaction', upTo(1)],
  ['eth_syncing', upTo(0)],
  ['net_version', upTo(0)],
  ['web3_clientVersion', upTo(0)],
])

/** Names of the offered methods, for documentation. */
export const PUBLIC_RPC_METHODS = [...METHODS.keys()]

function feeHistory(params: readonly unknown[]): readonly unknown[] | { fault: string } {
  const [blocks, ...rest] = params
  const count = typeof blocks === 'number' ? BigInt(Math.trunc(blocks)) : quantityOf(blocks)
  if (count === null || count > MOST_FEE_BLOCKS) return { fault: `it takes at most ${MOST_FEE_BLOCKS} blocks` }
  return [`0x${count.toString(16)}`, ...rest]
}

const MOST_FEE_BLOCKS = 128n

type Id = string | number | null
type RpcError = Extract<NodeAnswer, { error: unknown }>['error']

/** A call with its id and the rule's parameters, or the error that answers it. */
type ReadCall = { id: Id; call: NodeCall } | { id: Id; error: RpcError }

/** Creates the public JSON-RPC; counts every call of a batch against the client and its network. */
export function createPublicRpc({ node, clock, onFault }: PublicRpcParts): PublicRpc {
  const clients = createRateGuard(clock, SANDBOX_RPC_RULES.client_per_minute)
  const networks = createRateGuard(clock, SANDBOX_RPC_RULES.network_per_minute)
  const relay = relayInTurns(node)
  const in_flight = new Map<string, number>()
  let all_in_flight = 0
  const admitted = (caller: string, count: number): Problem | null => {
    for (let call = 0; call < count; call++) {
      const [client, network] = [clients(caller), networks(widerNetwork(caller))]
      for (const end of [client, network]) if (!end.ok) return tooMany(end.retry_after_s)
    }
    const own = in_flight.get(quotaClient(caller)) ?? 0
    if (all_in_flight < SANDBOX_RPC_RULES.in_flight && own < SANDBOX_RPC_RULES.client_in_flight) return null
    return problem('OVERLOADED', 'Too many requests wait for the node of this sandbox.', { retry_after_s: SANDBOX_RPC_RULES.retry_s })
  }
  const count = (caller: string, change: 1 | -1) => {
    all_in_flight += change
    const client = quotaClient(caller)
    const own = (in_flight.get(client) ?? 0) + change
    if (own === 0) in_flight.delete(client)
    else in_flight.set(client, own)
  }
  return {
    async answer(body, caller) {
      const batch = Array.isArray(body) ? (body as unknown[]) : null
      if (batch !== null && (batch.length === 0 || batch.length > SANDBOX_RPC_RULES.batch))
        return { ok: true, body: failed(null, batchFault(batch.length)) }
      const refused = admitted(caller, batch?.length ?? 1)
      if (refused !== null) return { ok: false, problem: refused }
      count(caller, 1)
      try {
        const given = batch ?? [body]
        const head = given.some(isLogQuery) ? await headOf(relay) : 0n
        const calls = given.map((one) => readCall(one, head))
        const answers = await answersOf(relay, calls)
        return { ok: true, body: batch === null ? answers[0] : answers }
      } catch (error) {
        onFault(error)
        const detail = 'The chain of this sandbox does not answer. Try again in a moment.'
        return { ok: false, problem: problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: SANDBOX_RPC_RULES.retry_s }) }
      } finally {
        count(caller, -1)
      }
    },
  }
}

type Relay = SandboxNode['relay']

/**
 * Sends calls to the node a few at a time, requests in turns: a simulated call may keep the node busy for some 30 ms, and payments wait for the
 * same node.
 */
function relayInTurns(node: PublicRpcParts['node']): Relay {
  let last: Promise<unknown> = Promise.resolve()
  const relayNext: Relay = (calls) => {
    const done = last.then(() => node.relay(calls))
    last = done.catch(() => undefined)
    return done
  }
  return async (calls) => {
    const answers: NodeAnswer[] = []
    for (let at = 0; at < calls.length; at += SANDBOX_RPC_RULES.at_node)
      answers.push(...(await relayNext(calls.slice(at, at + SANDBOX_RPC_RULES.at_node))))
    return answers
  }
}

function tooMany(retry_after_s: number): Problem {
  const { client_per_minute, network_per_minute } = SANDBOX_RPC_RULES
  const detail = `A client may send ${client_per_minute} JSON-RPC calls a minute, its network ${network_per_minute}.`
  return problem('TEST_NETWORK_RATE_LIMITED', detail, { retry_after_s })
}

function batchFault(length: number): RpcError {
  const message = `A batch has 1 to ${SANDBOX_RPC_RULES.batch} calls; found ${length}.`
  return { code: length === 0 ? INVALID_REQUEST : LIMIT_EXCEEDED, message }
}

function isLogQuery(value: unknown): boolean {
  return isObject(value) && value['method'] === 'eth_getLogs'
}

async function headOf(relay: Relay): Promise<bigint> {
  const [answer] = await relay([{ method: 'eth_blockNumber', params: [] }])
  const head = answer !== undefined && 'result' in answer ? quantityOf(answer.result) : null
  if (head === null) throw new Error('The node does not name its newest block.')
  return head
}

function readCall(value: unknown, head: bigint): ReadCall {
  const given = isObject(value) ? value : {}
  const id = idOf(given['id'])
  const { method, params = [] } = given
  if (typeof method !== 'string' || !Array.isArray(params))
    return { id, error: { code: INVALID_REQUEST, message: 'Expected an object with jsonrpc "2.0", id, method, and params as an array.' } }
  const rule = METHODS.get(method)
  if (rule === undefined) return { id, error: { code: METHOD_NOT_FOUND, message: notOffered(method) } }
  const read = rule(params as unknown[], head)
  if ('fault' in read) return { id, error: { code: INVALID_PARAMS, message: `${method}: ${read.fault}.` } }
  return { id, call: { method, params: read } }
}

const METHOD_SHOWN_CHARS = 60

function notOffered(method: string): string {
  return `${method.slice(0, METHOD_SHOWN_CHARS)} is not offered. This endpoint reads the chain of the sandbox and takes signed transactions: ${PUBLIC_RPC_METHODS.join(', ')}.`
}

function idOf(value: unknown): Id {
  return typeof value === 'string' || typeof value === 'number' ? value : null
}

async function answersOf(relay: Relay, calls: readonly ReadCall[]): Promise<object[]> {
  const sent = calls.flatMap((one) => ('call' in one ? [one.call] : []))
  const answers = sent.length === 0 ? [] : await relay(sent)
  let next = 0
  return calls.map((one) => {
    if ('error' in one) return failed(one.id, one.error)
    const answer = answers[next++]
    if (answer === undefined) throw new Error('The node left a call unanswered.')
    return { jsonrpc: '2.0', id: one.id, ...answer }
  })
}

function failed(id: Id, error: RpcError): object {
  return { jsonrpc: '2.0', id, error }
}
