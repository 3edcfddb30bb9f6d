import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readJsonTree } from '../../src/pure/documents/iso20022/json-message.ts'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { runs, SEED } from '../support/counts.ts'
import { swap } from '../support/iso20022-messages.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09'

function transaction(id: string, amount: string): string {
  return (
    `{"PmtId": {"EndToEndId": "${id}"}, "Amt": {"InstdAmt": {"@Ccy": "EUR", "#text": "${amount}"}}, "Cdtr": {"Nm": "Creditor"},` +
    ` "CdtrAcct": {"Id": {"IBAN": "NL91ABNA0417164300"}}, "RmtInf": {"Ustrd": "${id}"}}`
  )
}

/** 1,250.75 and 49.25 make 1,300.00; the members stand in no order of any schema. */
const MESSAGE = `{"Document": {"@xmlns": "${NAMESPACE}", "CstmrCdtTrfInitn": {
"PmtInf": {"CdtTrfTxInf": [${transaction('A', '1250.75')}, ${transaction('B', '49.25')}], "BtchBookg": true, "PmtInfId": "P", "PmtMtd": "TRF",
 "DbtrAgt": {"FinInstnId": {"BICFI": "COBADEFFXXX"}}, "DbtrAcct": {"Id": {"IBAN": "DE89370400440532013000"}}, "Dbtr": {"Nm": "Payer"},
 "ReqdExctnDt": {"Dt": "2026-11-23"}},
"GrpHdr": {"NbOfTxs": "2", "CtrlSum": "1300.00", "MsgId": "M", "CreDtTm": "2026-11-21T10:00:00Z", "InitgPty": {"Nm": "Payer"}}}}}`

function codes(payload: string, namespace: string | null = null): string[] {
  const { findings, format } = validateMessage({ payload, namespace })
  assert.equal(format, 'json')
  return findings.map(({ code }) => code)
}

test('a message in JSON is judged like one in XML, whatever the order of members', () => {
  const answer = validateMessage({ payload: MESSAGE })
  assert.deepEqual(answer.findings, [])
  assert.deepEqual(
    [answer.valid, answer.message_type, answer.version, answer.message_id, answer.tx_count, answer.ctrl_sum, answer.ctrl_sum_minor],
    [true, 'pain.001', '09', 'M', 2, '1300.00', '130000'],
  )
})

test('amounts are read as they are written, and bare numbers are told', () => {
  assert.deepEqual(codes(swap(MESSAGE, '"#text": "1250.75"', '"#text": 1250.75')), ['JSON_AMOUNT_NOT_STRING'])
  assert.deepEqual(codes(swap(MESSAGE, '"CtrlSum": "1300.00"', '"CtrlSum": 1300.00')), ['JSON_AMOUNT_NOT_STRING'])
  // A double would have made 1250.75 of it.
  assert.deepEqual(codes(swap(MESSAGE, '"#text": "1250.75"', '"#text": 1250.7500000000000001')), ['JSON_AMOUNT_NOT_STRING', 'AMT_DIGITS'])
})

test('keys that stand twice are told', () => {
  const { findings } = validateMessage({ payload: swap(MESSAGE, '"MsgId": "M",', '"MsgId": "M", "MsgId": "N",') })
  assert.deepEqual(
    findings.map(({ code, found, line }) => ({ code, found, line })),
    [
      { code: 'JSON_DUP_KEY', found: 'MsgId', line: 5 },
      { code: 'ELEMENT_REPEATED', found: 'MsgId', line: 5 },
    ],
  )
})

test('the forms of the common converters are read', () => {
  for (const amount of [
    '{"Ccy": "EUR", "value": "1250.75"}',
    '{"@_Ccy": "EUR", "#text": "1250.75"}',
    '{"$": {"Ccy": "EUR"}, "_": "1250.75"}',
  ]) {
    assert.deepEqual(codes(swap(MESSAGE, '{"@Ccy": "EUR", "#text": "1250.75"}', amount)), [], amount)
  }
  assert.deepEqual(codes(swap(MESSAGE, '{"@Ccy": "EUR", "#text": "1250.75"}', '"1250.75"')), ['STRUCT_ATTRIBUTE'])
  assert.deepEqual(codes(`{"Envelope": {"Body": [1], "Inner": ${MESSAGE}}}`), [])
  const bare = swap(swap(MESSAGE, `"@xmlns": "${NAMESPACE}", `, ''), '{"Document": ', '').slice(0, -1)
  assert.deepEqual(codes(bare, NAMESPACE), [])
  assert.deepEqual(codes(bare, 'pain.001.001.09'), [])
  assert.deepEqual(codes(bare), ['NS_UNKNOWN'])
  assert.deepEqual(codes(MESSAGE, 'pain.001.001.03'), ['NS_MISMATCH'])
})

