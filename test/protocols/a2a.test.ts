import assert from 'node:assert/strict'
import { test } from 'node:test'
import { A2A_CASES } from './a2a-cases.ts'
import { A2A_CLEAN } from './a2a-clean.ts'
import { checkText, codesOf, protocolSuite, set } from './harness.ts'

protocolSuite('a2a', { clean: A2A_CLEAN, cases: A2A_CASES })

const text = JSON.stringify(A2A_CLEAN['1.0']?.document)

test('a2a: the payee is found by its account or its host, and then nothing is said', () => {
  const paid = set('/capabilities/extensions/0/params/merchant_id', 'm_4711')(text)
  const payees: [string, string][] = [
    [paid, 'm_4711'],
    [text, 'example.com'],
    [text, 'https://www.example.com/agents'],
    [text, '0x209693bc6afc0c5328ba36faf03c514ef312287c'],
  ]
  for (const [card, payee] of payees) {
    const own = codesOf(checkText('a2a', card, payee)).filter((code) => code.startsWith('A2A'))
    assert.deepEqual(own, [], payee)
  }
})

test('a2a: terms of x402 in an extension are checked by the rules of x402', () => {
  const at = '/capabilities/extensions/3/params/accepts/0'
  const report = checkText('a2a', set(`${at}/amount`, '1.5')(text))
  assert.deepEqual(
    report.errors.map(({ code, path }) => [code, path]),
    [['X402-009', `${at}/amount`]],
  )
  assert.ok(report.checked.includes('X402-009'))
})

const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const OTHER = '0x857b06519E91e3A54538791bDbb0E22373e36b66'
const EXTENSION = '/capabilities/extensions/3'

test('a2a: a payee in a payment extension is compared, whether or not the rules of x402 take it', () => {
  const own = { scheme: 'exact', network: 'eip155:8453', amount: '10000', payTo: PAYEE }
  const strangers: [object, string][] = [
    [{ payTo: OTHER }, '/payTo'],
    [{ payTo: OTHER, network: 'eip155:8453', asset: 'USDC', price: '$0.01' }, '/payTo'],
    [{ accepts: [{ payTo: OTHER, network: 'eip155:8453', price: '$0.01' }] }, '/accepts/0/payTo'],
    [{ paymentRequirements: [{ payTo: OTHER }] }, '/paymentRequirements/0/payTo'],
    [{ ...own, accepts: [{ payTo: OTHER }] }, '/accepts/0/payTo'],
  ]
  for (const [params, pointer] of strangers) {
    const report = checkText('a2a', set(`${EXTENSION}/params`, params)(text), PAYEE)
    const found = report.errors.filter(({ code }) => code === 'A2A-041').map(({ path }) => path)
    assert.deepEqual(found, [`${EXTENSION}/params${pointer}`], JSON.stringify(params))
    const card = checkText('a2a', set(`${EXTENSION}/params`, JSON.parse(JSON.stringify(params).replaceAll(OTHER, PAYEE)))(text), PAYEE)
    assert.ok(!codesOf(card).some((code) => code.startsWith('A2A-041')), JSON.stringify(params))
  }
})

/** Fields of messages that are not marked as required in a2a.proto of 1.0: null leaves each of them unset (ProtoJSON, null). */
const UNSET: readonly string[] = [
  '/provider',
  '/documentationUrl',
  '/iconUrl',
  '/securitySchemes',
  '/securityRequirements',
  '/signatures',
  '/signatures/0/header',
  '/supportedInterfaces/0/tenant',
  ...['streaming', 'pushNotifications', 'extendedAgentCard', 'extensions'].map((name) => `/capabilities/${name}`),
  ...['description', 'required', 'params'].map((name) => `/capabilities/extensions/0/${name}`),
  ...['examples', 'inputModes', 'outputModes', 'securityRequirements'].map((name) => `/skills/0/${name}`),
  '/securityRequirements/0/schemes',
  '/securityRequirements/0/schemes/code/list',
  '/securitySchemes/key/apiKeySecurityScheme/description',
  '/securitySchemes/bearer/httpAuthSecurityScheme/bearerFormat',
  '/securitySchemes/code/oauth2SecurityScheme/oauth2MetadataUrl',
  '/securitySchemes/code/oauth2SecurityScheme/flows/authorizationCode/refreshUrl',
  '/securitySchemes/code/oauth2SecurityScheme/flows/authorizationCode/pkceRequired',
]

