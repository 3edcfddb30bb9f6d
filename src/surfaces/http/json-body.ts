import { isObject } from '../../pure/is-object.ts'
import { decodeUtf8, readForAll, type StrictJsonFault } from '../../pure/documents/strict-json.ts'
import { takesBare } from '../../service/catalogue/bare.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { problem, type Problem, type ProblemCode } from '../../service/problems.ts'

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

/** How the JSON of a body is read. */
export type JsonBounds = Omit<ReadBounds, 'body_bytes'>

/** Bytes to one JSON value, strictly: every reader of this text would have to see the same value. */
export function readJsonBody(bytes: Uint8Array, bounds: JsonBounds): JsonRead {
  return openJsonBody(bytes, [bounds]).within(bounds)
}

/** A body that is read once for several bounds. */
export interface OpenJson {
  /** The body as text; empty when it is not UTF-8. */
  readonly text: string
  /** What `readJsonBody` gives for these bounds, which were named when the body was opened. */
  within(bounds: JsonBounds): JsonRead
}

export function openJsonBody(bytes: Uint8Array, all: readonly JsonBounds[]): OpenJson {
  const text = decodeUtf8(bytes)
  if (text === null) return { text: '', within: () => ({ ok: false, problem: problem('NOT_UTF8', 'Send the body as UTF-8.') }) }
  const read = readForAll(text, all)
  return {
    text,
    within(bounds) {
      const found = read(bounds)
      return found.ok ? found : { ok: false, problem: faultProblem(found, text) }
    },
  }
}

/** A fault of strict reading as the problem of a body. */
function faultProblem({ code, position, line, column, message: words }: StrictJsonFault, text: string): Problem {
  const message = /\S/.test(text) ? words : 'The body is empty.'
  const detail = `${message} (line ${line}, column ${column})`
  return problem(PROBLEM_OF[code], detail, { errors: [{ pointer: '', code, message, position, line, column }] })
}

/** The `input` of a call: the body is an object with exactly that key, or, for a tool that takes them so, the fields themselves. */
export function unwrapInput(value: unknown, tool: string): InputRead {
  const object = isObject(value)
  if (!object || !Object.hasOwn(value, 'input')) {
    return object && takesBare(tool) ? { ok: true, input: value, bare: true } : { ok: false, problem: noInput() }
  }
  const { input, ...others } = value as { input: unknown }
  const strays = Object.keys(others).length
  return strays === 0 ? { ok: true, input } : { ok: false, problem: strayKeys(strays) }
}

function noInput(): Problem {
  const message = 'Send an object with the one key "input", such as {"input": {…}}.'
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '/input', code: 'missing', message }] })
}

function strayKeys(count: number): Problem {
  const message = `Beside "input" the body holds ${count} other key${count === 1 ? '' : 's'}; the fields of the tool go under "input".`
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '', code: 'unknown_field', message }] })
}
