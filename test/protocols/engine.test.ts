import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDocument } from '../../src/pure/protocols/check.ts'
import { NO_LITERALS } from '../../src/pure/protocols/json-cursor.ts'
import { PROTOCOLS } from '../../src/pure/protocols/registry.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../src/pure/protocols/protocol.ts'
import { versionsOfRule } from '../../src/service/preflight/preflight.ts'
import { A2A_CLEAN } from './a2a-clean.ts'
import { ACP_CLEAN } from './acp-clean.ts'
import { BOUNDS, checkText, codesOf, drop, literally, NOW_S, set, type Change } from './harness.ts'
import { MCP_CLEAN } from './mcp-clean.ts'
import { UCP_CLEAN } from './ucp-clean.ts'
import { X402_CLEAN } from './x402-clean.ts'

const text = JSON.stringify(X402_CLEAN['challenge_v2']?.document)
const options = { expected_payee: null, now_s: NOW_S, literals: NO_LITERALS, bounds: BOUNDS }

test('the wrong protocol draws one error, whichever was chosen, and no rule of it runs', () => {
  for (const id of PROTOCOL_IDS.filter((one) => one !== 'x402')) {
    const report = checkText(id, text)
    assert.deepEqual(codesOf(report), ['PRE-001 error'], id)
    assert.deepEqual(report.errors[0]?.expected, 'x402 ("x402")')
    assert.ok(!report.checked.some((code) => !code.startsWith('PRE-')))
  }
})

test('a document of no protocol is held against the one that was chosen', () => {
  for (const id of PROTOCOL_IDS) assert.ok(!codesOf(checkText(id, '{"hello":1}')).includes('PRE-001 error'), id)
})

test('the JSON-RPC message around a document is checked for every protocol (JSON-RPC 2.0, 5)', () => {
  const wrapped: [ProtocolId, object, string][] = [
    ['a2a', A2A_CLEAN, 'extended 1.0'],
    ['acp', ACP_CLEAN, 'wrapped'],
    ['acp', ACP_CLEAN, 'wrapped_error'],
    ['ucp', UCP_CLEAN, 'wrapped 04-08'],
  ]
  for (const [id, clean, name] of wrapped) {
    const right = JSON.stringify((clean as Readonly<Record<string, { document: unknown }>>)[name]?.document)
    const codes = (change: (text: string) => string) =>
      checkText(id, change(right)).errors.flatMap(({ code, path }) => (code === 'PRE-005' ? [path] : []))
    assert.deepEqual(
      [codes((one) => one), codes(set('/jsonrpc', '1.0')), codes(set('/jsonrpc', 2))],
      [[], ['/jsonrpc'], ['/jsonrpc']],
      `${id} ${name}`,
    )
    assert.deepEqual([codes(drop('/id')), codes(set('/id', 1.5)), codes(set('/id', {}))], [['/id'], ['/id'], ['/id']], `${id} ${name}`)
    assert.deepEqual(codes(set(name === 'wrapped_error' ? '/result' : '/error', null)), [''], `${id} ${name}`)
  }
})

test('redacted values count as present, and draw one warning together', () => {
  const changed = [set('/accepts/0/payTo', '[REDACTED]'), set('/accepts/0/asset', '***'), set('/resource/url', '<redacted>')]
  const report = checkText(
    'x402',
    changed.reduce((found, change) => change(found), text),
  )
  assert.deepEqual(codesOf(report), ['PRE-002 warning'])
  assert.equal(report.warnings[0]?.path, '/resource/url')
  assert.match(report.warnings[0]?.message ?? '', /2 further values/)
})

test('secrets are told by kind and place, and never shown', () => {
  // Forms of the issuers; the card number is the test number of the card schemes.
  const secrets: [string, unknown, RegExp][] = [
    ['privateKey', `0x${'ab'.repeat(32)}`, /private key/],
    ['note', '4111 1111 1111 1111', /card number/],
    ['card', 4_111_111_111_111_111, /card number/],
    ['card_number', '4222222222222', /card number/],
    ['pan', 4_222_222_222_222, /card number/],
    ['reference', '378282246310005', /card number/],
    ['account_private_key', 'ab'.repeat(32), /private key/],
    ['key', 'sk_live_51H8abcdefghijkl', /API key/],
    ['authorization', 'Bearer abcdefghijklmnopqrstuvwx', /bearer token/],
    ['client_secret', 'hunter2hunter2', /client secret/],
    ['jwk', { kty: 'EC', crv: 'P-256', x: 'a', y: 'b', d: 'abc' }, /private part/],
  ]
  for (const [name, value, words] of secrets) {
    const { warnings } = checkText('x402', set(`/${name}`, value)(text))
    assert.equal(warnings.length, 1, name)
    assert.match(warnings[0]?.message ?? '', words)
    assert.ok(!JSON.stringify(warnings).includes('4111'), name)
  }
})

