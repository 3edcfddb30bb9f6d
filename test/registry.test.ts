import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { FAMILIES, type Tool } from '../src/service/catalogue/define.ts'
import { toolSchemas, type JsonSchema } from '../src/service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../src/service/catalogue/load.ts'
import { limits } from '../src/service/limits.ts'
import { toolList } from '../src/surfaces/mcp/tool-list.ts'
import { runs, SEED } from './support/counts.ts'
import { newAjv, subSchemas, type SubSchema } from './support/json-schema.ts'
import { mutations } from './support/mutate.ts'
import { fixedSources } from './support/sources.ts'
import { ITEM_TOOL_IDS, TOOL_IDS } from './support/tool-ids.ts'
import { readVectors, type VectorFile } from './support/vectors.ts'

/** What types cannot promise of a tool. Each fault names the tool and says what to do. */

const { tools } = await loadCatalogue()
const sources = fixedSources(tools)
// One instance: it keeps what it has compiled.
const ajv = newAjv()
const derived = new Map(tools.map((tool) => [tool.id, toolSchemas(tool)]))

/** Places in inputs that are open on purpose, with all that is inside, and why. */
const OPEN: Record<string, string> = {
  'batch-validate /items/items': 'a malformed item is an error in its place and must not fail the batch',
  'csp-commitment-create /invoice_object': 'terms are whatever the two sides agreed; only their canonical text is hashed',
  'pod-verify-delivery /mandate/signer_keys': 'roles are named by the mandate; at most eight, keys and values bounded',
  'pod-verify-delivery /attestation/signatures': 'roles are named by the mandate; at most eight, keys and values bounded',
  'dip-file-dispute /claimed_input': 'the input that is claimed, whatever its tool takes; the reading bounds hold for it',
  'dip-file-dispute /delivered_output': 'what was delivered, whatever it is; the reading bounds hold for it',
  'iso20022-to-x402-intent /counterparty_wallet_directory': 'a key is an IBAN; at most a thousand, keys and values bounded',
  'instant-json-schema-verifier /data': 'any JSON may be held against a schema; the reading bounds hold for it',
  'instant-json-schema-verifier /schema': 'a schema is judged by the tool, which says what is malformed',
  'receipt-verify /receipt': 'receipts of other issuers hold what they hold; the verifier says what is wrong',
}

/** Asks every tool, and fails with all answers at once. */
function everyTool(faultsOf: (tool: Tool) => (string | false)[]): void {
  const faults = tools.flatMap((tool) => faultsOf(tool).flatMap((fault) => (fault === false ? [] : [`${tool.id}: ${fault}`])))
  assert.deepEqual(faults, [])
}

function schemasOf(tool: Tool) {
  const schemas = derived.get(tool.id)
  assert.ok(schemas !== undefined)
  return schemas
}

function vectorsOf(tool: Tool): VectorFile {
  return readVectors(tool) ?? { tool: tool.id, cases: [] }
}

test('the registry is the folder: a file, an id, a family', () => {
  const folder = new URL('../src/tools/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  assert.ok(tools.length > 0)
  assert.deepEqual(
    tools.map(({ family, id }) => `${family}/${id}.ts`).toSorted(),
    files.map((name) => name.replaceAll('\\', '/')).toSorted(),
  )
})

test('every specified id is there, and each id once', () => {
  assert.equal(new Set(TOOL_IDS).size, 67)
  const ids = new Set(tools.map(({ id }) => id))
  assert.equal(ids.size, tools.length)
  assert.deepEqual(
    TOOL_IDS.filter((id) => !ids.has(id)),
    [],
  )
  everyTool(({ id, family }) => [
    !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id) && 'an id is lower-case words joined by hyphens',
    id.length > 64 && 'an id has at most 64 characters',
    !Object.hasOwn(FAMILIES, family) && 'the family is unknown',
  ])
})

test('words are short and tidy', () => {
  const untidy = (text: string) => text.trim() !== text || /\s{2}|[\n\r\t]/.test(text) || text === ''
  everyTool(({ title, description, scope, version }) => [
    (untidy(title) || title.length > 60 || title.endsWith('.')) && 'the title has 1 to 60 characters, no period, no stray space',
    (untidy(description) || !description.endsWith('.')) && 'the description is sentences without stray space',
    description.length > limits.description_chars && `the description has at most ${limits.description_chars} characters`,
    !/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(version) && 'the version is major.minor.patch',
    (scope.checked.length === 0 || scope.not_checked.length === 0) && 'the scope says what was checked and what was not',
    [...scope.checked, ...scope.not_checked].some(untidy) && 'a phrase of the scope has stray space',
  ])
})

