import type { Detection } from '../rule.ts'
import { isDate } from './dates.ts'

/** What a version text is to a list of known date versions. */
export type DateVersion =
  | { kind: 'known'; version: string }
  /** Later than the newest known one: checked with its rules. */
  | { kind: 'newer'; version: string }
  /** Between or before the known ones: checked with the newest that is not later, else the oldest. */
  | { kind: 'unknown'; version: string }
  | { kind: 'unparsable' }

/** Places a `YYYY-MM-DD` version among the known ones, newest first; `version` is that of the rules to use. */
export function readDateVersion(text: string | null, known: readonly string[]): DateVersion {
  if (text === null || !isDate(text)) return { kind: 'unparsable' }
  if (known.includes(text)) return { kind: 'known', version: text }
  const [newest = ''] = known
  if (text > newest) return { kind: 'newer', version: newest }
  return { kind: 'unknown', version: known.find((one) => one < text) ?? known.at(-1) ?? newest }
}

/** The version part of a detection from a declared date; null when it cannot be read, so that shape must tell. */
export function declaredVersion(
  text: string | null,
  known: readonly string[],
): Pick<Detection, 'version' | 'version_source' | 'declared'> | null {
  const read = readDateVersion(text, known)
  switch (read.kind) {
    case 'unparsable':
      return null
    case 'known':
      return { version: read.version, version_source: 'declared' }
    case 'newer':
    case 'unknown':
      return { version: read.version, version_source: 'declared', declared: text ?? '' }
  }
}

/**
 * Names such as `dev.ucp.shopping.checkout`: labels of lower-case letters, digits and underscores, at least two. `hyphens` also allows inner
 * hyphens, and digits first in labels after the first.
 */
export function isReverseDomain(text: string, { hyphens }: { hyphens: boolean }): boolean {
  if (text.length > 256) return false
  const labels = text.split('.')
  const later = hyphens ? /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/ : /^[a-z][a-z0-9_]{0,62}$/
  const first = hyphens ? /^[a-z](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/ : later
  return labels.length >= 2 && labels.every((label, index) => (index === 0 ? first : later).test(label))
}