test('what only looks like a secret is none', () => {
  const harmless: [string, unknown][] = [
    ['nonce', `0x${'ab'.repeat(32)}`],
    ['transaction', `0x${'ab'.repeat(32)}`],
    ['amount', '4111111111111111'],
    ['created_at', 4_111_111_111_111_111],
    ['note', '4111 1111 1111 1112'],
    ['k', 'abc'],
    // Addresses, tokens and public keys of chains that write 32 bytes in hexadecimal digits.
    ...['asset', 'payTo', 'pay_to', 'payer', 'feePayer', 'from', 'to', 'account', 'address', 'publicKey', 'public_key', 'pubkey'].map(
      (name): [string, unknown] => [name, `0x${'ab'.repeat(32)}`],
    ),
    // An EAN-13, and a number of a parcel, with the check digit of a card; a card of thirteen digits is none without its name.
    ...['sku', 'barcode', 'gtin', 'ean', 'upc', 'mpn', 'tracking_number', 'trackingNumber', 'order_number', 'reference'].map(
      (name): [string, unknown] => [name, '4006381330060'],
    ),
    ...['sku', 'barcode', 'tracking_number', 'order_number'].map((name): [string, unknown] => [name, '376000000000006']),
    ['reference', 4_006_381_330_060],
  ]
  for (const [name, value] of harmless) assert.deepEqual(codesOf(checkText('x402', set(`/${name}`, value)(text))), [], name)
})

test('numbers that readers round are told wherever they stand', () => {
  for (const number of ['9007199254740993', '-9007199254740993', '1e3', '1E400', '1.5e2']) {
    const report = checkText('x402', literally('"error"', `"more":[0,${number}],"error"`)(text))
    assert.deepEqual(codesOf(report), ['PRE-004 warning'], number)
    assert.equal(report.warnings[0]?.path, '/more/1')
  }
  for (const number of ['9007199254740991', '0', '-1', '1.5', '-0.25']) {
    assert.deepEqual(codesOf(checkText('x402', literally('"error"', `"more":${number},"error"`)(text))), [], number)
  }
})

test('two hundred findings are shown, errors before warnings, and the rest is counted', () => {
  const entry = { network: 'eip155:999999999', payTo: '0x209693bc6afc0c5328ba36faf03c514ef312287c' }
  const { errors, warnings, truncated, status } = checkText(
    'x402',
    JSON.stringify({ x402Version: 2, accepts: Array.from({ length: 500 }, () => entry) }),
  )
  assert.deepEqual([status, truncated], ['fail', true])
  assert.ok(errors.length > 100 && errors.length + warnings.length <= 200)
  const codes = new Set(errors.map(({ code }) => code))
  for (const code of ['X402-005', 'X402-009', 'X402-012', 'X402-017']) assert.ok(codes.has(code), `${code} was crowded out`)
})

test('every JSON value is a document that can be checked', () => {
  for (const id of PROTOCOL_IDS) {
    for (const value of [null, true, 0, '', 'text', [], [[]], {}, { '': {} }, [null]]) {
      const result = checkDocument(id, value, options)
      assert.equal(result.kind, 'report', `${id} ${JSON.stringify(value)}`)
    }
  }
})

test('codes are unique over all protocols', () => {
  const codes = PROTOCOL_IDS.flatMap((id: ProtocolId) => PROTOCOLS[id].rules.map(({ code }) => code))
  assert.equal(new Set(codes).size, codes.length)
})

test('pointers are those of RFC 6901, and long ones end at a whole step', () => {
  const report = checkText('x402', JSON.stringify({ x402Version: 2, extensions: { 'a/b~c': 1, ['k'.repeat(600)]: 1 } }))
  const paths = report.errors.filter(({ code }) => code === 'X402-030').map(({ path }) => path)
  assert.deepEqual(paths, ['/extensions/a~1b~0c', '/extensions'])
})

