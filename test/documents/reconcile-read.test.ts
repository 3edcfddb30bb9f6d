import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { reconcileDocuments, type DocumentKind } from '../../src/pure/documents/reconcile/reconcile-documents.ts'
import { runs, SEED } from '../support/counts.ts'
import { booked, camt, CREDITOR, DEBTOR, detail, pacs, pain, transfer } from './reconcile-messages.ts'
import { only, read } from './reconcile-reading.ts'

/** What is read of a message: values compared with what was written into it by hand. */

test('a pain.001 of any version, bare or in an envelope, prefixed or not', () => {
  for (const version of ['pain.001.001.03', 'pain.001.001.09', 'pain.001.001.12', 'pain.001.003.03', 'pain.001.001.03.ch.02']) {
    const plain = pain(transfer('E1', '100.00', { more: '<UETR>u-1</UETR>' }), version)
    const bare = plain.slice(plain.indexOf('<Document'))
    const prefixed = bare.replace(/<(\/?)(?=[A-Z])/g, '<$1p:').replace('xmlns=', 'xmlns:p=')
    for (const text of [plain, `<Envelope xmlns="urn:x"><AppHdr><MsgDefIdr>y</MsgDefIdr></AppHdr>${bare}</Envelope>`, prefixed]) {
      const { instructions, codes } = read('pain.001', text)
      assert.deepEqual(codes, [])
      assert.deepEqual(only(instructions), {
        source: 'pain.001',
        file: 0,
        position: 1,
        end_to_end_id: 'E1',
        instruction_id: null,
        transaction_id: null,
        uetr: 'u-1',
        clearing_reference: null,
        payment_information_id: 'P1',
        message_id: 'M1',
        currency: 'EUR',
        amount_minor: 10_000n,
        debtor_account: DEBTOR,
        creditor_account: CREDITOR,
        day: null,
      })
    }
  }
})

test('nothing of one transfer or block leaks into the next', () => {
  const text = pain(`${transfer('E1', '1', { more: '<UETR>u-1</UETR>' })}${transfer('E2', '2')}`)
  const more = text.replace(
    '</PmtInf>',
    '</PmtInf><PmtInf><PmtInfId>P2</PmtInfId><CdtTrfTxInf><Amt><EqvtAmt><Amt Ccy="JPY">7</Amt></EqvtAmt></Amt></CdtTrfTxInf></PmtInf>',
  )
  const { instructions } = read('pain.001', more)
  const rows = instructions.map((one) => [
    one.position,
    one.end_to_end_id,
    one.uetr,
    one.payment_information_id,
    one.debtor_account,
    one.currency,
    one.amount_minor,
  ])
  assert.deepEqual(rows, [
    [1, 'E1', 'u-1', 'P1', DEBTOR, 'EUR', 100n],
    [2, 'E2', null, 'P1', DEBTOR, 'EUR', 200n],
    [3, null, null, 'P2', null, 'JPY', 7n],
  ])
})

test('a pacs.008 counts with what is settled between the banks', () => {
  const row = only(read('pacs.008', pacs()).instructions)
  const ids = [row.instruction_id, row.transaction_id, row.uetr, row.clearing_reference, row.message_id, row.payment_information_id]
  assert.deepEqual(ids, ['I1', 'T1', 'eb6305c9-1f7f-49de-aed0-16487c27b42d', 'C1', 'B1', null])
  assert.deepEqual([row.currency, row.amount_minor, row.debtor_account, row.creditor_account], ['EUR', 10_000n, DEBTOR, '12345'])
})

test('a camt.053 of every version gives the same entry', () => {
  for (const version of ['02', '04', '08', '10', '13']) {
    const amount = version === '02' ? '<AmtDtls><TxAmt><Amt Ccy="EUR">100.00</Amt></TxAmt></AmtDtls>' : '<Amt Ccy="EUR">100.00</Amt>'
    const { entries, codes } = read('camt.053', camt(booked({ details: detail('E1', amount) }, version), version))
    assert.deepEqual(codes, [])
    const row = only(entries)
    assert.deepEqual([row.status, row.direction, row.currency, row.amount_minor, row.end_to_end_id], ['BOOK', 'DBIT', 'EUR', 10_000n, 'E1'])
    assert.deepEqual(
      [row.entry, row.detail, row.account, row.instructed, row.returned, row.evidence],
      [1, 1, DEBTOR, null, false, 'booked'],
    )
  }
})

