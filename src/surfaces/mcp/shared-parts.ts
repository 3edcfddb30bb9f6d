import { isObject } from '../../pure/is-object.ts'
import type { JsonSchema } from '../../service/catalogue/json-schema.ts'

/** Shorter parts are not worth a reference. */
const LEAST_CHARS = 160

/**
 * The same schema with each object that it describes more than once told once, under `$defs` of `root`, and referred to: a list of tools is
 * read whole by models. Only whole schemas of objects are shared, so that every reference stands where a schema may stand.
 */
export function shareParts(schema: JsonSchema): { schema: JsonSchema; $defs: Record<string, unknown> } {
  const counts = new Map<string, number>()
  count(schema, counts)
  const $defs: Record<string, unknown> = {}
  const names = new Map<string, string>()
  const replace = (value: unknown, at_root: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => replace(item, false))
    if (!isObject(value)) return value
    const text = !at_root && value['type'] === 'object' ? JSON.stringify(value) : ''
    if (text.length < LEAST_CHARS || (counts.get(text) ?? 0) < 2) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner, false)]))
    }
    const name = names.get(text) ?? `part_${names.size + 1}`
    names.set(text, name)
    $defs[name] = value
    return { $ref: `#/$defs/${name}` }
  }
  return { schema: replace(schema, true) as JsonSchema, $defs }
}

function count(value: unknown, counts: Map<string, number>): void {
  if (Array.isArray(value)) for (const item of value) count(item, counts)
  if (!isObject(value)) return
  const text = value['type'] === 'object' ? JSON.stringify(value) : ''
  if (text.length >= LEAST_CHARS) counts.set(text, (counts.get(text) ?? 0) + 1)
  for (const inner of Object.values(value)) count(inner, counts)
}
