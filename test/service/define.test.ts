import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { defineTool, PURE } from '../../src/service/catalogue/define.ts'
import { fixedSources } from '../support/sources.ts'

const WORDS = {
  id: 'sample',
  title: 'Sample',
  description: 'For this test.',
  family: 'text',
  version: '1.0.0',
  price: 'check',
  annotations: PURE,
  scope: { checked: ['this'], not_checked: ['that'] },
} as const

const IO = {
  input: z.strictObject({ text: z.string().max(9).describe('A text.') }),
  output: z.strictObject({ time_ms: z.number().describe('A time.') }),
  example: { text: 'a' },
}

test('a tool is handed the sources that it names, and its result says who answered and how far', () => {
  const tool = defineTool({
    ...WORDS,
    ...IO,
    sources: ['clock'],
    run: ({ text }, { clock }) => ({ time_ms: clock.now_ms() + text.length }),
  })
  const sources = fixedSources([])
  assert.deepEqual(tool.execute({ text: 'abc' }, sources), {
    scope: { checked: ['this'], not_checked: ['that'] },
    time_ms: sources.clock.now_ms() + 3,
    tool: 'sample',
  })
})

// What follows is judged by the compiler: each line must be refused, or `npm run check` fails.

test('a pure tool that reaches for a clock, a store or a chain does not compile', () => {
  // @ts-expect-error a pure tool is handed nothing beside its input
  defineTool({ ...WORDS, ...IO, sources: [], run: (_input, { clock }) => ({ time_ms: clock.now_ms() }) })
  // @ts-expect-error the catalogue was named, the clock was not
  defineTool({ ...WORDS, ...IO, sources: ['catalogue'], run: (_input, { clock }) => ({ time_ms: clock.now_ms() }) })
  // @ts-expect-error there is no such source
  defineTool({ ...WORDS, ...IO, sources: ['store'], run: () => ({ time_ms: 0 }) })
})

test('a tool that leaves something out does not compile', () => {
  const { scope: _, ...withoutScope } = WORDS
  // @ts-expect-error what was not checked has to be said
  defineTool({ ...withoutScope, ...IO, sources: [], run: () => ({ time_ms: 0 }) })
  // @ts-expect-error the result must be what the output schema promises
  defineTool({ ...WORDS, ...IO, sources: [], run: () => ({ time_ms: 'soon' }) })
  // @ts-expect-error the example must fit the input
  defineTool({ ...WORDS, ...IO, example: { text: 1 }, sources: [], run: () => ({ time_ms: 0 }) })
})
