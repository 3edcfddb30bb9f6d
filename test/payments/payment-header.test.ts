import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DecodedPayment, exactOnly, readPayment } from '../../src/service/payments/payment-header.ts'
import { runs, SEED } from '../support/counts.ts'
import { AUTHORIZATION, base64, changed, PAYLOAD, TERMS, V1, V2 } from './samples.ts'

const header = (text: string) => readPayment({ kind: 'header', name: 'x-payment', text })
const json = (value: unknown) => header(base64(JSON.stringify(value)))

const READ_AUTHORIZATION = {
  from: `0x${'1a'.repeat(20)}`,
  to: '0xabcdef0123456789abcdef0123456789abcdef01',
  value_minor: 5_000n,
  valid_after_s: 0n,
  valid_before_s: 1_700_000_120n,
  nonce: `0x${'3c'.repeat(32)}`,
  signature: `0x${'5e'.repeat(64)}1b`,
}
const READ_V1 = {
  version: 1,
  scheme: 'exact',
  network: 'base',
  accepted: null,
  authorization: READ_AUTHORIZATION,
  resource_url: null,
  identifier: null,
}
const READ_V2 = {
  version: 2,
  scheme: 'exact',
  network: 'eip155:8453',
  accepted: {
    network: 'eip155:8453',
    amount_minor: 5_000n,
    asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    pay_to: '0xabcdef0123456789abcdef0123456789abcdef01',
    domain_name: 'USD Coin',
    domain_version: '2',
    payment_flow: null,
  },
  authorization: READ_AUTHORIZATION,
  resource_url: TERMS.resource,
  identifier: null,
}

function refusedAs(reading: DecodedPayment, code: string, x402_reason: string, detail: RegExp): void {
  assert.ok(!reading.ok, 'it was taken')
  assert.deepEqual([reading.code, reading.x402_reason], [code, x402_reason])
  assert.match(reading.detail, detail)
}

test('both versions are read in both headers and in both forms of a message', () => {
  for (const [sent, read] of [
    [V1, READ_V1],
    [V2, READ_V2],
  ] as const) {
    const text = base64(JSON.stringify(sent))
    const places = [
      readPayment({ kind: 'header', name: 'x-payment', text }),
      readPayment({ kind: 'header', name: 'payment-signature', text }),
      readPayment({ kind: 'value', value: structuredClone(sent) }),
      readPayment({ kind: 'value', value: text }),
    ]
    for (const place of places) assert.deepEqual(place, { ok: true, payment: read })
  }
})

test('what does not matter may be there, be missing or be null', () => {
  const taken: [object, object][] = [
    [{ ...V1, extra: [null], accepted: 'x' }, READ_V1],
    [{ ...V1, payload: { ...PAYLOAD, more: { nested: [1] } } }, READ_V1],
    [changed(V2, 'resource', undefined), { ...READ_V2, resource_url: null }],
    [changed(V2, 'resource', null), { ...READ_V2, resource_url: null }],
    [changed(V2, 'extensions', null), READ_V2],
    [changed(V2, 'extensions', { 'payment-identifier': { info: { required: false }, schema: {} } }), READ_V2],
    [changed(V2, 'accepted.maxTimeoutSeconds', undefined), READ_V2],
    [changed(V2, 'accepted.extra.assetTransferMethod', 'eip3009'), READ_V2],
    [changed(V2, 'accepted.extra', undefined), { ...READ_V2, accepted: { ...READ_V2.accepted, domain_name: null, domain_version: null } }],
  ]
  for (const [sent, payment] of taken) assert.deepEqual(json(sent), { ok: true, payment })
})

test('the payment-identifier id is 16 to 128 letters, digits, hyphens and underscores', () => {
  const identified = (id: unknown) => json(changed(V2, 'extensions', { 'payment-identifier': { info: { required: false, id } } }))
  for (const id of ['a'.repeat(16), 'Z9_-'.repeat(32)])
    assert.deepEqual(identified(id), { ok: true, payment: { ...READ_V2, identifier: id } })
  for (const id of ['a'.repeat(15), 'a'.repeat(129), `${'a'.repeat(16)} `, 7, ['a'.repeat(16)]])
    refusedAs(identified(id), 'PAYMENT_IDENTIFIER_INVALID', 'invalid_payload', /payment-identifier/)
})

