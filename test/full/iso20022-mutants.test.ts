/** Holds seeded mutants of random messages against the official schemas: what they refuse and iso20022-validate takes, and the reverse. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { seeded } from '../fuzz/random.ts'
import { runs, SEED } from '../support/counts.ts'
import { SCHEMA_NAMES, schemaNamespace, schemaTakes } from '../support/iso20022-oracle.ts'
import { mutate, MUTATIONS, type Sample, sampleOf, schemaTypes, written } from '../support/iso20022-samples.ts'

const SAMPLES = runs(1, 12)
const MUTANTS = 26
/** Bounds of docs/benchmarks.md: shares of the mutants that the schema refuses and of the documents that it takes. */
const FALSE_VALID_MOST = 0.001
const FALSE_INVALID_MOST = 0.0005
const CHARACTERS_MOST = 200_000

const STRUCTURAL = /^(?:STRUCT_|ELEMENT_REPEATED|AMT_LEXICAL|AMT_DIGITS|ROOT_MISMATCH)/

function document(schema: string, root: Sample): string {
  return `<Document xmlns="${schemaNamespace(schema)}">${written(root)}</Document>`
}

/** Errors as code and path; a random message breaks many rules, so a mutant is found by an error that was not there before. */
function errorsOf(payload: string): { all: Set<string>; structural: string[]; truncated: boolean } {
  const { findings, truncated } = validateMessage({ payload, profile: 'base' })
  const errors = findings.filter(({ severity }) => severity === 'error')
  return {
    all: new Set(errors.map(({ code, path, found }) => `${code} ${path} ${found ?? ''}`)),
    structural: errors.filter(({ code }) => STRUCTURAL.test(code)).map(({ code, path, found }) => `${code} ${path} ${found ?? ''}`),
    truncated,
  }
}

interface Tally {
  refused: number
  taken: number
  false_valid: string[]
  false_invalid: string[]
}

function tally(schema: string): Tally {
  const types = schemaTypes(schema)
  const root = types.get('Document')
  const [message] = root?.kind === 'complex' ? (root.items[0]?.items ?? []) : []
  assert.ok(message !== undefined)
  const counted: Tally = { refused: 0, taken: 0, false_valid: [], false_invalid: [] }
  for (let index = 0; index < SAMPLES; index++) {
    const random = seeded(SEED, index)
    const sample = sampleOf(types, message.name, message.type, random, random.pick([0.15, 0.3, 0.4]))
    const clean = document(schema, sample)
    if (clean.length > CHARACTERS_MOST) continue
    assert.ok(schemaTakes(schema, clean), `${schema}: sample ${index} is not valid`)
    const before = errorsOf(clean)
    if (before.truncated) continue
    counted.taken++
    if (before.structural.length > 0) counted.false_invalid.push(`${schema} ${index}: ${before.structural.join('; ')}`)
    for (let turn = 0; turn < MUTANTS; turn++) {
      const mutation = MUTATIONS[turn % MUTATIONS.length] ?? 'delete'
      const mutant = structuredClone(sample)
      mutate(mutant, mutation, random)
      const payload = document(schema, mutant)
      if (payload === clean) continue
      const after = errorsOf(payload)
      if (schemaTakes(schema, payload)) {
        counted.taken++
        if (after.structural.length > before.structural.length) {
          counted.false_invalid.push(`${schema} ${index}/${turn} ${mutation}: ${after.structural.join('; ')}`)
        }
      } else {
        counted.refused++
        const found = [...after.all].some((error) => !before.all.has(error))
        if (!found) counted.false_valid.push(`${schema} ${index}/${turn} ${mutation}: ${difference(clean, payload)}`)
      }
    }
  }
  return counted
}

/** Where two texts part, for a message. */
function difference(one: string, other: string): string {
  let at = 0
  while (one[at] === other[at]) at++
  return `${one.slice(Math.max(0, at - 40), at + 60)} ≠ ${other.slice(Math.max(0, at - 40), at + 60)}`
}

// The header is read in part: its required fields may be absent.
for (const schema of SCHEMA_NAMES.filter((name) => !name.startsWith('head.'))) {
  test(`${schema}: mutants are judged as by the schema`, (context) => {
    const { refused, taken, false_valid, false_invalid } = tally(schema)
    context.diagnostic(`refused ${refused}, false valid ${false_valid.length}; taken ${taken}, false invalid ${false_invalid.length}`)
    assert.ok(refused > SAMPLES && taken > 0)
    assert.ok(false_valid.length <= refused * FALSE_VALID_MOST, false_valid.slice(0, 20).join('\n'))
    assert.ok(false_invalid.length <= taken * FALSE_INVALID_MOST, false_invalid.slice(0, 20).join('\n'))
  })
}
