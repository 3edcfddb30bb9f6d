import { createReadStream } from 'node:fs'
import type { ReadBounds } from '../service/catalogue/define.ts'
import { limits } from '../service/limits.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readJsonBody } from '../surfaces/http/json-body.ts'
import { readBody, type BodyRead } from '../surfaces/http/body.ts'
import { CliError } from './exit-codes.ts'
import { printable } from './terminal.ts'

/** The bytes of a file, or of standard input when the name is `-`. Throws a CliError when it cannot be read. */
export async function* chunksOf(name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* name === '-' ? process.stdin : createReadStream(name)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw new CliError('no_input', `${name === '-' ? 'Standard input' : printable(name)} cannot be read (${code}).`)
  }
}

/** At most `body_bytes` of them. */
export function readBounded(chunks: AsyncIterable<Uint8Array>, body_bytes: number): Promise<BodyRead> {
  const source = { declared_bytes: null, chunks: () => chunks, whole: () => Promise.reject(new Error('not asked for')) }
  return readBody(source, body_bytes, () => Promise.resolve(true))
}

/** Bounds of a document that belongs to no tool: its bytes bound its values. A number beyond 2^53 keeps its text, so that it cannot pass for another. */
const DOCUMENT: ReadBounds = {
  body_bytes: limits.document_body_bytes,
  depth: limits.json_depth,
  nodes: limits.document_body_bytes,
  unsafe_numbers: 'keep_text',
}

/** One JSON value from a file, or from standard input when the name is `-`. Throws a CliError that says what is wrong where. */
export async function readJsonFile(name: string, bounds: ReadBounds = DOCUMENT): Promise<unknown> {
  const read = await readBounded(chunksOf(name), bounds.body_bytes)
  if (!read.ok) throw new CliError('data', `${printable(name)} is larger than ${bounds.body_bytes} bytes.`)
  return parseDocument(name, read.bytes, bounds)
}

export function parseDocument(name: string, bytes: Uint8Array, bounds: ReadBounds = DOCUMENT): unknown {
  const read = readJsonBody(bytes, bounds)
  if (!read.ok) throw new CliError('data', `${name === '-' ? 'Standard input' : printable(name)}: ${read.problem.detail}`)
  return read.value
}

/** An input stands alone here, without the wrapper that a body of REST has. */
export function inputObject(value: unknown): { ok: true; input: object } | { ok: false; problem: Problem } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, input: value }
  const message = 'An input is one JSON object with the fields of the tool.'
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '', code: 'wrong_type', message }] }) }
}
