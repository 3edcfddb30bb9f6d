import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSpecType } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { runs, SEED } from '../support/counts.ts'
import { checkText } from './harness.ts'
import { MCP_CLEAN } from './mcp-clean.ts'
import { changed, DROPPED, stepsIn } from './ucp-mutants.ts'

/**
 * The official package knows the shapes of 2024-11-05 to 2025-11-25, and reads 2026-07-28 through the same ones. What it refuses, these rules
 * refuse too, whatever one place of a right document is changed into; the other way round they ask for much more.
 */

type Accepts = (value: unknown) => boolean

const BY_TYPE: Readonly<Record<string, Accepts>> = {
  initialize: isSpecType.InitializeResult,
  discover: isSpecType.DiscoverResult,
  tools_list: isSpecType.ListToolsResult,
  tool_result: isSpecType.CallToolResult,
  resources_list: isSpecType.ListResourcesResult,
  resource_templates_list: isSpecType.ListResourceTemplatesResult,
  resource_contents: isSpecType.ReadResourceResult,
  prompts_list: isSpecType.ListPromptsResult,
  prompt: isSpecType.GetPromptResult,
  completion: isSpecType.CompleteResult,
  other: isSpecType.Result,
  input_required: isSpecType.Result,
  error: () => true,
}

const DOCUMENTS = Object.entries(MCP_CLEAN)
  .filter(([, { type }]) => type in BY_TYPE)
  .filter(([name]) => name !== 'bare tools')
  .map(([name, { document, type }]) => ({ name, document, type }))

function refuses(document: unknown, type: string): boolean {
  if (!isSpecType.JSONRPCResponse(document)) return true
  return 'result' in document && BY_TYPE[type]?.(document.result) !== true
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Where the package refuses and these rules do not, by the place that was changed and what it was changed to. */
const DISAGREEMENTS: readonly { name: string; place: RegExp; is: (to: unknown) => boolean; reason: string }[] = [
  {
    name: 'a result without its list',
    place: /^\/result\/(?:tools|resources|resourceTemplates|prompts|contents|messages|completion)$/,
    is: (to) => to === DROPPED,
    reason:
      'A response does not name its request; without the member that tells, it is an empty result, which is right for other requests.',
  },
  {
    name: 'another result altogether',
    place: /^\/result$/,
    is: isObject,
    reason: 'The same: any object is the result of something.',
  },
]

const VALUES: readonly unknown[] = [DROPPED, null, true, 7, 1.5, -1, '', 'x', [], {}, [7], [null], { a: 1 }, 'x'.repeat(300)]

const mutants = fc.constantFrom(...DOCUMENTS).chain(({ name, type, document }) =>
  fc.tuple(fc.constantFrom(...stepsIn(document)), fc.constantFrom(...VALUES)).map(([steps, to]) => ({
    name,
    type,
    to,
    pointer: `/${steps.join('/')}`,
    document: changed(document, steps, to),
  })),
)

test('the package accepts the right documents', () => {
  assert.ok(DOCUMENTS.length > 50)
  for (const { name, document, type } of DOCUMENTS) assert.equal(refuses(document, type), false, name)
})

test('what the package refuses is refused here, but for the named disagreements', () => {
  const met = { refused: 0, accepted: 0 }
  const property = fc.property(mutants, ({ name, type, to, pointer, document }) => {
    const theirs = refuses(document, type)
    met[theirs ? 'refused' : 'accepted']++
    if (!theirs || DISAGREEMENTS.some(({ place, is }) => place.test(pointer) && is(to))) return
    assert.equal(checkText('mcp', JSON.stringify(document)).status, 'fail', `${name} ${pointer} ${String(to)}`)
  })
  fc.assert(property, { numRuns: runs(200, 2_000), seed: SEED })
  assert.ok(met.refused > 50 && met.accepted > 20, JSON.stringify(met))
})

test('each disagreement is one, so that none outlives its cause', () => {
  for (const { name, place, is } of DISAGREEMENTS) {
    const differing = DOCUMENTS.flatMap(({ document, type }) =>
      stepsIn(document)
        .filter((steps) => place.test(`/${steps.join('/')}`))
        .flatMap((steps) => VALUES.filter(is).map((to) => ({ type, document: changed(document, steps, to) }))),
    ).filter((one) => refuses(one.document, one.type) && checkText('mcp', JSON.stringify(one.document)).errors.length === 0)
    assert.ok(differing.length > 0, name)
  }
})
