import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isPrivateKey, nobleSigner } from '../adapters/signer/noble.ts'
import type { Signer as DigestSigner } from '../ports/signer.ts'
import {
  type Answer,
  type AssayClient,
  AssayError,
  type ClientOptions,
  createClient,
  type Hex,
  type Payment,
  type Signer,
} from '../client/index.ts'
import { isObject, jsonValue } from '../pure/is-object.ts'
import { readBoundedText } from '../pure/read-bounded.ts'
import { createAuthorizationDigest } from '../pure/payments/eip3009.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { limits } from '../service/limits.ts'
import { type ProblemCode, problem, PROBLEMS } from '../service/problems.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit } from './errors.ts'
import { readJsonFile } from './input.ts'
import { renderAnswer, renderBrief } from './render-answer.ts'
import { printable, problemExit, remark, say, wantsJson } from './terminal.ts'

/** A running service as the target of a command: its client, the payer, answers and errors. */

const PAYING = ['payer-key-file', 'max-usdc', 'session-usdc'] as const

/** Refuses the options of a payer where nothing is paid. */
export function refuseWallet(invocation: Invocation): void {
  const stray = PAYING.find((name) => invocation.text(name) !== null)
  if (stray !== undefined) throw new CliError('usage', `--${stray} goes with --url: what runs here costs nothing.`)
}

/** Client of the service at `url`, which pays within the caps of the options. Throws a CliError for wrong options. */
export function remoteClient(url: string, invocation: Invocation, caps: Caps): AssayClient {
  const wallet = walletOf(invocation, caps)
  try {
    return createClient({ url, ...wallet })
  } catch (error) {
    if (error instanceof AssayError) throw new CliError('usage', error.detail)
    throw error
  }
}

/** A process of one call has one cap; one that serves many has another for all of them. */
type Caps = 'call' | 'call_and_session'

function walletOf(invocation: Invocation, caps: Caps): Pick<ClientOptions, 'signer' | 'spend_cap'> {
  const file = invocation.text('payer-key-file')
  const per_call_usdc = invocation.text('max-usdc')
  const session_usdc = caps === 'call' ? per_call_usdc : invocation.text('session-usdc')
  if (file === null) {
    if (per_call_usdc !== null || session_usdc !== null) throw new CliError('usage', 'Caps go with --payer-key-file.')
    return {}
  }
  if (per_call_usdc !== null && session_usdc !== null) return { signer: payerSigner(file), spend_cap: { per_call_usdc, session_usdc } }
  if (caps === 'call') throw new CliError('usage', 'A payer key needs a cap: --max-usdc, such as 0.05.')
  throw new CliError('usage', 'A payer key needs both caps: --max-usdc for one call and --session-usdc for all of them.')
}

/** The service of --url, without a slash at the end. Throws a CliError if it is missing or no address of a service. */
export function serviceUrl(invocation: Invocation): string {
  const url = invocation.text('url')
  if (url === null) throw new CliError('usage', 'Give the service: --url https://…')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CliError('usage', '--url is the http or https address of a service.')
  return url.endsWith('/') ? url.slice(0, -1) : url
}

const ANSWER_MS = 30_000

/** Answer of a request to a service; `body` is undefined if it is not JSON. */
export interface ServiceAnswer {
  status: number
  text: string
  body: unknown
}

/** Sends a GET request, or a POST request with a JSON body. Redirects are not followed, so that a signature goes nowhere else. */
export async function requestService(url: string, path: string, body?: object): Promise<ServiceAnswer> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const response = await globalThis.fetch(url + path, { ...(body === undefined ? {} : post), redirect: 'error', signal })
    const text = await readBoundedText(response.body, limits.document_body_bytes)
    if (text !== null) return { status: response.status, text, body: jsonValue(text) }
  } catch {
    // Reported below: the reason may contain the address with its secrets.
  }
  throw new CliError('unavailable', 'The service at --url does not answer.')
}

/** A larger file is not a key file. */
const FILE_BYTES_MAX = 4_096

/**
 * Signs with the private key in a file: 64 hexadecimal digits, optionally with 0x. Group and others must have no access, because
 * anyone who can read the file can spend the money. Messages never contain any part of the key.
 */
