import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { checkSchema } from '../../src/pure/documents/json-schema/load.ts'
import { validateJsonSchema } from '../../src/pure/documents/json-schema/validate.ts'
import { DRAFTS, type Draft } from '../../src/pure/documents/json-schema/keywords.ts'
import { runs, SEED } from '../support/counts.ts'
import { DATA, looseSchema, randomSchema } from './json-schema-random.ts'

/** Against an implementation that is not ours: ajv, which makes code of schemas where this one reads them. */

/** Each schema is compiled for a few values, so its code is not worth optimizing. */
const OPTIONS = { strict: false, validateFormats: false, logger: false, allErrors: false, code: { optimize: false } } as const

function newAjv(draft: Draft): Ajv {
  switch (draft) {
    case '2020-12':
      return new Ajv2020(OPTIONS)
    case '2019-09':
      return new Ajv2019(OPTIONS)
    case 'draft-07':
      return new Ajv(OPTIONS)
  }
}

/** Where ajv 8.20.0 leaves the specification, by name; such cases are not compared. */
const DISAGREEMENTS: Record<string, (schema: string, data: string) => boolean> = {
  'contains accepts an empty array where another array was looked at before, or beside a list of items': (schema, data) =>
    schema.includes('"contains"') && data.includes('[]'),
  'items accepted by contains do not count as evaluated': (schema) =>
    schema.includes('"unevaluatedItems"') && schema.includes('"contains"'),
}

/** Its draft-07 metaschema asks for different values in an enum, at least one; the published one does not. */
const ENUM_IS_STRICTER = (draft: Draft, schema: string) => draft === 'draft-07' && schema.includes('"enum"')

type Answer = 'valid' | 'invalid' | 'crash'

/** A reference that leads back to itself overflows the stack there; a failing branch may leave a name undefined (TypeError). */
function orCrash<Value>(make: () => Value): Value | 'crash' {
  try {
    return make()
  } catch (error) {
    assert.ok(error instanceof RangeError || error instanceof TypeError, String(error))
    return 'crash'
  }
}

function ajvSays(ajv: Ajv, schema: object, data: readonly unknown[]): Answer[] {
  const validate = orCrash(() => ajv.compile(schema))
  return data.map((one) => (validate === 'crash' ? validate : orCrash(() => (validate(one) ? 'valid' : 'invalid'))))
}

for (const draft of DRAFTS) {
  test(`agrees with ajv on random schemas: ${draft}`, () => {
    const ajv = newAjv(draft)
    const seen = { valid: 0, invalid: 0, undetermined: 0 }
    const property = fc.property(randomSchema(draft), fc.array(DATA, { minLength: 4, maxLength: 4 }), (schema, data) => {
      const text = JSON.stringify(schema)
      const theirs = ajvSays(ajv, schema, data)
      data.forEach((one, index) => {
        if (Object.values(DISAGREEMENTS).some((holds) => holds(text, JSON.stringify(one)))) return
        const { outcome, unsupported, errors } = validateJsonSchema(schema, one, { draft })
        seen[outcome]++
        if (outcome === 'undetermined') {
          assert.deepEqual([...new Set(unsupported.map(({ code }) => code))], ['reference_loop'])
        } else if (theirs[index] !== 'crash') assert.equal(outcome, theirs[index])
        assert.equal(errors.length > 0, outcome === 'invalid')
      })
    })
    fc.assert(property, { numRuns: runs(150, 4_000), seed: SEED })
    assert.ok(seen.valid > 50 && seen.invalid > 50, JSON.stringify(seen))
  })

  test(`calls a schema well-formed exactly when ajv's metaschema does: ${draft}`, () => {
    const ajv = newAjv(draft)
    const seen = { good: 0, bad: 0 }
    const property = fc.property(looseSchema(draft), (schema) => {
      const { well_formed } = checkSchema(schema, { draft })
      seen[well_formed === true ? 'good' : 'bad']++
      if (!ENUM_IS_STRICTER(draft, JSON.stringify(schema))) assert.equal(well_formed, ajv.validateSchema(schema))
      const $schema = METASCHEMAS[draft]
      const own = validateJsonSchema({ $schema, $ref: $schema }, schema)
      assert.equal(own.outcome, well_formed === true ? 'valid' : 'invalid')
    })
    fc.assert(property, { numRuns: runs(200, 4_000), seed: SEED })
    assert.ok(seen.good > 20 && seen.bad > 20, JSON.stringify(seen))
  })
}

const METASCHEMAS: Record<Draft, string> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
}
