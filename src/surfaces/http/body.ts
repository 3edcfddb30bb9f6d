import type { BodyAccount } from '../../service/admission/bodies.ts'
import { limits } from '../../service/limits.ts'
import { problem, type Problem } from '../../service/problems.ts'

/** Reads a request body, never more of it than the bound. */
export interface BodySource {
  /** Content-Length; null when the body comes in chunks. */
  readonly declared_bytes: number | null
  /** Content-Encoding as it came; absent or null where there is none. */
  readonly coding?: string | null
  /** Memory that the body may hold; absent for a request that did not come over a connection. */
  readonly account?: BodyAccount | undefined
  /** The whole of a body that is known to be small. */
  whole(): Promise<Uint8Array>
  chunks(): AsyncIterable<Uint8Array>
}

export type BodyRead = { ok: true; bytes: Uint8Array } | { ok: false; problem: Problem }

/** Whether what lies beyond the unpaid bound is read, asked once at most; a number means so many bytes. Never rejects. */
export type MayReadLarge = () => Promise<boolean | number>

/** Reads up to `body_bytes`; what lies beyond the unpaid bound only as far as `mayReadLarge` and the memory for bodies allow it. */
export async function readBody(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge): Promise<BodyRead> {
  try {
    const { account } = source
    if (account === undefined) return await readBounded(source, body_bytes, mayReadLarge)
    account.reading()
    const reading = readBounded(source, body_bytes, mayReadLarge)
    const cut = account.cut.then((found): BodyRead => ({ ok: false, problem: found }))
    const read = await Promise.race([cut, reading.catch(() => BROKEN_OFF)])
    account.arrived()
    return read
  } catch {
    return BROKEN_OFF
  }
}

/** The client closed the connection or broke the framing. */
const BROKEN_OFF: BodyRead = { ok: false, problem: problem('REQUEST_MALFORMED', 'The body broke off before its end.') }

async function readBounded(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge): Promise<BodyRead> {
  const declared = source.declared_bytes
  if (isCoded(source)) return { ok: false, problem: problem('CONTENT_ENCODING_REFUSED', CODED) }
  if (declared !== null && declared > body_bytes) return { ok: false, problem: tooLarge(body_bytes) }
  if (declared !== null && declared <= limits.unpaid_body_bytes) return { ok: true, bytes: await source.whole() }
  const large = new LargeBody(source, body_bytes, mayReadLarge)
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

/** Decides how far a body is read that may exceed the unpaid bound. */
class LargeBody {
  readonly #source: BodySource
  readonly #body_bytes: number
  readonly #mayReadLarge: MayReadLarge
  #allowed: number | null = null

  constructor(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge) {
    this.#source = source
    this.#body_bytes = body_bytes
    this.#mayReadLarge = mayReadLarge
  }

  /** Whether the body may have so many bytes; the refusal if not. */
  async grow(total: number): Promise<Problem | null> {
    if (total > this.#body_bytes) return tooLarge(this.#body_bytes)
    if (total <= limits.unpaid_body_bytes) return null
    this.#allowed ??= bytesOf(await this.#mayReadLarge())
    if (total > this.#allowed) return tooLargeUnpaid()
    return this.#source.account?.enlarge() ?? null
  }
}

function bytesOf(allowed: boolean | number): number {
  return allowed === true ? Infinity : allowed === false ? limits.unpaid_body_bytes : allowed
}

const CODED = 'Content-Encoding says that the body is compressed. Send it plain, without that header.'

/** `identity` says that nothing was done to the body (RFC 9110, 8.4.1). */
function isCoded({ coding }: BodySource): boolean {
  return coding !== undefined && coding !== null && !/^(?:identity)?$/i.test(coding.trim())
}

function tooLarge(bytes: number): Problem {
  return problem('PAYLOAD_TOO_LARGE', `This address reads bodies of at most ${bytes} bytes.`)
}

function tooLargeUnpaid(): Problem {
  const detail = `A body beyond ${limits.unpaid_body_bytes} bytes is read only while free calls are left, or with a payment.`
  return problem('PAYLOAD_TOO_LARGE', detail)
}
