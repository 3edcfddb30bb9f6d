/** Holds the structure of every message against its official schema: a random message, and mutants of it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import messages from '../../data/iso20022/messages.json' with { type: 'json' }
import { MESSAGE_KINDS } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { seeded } from '../fuzz/random.ts'
import { SEED } from '../support/counts.ts'
import { SCHEMA_NAMES, schemaNamespace, schemaTakes } from '../support/iso20022-oracle.ts'
import { mutate, type Sample, sampleOf, schemaTypes, written } from '../support/iso20022-samples.ts'

const KNOWN = SCHEMA_NAMES.filter((name) => !name.startsWith('head.'))
const MUTANTS = ['delete', 'swap', 'borrow', 'value'] as const
const STRUCTURAL = /^(?:STRUCT_|ELEMENT_REPEATED|AMT_|ROOT_MISMATCH|IBAN_|BIC_|LEI_|UETR_|CCY_|DATE_INVALID|ADDR_COUNTRY|[A-Z]_)/

function structuralFaults(payload: string): string[] {
  const { findings } = validateMessage({ payload, profile: 'base' })
  const errors = findings.filter(({ code, severity }) => severity === 'error' && STRUCTURAL.test(code))
  return errors.map(({ code, path, found, expected }) => `${code} ${path} ${found} → ${expected}`)
}

for (const kind of MESSAGE_KINDS.filter((one) => one !== 'head.001')) {
  test(`${kind}: every version is judged as by its schema`, () => {
    const schemas = KNOWN.filter((name) => name.startsWith(`${kind}.`))
    assert.ok(schemas.length > 0)
    for (const schema of schemas) {
      const types = schemaTypes(schema)
      const root = types.get('Document')
      const [message] = root?.kind === 'complex' ? (root.items[0]?.items ?? []) : []
      assert.ok(message !== undefined)
      const random = seeded(SEED, 0)
      const sample = sampleOf(types, message.name, message.type, random, 0.15)
      const document = (of: Sample) => `<Document xmlns="${schemaNamespace(schema)}">${written(of)}</Document>`
      assert.ok(schemaTakes(schema, document(sample)), `${schema}: the sample is not valid`)
      const before = structuralFaults(document(sample))
      assert.deepEqual(
        before.filter((fault) => /^(?:STRUCT_|ELEMENT_)/.test(fault)),
        [],
        schema,
      )
      for (const mutation of MUTANTS) {
        const mutant = structuredClone(sample)
        mutate(mutant, mutation, random)
        const payload = document(mutant)
        const added = structuralFaults(payload).filter((fault) => !before.includes(fault))
        if (!schemaTakes(schema, payload)) assert.ok(added.length > 0, `${schema} ${mutation}: ${payload}`)
        else assert.ok(!added.some((fault) => fault.startsWith('STRUCT_')), `${schema} ${mutation}: ${added.join('; ')}`)
      }
    }
  })
}

test('the list of messages and the tables belong together', () => {
  const tables = readFileSync(new URL('../../data/iso20022/types.json', import.meta.url))
  assert.equal(createHash('sha256').update(tables).digest('hex'), messages.types_sha256)
  const kinds = new Set(messages.messages.map((message) => message.slice(0, 8)))
  assert.deepEqual([...kinds].toSorted(), [...MESSAGE_KINDS].toSorted())
  assert.deepEqual(
    SCHEMA_NAMES.filter((name) => !messages.messages.includes(name)),
    [],
  )
})
