import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NachaFinding } from '../../src/pure/documents/nacha/format.ts'
import { nachaReader, type NachaOptions, type NachaReport } from '../../src/pure/documents/nacha/read.ts'
import { NACHA_RULES, type NachaCode } from '../../src/pure/documents/nacha/format.ts'
import {
  CCD,
  CIE,
  CLEAN,
  edit,
  fileLines,
  FILLER,
  IAT,
  left,
  moved,
  NOTICES,
  POS,
  PPD,
  RETURNS,
  TEL,
  WEB,
  type BatchSpec,
  type EntrySpec,
} from './nacha-files.ts'

function read(lines: string[], options: NachaOptions = {}): NachaReport {
  const reader = nachaReader(options)
  reader.write(`${lines.join('\n')}\n`)
  return reader.end()
}

/** A file that breaks one rule, the line where that is seen, and the columns. */
interface Breach {
  lines: string[]
  line: number
  positions?: string
  options?: NachaOptions
}

const ppd = CLEAN['ppd'] ?? []
const ctx = CLEAN['ctx'] ?? []
const iat = CLEAN['iat'] ?? []
const returns = CLEAN['returns'] ?? []
const notices = CLEAN['notices'] ?? []
const web = CLEAN['web'] ?? []

/** The batch with something else in its first entry. */
function first(batch: BatchSpec, change: Partial<EntrySpec>): string[] {
  return fileLines([{ ...batch, entries: batch.entries.map((entry, index) => (index === 0 ? { ...entry, ...change } : entry)) }])
}

/** The same columns in header and control of the one batch. */
function both(lines: string[], control: number, from: number, columns: string): string[] {
  return edit(edit(lines, 2, from, columns), control, from, columns)
}

const swapped = iat.map((line, index) => (index === 4 ? (iat[5] ?? '') : index === 5 ? (iat[4] ?? '') : line))
const stray = [...ppd.slice(0, 7), left('X', 94), ...ppd.slice(7, 9)]
const two_web = fileLines([WEB, moved(WEB, 10)])

const EMPTY_FILE = [ppd[0] ?? '', `9${'0'.repeat(6)}000001${'0'.repeat(42)}${' '.repeat(39)}`, ...Array.from({ length: 8 }, () => FILLER)]