test('annotations tell the truth', () => {
  const names = ['destructive', 'idempotent', 'open_world', 'read_only']
  everyTool(({ annotations, sources: needed }) => {
    const { read_only, idempotent, destructive, open_world } = annotations
    const pure = read_only && idempotent && !destructive && !open_world
    return [
      JSON.stringify(Object.keys(annotations).toSorted()) !== JSON.stringify(names) && `state exactly ${names.join(', ')}`,
      needed.length === 0 && !pure && 'without sources it is read-only, idempotent and closed',
      read_only && destructive && 'what only reads destroys nothing',
    ]
  })
})

test('checks of one value, and only they, can be items of a batch', () => {
  everyTool((tool) => {
    const field = tool.batch_field
    const fields = schemasOf(tool).input['properties'] as Record<string, JsonSchema>
    if (field === undefined) return [ITEM_TOOL_IDS.includes(tool.id) && 'batch_field is missing']
    return [
      !ITEM_TOOL_IDS.includes(tool.id) && 'its id is not in ITEM_TOOL_IDS (test/support/tool-ids.ts), so it has no batch_field',
      fields[field]?.['type'] !== 'string' && 'batch_field names no text of the input',
      tool.sources.length > 0 && 'an item has no sources',
    ]
  })
})

test('inputs are described, bounded and closed', () => {
  const used = new Set<string>()
  everyTool((tool) =>
    subSchemas(schemasOf(tool).input).flatMap((part) => {
      const place = `${tool.id} ${part.pointer}`
      const open = Object.keys(OPEN).find((name) => place === name || place.startsWith(`${name}/`))
      if (open !== undefined) used.add(open)
      return [undescribed(part), ...(open === undefined ? unbounded(part) : [])].map((fault) => fault && `${part.pointer} ${fault}`)
    }),
  )
  const registered = Object.keys(OPEN).filter((place) => tools.some(({ id }) => place.startsWith(`${id} `)))
  assert.deepEqual(
    registered.filter((place) => !used.has(place)),
    [],
    'an exception that no schema needs any more',
  )
})

function undescribed({ schema, property }: SubSchema): string | false {
  if (!property) return false
  const words = schema['description']
  if (typeof words !== 'string' || words.trim() !== words || words === '') return 'needs a description'
  return words.length > limits.field_description_chars && `has a description of more than ${limits.field_description_chars} characters`
}

function unbounded({ schema }: SubSchema): (string | false)[] {
  const closedSet = 'enum' in schema || 'const' in schema
  const bounded = (name: string) => typeof schema[name] === 'number' && Math.abs(schema[name]) < Number.MAX_SAFE_INTEGER
  switch (schema['type']) {
    case 'string':
      return [!closedSet && !bounded('maxLength') && 'needs maxLength']
    case 'array':
      return [!bounded('maxItems') && 'needs maxItems']
    case 'integer':
    case 'number':
      return [!closedSet && !(bounded('minimum') && bounded('maximum')) && 'needs minimum and maximum']
    case 'object':
      return [schema['additionalProperties'] !== false && 'takes unknown fields']
    case 'boolean':
    case 'null':
      return []
    default:
      return [!closedSet && !('anyOf' in schema || 'oneOf' in schema) && 'takes anything']
  }
}

test('outputs are objects whose fields are described, with scope and tool among them', () => {
  everyTool((tool) => {
    const { type, properties, required } = schemasOf(tool).output as {
      type: string
      properties: Record<string, JsonSchema>
      required: string[]
    }
    return [
      type !== 'object' && 'the output is an object',
      !required.includes('scope') && 'the output has a scope',
      !required.includes('tool') && 'the output names its tool',
      ...Object.entries(properties).map(([name, schema]) => typeof schema['description'] !== 'string' && `/${name} needs a description`),
    ]
  })
})

test('no input is changed by reading it: what is hashed is what was sent', () => {
  everyTool((tool) => {
    const { input } = schemasOf(tool)
    const output = toolSchemas({ ...tool, output: tool.input }).output
    return [JSON.stringify(input) !== JSON.stringify(output) && 'the input schema transforms, defaults or strips']
  })
})

test('examples fit, run and show the tool at its best', async () => {
  for (const tool of tools) {
    const result = await tool.execute(tool.input.parse(tool.example), sources)
    const validate = ajv.compile(schemasOf(tool).output)
    assert.ok(validate(result), `${tool.id}: the answer to the example does not fit: ${JSON.stringify(validate.errors)}`)
    assert.notEqual(result['valid'], false, `${tool.id}: the example should be a good one`)
  }
})

