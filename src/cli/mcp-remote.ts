import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isPrivateKey, nobleSigner } from '../adapters/signer/noble.ts'
import { type Answer, type AssayClient, AssayError, type ClientOptions, createClient, type Hex, type Signer } from '../client/index.ts'
import { createAuthorizationDigest } from '../pure/payments/eip3009.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import { CliError } from './errors.ts'
import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { isObject } from '../pure/is-object.ts'
import { SUMMARY } from '../service/catalogue/text.ts'
import { ANSWER_INSTRUCTIONS, type CallParams, type ToolReply, type ToolServerParts } from '../surfaces/mcp/tool-call.ts'
import { CALL_TOOL, isFindTool, type ToolViewRequest } from '../surfaces/mcp/tool-list.ts'
import { VERSION } from '../assembly/deployment.ts'
import type { Invocation } from './commands.ts'
import { remark } from './terminal.ts'

/** A larger file is not a key file. */
const FILE_BYTES_MAX = 4_096

/**
 * Signs payments with the private key in a file: 64 hexadecimal digits, optionally with 0x. Group and others must have no access, because
 * anyone who can read the file can spend the money. Messages never contain any part of the key.
 */
function payerSigner(path: string): Signer {
  const text = readPrivate(path).trim()
  const key = /^(?:0x)?[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text.replace(/^0x/, ''), 'hex') : null
  if (key === null || !isPrivateKey(key))
    throw new CliError('config', `${path} does not hold a private key of 32 bytes as hexadecimal digits.`)
  const signer = nobleSigner(key)
  return {
    address: signer.address as Hex,
    signTypedData: async ({ domain, message }) => {
      const { name, version, chainId: chain_id, verifyingContract: verifying_contract } = domain
      const digest = createAuthorizationDigest({ name, version, chain_id, verifying_contract }, nobleCrypto.keccak256)
      const { from, to, value, validAfter, validBefore, nonce } = message
      return signer.sign(digest({ from, to, value_minor: value, valid_after_s: validAfter, valid_before_s: validBefore, nonce }))
    },
  }
}