test('status: booked, pending, of the future, of the bank itself, or none', () => {
  const status = (text: string) => only(read('camt.053', camt(booked({}).replace('<Cd>BOOK</Cd>', text))).entries).status
  assert.deepEqual(['<Cd>PDNG</Cd>', '<Cd>FUTR</Cd>', '<Cd>INFO</Cd>', '<Prtry>OURS</Prtry>', ' BOOK '].map(status), [
    'PDNG',
    'PDNG',
    'INFO',
    'OTHER',
    'BOOK',
  ])
  const none = read('camt.053', camt(booked({}).replace('<Sts><Cd>BOOK</Cd></Sts>', '')))
  assert.deepEqual([only(none.entries).status, none.codes], ['OTHER', ['STATUS_MISSING']])
})

test('returns are known by reversal, return information or bank code', () => {
  const is = (entry: string) => only(read('camt.053', camt(entry)).entries)
  assert.ok(is(booked({ more: '<RvslInd>true</RvslInd>' })).returned)
  assert.ok(!is(booked({ more: '<RvslInd>false</RvslInd>' })).returned)
  const named = is(booked({ details: detail('E1', '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>') }))
  assert.deepEqual([named.returned, named.return_reason], [true, 'AC04'])
  assert.ok(
    is(booked({ more: '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>RRTN</SubFmlyCd></Fmly></Domn></BkTxCd>' })).returned,
  )
})

test('one transaction counts with what was booked; what it says beside that is the instructed amount', () => {
  const usd = only(read('camt.053', camt(booked({ details: detail('E1', '<Amt Ccy="USD">108.50</Amt>') }))).entries)
  assert.deepEqual([usd.currency, usd.amount_minor, usd.instructed], ['EUR', 10_000n, { currency: 'USD', amount_minor: 10_850n }])
  const charges =
    '<Chrgs><Rcrd><Amt Ccy="EUR">3.00</Amt><ChrgInclInd>true</ChrgInclInd></Rcrd><Rcrd><Amt Ccy="EUR">2.00</Amt></Rcrd></Chrgs>'
  const listed = only(read('camt.053', camt(booked({ details: detail('E1', charges) }))).entries)
  assert.equal(listed.charges_minor, 500n)
  const apart = charges.replaceAll('true', 'false')
  assert.equal(only(read('camt.053', camt(booked({ details: detail('E1', apart) }))).entries).charges_minor, 200n)
  // A list of elements in version 02, with money that the bank gives back.
  const old = '<Chrgs><Amt Ccy="EUR">5.00</Amt></Chrgs><Chrgs><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Chrgs>'
  assert.equal(only(read('camt.053', camt(booked({ details: detail('E1', old) }, '02'), '02')).entries).charges_minor, 400n)
  // Charges in another currency explain nothing of an amount in euro, whatever the transaction says of itself.
  const yen = detail('E1', `<Amt Ccy="JPY">16000</Amt><Chrgs><Rcrd><Amt Ccy="JPY">1000</Amt></Rcrd></Chrgs>`)
  assert.equal(only(read('camt.053', camt(booked({ details: yen }))).entries).charges_minor, 0n)
  // Another amount in the same currency is said, unless charges are the difference; what was booked counts.
  const other = (amount: string) => read('camt.053', camt(booked({ details: detail('E1', `<Amt Ccy="EUR">${amount}</Amt>${charges}`) })))
  assert.deepEqual([other('95.00').codes, other('94.00').codes], [[], ['DETAIL_AMOUNT']])
  assert.equal(only(other('94.00').entries).amount_minor, 10_000n)
  assert.deepEqual(read('camt.053', camt(booked({ details: detail('E1', '<CdtDbtInd>CRDT</CdtDbtInd>') }))).codes, ['DETAILS_SUM'])
})