test('numbers are decimal text; version 2 may also have them as JSON integers', () => {
  for (const [value, read] of [
    [5000, 5_000n],
    [0, 0n],
    ['0005000', 5_000n],
    [(2n ** 256n - 1n).toString(), 2n ** 256n - 1n],
  ] as const) {
    const reading = exactOnly(json(changed(V2, 'payload.authorization.value', value)))
    assert.equal(reading.ok && reading.payment.authorization.value_minor, read)
  }
  const one = changed(V1, 'payload.authorization.value', 5000)
  refusedAs(json(one), 'MALFORMED_PAYMENT', 'invalid_payload', /^payload\.authorization\.value must be a whole number/)
})

test('Base64 may lack its padding, and characters beyond ASCII survive', () => {
  const sent = changed(V2, 'accepted.extra.name', 'Münze €')
  const texts = ['', ' ', '  '].map((spaces) => base64(JSON.stringify(sent) + spaces))
  assert.ok(texts.some((text) => text.endsWith('==')))
  for (const text of texts) {
    for (const form of [text, text.replace(/=+$/, '')]) {
      const reading = header(form)
      assert.equal(reading.ok && reading.payment.accepted?.domain_name, 'Münze €')
    }
  }
})

test('a header that is no Base64 of strict JSON says what is wrong', () => {
  const text = base64(JSON.stringify(V1))
  const deep = `${'['.repeat(100)}${']'.repeat(100)}`
  const bytes = (...values: number[]) => base64(Uint8Array.from(values))
  const wrong: [string, RegExp][] = [
    ['', /^X-PAYMENT is empty/],
    [' ', /is not Base64/],
    ['====', /is not Base64/],
    [`${text}\n`, /is not Base64/],
    [JSON.stringify(V1), /is not Base64/],
    ['\ud800', /is not Base64/],
    [`-_${text}`, /URL-safe Base64/],
    [text.slice(0, 401), /truncated/],
    ['YQ=', /truncated/],
    [text.slice(0, 400), /strict JSON\. Invalid JSON/],
    ['A'.repeat(10_241), /longer than 10240/],
    [bytes(0x7b, 0xff, 0x7d), /UTF-8/],
    [bytes(0xed, 0xa0, 0x80), /UTF-8/],
    [base64('{"x402Version":1,"x402Version":2}'), /Duplicate key/],
    [base64(`{"x402Version":1,"a":${deep}}`), /nested deeper/],
    [base64(`[${'0,'.repeat(1_000)}0]`), /more than 1000 values/],
    [base64('{"__proto__":{"x402Version":1}}'), /__proto__/],
    [base64(String.raw`{"x402Version":1,"a":"\ud800"}`), /surrogate/],
    [base64('{"x402Version":1,"a":1e999}'), /2\^53/],
    [base64('{"x402Version":NaN}'), /Invalid JSON/],
    [base64('[]'), /^X-PAYMENT is Base64 of a JSON array\. Send the payment object/],
    [base64('null'), /^X-PAYMENT is Base64 of null/],
    [base64('"paid"'), /^X-PAYMENT is Base64 of a JSON string/],
    [base64('402'), /^X-PAYMENT is Base64 of a JSON number/],
  ]
  for (const [given, detail] of wrong) refusedAs(header(given), 'PAYMENT_UNDECODABLE', 'invalid_payload', detail)
  const mcp = readPayment({ kind: 'value', value: '!' })
  refusedAs(mcp, 'PAYMENT_UNDECODABLE', 'invalid_payload', /^The payment is not Base64/)
})

