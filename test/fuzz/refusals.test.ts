import { rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { readStrictJson } from '../../src/pure/documents/strict-json.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import { limits } from '../../src/service/limits.ts'
import { assertGrowth, assertNotDearer } from './growth.ts'
import { TOOLS } from './tool-inputs.ts'

/** A refusal must not cost the service more than it cost the caller. Each case was once a find. */

const EDGE = { depth: limits.json_depth, nodes: limits.json_nodes }

/** A JSON text of so many members of an object, or values of an array, written by `item`. */
function flood([open, close]: readonly [string, string], count: number, item: (index: number) => string): string {
  return open + Array.from({ length: count }, (_, index) => item(index)).join(',') + close
}

test('what goes on beyond the bound on values is not read: ever more names cost what the first thousands cost', async () => {
  const names = (index: number) => `"${index.toString(36)}":0`
  const floods: Record<string, (count: number) => string> = {
    names: (count) => flood(['{', '}'], count, names),
    'names that are numbers': (count) => flood(['{', '}'], count, (index) => `"${4_294_967_290 - index}":0`),
    'names with escapes': (count) => flood(['{', '}'], count, (index) => `"\\u0061${index}":0`),
    texts: (count) => flood(['[', ']'], count, () => '""'),
  }
  for (const [name, text] of Object.entries(floods)) {
    const [few, many] = [text(limits.json_nodes + 1), text(12 * limits.json_nodes)]
    const read = (given: string) => () => readStrictJson(given, EDGE)
    await assertNotDearer(name, read(many), read(few), 8)
  }
})

test('telling what is wrong with thousands of unknown fields costs little more than finding them', async () => {
  const input = Object.fromEntries(Array.from({ length: limits.json_nodes }, (_, index) => [`${'receip'.padEnd(50, 't')}${index}`, 0]))
  for (const tool of TOOLS) {
    await assertNotDearer(
      tool.id,
      () => decodeInput(tool, input),
      () => tool.input.safeParse(input),
      12,
    )
  }
})

test('the measure tells squared work from linear', async () => {
  const loop = (steps: number) => () => {
    let sum = 0
    for (let step = 0; step < steps; step++) sum = (sum * 31 + step) | 0
    return sum
  }
  await assertGrowth('linear', 1_024, (size) => loop(size * 20))
  await rejects(
    assertGrowth('squared', 64, (size) => loop(size ** 2)),
    /16 times the input cost over/,
  )
})
