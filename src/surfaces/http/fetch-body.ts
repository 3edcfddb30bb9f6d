import type { Context } from 'hono'
import { limits } from '../../service/limits.ts'
import type { BodySource } from './body.ts'
import type { Env } from './env.ts'

/** The body of a request that hono serves. */
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

/** Reads what the caller goes on sending of a refused body: a cancelled stream would block the connection, and then reset it. */
async function linger(body: ReadableStream<Uint8Array>): Promise<void> {
  let left_bytes: number = limits.linger_bytes
  for await (const chunk of body) {
    left_bytes -= chunk.length
    if (left_bytes < 0) return
  }
}