/** Members of both versions, what they may not be, and how the refusal names them. */
const WRONG_MEMBERS: [object, string, unknown[]][] = [
  [V1, 'scheme', [undefined, null, 1, '', 'x'.repeat(200)]],
  [V1, 'network', [undefined, null, 8453, '', {}, '\udc00']],
  [V1, 'payload', [undefined, null, 'x', []]],
  [V2, 'accepted', [undefined, null, [], 'exact']],
  [V2, 'accepted.scheme', [undefined, null]],
  [V2, 'accepted.network', [undefined, null, 1]],
  [V2, 'accepted.amount', [undefined, null, 5000, '', '5e3', '0x1388', '-1', '1.0']],
  [V2, 'accepted.asset', [undefined, null, '0x', `0x${'g'.repeat(40)}`]],
  [V2, 'accepted.payTo', [undefined, null, AUTHORIZATION.from.slice(2)]],
  [V2, 'accepted.extra', ['x', 1, []]],
  [V2, 'accepted.extra.name', [1, '', {}]],
  [V2, 'resource', ['https://tools.example', []]],
  [V2, 'resource.url', [undefined, null, 1, '', `https://${'x'.repeat(2_048)}`]],
]
const WRONG_PAYLOAD: [string, unknown[]][] = [
  ['signature', [undefined, null, 1, '', '0x', '0x1', `0x${'zz'.repeat(65)}`, '5e'.repeat(65), `0x${'00'.repeat(4_097)}`]],
  ['authorization', [undefined, null, 'x', []]],
  ['authorization.from', [undefined, null, 1, '', '0x1a', `0x${'1a'.repeat(21)}`, `0x${'1g'.repeat(20)}`, [`0x${'1a'.repeat(20)}`]]],
  ['authorization.to', [undefined, null, 'alice.eth', `0X${'1a'.repeat(20)}`]],
  [
    'authorization.value',
    [undefined, null, '', ' 5000', '5000\n', '0x1388', '5e3', '-0', '+1', '1_000', '٥', (2n ** 256n).toString(), '0'.repeat(79)],
  ],
  ['authorization.validAfter', [undefined, null, '', '1.5', [], true]],
  ['authorization.validBefore', [undefined, null, 'soon', {}]],
  ['authorization.nonce', [undefined, null, '', '0x3c', 1, `0x${'3c'.repeat(33)}`, '3c'.repeat(32)]],
]

test('each member is refused by its name when it is missing or no such thing', () => {
  const payloads = WRONG_PAYLOAD.flatMap(([path, values]) => [V1, V2].map((base) => [base, `payload.${path}`, values] as const))
  for (const [base, path, values] of [...WRONG_MEMBERS, ...payloads]) {
    for (const value of values) {
      const reading = readPayment({ kind: 'value', value: changed(base, path, value) })
      refusedAs(reading, 'MALFORMED_PAYMENT', 'invalid_payload', new RegExp(`^${path.replaceAll('.', String.raw`\.`)} must be `))
    }
  }
  for (const value of [-1, 1.5, 2 ** 53, Number.NaN]) {
    const reading = readPayment({ kind: 'value', value: changed(V2, 'payload.authorization.value', value) })
    refusedAs(reading, 'MALFORMED_PAYMENT', 'invalid_payload', /authorization\.value must be/)
  }
})

test('members must be those of the object itself', () => {
  const inherited: unknown = Object.create(V1)
  refusedAs(readPayment({ kind: 'value', value: inherited }), 'MALFORMED_PAYMENT', 'invalid_x402_version', /^x402Version must be/)
})

test('other versions are refused as such', () => {
  for (const version of [undefined, null, 0, 3, '1', 1.5, [1], true]) {
    refusedAs(json(changed(V1, 'x402Version', version)), 'MALFORMED_PAYMENT', 'invalid_x402_version', /^x402Version must be/)
  }
  for (const value of [null, 1, true, [], [V1], undefined]) {
    refusedAs(
      readPayment({ kind: 'value', value }),
      'PAYMENT_UNDECODABLE',
      'invalid_payload',
      /^The payment is (?:null|a JSON \w+|absent)\. /,
    )
  }
})

