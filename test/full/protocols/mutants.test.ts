/** The preflight against the schemas that the projects publish: changed documents that a schema refuses must draw errors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { A2A_CLEAN } from '../../protocols/a2a-clean.ts'
import { ACP_CLEAN } from '../../protocols/acp-clean.ts'
import { AP2_CLEAN } from '../../protocols/ap2-clean.ts'
import type { CleanDocument } from '../../protocols/harness.ts'
import { MCP_CLEAN } from '../../protocols/mcp-clean.ts'
import { countMutants } from '../../protocols/mutants.ts'
import type { SchemaProtocol } from '../../protocols/official-schemas.ts'
import { UCP_CLEAN } from '../../protocols/ucp-clean.ts'
import { SEED } from '../../support/counts.ts'

interface Measured {
  protocol: SchemaProtocol
  clean: Readonly<Record<string, CleanDocument>>
  /** Documents that schema and preflight both accept. */
  documents: number
  /** Least share of violating mutants that draw an error, in per cent; docs/benchmarks.md has what was measured. */
  found: number
  /** Documents that the schema refuses, and why they are right all the same. */
  refused: Readonly<Record<string, string>>
}

const NOT_BARE = 'the schema is about the bare claims, the document is an envelope, or withholds some of them'
const REVISED = 'the order is of the first revision of 2026-04-17, whose schema was changed in place'
const MOVED = 'the schema is about another part of the document'

const MEASURED: readonly Measured[] = [
  { protocol: 'ucp', clean: UCP_CLEAN, documents: 30, found: 99.5, refused: {} },
  {
    protocol: 'acp',
    clean: ACP_CLEAN,
    documents: 18,
    found: 99.5,
    refused: {
      completed_2025_09: 'orders came into sessions as an extra member before the schema had them',
      completed: REVISED,
      order: REVISED,
      order_event: MOVED,
      old_order_event: MOVED,
      wrapped_error: MOVED,
      delegation: MOVED,
    },
  },
  {
    protocol: 'mcp',
    clean: MCP_CLEAN,
    documents: 48,
    found: 99.5,
    refused: {
      'bare tools': 'no JSON-RPC around it',
    },
  },
  {
    protocol: 'ap2',
    clean: AP2_CLEAN,
    documents: 8,
    found: 99,
    refused: { 'token payload': NOT_BARE, 'disclosed checkout': NOT_BARE, 'hidden constraints': NOT_BARE },
  },
  { protocol: 'a2a', clean: A2A_CLEAN, documents: 7, found: 99, refused: { 'paid task': MOVED } },
]

const EACH = 600

for (const { protocol, clean, documents, found, refused } of MEASURED) {
  test(`${protocol}: of the mutants that the official schema refuses, at least ${found} % draw an error`, (context) => {
    const count = countMutants(protocol, clean, SEED, EACH)
    const share = (100 * count.found) / count.violating
    context.diagnostic(`${protocol}: ${count.found} of ${count.violating} (${share.toFixed(2)} %) in ${count.documents} documents`)
    assert.deepEqual(count.refused.toSorted(), Object.keys(refused).toSorted())
    assert.equal(count.documents, documents)
    assert.ok(count.violating > 100 * documents, `only ${count.violating} mutants violate`)
    assert.ok(share >= found, `${share.toFixed(2)} % were found; missed: ${count.missed.slice(0, 20).join('; ')}`)
  })
}
