import { equalityKey, shown, typeOf } from './json.ts'
import type { Call, ErrorCode, Place, Run, Truth } from './nodes.ts'
import { isMultiple } from './numbers.ts'
import { compilePattern, type Pattern } from './pattern.ts'

/** Keywords that judge a value by itself. Each maker is handed a value of the right form. */

export type Apply = (call: Call) => Truth

/** Characters that a step of work looks at. */
const STEP_CHARS = 16

export function applyType(wanted: unknown): Apply {
  const types: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  const words = types.join(' or ')
  return (call) => {
    const { value } = call.place
    const type = typeOf(value)
    if (types.includes(type) || (type === 'number' && types.includes('integer') && Number.isInteger(value))) return true
    return call.run.fail(call, 'type', 'type_mismatch', `Expected ${words}, found ${type}.`)
  }
}

export function applyEnum(values: unknown): Apply {
  let keys: Set<string> | null = null
  return (call) => {
    keys ??= new Set((values as readonly unknown[]).map(equalityKey))
    if (keys.has(keyOf(call.run, call.place))) return true
    return call.run.fail(call, 'enum', 'not_in_enum', `The value is not one of the ${keys.size} permitted.`)
  }
}

export function applyConst(value: unknown): Apply {
  let key: string | null = null
  return (call) => {
    key ??= equalityKey(value)
    if (keyOf(call.run, call.place) === key) return true
    return call.run.fail(call, 'const', 'not_const', `The value must be ${shown(key)}.`)
  }
}

/** The place's text for comparison; a long one is paid for when it is made. */
export function keyOf(run: Run, place: Place): string {
  if (place.key === null) {
    place.key = equalityKey(place.value)
    run.spend(Math.ceil(place.key.length / STEP_CHARS))
  }
  return place.key
}

function onNumber(keyword: string, code: ErrorCode, holds: (value: number) => boolean, message: string): Apply {
  return (call) => {
    const { value } = call.place
    return typeof value !== 'number' || holds(value) || call.run.fail(call, keyword, code, message)
  }
}

export function applyMultipleOf(divisor: unknown): Apply {
  const number = divisor as number
  return onNumber('multipleOf', 'not_a_multiple', (value) => isMultiple(value, number), `The number must be a multiple of ${number}.`)
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
    if (!call.run.spend(Math.ceil(value.length / STEP_CHARS))) return null
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

/** What it costs to make a pattern ready, in steps. */
const COMPILE_STEPS = 200

/** Patterns are made ready when they are first needed; null when there is no work left for that. */
export function lazyPattern(source: string): LazyPattern {
  let pattern: Pattern | null = null
  return (run) => {
    if (pattern !== null) return pattern
    return run.spend(COMPILE_STEPS + source.length) ? (pattern = compilePattern(source)) : null
  }
}

/** Instructions of a pattern that run at the price of one. */
const FREE_INSTRUCTIONS = 64
const STEP_PATTERN_CHARS = 4

export function matches(call: Call, keyword: string, lazy: LazyPattern, text: string): Truth {
  const pattern = lazy(call.run)
  if (pattern === null) return null
  switch (pattern.state) {
    case 'unsupported':
      return call.run.doubt(call.node, keyword, 'pattern_unsupported')
    case 'broken':
      return call.run.doubt(call.node, keyword, 'pattern_invalid')
    case 'ready': {
      const steps = 1 + Math.ceil((text.length / STEP_PATTERN_CHARS) * (1 + pattern.size / FREE_INSTRUCTIONS))
      return call.run.spend(steps) ? pattern.test(text) : null
    }
  }
}
