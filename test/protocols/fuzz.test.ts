import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDocument, type PreflightReport } from '../../src/pure/protocols/check.ts'
import { COMMON_RULES } from '../../src/pure/protocols/common-rules.ts'
import { NO_LITERALS } from '../../src/pure/protocols/json-cursor.ts'
import { PROTOCOLS } from '../../src/pure/protocols/registry.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../src/pure/protocols/protocol.ts'
import { assertGrowth } from '../fuzz/growth.ts'
import { seeded } from '../fuzz/random.ts'
import { runs, SEED } from '../support/counts.ts'
import { cleanDocuments, type Known } from './clean-documents.ts'
import { BOUNDS, NOW_S, severitiesOf } from './harness.ts'
import { CANARY, mutated, type Json } from './hostile-documents.ts'

const known = await cleanDocuments()
/** All documents in full; enough of each protocol to see a mistake in a quick run. */
const CASES = runs(1_000, 100_000)
const DECLARED = new Set(
  [...COMMON_RULES, ...PROTOCOL_IDS.flatMap((id) => PROTOCOLS[id].rules)].flatMap((rule) =>
    severitiesOf(rule).map((severity) => `${rule.code} ${severity}`),
  ),
)

function assertSound(report: PreflightReport): void {
  const { status, errors, warnings, truncated } = report
  for (const { code, severity, message, path } of [...errors, ...warnings]) {
    // Of a version that is not known yet, errors are warnings.
    const declared = [severity, ...(severity === 'warning' ? ['error'] : [])].map((one) => `${code} ${one}`)
    assert.ok(
      declared.some((one) => DECLARED.has(one)),
      `${code} ${severity} is not declared`,
    )
    assert.ok(message.length <= 400 && path.length <= 512, `${code} says too much`)
    assert.ok(!message.includes(CANARY), `${code} repeats a value`)
  }
  assert.ok(errors.every(({ severity }) => severity === 'error') && warnings.every(({ severity }) => severity === 'warning'))
  if (status === 'not_covered') assert.deepEqual(errors, [])
  else assert.equal(status, errors.length > 0 ? 'fail' : warnings.length > 0 || truncated ? 'warn' : 'pass')
  const told = [...errors, ...warnings].map(({ hint, expected, spec }) => [hint, expected, spec])
  assert.ok(!JSON.stringify(told).includes(CANARY))
}

function check(id: ProtocolId, document: unknown): void {
  const payee = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
  const result = checkDocument(id, document, { expected_payee: payee, now_s: NOW_S, literals: NO_LITERALS, bounds: BOUNDS })
  if (result.kind === 'report') assertSound(result.report)
}

test('hostile documents draw sound findings, whatever they are', () => {
  assert.ok(known.length > 10)
  for (let index = 0; index < CASES; index++) {
    const random = seeded(SEED, index)
    const { protocol, clean } = random.pick(known)
    let document = clean.document as Json
    for (let changes = 1 + random.below(3); changes > 0; changes--) document = mutated(random, document)
    try {
      check(random.chance(0.9) ? protocol : random.pick(PROTOCOL_IDS), document)
    } catch (error) {
      throw new Error(`case ${index}: ${protocol} ${JSON.stringify(document).slice(0, 2_000)}`, { cause: error })
    }
  }
})

/** A clean document with one of its arrays made longer by copies of its own items, each with an id of its own. */
function longer(document: unknown, path: readonly string[], size: number): unknown {
  const copy = structuredClone(document)
  let holder: unknown = copy
  for (const step of path) holder = (holder as Record<string, unknown>)[step]
  const items = holder as unknown[]
  const own = items.slice()
  for (let index = 0; items.length < size; index++) items.push(renamed(own[index % own.length], index))
  return copy
}

function renamed(item: unknown, index: number): unknown {
  if (typeof item !== 'object' || item === null || !('id' in item)) return structuredClone(item)
  return { ...structuredClone(item), id: `${String(item.id)}-${index}` }
}

function arrays(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  const here = Array.isArray(value) && value.length > 0 ? [path] : []
  return [...here, ...Object.entries(value).flatMap(([name, inner]) => arrays(inner, [...path, name]))]
}

const GROWING = known.flatMap((one: Known) => arrays(one.clean.document).map((path) => ({ ...one, path })))

for (const { protocol, name, clean, path } of GROWING.filter((_one, index) => index % runs(25, 1) === 0)) {
  test(`work grows with ${protocol} ${name} /${path.join('/')}`, async () => {
    await assertGrowth(
      name,
      16,
      (size) => {
        const document = longer(clean.document, path, size)
        return () => check(protocol, document)
      },
      4,
    )
  })
}

test('texts that cost much elsewhere cost in proportion here', async () => {
  const units = ['a', 'a@', '+1 ', '1', '.', '-', 'ignore ', 'ignore all ', 'https://', 'eip155:', '0x', '/', '{{', 'a.', ' ', '\\']
  for (const unit of units.slice(0, runs(3, units.length))) {
    await assertGrowth(`"${unit}"`, 512, (size) => {
      const text = unit.repeat(Math.ceil(size / unit.length))
      const documents = known
        .slice(0, 4)
        .map(({ protocol, clean }) => ({ protocol, document: { ...(clean.document as object), note: text, error: text, micro_ast: text } }))
      const node = { id: text, type: 'product', name: text, url: text, attributes: { a: text, [text]: text } }
      return () => {
        for (const { protocol, document } of documents) check(protocol, document)
        check('micro-ast', { micro_ast: '1.0', merchant: { name: text, url: text, payee: text }, nodes: [node], issued_at: text })
      }
    })
  }
})
