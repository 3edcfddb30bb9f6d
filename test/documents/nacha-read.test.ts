import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { NachaEntry } from '../../src/pure/documents/nacha/entry.ts'
import { nachaReader, type NachaReport } from '../../src/pure/documents/nacha/read.ts'
import { runs, SEED } from '../support/counts.ts'
import { CLEAN, edit, fileLines, FILLER, left, original, RETURNS, WEB, zeros, type BatchSpec } from './nacha-files.ts'

const few = { numRuns: runs(60, 2_000), seed: SEED }
const many = { numRuns: runs(300, 10_000), seed: SEED }

function readPieces(pieces: string[]): { report: NachaReport; entries: NachaEntry[] } {
  const entries: NachaEntry[] = []
  const reader = nachaReader({ onEntry: (entry) => entries.push(entry) })
  for (const piece of pieces) reader.write(piece)
  return { report: reader.end(), entries }
}

function readLines(lines: string[], between = '\n') {
  return readPieces([lines.join(between)])
}

/**
 * Written and summed by hand. Routing numbers with weights 3 7 1: 061000052 gives 42+1+35+2 = 80; 072000326: 49+2+9+14+6 = 80;
 * 021000021: 14+1+14+1 = 30; 011401533: 7+1+12+1+15+21+3 = 60; 121000358: 3+14+1+9+35+8 = 70.
 * Batch 1: 2 records, hash 02100002 + 01140153 = 3240155, credits 1234.56 + 0.01 = 1234.57.
 * Batch 2: 1 entry and 1 addenda, hash 12100035, debits 99999999.99.
 * File: 2 batches, 10 records are 1 block, 4 entries and addenda, hash 3240155 + 12100035 = 15340190.
 */
const BY_HAND = [
  '101 061000052 0720003262611200905A094101BANK OF THE SOUTH      NORTHERN GOODS INC     REF00001',
  '5220NORTHERN GOODS                      1382547690PPDPAYROLL   NOV 20261123   1072000320000001',
  '62202100002155501234         0000123456EMP0042        PAT EXAMPLE           S 0072000320000001',
  '632011401533777              0000000001EMP0043        LEE SAMPLE              0072000320000002',
  '822000000200032401550000000000000000001234571382547690                         072000320000001',
  '5225NORTHERN GOODS                      1382547690CCDSETTLE          2611233271072000320000002',
  '627121000358000998877        9999999999CONTRACT 7     EXAMPLE HOLDINGS        1072000320000003',
  '705RMR*IV*2026-118*PO*99999999.99\\TRN*1*E2E-5521*1382547690\\                       00010000003',
  '822500000200121000350099999999990000000000001382547690                         072000320000002',
  '9000002000001000000040015340190009999999999000000123457                                       ',
]
test('a file that was written and summed by hand', () => {
  const { report, entries } = readLines(BY_HAND)
  assert.deepEqual(report.findings, [])
  assert.deepEqual(report.totals, {
    records: 10,
    batches: 2,
    entries: 3,
    addenda: 1,
    forward: 3,
    returns: 0,
    notices: 0,
    prenotes: 0,
    credit_minor: 123_457n,
    debit_minor: 9_999_999_999n,
    entry_hash: '0015340190',
  })
  assert.deepEqual(report.file, {
    immediate_destination: '061000052',
    immediate_origin: '072000326',
    creation_date: '2026-11-20',
    creation_time: '0905',
    modifier: 'A',
    destination_name: 'BANK OF THE SOUTH',
    origin_name: 'NORTHERN GOODS INC',
  })
  assert.deepEqual(
    entries.map(({ line, batch_number, direction, amount_minor }) => [line, batch_number, direction, amount_minor]),
    [
      [3, '0000001', 'credit', 123_456n],
      [4, '0000001', 'credit', 1n],
      [7, '0000002', 'debit', 9_999_999_999n],
    ],
  )
  assert.deepEqual(entries[2], {
    line: 7,
    batch_line: 6,
    batch_number: '0000002',
    service_class: '225',
    company_id: '1382547690',
    company_name: 'NORTHERN GOODS',
    description: 'SETTLE',
    sec: 'CCD',
    kind: 'forward',
    direction: 'debit',
    transaction_code: '27',
    amount_minor: 9_999_999_999n,
    prenote: false,
    trace: '072000320000003',
    individual_id: 'CONTRACT 7',
    name: 'EXAMPLE HOLDINGS',
    rdfi: '121000358',
    odfi: '07200032',
    account: '000998877',
    effective_date: '2026-11-23',
    settlement_julian: '327',
    payment_infos: ['RMR*IV*2026-118*PO*99999999.99\\TRN*1*E2E-5521*1382547690\\'],
    references: [
      { segment: 'RMR', qualifier: 'IV', id: '2026-118' },
      { segment: 'TRN', qualifier: '1', id: 'E2E-5521' },
    ],
    return_code: null,
    return_kind: null,
    change_code: null,
    corrected_data: null,
    original_trace: null,
    original_rdfi: null,
  })
})

