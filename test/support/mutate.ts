import fc from 'fast-check'
import type { JsonSchema } from '../../src/service/catalogue/wire-schemas.ts'
import { subSchemas } from './json-schema.ts'

/** Changes JSON values at random, aiming at the edges of the schema that they should fit. */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const PLAIN: Json[] = [null, true, false, 0, -1, 1.5, 2 ** 53 - 1, '', 'x', '0', 'é', ' ', '0x', [], {}, [1], ['x', 'x'], { x: 1 }]

/** What changes draw from: values, and lengths of arrays. */
interface Pool {
  values: Json[]
  lengths: number[]
}

/** Plain values, and those at, just below and just above each bound that the schema states. */
function poolOf(schema: JsonSchema): Pool {
  const parts = subSchemas(schema).map((part) => part.schema)
  const around = (...names: string[]) =>
    parts
      .flatMap((part) => names.map((name) => part[name]))
      .flatMap((bound) => (typeof bound === 'number' ? [bound - 1, bound, bound + 1] : []))
  const texts = around('minLength', 'maxLength')
    .filter(isLength)
    .map((length) => '7'.repeat(length))
  const words = parts.flatMap((part) => (Array.isArray(part['enum']) ? (part['enum'] as Json[]) : []))
  return {
    values: [...PLAIN, ...texts, ...around('minimum', 'maximum'), ...words],
    lengths: [0, 1, 2, ...around('minItems', 'maxItems').filter(isLength)],
  }
}

// Longer texts would be measured, not judged: one rule decides them all.
function isLength(length: number): boolean {
  return length >= 0 && length <= 1_000_000
}

/** One change: where, what, and with which value. */
interface Change {
  path: number
  kind: 'replace' | 'delete' | 'add' | 'repeat'
  value: number
}

const CHANGE: fc.Arbitrary<Change> = fc.record({
  path: fc.nat(),
  kind: fc.constantFrom('replace', 'replace', 'delete', 'add', 'repeat'),
  value: fc.nat(),
})

/** Variants of the given inputs, one to three changes away. */
export function mutations(inputs: readonly unknown[], schema: JsonSchema): fc.Arbitrary<unknown> {
  const pool = poolOf(schema)
  return fc
    .tuple(fc.nat(), fc.array(CHANGE, { minLength: 1, maxLength: 3 }))
    .map(([pick, changes]) => changes.reduce((value, change) => changed(value, change, pool), inputs[pick % inputs.length] as Json))
}

function changed(value: Json, change: Change, pool: Pool): Json {
  const places = paths(value)
  const path = places[change.path % places.length] ?? []
  const drawn = pool.values[change.value % pool.values.length] ?? null
  return edit(value, path, (found) => {
    if (change.kind === 'add' && typeof found === 'object' && found !== null && !Array.isArray(found)) return { ...found, extra: drawn }
    if (change.kind === 'repeat' && Array.isArray(found)) {
      const length = pool.lengths[change.value % pool.lengths.length] ?? 0
      return Array.from({ length }, (_, index) => found[index % found.length] ?? null)
    }
    if (change.kind === 'delete' && path.length > 0) return undefined
    return drawn
  })
}

function paths(value: Json, here: string[] = []): string[][] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [here, ...inner.flatMap(([key, part]) => paths(part, [...here, key]))]
}

/** A copy in which what stands at the path is replaced, or gone. */
function edit(value: Json, path: readonly string[], replace: (found: Json) => Json | undefined): Json {
  const [step, ...rest] = path
  if (step === undefined) return replace(value) ?? null
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, part]): [string, Json][] => {
    if (key !== step) return [[key, part]]
    const next = rest.length === 0 ? replace(part) : edit(part, rest, replace)
    return next === undefined ? [] : [[key, next]]
  })
  return Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries)
}
