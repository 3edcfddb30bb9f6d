import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'

/** What a caller is told of an input that does not fit: the field, the kind of fault, and what to send. */

const catalogue = await loadCatalogue()

function toolOf(id: string): Tool {
  const tool = catalogue.find(id)
  assert.ok(tool)
  return tool
}

function faults(id: string, input: unknown): (readonly [string, string, string])[] {
  const read = decodeInput(toolOf(id), input)
  return read.ok ? [] : read.problem.errors.map(({ pointer, code, message }) => [pointer, code, message] as const)
}

test('a field that takes several kinds is told apart when it is missing, and its kinds are named', () => {
  assert.deepEqual(faults('iso4217-currency-check', {}), [
    ['/input/currency', 'missing', 'The field "currency" is missing; it must be a string or a number.'],
  ])
  assert.deepEqual(faults('iso4217-currency-check', { currency: true }), [
    ['/input/currency', 'wrong_type', 'The field "currency" must be a string or a number. It is true.'],
  ])
})

test('numbers are at most something, and have nothing', () => {
  assert.deepEqual(faults('iso4217-currency-check', { currency: 1_000 }), [
    ['/input/currency', 'too_big', 'The field "currency" must be at most 999. It is 1000.'],
  ])
  assert.deepEqual(faults('iban-check', { iban: 'x'.repeat(300) })[0]?.slice(0, 2), ['/input/iban', 'too_big'])
  assert.match(faults('iban-check', { iban: 'x'.repeat(300) })[0]?.[2] ?? '', /must have at most \d+ characters/)
})

test('of every tool, a required field that is left out is called missing', () => {
  for (const tool of catalogue.tools) {
    const required = Object.entries(tool.input.shape).filter(([, field]) => !field.safeParse(undefined).success)
    for (const [name] of required) {
      const { [name]: _, ...rest } = tool.example
      const [first] = faults(tool.id, rest).filter(([pointer]) => pointer === `/input/${name}`)
      assert.equal(first?.[1], 'missing', `${tool.id} ${name}`)
    }
  }
})

test('two spellings of an amount may both be there when they say the same', () => {
  const merchant = '0x00000000000000000000000000000000a11ce001'
  assert.deepEqual(faults('create-b2b-invoice', { amount_usdc: 10, amountUsdc: '10.00', merchant }), [])
  assert.equal(faults('create-b2b-invoice', { amount_usdc: 10, amountUsdc: '10.01', merchant }).length, 1)
})
