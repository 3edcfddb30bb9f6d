import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MessageFinding } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { runs, SEED } from '../support/counts.ts'
import { swap } from '../support/iso20022-messages.ts'
import { codesOf } from '../support/iso20022-rules.ts'
import {
  balance,
  bankCode,
  CAMT_VERSIONS,
  changed,
  entry,
  head,
  isLater,
  message,
  oneStatement,
  status,
  transaction,
  twoPages,
  twoStatements,
} from './iso20022-camt-messages.ts'

const DAY = '2026-11-20'
const opening = (amount: string) => balance('OPBD', amount, DAY)
const closing = (amount: string) => balance('CLBD', amount, DAY)
const between = (amount: string) => balance('ITBD', amount, DAY)

function findings(payload: string): MessageFinding[] {
  return validateMessage({ payload, profile: 'base' }).findings
}

test('every version has clean statements, one and two, with all figures', () => {
  for (const version of CAMT_VERSIONS) {
    for (const clean of [oneStatement(version), twoStatements(version)]) assert.deepEqual(findings(clean), [], version)
    const { tx_count, ctrl_sum, ctrl_sum_minor, message_id, currencies } = validateMessage({ payload: twoStatements(version) })
    // 500.25, 200.10 and 50.00
    assert.deepEqual([tx_count, ctrl_sum, ctrl_sum_minor, message_id, currencies], [3, '750.35', '75035', 'CAMT-1', ['EUR']])
  }
})

test('S_STS_SHAPE: a bare code up to version 04, Cd or Prtry from 08 on', () => {
  for (const version of CAMT_VERSIONS) {
    const other = isLater(version) ? '<Sts>BOOK</Sts>' : '<Sts><Cd>BOOK</Cd></Sts>'
    const codes = codesOf(swap(oneStatement(version), status(version), other))
    // Text beside elements is a fault of structure as well; nothing that depends on the status is told.
    assert.deepEqual(
      codes.filter((code) => code !== 'STRUCT_TEXT'),
      ['S_STS_SHAPE'],
      version,
    )
  }
})

test('the equation tells the difference, and whether reversals would explain it', () => {
  const [wrong] = findings(swap(oneStatement('08'), '1300.15', '1290.05'))
  assert.deepEqual([wrong?.code, wrong?.found, wrong?.expected], ['S_BAL_EQ', '1290.05', '1300.15'])
  assert.match(wrong?.message ?? '', /differs by -10\.10\.$/)
  const [short, scale] = findings(swap(oneStatement('08'), '1300.15', '-1300.15'))
  assert.deepEqual([short?.code, scale], ['AMT_LEXICAL', undefined])
  // The debit of 200.10 is a reversal. Taken as a credit, 1,000.00 and 500.25 and 200.10 make 1,700.35.
  const reversal = ['200.10</Amt><CdtDbtInd>DBIT</CdtDbtInd>', '200.10</Amt><CdtDbtInd>DBIT</CdtDbtInd><RvslInd>true</RvslInd>'] as const
  const told = findings(changed(oneStatement('04'), [reversal, ['1300.15', '1700.35']]))
  assert.deepEqual(
    told.map(({ code }) => code),
    ['S_RVSL', 'S_BAL_EQ'],
  )
  assert.match(told[1]?.message ?? '', /agrees if reversals are read in the direction opposite to CdtDbtInd/)
})

test('pages are checked by the balances at their cuts', () => {
  for (const version of CAMT_VERSIONS.slice(1)) {
    const cut = (left: string, right: string) =>
      twoPages(version, [opening('1000.00') + between(left), between(right) + closing('1250.15')])
    assert.deepEqual(findings(cut('1300.15', '1300.15')), [], version)
    assert.deepEqual(codesOf(cut('1300.16', '1300.15')), ['S_BAL_EQ'])
    assert.deepEqual(codesOf(cut('1300.15', '1300.25')), ['S_BAL_EQ'])
  }
})

test('pages that repeat the balances of the whole are checked together', () => {
  const whole = (amount: string) => {
    const balances = opening('1000.00') + closing(amount)
    return twoPages('08', [balances, balances])
  }
  assert.deepEqual(findings(whole('1250.15')), [])
  assert.deepEqual(codesOf(whole('1300.15')), ['S_BAL_EQ'])
})