test('several transactions count with their own amounts, and must add up', () => {
  const own = (id: string, amount: string) => detail(id, `<Amt Ccy="EUR">${amount}</Amt>`)
  const { entries, codes } = read('camt.053', camt(booked({ details: own('E1', '60.00') + own('E2', '40.00') })))
  assert.deepEqual(
    entries.map((one) => [one.detail, one.end_to_end_id, one.amount_minor]),
    [
      [1, 'E1', 6_000n],
      [2, 'E2', 4_000n],
    ],
  )
  assert.deepEqual(codes, [])
  for (const amount of ['60.00', '30.00', '0.00']) {
    const wrong = read('camt.053', camt(booked({ amount, details: own('E1', '10.00') + own('E2', '30.00') })))
    // One row with what was booked, about both and for neither.
    const [row] = wrong.entries
    assert.deepEqual([wrong.codes, wrong.errors, wrong.entries.length], [['DETAILS_SUM'], 0, 1])
    assert.deepEqual(
      [row?.amount_minor, row?.end_to_end_id, row?.unclear, row?.inside?.map(({ end_to_end_id }) => end_to_end_id)],
      [BigInt(amount.replace('.', '')), null, true, ['E1', 'E2']],
    )
  }
  // A return inside runs the other way: 130 - 30 = 100.
  const back = detail('E2', '<Amt Ccy="EUR">30.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>')
  const mixed = read('camt.053', camt(booked({ details: own('E1', '130.00') + back })))
  assert.deepEqual([mixed.codes, mixed.entries.map(({ direction }) => direction)], [[], ['DBIT', 'CRDT']])
  // Banks write either direction at the transactions of a reversal.
  const against = (id: string, amount: string) => detail(id, `<Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>`)
  const reversal = { more: '<RvslInd>true</RvslInd>', details: against('E1', '60.00') + against('E2', '40.00') }
  assert.deepEqual(read('camt.053', camt(booked(reversal))).codes, [])
  const silent = read('camt.053', camt(booked({ details: own('E1', '60.00') + detail('E2') + detail('E3') })))
  assert.deepEqual(
    silent.entries.map((one) => [one.detail, one.end_to_end_id, one.amount_minor]),
    [
      [1, 'E1', 6_000n],
      [0, null, 4_000n],
    ],
  )
  assert.deepEqual(silent.codes, ['DETAILS_WITHOUT_AMOUNT'])
})

test('a batch without details keeps its references', () => {
  const batch = '<Btch><MsgId>M1</MsgId><PmtInfId>P1</PmtInfId><NbOfTxs>3</NbOfTxs></Btch>'
  const row = only(read('camt.053', camt(booked({ details: batch }))).entries)
  assert.deepEqual([row.message_id, row.payment_information_id, row.batch_count, row.detail], ['M1', 'P1', 3, 0])
})

test('statements are told apart by account, id, number and page', () => {
  const one = booked({ details: detail('E1') })
  const twice = camt(one).replace('</Stmt>', `</Stmt>${/<Stmt>.*<\/Stmt>/.exec(camt(one))?.[0]}`)
  assert.deepEqual(
    read('camt.053', twice).remarks.map(({ code }) => code),
    ['STATEMENT_REPEATED'],
  )
  assert.deepEqual(read('camt.053', twice.replace('<ElctrncSeqNb>7', '<ElctrncSeqNb>8')).remarks, [])
  assert.deepEqual(
    read('camt.053', twice.replace('100.00', '100.01')).remarks.map(({ code }) => code),
    ['STATEMENT_ID_REUSED'],
  )
  assert.deepEqual(
    read('camt.053', camt(one).replace('<Acct>', '<CpyDplctInd>DUPL</CpyDplctInd><Acct>')).remarks.map(({ code }) => code),
    ['STATEMENT_COPY'],
  )
})

