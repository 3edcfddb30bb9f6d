import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { reconcileDocuments } from '../../src/pure/documents/reconcile/reconcile-documents.ts'
import { runs, SEED } from '../support/counts.ts'
import { CREDITOR, DEBTOR } from './reconcile-messages.ts'

/**
 * Worlds of payments of which the truth is known, and statements that show all or part of it. The oracle computes from the world, not from
 * the messages: money that moved is never UNPAID, money that did not stay is never final, and every amount is counted.
 */

const OTHER_ACCOUNT = 'GB29NWBK60161331926819'
const FIRST_DAY = Date.UTC(2026, 7, 3) / 86_400_000
const iso = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)
const euros = (minor: number) => (minor / 100).toFixed(2)

type Fate = 'paid' | 'not_paid' | 'paid_twice' | 'returned' | 'returned_late' | 'redirected' | 'paid_short'

interface Booking {
  day: number
  minor: number
  debit: boolean
  payment: number
  returned: boolean
  creditor: string
}

interface World {
  fates: { fate: Fate; due: number; minor: number; delay: number }[]
  noise: number[]
  /** What the desk lacks. */
  lack: 'nothing' | 'account' | 'last_page' | 'number' | 'end' | 'entries'
}

const world: fc.Arbitrary<World> = fc.record({
  fates: fc.array(
    fc.record({
      fate: fc.constantFrom<Fate>('paid', 'not_paid', 'paid_twice', 'returned', 'returned_late', 'redirected', 'paid_short'),
      due: fc.integer({ min: 0, max: 26 }),
      minor: fc.integer({ min: 2, max: 99_999 }),
      delay: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  noise: fc.array(fc.integer({ min: 1, max: 99_999 }), { maxLength: 3 }),
  lack: fc.constantFrom<World['lack']>('nothing', 'account', 'last_page', 'number', 'end', 'entries'),
})

function bookings({ fates, noise }: World): Booking[] {
  const all: Booking[] = []
  for (const [payment, { fate, due, minor, delay }] of fates.entries()) {
    const day = FIRST_DAY + due + delay
    const one = { day, minor, debit: true, payment, returned: false, creditor: CREDITOR }
    if (fate === 'not_paid') continue
    all.push({ ...one, minor: fate === 'paid_short' ? minor - 1 : minor, creditor: fate === 'redirected' ? OTHER_ACCOUNT : CREDITOR })
    if (fate === 'paid_twice') all.push({ ...one, day: day + 1 })
    if (fate === 'returned') all.push({ ...one, day: day + 2, debit: false, returned: true })
    if (fate === 'returned_late') all.push({ ...one, day: day + 130, debit: false, returned: true })
  }
  for (const [index, minor] of noise.entries())
    all.push({ day: FIRST_DAY + index, minor, debit: index % 2 === 0, payment: -1, returned: false, creditor: CREDITOR })
  return all.toSorted((one, other) => one.day - other.day)
}

const uetr = (payment: number) => `eb6305c9-1f7f-49de-aed0-16487c27b4${(16 + payment).toString(16)}`

function entryXml({ day, minor, debit, payment, returned, creditor }: Booking): string {
  const ids = payment === -1 ? '<EndToEndId>NOTPROVIDED</EndToEndId>' : `<EndToEndId>E${payment}</EndToEndId><UETR>${uetr(payment)}</UETR>`
  const parties = debit ? `<RltdPties><CdtrAcct><Id><IBAN>${creditor}</IBAN></Id></CdtrAcct></RltdPties>` : ''
  return (
    `<Ntry><Amt Ccy="EUR">${euros(minor)}</Amt><CdtDbtInd>${debit ? 'DBIT' : 'CRDT'}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>` +
    `<BookgDt><Dt>${iso(day)}</Dt></BookgDt><NtryDtls><TxDtls><Refs>${ids}</Refs>${parties}` +
    `${returned ? '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>' : ''}</TxDtls></NtryDtls></Ntry>`
  )
}

/** Weekly statements with numbers, periods, balances and a page each; parts are left out as the world says. */
function statements(given: World): { text: string; shown: Booking[] } {
  const all = bookings(given)
  const weeks = Math.ceil((Math.max(FIRST_DAY + 30, ...all.map(({ day }) => day)) - FIRST_DAY + 1) / 7)
  const shown: Booking[] = []
  let balance = 1_000_000_00
  const parts: string[] = []
  for (let week = 0; week < weeks; week++) {
    const [from, to] = [FIRST_DAY + 7 * week, FIRST_DAY + 7 * week + 6]
    const own = all.filter(({ day }) => day >= from && day <= to)
    const opening = balance
    for (const { minor, debit } of own) balance += debit ? -minor : minor
    if (given.lack === 'end' && week >= 2) continue
    if (given.lack === 'number' && week === 1) continue
    const kept = given.lack === 'entries' || given.lack === 'last_page' ? own.slice(0, Math.max(0, own.length - 1)) : own
    const pages = given.lack === 'last_page' && kept.length < own.length
    shown.push(...kept)
    const bal = (code: string, minor: number, day: number) =>
      `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${euros(minor)}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${iso(day)}</Dt></Dt></Bal>`
    parts.push(
      `<Stmt><Id>S${week}</Id><StmtPgntn><PgNb>1</PgNb><LastPgInd>${!pages}</LastPgInd></StmtPgntn><ElctrncSeqNb>${week + 1}</ElctrncSeqNb>` +
        `<FrToDt><FrDtTm>${iso(from)}T00:00:00</FrDtTm><ToDtTm>${iso(to)}T23:59:59</ToDtTm></FrToDt>` +
        `<Acct><Id><IBAN>${given.lack === 'account' ? OTHER_ACCOUNT : DEBTOR}</IBAN></Id></Acct>` +
        `${bal('OPBD', opening, from)}${pages ? '' : bal('CLBD', balance, to)}${kept.map(entryXml).join('')}</Stmt>`,
    )
  }
  const text = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>G</MsgId></GrpHdr>${parts.join('')}</BkToCstmrStmt></Document>`
  return { text, shown: given.lack === 'account' ? [] : shown }
}

function payments({ fates }: World): string {
  const blocks = fates.map(
    ({ due, minor }, payment) =>
      `<PmtInf><PmtInfId>P${payment}</PmtInfId><ReqdExctnDt><Dt>${iso(FIRST_DAY + due)}</Dt></ReqdExctnDt><DbtrAcct><Id><IBAN>${DEBTOR}</IBAN></Id></DbtrAcct>` +
      `<CdtTrfTxInf><PmtId><EndToEndId>E${payment}</EndToEndId><UETR>${uetr(payment)}</UETR></PmtId><Amt><InstdAmt Ccy="EUR">${euros(minor)}</InstdAmt></Amt>` +
      `<CdtrAcct><Id><IBAN>${CREDITOR}</IBAN></Id></CdtrAcct></CdtTrfTxInf></PmtInf>`,
  )
  return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>M1</MsgId></GrpHdr>${blocks.join('')}</CstmrCdtTrfInitn></Document>`
}

test('no false SETTLED, no false UNPAID, amounts conserved per currency', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(world, (given) => {
      const { text, shown } = statements(given)
      // A verdict is about the time until the last statement: a payment that is late can be booked after it.
      const all = bookings(given).filter(({ day }) => given.lack !== 'end' || day < FIRST_DAY + 14)
      const report = reconcileDocuments([
        { kind: 'pain.001', text: payments(given) },
        { kind: 'camt.053', text },
      ])
      assert.ok(report.valid, JSON.stringify(report.findings))
      const net = (list: readonly Booking[], payment: number) =>
        list.filter((one) => one.payment === payment).reduce((sum, { minor, debit }) => sum + (debit ? minor : -minor), 0)
      for (const [payment, { minor }] of given.fates.entries()) {
        const row = report.verdicts.find(({ end_to_end_id }) => end_to_end_id === `E${payment}`)
        assert.ok(row !== undefined)
        const visible = shown.filter((one) => one.payment === payment)
        const right = visible.every(({ creditor }) => creditor === CREDITOR)
        if (row.final)
          assert.ok(net(visible, payment) === minor && right && visible.length === 1, `false SETTLED: E${payment} ${row.basis}`)
        if (row.verdict === 'UNPAID' && row.kind === 'not_found') assert.equal(net(all, payment), 0, `paid, but not found: E${payment}`)
        if (given.lack === 'nothing' && net(all, payment) === 0 && visible.length === 0) assert.equal(row.kind, 'not_found')
        seen.add(`${row.verdict} ${row.kind} ${row.final}`)
      }
      assert.equal(
        report.all_settled,
        report.verdicts.every(({ final }) => final),
      )
      const sums = { debits: 0, credits: 0 }
      const counted = given.lack === 'account' ? all : shown
      for (const { minor, debit } of counted) sums[debit ? 'debits' : 'credits'] += minor
      const [totals] = report.totals as { debits: { all: { amount_minor: string } }; credits: { all: { amount_minor: string } } }[]
      assert.deepEqual([totals?.debits.all.amount_minor, totals?.credits.all.amount_minor], [String(sums.debits), String(sums.credits)])
      assert.ok(report.conserved)
    }),
    { numRuns: runs(300, 5_000), seed: SEED },
  )
  for (const one of [
    'SETTLED null true',
    'SETTLED null false',
    'UNPAID not_found false',
    'UNPAID not_covered false',
    'UNPAID returned false',
  ])
    assert.ok(seen.has(one), `no world led to ${one}`)
  assert.ok(seen.has('DUPLICATE_PAYMENT null false') && seen.has('AMOUNT_MISMATCH under false'))
})
