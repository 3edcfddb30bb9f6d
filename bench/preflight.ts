/**
 * CPU time of one preflight: a document of 5 KB and one of 250 KB for each protocol measured, from text to report.
 *
 *   node bench/preflight.ts
 */
import { checkDocument } from '../src/pure/protocols/check.ts'
import { readProtocolDocument } from '../src/pure/protocols/read-document.ts'
import type { ProtocolId } from '../src/pure/protocols/protocol.ts'
import { BODY_BOUNDS, DOCUMENT_BOUNDS } from '../src/service/preflight/preflight.ts'
import { MICRO_AST_CLEAN } from '../test/protocols/micro-ast-cases.ts'
import { X402_CLEAN } from '../test/protocols/x402-clean.ts'

const ROUNDS = 200
const NOW_S = 1_795_262_400

/** Repeats the items of a list until the text has about so many bytes. */
function grown(document: unknown, list: string, bytes: number): string {
  const copy = structuredClone(document) as Record<string, unknown[]>
  const items = copy[list] ?? []
  const own = items.slice()
  const each = JSON.stringify(own).length
  while ((items.length / own.length) * each < bytes) items.push(...structuredClone(own).map((item) => withId(item, items.length)))
  return JSON.stringify(copy)
}

function withId(item: unknown, index: number): unknown {
  return typeof item === 'object' && item !== null && 'id' in item ? { ...item, id: `${String(item.id)}.${index}` } : item
}

function measure(name: string, protocol: ProtocolId, text: string): void {
  const run = () => {
    const read = readProtocolDocument(text, BODY_BOUNDS)
    if (!read.ok) throw new Error(`${name}: ${read.message}`)
    const options = { expected_payee: null, now_s: NOW_S, literals: read.literals, bounds: DOCUMENT_BOUNDS }
    return checkDocument(protocol, read.value, options)
  }
  for (let round = 0; round < ROUNDS / 4; round++) run()
  const before = process.cpuUsage()
  const rounds = text.length > 50_000 ? ROUNDS / 10 : ROUNDS
  for (let round = 0; round < rounds; round++) run()
  const { user, system } = process.cpuUsage(before)
  const result = run()
  const status = result.kind === 'report' ? result.report.status : result.exceeded.bound
  console.log(
    `${name.padEnd(24)} ${String(text.length).padStart(7)} bytes  ${((user + system) / 1_000 / rounds).toFixed(2).padStart(8)} ms CPU  ${status}`,
  )
}

const CASES: [string, ProtocolId, unknown, string][] = [
  ['x402 challenge', 'x402', X402_CLEAN['challenge_v2']?.document, 'accepts'],
  ['micro-ast catalogue', 'micro-ast', MICRO_AST_CLEAN['whole']?.document, 'nodes'],
]
for (const [name, protocol, document, list] of CASES)
  for (const bytes of [5_000, 250_000]) measure(name, protocol, grown(document, list, bytes))
