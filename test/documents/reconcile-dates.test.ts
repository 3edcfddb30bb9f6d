import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDay } from '../../src/pure/documents/reconcile/values.ts'
import { detectFormat } from '../../src/pure/documents/reconcile/message-reader.ts'
import { runs, SEED } from '../support/counts.ts'
import { DEBTOR, entry, instruction, reconciled, statement } from './reconcile-records.ts'
import { booked, camt, detail, pain, transfer } from './reconcile-messages.ts'
import { only, read } from './reconcile-reading.ts'

/** Days of instructions and entries, and statements that overlap. */

const DAY = parseDay('2026-03-02') ?? 0

test('days are those of the calendar', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('1971-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      const text = date.toISOString()
      assert.equal(parseDay(text), Math.floor(date.getTime() / 86_400_000))
      assert.equal(parseDay(` ${text.slice(0, 10)} `), parseDay(text))
    }),
    { numRuns: runs(200, 5_000), seed: SEED },
  )
  for (const text of [null, '', '2026-02-30', '2026-13-01', '2026-3-2', '26-03-02', '2026-03-021', '1970-01-01', 'tomorrow'])
    assert.equal(parseDay(text), null, String(text))
})

test('dates of each version of a message are read', () => {
  const day = parseDay('2026-03-02')
  for (const [version, date] of [
    ['pain.001.001.03', '2026-03-02'],
    ['pain.001.001.09', '<Dt>2026-03-02</Dt>'],
    ['pain.001.001.11', '<DtTm>2026-03-02T10:00:00+01:00</DtTm>'],
  ] as const) {
    const text = pain(transfer('E1', '1.00'), version).replace('</PmtInfId>', `</PmtInfId><ReqdExctnDt>${date}</ReqdExctnDt>`)
    assert.equal(only(read('pain.001', text).instructions).day, day, version)
  }
  const pacs = (group: string, own: string) =>
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08"><FIToFICstmrCdtTrf><GrpHdr><MsgId>B1</MsgId>${group}</GrpHdr>` +
    `<CdtTrfTxInf><PmtId><EndToEndId>E1</EndToEndId></PmtId><IntrBkSttlmAmt Ccy="EUR">1.00</IntrBkSttlmAmt>${own}</CdtTrfTxInf>` +
    '</FIToFICstmrCdtTrf></Document>'
  const settled = (date: string) => `<IntrBkSttlmDt>${date}</IntrBkSttlmDt>`
  assert.equal(only(read('pacs.008', pacs(settled('2026-03-02'), '')).instructions).day, day)
  assert.equal(only(read('pacs.008', pacs(settled('2026-03-01'), settled('2026-03-02'))).instructions).day, day)
  const of = (more: string) => only(read('camt.053', camt(booked({ more, details: detail('E1') }))).entries).day
  assert.equal(of('<BookgDt><Dt>2026-03-02</Dt></BookgDt><ValDt><Dt>2026-03-05</Dt></ValDt>'), day)
  assert.equal(of('<BookgDt><DtTm>2026-03-02T23:59:59</DtTm></BookgDt>'), day)
  assert.equal(of('<ValDt><Dt>2026-03-02</Dt></ValDt>'), day)
  assert.equal(of(''), null)
})

test('an entry counts from ten days before the payment was due to ninety after, or as asked', () => {
  const verdict = (day: number | null, window?: { days_before: number; days_after: number }) => {
    const given = { instructions: [instruction({ day: DAY })], entries: [entry({ day })], ...(window && { window }) }
    const { verdicts, unmatched } = reconciled(given)
    return [only(verdicts).verdict, only(verdicts).kind, unmatched[0]?.reason]
  }
  const settled = ['SETTLED', null, undefined]
  const outside = ['UNPAID', 'outside_window', 'outside_window']
  for (const day of [DAY - 10, DAY, DAY + 90, null]) assert.deepEqual(verdict(day), settled, String(day))
  for (const day of [DAY - 11, DAY + 91, DAY - 365]) assert.deepEqual(verdict(day), outside, String(day))
  assert.deepEqual(verdict(DAY + 1, { days_before: 0, days_after: 0 }), outside)
  assert.deepEqual(verdict(DAY - 365, { days_before: 365, days_after: 0 }), settled)
})

