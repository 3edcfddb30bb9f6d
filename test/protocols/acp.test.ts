import assert from 'node:assert/strict'
import { test } from 'node:test'
import { follow } from '../../src/pure/protocols/acp/json-path.ts'
import { ACP_CASES } from './acp-cases.ts'
import { ACP_CLEAN } from './acp-clean.ts'
import { protocolSuite } from './harness.ts'

protocolSuite('acp', { clean: ACP_CLEAN, cases: ACP_CASES })

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
  for (const [path, outcome] of Object.entries(outcomes)) assert.equal(follow(path, session), outcome, path)
})