test('other schemes are not malformed, but not taken', () => {
  const permit2 = { signature: PAYLOAD.signature, permit2Authorization: { from: AUTHORIZATION.from } }
  const refused: [object, string][] = [
    [changed(V1, 'scheme', 'upto'), 'unsupported_scheme'],
    [changed(V2, 'accepted.scheme', 'batch'), 'unsupported_scheme'],
    [changed(V2, 'payload', permit2), 'unsupported_payload_type'],
    [changed(V1, 'payload', { ...PAYLOAD, ...permit2 }), 'unsupported_payload_type'],
    [changed(V2, 'accepted.extra.assetTransferMethod', 'permit2'), 'unsupported_asset_transfer_method'],
  ]
  for (const [sent, reason] of refused) refusedAs(json(sent), 'SCHEME_UNSUPPORTED', reason, /exact|Permit2|eip3009/)
})

test('no refusal quotes what was sent', () => {
  const marker = 'ZxMarkerZx'
  const paths = ['scheme', 'network', 'accepted', 'payload', 'payload.signature', 'payload.authorization', 'payload.authorization.nonce']
  const values = [changed(V2, 'accepted.scheme', marker), ...paths.map((path) => changed(path === 'accepted' ? V2 : V1, path, marker))]
  for (const value of values) assert.doesNotMatch(JSON.stringify({ ...json(value), payment: null }), /ZxMarkerZx/)
  for (const text of [marker, base64(marker), base64(`{"${marker}":}`)]) assert.doesNotMatch(JSON.stringify(header(text)), /ZxMarkerZx/)
})

const HOSTILE = fc.oneof(
  fc.anything(),
  fc.constantFrom<unknown>(null, '', '0x', -1, 1e308, 2 ** 53, '\ud800', [], {}, '9'.repeat(1_000), Number.NaN),
  fc.json().map((text): unknown => JSON.parse(text)),
)
const PATHS = [
  'x402Version',
  'accepted',
  'accepted.extra',
  'accepted.amount',
  'resource',
  'payload',
  'payload.signature',
  'payload.authorization',
]
const MEMBERS = Object.keys(AUTHORIZATION).map((member) => `payload.authorization.${member}`)

test('whatever comes, the reading is a payment or a refusal', () => {
  const counts = { seed: SEED, numRuns: runs(500, 20_000) }
  const reads = (given: Parameters<typeof readPayment>[0]) => {
    const reading = readPayment(given)
    if (!reading.ok) assert.match(reading.code, /^(MALFORMED_PAYMENT|PAYMENT_UNDECODABLE|SCHEME_UNSUPPORTED)$/)
    return reading
  }
  const text = base64(JSON.stringify(V2))
  const cut = fc.property(fc.nat(text.length), fc.string({ unit: 'binary', maxLength: 4 }), (at, between) => {
    const reading = reads({ kind: 'header', name: 'payment-signature', text: text.slice(0, at) + between })
    if (!reading.ok) assert.match(reading.code, /^(MALFORMED_PAYMENT|PAYMENT_UNDECODABLE)$/)
  })
  fc.assert(cut, counts)
  const raw = fc.property(fc.uint8Array({ maxLength: 200 }), HOSTILE, (bytes, value) => {
    reads({ kind: 'header', name: 'x-payment', text: base64(bytes) })
    reads({ kind: 'value', value })
  })
  fc.assert(raw, counts)
  const member = fc.property(fc.constantFrom(...PATHS, ...MEMBERS), HOSTILE, (path, value) => {
    reads({ kind: 'value', value: hostile(path, value) })
  })
  fc.assert(member, counts)
})

/** Without a copy of the hostile value, which may be what cannot be copied. */
function hostile(path: string, value: unknown): Record<string, unknown> {
  const copy = changed(V2, path, 'placeholder')
  const names = path.split('.')
  const last = names.pop() ?? ''
  let place = copy
  for (const name of names) place = place[name] as Record<string, unknown>
  place[last] = value
  return copy
}
