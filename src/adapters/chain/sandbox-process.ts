import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import { readBoundedText } from '../../pure/read-bounded.ts'

/** Files of the sandbox chain in its directory. */
export interface SandboxFiles {
  /** Blocks, transactions, receipts and accounts, as of the last orderly end of the chain or about a second ago. */
  state: string
  /** Names the running chain. */
  record: string
  /** Output of anvil at its start. */
  log: string
  /** Held for as long as a service owns the chain. */
  lock: string
}

export function sandboxFiles(directory: string): SandboxFiles {
  return {
    state: join(directory, 'chain-state.json'),
    record: join(directory, 'anvil.json'),
    log: join(directory, 'anvil.log'),
    lock: join(directory, 'anvil.lock'),
  }
}

export interface ChainRecord {
  pid: number
  /** The process that ends anvil when its service dies; null where there is none. */
  guard_pid: number | null
  rpc_url: string
  chain_id: number
  /** Drawn by each anvil at its start: a chain that answers with it is the very process that the record names. */
  instance_id: string
  /** Machine and folder that it was started for: a copy of the folder names a chain that is another's. */
  machine: string
  folder: string
}

/** Name of the machine and, where the system provides it, of its current boot. */
export function thisMachine(): string {
  try {
    return `${hostname()} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`
  } catch {
    return hostname()
  }
}

/** Null when there is no record, or half of one. */
export function readRecord(path: string): ChainRecord | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ChainRecord
  } catch {
    return null
  }
}

/** Platforms for which @foundry-rs/anvil carries a binary, as Node names them, and the package that holds it. */
const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
}

/** The sandbox chain cannot run here, or did not start; the message says why and what helps. */
export class SandboxChainError extends Error {
  override name = 'SandboxChainError'
}

/** Path of the anvil binary for this machine. Throws a SandboxChainError when there is none. */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = PACKAGES[`${platform}-${arch}`]
  if (name === undefined) {
    const known = Object.keys(PACKAGES).join(', ')
    throw new SandboxChainError(`The sandbox chain runs on ${known}, not on ${platform}-${arch}; use ASSAY_MODE=live with an RPC URL.`)
  }
  const path = binaryIn(name, platform)
  if (path === null) {
    throw new SandboxChainError(
      `The sandbox chain needs the optional package ${name}, which is not installed; run "npm ci" in a checkout, or "npm install @foundry-rs/anvil".`,
    )
  }
  return path
}

function binaryIn(name: string, platform: string): string | null {
  // The package exports nothing, so its folder is found on the path that Node would search.
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  const file = platform === 'win32' ? 'anvil.exe' : 'anvil'
  return folders.map((folder) => `${folder}/${name}/bin/${file}`).find((path) => existsSync(path)) ?? null
}

/** JSON-RPC to the local node, in one round trip for any number of questions. viem would cost more to load than the chain to start. */

interface SandboxRpcCall {
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

/** Sends calls whose ids are their places, and returns the answers as they came. Rejects without a batch of answers within these bounds. */
export async function rawBatch(
  rpc_url: string,
  calls: readonly SandboxRpcCall[],
  within_ms: number,
  most_bytes: number,
): Promise<unknown[]> {
  const response = await post(rpc_url, calls, within_ms)
  const text = await readBoundedText(response.body, most_bytes)
  const answers: unknown = text === null ? null : JSON.parse(text)
  if (!Array.isArray(answers)) throw new Error('The node gave no batch of answers, or too large a one.')
  return answers as unknown[]
}

function post(rpc_url: string, calls: readonly SandboxRpcCall[], within_ms: number): Promise<Response> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  return fetch(rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(within_ms),
  })
}

/** Returns the results in the order of the calls. Rejects without an answer, or with the node's message when it rejects one of them. */
export async function rpcBatch(rpc_url: string, calls: readonly SandboxRpcCall[]): Promise<unknown[]> {
  const response = await post(rpc_url, calls, ANSWER_MS)
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

/** A sandbox head older than this is followed by a new block before anything is read from it. */
const SANDBOX_HEAD_MS = 5_000

export type EnsureFresh = () => Promise<void>

/**
 * A chain that mines only on payments has no new blocks without them, and the time that contracts see would not advance. This mines a
 * block when the head is over 5 s old by the service's clock. Sends at most one request in 5 s, which concurrent callers share. Errs
 * towards stale by the blocks that a revert of the chain removed since the last request.
 */
export function freshener(request: RpcRequest, clock: Clock): EnsureFresh {
  let fresh_until_ms = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null

  async function look(): Promise<void> {
    const head = (await request('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    const now_ms = clock.now_ms()
    // A head from the future must not spare the question for long.
    fresh_until_ms = Math.min(Number(head.timestamp) * 1_000, now_ms) + SANDBOX_HEAD_MS
    if (now_ms <= fresh_until_ms) return
    await request('evm_mine')
    fresh_until_ms = Math.floor(now_ms / 1_000) * 1_000 + SANDBOX_HEAD_MS
  }

  return () => {
    if (clock.now_ms() <= fresh_until_ms) return Promise.resolve()
    looking ??= look().finally(() => {
      looking = null
    })
    return looking
  }
}