test('a mark of the byte order is passed over, and null is an element that is not there', () => {
  assert.deepEqual(codes(`\uFEFF${MESSAGE}`), [])
  assert.deepEqual(validateMessage({ payload: `\uFEFF${MESSAGE}`, format: 'json' }).valid, true)
  assert.deepEqual(codes(swap(MESSAGE, '{"EndToEndId": "A"}', '{"InstrId": null, "EndToEndId": "A"}')), [])
  assert.deepEqual(codes(swap(MESSAGE, '"InitgPty"', '"Authstn": null, "InitgPty"')), [])
  // The bank's default, as when it is left out.
  assert.deepEqual(codes(swap(MESSAGE, '"BtchBookg": true', '"BtchBookg": null')), ['P_BTCHBOOKG'])
  assert.deepEqual(codes(swap(MESSAGE, '"MsgId": "M"', '"MsgId": null')), ['STRUCT_MISSING'])
})

test('whole documents are read as the common converters write them', () => {
  const { Document } = JSON.parse(MESSAGE) as { Document: Record<string, Json> }
  const root = Document['CstmrCdtTrfInitn'] ?? null
  const of = (document: Json) => validateMessage({ payload: JSON.stringify(document) })
  const instance = 'http://www.w3.org/2001/XMLSchema-instance'
  const forms: Json[] = [
    // xml2js: every element an array, attributes under `$`, text beside them under `_`.
    { Document: { $: { 'xmlns:xsi': instance, xmlns: NAMESPACE }, CstmrCdtTrfInitn: rewritten(root, (text) => text, 'xml2js') } },
    { Envelope: { Document: [{ $: { xmlns: NAMESPACE }, CstmrCdtTrfInitn: rewritten(root, (text) => text, 'xml2js') }] } },
    // xml-js, compact: attributes under `_attributes`, every text under `_text`.
    { Document: { _attributes: { xmlns: NAMESPACE }, CstmrCdtTrfInitn: rewritten(root, (text) => ({ _text: text }), 'xml-js') } },
    // BadgerFish: every text under `$`, namespaces as an object.
    { Document: { '@xmlns': { $: NAMESPACE }, CstmrCdtTrfInitn: rewritten(root, (text) => ({ $: text }), 'badgerfish') } },
    // Declared in another order, and with a prefix.
    { Document: { '@xmlns:xsi': instance, '@xmlns': NAMESPACE, CstmrCdtTrfInitn: root } },
    { 'p:Document': { '@xmlns': 'urn:x', '@xmlns:p': NAMESPACE, 'p:CstmrCdtTrfInitn': root } },
  ]
  for (const [index, form] of forms.entries()) {
    const { valid, tx_count, ctrl_sum, findings } = of(form)
    assert.deepEqual(
      { valid, tx_count, ctrl_sum, findings },
      { valid: true, tx_count: 2, ctrl_sum: '1300.00', findings: [] },
      `form ${index}`,
    )
  }
})

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** The message, whose only attribute is `@Ccy`, in the form of another converter. */
function rewritten(value: Json, text: (plain: Json) => Json, form: 'xml2js' | 'xml-js' | 'badgerfish'): Json {
  const inner = (one: Json) => rewritten(one, text, form)
  if (Array.isArray(value)) return value.map(inner)
  if (value === null || typeof value !== 'object') return text(value)
  const { '@Ccy': currency, '#text': amount, ...elements } = value
  if (currency !== undefined && amount !== undefined) {
    if (form === 'xml2js') return { $: { Ccy: currency }, _: amount }
    return form === 'xml-js' ? { _attributes: { Ccy: currency }, _text: amount } : { '@Ccy': currency, $: amount }
  }
  const list = (one: Json) => (form === 'xml2js' && !Array.isArray(one) ? [one] : one)
  return Object.fromEntries(Object.entries(elements).map(([name, one]) => [name, list(inner(one))]))
}

