import type { Context } from 'hono'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { encodedBody, type EncodedBody } from '../http/encoded.ts'

/** A document as it leaves, put together once. */
export interface StoredDocument {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export const JSON_TYPE = 'application/json; charset=utf-8'

export function storedDocument(type: string, body: string, more: Record<string, string> = {}): StoredDocument {
  // Weak, since a proxy that compresses the body may hand the tag on.
  const etag = `W/"${nobleCrypto.keccak256Hex(body).slice(2, 34)}"`
  return { body, headers: { 'content-type': type, 'cache-control': 'public, max-age=60', etag, ...more } }
}

export function storedJson(value: unknown): StoredDocument {
  return storedDocument(JSON_TYPE, JSON.stringify(value))
}

/** Documents outlive requests, and so do their compressed forms. */
const compressed = new WeakMap<StoredDocument, EncodedBody>()

/** Answers with the document in a coding that the client takes, or with 304 when the client says that it has it (RFC 9110, 13.1.2). */
export async function sendDocument(context: Context, document: StoredDocument): Promise<Response> {
  const { 'content-type': _, ...validators } = document.headers
  const encoded = compressed.get(document) ?? encodedBody(document.body, 'fresh')
  compressed.set(document, encoded)
  const vary = [validators['vary'], encoded.vary['vary']].filter((field) => field !== undefined).join(', ')
  const varied: Record<string, string> = vary === '' ? {} : { vary }
  if (isKnown(context, document.headers['etag'] ?? '')) return context.body(null, 304, { ...validators, ...varied })
  const { body, headers } = await encoded.for(context.req.header('accept-encoding'))
  return context.body(body, 200, { ...document.headers, ...headers, ...varied })
}

/** Whether the client says that it has what bears this tag. Weak comparison: the mark W/ does not count. */
export function isKnown(context: Context, etag: string): boolean {
  const known = context.req.header('if-none-match')
  if (known === undefined) return false
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return known.trim() === '*' || known.split(',').some((tag) => bare(tag) === bare(etag))
}
