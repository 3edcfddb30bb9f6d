import { isObject } from '../../is-object.ts'
import { cutText } from '../../cut-text.ts'
import { TICKS, type Budget } from './budget.ts'

/** Small truths about parsed JSON that every part of the engine needs. */

export type JsonRecord = Readonly<Record<string, unknown>>

/** Own members only: a property may be called `__proto__` or `toString`. */
export function member(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

export function members(record: JsonRecord): [string, unknown][] {
  return Object.entries(record)
}

export type JsonType = 'array' | 'boolean' | 'null' | 'number' | 'object' | 'string'

export function typeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}

/**
 * A text that two JSON values share exactly when JSON Schema calls them equal: members in one order, 1.0 as 1, no sign on zero. Texts are led
 * by their length, so that nothing in them has to be escaped. Null when there is no work left for it. The depth of the value must be bounded.
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
    // Long names are compared for longer, too.
    if (key === null || !budget.spend(TICKS.key_part + (name.length * compared) / COMPARED_CHARS)) return null
    text += `${name.length}:${name}${key},`
  }
  return `${text}}`
}

/** Characters that one tick compares. */
const COMPARED_CHARS = 16

export type SurveyFault = 'too_deep' | 'too_large' | 'not_json'

/** Whether a value is JSON within bounds: nesting, and the length of its text without spaces (a little less for numbers). Never throws. */
export function survey(value: unknown, depth: number, chars: number): SurveyFault | null {
  const left = { chars }
  return look(value, depth, left)
}

function look(value: unknown, depth: number, left: { chars: number }): SurveyFault | null {
  left.chars -= typeof value === 'string' ? value.length + 3 : 2
  if (left.chars < 0) return 'too_large'
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null
    case 'number':
      return Number.isFinite(value) ? null : 'not_json'
    case 'object':
      if (value === null) return null
      return depth === 0 ? 'too_deep' : lookInside(value, depth - 1, left)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      return 'not_json'
  }
}

function lookInside(container: object, depth: number, left: { chars: number }): SurveyFault | null {
  if (Array.isArray(container)) {
    // By index: a hole reads as undefined, which is no JSON.
    for (let index = 0; index < container.length; index++) {
      const fault = look(container[index], depth, left)
      if (fault !== null) return fault
    }
    return null
  }
  const prototype: unknown = Object.getPrototypeOf(container)
  if (prototype !== Object.prototype && prototype !== null) return 'not_json'
  for (const name of Object.keys(container)) {
    left.chars -= name.length + 3
    const fault = look((container as JsonRecord)[name], depth, left)
    if (fault !== null) return fault
  }
  return null
}

/** The bound of a text that came from a stranger and stands in a message or a path. */
const SHOWN_CHARS = 64

/** A stranger's text, short and without control, format or half characters. */
export function shown(text: string): string {
  const clean = text.slice(0, SHOWN_CHARS + 1).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\u{fffd}')
  return cutText(clean, SHOWN_CHARS)
}
