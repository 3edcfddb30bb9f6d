import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogueOf } from '../../src/service/catalogue/load.ts'
import type { ReadBounds, Tool } from '../../src/service/catalogue/define.ts'
import { createMessageReader, readToolArguments } from '../../src/surfaces/json-rpc.ts'

/** Tools with bounds of their own, of which the reader looks at nothing else. */
const ORDINARY: ReadBounds = { body_bytes: 1_048_576, depth: 64, nodes: 20_000, unsafe_numbers: 'refuse' }
const LITERAL: ReadBounds = { body_bytes: 5 * 1_048_576, depth: 128, nodes: 40_000, unsafe_numbers: 'keep_text' }
const NARROW: ReadBounds = { body_bytes: 200, depth: 3, nodes: 20_000, unsafe_numbers: 'refuse' }

const catalogue = (...bounds: ReadBounds[]) => catalogueOf(bounds.map((one, index) => ({ id: `tool-${index}`, bounds: one }) as Tool))
const always = () => Promise.resolve(true)

function source(text: string) {
  const bytes = new TextEncoder().encode(text)
  return {
    declared_bytes: bytes.length,
    whole: () => Promise.resolve(bytes),
    chunks: async function* () {
      yield bytes
    },
  }
}

function callText(input: string, method = 'tools/call'): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"name":"tool-0","arguments":${input}}}`
}

async function outcome(text: string, tool: ReadBounds, others: ReadBounds[]) {
  const read = await createMessageReader(catalogue(tool, ...others))(source(text), { mayReadLarge: always })
  if (!read.ok) return { at: 'message', code: read.problem.code }
  const found = readToolArguments(read.message, tool)
  return found.ok ? { at: 'arguments', input: found.input } : { at: 'arguments', code: found.problem.code }
}

test('an id beyond 2^53 is refused, since no answer could name it; a text that looks like one is a text', async () => {
  const read = createMessageReader(catalogue(LITERAL))
  const text = (id: string) => callText('{"n":12345678901234567890}').replace('"id":1', `"id":${id}`)
  for (const id of ['9007199254740993', '-12345678901234567890', '1e400']) {
    const found = await read(source(text(id)), { mayReadLarge: always })
    assert.equal(found.ok ? 'read' : found.problem.code, 'UNSAFE_NUMBER', id)
  }
  for (const id of ['"9007199254740993"', '9007199254740991', '"1 \\u0061"'])
    assert.ok((await read(source(text(id)), { mayReadLarge: always })).ok, id)
})

test('numbers beyond 2^53 reach only the tools that keep their text', async () => {
  const text = callText('{"n":12345678901234567890}')
  assert.deepEqual(await outcome(text, ORDINARY, []), { at: 'message', code: 'UNSAFE_NUMBER' })
  assert.deepEqual(await outcome(text, ORDINARY, [LITERAL]), { at: 'arguments', code: 'UNSAFE_NUMBER' })
  assert.deepEqual(await outcome(text, LITERAL, [ORDINARY]), { at: 'arguments', input: { n: '12345678901234567890' } })
})

test('a tool with a keeping reader still gets plain numbers as numbers', async () => {
  assert.deepEqual(await outcome(callText('{"n":12}'), LITERAL, [ORDINARY]), { at: 'arguments', input: { n: 12 } })
})

test('other messages never enjoy the wider bounds of a tool', async () => {
  const text = callText('{"n":12345678901234567890}', 'tools/list')
  assert.deepEqual(await outcome(text, LITERAL, []), { at: 'message', code: 'UNSAFE_NUMBER' })
})

test('narrower bounds hold too', async () => {
  assert.deepEqual(await outcome(callText('{"a":[[[[]]]]}'), NARROW, []), { at: 'arguments', code: 'JSON_TOO_DEEP' })
  assert.deepEqual(await outcome(callText(`{"a":"${'x'.repeat(200)}"}`), NARROW, []), { at: 'arguments', code: 'PAYLOAD_TOO_LARGE' })
  assert.deepEqual(await outcome(callText('{"a":1}'), NARROW, []), { at: 'arguments', input: { a: 1 } })
})

test('arguments that are left out are an empty object', async () => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool-0"}}'
  assert.deepEqual(await outcome(text, ORDINARY, []), { at: 'arguments', input: {} })
})

test('the text of a message is parsed once, whichever bounds decide in the end', async (context) => {
  const parse = context.mock.method(JSON, 'parse')
  const wide: ReadBounds = { ...ORDINARY, nodes: 40_000 }
  const text = callText(`{"a":[${'1,'.repeat(30_000)}1]}`)
  assert.equal((await outcome(text, wide, [LITERAL, NARROW])).at, 'arguments')
  assert.equal(parse.mock.calls.filter(({ arguments: [given] }) => given === text).length, 1)
})
