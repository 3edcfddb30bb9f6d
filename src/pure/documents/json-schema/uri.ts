/**
 * References as RFC 3986 (January 2005) joins them, and JSON pointers (RFC 6901). Nothing is looked up, decoded beyond what a pointer
 * needs, or normalised apart from dot segments, so that urn: and tag: names work like any other. Every loop ends with the text.
 */

interface UriParts {
  scheme: string | undefined
  authority: string | undefined
  path: string
  query: string | undefined
  fragment: string | undefined
}

const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/

function partsOf(reference: string): UriParts {
  const [, scheme, authority, path = '', query, fragment] = PARTS.exec(reference) ?? [undefined, undefined, undefined, reference]
  return { scheme, authority, path, query, fragment }
}

/** The absolute form of a reference within a base, fragment included. An empty base leaves it as it is. */
export function resolveUri(base: string, reference: string): string {
  const given = partsOf(reference)
  if (given.scheme !== undefined || base === '') return textOf({ ...given, path: withoutDots(given.path) })
  const from = partsOf(base)
  if (given.authority !== undefined) return textOf({ ...given, scheme: from.scheme, path: withoutDots(given.path) })
  const whole = { scheme: from.scheme, authority: from.authority, fragment: given.fragment }
  if (given.path === '') return textOf({ ...whole, path: from.path, query: given.query ?? from.query })
  return textOf({ ...whole, path: withoutDots(merged(from, given.path)), query: given.query })
}

/** RFC 3986 §5.2.3. */
function merged(base: UriParts, path: string): string {
  if (path.startsWith('/')) return path
  if (base.authority !== undefined && base.path === '') return `/${path}`
  return base.path.slice(0, base.path.lastIndexOf('/') + 1) + path
}

/** RFC 3986 §5.2.4, for paths that begin with a slash; a relative path stands in no hierarchy that its dots could climb. */
function withoutDots(path: string): string {
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

function textOf({ scheme, authority, path, query, fragment }: UriParts): string {
  const head = (scheme === undefined ? '' : `${scheme}:`) + (authority === undefined ? '' : `//${authority}`)
  return head + path + (query === undefined ? '' : `?${query}`) + (fragment === undefined ? '' : `#${fragment}`)
}

/** A reference before and after its first `#`; no `#` is an empty fragment. */
export function splitFragment(reference: string): { uri: string; fragment: string } {
  const at = reference.indexOf('#')
  return at === -1 ? { uri: reference, fragment: '' } : { uri: reference.slice(0, at), fragment: reference.slice(at + 1) }
}

/** The text behind a fragment's percent signs; null when they are broken. */
export function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return null
  }
}

/** The steps of a JSON pointer; null when it is none. */
export function pointerSteps(pointer: string): string[] | null {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** One step of a JSON pointer as it is written. */
export function pointerStep(step: string): string {
  return `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
