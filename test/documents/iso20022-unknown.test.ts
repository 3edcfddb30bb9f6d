import assert from 'node:assert/strict'
import { test } from 'node:test'
import tool from '../../src/tools/messages/iso20022-validate.ts'
import { painMessage } from '../support/iso20022-messages.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:'

async function refusalOf(raw_payload: string, more: Record<string, unknown> = {}) {
  return tool.refuses?.(await tool.execute({ raw_payload, ...more }, null)) ?? null
}

test('an unknown type or version is refused uncharged: neither valid nor invalid, with what was found and what is known', async () => {
  const cases = [
    ['seev.031.001.10', 'pain.001'],
    ['pain.018.001.01', 'pain.001'],
    ['pain.001.001.99', 'pain.001.001.13'],
    ['head.001.001.02', 'head.001.001.04'],
  ] as const
  for (const [name, one_known] of cases) {
    const refusal = await refusalOf(`<Document xmlns="${NAMESPACE}${name}?secret"><Root/></Document>`)
    assert.ok(refusal !== null, name)
    assert.equal(refusal.problem, 'MESSAGE_UNKNOWN')
    const { valid, verdict, found, known_messages } = refusal.details.extra ?? {}
    assert.deepEqual([valid, verdict, found], [null, 'undetermined', name])
    assert.ok(refusal.message.includes(name))
    assert.ok(!JSON.stringify([refusal.message, refusal.details.extra]).includes('secret'), 'a problem gives no text of the caller back')
    assert.ok(Array.isArray(known_messages) && known_messages.includes(one_known), name)
  }
})

const MT940 = '\r\n:20:STARTUMSE\r\n:25:50880050/0194777300\r\n:28C:00084/001\r\n:60F:C080618EUR100,00\r\n-'
const OTHER_FORMATS: readonly (readonly [payload: string, found: RegExp])[] = [
  [MT940, /^an MT940 or MT942 statement/],
  [`ABNANL2A\r\n940\r\nABNANL2A${MT940}`, /^an MT940 or MT942 statement/],
  [`0000 01INGBNL2AXXXX00001\r\n0000 01INGBNL2AXXXX00001\r\n940 00${MT940}`, /^an MT940 or MT942 statement/],
  [`:940:${MT940}`, /^an MT940 or MT942 statement/],
  ['{1:F01COBADEFFAXXX0000000000}{2:I940COBADEFFXXXXN}{4:\n:20:A\n-}', /^an MT940 message/],
  ['{1:F01COBADEFFAXXX0000000000}{2:O1031200200101COBADEFFAXXX00000000002001011200N}{4:\n:20:A\n:32A:200101EUR1,\n-}', /^an MT103 message/],
  [':20:A\n:23B:CRED\n:32A:200101EUR1,\n', /^an MT message/],
  ['01,122099999,123456789,040621,0200,1,65,,2/\n02,031001234,122099999,1,040620,2359,,2/', /^a BAI2 report/],
  ['Date;Amount;Text\n2026-01-01;1,00;a\n', /^text in columns/],
  ['101 121042882 1210428822407090005A094101Citadel                My Bank Name           00000000', /^an ACH file/],
  ['OFXHEADER:100\nDATA:OFXSGML\n<OFX></OFX>', /^an OFX/],
  ['<?xml version="1.0"?><?OFX OFXHEADER="200"?><OFX></OFX>', /^an OFX/],
  ['!Type:Bank\nD1/1/26\n', /^a QIF/],
  ["UNB+UNOA:1+A+B+1:1+1'", /^an EDIFACT/],
  ['<!DOCTYPE html><html></html>', /^an HTML page/],
  ['%PDF-1.7', /^a PDF/],
]

test('a file of another format is refused uncharged, and named', async () => {
  for (const [payload, found] of OTHER_FORMATS) {
    for (const format of [undefined, 'xml', 'json'] as const) {
      const refusal = await refusalOf(payload, format === undefined ? {} : { format })
      assert.equal(refusal?.problem, 'MESSAGE_UNKNOWN', payload)
      assert.match(String(refusal?.details.extra?.['found']), found)
    }
  }
  assert.match((await refusalOf(MT940))?.message ?? '', /tool reconcile reads statements as camt\.053/)
  const text = await refusalOf('Dear bank,\nplease pay')
  assert.equal(text?.details.extra?.['found'], 'text of an unknown format')
})

test('a known message, a broken document and a list of transactions are answered', async () => {
  assert.equal(await refusalOf(painMessage()), null)
  assert.equal(await refusalOf('<Document'), null)
  assert.equal(await refusalOf('<Document xmlns="a"/>', { transactions: [{ amount: '1.00', currency: 'EUR' }] }), null)
})
