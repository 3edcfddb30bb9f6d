import { isObject } from '../../src/pure/is-object.ts'

/** Unique texts for the text fields of a JSON schema, to be looked for wherever the service might keep them. */

type Path = readonly (string | number)[]
type Schema = Readonly<Record<string, unknown>>

export interface TextField {
  path: Path
  schema: Schema
}

const DEPTH = 6

/** Each text field of the schema, in all its alternatives. */
export function textFields(schema: unknown, definitions: Schema, path: Path = []): TextField[] {
  const found = resolved(schema, definitions)
  if (found === null || path.length > DEPTH) return []
  const alternatives = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => listOf(found[word]))
  const inner = alternatives.flatMap((one) => textFields(one, definitions, path))
  const members = Object.entries(isObject(found['properties']) ? found['properties'] : {})
  for (const [name, member] of members) inner.push(...textFields(member, definitions, [...path, name]))
  const items = listOf(found['prefixItems'])
  for (const item of items.length > 0 ? items.slice(0, 1) : listOf(found['items'] === undefined ? [] : [found['items']]))
    inner.push(...textFields(item, definitions, [...path, 0]))
  const types = listOf(found['type'] === undefined ? [] : [found['type']].flat())
  const is_text = types.includes('string') && found['enum'] === undefined && found['const'] === undefined
  const own = is_text ? [{ path, schema: found }] : []
  const known = new Set<string>()
  return [...own, ...inner].filter(({ path: at }) => !known.has(at.join('/')) && known.add(at.join('/')))
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function resolved(schema: unknown, definitions: Schema): Schema | null {
  if (!isObject(schema)) return null
  const reference = schema['$ref']
  if (typeof reference !== 'string') return schema
  let place: unknown = definitions
  for (const name of reference.split('/').slice(1)) place = isObject(place) ? place[name] : undefined
  return isObject(place) ? place : null
}

let made = 0

/** A text that no other request has and that fits the schema where one of the usual alphabets does. */
export function markerFor(schema: Schema): string {
  const number = String(++made).padStart(5, '0')
  const forms = [
    `Zqx Märker ${number} yv`,
    `zqxmarker${number}yv`,
    `ZQXMARKER${number}YV`,
    `zqx${number}yv.example.com`,
    `https://zqx${number}yv.example.com/zqxpath${number}`,
    `zqx${number}@zqx${number}.example.com`,
    `inv_zqxmarker${number}yv`,
    `771946${number}3118`,
    `0x${`feedc0de${number}`.padEnd(40, '7')}`,
    `0x${`feedc0de${number}`.padEnd(64, '7')}`,
    `0x${`feedc0de${number}`.padEnd(130, '7')}`,
    `feedc0de${number}`.padEnd(64, '7'),
    `https://zqx${number}yv.example.com`,
  ]
  const [longest, shortest] = [Number(schema['maxLength'] ?? Infinity), Number(schema['minLength'] ?? 0)]
  const pattern = typeof schema['pattern'] === 'string' ? new RegExp(schema['pattern'], 'u') : null
  const fits = (text: string) => text.length <= longest && text.length >= shortest && pattern?.test(text) !== false
  return forms.find(fits) ?? `zqxmarker${number}yv`.slice(0, Number.isFinite(longest) && longest > 8 ? longest : undefined)
}

/** The base with a text at the path; members on the way are made where they are missing. */
export function withText(base: unknown, path: Path, text: string): unknown {
  const [name, ...rest] = path
  if (name === undefined) return text
  if (typeof name === 'number') {
    const list = listOf(base)
    return [withText(list[0], rest, text), ...list.slice(1)]
  }
  const members = isObject(base) ? base : {}
  return { ...members, [name]: withText(members[name], rest, text) }
}
