import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs, SEED } from '../support/counts.ts'
import { booked, camt, detail } from './reconcile-messages.ts'
import { only, read } from './reconcile-reading.ts'

/** Entries with several transactions: what each of them comes to, and that nothing of the entry is lost. */

const rowsOf = (text: string) => {
  const { entries, codes } = read('camt.053', text)
  return { codes, rows: entries.map((one) => [one.detail, one.end_to_end_id, one.direction, one.amount_minor]) }
}

test('charges that are all that transactions leave of their entry are a row of their own', () => {
  const own = (id: string, amount: string, more = '') => detail(id, `<Amt Ccy="EUR">${amount}</Amt>${more}`)
  const charges = (amount: string, currency = 'EUR') => `<Chrgs><Rcrd><Amt Ccy="${currency}">${amount}</Amt></Rcrd></Chrgs>`
  const of = (amount: string, more: string, direction = 'DBIT') =>
    rowsOf(camt(booked({ amount, direction, more, details: own('E1', '60.00') + own('E2', '40.00') })))
  const two = (direction: string) => [
    [1, 'E1', direction, 6_000n],
    [2, 'E2', direction, 4_000n],
  ]
  assert.deepEqual(of('101.50', charges('1.50')), { codes: [], rows: [...two('DBIT'), [0, null, 'DBIT', 150n]] })
  assert.deepEqual(of('98.50', charges('1.50'), 'CRDT'), { codes: [], rows: [...two('CRDT'), [0, null, 'DBIT', 150n]] })
  for (const [amount, more] of [
    ['98.50', charges('1.50')],
    ['101.50', charges('1.51')],
    ['101.50', charges('1.50', 'USD')],
    ['101.50', charges('0.00')],
  ] as const) {
    assert.deepEqual(of(amount, more).codes, ['DETAILS_SUM'])
  }
  // Charges of the transactions count like those of the entry, and the row belongs to no batch.
  const each = own('E1', '60.00', charges('1.00')) + own('E2', '40.00', charges('0.50'))
  const batch = '<Btch><PmtInfId>P1</PmtInfId></Btch>'
  const { entries } = read('camt.053', camt(booked({ amount: '101.50', details: batch + each })))
  assert.deepEqual(
    entries.map((one) => [one.amount_minor, one.payment_information_id]),
    [
      [6_000n, 'P1'],
      [4_000n, 'P1'],
      [150n, null],
    ],
  )
})

test('amounts that transactions do not have are told where they follow', () => {
  const own = (id: string, amount: string) => detail(id, `<Amt Ccy="EUR">${amount}</Amt>`)
  const instructed = (id: string, amount: string) => detail(id, `<AmtDtls><InstdAmt><Amt Ccy="EUR">${amount}</Amt></InstdAmt></AmtDtls>`)
  const of = (details: string, amount = '100.00') => rowsOf(camt(booked({ amount, details })))
  const both = [
    [1, 'E1', 'DBIT', 6_000n],
    [2, 'E2', 'DBIT', 4_000n],
  ]
  assert.deepEqual(of(own('E1', '60.00') + detail('E2')), { codes: [], rows: both })
  assert.deepEqual(of(instructed('E1', '60.00') + instructed('E2', '40.00')), { codes: [], rows: both })
  assert.deepEqual(of(instructed('E1', '60.00') + instructed('E2', '41.00')).codes, ['DETAILS_WITHOUT_AMOUNT'])
  // More than the entry holds, or against it.
  assert.deepEqual(of(own('E1', '101.00') + detail('E2')).codes, ['DETAILS_SUM'])
  assert.deepEqual(of(own('E1', '60.00') + detail('E2', '<CdtDbtInd>CRDT</CdtDbtInd>')).codes, ['DETAILS_SUM'])
  const yen = detail('E2', '<Amt Ccy="JPY">7000</Amt>')
  assert.deepEqual([of(own('E1', '60.00') + yen).codes, of(detail('E1') + yen).codes], [['DETAILS_CURRENCY'], ['DETAILS_CURRENCY']])
  // One of two is listed: the other holds the rest.
  const counted = (count: number, details: string) => of(`<Btch><NbOfTxs>${count}</NbOfTxs></Btch>${details}`)
  assert.deepEqual(counted(2, own('E1', '60.00')), {
    codes: ['DETAILS_MISSING'],
    rows: [
      [1, 'E1', 'DBIT', 6_000n],
      [0, null, 'DBIT', 4_000n],
    ],
  })
  assert.deepEqual(counted(1, own('E1', '60.00')).codes, ['DETAIL_AMOUNT'])
  // One of two is listed without its amount: the whole is not its own.
  assert.deepEqual(counted(2, detail('E1')), { codes: ['DETAILS_WITHOUT_AMOUNT'], rows: [[0, null, 'DBIT', 10_000n]] })
  assert.deepEqual(counted(1, detail('E1')), { codes: [], rows: [[1, 'E1', 'DBIT', 10_000n]] })
  assert.deepEqual(counted(2, own('E1', '101.00')).codes, ['DETAILS_SUM'])
})