/** Lines of PPD: 1 file header, 2 batch header, 3 entry, 4 entry, 5 addenda, 6 prenote, 7 batch control, 8 file control, 9-10 filler. */
const BREACHES: Readonly<Record<NachaCode, Breach>> = {
  N_LEN: { lines: [`${ppd[0]} `, ...ppd.slice(1)], line: 1 },
  N_CHARSET: { lines: edit(ppd, 2, 6, 'É'), line: 2, positions: '6' },
  N_EMPTY: { lines: EMPTY_FILE, line: 2, positions: '1' },
  N_ORDER: { lines: stray, line: 8, positions: '1' },
  N_HEADER_CONST: { lines: edit(ppd, 1, 35, '095'), line: 1, positions: '35-40' },
  N_PRIORITY: { lines: edit(ppd, 1, 2, '02'), line: 1 },
  N_DATE: { lines: edit(ppd, 1, 24, '260229'), line: 1, positions: '24-29' },
  N_TIME: { lines: edit(ppd, 1, 30, '2460'), line: 1 },
  N_MODIFIER: { lines: edit(ppd, 1, 34, 'a'), line: 1, positions: '34' },
  N_DEST_ROUTING: { lines: edit(ppd, 1, 5, '076401252'), line: 1, positions: '4-13' },
  N_ORIGIN: { lines: edit(ppd, 1, 15, '076401252'), line: 1 },
  N_SERVICE_CLASS: { lines: both(ppd, 7, 2, '210'), line: 2 },
  N_CLASS_DIR: { lines: fileLines([{ ...TEL, service: '220' }]), line: 3 },
  N_SEC: { lines: edit(ppd, 2, 51, 'PPX'), line: 2, positions: '51-53' },
  N_BATCH_SEQ: { lines: fileLines([{ ...WEB, number: 2 }, moved({ ...WEB, number: 1 }, 10)]), line: 6 },
  N_BATCH_PAIR: { lines: edit(ppd, 7, 45, '2'), line: 7, positions: '45-54' },
  N_EFFDATE: { lines: fileLines([{ ...PPD, effective: '261119' }]), line: 2 },
  N_JULIAN: { lines: fileLines([{ ...PPD, julian: '367' }]), line: 2, positions: '76-78' },
  N_TXCODE: { lines: edit(ppd, 3, 2, '20'), line: 3 },
  N_RDFI_CHECK: { lines: edit(ppd, 3, 12, '8'), line: 3, positions: '4-12' },
  N_AMOUNT: { lines: edit(ppd, 3, 30, '00002500.0'), line: 3, positions: '30-39' },
  N_AMOUNT_ZERO: { lines: first(PPD, { cents: 0 }), line: 3 },
  N_PRENOTE_NONZERO: { lines: first(PPD, { code: '33' }), line: 3 },
  N_NAME: { lines: first(PPD, { name: '' }), line: 3, positions: '55-76' },
  N_ADDENDA_FLAG: { lines: edit(ppd, 4, 79, '0'), line: 4, positions: '79' },
  N_ADDENDA_COUNT: { lines: edit(ctx, 3, 55, '0003'), line: 3, positions: '55-58' },
  N_ADDENDA_MAX: { lines: first(PPD, { addenda: ['ONE', 'TWO'] }), line: 3 },
  N_ADDENDA_TYPE: { lines: edit(ppd, 5, 2, '02'), line: 5 },
  N_ADDENDA_SEQ: { lines: edit(ctx, 5, 84, '0003'), line: 5 },
  N_ADDENDA_TRACE: { lines: edit(ppd, 5, 88, '0000009'), line: 5, positions: '88-94' },
  N_TRACE_ODFI: { lines: edit(ppd, 6, 80, '07640126'), line: 6 },
  N_TRACE_ASC: { lines: edit(web, 4, 88, '0000000'), line: 4 },
  N_TRACE_DUP: { lines: fileLines([WEB, { ...WEB, entries: WEB.entries.slice(1) }]), line: 7, positions: '80-94' },
  N_TRACE_BOUND: { lines: two_web, line: 7, options: { max_traces: 2 } },
  N_RETURN_CODE: { lines: edit(returns, 4, 4, 'R99'), line: 4, positions: '4-6' },
  N_NOC_CODE: { lines: edit(notices, 4, 4, 'C15'), line: 4 },
  N_RETURN_TRACE: { lines: edit(returns, 4, 7, '              1'), line: 4, positions: '7-21' },
  N_CATEGORY: {
    lines: fileLines([{ ...RETURNS, effective: '261123', entries: RETURNS.entries.concat(moved(WEB, 9).entries.slice(0, 1)) }]),
    line: 7,
  },
  N_IAT_ADDENDA: { lines: swapped, line: 5, positions: '2-3' },
  N_B_COUNT: { lines: edit(ppd, 7, 5, '000003'), line: 7 },
  N_B_HASH: { lines: edit(ppd, 7, 20, '8'), line: 7, positions: '11-20' },
  N_B_DEBIT: { lines: edit(ppd, 7, 32, '1'), line: 7, positions: '21-32' },
  N_B_CREDIT: { lines: edit(ppd, 7, 33, '1'), line: 7, positions: '33-44' },
  N_F_BATCHES: { lines: edit(ppd, 8, 7, '2'), line: 8 },
  N_F_BLOCKS: { lines: edit(ppd, 8, 13, '2'), line: 8 },
  N_F_COUNT: { lines: edit(ppd, 8, 14, ' '), line: 8 },
  N_F_HASH: { lines: edit(ppd, 8, 22, '1'), line: 8 },
  N_F_DEBIT: { lines: edit(ppd, 8, 43, '1'), line: 8, positions: '32-43' },
  N_F_CREDIT: { lines: edit(ppd, 8, 44, '9'), line: 8 },
  N_PADDING: { lines: ppd.slice(0, 9), line: 9 },
  N_AFTER_CONTROL: { lines: [...ppd, `1${left('', 93)}`], line: 11 },
  N_DESC: { lines: fileLines([{ ...PPD, description: 'WAGES' }]), line: 2, positions: '54-63' },
}

for (const [name, lines] of Object.entries(CLEAN)) {
  test(`a clean file has no findings: ${name}`, () => {
    assert.ok(
      lines.every((line) => line.length === 94),
      'the test writes records of 94 characters',
    )
    const { findings, valid } = read(lines)
    assert.deepEqual(findings, [])
    assert.equal(valid, true)
  })
}

for (const [code, { lines, line, positions, options }] of Object.entries(BREACHES)) {
  test(`one fault, one finding: ${code}`, () => {
    const { findings, counts, valid } = read(lines, options)
    assert.deepEqual(counts, { [code]: 1 })
    const [found] = findings
    const rule = NACHA_RULES[code as NachaCode]
    assert.equal(found?.line, line)
    assert.equal(found.severity, rule.severity)
    assert.equal(found.message, rule.message)
    assert.equal(valid, rule.severity !== 'error')
    if (positions !== undefined) assert.equal(found.positions, positions)
  })
}