test('broken JSON is a finding with its line', () => {
  const broken = (payload: string) => validateMessage({ payload, format: 'json' }).findings.map(({ code, line }) => [code, line])
  assert.deepEqual(broken('{"a":\n\n}'), [['JSON_NOT_WELLFORMED', 3]])
  assert.deepEqual(broken('{"a": 01}'), [['JSON_NOT_WELLFORMED', 1]])
  assert.deepEqual(broken('['.repeat(100)), [['JSON_LIMIT', 1]])
  assert.deepEqual(broken('"\u0001"'), [['JSON_NOT_WELLFORMED', 1]])
  assert.deepEqual(broken('{}'), [['NS_UNKNOWN', 1]])
})

test('the reader of JSON takes exactly what the engine takes', () => {
  const accepts = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const text = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.constantFrom('"', '\\', ',', '}', '1', ' ', '\n', 'e', '\u0000', '-'))
      .map(([json, at, mark]) => {
        const place = at % (json.length + 1)
        return json.slice(0, place) + mark + json.slice(place + (at % 2))
      }),
  )
  fc.assert(
    fc.property(text, (json) => {
      const read = readJsonTree(json)
      assert.equal(read.ok, accepts(json))
    }),
    { numRuns: runs(500, 20_000), seed: SEED },
  )
})

const LISTED = {
  end_to_end_id: 'E2E-1',
  amount: '1250.75',
  currency: 'EUR',
  creditor: { iban: 'FR1420041010050500013M02606', bic: 'BNPAFRPPXXX' },
}
const OTHER = { end_to_end_id: 'E2E-2', amount: '49.25', currency: 'EUR', debtor: { lei: '5493001KJTIIGC8Y1R12' } }

test('a list of transactions is checked beside any payload', () => {
  const listed = (transactions: object[], payload = '') => {
    const { findings, format, tx_count, ctrl_sum_minor } = validateMessage({ payload, transactions })
    return { format, tx_count, ctrl_sum_minor, findings: findings.map(({ code, path }) => `${code} ${path}`) }
  }
  assert.deepEqual(listed([LISTED, OTHER]), { format: 'transactions', tx_count: 2, ctrl_sum_minor: '130000', findings: [] })
  assert.deepEqual(listed([LISTED, OTHER], '{"NbOfTxs": 3, "CtrlSum": "1300.01"}').findings, [
    'T_COUNT /transactions',
    'T_CTRLSUM /transactions',
  ])
  assert.deepEqual(listed([LISTED, { ...OTHER, end_to_end_id: 'E2E-1' }]).findings, ['T_E2E_DUPLICATE /transactions/1/end_to_end_id'])
  assert.deepEqual(listed([{ ...LISTED, amount: '1.005' }]).findings, ['AMT_FRACTION /transactions/0/amount'])
  assert.deepEqual(listed([{ ...LISTED, creditor: { iban: 'FR1520041010050500013M02606' } }]).findings, [
    'IBAN_CHECK /transactions/0/creditor/iban',
  ])
  // 539-0075470-35: 5390075470 mod 97 is 34 (Belgian account numbers), and the whole has 1 mod 97 all the same.
  const { findings } = validateMessage({ payload: '', transactions: [{ ...LISTED, creditor: { iban: 'BE41539007547035' } }] })
  assert.deepEqual(
    findings.map(({ code, expected, message }) => [code, expected, /national/.test(message)]),
    [['IBAN_CHECK', '34', true]],
  )
  assert.deepEqual(listed([{ ...LISTED, bic: 'BNPAFRP', lei: '5493001KJTIIGC8Y1R13' }]).findings, [
    'BIC_FORMAT /transactions/0/bic',
    'LEI_CHECK /transactions/0/lei',
  ])
  assert.deepEqual(listed([LISTED, OTHER], MESSAGE).findings, [])
  assert.deepEqual(listed([LISTED], MESSAGE).findings, ['T_COUNT /transactions', 'T_CTRLSUM /transactions'])
})

test('a list without anything in it is not valid', () => {
  const told = (transactions: object[]) =>
    validateMessage({ payload: '', transactions }).findings.map(({ code, severity, path }) => [code, severity, path])
  assert.deepEqual(told([]), [['T_EMPTY', 'error', '/transactions']])
  assert.deepEqual(told([{ amount: '1.00' }, {}, { debtor: {} }]), [
    ['T_EMPTY', 'error', '/transactions/1'],
    ['T_EMPTY', 'error', '/transactions/2'],
  ])
  assert.equal(validateMessage({ payload: '', transactions: [] }).valid, false)
})
