import type { BodyAccount } from '../../service/admission/bodies.ts'
import { limits } from '../../service/limits.ts'
import { problem, type Problem, type ProblemCode } from '../../service/problems.ts'
import type { Context } from 'hono'
import type { Env } from './reply.ts'
import { isObject } from '../../pure/is-object.ts'
import { decodeUtf8, readStrictJsonForReaders } from '../../pure/documents/strict-json.ts'
import type { StrictJsonFault } from '../../pure/documents/strict-json-scan.ts'
import { acceptsUnwrappedInput } from '../../service/catalogue/decode.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { InputRead } from '../../service/calls/outcome.ts'

/** Body of a request before it is read. */
export interface BodySource {
  /** Content-Length; null for a chunked body. */
  readonly declared_bytes: number | null
  /** Content-Encoding; null or absent if there is none. */
  readonly coding?: string | null
  /** Memory reserved for the body; absent for a request without a connection. */
  readonly account?: BodyAccount | undefined
  /** Returns true for a caller with a payment that its payer has signed; absent where none can be sent. */
  pays?(): boolean
  /** Reads a body that is known to be small. */
  whole(): Promise<Uint8Array>
  chunks(): AsyncIterable<Uint8Array>
}

export type BodyRead = { ok: true; bytes: Uint8Array } | { ok: false; problem: Problem }

/** Decides if a body above the unpaid limit is read; a number is the allowed size in bytes. Called at most once per body; never rejects. */
export type MayReadLarge = () => Promise<boolean | number>

/** Reads at most `body_bytes`. Above the unpaid limit, `mayReadLarge` and the memory for bodies must allow it. */
export async function readBody(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge): Promise<BodyRead> {
  try {
    const { account } = source
    if (account === undefined) return await readBounded(source, body_bytes, mayReadLarge)
    account.reading()
    const reading = readBounded(source, body_bytes, mayReadLarge)
    const cut = account.cut.then((found): BodyRead => ({ ok: false, problem: found }))
    const read = await Promise.race([cut, reading.catch(() => BODY_INCOMPLETE)])
    account.arrived()
    return read
  } catch {
    return BODY_INCOMPLETE
  }
}

/** The client closed the connection or broke the framing. */
const BODY_INCOMPLETE: BodyRead = {
  ok: false,
  problem: problem('REQUEST_MALFORMED', 'The connection closed before the whole body arrived. Send the request again.'),
}

async function readBounded(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge): Promise<BodyRead> {
  const declared = source.declared_bytes
  if (isCompressed(source)) return { ok: false, problem: problem('CONTENT_ENCODING_REFUSED', COMPRESSED_BODY) }
  if (declared !== null && declared > body_bytes) return { ok: false, problem: tooLarge(body_bytes) }
  if (declared !== null && declared <= limits.unpaid_body_bytes) return { ok: true, bytes: await source.whole() }
  const large = new LargeBodyPolicy(source, body_bytes, mayReadLarge)
  if (declared !== null) {
    const refused = await large.grow(declared)
    if (refused !== null) return { ok: false, problem: refused }
  }
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of source.chunks()) {
    total += chunk.length
    const beyond = Math.min(chunk.length, total - limits.unpaid_body_bytes)
    const refused = (await large.grow(total)) ?? (beyond > 0 ? (source.account?.take(beyond) ?? null) : null)
    if (refused !== null) return { ok: false, problem: refused }
    chunks.push(chunk)
  }
  return { ok: true, bytes: Buffer.concat(chunks) }
}

/** Decides how far a body above the unpaid limit is read. */
class LargeBodyPolicy {
  readonly #source: BodySource
  readonly #body_bytes: number
  readonly #mayReadLarge: MayReadLarge
  #allowed: number | null = null

  constructor(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge) {
    this.#source = source
    this.#body_bytes = body_bytes
    this.#mayReadLarge = mayReadLarge
  }