test('what cannot be read for certain is an error', () => {
  const faults: [DocumentKind, string, string][] = [
    ['pain.001', pain(transfer('E1', '100.001')), 'AMOUNT_FRACTION'],
    ['pain.001', pain(transfer('E1', '1e2')), 'AMOUNT_UNREADABLE'],
    ['pain.001', pain(transfer('E1', '-1')), 'AMOUNT_UNREADABLE'],
    ['pain.001', pain(transfer('E1', '99999999999999999999')), 'AMOUNT_RANGE'],
    ['pain.001', pain(transfer('E1', '1')).replace(' Ccy="EUR"', ''), 'AMOUNT_MISSING'],
    ['pain.001', pain('<CdtTrfTxInf><PmtId><EndToEndId>E1</EndToEndId></PmtId></CdtTrfTxInf>'), 'AMOUNT_MISSING'],
    ['pain.001', pain(transfer('E1</EndToEndId><EndToEndId>E2', '1')), 'ELEMENT_REPEATED'],
    ['pain.001', pain(transfer('E<!-- -->1', '1')), 'VALUE_SPLIT'],
    ['pain.001', camt(booked({})), 'MESSAGE_OTHER'],
    ['pain.001', '<a/>', 'MESSAGE_MISSING'],
    ['pain.001', `<!DOCTYPE Document>${pain('').split('?>')[1]}`, 'XML_DOCTYPE'],
    ['pain.001', pain(transfer('E1', '1')).slice(0, -3), 'XML_NOT_WELLFORMED'],
    ['pain.001', '', 'XML_NOT_WELLFORMED'],
    ['camt.053', camt(booked({ direction: 'BOTH' })), 'DIRECTION_MISSING'],
    ['camt.053', camt(booked({ amount: '' })), 'AMOUNT_UNREADABLE'],
    ['nacha', 'not a file', 'N_ORDER'],
  ]
  for (const [kind, text, code] of faults) {
    const { codes, errors } = read(kind, text)
    assert.ok(errors > 0 && codes.some((one) => one === code), `${code} is missing among ${codes.join(' ')}`)
  }
  for (const [kind, text] of [['pain.001', pain('')] as const, ['camt.053', camt('')] as const]) {
    const { codes, errors } = read(kind, text)
    assert.deepEqual([codes, errors], [['NOTHING_TO_READ'], 0])
  }
})

test('one unreadable input and nothing is judged', () => {
  const good = { kind: 'camt.053', text: camt(booked({ details: detail('E1') })) } as const
  const report = reconcileDocuments([{ kind: 'pain.001', text: pain(transfer('E1', '100.001')) }, good])
  assert.deepEqual([report.valid, report.verdicts, report.unmatched, report.findings[0]?.line], [false, [], [], 2])
})

test('pieces of any size read the same', () => {
  const texts: [DocumentKind, string][] = [
    ['pain.001', pain(transfer('E1', '1.00') + transfer('É&amp;2', '2.00'))],
    ['camt.053', camt(booked({ details: detail('E1') }) + booked({ amount: '7', details: detail('E2') + detail('E3') }))],
  ]
  for (const [kind, text] of texts) {
    const whole = read(kind, text)
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), text.length]
        assert.deepEqual(read(kind, ...places.slice(1).map((end, index) => text.slice(places[index], end))), whole)
      }),
      { numRuns: runs(40, 1_000), seed: SEED },
    )
  }
})

test('a charge that the bank books under the id of the payment is no part of it', () => {
  const code = (sub: string) => `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>${sub}</SubFmlyCd></Fmly></Domn></BkTxCd>`
  const of = (fee: string) => {
    const camt053 = camt(booked({ details: detail('E1') }) + fee)
    const [row] = reconcileDocuments([
      { kind: 'pain.001', text: pain(transfer('E1', '100.00')) },
      { kind: 'camt.053', text: camt053 },
    ]).verdicts
    return [row?.verdict, row?.basis, row?.net_minor, row?.charges_minor]
  }
  const settled = ['SETTLED', 'net_of_charges', '10000', '250']
  assert.deepEqual(of(booked({ amount: '2.50', more: code('CHRG'), details: detail('E1') })), settled)
  assert.deepEqual(of(booked({ amount: '2.50', details: detail('E1', code('COMM')) })), settled)
  assert.deepEqual(of(booked({ amount: '2.50', more: code('ESCT'), details: detail('E1') })), ['AMOUNT_MISMATCH', 'split', '10250', '0'])
  // The code says nothing of a second payment, nor of money that comes back.
  assert.equal(of(booked({ more: code('ESCT'), details: detail('E1') }))[0], 'DUPLICATE_PAYMENT')
  assert.equal(of(booked({ amount: '2.50', direction: 'CRDT', more: code('CHRG'), details: detail('E1') }))[0], 'AMOUNT_MISMATCH')
})