test('every rule has its case, and all 48 of the list and their kin are there', () => {
  assert.deepEqual(Object.keys(BREACHES).sort(), Object.keys(NACHA_RULES).sort())
  // N_TIME goes with N_DATE, N_EMPTY with N_ORDER; types of addenda and the bound on trace numbers are our own.
  assert.equal(Object.keys(NACHA_RULES).length, 48 + 4)
})

/** Further faults under the same codes. */
const MORE: [name: string, code: NachaCode, lines: string[], line: number][] = [
  ['a calendar day that is none', 'N_EFFDATE', fileLines([{ ...PPD, effective: '261131' }]), 2],
  ['no effective date', 'N_EFFDATE', fileLines([{ ...PPD, effective: '      ' }]), 2],
  ['an advice class outside ADV', 'N_SERVICE_CLASS', both(ppd, 7, 2, '280'), 2],
  [
    'a credit by telephone',
    'N_CLASS_DIR',
    fileLines([{ ...TEL, service: '200', entries: [{ code: '22', rdfi: '09100001', cents: 1, sequence: 1 }] }]),
    3,
  ],
  ['a return code in a forward entry', 'N_TXCODE', first(PPD, { code: '21' }), 3],
  ['a notice that moves money', 'N_PRENOTE_NONZERO', first(NOTICES, { cents: 1 }), 3],
  ['a payment at a till without its addenda', 'N_ADDENDA_COUNT', first(POS, { addenda: [] }), 3],
  ['an international entry that states too few', 'N_ADDENDA_COUNT', edit(iat, 3, 13, '0006'), 3],
  ['an addenda where the class has none', 'N_ADDENDA_MAX', first(TEL, { addenda: ['HELLO'] }), 3],
  ['a company without a name', 'N_NAME', edit(ctx, 3, 59, left('', 16)), 3],
  ['a payer without a name', 'N_NAME', first(CIE, { id: '' }), 3],
  ['an international receiver without a name', 'N_NAME', edit(iat, 4, 47, left('', 35)), 3],
  ['an international entry without addenda 16', 'N_IAT_ADDENDA', fileLines([shortened()]), 3],
  ['a notice outside COR', 'N_CATEGORY', fileLines([{ ...NOTICES, sec: 'PPD' }]), 3],
  ['a trace number with a letter', 'N_TRACE_ASC', edit(web, 4, 90, 'X'), 4],
  ['a trace number twice in one batch', 'N_TRACE_DUP', edit(web, 4, 88, '0000001'), 4],
  ['a control that names another batch', 'N_BATCH_PAIR', edit(ppd, 7, 88, '0000002'), 7],
  ['filler that is not all nines', 'N_PADDING', edit(ppd, 9, 90, '0'), 9],
  ['filler that is cut short', 'N_PADDING', [...ppd.slice(0, 9), FILLER.slice(1)], 10],
  ['a second file behind the first', 'N_AFTER_CONTROL', [...ppd, ...ppd.slice(0, 1)], 11],
  ['no batch at all', 'N_EMPTY', EMPTY_FILE, 2],
  ['no file control', 'N_ORDER', ppd.slice(0, 7), 7],
  ['filler instead of the file control', 'N_ORDER', [...ppd.slice(0, 7), FILLER, FILLER, FILLER], 8],
  ['no batch header: its records are skipped and told once', 'N_ORDER', [ppd[0] ?? '', ...ppd.slice(2), FILLER], 2],
  ['nothing at all', 'N_ORDER', [], 1],
  ['a blank line inside', 'N_LEN', [...ppd.slice(0, 3), '', ...ppd.slice(3)], 4],
  ['a reversal in another case', 'N_DESC', fileLines([{ ...WEB, description: 'Reversal' }]), 2],
  ['a purchase in other words', 'N_DESC', fileLines([{ ...WEB, description: 'ONLINE PUR' }]), 2],
  ['micro entries under another name', 'N_DESC', fileLines([micro('VERIFY', 12)]), 2],
  ['a dollar is no micro entry', 'N_DESC', fileLines([micro('ACCTVERIFY', 100)]), 2],
]

function micro(description: string, cents: number): BatchSpec {
  return { ...PPD, description, entries: [{ code: '22', rdfi: '09100001', cents, sequence: 1 }] }
}

/** One international entry that ends with addenda 15 and says so. */
function shortened(): BatchSpec {
  const [entry] = IAT.entries
  assert.ok(entry !== undefined)
  return {
    ...IAT,
    entries: [{ ...entry, addenda: entry.addenda?.slice(0, 6) ?? [], middle: (entry.middle ?? '').replace('0007', '0006') }],
  }
}

