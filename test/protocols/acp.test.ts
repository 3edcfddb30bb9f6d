import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followJsonPath } from '../../src/pure/protocols/acp/json-path.ts'
import { ACP_CASES } from './acp-cases.ts'
import { ACP_NESTED_CASES } from './acp-cases-nested.ts'
import { ACP_CLEAN } from './acp-clean.ts'
import { all, checkText, codesOf, protocolSuite, set } from './harness.ts'

protocolSuite('acp', { clean: ACP_CLEAN, cases: [...ACP_CASES, ...ACP_NESTED_CASES] })

test('acp: plain JSONPaths are followed (RFC 9535, 2)', () => {
  const session = { line_items: [{ id: 'li_1', item: { 'unit price': 1 } }], buyer: null }
  const outcomes = {
    $: 'found',
    '$.line_items': 'found',
    '$.line_items[0].id': 'found',
    "$['line_items'][0]['item']['unit price']": 'found',
    '$["buyer"]': 'found',
    '$.line_items[1]': 'nothing',
    '$.line_items.id': 'nothing',
    '$.buyer.email': 'nothing',
    '$.toString': 'nothing',
    '$.line_items.length': 'nothing',
    '$.line_items[*].id': 'not_plain',
    '$..id': 'not_plain',
    line_items: 'malformed',
    $line_items: 'malformed',
    '$.line_items[': 'malformed',
  }
  for (const [path, outcome] of Object.entries(outcomes)) assert.equal(followJsonPath(path, session), outcome, path)
})

test('acp: what an extension says that it adds is no stranger (rfc.extensions, 3.4)', () => {
  const text = JSON.stringify(ACP_CLEAN['session_2026_04']?.document)
  const adds = ['$.CheckoutSession.loyalty', '$.LineItem.points', '$.CheckoutSessionCreateRequest.loyalty']
  const extended = all(
    set('/capabilities/extensions', [{ name: 'discount@2026-01-27' }, { name: 'com.example.loyalty', extends: adds }]),
    set('/loyalty', { tier: 'gold' }),
    set('/line_items/0/points', 40),
  )(text)
  assert.deepEqual(codesOf(checkText('acp', extended)), [])
  assert.deepEqual(codesOf(checkText('acp', set('/gift', true)(extended))), ['ACP-006 error'])
  const silent = set('/capabilities/extensions', [{ name: 'com.example.loyalty' }])(extended)
  assert.deepEqual(codesOf(checkText('acp', silent)), ['ACP-006 warning', 'ACP-047 warning'])
})

test('acp: the base amount of an old line may be that of one piece, as an official example has it', () => {
  const text = JSON.stringify(ACP_CLEAN['session_2025_12']?.document)
  const withBase = (amount: number) => checkText('acp', set('/line_items/0/base_amount', amount)(text)).errors.map(({ path }) => path)
  assert.deepEqual(withBase(2000), [])
  assert.deepEqual(withBase(1000), ['/line_items/0/subtotal'])
})