test('the hash keeps its last ten digits', () => {
  // 150 × 91000019 = 13650002850; 2 batches of 150: 27300005700.
  const entries = Array.from({ length: 150 }, (_, at) => ({ code: '27', rdfi: '91000019', cents: 1, sequence: at + 1 }))
  const batch: BatchSpec = { ...WEB, entries }
  const one = readLines(fileLines([batch])).report
  assert.deepEqual([one.counts, one.totals.entry_hash], [{}, '3650002850'])
  const two = readLines(fileLines([batch, { ...batch, odfi: '09100001' }])).report
  assert.deepEqual([two.counts, two.totals.entry_hash], [{}, '7300005700'])
})

test('a reference that runs on from one addenda to the next is read whole', () => {
  const [entry] = readLines(CLEAN['ctx'] ?? []).entries
  assert.equal(entry?.name, 'SUPPLIER LLC')
  assert.deepEqual(entry.references, [
    { segment: 'RMR', qualifier: 'IV', id: 'INV-0001' },
    { segment: 'RMR', qualifier: 'IV', id: 'INV-0002' },
    { segment: 'REF', qualifier: 'PO', id: '4711' },
  ])
})

test('returns, notices and international entries say what they are about', () => {
  const { entries, report } = readLines(CLEAN['mixed'] ?? [])
  const [back] = entries.filter(({ kind }) => kind === 'return')
  assert.deepEqual(
    [back?.return_code, back?.return_kind, back?.original_trace, back?.original_rdfi, back?.direction],
    ['R01', 'return', '076401250000042', '09100001', 'debit'],
  )
  const [notice] = entries.filter(({ kind }) => kind === 'noc')
  assert.deepEqual([notice?.change_code, notice?.corrected_data, notice?.amount_minor], ['C01', '1918171614', 0n])
  const abroad = entries.filter(({ sec }) => sec === 'IAT')
  assert.deepEqual(
    abroad.map(({ name, account, references }) => [name, account, references.map(({ id }) => id)]),
    [
      ['NORTH WIND LTD', 'CA44001122', []],
      ['NORTH WIND LTD', 'CA44001122', ['EXPORT-9']],
    ],
  )
  const { forward, returns, notices, prenotes } = report.totals
  assert.deepEqual([forward, returns, notices, prenotes], [9, 2, 1, 1])
})

test('dishonored and contested returns are told from returns', () => {
  const kinds = ['R01', 'R60', 'R61', 'R70', 'R71', 'R77', 'R80'].map((code) => {
    const entries = [{ code: '26', rdfi: '09100001', cents: 1, sequence: 1, addenda: [original('99', code, 1)] }]
    return readLines(fileLines([{ ...RETURNS, entries }])).entries[0]?.return_kind
  })
  assert.deepEqual(kinds, ['return', 'return', 'dishonored', 'dishonored', 'contested', 'contested', 'return'])
})

test('customer-initiated entries have name and number the other way round', () => {
  const [entry] = readLines(CLEAN['cie'] ?? []).entries
  assert.deepEqual([entry?.name, entry?.individual_id], ['SAM PAYER', 'ACCOUNT-NUMBER-OF-22-C'])
})

test('an advice file has its own columns', () => {
  // 81 credits 500.00, 82 debits 2500.00; hash 2 × 23138010 = 46276020; totals of twenty digits.
  const entry = (code: string, cents: number, sequence: number) =>
    `6${code}231380104${left('744-5678-99', 15)}${zeros(cents, 12)}121042882${left('11131', 6)}${left('NAME', 22)}  0` +
    `01100001050${zeros(sequence, 4)}`
  const lines = [
    (CLEAN['ppd'] ?? [])[0] ?? '',
    `5280${left('ACH OPERATOR', 36)}1987654321ADVACCOUNTING${' '.repeat(6)}261123   0076401250000001`,
    entry('81', 50_000, 1),
    entry('82', 250_000, 2),
    `82800000020046276020${zeros(250_000, 20)}${zeros(50_000, 20)}${left('ACH OPERATOR', 19)}076401250000001`,
    `9000001000001000000020046276020${zeros(250_000, 20)}${zeros(50_000, 20)}${' '.repeat(23)}`,
    ...Array.from({ length: 4 }, () => FILLER),
  ]
  const { report, entries } = readLines(lines)
  assert.deepEqual(report.findings, [])
  assert.deepEqual(
    entries.map(({ direction, amount_minor, account }) => [direction, amount_minor, account]),
    [
      ['credit', 50_000n, '744-5678-99'],
      ['debit', 250_000n, '744-5678-99'],
    ],
  )
})