test('an id that is used again each month is told apart by its days', () => {
  const months = [0, 31, 59].map((after, index) => instruction({ position: index + 1, day: DAY + after }))
  const on = (...after: number[]) => after.map((days, index) => entry({ entry: index + 1, day: DAY + days }))
  const verdicts = (...after: number[]) =>
    reconciled({ instructions: months, entries: on(...after) }).verdicts.map(({ verdict }) => verdict)
  assert.deepEqual(verdicts(1, 32, 60), ['SETTLED', 'SETTLED', 'SETTLED'])
  assert.deepEqual(verdicts(1, 60), ['SETTLED', 'UNPAID', 'SETTLED'])
  assert.deepEqual(verdicts(1, 2, 60), ['DUPLICATE_PAYMENT', 'UNPAID', 'SETTLED'])
  // Between two months it cannot be told of which it is.
  assert.deepEqual(verdicts(15), ['UNPAID', 'UNPAID', 'UNPAID'])
  // The same salaries each month, booked as one sum.
  const batch = [0, 31].flatMap((after, index) =>
    [1, 2].map((each) => instruction({ position: 2 * index + each, message_id: `M${index}`, end_to_end_id: `S${each}`, day: DAY + after })),
  )
  const sum = entry({ end_to_end_id: null, payment_information_id: 'P1', amount_minor: 20_000n, day: DAY + 31 })
  assert.deepEqual(
    reconciled({ instructions: batch, entries: [sum] }).verdicts.map(({ position, verdict }) => [position, verdict]),
    [
      [1, 'UNPAID'],
      [3, 'SETTLED'],
      [2, 'UNPAID'],
      [4, 'SETTLED'],
    ],
  )
})

test('payments under one id that are weeks apart are remarked', () => {
  const warnings = (apart: number) => {
    const [row] = reconciled({
      instructions: [instruction({ day: DAY })],
      entries: [entry({ day: DAY }), entry({ entry: 2, day: DAY + apart })],
    }).verdicts
    return [row?.verdict, row?.warnings]
  }
  assert.deepEqual(warnings(3), ['DUPLICATE_PAYMENT', []])
  assert.deepEqual(warnings(31), ['DUPLICATE_PAYMENT', ['DATES_APART']])
})

test('statements that overlap without references of the bank count once, and what rests on that is not final', () => {
  const two = (changes: Parameters<typeof statement>[0] = {}) => [
    statement({ account: DEBTOR, id: 'S1' }),
    statement({ account: DEBTOR, id: 'S2', ...changes }),
  ]
  const twice = [entry({ day: DAY }), entry({ entry: 2, day: DAY, statement: 1 })]
  const judged = (statements: ReturnType<typeof two>, entries = twice) => {
    const [row] = reconciled({ instructions: [instruction({ day: DAY })], entries, statements }).verdicts
    return [row?.verdict, row?.payments, row?.final, row?.warnings]
  }
  assert.deepEqual(judged(two()), ['SETTLED', 1, false, ['OVERLAP_INFERRED']])
  const paid_twice = ['DUPLICATE_PAYMENT', 2, false, []]
  // Another account, pages of one statement, periods that lie apart, or days that differ in one more entry: no overlap.
  assert.deepEqual(judged(two({ id: 'S1', page: '2' })), paid_twice)
  const apart = [statement({ account: DEBTOR, id: 'S1', to_day: DAY }), statement({ account: DEBTOR, id: 'S2', from_day: DAY + 1 })]
  assert.deepEqual(judged(apart), paid_twice)
  assert.deepEqual(judged(two(), [...twice, entry({ entry: 3, end_to_end_id: 'E9', day: DAY, statement: 1 })]), paid_twice)
  assert.deepEqual(judged(two(), [entry({ day: DAY }), entry({ entry: 2, day: DAY + 1, statement: 1 })]), paid_twice)
  // With references of the bank these decide.
  const named = [entry({ day: DAY, booking: 'a' }), entry({ entry: 2, day: DAY, statement: 1, booking: 'b' })]
  assert.deepEqual(judged(two(), named), paid_twice)
})

test('files of other formats are named', () => {
  for (const [text, name] of [
    ['\u{feff}:20:STARTUMSE\n:25:123', 'MT940'],
    ['01,122099999,123456789,260301,0200,1,80,1,2/', 'BAI2'],
    ['OFXHEADER:100', 'OFX'],
    ['!Type:Bank\nD03/02/2026', 'QIF'],
    ['Date,Amount,Text\n2026-03-02,-1.00,x', 'CSV'],
    ['%PDF-1.7', 'PDF'],
    ['PK\u0003\u0004', 'ZIP'],
    ['{"Document": {}}', 'JSON'],
    ['101 091000019', 'ACH'],
  ] as const)
    assert.match(detectFormat(text) ?? '', new RegExp(name), name)
  for (const text of ['', ' ', '<Document/>', 'a sentence, with one comma', '\n\n<?xml version="1.0"?>'])
    assert.equal(detectFormat(text), null, text)
})
