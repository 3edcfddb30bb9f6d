import { cutText } from '../../cut-text.ts'

export type JsonRecord = Readonly<Record<string, unknown>>

/** Own members only: a property may be called `__proto__` or `toString`. */
export function ownMember(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Decoded steps of a JSON pointer (RFC 6901). */
export function readPointer(pointer: string): string[] {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** One step of a JSON pointer (RFC 6901), with its slash. */
export function pointerStep(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

export type JsonBoundsFault = 'too_deep' | 'too_large' | 'not_json'

/**
 * Checks that a value is JSON within limits: nesting depth, and length of its text without spaces (slightly less for numbers). Never
 * throws.
 */
export function checkJsonBounds(value: unknown, depth: number, chars: number): JsonBoundsFault | null {
  const left = { chars }
  return checkValue(value, depth, left)
}

function checkValue(value: unknown, depth: number, left: { chars: number }): JsonBoundsFault | null {
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
      return depth === 0 ? 'too_deep' : checkContainer(value, depth - 1, left)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      return 'not_json'
  }
}

function checkContainer(container: object, depth: number, left: { chars: number }): JsonBoundsFault | null {
  if (Array.isArray(container)) {
    // By index: a hole reads as undefined, which is not JSON.
    for (let index = 0; index < container.length; index++) {
      const fault = checkValue(container[index], depth, left)
      if (fault !== null) return fault
    }
    return null
  }
  const prototype: unknown = Object.getPrototypeOf(container)
  if (prototype !== Object.prototype && prototype !== null) return 'not_json'
  for (const name of Object.keys(container)) {
    left.chars -= name.length + 3
    const fault = checkValue((container as JsonRecord)[name], depth, left)
    if (fault !== null) return fault
  }
  return null
}

/** Maximum length of an excerpt of untrusted text in a message or path. */
const EXCERPT_CHARS = 64

/** Shortens untrusted text and replaces control characters, format characters and lone surrogates. */
export function printableExcerpt(text: string): string {
  const clean = text.slice(0, EXCERPT_CHARS + 1).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\u{fffd}')
  return cutText(clean, EXCERPT_CHARS)
}