test('an entry tells the exchange of its one transaction', () => {
  const of = (details: string, more: string) => read('camt.053', camt(booked({ amount: '92.30', more, details }))).entries
  const dollars = (name: string, amount: string) => `<AmtDtls><${name}><Amt Ccy="USD">${amount}</Amt></${name}></AmtDtls>`
  const asked = { currency: 'USD', amount_minor: 10_000n }
  for (const name of ['InstdAmt', 'TxAmt']) {
    assert.deepEqual(only(of(detail('E1'), dollars(name, '100.00'))).instructed, asked)
    // What the transaction says of itself goes first.
    assert.deepEqual(only(of(detail('E1', dollars('InstdAmt', '100.00')), dollars(name, '7.00'))).instructed, asked)
  }
  const own = (id: string, amount: string) => detail(id, `<Amt Ccy="EUR">${amount}</Amt>`)
  const several = of(own('E1', '92.00') + own('E2', '0.30'), dollars('InstdAmt', '100.00'))
  assert.deepEqual(
    several.map(({ instructed }) => instructed),
    [null, null],
  )
})

test('a booking is named by the bank’s reference and its day', () => {
  const of = (more: string, details = detail('E1')) => only(read('camt.053', camt(booked({ more, details }))).entries).booking
  const day = '<BookgDt><Dt>2026-11-20</Dt></BookgDt>'
  const reference = '<AcctSvcrRef>R1</AcctSvcrRef>'
  assert.equal(of(day + reference), '2026-11-20 R1')
  assert.equal(of(`<BookgDt><DtTm>2026-11-20T10:00:00+01:00</DtTm></BookgDt>${reference}`), '2026-11-20 R1')
  assert.equal(of(day, `<TxDtls><Refs><AcctSvcrRef>R2</AcctSvcrRef></Refs></TxDtls>`), '2026-11-20 R2')
  assert.deepEqual([of(day), of(reference), of(`${day}<AcctSvcrRef>NOTPROVIDED</AcctSvcrRef>`)], [null, null, null])
})

test('a row for several transactions keeps what they say, and the batch that all of them name', () => {
  const refs = (id: string, batch: string) => `<TxDtls><Refs><PmtInfId>${batch}</PmtInfId><EndToEndId>${id}</EndToEndId></Refs></TxDtls>`
  const of = (details: string) => only(read('camt.053', camt(booked({ details }))).entries)
  const row = of(refs('E1', 'P1') + refs('E2', 'P1'))
  assert.deepEqual([row.amount_minor, row.payment_information_id, row.end_to_end_id], [10_000n, 'P1', null])
  assert.deepEqual(
    row.inside?.map((one) => one.end_to_end_id),
    ['E1', 'E2'],
  )
  assert.equal(of(refs('E1', 'P1') + refs('E2', 'P2')).payment_information_id, null)
})

test('the rows of an entry add up to it, or nothing is judged', () => {
  const money = (minor: number) => `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`
  const charges = (minor: number) => (minor === 0 ? '' : `<Chrgs><Rcrd><Amt Ccy="EUR">${money(minor)}</Amt></Rcrd></Chrgs>`)
  const part = fc.record({ amount: fc.option(fc.integer({ min: 0, max: 3 })), back: fc.constantFrom(false, false, true), fee: fc.nat(1) })
  const given = fc.record({
    amount: fc.integer({ min: 0, max: 9 }),
    direction: fc.constantFrom('DBIT', 'CRDT'),
    parts: fc.array(part, { maxLength: 4 }),
    count: fc.option(fc.integer({ min: 0, max: 4 })),
    fee: fc.nat(1),
  })
  let added = 0
  fc.assert(
    fc.property(given, ({ amount, direction, parts, count, fee }) => {
      const details = parts.map((one, index) => {
        const own = one.amount === null ? '' : `<Amt Ccy="EUR">${money(one.amount)}</Amt>`
        const against = one.back ? `<CdtDbtInd>${direction === 'DBIT' ? 'CRDT' : 'DBIT'}</CdtDbtInd>` : ''
        return detail(`E${index}`, own + against + charges(one.fee))
      })
      const batch = count === null ? '' : `<Btch><NbOfTxs>${count}</NbOfTxs></Btch>`
      const text = camt(booked({ amount: money(amount), direction, more: charges(fee), details: batch + details.join('') }))
      const { entries, errors } = read('camt.053', text)
      if (errors > 0) return
      const sum = entries.reduce((total, one) => total + (one.direction === direction ? one.amount_minor : -one.amount_minor), 0n)
      assert.equal(sum, BigInt(amount))
      if (entries.length > 1) added++
    }),
    { numRuns: runs(400, 4_000), seed: SEED },
  )
  assert.ok(added > 20, 'hardly any entry had several rows')
})
