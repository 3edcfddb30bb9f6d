import { limits } from '../../service/limits.ts'
import { problem, type Problem } from '../../service/problems.ts'

/** Reads a request body, never more of it than the bound. */
export interface BodySource {
  /** What Content-Length promises; null when the body comes in chunks. */
  readonly declared_bytes: number | null
  /** Content-Encoding as it came; absent or null where there is none. */
  readonly coding?: string | null
  /** The whole of a body that is known to be small. */
  whole(): Promise<Uint8Array>
  chunks(): AsyncIterable<Uint8Array>
}

export type BodyRead = { ok: true; bytes: Uint8Array } | { ok: false; problem: Problem }

/** Whether what lies beyond the unpaid bound is read, asked once at most; a number means so many bytes. Never rejects. */
export type MayReadLarge = () => Promise<boolean | number>

/** Reads up to `body_bytes`; what lies beyond the unpaid bound only as far as `mayReadLarge` allows it. */
export async function readBody(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge): Promise<BodyRead> {
  try {
    return await readBounded(source, body_bytes, mayReadLarge)
  } catch {
    // The client hung up or broke the framing: no accident of ours, and mostly nobody is left to hear of it.
    return { ok: false, problem: problem('REQUEST_MALFORMED', 'The body broke off before its end.') }
  }
}

async function readBounded(source: BodySource, body_bytes: number, mayReadLarge: MayReadLarge): Promise<BodyRead> {
  const declared = source.declared_bytes
  if (isCoded(source)) return { ok: false, problem: problem('CONTENT_ENCODING_REFUSED', CODED) }
  if (declared !== null && declared > body_bytes) return { ok: false, problem: tooLarge(body_bytes) }
  if (declared !== null && declared <= limits.unpaid_body_bytes) return { ok: true, bytes: await source.whole() }
  const chunks: Uint8Array[] = []
  let total = 0
  let allowed: number | null = declared === null ? null : bytesOf(await mayReadLarge())
  if (declared !== null && allowed !== null && declared > allowed) return { ok: false, problem: tooLargeUnpaid() }
  for await (const chunk of source.chunks()) {
    total += chunk.length
    if (total > body_bytes) return { ok: false, problem: tooLarge(body_bytes) }
    if (total > limits.unpaid_body_bytes && total > (allowed ??= bytesOf(await mayReadLarge())))
      return { ok: false, problem: tooLargeUnpaid() }
    chunks.push(chunk)
  }
  return { ok: true, bytes: Buffer.concat(chunks) }
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
