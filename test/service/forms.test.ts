import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { decodeInput, formOf } from '../../src/service/catalogue/decode.ts'
import { toolSchemas } from '../../src/service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { ENDPOINT_GROUPS } from '../../src/surfaces/endpoint-groups.ts'

const { tools } = await loadCatalogue()

/** Every pattern in a schema, with the names of the fields on the way to it. */
function patternsOf(node: unknown, path: string[] = []): { pattern: string; path: string[] }[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]) =>
    name === 'pattern' && typeof value === 'string' ? [{ pattern: value, path }] : patternsOf(value, [...path, name]),
  )
}

function assertWords(pattern: string, place: string): void {
  const words = formOf(`/${pattern}/`)
  assert.ok(words !== null, `${place}: add words for ${pattern} to src/service/catalogue/decode.ts`)
  const example = /for example (\S+?)(?:[,;]? |[,;]?$)/.exec(words)?.[1] ?? ''
  assert.match(example, new RegExp(pattern), `${place}: ${words}`)
  assert.doesNotMatch(words, /\\|\(\?|\]\{|\^/)
}

test('every pattern of an input has words and an example that fits it', () => {
  const found = tools.flatMap((tool) => patternsOf(toolSchemas(tool).input).map(({ pattern }) => ({ pattern, place: tool.id })))
  assert.ok(found.length > 20)
  for (const { pattern, place } of found) assertWords(pattern, place)
})

test('every pattern of a request to another endpoint has words and an example that fits it', () => {
  const schemas = ENDPOINT_GROUPS.flatMap(({ endpoints }) => endpoints).flatMap(({ path, body, query = {}, headers = {} }) => {
    const read = body === undefined || body.read_by_run === true ? [] : [body.schema]
    return [...read, ...Object.values(query), ...Object.values(headers)].map((schema) => ({ path, schema }))
  })
  const found = schemas.flatMap(({ path, schema }) =>
    patternsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })).map(({ pattern }) => ({ pattern, path })),
  )
  assert.ok(found.length > 10)
  for (const { pattern, path } of found) assertWords(pattern, path)
})

function faultOf(id: string, change: Record<string, unknown>) {
  const tool = tools.find((one) => one.id === id)
  assert.ok(tool !== undefined)
  const decoded = decodeInput(tool, { ...tool.example, ...change })
  assert.ok(!decoded.ok)
  const [error] = (decoded.problem as { errors?: { code: string; message: string; pointer: string }[] }).errors ?? []
  return error
}

test('a text of a wrong form is told the expected form with an example and its own length, and no regular expression', () => {
  assert.deepEqual(faultOf('erc20-balance', { address: '0x123' }), {
    pointer: '/input/address',
    code: 'wrong_format',
    message:
      'The field "address" must be 0x and 40 hexadecimal digits, for example 0x1000000000000000000000000000000000000001. It is a string of 5 characters.',
  })
  assert.deepEqual(faultOf('pre-disbursement-guard', { invoice_amount_usd: '1,250.50' }), {
    pointer: '/input/invoice_amount_usd',
    code: 'wrong_format',
    message:
      'The field "invoice_amount_usd" must be decimal text with a point and no separators, for example 1250.50. It is a string of 8 characters.',
  })
  assert.equal(
    faultOf('pre-disbursement-guard', { invoice_amount_usd: true })?.message,
    'The field "invoice_amount_usd" must be a number or a string. It is true.',
  )
})
