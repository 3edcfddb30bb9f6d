import assert from 'node:assert/strict'
import canonicalize from 'canonicalize'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { problemSchema } from '../../src/service/catalogue/wire-schemas.ts'
import { PROBLEMS, type ProblemCode } from '../../src/service/problems.ts'
import { newAjv } from '../support/json-schema.ts'
import { MOVING_TOOLS } from '../support/tool-ids.ts'
import type { HostileRequest } from './hostile-requests.ts'
import type { Answer } from './transport.ts'

/** What every answer to a stranger must be: a signed result, a page, or a problem of the table that is the stranger's own. */

const isProblem = newAjv().compile(problemSchema())

/** A problem is a few lines, however long the request was. */
const PROBLEM_CHARS = 12_000

/** Problems that a request alone can never draw from a service in good health. */
const NOT_OURS: readonly ProblemCode[] = [
  'INTERNAL_ERROR',
  'STORE_UNAVAILABLE',
  'UPSTREAM_RPC_UNAVAILABLE',
  'OVERLOADED',
  'REQUEST_TIMEOUT',
]

/** The code of a problem that is well formed, stands in the table, is the caller's and gives nothing back; fails for anything else. */
export function judgeProblemText(text: string, marks: readonly string[]): ProblemCode {
  const body = JSON.parse(text) as Record<string, unknown>
  assert.ok(isProblem(body), JSON.stringify(isProblem.errors))
  const code = String(body['code']) as ProblemCode
  assert.ok(Object.hasOwn(PROBLEMS, code))
  assert.ok(!NOT_OURS.includes(code), `${code}: ${text.slice(0, 300)}`)
  assert.deepEqual([body['status'], body['title'], body['charged']], [PROBLEMS[code].status, PROBLEMS[code].title, false])
  assert.ok(text.length < PROBLEM_CHARS, `a problem of ${text.length} characters`)
  assertUnmarked(text, marks)
  return code
}

export function assertUnmarked(text: string, marks: readonly string[]): void {
  for (const mark of marks) assert.ok(!text.includes(mark), `a stranger's text came back: ${text.slice(0, 300)}`)
}

/** The same for a response. */
export function judgeProblem({ status, headers, text }: Answer, marks: readonly string[]): ProblemCode {
  assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8', text.slice(0, 200))
  const code = judgeProblemText(text, marks)
  assert.equal(status, PROBLEMS[code].status)
  return code
}

/** A result whose receipt is good and covers it; with the input, covers that too. */
export function judgeResult(text: string, input: Record<string, unknown> | null): void {
  const body = JSON.parse(text) as { result: Record<string, unknown>; receipt: Record<string, unknown> }
  assert.equal(verifyReceipt(body.receipt).valid, true)
  assert.equal(body.receipt['output_hash'], nobleCrypto.keccak256Hex(canonicalize(body.result) ?? ''))
  assert.equal(body.receipt['tool'], body.result['tool'])
  if (input !== null) assert.equal(body.receipt['input_hash'], nobleCrypto.keccak256Hex(canonicalize(input) ?? ''))
}

/** One answer; `thorough` also verifies signatures, which costs more than all else. */
export function judge(answer: Answer, { method, path, marks, input }: HostileRequest, thorough: boolean): void {
  const { status, headers } = answer
  // The endpoint for MCP answers in JSON-RPC.
  if (path.startsWith('/mcp') && status === 405) return
  if (method === 'HEAD') {
    assert.ok(status < 500 && answer.text === '')
    if (status >= 400) assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8')
    return
  }
  if (status >= 400) {
    judgeProblem(answer, marks)
    return
  }
  if (method !== 'POST') {
    assert.ok([200, 204, 304].includes(status), String(status))
    return
  }
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  if (thorough) judgeResult(answer.text, input)
}

/** Whether two calls of this path, one after the other, may rightly end differently. */
export function moves(path: string): boolean {
  const tool = /^\/v1\/tools\/([\w-]+)\/call/.exec(path)?.[1] ?? ''
  return MOVING_TOOLS.has(tool.replaceAll('_', '-'))
}

/** What must be the same over both transports. */
export function comparable({ status, text }: Answer): unknown {
  if (status === 200) {
    // The two calls were made one after the other.
    const { evaluated_at: _, ...result } = (JSON.parse(text) as { result: Record<string, unknown> }).result
    return [status, result]
  }
  if (status < 400) return [status]
  const { code, detail, errors } = JSON.parse(text) as Record<string, unknown>
  return [status, code, detail, errors]
}
