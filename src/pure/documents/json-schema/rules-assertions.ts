import { isObject } from '../../is-object.ts'
import { type Budget, TICKS, type SchemaCall, type ErrorCode, type SchemaRun, type Truth } from './schema-model.ts'
import { type JsonRecord, printableExcerpt } from './json.ts'
import { compilePattern, type SchemaPattern } from './pattern.ts'

type JsonType = 'array' | 'boolean' | 'null' | 'number' | 'object' | 'string'

function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}

/**
 * Returns whether a number is a multiple of another by their decimal texts: 19.99 is a multiple of 0.01, although their doubles are not.
 * The text is the shortest that reads as the double, so a literal with more than 17 significant digits counts as the number every JSON
 * reader makes of it. Exact at every size; at most about 700 digits.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const [a, b] = [decimalOf(value), decimalOf(divisor)]
  const exponent = Math.min(a.exponent, b.exponent)
  return (a.digits * 10n ** BigInt(a.exponent - exponent)) % (b.digits * 10n ** BigInt(b.exponent - exponent)) === 0n
}

/** Ticks of `isMultipleOf`: grows with the digits between the two numbers. */
function multipleTicks(value: unknown, divisor: number): number {
  if (typeof value !== 'number' || (Number.isSafeInteger(value) && Number.isSafeInteger(divisor))) return 0
  const digits = value === 0 ? 0 : Math.abs(Math.log10(Math.abs(value)) - Math.log10(divisor))
  return 30 + Math.ceil(digits / 2)
}

/** Value: `digits * 10 ** exponent`. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa = '0', power = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number.parseInt(power, 10) - fraction.length }
}

/** Keywords that check a value by itself. Their values have been checked for their form. */

export type ApplyKeyword = (call: SchemaCall) => Truth

export function applyType(wanted: unknown): ApplyKeyword {
  const types: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  const words = types.join(' or ')
  return (call) => {
    const { value } = call.place
    const type = jsonTypeOf(value)
    if (types.includes(type) || (type === 'number' && types.includes('integer') && Number.isInteger(value))) return true
    return call.run.reportError(call, 'type', 'type_mismatch', () => `Expected ${words}, found ${type}.`)
  }
}

export function applyEnum(values: unknown): ApplyKeyword {
  let known: PermittedValues | null = null
  return (call) => {
    known ??= collectPermitted(values as readonly unknown[], call.run)
    const found = isPermitted(call, known)
    return found === false
      ? call.run.reportError(call, 'enum', 'not_in_enum', `The value is not one of the ${known?.size} permitted.`)
      : found
  }
}

export function applyConst(value: unknown): ApplyKeyword {
  let text: string | null = null
  let known: PermittedValues | null = null
  return (call) => {
    known ??= collectPermitted([value], call.run)
    const found = isPermitted(call, known)
    return found === false
      ? call.run.reportError(call, 'const', 'not_const', () => `The value must be ${(text ??= printableExcerpt(sortedText(value)))}.`)
      : found
  }
}

/** Comparison keys and value forms: most values that are not permitted already differ in form. */
interface PermittedValues {
  keys: ReadonlySet<string>
  size: number
  forms: ReadonlySet<string>
}

/** Null if the budget is used up. */
function collectPermitted(values: readonly unknown[], run: SchemaRun): PermittedValues | null {
  const keys = new Set<string>()
  const forms = new Set<string>()
  for (const value of values) {
    const key = equalityKey(value, run.budget)
    if (key === null || !run.budget.spend(2 * TICKS.name)) return null
    keys.add(key)
    forms.add(valueForm(value))
  }
  return { keys, size: keys.size, forms }
}

function valueForm(value: unknown): string {
  return Array.isArray(value) ? `array of ${value.length}` : jsonTypeOf(value)
}

