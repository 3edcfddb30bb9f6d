import { cutText } from '../../cut-text.ts'

export type JsonRecord = Readonly<Record<string, unknown>>

/** Own members only: a property may be called `__proto__` or `toString`. */
export function ownMember(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

export function ownMembers(record: JsonRecord): [string, unknown][] {
  return Object.entries(record)
}

type JsonType = 'array' | 'boolean' | 'null' | 'number' | 'object' | 'string'

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
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

/**
 * URI references (RFC 3986, January 2005) and JSON pointers (RFC 6901). Only dot segments are normalized and only pointers decoded, so that
 * urn: and tag: names work too.
 */

interface UriParts {
  scheme: string | undefined
  authority: string | undefined
  path: string
  query: string | undefined
  fragment: string | undefined
}

const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/

function splitUri(reference: string): UriParts {
  const [, scheme, authority, path = '', query, fragment] = PARTS.exec(reference) ?? [undefined, undefined, undefined, reference]
  return { scheme, authority, path, query, fragment }
}

/** Resolves a reference against a base, fragment included. An empty base leaves it unchanged. */
export function resolveUri(base: string, reference: string): string {
  const given = splitUri(reference)
  if (given.scheme !== undefined || base === '') return uriText({ ...given, path: removeDotSegments(given.path) })
  const from = splitUri(base)
  if (given.authority !== undefined) return uriText({ ...given, scheme: from.scheme, path: removeDotSegments(given.path) })
  const whole = { scheme: from.scheme, authority: from.authority, fragment: given.fragment }
  if (given.path === '') return uriText({ ...whole, path: from.path, query: given.query ?? from.query })
  return uriText({ ...whole, path: removeDotSegments(mergePaths(from, given.path)), query: given.query })
}

/** RFC 3986 §5.2.3. */
function mergePaths(base: UriParts, path: string): string {
  if (path.startsWith('/')) return path
  if (base.authority !== undefined && base.path === '') return `/${path}`
  return base.path.slice(0, base.path.lastIndexOf('/') + 1) + path
}

/** RFC 3986 §5.2.4, for paths that start with a slash; a relative path has no hierarchy to climb. */
function removeDotSegments(path: string): string {
  if (!path.startsWith('/') || !path.includes('/.')) return path
  const kept: string[] = []
  const steps = path.split('/').slice(1)
  steps.forEach((step, index) => {
    if (step === '..') kept.pop()
    else if (step !== '.') kept.push(step)
    if ((step === '.' || step === '..') && index === steps.length - 1) kept.push('')
  })
  return `/${kept.join('/')}`
}

function uriText({ scheme, authority, path, query, fragment }: UriParts): string {
  const head = (scheme === undefined ? '' : `${scheme}:`) + (authority === undefined ? '' : `//${authority}`)
  return head + path + (query === undefined ? '' : `?${query}`) + (fragment === undefined ? '' : `#${fragment}`)
}

/** Splits a reference at its first `#`; without `#` the fragment is empty. */
export function splitFragment(reference: string): { uri: string; fragment: string } {
  const at = reference.indexOf('#')
  return at === -1 ? { uri: reference, fragment: '' } : { uri: reference.slice(0, at), fragment: reference.slice(at + 1) }
}

/** Percent-decodes a fragment; null if its encoding is invalid. */
export function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return null
  }
}

/** Splits a JSON pointer into decoded steps; null if it is not a pointer. */
export function pointerSteps(pointer: string): string[] | null {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Encodes one step of a JSON pointer. */
export function pointerStep(step: string): string {
  return `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