test('S_PAGINATION: pages follow each other up to the last', () => {
  const pages = twoPages('08', [opening('1000.00') + between('1300.15'), between('1300.15') + closing('1250.15')])
  const page = (number: number, last: boolean) => `<PgNb>${number}</PgNb><LastPgInd>${last}</LastPgInd>`
  assert.deepEqual(codesOf(swap(pages, page(2, true), page(3, true))), ['S_PAGINATION'])
  const ended = [
    [page(1, false), page(1, true)],
    [between('1300.15'), between('1300.15') + closing('1300.15')],
  ] as const
  assert.deepEqual(codesOf(changed(pages, ended)), ['S_PAGINATION'])
  const header = ['</CreDtTm></GrpHdr>', `</CreDtTm><MsgPgntn>${page(1, true)}</MsgPgntn></GrpHdr>`] as const
  assert.deepEqual(codesOf(changed(pages, [header])), [])
  const open = [page(2, true), page(2, false)] as const
  const cut = [`${between('1300.15')}${closing('1250.15')}`, `${between('1300.15')}${between('1250.15')}`] as const
  assert.deepEqual(codesOf(changed(pages, [open, cut])), [])
  assert.deepEqual(codesOf(changed(pages, [header, open, cut])), ['S_PAGINATION'])
  assert.deepEqual(
    codesOf(swap(twoPages('08', [opening('1000.00') + between('1300.15'), closing('1250.15')]), page(2, true), page(1, true))),
    ['S_BAL_OPEN', 'S_STMT_ID_DUP'],
  )
})

test('statements may come latest first, and of several accounts', () => {
  const second = (sequence: number) => `<ElctrncSeqNb>${sequence}`
  const turned = changed(twoStatements('08'), [
    [second(17), second(20)],
    [second(18), second(19)],
  ])
  assert.deepEqual(codesOf(turned), [])
  const other = changed(twoStatements('08'), [
    [head('STMT-2', 18, '2026-11-21'), head('STMT-2', 99, '2026-11-21').replace('DE89370400440532013000', 'NL91ABNA0417164300')],
    ['1300.15</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-21', '60.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-21'],
    ['1250.15', '10.00'],
  ])
  assert.deepEqual(codesOf(other), [])
})

interface Made {
  cents: number
  direction: 'CRDT' | 'DBIT'
  booked: boolean
}

const text = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
const side = (code: string, cents: number) => balance(code, text(Math.abs(cents)), DAY, 'EUR', cents < 0 ? 'DBIT' : 'CRDT')

test('any statement whose figures add up in whole cents is clean, and is not once they are off', () => {
  const made: fc.Arbitrary<Made> = fc.record({
    cents: fc.integer({ min: 1, max: 9_000_000 }),
    direction: fc.constantFrom('CRDT', 'DBIT'),
    booked: fc.boolean(),
  })
  const version = fc.constantFrom(...CAMT_VERSIONS)
  const property = fc.property(version, fc.array(made, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (of, entries, off) => {
    const net = entries.reduce((sum, { cents, direction, booked }) => (booked ? sum + (direction === 'CRDT' ? cents : -cents) : sum), 0)
    const all = entries.reduce((sum, { cents }) => sum + cents, 0)
    const told = entries.map(({ cents, direction, booked }, index) => {
      const details = `<NtryDtls>${transaction(of, text(cents), direction)}</NtryDtls>`
      const rest = `<AcctSvcrRef>R${index}</AcctSvcrRef>${bankCode(direction === 'CRDT' ? 'RCDT' : 'ICDT')}${details}`
      const one = entry(of, text(cents), direction, DAY, rest)
      return booked ? one : one.replace(status(of), status(of, 'PDNG'))
    })
    const summary = `<TxsSummry><TtlNtries><NbOfNtries>${entries.length}</NbOfNtries><Sum>${text(all)}</Sum></TtlNtries></TxsSummry>`
    const statement = (shift: number) =>
      message(of, head('S', 1, DAY) + side('OPBD', 12_345) + side('CLBD', 12_345 + net + shift) + summary + told.join(''))
    const expected = entries.every(({ booked }) => booked) ? [] : ['S_STS_PENDING']
    assert.deepEqual(codesOf(statement(0)), expected)
    const [wrong] = findings(statement(off)).filter(({ code }) => code === 'S_BAL_EQ')
    assert.match(wrong?.message ?? '', new RegExp(`differs by ${text(off).replace('.', '\\.')}\\.`))
  })
  fc.assert(property, { numRuns: runs(30, 1_000), seed: SEED })
})