function isPermitted({ run, place }: SchemaCall, known: PermittedValues | null): Truth {
  if (known === null) return null
  if (!known.forms.has(valueForm(place.value))) return false
  place.key ??= equalityKey(place.value, run.budget)
  return place.key === null ? null : known.keys.has(place.key)
}

/**
 * Comparison key that two values share exactly if JSON Schema calls them equal: sorted members, 1.0 as 1, zero without sign. Texts are
 * prefixed with their length, so nothing needs escaping. Null if the budget is used up. The depth of the value must be bounded.
 */
export function equalityKey(value: unknown, budget: Budget): string | null {
  if (typeof value === 'string') {
    return budget.spend(TICKS.key_part + value.length / TICKS.chars) ? `"${value.length}:${value}` : null
  }
  if (Array.isArray(value)) return arrayKey(value, budget)
  if (isObject(value)) return recordKey(value, budget)
  return budget.spend(TICKS.key_part) ? String(value) : null
}

function arrayKey(items: readonly unknown[], budget: Budget): string | null {
  let text = '['
  for (const item of items) {
    const key = equalityKey(item, budget)
    if (key === null) return null
    text += `${key},`
  }
  return `${text}]`
}

function recordKey(record: JsonRecord, budget: Budget): string | null {
  const names = Object.keys(record)
  const compared = Math.ceil(Math.log2(names.length + 1))
  if (!budget.spend(names.length * (TICKS.name + compared))) return null
  let text = '{'
  for (const name of names.sort()) {
    const key = equalityKey(record[name], budget)
    // Comparing long names takes longer.
    if (key === null || !budget.spend(TICKS.key_part + (name.length * compared) / COMPARED_CHARS)) return null
    text += `${name.length}:${name}${key},`
  }
  return `${text}}`
}

/** Characters compared per tick. */
const COMPARED_CHARS = 16

/** JSON with sorted members. The depth of the value must be bounded. */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(value[name])}`).join(',')}}`
}

export function applyMultipleOf(divisor: unknown): ApplyKeyword {
  const number = divisor as number
  return (call) => {
    const { value } = call.place
    if (!call.run.budget.spend(multipleTicks(value, number))) return null
    if (typeof value !== 'number' || isMultipleOf(value, number)) return true
    return call.run.reportError(call, 'multipleOf', 'not_a_multiple', `The number must be a multiple of ${number}.`)
  }
}

/** Sizes that bounds limit: undefined if the value is of another type, null if the budget is used up. */
const SIZES = {
  number: ({ place: { value } }: SchemaCall) => (typeof value === 'number' ? value : undefined),
  characters({ run, place: { value } }: SchemaCall) {
    if (typeof value !== 'string') return undefined
    return run.budget.spend(value.length / TICKS.chars) ? codePoints(value) : null
  },
  properties: (call: SchemaCall) => (isObject(call.place.value) ? namesOf(call, call.place.value).length : undefined),
  items: ({ place: { value } }: SchemaCall) => (Array.isArray(value) ? value.length : undefined),
}

interface BoundKeyword {
  size: keyof typeof SIZES
  accepts: (size: number, bound: number) => boolean
  code: ErrorCode
  message: (bound: unknown) => string
}

const atMost = (size: number, bound: number) => size <= bound
const atLeast = (size: number, bound: number) => size >= bound

function counted(size: Exclude<keyof typeof SIZES, 'number'>, noun: string, codes: readonly [least: ErrorCode, most: ErrorCode]) {
  const message = (limit: string) => (bound: unknown) => `The ${noun} must have ${limit} ${String(bound)} ${size}.`
  const min: BoundKeyword = { size, accepts: atLeast, code: codes[0], message: message('at least') }
  const max: BoundKeyword = { size, accepts: atMost, code: codes[1], message: message('at most') }
  return { min, max }
}

const LENGTH = counted('characters', 'text', ['too_short', 'too_long'])
const PROPERTIES = counted('properties', 'object', ['too_few', 'too_many'])
const ITEMS = counted('items', 'array', ['too_few', 'too_many'])

