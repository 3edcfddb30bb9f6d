import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { isObject } from '../is-object.ts'
import { canonicalText } from '../receipts/canonical.ts'
import type { AuditBundle } from './bundle.ts'

type Part = [pointer: string, value: unknown]

/**
 * Parts of a bundle by JSON pointer: every member except `manifest`. Lists are divided into their elements, and these parts into their members: the
 * elements of `answers`, each `answer`, and `log`. An empty list or object is a part itself.
 */
export function bundleParts(bundle: Omit<AuditBundle, 'manifest'>): Map<string, unknown> {
  const parts = divide([['', bundle]]).filter(([pointer]) => pointer !== '/manifest')
  return new Map(
    parts.flatMap((part): Part[] => {
      switch (part[0]) {
        case '/answers':
          return divide(divide([part])).flatMap((one) => (/^\/answers\/\d+\/answer$/.test(one[0]) ? divide([one]) : [one]))
        case '/log':
          return divide([part]).flatMap((one) => (Array.isArray(one[1]) ? divide([one]) : [one]))
        case '/datasets':
          return divide([part])
        default:
          return [part]
      }
    }),
  )
}

/** Replaces each part by its elements or members, if it has any. */
function divide(parts: readonly Part[]): Part[] {
  return parts.flatMap((part): Part[] => {
    const [pointer, value] = part
    const members = Array.isArray(value) || isObject(value) ? Object.entries(value) : []
    return members.length === 0 ? [part] : members.map(([name, one]): Part => [`${pointer}/${escaped(name)}`, one])
  })
}

/** Member name in a JSON pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** SHA-256 of the RFC 8785 text of each part. Throws `CanonicalError` for a value that is not JSON. */
export function bundleManifest(bundle: Omit<AuditBundle, 'manifest'>): Record<string, string> {
  return Object.fromEntries([...bundleParts(bundle)].map(([pointer, value]) => [pointer, partHash(value)]))
}

export function partHash(value: unknown): string {
  return textHash(canonicalText(value))
}

export function textHash(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)))
}