for (const [name, code, lines, line] of MORE) {
  test(`${name}: ${code}`, () => {
    const { findings, counts } = read(lines)
    assert.deepEqual(counts, { [code]: 1 })
    assert.equal(findings[0]?.line, line)
  })
}

test('what is allowed is not found', () => {
  const fine: [string, string[]][] = [
    [
      'a reversal goes against the class',
      fileLines([{ ...TEL, description: 'REVERSAL', service: '200', entries: [{ code: '22', rdfi: '09100001', cents: 1, sequence: 1 }] }]),
    ],
    ['micro entries by their name', fileLines([micro('ACCTVERIFY', 99)])],
    ['wages under any name before 20 March 2026', edit(fileLines([{ ...PPD, description: 'WAGES' }]), 1, 24, '260319')],
    ['an origin of ten characters', edit(ppd, 1, 14, '1987654321')],
    ['a blank time', edit(ppd, 1, 30, '    ')],
    ['zero dollars with remittance', first({ ...CCD, service: '200' }, { code: '24', cents: 0 })],
    ['a returned prenote', first(RETURNS, { cents: 0 })],
    ['blank lines at the end', [...ppd, '', '   ', '\u001A']],
    ['a block of filler that is counted', edit([...ppd, ...Array.from({ length: 10 }, () => FILLER)], 8, 8, '000002')],
  ]
  for (const [name, lines] of fine) assert.deepEqual(read(lines).findings, [], name)
})

test('lines that lost their blanks are read, with a warning each', () => {
  const { findings, valid } = read(ppd.map((line) => line.trimEnd()))
  assert.deepEqual(
    findings.map(({ code, severity, line }: NachaFinding) => [code, severity, line]),
    [
      ['N_LEN', 'warning', 1],
      ['N_LEN', 'warning', 8],
    ],
  )
  assert.equal(valid, true)
})

test('findings are capped, counts are not; what was found is cut and printable', () => {
  const many = fileLines([
    { ...WEB, entries: Array.from({ length: 300 }, (_, at) => ({ code: '27', rdfi: '09100001', cents: 0, sequence: at + 1 })) },
  ])
  const { findings, counts, findings_cut } = read(many)
  assert.equal(findings.length, 200)
  assert.deepEqual(counts, { N_AMOUNT_ZERO: 300 })
  assert.equal(findings_cut, true)
  assert.equal(read(many, { max_findings: 1_000 }).findings.length, 300)
  const [after] = read([...ppd, `\u202E\u0000${'Z'.repeat(92)}`]).findings
  assert.equal(after?.code, 'N_AFTER_CONTROL')
  assert.match(after.found ?? '', /^[\x20-\x7E]{64}$/)
})

test('the 23 classes are known, and no other', () => {
  const classes = 'ACK ADV ARC ATX BOC CCD CIE COR CTX DNE ENR IAT MTE POP POS PPD RCK SHR TEL TRC TRX WEB XCK'.split(' ')
  assert.equal(classes.length, 23)
  for (const sec of classes) assert.equal(read(edit(ppd, 2, 51, sec)).counts.N_SEC, undefined, sec)
  for (const sec of ['ppd', 'CBR', '   ', '__p']) assert.equal(read(edit(ppd, 2, 51, sec)).counts.N_SEC, 1, sec)
})

test('assigned codes are known, and no other', () => {
  const unknown = (lines: string[], letter: string, code: NachaCode) =>
    Array.from({ length: 100 }, (_, number) => `${letter}${`${number}`.padStart(2, '0')}`).filter(
      (reason) => (read(edit(lines, 4, 4, reason)).counts[code] ?? 0) > 0,
    )
  const few = 'R00 R48 R49 R54 R55 R56 R57 R58 R59 R60 R78 R79 R86 R87 R88 R89 R90 R91 R92 R93 R94 R95 R96 R97 R98 R99'
  assert.equal(unknown(returns, 'R', 'N_RETURN_CODE').join(' '), few)
  assert.equal(100 - unknown(notices, 'C', 'N_NOC_CODE').length, 14 + 9)
  const used = '21 22 23 24 26 27 28 29 31 32 33 34 36 37 38 39 41 42 43 44 46 47 48 49 51 52 53 54 55 56'
  const known = Array.from({ length: 100 }, (_, number) => `${number}`.padStart(2, '0')).filter(
    (code) => read(edit(returns, 3, 2, code)).counts.N_TXCODE === undefined,
  )
  assert.equal(known.join(' '), used)
})