test('vectors are there, enough and named', () => {
  everyTool((tool) => {
    const { tool: named, cases } = vectorsOf(tool)
    const verdict = (valid: boolean) => cases.some(({ out }) => out['valid'] === valid)
    const { valid } = (schemasOf(tool).output['properties'] ?? {}) as Record<string, JsonSchema | undefined>
    const judges = valid !== undefined && !Object.hasOwn(valid, 'const')
    return [
      named !== tool.id && 'the file of vectors names another tool',
      cases.length < 10 && `vectors/${tool.family}/${tool.id}.json has ${cases.length} cases, not ten`,
      judges && !verdict(true) && 'no vector is valid',
      judges && !verdict(false) && 'no vector is invalid',
      new Set(cases.map(({ name }) => name)).size !== cases.length && 'two vectors share a name',
      cases.some(({ name }) => name.trim() === '') && 'a vector has no name',
      cases.some(({ origin }) => typeof origin !== 'string' || origin.trim() === '') && 'a vector has no origin',
      cases.some(({ out }) => Object.keys(out).length === 0) && 'a vector expects nothing',
    ]
  })
})

test('the derived schemas are JSON Schema 2020-12 and agree with the runtime on every vector', async () => {
  for (const tool of tools) {
    const { input, output } = schemasOf(tool)
    const [takes, gives] = [ajv.compile(input), ajv.compile(output)]
    for (const vector of vectorsOf(tool).cases) {
      assert.ok(takes(vector.in), `${tool.id}, ${vector.name}: ${JSON.stringify(takes.errors)}`)
      // Refused by the tool itself: there is no answer.
      if (Object.hasOwn(vector.out, 'problem')) continue
      const result = await tool.execute(tool.input.parse(vector.in), sources)
      assert.ok(gives(result), `${tool.id}, ${vector.name}: ${JSON.stringify(gives.errors)}`)
      assert.ok(runtimeTakes(tool.output, result), `${tool.id}, ${vector.name}: the runtime schema refuses the answer`)
    }
  }
})

/**
 * JSON Schema counts the characters of a text, zod its UTF-16 units; the two part ways only for characters beyond U+FFFF close to a
 * bound, which these mutations leave out.
 */
function agreement(schema: JsonSchema, runtime: z.ZodType, inputs: readonly unknown[]) {
  const takes = ajv.compile(schema)
  const seen = { taken: 0, refused: 0 }
  const property = fc.property(mutations(inputs, schema), (value) => {
    const taken = runtimeTakes(runtime, value)
    seen[taken ? 'taken' : 'refused']++
    return takes(value) === taken
  })
  const { failed, counterexample } = fc.check(property, { numRuns: runs(300, 2_000), seed: SEED })
  return { failed, seen, shown: JSON.stringify(counterexample)?.slice(0, 400) }
}

test('the derived schemas agree with the runtime on what is not quite a vector', () => {
  for (const tool of tools) {
    const inputs = [tool.example, ...vectorsOf(tool).cases.map((vector) => vector.in)]
    const { failed, seen, shown } = agreement(schemasOf(tool).input, tool.input, inputs)
    assert.ok(!failed, `${tool.id}: JSON Schema and the runtime disagree on ${shown}`)
    assert.ok(seen.taken > 0 && seen.refused > 0, `${tool.id}: the mutations try only one side`)
  }
})

test('the search for disagreement bites', () => {
  const runtime = z.strictObject({
    text: z.string().max(5),
    list: z.array(z.int().min(1).max(9)).max(3),
    kind: z.enum(['a', 'b']).optional(),
  })
  const derive = (schema: z.ZodType) => z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' }) as JsonSchema
  const inputs = [{ text: 'abc', list: [1, 2], kind: 'a' }]
  assert.equal(agreement(derive(runtime), runtime, inputs).failed, false)
  const others = [
    runtime.extend({ text: z.string().max(6) }),
    runtime.extend({ list: z.array(z.int().min(0).max(9)).max(3) }),
    runtime.extend({ list: z.array(z.int().min(1).max(9)).max(4) }),
    runtime.extend({ kind: z.enum(['a', 'b', 'c']).optional() }),
    runtime.partial(),
    z.looseObject(runtime.shape),
  ]
  for (const other of others) assert.equal(agreement(derive(other), runtime, inputs).failed, true)
})

function runtimeTakes(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success
}

test('all tools together stay within what an MCP client is sent', () => {
  const bytes = Buffer.byteLength(JSON.stringify({ tools: toolList(tools, derived) }))
  assert.ok(bytes <= limits.mcp_list_bytes, `tools/list has ${bytes} bytes, more than ${limits.mcp_list_bytes}`)
})
