/** Every table that an answer was read from is named in `data_as_of` with its SHA-256, and is a dataset that an audit bundle can contain. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { describeDatasets } from '../src/assembly/reference-tables.ts'
import { namedDatasets } from '../src/pure/audit/bundle.ts'
import { isNamed } from '../src/pure/audit/verify-bundle.ts'
import { createScreening, BUNDLED_ADDRESSES } from '../src/pure/checks/ofac.ts'
import { TABLE_IDS, TABLES, type TableId } from '../src/pure/datasets/datasets.ts'
import { snapshotHash } from '../src/pure/datasets/definition.ts'
import { RELEASE_TABLES } from '../src/pure/datasets/release-tables.ts'
import { isObject } from '../src/pure/is-object.ts'
import { Refusal, type Tool } from '../src/service/catalogue/define.ts'
import { loadCatalogue } from '../src/service/catalogue/load.ts'
import { fixedSources } from './support/sources.ts'
import { readVectors } from './support/vectors.ts'

const { tools } = await loadCatalogue()
const sources = fixedSources(tools)
const of_release = {
  active: () => [],
  screening: () => createScreening(BUNDLED_ADDRESSES, snapshotHash(BUNDLED_ADDRESSES)),
  text: () => Promise.resolve(null),
}
const described = describeDatasets(of_release, () => Date.parse('2026-11-28'))
const datasets = new Map(described.list().map((one) => [one.id, one]))

/** Tables whose rows a check looked at since the last call. */
const tablesRead = watchTables()

function watchTables(): () => TableId[] {
  const read = new Set<TableId>()
  for (const id of TABLE_IDS) {
    const table = TABLES[id]
    let view: unknown = table.view
    Object.defineProperty(table, 'view', {
      get() {
        read.add(id)
        return view
      },
      set(bound: unknown) {
        view = bound
      },
    })
  }
  return () => {
    const seen = [...read]
    read.clear()
    return seen
  }
}

const dated = tools.filter(({ output }) => 'data_as_of' in output.shape)
const named_by_some = new Set<string>()

for (const tool of dated) {
  test(`${tool.id} names the tables that it read, each with its hash`, async () => {
    let count = 0
    for (const { in: input } of readVectors(tool)?.cases ?? []) {
      const read = tool.input.safeParse(input)
      if (!read.success) continue
      tablesRead()
      const result = await resultOf(tool, read.data)
      if (result === null) continue
      const tables = tablesRead()
      const named = namedDatasets(result)
      for (const { id } of named) named_by_some.add(id)
      count += named.length
      const unnamed = tables.filter((id) => named.every((one) => one.id !== id))
      assert.deepEqual(unnamed, [], `read and not named, for ${JSON.stringify(input)}`)
      for (const one of named) await assertKnown(one)
    }
    assert.ok(count > 0, 'no vector has an answer that names a table')
  })
}

async function resultOf(tool: Tool, input: Record<string, unknown>): Promise<unknown> {
  try {
    return await tool.execute(input, sources)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** The hash is stated, and is that of the dataset that the service lists, serves and puts into bundles. */
async function assertKnown(named: ReturnType<typeof namedDatasets>[number]): Promise<void> {
  assert.match(named.as_of, / sha256:[0-9a-f]{12}$/, named.id)
  const dataset = datasets.get(named.id)
  assert.ok(dataset !== undefined, `${named.id} is no dataset of /v1/datasets`)
  const text = await described.text(named.as_of.slice(-12))
  assert.ok(text !== null, `/v1/datasets/{sha256} does not have ${named.id}`)
  assert.equal(createHash('sha256').update(text).digest('hex'), dataset.sha256)
  assert.ok(isNamed({ id: named.id, sha256: dataset.sha256, text }, named), `a bundle with ${named.id} would not satisfy the answer`)
}

test('answers of every batch item state hashes too', async () => {
  const batch = tools.find(({ id }) => id === 'batch-validate')
  assert.ok(batch !== undefined)
  const result = await resultOf(batch, { items: [{ tool: 'vat-mod97-check', value: 'ATU13585627' }] })
  const found = asOfIn(result)
  assert.ok(found.length > 0)
  for (const date of found) assert.match(date, / sha256:[0-9a-f]{12}$/)
})

/** Values of each `data_as_of` in a value. */
function asOfIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(asOfIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'data_as_of' && isObject(member) ? Object.values(member).map(String) : asOfIn(member),
  )
}

test('every table that changes with releases only is named by some answer', () => {
  assert.deepEqual(
    RELEASE_TABLES.map(({ definition }) => definition.id).filter((id) => !named_by_some.has(id)),
    [],
  )
})
