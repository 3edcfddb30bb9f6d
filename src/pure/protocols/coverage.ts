import { cutText } from '../cut-text.ts'
import type { JsonCursor } from './json-cursor.ts'
import type { Detection, Protocol, RuleDescription, VersionSpan } from './protocol.ts'

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
    const detection: Detection = version === undefined ? { ...detected, type } : { ...detected, type, version, version_source: 'assumed' }
    const is_covered = recognised === undefined && protocol.types.includes(type) && (version !== undefined || !isOutside)
    return { is_covered, detection, other_declared: null }
  }
  const version = readStatedVersion(protocol, stated.version)
  const detection: Detection = {
    ...detected,
    type,
    version: version ?? cutText(stated.version, VERSION_CHARS, ''),
    version_source: 'stated',
  }
  const isKnown = version !== null && existsInVersion(protocol, type, version)
  const is_declared = detected.version_source === 'declared' && detected.declared === undefined
  return {
    is_covered: isKnown && recognised === undefined && protocol.types.includes(type),
    detection,
    other_declared: is_declared && detected.version !== version ? detected.version : null,
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

/** Every document type that a caller may state, those first that rules cover. */
export function listDocumentTypes({ types, uncovered = [] }: Pick<Protocol, 'types' | 'uncovered'>): readonly string[] {
  return [...types, ...uncovered.map(({ type }) => type)]
}

/** A JSON-RPC request or notification: it names a method and answers nothing. */
export function isJsonRpcRequest(document: JsonCursor): boolean {
  return document.has('jsonrpc') && document.has('method') && !document.has('result') && !document.has('error')
}

/** The oldest and the newest version that a rule is about, by its own bounds and by the types that it is about. */
export function versionsOfRule(
  protocol: Pick<Protocol, 'versions' | 'spans'>,
  { types, since, until }: RuleDescription,
): Required<VersionSpan> {
  const { versions, spans = {} } = protocol
  const [newest = ''] = versions
  const oldest = versions.at(-1) ?? newest
  const age = (version: string) => versions.indexOf(version)
  const starts = types?.map((type) => spans[type]?.since ?? oldest) ?? []
  const ends = types?.map((type) => spans[type]?.until ?? newest) ?? []
  const first = starts.length === 0 ? oldest : starts.reduce((one, other) => (age(one) >= age(other) ? one : other))
  const last = ends.length === 0 ? newest : ends.reduce((one, other) => (age(one) <= age(other) ? one : other))
  return {
    since: since !== undefined && age(since) < age(first) ? since : first,
    until: until !== undefined && age(until) > age(last) ? until : last,
  }
}