const a2aRequest = {
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: { message: { messageId: 'm_1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] } },
}
const a2aTask = { id: 't_1', contextId: 'c_1', status: { state: 'TASK_STATE_COMPLETED' } }
const ucpRequest = { line_items: [{ item: { id: 'sku_1' }, quantity: 1 }], buyer: { email: 'ada@example.com' } }
const acpRequest = { items: [{ id: 'sku_1', quantity: 1 }], fulfillment_address: {} }

test('a document that no rule set covers neither passes nor fails, whoever says what it is', () => {
  const recognised: [ProtocolId, unknown, string][] = [
    ['a2a', a2aRequest, 'request'],
    ['a2a', a2aTask, 'task'],
    ['a2a', { jsonrpc: '2.0', id: 1, result: { task: a2aTask } }, 'task'],
    ['a2a', { kind: 'message', messageId: 'm_1', role: 'user', parts: [] }, 'message'],
    ['a2a', { tasks: [a2aTask], nextPageToken: '' }, 'task_list'],
    ['a2a', { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'Task not found' } }, 'error'],
    ['ucp', ucpRequest, 'request'],
    ['ucp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, 'request'],
    ['acp', acpRequest, 'request'],
    ['acp', { payment_data: { token: 'vt_1' } }, 'request'],
    ['acp', { products: [] }, 'feed'],
  ]
  for (const [id, document, type] of recognised) {
    const report = checkText(id, JSON.stringify(document))
    assert.deepEqual([report.status, report.document_type, report.errors], ['not_covered', type, []], `${id} ${type}`)
    assert.ok(report.not_checked.some((words) => words.includes(`the type ${type} `)))
  }
  const stated = checkText('mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }), null, NOW_S, { document_type: 'request' })
  assert.deepEqual([stated.status, stated.errors], ['not_covered', []])
  const secret = checkText('ucp', JSON.stringify({ ...ucpRequest, client_secret: 'hunter2hunter2' }))
  assert.deepEqual([secret.status, codesOf(secret)], ['not_covered', ['PRE-003 warning']])
})

test('what the caller states comes before what the document shows', () => {
  const cart = JSON.stringify(UCP_CLEAN['cart 04-08']?.document)
  const stated = checkText('ucp', cart, null, NOW_S, { document_type: 'checkout', version: 'v2026-04-08' })
  assert.deepEqual([stated.document_type, stated.version, stated.version_source], ['checkout', '2026-04-08', 'stated'])
  assert.ok(stated.errors.some(({ path }) => path === '/status'))
  const other = checkText('ucp', cart, null, NOW_S, { version: '2026-08-25' })
  assert.deepEqual([other.version, codesOf(other)], ['2026-08-25', ['PRE-006 warning']])
  const a2a = checkText('a2a', JSON.stringify(A2A_CLEAN['0.3']?.document), null, NOW_S, { version: '0.3.0' })
  assert.deepEqual([a2a.status, a2a.version, a2a.version_source], ['pass', '0.3', 'stated'])
  const quantity = set('/line_items/0/item/quantity', 2.5)(JSON.stringify(ACP_CLEAN['session_2025_12']?.document))
  assert.ok(codesOf(checkText('acp', quantity, null, NOW_S, { version: '2025-12-12' })).includes('ACP-015 error'))
})

test('a version without rules, or a type that its version does not have, is not covered', () => {
  const cases: [ProtocolId, unknown, { document_type?: string; version?: string }][] = [
    ['acp', ACP_CLEAN['session_2026_04']?.document, { version: '2027-01-01' }],
    ['a2a', A2A_CLEAN['1.0']?.document, { version: '1.1' }],
    ['ucp', UCP_CLEAN['cart 04-08']?.document, { document_type: 'cart', version: '2026-01-23' }],
    ['acp', ACP_CLEAN['product']?.document, { version: '2025-09-29' }],
    ['mcp', { result: {} }, { document_type: 'discover', version: '2025-06-18' }],
    ['ap2', {}, { document_type: 'payment_mandate', version: '0.1' }],
    ['x402', X402_CLEAN['challenge_v2']?.document, { version: '3' }],
  ]
  for (const [id, document, stated] of cases) {
    const report = checkText(id, JSON.stringify(document), null, NOW_S, stated)
    assert.deepEqual([report.status, report.errors], ['not_covered', []], `${id} ${JSON.stringify(stated)}`)
  }
})

test('every type that can be stated is checked as such, and what lacks everything fails', () => {
  for (const { id, types, versions } of Object.values(PROTOCOLS)) {
    for (const document_type of types) {
      if (['other', 'batch', 'resource_list', 'supported_response'].includes(document_type)) continue
      const { status } = checkText(id, '{}', null, NOW_S, { document_type })
      assert.equal(status, 'fail', `${id} ${document_type}`)
      for (const version of versions) {
        const known = checkText(id, JSON.stringify(X402_CLEAN['challenge_v2']?.document), null, NOW_S, { document_type, version })
        assert.ok(known.errors.length > 0 || known.status === 'not_covered' || id === 'x402', `${id} ${document_type} ${version}`)
      }
    }
  }
})

test('the link of a finding goes to the version that was judged', () => {
  const first = (clean: Readonly<Record<string, { document: unknown }>>, name: string) => JSON.stringify(clean[name]?.document)
  const cases: [ProtocolId, string, Change, RegExp][] = [
    ['ucp', first(UCP_CLEAN, 'checkout 01-23'), drop('/totals'), /^https:\/\/ucp\.dev\/2026-01-23\//],
    ['ucp', first(UCP_CLEAN, 'checkout 08-25'), drop('/totals'), /^https:\/\/ucp\.dev\/2026-08-25\//],
    ['acp', first(ACP_CLEAN, 'session_2025_09'), drop('/status'), /\/spec\/2025-09-29\//],
    ['acp', first(ACP_CLEAN, 'session_2026_01_30'), drop('/status'), /\/spec\/2026-01-30\//],
    ['mcp', first(MCP_CLEAN, 'tools 25-06-18'), set('/result/tools/0/name', 7), /\/specification\/2025-06-18\/server\/tools$/],
    ['a2a', first(A2A_CLEAN, '0.3'), drop('/skills/0/tags'), /\/v0\.3\.0\/specification/],
    ['a2a', first(A2A_CLEAN, '1.0'), drop('/skills/0/tags'), /\/latest\/specification/],
    ['x402', JSON.stringify(X402_CLEAN['challenge_v1']?.document), set('/accepts/0/scheme', ''), /specification-v1\.md$/],
  ]
  for (const [id, right, change, url] of cases) {
    const { errors } = checkText(id, change(right))
    assert.ok(errors.length > 0, `${id} ${url.source}`)
    assert.ok(
      errors.some(({ spec }) => url.test(spec.url)),
      `${errors[0]?.code} ${errors[0]?.spec.url} ${url.source}`,
    )
  }
})

test('a hint speaks of the member that is wrong, and of the document that was judged', () => {
  const hintOf = (id: ProtocolId, wrong: string, path: string) => checkText(id, wrong).errors.find((one) => one.path === path)?.hint ?? ''
  const payment = JSON.stringify(X402_CLEAN['payment_v2']?.document)
  assert.equal(
    hintOf('x402', set('/payload/authorization/nonce', '0x12')(payment), '/payload/authorization/nonce'),
    'Send nonce as 0x and 64 hexadecimal digits.',
  )
  const cart = JSON.stringify(UCP_CLEAN['cart 04-08']?.document)
  assert.equal(hintOf('ucp', drop('/id')(cart), '/id'), 'Add id: a string.')
  assert.match(hintOf('ucp', drop('/totals')(cart), '/totals'), /^Add totals: /)
})

test('every rule of a protocol has a first and a last version, in their order', () => {
  for (const protocol of Object.values(PROTOCOLS)) {
    for (const rule of protocol.rules) {
      const { since, until } = versionsOfRule(protocol, rule)
      const [from, to] = [since, until].map((version) => protocol.versions.indexOf(version))
      assert.ok(from !== undefined && to !== undefined && to >= 0 && from >= to, `${rule.code} ${since} ${until}`)
    }
  }
  const spanOf = (id: ProtocolId, code: string) => {
    const rule = PROTOCOLS[id].rules.find((one) => one.code === code)
    return rule === undefined ? null : versionsOfRule(PROTOCOLS[id], rule)
  }
  assert.deepEqual(spanOf('ucp', 'UCP-046'), { since: '2026-04-08', until: '2026-08-25' })
  assert.deepEqual(spanOf('acp', 'ACP-042'), { since: '2026-04-17', until: '2026-04-17' })
  assert.deepEqual(spanOf('acp', 'ACP-016'), { since: '2025-09-29', until: '2026-01-16' })
  assert.deepEqual(spanOf('micro-ast', 'MAST-001'), { since: '1.0', until: '1.0' })
})