/** Checks and reads through one file handle, so that the checked file is the one that is read. */
function readPrivate(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    throw new CliError('no_input', `${path} cannot be read.`)
  }
  try {
    const { mode, size } = fstatSync(file)
    // Windows has no such permission bits.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new CliError('config', `${path} is open to others; "chmod 600" closes it.`)
    if (size > FILE_BYTES_MAX) throw new CliError('config', `${path} is too long for a key file.`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

type Params = CallParams & { readonly arguments?: unknown }

/** Tools of a running service. The client library calls and, within the spending caps, pays for them and verifies each receipt. */
export async function remoteServer(url: string, asked: ToolViewRequest, invocation: Invocation): Promise<ToolServerParts> {
  const client = orUsage(() => createClient({ url, ...walletOf(invocation) }))
  const { endpoint, notice } = await manifestOf(url)
  if (notice !== null) remark(`//// ${notice} ////`)
  const query = new URLSearchParams({
    ...(asked.family === null ? {} : { family: asked.family }),
    ...(asked.form === null ? {} : { tools: asked.form }),
  })
  const ask = (method: string, params: object) => rpc(`${endpoint}?${query.toString()}`, method, params)
  const list = resultOf(await ask('tools/list', {}))?.['tools']
  if (!Array.isArray(list)) throw new CliError('unavailable', 'The service at --url lists no tools; is the family right?')
  return {
    identity: { name: 'assay', title: 'assay', version: VERSION },
    instructions: [notice, SUMMARY, `Calls go to ${url}.`, payingWords(client), ...ANSWER_INSTRUCTIONS]
      .filter((words) => words !== null)
      .join(' '),
    view: () => ({ listed: list as ListedTool[], page: list.length }),
    call: (params) =>
      asked.form !== null && isFindTool(params.name) ? forwarded(ask, params) : called(client, params, asked.form !== null),
  }
}

function walletOf(invocation: Invocation): Pick<ClientOptions, 'signer' | 'spend_cap'> {
  const file = invocation.text('payer-key-file')
  const per_call_usdc = invocation.text('max-usdc')
  const session_usdc = invocation.text('session-usdc')
  if (file === null) {
    if (per_call_usdc !== null || session_usdc !== null) throw new CliError('usage', 'Caps go with --payer-key-file.')
    return {}
  }
  if (per_call_usdc === null || session_usdc === null) {
    throw new CliError('usage', 'A payer key needs both caps: --max-usdc for one call and --session-usdc for all of them.')
  }
  return { signer: payerSigner(file), spend_cap: { per_call_usdc, session_usdc } }
}

function payingWords(client: AssayClient): string {
  const spending = client.spending()
  if (spending === null) return 'Only free calls are made: there is no payer.'
  return `Beyond the free calls a call is paid by itself, at most ${spending.per_call_usdc} USDC each and ${spending.session_usdc} in all.`
}

async function called(client: AssayClient, params: Params, small: boolean): Promise<ToolReply> {
  const inner = small && params.name === CALL_TOOL
  const given = isObject(params.arguments) ? params.arguments : {}
  const tool = inner ? given['tool'] : params.name
  const input = inner ? given['input'] : given
  const { _meta: meta = {} } = params
  const previous = meta['assay/prev-receipt-hash']
  try {
    const options = typeof previous === 'string' ? { previous_receipt: previous } : {}
    const answer = await client.callUntyped(typeof tool === 'string' ? tool : '', isObject(input) ? input : {}, options)
    return { kind: 'answer', text: JSON.stringify(shown(answer)), meta: null }
  } catch (error) {
    if (!(error instanceof AssayError)) throw error
    return { kind: 'problem', text: JSON.stringify(problemShown(error)), meta: null }
  }
}

/** Members of the service's body, without those that the library adds. */
function shown({ result, receipt, chain, tier, settlement, allowance, embeddable_badge, proof_summary_markdown }: Answer): object {
  const link = chain === null ? {} : { chain }
  return { result, receipt, ...link, tier, settlement, allowance, embeddable_badge, proof_summary_markdown }
}

/** Problem of the service or of the library. A payment with an unknown state is included, so that it can be looked up. */
function problemShown({ problem, code, detail, retryable, charged, payment }: AssayError): object {
  const signed = payment === null ? {} : { payment: { payer: payment.payer, nonce: payment.nonce, amount_minor: payment.amount_minor } }
  return { code, detail, retryable, ...problem, charged, ...signed }
}

type Ask = (method: string, params: object) => Promise<unknown>

/** Forwards requests that are not tool calls to the service. */
async function forwarded(ask: Ask, { name, arguments: given }: Params): Promise<ToolReply> {
  const result = resultOf(await ask('tools/call', { name, arguments: isObject(given) ? given : {} }))
  const [first] = Array.isArray(result?.['content']) ? (result['content'] as unknown[]) : []
  const text =
    isObject(first) && typeof first['text'] === 'string' ? first['text'] : JSON.stringify({ detail: 'The service gave no answer.' })
  if (result?.['structuredContent'] === undefined) return { kind: 'problem', text, meta: null }
  // Payment terms are structured content of an error result.
  if (result['isError'] === true) return { kind: 'problem', text, meta: null, has_terms: true }
  return { kind: 'answer', text: JSON.stringify(result['structuredContent']), brief: text, meta: null }
}

function resultOf(reply: unknown): Record<string, unknown> | null {
  const result = isObject(reply) ? reply['result'] : undefined
  return isObject(result) ? result : null
}

/** Reads the MCP address of the service and its notice about real or test money. */
async function manifestOf(url: string): Promise<{ endpoint: string; notice: string | null }> {
  const manifest = await json(`${url.replace(/\/+$/, '')}/.well-known/mcp.json`, {})
  const { endpoint, notice } = isObject(manifest) ? manifest : {}
  if (typeof endpoint !== 'string' || !/^https?:\/\//.test(endpoint)) {
    throw new CliError('unavailable', 'At --url there is no such service: /.well-known/mcp.json names no endpoint.')
  }
  return { endpoint, notice: typeof notice === 'string' ? notice : null }
}

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
}

function rpc(endpoint: string, method: string, params: object): Promise<unknown> {
  return json(endpoint, { method: 'POST', headers: HEADERS, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
}

const ANSWER_MS = 30_000

async function json(url: string, init: RequestInit): Promise<unknown> {
  try {
    const response = await globalThis.fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) })
    return await response.json()
  } catch {
    throw new CliError('unavailable', 'The service at --url does not answer, or not in JSON.')
  }
}

function orUsage<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof AssayError) throw new CliError('usage', error.detail)
    throw error
  }
}
