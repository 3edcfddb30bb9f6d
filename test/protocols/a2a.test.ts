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

test('a2a: the version is that of the shape, or the one that an older card states', () => {
  const versions: [object, string, string][] = [
    [{ supportedInterfaces: [{ protocolVersion: '1.0' }] }, '1.0', 'declared'],
    [{ supportedInterfaces: [{ protocolVersion: '2.1' }] }, '1.0', 'declared'],
    [{ supportedInterfaces: [{ protocolVersion: '0.3' }] }, '1.0', 'inferred'],
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
    [{ name: 'Weather' }, '1.0', 'assumed'],
  ]
  for (const [card, version, version_source] of versions) {
    const report = checkText('a2a', JSON.stringify(card))
    assert.deepEqual([report.version, report.version_source], [version, version_source], JSON.stringify(card))
  }
})
