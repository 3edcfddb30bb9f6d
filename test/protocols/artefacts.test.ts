/** Documents are read in the forms that developers have them in: decoded offline, with the name of the part. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readArtefact } from '../../src/pure/protocols/artefacts/artefact.ts'
import { recogniseProtocol } from '../../src/pure/protocols/recognise.ts'
import { assertGrowth } from '../fuzz/growth.ts'
import { runs, SEED } from '../support/counts.ts'
import { AP2_CLEAN } from './ap2-clean.ts'
import { checkText } from './harness.ts'
import { X402_CLEAN } from './x402-clean.ts'

const challenge = X402_CLEAN['challenge_v2']?.document
const payment = X402_CLEAN['payment_v2']?.document
const json = JSON.stringify(challenge)
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const url64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

const read = (text: string) => readArtefact(text).map(({ part, text: found }) => [part, JSON.parse(found) as unknown])

test('JSON is one document, whatever is in it; JSON Lines are one a line', () => {
  assert.deepEqual(read(json), [[null, challenge]])
  assert.deepEqual(read(`\uFEFF  ${json}\n`), [[null, challenge]])
  assert.deepEqual(read(JSON.stringify(challenge, null, 2)), [[null, challenge]])
  assert.deepEqual(read('[{"a":1}]'), [[null, [{ a: 1 }]]])
  assert.deepEqual(read(`${json}\n{"a":1}\n`), [
    ['line 1', challenge],
    ['line 2', { a: 1 }],
  ])
})

test('a header of x402 is read with its name and without, in both alphabets of Base64', () => {
  for (const text of [base64(challenge), url64(challenge), `${base64(challenge)}\n`, base64(challenge).replace(/(.{76})/g, '$1\n')])
    assert.deepEqual(read(text), [['the Base64 text', challenge]])
  for (const name of ['PAYMENT-REQUIRED', 'X-PAYMENT', 'Payment-Signature', 'x-payment-response'])
    assert.deepEqual(read(`${name}: ${base64(challenge)}`), [[`header ${name.toUpperCase()}`, challenge]])
})

test('the output of curl and raw HTTP have their headers and their body read', () => {
  const head = `content-type: application/json\r\npayment-required: ${base64(challenge)}\r\n`
  for (const text of [
    `HTTP/2 402 \r\n${head}\r\n{"error":"x"}`,
    `HTTP/1.1 402 Payment Required\n${head.replaceAll('\r', '')}\n{"error":"x"}\n`,
    `< HTTP/1.1 402 Payment Required\n< content-type: application/json\n< payment-required: ${base64(challenge)}\n<\n{"error":"x"}`,
  ])
    assert.deepEqual(read(text), [
      ['header PAYMENT-REQUIRED', challenge],
      ['the body', { error: 'x' }],
    ])
  const request = `POST /v1/report HTTP/1.1\r\nHost: api.example.com\r\nX-PAYMENT: ${base64(payment)}\r\n\r\n{"city":"Oslo"}`
  assert.deepEqual(read(request)[0], ['header X-PAYMENT', payment])
  const redirected = `HTTP/1.1 301 Moved\nlocation: /\n\nHTTP/1.1 402 Payment Required\nx: y\n\n${json}`
  assert.deepEqual(read(redirected), [['the body', challenge]])
})

test('events of a stream and entries of a HAR are read one by one', () => {
  const stream = `event: message\ndata: {"jsonrpc":"2.0",\ndata: "id":1,"result":{}}\n\n: ping\n\ndata: ${json}\n`
  assert.deepEqual(read(stream), [
    ['event 1', { jsonrpc: '2.0', id: 1, result: {} }],
    ['event 2', challenge],
  ])
  assert.deepEqual(read(`HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\ndata: ${json}\n\n`), [['event 1 in the body', challenge]])
  const har = {
    log: {
      version: '1.2',
      entries: [
        {
          request: { headers: [] },
          response: { headers: [{ name: 'Payment-Required', value: base64(challenge) }], content: { text: '{}' } },
        },
        { request: { headers: [], postData: { text: '{"a":1}' } }, response: { content: { text: base64({ b: 2 }), encoding: 'base64' } } },
      ],
    },
  }
  assert.deepEqual(read(JSON.stringify(har)), [
    ['header PAYMENT-REQUIRED in entry 1', challenge],
    ['the answer of entry 1', {}],
    ['the request of entry 2', { a: 1 }],
    ['the answer of entry 2', { b: 2 }],
  ])
})

test('claims of a token are read unverified, with the disclosures of SD-JWT', () => {
  const claims = AP2_CLEAN['payment']?.document as object
  const token = `${url64({ alg: 'ES256', typ: 'dc+sd-jwt' })}.${url64(claims)}.c2ln`
  const [[part, document] = []] = read(token)
  assert.deepEqual([part, document], ['claims of the token, unverified', { header: { alg: 'ES256', typ: 'dc+sd-jwt' }, payload: claims }])
  assert.equal(checkText('ap2', readArtefact(token)[0]?.text ?? '').document_type, 'payment_mandate')
  // RFC 9901, 4.2.1: the disclosure of the example and its digest.
  const disclosure = 'WyJfMjZiYzRMVC1hYzZxMktJNmNCVzVlcyIsICJmYW1pbHlfbmFtZSIsICJNw7ZiaXVzIl0'
  const [[, opened] = []] = read(`${token}~${disclosure}~`)
  const { disclosures } = opened as { disclosures: unknown }
  assert.deepEqual(disclosures, [
    { digest: 'X9yH0Ajrdm1Oij4tWso9UzzKJvPoDxwmuEcO3XAdRC0', decoded: ['_26bc4LT-ac6q2KI6cBW5es', 'family_name', 'Möbius'] },
  ])
})

test('what is none of these has no part, and no text makes the reader throw or repeat itself', () => {
  for (const text of [
    '',
    ' ',
    'hello',
    '{',
    '{"a":1',
    'a.b.c',
    'eyJhIjox',
    'data',
    'HTTP/1.1 200 OK',
    'content-type: text/html',
    '<html></html>',
  ])
    assert.deepEqual(read(text), [], text)
  const piece = fc.constantFrom(
    'HTTP/1.1 402 x\n',
    '\n',
    'data: ',
    '{"a":1}',
    base64({ a: 1 }),
    'X-PAYMENT: ',
    '"',
    '~',
    '.',
    '< ',
    '\r\n',
    'é',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      for (const { text } of readArtefact(pieces.join(''))) JSON.parse(text)
    }),
    { numRuns: runs(300, 5_000), seed: SEED },
  )
})

test('the work grows with the text', async () => {
  for (const unit of ['HTTP/1.1 200 OK\n\n', 'data: {}\n\n', '{}\n', 'a: b\n', '~YQ', 'YQ'])
    await assertGrowth(unit, 64, (size) => {
      const text = unit.startsWith('~') ? `${url64({ a: 1 })}.${url64({ a: 1 })}.x${unit.repeat(size)}` : unit.repeat(size)
      return () => readArtefact(text)
    })
})

test('a document says to which protocol it belongs', () => {
  assert.equal(recogniseProtocol(challenge), 'x402')
  assert.equal(recogniseProtocol({ hello: 1 }), null)
})
