import { cutText } from '../cut-text.ts'
import type { JsonCursor } from './json-cursor.ts'
import { UNKNOWN_TYPE, type Detection, type Protocol, type VersionSpan } from './protocol.ts'

/** Decides by which type and version a document is checked, and whether rules cover it. */

/** Type and version that the caller states; null to detect them from the document. */
interface StatedDocument {
  document_type: string | null
  version: string | null
}

interface Coverage {
  /** False where no rule set covers the type or the version, so that the document neither passes nor fails. */
  is_covered: boolean
  detection: Detection
  /** Version that the document declares, where the caller states another one. */
  other_declared: string | null
}

/** Characters of a stated version that are shown. */
const VERSION_CHARS = 32

/** Type and version as the report names them. */
export function shownDetection(detection: Detection): Detection {
  const { outside, declared, version } = detection
  if (outside === 'future') return { ...detection, version: declared ?? version }
  return outside === 'unknown' ? { ...detection, type: UNKNOWN_TYPE } : detection
}

/** Decides type and version by which a document is checked: stated ones take precedence over detected ones. */
export function decideCoverage(protocol: Protocol, document: JsonCursor, stated: StatedDocument): Coverage {
  const detected = protocol.detect(document)
  const uncovered = protocol.uncovered ?? []
  const known_uncovered = uncovered.find(({ type }) => type === stated.document_type)
  const recognised = stated.document_type === null ? uncovered.find((one) => one.recognises(document)) : known_uncovered
  const type = stated.document_type ?? recognised?.type ?? detected.type
  if (stated.version === null) {
    const isOutside = stated.document_type !== null && !existsInVersion(protocol, type, detected.version)
    const span = protocol.spans?.[type]
    // A type that is newer than the version that the shape was taken for is read by the oldest version that has it.
    const version = isOutside && detected.version_source !== 'declared' ? (span?.since ?? span?.until) : undefined
    const { outside, ...seen } = detected
    const shape = { ...seen, type, ...(outside === undefined || (outside === 'unknown' && type !== detected.type) ? {} : { outside }) }
    const detection: Detection = version === undefined ? shape : { ...shape, version, version_source: 'assumed' }
    const is_covered =
      recognised === undefined && (shape.outside === 'unknown' || protocol.types.includes(type)) && (version !== undefined || !isOutside)
    return { is_covered, detection, other_declared: null }
  }
  const version = readStatedVersion(protocol, stated.version)
  const detection: Detection = {
    ...(detected.declared === undefined ? {} : { declared: detected.declared }),
    ...(detected.outside === 'unknown' && type === detected.type ? { outside: detected.outside } : {}),
    type,
    version: version ?? cutText(stated.version, VERSION_CHARS, ''),
    version_source: 'stated',
  }
  const isKnown = version !== null && existsInVersion(protocol, type, version)
  const isType = protocol.types.includes(type) || detection.outside === 'unknown'
  const declared = detected.version_source === 'declared' ? (detected.declared ?? detected.version) : null
  return {
    is_covered: isKnown && recognised === undefined && isType,
    detection,
    other_declared: declared === version || declared === stated.version ? null : declared,
  }
}

/** The version of the rules for a version as people write it: `v0.2`, `0.3.0`, `2026-04-08`; null for one that no rule set covers. */
function readStatedVersion(protocol: Protocol, text: string): string | null {
  const plain = text.trim().replace(/^v(?=[0-9])/i, '')
  const candidates = [plain, plain.replace(/\.0$/, ''), protocol.readVersion?.(plain) ?? plain]
  return candidates.find((one) => protocol.versions.includes(one)) ?? null
}

/** Returns whether documents of a type exist in a version of the protocol. */
function existsInVersion(protocol: Protocol, type: string, version: string): boolean {
  const { since, until }: VersionSpan = protocol.spans?.[type] ?? {}
  const age = (one: string) => protocol.versions.indexOf(one)
  return (since === undefined || age(version) <= age(since)) && (until === undefined || age(version) >= age(until))
}