export function keySigner(path: string): DigestSigner {
  const text = readPrivate(path).trim()
  const key = /^(?:0x)?[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text.replace(/^0x/, ''), 'hex') : null
  if (key === null || !isPrivateKey(key))
    throw new CliError('config', `${path} does not hold a private key of 32 bytes as hexadecimal digits.`)
  return nobleSigner(key)
}

function payerSigner(path: string): Signer {
  const signer = keySigner(path)
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

/** Members of the service's body, without those that the library adds. */
export function shownAnswer({
  result,
  receipt,
  chain,
  tier,
  settlement,
  allowance,
  embeddable_badge,
  proof_summary_markdown,
}: Answer): object {
  const link = chain === null ? {} : { chain }
  return { result, receipt, ...link, tier, settlement, allowance, embeddable_badge, proof_summary_markdown }
}

/** Problem of the service or of the library. A payment with an unknown state is included, so that it can be looked up. */
export function shownError({ problem: sent, code, detail, retryable, charged, payment }: AssayError): object {
  const signed = payment === null ? {} : { payment: { payer: payment.payer, nonce: payment.nonce, amount_minor: payment.amount_minor } }
  return { code, detail, retryable, ...sent, charged, ...signed }
}

/** A call of a service, or a payment that an earlier call signed and whose answer is still to come. */
export type ServiceCall = { tool: string; input: object; previous_receipt: string | null } | { resume: string }

/** `assay call <tool> <input> --url <service>`: one call there, paid within the cap, its receipt verified. */
export async function callService(url: string, invocation: Invocation, catalogue: Catalogue, asked: ServiceCall): Promise<Exit> {
  const json = wantsJson(invocation)
  const client = remoteClient(url, invocation, 'call')
  try {
    const answer = await ('resume' in asked
      ? client.resume(await readPayment(asked.resume))
      : client.callUntyped(asked.tool, asked.input, { previous_receipt: asked.previous_receipt }))
    const tool = catalogue.find(answer.tool)
    if (tool !== undefined && invocation.flag('brief')) say(renderBrief(tool, answer, json))
    else say(json || tool === undefined ? JSON.stringify(shownAnswer(answer)) : renderAnswer(tool, answer))
    return 'ok'
  } catch (error) {
    if (!(error instanceof AssayError)) throw error
    return showError(error, json)
  }
}

/** The payment of a problem that this command has written, or the payment alone; the library checks its members. */
async function readPayment(file: string): Promise<Payment> {
  const value = await readJsonFile(file)
  const payment = isObject(value) && isObject(value['payment']) ? value['payment'] : value
  if (!isObject(payment)) throw new CliError('data', 'The file contains no payment.')
  return payment as unknown as Payment
}

/** A payment whose end is unknown goes to standard output, also as text: it is needed to fetch the answer. */
function showError(error: AssayError, json: boolean): Exit {
  const open = error.charged === 'unknown' ? error.payment : null
  const shown = open === null ? {} : { payment: open }
  if (json || open !== null) say(JSON.stringify({ problem: shownError(error), ...shown }))
  remark(`assay: ${printable(error.detail)}`)
  if (open !== null)
    remark('assay: It may have been paid. Keep the line above in a file, and fetch the answer: assay call --url <service> --resume <file>')
  return exitOf(error.code)
}

/** Codes of the client library for which the service or the network is the reason. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['NETWORK_ERROR', 'KEYS_UNAVAILABLE', 'BAD_RESPONSE', 'REDIRECTED'])
/** An answer or terms that the service should not have sent. */
const DISTRUSTED: ReadonlySet<string> = new Set(['RECEIPT_INVALID', 'TERMS_REFUSED'])

function exitOf(code: string): Exit {
  if (Object.hasOwn(PROBLEMS, code)) return problemExit(problem(code as ProblemCode, ''))
  if (UNAVAILABLE.has(code)) return 'unavailable'
  if (DISTRUSTED.has(code)) return 'negative'
  return code === 'INPUT_NOT_JSON' ? 'data' : 'config'
}
