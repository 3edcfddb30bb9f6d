import fc from 'fast-check'
import { checkDocument, type PreflightReport } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/json-cursor.ts'
import type { ProtocolId } from '../../src/pure/protocols/protocol.ts'
import { BOUNDS, NOW_S, type CleanDocument } from './harness.ts'
import { officialJudge, type SchemaProtocol } from './official-schemas.ts'
import { changed, DROPPED, stepsIn } from './ucp-mutants.ts'

/** Values of every JSON type, and texts and numbers that formats and ranges refuse. */
const REPLACEMENTS: readonly unknown[] = [DROPPED, null, true, 'banana', '', 'not a url', 7, -1, 2.5, [], {}, [{}], { x: 1 }]

/** Key of a member that no schema has, which closed objects refuse. */
const STRAY = 'x_no_such_member'

export interface MutantCount {
  /** Documents whose mutants were judged: the schema and the preflight both accept the document itself. */
  documents: number
  /** Mutants that the official schema refuses. */
  violating: number
  /** Those of them that the preflight finds an error in. */
  found: number
  /** What the preflight misses: document, version and place of the change. */
  missed: string[]
  /** Documents that the official schema refuses though the preflight accepts them. */
  refused: string[]
}

interface Mutant {
  document: unknown
  change: string
}

/** Changes one place of each good document, many times over; the official schema says which mutants violate it. */
export function countMutants(
  protocol: SchemaProtocol,
  clean: Readonly<Record<string, CleanDocument>>,
  seed: number,
  each: number,
): MutantCount {
  const judgeOf = officialJudge(protocol)
  const count: MutantCount = { documents: 0, violating: 0, found: 0, missed: [], refused: [] }
  for (const [name, one] of Object.entries(clean)) {
    const judge = judgeOf(judgedType(protocol, one), one.version)
    if (judge === null) continue
    const good = bare(protocol, one.document)
    if (!judge(good)) {
      count.refused.push(name)
      continue
    }
    count.documents++
    for (const { document, change } of fc.sample(mutantsOf(protocol, good), { numRuns: each, seed })) {
      if (judge(document)) continue
      const report = reportOf(protocol, document)
      const errors = report?.errors.length ?? 1
      // A response of MCP does not name its request: without the member that gives it its type, it is the result of another one.
      if (protocol === 'mcp' && errors === 0 && report?.document_type !== one.type) continue
      count.violating++
      if (errors > 0) count.found++
      else count.missed.push(`${name} ${change}`)
    }
  }
  return count
}

/** What the schema is about: messages around a document have a schema only in MCP. */
function bare(protocol: ProtocolId, document: unknown): unknown {
  if (protocol === 'mcp' || typeof document !== 'object' || document === null || !('jsonrpc' in document)) return document
  const { result } = document as { result?: { structuredContent?: unknown } }
  return result?.structuredContent ?? result ?? document
}

/** Sessions with an order have a schema of their own in ACP. */
function judgedType(protocol: SchemaProtocol, { type, document }: CleanDocument): string {
  const has_order = typeof document === 'object' && document !== null && 'order' in document
  return protocol === 'acp' && type === 'checkout_session' && has_order ? 'checkout_session_with_order' : type
}

/**
 * A2A 1.0 is defined by protocol buffers. Their JSON takes null for a member that is not set, and its readers must skip members that they do
 * not know, so neither is a violation there, although the derived schema refuses both.
 */
function mutantsOf(protocol: SchemaProtocol, good: unknown): fc.Arbitrary<Mutant> {
  const isProtobuf = protocol === 'a2a'
  const replacements = isProtobuf ? REPLACEMENTS.filter((to) => to !== null) : REPLACEMENTS
  const places = stepsIn(good)
  const replaced = fc.tuple(fc.constantFrom(...places), fc.constantFrom(...replacements)).map(([steps, to]) => ({
    document: changed(good, steps, to),
    change: `/${steps.join('/')} ${to === DROPPED ? 'dropped' : JSON.stringify(to)}`,
  }))
  const objects: string[][] = [[], ...places].filter((steps) => isObject(at(good, steps)))
  const extended = fc.constantFrom(...objects).map((steps) => ({
    document: changed(good, [...steps, STRAY], 1),
    change: `/${steps.join('/')} + stray`,
  }))
  return isProtobuf ? replaced : fc.oneof({ weight: 9, arbitrary: replaced }, { weight: 1, arbitrary: extended })
}

function at(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce((holder, step) => (holder as Record<string, unknown>)[step], value)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** null for a document that breaks a bound, which is refused. */
function reportOf(protocol: ProtocolId, document: unknown): PreflightReport | null {
  const result = checkDocument(protocol, document, { expected_payee: null, now_s: NOW_S, literals: NO_LITERALS, bounds: BOUNDS })
  return result.kind === 'exceeded' ? null : result.report
}
