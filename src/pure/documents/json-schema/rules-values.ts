import { isObject } from '../../is-object.ts'
import { TICKS } from './budget.ts'
import { equalityKey, shown, typeOf } from './json.ts'
import type { Call, ErrorCode, Run, Truth } from './nodes.ts'
import { compilePattern, type Pattern } from './pattern.ts'

/**
 * Whether a number is a whole multiple of another, by the decimal texts that both were written with: 19.99 is a multiple of 0.01, although
 * the doubles that stand for them are not. The text is the shortest that reads as the double, so a literal with more than 17 significant
 * digits is judged as the number that every reader of JSON makes of it. Exact at every size; at most some 700 digits.
 */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const [a, b] = [decimalOf(value), decimalOf(divisor)]
  const exponent = Math.min(a.exponent, b.exponent)
  return (a.digits * 10n ** BigInt(a.exponent - exponent)) % (b.digits * 10n ** BigInt(b.exponent - exponent)) === 0n
}

/** Work of `isMultiple` in ticks: it grows with the digits between the two numbers. */
function multipleTicks(value: unknown, divisor: number): number {
  if (typeof value !== 'number' || (Number.isSafeInteger(value) && Number.isSafeInteger(divisor))) return 0
  const digits = value === 0 ? 0 : Math.abs(Math.log10(Math.abs(value)) - Math.log10(divisor))
  return 30 + Math.ceil(digits / 2)
}

/** `digits * 10 ** exponent`. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa = '0', power = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number.parseInt(power, 10) - fraction.length }
}

/** Keywords that judge a value by itself. Each maker is handed a value of the right form. */

export type Apply = (call: Call) => Truth

export function applyType(wanted: unknown): Apply {
  const types: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  const words = types.join(' or ')
  return (call) => {
    const { value } = call.place
    const type = typeOf(value)
    if (types.includes(type) || (type === 'number' && types.includes('integer') && Number.isInteger(value))) return true
    return call.run.fail(call, 'type', 'type_mismatch', () => `Expected ${words}, found ${type}.`)
  }
}

export function applyEnum(values: unknown): Apply {
  let known: Known | null = null
  return (call) => {
    known ??= knownOf(values as readonly unknown[], call.run)
    const found = isKnown(call, known)
    return found === false ? call.run.fail(call, 'enum', 'not_in_enum', `The value is not one of the ${known?.size} permitted.`) : found
  }
}

export function applyConst(value: unknown): Apply {
  let text: string | null = null
  let known: Known | null = null
  return (call) => {
    known ??= knownOf([value], call.run)
    const found = isKnown(call, known)
    return found === false
      ? call.run.fail(call, 'const', 'not_const', () => `The value must be ${(text ??= shown(sortedText(value)))}.`)
      : found
  }
}

/** Texts for comparison, and the forms that the values have: most values that are not among them differ in form. */
interface Known {
  keys: ReadonlySet<string>
  size: number
  forms: ReadonlySet<string>
}

/** Null when there is no work left for it. */
function knownOf(values: readonly unknown[], run: Run): Known | null {
  const keys = new Set<string>()
  const forms = new Set<string>()
  for (const value of values) {
    const key = equalityKey(value, run.budget)
    if (key === null || !run.budget.spend(2 * TICKS.name)) return null
    keys.add(key)
    forms.add(formOf(value))
  }
  return { keys, size: keys.size, forms }
}

function formOf(value: unknown): string {
  return Array.isArray(value) ? `array of ${value.length}` : typeOf(value)
}

function isKnown({ run, place }: Call, known: Known | null): Truth {
  if (known === null) return null
  if (!known.forms.has(formOf(place.value))) return false
  place.key ??= equalityKey(place.value, run.budget)
  return place.key === null ? null : known.keys.has(place.key)
}

/** JSON with the members of objects in one order. The depth of the value must be bounded. */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(value[name])}`).join(',')}}`
}

function onNumber(keyword: string, code: ErrorCode, holds: (value: number) => boolean, message: string): Apply {
  return (call) => {
    const { value } = call.place
    return typeof value !== 'number' || holds(value) || call.run.fail(call, keyword, code, message)
  }
}

export function applyMultipleOf(divisor: unknown): Apply {
  const number = divisor as number
  const judge = onNumber(
    'multipleOf',
    'not_a_multiple',
    (value) => isMultiple(value, number),
    `The number must be a multiple of ${number}.`,
  )
  return (call) => (call.run.budget.spend(multipleTicks(call.place.value, number)) ? judge(call) : null)
}

export function applyMaximum(bound: unknown): Apply {
  return onNumber('maximum', 'too_large', (value) => value <= (bound as number), `The number must be at most ${String(bound)}.`)
}

export function applyExclusiveMaximum(bound: unknown): Apply {
  return onNumber('exclusiveMaximum', 'too_large', (value) => value < (bound as number), `The number must be less than ${String(bound)}.`)
}

export function applyMinimum(bound: unknown): Apply {
  return onNumber('minimum', 'too_small', (value) => value >= (bound as number), `The number must be at least ${String(bound)}.`)
}

export function applyExclusiveMinimum(bound: unknown): Apply {
  const message = `The number must be greater than ${String(bound)}.`
  return onNumber('exclusiveMinimum', 'too_small', (value) => value > (bound as number), message)
}

export function applyMaxLength(bound: unknown): Apply {
  return onLength(
    'maxLength',
    'too_long',
    (length) => length <= (bound as number),
    `The text must have at most ${String(bound)} characters.`,
  )
}

export function applyMinLength(bound: unknown): Apply {
  return onLength(
    'minLength',
    'too_short',
    (length) => length >= (bound as number),
    `The text must have at least ${String(bound)} characters.`,
  )
}

function onLength(keyword: string, code: ErrorCode, holds: (length: number) => boolean, message: string): Apply {
  return (call) => {
    const { value } = call.place
    if (typeof value !== 'string') return true
    if (!call.run.budget.spend(value.length / TICKS.chars)) return null
    return holds(codePoints(value)) || call.run.fail(call, keyword, code, message)
  }
}

/** RFC 8259 characters are code points: a pair of surrogates is one. */
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

export function applyPattern(source: unknown): Apply {
  const text = String(source)
  const pattern = lazyPattern(text)
  const message = `The text does not match the pattern ${shown(text)}.`
  return (call) => {
    const { value } = call.place
    if (typeof value !== 'string') return true
    const matched = matches(call, 'pattern', pattern, value)
    return matched === false ? call.run.fail(call, 'pattern', 'pattern_mismatch', message) : matched
  }
}

export type LazyPattern = (run: Run) => Pattern | null

/** Patterns are made ready when they are first needed; null when there is no work left for that. */
export function lazyPattern(source: string): LazyPattern {
  let pattern: Pattern | null = null
  return ({ budget }) => (pattern ??= compilePattern(source, budget))
}

export function matches(call: Call, keyword: string, lazy: LazyPattern, text: string): Truth {
  const { budget } = call.run
  const pattern = budget.spend(TICKS.keyword) ? lazy(call.run) : null
  if (pattern === null) return null
  switch (pattern.state) {
    case 'unsupported':
      return call.run.doubt(call.node, keyword, 'pattern_unsupported')
    case 'broken':
      return call.run.doubt(call.node, keyword, 'pattern_invalid')
    case 'ready':
      return pattern.test(text, budget)
  }
}