test('what cannot be read is null, and makes no further findings', () => {
  const { report, entries } = readLines(edit(edit(CLEAN['ppd'] ?? [], 3, 2, 'XX'), 4, 30, 'ABC'))
  assert.deepEqual(report.counts, { N_TXCODE: 1, N_AMOUNT: 1 })
  assert.deepEqual([entries[0]?.direction, entries[1]?.amount_minor], [null, null])
})

/** Clean files and damaged ones. */
const files = Object.values(CLEAN).flatMap((lines) => [
  lines,
  edit(lines, 3, 12, 'X'),
  lines.toSpliced(2, 1),
  lines.toSpliced(3, 0, '', 'X', 'Y'.repeat(95), 'Z'.repeat(400)),
])
const anyFile = fc.constantFrom(...files)

test('how a file is cut into pieces changes nothing', () => {
  const ends = fc.constantFrom('\n', '\r\n', '\r', '')
  fc.assert(
    fc.property(anyFile, ends, fc.infiniteStream(fc.integer({ min: 1, max: 300 })), (lines, between, sizes) => {
      const text = lines.join(between)
      const pieces: string[] = []
      for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1) pieces.push(text.slice(at, at + (sizes.next().value ?? 1)))
      assert.deepEqual(readPieces(pieces), readPieces([text]))
    }),
    few,
  )
  for (const lines of files) assert.deepEqual(readPieces(Array.from(lines.join('\r\n'))), readLines(lines, '\r\n'))
})

test('how lines end changes nothing', () => {
  for (const lines of Object.values(CLEAN)) {
    const usual = readLines(lines)
    for (const between of ['\r\n', '\r', '']) assert.deepEqual(readLines(lines, between), usual)
    assert.deepEqual(readLines([...lines, ''], ''), usual)
    assert.deepEqual(readLines([lines.join(''), ''], '\n'), usual)
    // Blanks lost at line ends come with warnings, and with the same entries and totals.
    const trimmed = readLines(lines.map((line) => line.trimEnd()))
    assert.deepEqual([trimmed.entries, trimmed.report.totals], [usual.entries, usual.report.totals])
    assert.deepEqual(Object.keys(trimmed.report.counts), ['N_LEN'])
  }
})

test('one changed digit of an amount is always found', () => {
  const lines = CLEAN['web'] ?? []
  for (const [line, column] of Array.from({ length: 20 }, (_, at) => [3 + (at % 2), 30 + Math.floor(at / 2)] as const)) {
    const digit = lines[line - 1]?.charAt(column - 1) === '7' ? '3' : '7'
    const { counts } = readLines(edit(lines, line, column, digit)).report
    assert.deepEqual(counts, { N_B_DEBIT: 1, N_F_DEBIT: 1 })
  }
})

test('hostile text never throws, and the report stays bounded', () => {
  const character = fc.oneof(fc.constantFrom('1', '5', '6', '7', '8', '9', '0', ' ', '\n', '\r', '*', '\\', 'é', '\u0000'), fc.string())
  const noise = fc.array(character, { maxLength: 40 }).map((list) => list.join(''))
  const damaged = fc.tuple(anyFile, fc.array(fc.tuple(fc.nat(), fc.nat(), noise), { maxLength: 6 })).map(([lines, changes]) => {
    let text = lines.join('\n')
    for (const [at, length, insert] of changes) {
      const start = at % (text.length + 1)
      text = text.slice(0, start) + insert + text.slice(start + (length % 200))
    }
    return text
  })
  fc.assert(
    fc.property(fc.oneof(damaged, noise), (text) => {
      const { report, entries } = readPieces([text])
      const counted = Object.values(report.counts).reduce((sum, count) => sum + count, 0)
      assert.equal(report.findings.length, Math.min(counted, 200))
      assert.equal(entries.length, report.totals.entries)
      for (const { found, expected, line } of report.findings) {
        assert.match(`${found}${expected}`, /^[\x20-\x7E]{1,132}$/)
        assert.ok(line >= 1)
      }
      assert.deepEqual(
        report.findings.map(({ line }) => line),
        report.findings.map(({ line }) => line).toSorted((a, b) => a - b),
      )
    }),
    many,
  )
})