test('a2a: null leaves an optional field of a card of 1.0 unset, and is no value of an older one', () => {
  for (const pointer of UNSET) {
    const { errors } = checkText('a2a', set(pointer, null)(text))
    // Without its schemes a card has requirements that nothing describes.
    const others = errors.filter(({ code }) => pointer !== '/securitySchemes' || code !== 'A2A-030')
    assert.deepEqual(others, [], pointer)
  }
  const silent = checkText('a2a', set('/capabilities/extensions/0/description', null)(text))
  assert.ok(codesOf(silent).includes('A2A-017 warning'), 'a required extension that does not say what it is')
  const older = JSON.stringify(A2A_CLEAN['0.3']?.document)
  for (const pointer of ['/capabilities/extensions', '/capabilities/extensions/0/description'])
    assert.ok(codesOf(checkText('a2a', set(pointer, null)(older))).includes('A2A-017 error'), pointer)
})

test('a2a: tasks and messages in JSON-RPC are no documents of MCP', () => {
  const answers = [
    { kind: 'task', id: 't', status: { state: 'input-required' } },
    { kind: 'message', role: 'agent', messageId: 'm', parts: [] },
    { task: { id: 't', status: { state: 'TASK_STATE_COMPLETED' } } },
    { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } },
  ]
  for (const result of answers)
    assert.ok(
      !codesOf(checkText('a2a', JSON.stringify({ jsonrpc: '2.0', id: '1', result }))).includes('PRE-001 error'),
      JSON.stringify(result),
    )
  const task = { task: { taskId: 't', status: 'working' } }
  assert.ok(codesOf(checkText('a2a', JSON.stringify({ jsonrpc: '2.0', id: 1, result: task }))).includes('PRE-001 error'))
})

test('a2a: the version is that of the shape, or the one that an older card states', () => {
  const versions: [object, string, string][] = [
    [{ supportedInterfaces: [{ protocolVersion: '1.0' }] }, '1.0', 'declared'],
    [{ supportedInterfaces: [{ protocolVersion: '2.1' }] }, '2.1', 'declared'],
    [{ supportedInterfaces: [{ protocolVersion: '0.3' }] }, '1.0', 'inferred'],
    [{ supportedInterfaces: [{ type: 'rest' }], protocolVersion: '0.3.0' }, '0.3', 'declared'],
    [{ supportedInterfaces: [{ protocolVersion: '1.0' }], protocolVersion: '0.3.0' }, '1.0', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '0.3' }, '0.3', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: 'v0.3.0' }, '0.3', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '1' }, '1.0', 'declared'],
    [{ supported_interfaces: [] }, '1.0', 'inferred'],
    [{ url: 'https://a.example.com', protocolVersion: '1.0' }, '1.0', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '0.4.0' }, '0.3', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '0.3.0' }, '0.3', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '0.2.6' }, '0.2.5', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '0.2.2' }, '0.2', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '0.1.0' }, '0.2', 'declared'],
    [{ url: 'https://a.example.com', protocolVersion: '' }, '0.3', 'assumed'],
    [{ url: 'https://a.example.com', preferredTransport: 'GRPC' }, '0.3', 'inferred'],
    [{ url: 'https://a.example.com' }, '0.2', 'assumed'],
    [{ name: 'Weather', skills: [] }, '1.0', 'assumed'],
  ]
  for (const [card, version, version_source] of versions) {
    const report = checkText('a2a', JSON.stringify(card))
    assert.deepEqual([report.version, report.version_source], [version, version_source], JSON.stringify(card))
  }
})
