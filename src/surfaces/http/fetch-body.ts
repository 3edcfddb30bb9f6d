import type { BodySource } from './body.ts'

/** The body of a `Request`. */
export function bodyOfRequest(request: Request): BodySource {
  const declared = request.headers.get('content-length')
  return {
    declared_bytes: declared === null ? null : Number(declared),
    whole: async () => new Uint8Array(await request.arrayBuffer()),
    async *chunks() {
      if (request.body !== null) yield* request.body
    },
  }
}
