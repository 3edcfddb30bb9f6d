import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemCatalogue } from '../../src/service/catalogue/decode.ts'
import { toolSchemas } from '../../src/service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { subSchemas } from '../support/json-schema.ts'
import { fixedSources } from '../support/sources.ts'
import { ITEM_TOOL_IDS, TOOL_IDS } from '../support/tool-ids.ts'

/** batch-validate takes exactly the specified checks, and each of them answers as it does alone. */

const { tools } = await loadCatalogue()
const items = itemCatalogue(() => tools)
const sources = fixedSources(tools)

/** What a batch answers to one item. */
async function inBatch(tool: string, value: string): Promise<Record<string, unknown>> {
  const batch = tools.find(({ id }) => id === 'batch-validate')
  assert.ok(batch !== undefined)
  const { results } = (await batch.execute(batch.input.parse({ items: [{ tool, value }] }), sources)) as {
    results: Record<string, unknown>[]
  }
  assert.equal(results.length, 1)
  return results[0] ?? {}
}

test('the permitted items are the seventeen specified ones', () => {
  assert.equal(new Set(ITEM_TOOL_IDS).size, 17)
  assert.deepEqual(items.permitted.toSorted(), ITEM_TOOL_IDS.toSorted())
})

test('the field that names the tool lists all of them, and so does the refusal of another', async () => {
  const batch = tools.find(({ id }) => id === 'batch-validate')
  assert.ok(batch !== undefined)
  const field = subSchemas(toolSchemas(batch).input).find(({ pointer }) => pointer.endsWith('/tool'))
  const words = String(field?.schema['description']).match(/[a-z][a-z0-9-]*/g) ?? []
  const listed = new Set(words.flatMap((word) => [word, `${word}-check`]).filter((id) => TOOL_IDS.includes(id)))
  assert.deepEqual([...listed].toSorted(), ITEM_TOOL_IDS.toSorted())
  const { error } = await inBatch('reconcile', 'x')
  const told = (error as { message: string }).message.match(/[a-z][a-z0-9]*-[a-z0-9-]+/g) ?? []
  assert.deepEqual(told.toSorted(), ITEM_TOOL_IDS.toSorted())
})

test('an item answers as its tool does alone, by either spelling of its name', async () => {
  for (const tool of tools.filter(({ id }) => ITEM_TOOL_IDS.includes(id))) {
    const value = tool.example[tool.batch_field ?? '']
    assert.ok(typeof value === 'string', tool.id)
    const alone = await tool.execute(tool.input.parse({ [tool.batch_field ?? '']: value }), sources)
    for (const spelling of [tool.id, tool.id.replaceAll('-', '_')]) {
      const { ok, result, error } = await inBatch(spelling, value)
      assert.deepEqual({ ok, result, error }, { ok: true, result: alone, error: null }, tool.id)
    }
  }
})

test('no other tool may be an item', async () => {
  for (const id of TOOL_IDS.filter((one) => !ITEM_TOOL_IDS.includes(one))) {
    const { ok, error } = await inBatch(id, 'GB82WEST12345698765432')
    assert.deepEqual([ok, (error as { code?: unknown } | null)?.code], [false, 'not_permitted'], id)
  }
})
