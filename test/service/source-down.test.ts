import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { bundledScreening } from '../../src/pure/checks/ofac.ts'
import { call, type CallDeps } from '../../src/service/calls/call.ts'
import type { CallRequest } from '../../src/service/calls/outcome.ts'
import type { Sources } from '../../src/service/catalogue/define.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { clockAt } from '../support/clock-at.ts'

let app: TestApp

before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

const NOBODY = { subject: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }
const ADDRESS = '203.0.113.7'

function request(tool: string, input: unknown): CallRequest {
  return {
    tool,
    address: ADDRESS,
    payments: [],
    credit: null,
    prev_receipt_hash: null,
    read: () => ({ ok: true, input }),
  }
}

/** The service with other sources, and what it reported as its own faults. */
function deps(sources: Partial<Sources>): { deps: CallDeps; faults: unknown[] } {
  const faults: unknown[] = []
  const { call: given } = app.running.app.deps
  return { deps: { ...given, sources: { ...given.sources, ...sources }, onFault: (error) => faults.push(error) }, faults }
}

async function remaining(tool: string): Promise<number> {
  return (await app.running.app.deps.call.allowance.peek(tool, ADDRESS)).remaining
}

test('no match on a list that is too old: 503 with the command, nothing counted, nobody at fault', async () => {
  const before_call = await remaining('ofac-sdn-check')
  const { deps: live, faults } = deps({
    screening: { on_stale_list: 'refuse', active: bundledScreening },
    clock: clockAt(() => Date.UTC(2026, 10, 21)),
  })
  const outcome = await call(live, request('ofac-sdn-check', NOBODY))
  assert.equal(outcome.kind, 'refused')
  assert.ok(outcome.kind === 'refused')
  assert.deepEqual([outcome.problem.code, outcome.problem.charged], ['UPSTREAM_RPC_UNAVAILABLE', false])
  assert.match(outcome.problem.detail, /ofac_addresses is 149 days old.*assay data refresh/)
  assert.equal(await remaining('ofac-sdn-check'), before_call)
  assert.deepEqual(faults, [])
})

test('a match is told all the same, and counts', async () => {
  const before_call = await remaining('ofac-sdn-check')
  const { deps: live } = deps({ screening: { on_stale_list: 'refuse', active: bundledScreening } })
  const outcome = await call(live, request('ofac-sdn-check', { subject: 'IR' }))
  assert.ok(outcome.kind === 'answered')
  assert.equal(outcome.answer.result['status'], 'match')
  assert.equal(await remaining('ofac-sdn-check'), before_call - 1)
})

test('a registry that is down: 503 where a domain was given, an answer where none was', async () => {
  const registrations: Sources['registrations'] = { source: 'rdap', lookup: () => Promise.resolve({ kind: 'down', server: 'rdap.test' }) }
  const { deps: live, faults } = deps({ registrations })
  const before_call = await remaining('pre-disbursement-guard')
  const refused = await call(live, request('pre-disbursement-guard', { vendor_domain: 'example.com' }))
  assert.ok(refused.kind === 'refused')
  assert.deepEqual([refused.problem.code, refused.problem.charged], ['UPSTREAM_RPC_UNAVAILABLE', false])
  assert.equal(await remaining('pre-disbursement-guard'), before_call)
  assert.deepEqual(faults, [])
  const answered = await call(live, request('pre-disbursement-guard', { recipient_iban: 'GB82WEST12345698765432' }))
  assert.ok(answered.kind === 'answered')
  assert.equal(answered.answer.result['decision'], 'CLEAR')
})

test('over REST a sandbox reports the old list, and says that its registry is a sample', async () => {
  const post = async (tool: string, input: unknown) => {
    const response = await fetch(`${app.url}/v1/tools/${tool}/call`, { method: 'POST', body: JSON.stringify({ input }) })
    assert.equal(response.status, 200)
    return ((await response.json()) as { result: Record<string, unknown> }).result
  }
  assert.equal((await post('ofac-sdn-check', NOBODY))['status'], 'no_match_on_stale_list')
  const guarded = await post('pre-disbursement-guard', { vendor_domain: 'young.example' })
  const { domain } = guarded['inspected_counterparty'] as { domain: Record<string, unknown> }
  assert.deepEqual([domain['source'], domain['status']], ['fixed_sample', 'flagged'])
})