function numeric(accepts: BoundKeyword['accepts'], code: ErrorCode, limit: string): BoundKeyword {
  return { size: 'number', accepts, code, message: (bound) => `The number must be ${limit} ${String(bound)}.` }
}

const BOUNDS: Readonly<Record<string, BoundKeyword>> = {
  maximum: numeric(atMost, 'too_large', 'at most'),
  exclusiveMaximum: numeric((size, bound) => size < bound, 'too_large', 'less than'),
  minimum: numeric(atLeast, 'too_small', 'at least'),
  exclusiveMinimum: numeric((size, bound) => size > bound, 'too_small', 'greater than'),
  maxLength: LENGTH.max,
  minLength: LENGTH.min,
  maxProperties: PROPERTIES.max,
  minProperties: PROPERTIES.min,
  maxItems: ITEMS.max,
  minItems: ITEMS.min,
}

/** Compiles a keyword that limits a size; null for other keywords. */
export function applyBound(keyword: string, limit: unknown): ApplyKeyword | null {
  const bound = Object.hasOwn(BOUNDS, keyword) ? BOUNDS[keyword] : undefined
  if (bound === undefined) return null
  const { accepts, code, message } = bound
  const sizeOf = SIZES[bound.size]
  return (call) => {
    const size = sizeOf(call)
    if (size === null) return null
    if (size === undefined || accepts(size, limit as number)) return true
    return call.run.reportError(call, keyword, code, () => message(limit))
  }
}

/** Names of the object, listed and charged once per location. */
export function namesOf({ run, place }: SchemaCall, object: JsonRecord): readonly string[] {
  if (place.names === null) {
    place.names = Object.keys(object)
    run.budget.spend(place.names.length * TICKS.name)
  }
  return place.names
}

/** Counts code points, as RFC 8259 defines characters: a surrogate pair is one. */
function codePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    const high = (text.charCodeAt(at) & 0xfc00) === 0xd800
    if (high && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--
      at++
    }
  }
  return count
}

export function applyPattern(source: unknown): ApplyKeyword {
  const text = String(source)
  const pattern = lazyPattern(text)
  const message = `The text does not match the pattern ${printableExcerpt(text)}.`
  return (call) => {
    const { value } = call.place
    if (typeof value !== 'string') return true
    const matched = matchesPattern(call, 'pattern', pattern, value)
    return matched === false ? call.run.reportError(call, 'pattern', 'pattern_mismatch', message) : matched
  }
}

/** Asserts a format, if it is one of those that are asserted. */
export function applyFormat(accepts: ((text: string) => boolean) | undefined): ApplyKeyword | null {
  if (accepts === undefined) return null
  return (call) => {
    const { value } = call.place
    if (typeof value !== 'string' || !call.run.budget.spend(TICKS.keyword + value.length / TICKS.chars)) return true
    return accepts(value) || call.run.reportError(call, 'format', 'pattern_mismatch', 'The text does not have the format.')
  }
}

export type LazyPattern = (run: SchemaRun) => SchemaPattern | null

/** Compiles a pattern on first use; null if the budget is used up. */
export function lazyPattern(source: string): LazyPattern {
  let pattern: SchemaPattern | null = null
  return ({ budget }) => (pattern ??= compilePattern(source, budget))
}

export function matchesPattern(call: SchemaCall, keyword: string, lazy: LazyPattern, text: string): Truth {
  const { budget } = call.run
  const pattern = budget.spend(TICKS.keyword) ? lazy(call.run) : null
  if (pattern === null) return null
  switch (pattern.state) {
    case 'unsupported':
      return call.run.reportGap(call.node, keyword, 'pattern_unsupported')
    case 'broken':
      return call.run.reportGap(call.node, keyword, 'pattern_invalid')
    case 'ready':
      return pattern.test(text, budget)
  }
}
