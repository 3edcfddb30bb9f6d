import { createReadStream } from 'node:fs'
import { readBounded } from '../pure/read-bounded.ts'
import { isObject } from '../pure/is-object.ts'
import type { ReadBounds } from '../service/catalogue/define.ts'
import { limits } from '../service/limits.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readJsonBody } from '../surfaces/http/json-body.ts'
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

/**
 * Bounds of a document that belongs to no tool: its bytes bound its values. A number beyond 2^53 keeps its text, so that it cannot pass
 * for another.
 */
const DOCUMENT: ReadBounds = {
  body_bytes: limits.document_body_bytes,
  depth: limits.json_depth,
  nodes: limits.document_body_bytes,
  unsafe_numbers: 'keep_text',
}

/** One JSON value from a file, or from standard input when the name is `-`. Throws a CliError that says what is wrong where. */
export async function readJsonFile(name: string): Promise<unknown> {
  const bytes = await readBounded(chunksOf(name), DOCUMENT.body_bytes)
  if (bytes === null) throw new CliError('data', `${printable(name)} is larger than ${DOCUMENT.body_bytes} bytes.`)
  return parseDocument(name, bytes)
}

const TEXT_BYTES = 262_144

/** A small text file, or standard input. */
export async function readTextFile(name: string): Promise<string> {
  const bytes = await readBounded(chunksOf(name), TEXT_BYTES)
  if (bytes === null) throw new CliError('data', `${printable(name)} is larger than ${TEXT_BYTES} bytes.`)
  return Buffer.from(bytes).toString('utf8')
}

export function parseDocument(name: string, bytes: Uint8Array): unknown {
  const read = readJsonBody(bytes, DOCUMENT)
  if (!read.ok) throw new CliError('data', `${name === '-' ? 'Standard input' : printable(name)}: ${read.problem.detail}`)
  return read.value
}

/** An input stands alone here, without the wrapper that a body of REST has. */
export function inputObject(value: unknown): { ok: true; input: object } | { ok: false; problem: Problem } {
  if (isObject(value)) return { ok: true, input: value }
  const message = 'An input is one JSON object with the fields of the tool.'
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '', code: 'wrong_type', message }] }) }
}