  /** Returns a problem if the body may not have `total` bytes. */
  async grow(total: number): Promise<Problem | null> {
    if (total > this.#body_bytes) return tooLarge(this.#body_bytes)
    if (total <= limits.unpaid_body_bytes) return null
    this.#allowed ??= bytesOf(await this.#mayReadLarge())
    if (total > this.#allowed) return tooLargeUnpaid()
    return this.#source.account?.enlarge(this.#source.pays?.() ?? false) ?? null
  }
}

function bytesOf(allowed: boolean | number): number {
  return allowed === true ? Infinity : allowed === false ? limits.unpaid_body_bytes : allowed
}

const COMPRESSED_BODY = 'Compressed bodies are not supported. Send the body uncompressed, without Content-Encoding.'

/** `identity` is the absence of an encoding (RFC 9110, 8.4.1). */
function isCompressed({ coding }: BodySource): boolean {
  return coding !== undefined && coding !== null && !/^(?:identity)?$/i.test(coding.trim())
}

function tooLarge(bytes: number): Problem {
  return problem('PAYLOAD_TOO_LARGE', `The body may have at most ${bytes} bytes.`)
}

function tooLargeUnpaid(): Problem {
  const detail = `A body of more than ${limits.unpaid_body_bytes} bytes needs a free call or a payment.`
  return problem('PAYLOAD_TOO_LARGE', detail)
}

/** Body of a request that hono serves. */
export function bodyOfRequest({ req: { raw: request }, env }: Context<Env>): BodySource {
  const declared = request.headers.get('content-length')
  return {
    declared_bytes: declared === null ? null : Number(declared),
    coding: request.headers.get('content-encoding'),
    account: env.body_account,
    whole: async () => new Uint8Array(await request.arrayBuffer()),
    async *chunks() {
      if (request.body === null) return
      let ended = false
      try {
        yield* request.body.values({ preventCancel: true })
        ended = true
      } finally {
        if (!ended) void linger(request.body).catch(() => undefined)
      }
    },
  }
}

/** Reads the rest of a refused body: cancelling the stream would block and then reset the connection. */
async function linger(body: ReadableStream<Uint8Array>): Promise<void> {
  let left_bytes: number = limits.linger_bytes
  for await (const chunk of body) {
    left_bytes -= chunk.length
    if (left_bytes < 0) return
  }
}

export type JsonRead = { ok: true; value: unknown } | { ok: false; problem: Problem }

const PROBLEM_OF: Record<StrictJsonFault['code'], ProblemCode> = {
  not_json: 'PARSE_ERROR',
  too_deep: 'JSON_TOO_DEEP',
  too_many_nodes: 'JSON_TOO_MANY_NODES',
  duplicate_key: 'DUPLICATE_KEY',
  lone_surrogate: 'LONE_SURROGATE',
  forbidden_key: 'FORBIDDEN_KEY',
  unsafe_number: 'UNSAFE_NUMBER',
}

/** Limits for reading the JSON of a body. */
export type JsonBounds = Omit<ReadBounds, 'body_bytes'>

/** Parses one JSON value strictly: texts that different parsers could read differently are refused. */
export function readJsonBody(bytes: Uint8Array, bounds: JsonBounds): JsonRead {
  return openJsonBody(bytes, [bounds]).within(bounds)
}

/** Body that is parsed once for several limits. */
export interface OpenJson {
  /** Text of the body; empty if it is not UTF-8. */
  readonly text: string
  /** Result of `readJsonBody` for limits that were given when the body was opened. */
  within(bounds: JsonBounds): JsonRead
}

export function openJsonBody(bytes: Uint8Array, all: readonly JsonBounds[]): OpenJson {
  const text = decodeUtf8(bytes)
  if (text === null) return { text: '', within: () => ({ ok: false, problem: problem('NOT_UTF8', 'Send the body as UTF-8.') }) }
  const read = readStrictJsonForReaders(text, all)
  return {
    text,
    within(bounds) {
      const found = read(bounds)
      return found.ok ? found : { ok: false, problem: faultProblem(found, text) }
    },
  }
}

/** Converts a fault of strict JSON to a problem. */
function faultProblem({ code, position, line, column, message: words }: StrictJsonFault, text: string): Problem {
  const message = /\S/.test(text) ? words : 'The body is empty.'
  const detail = `${message} (line ${line}, column ${column})`
  return problem(PROBLEM_OF[code], detail, { errors: [{ pointer: '', code, message, position, line, column }] })
}

/** Returns `input` of the body, which must be its only member, or the body itself for tools that accept fields at top level. */
export function unwrapInput(value: unknown, tool: string): InputRead {
  const object = isObject(value)
  if (!object || !Object.hasOwn(value, 'input')) {
    return object && acceptsUnwrappedInput(tool) ? { ok: true, input: value, unwrapped: true } : { ok: false, problem: noInput() }
  }
  const { input, ...others } = value as { input: unknown }
  const strays = Object.keys(others).length
  return strays === 0 ? { ok: true, input } : { ok: false, problem: strayKeys(strays) }
}

function noInput(): Problem {
  const message = 'The key "input" is missing. Send an object with the single key "input", such as {"input": {…}}.'
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '/input', code: 'missing', message }] })
}

function strayKeys(count: number): Problem {
  const message = `The body has ${count} unknown key${count === 1 ? '' : 's'} next to "input". Put the fields of the tool under "input".`
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '', code: 'unknown_field', message }] })
}
