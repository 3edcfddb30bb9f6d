import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BankEntry } from '../../src/pure/documents/reconcile/records.ts'
import { ach, back, entry, instruction, reconciled, statement, STRANGER, type Given } from './reconcile-records.ts'

/** Batches, statements that come twice, ACH files and transfers between banks: every case by hand. */

type Expected = [verdict: string, basis: string, kind: string | null]

function verdicts(given: Given): Expected[] {
  return reconciled(given).verdicts.map(({ verdict, basis, kind }) => [verdict, basis, kind])
}

const BATCH = [instruction(), instruction({ position: 2, end_to_end_id: 'E2', amount_minor: 2_000n })]
const booking = (changes: object = {}) => entry({ end_to_end_id: null, payment_information_id: 'P1', amount_minor: 12_000n, ...changes })

test('a batch booking settles all of a block whose total it is', () => {
  const of = (...entries: Given['entries']) => verdicts({ instructions: BATCH, entries })
  assert.deepEqual(of(booking()), [
    ['SETTLED', 'batch', null],
    ['SETTLED', 'batch', null],
  ])
  assert.deepEqual(of(booking({ payment_information_id: null, message_id: 'M1' }))[1], ['SETTLED', 'batch', null])
  assert.deepEqual(of(booking({ amount_minor: 7_000n }), booking({ entry: 2, amount_minor: 5_000n }))[0], ['SETTLED', 'batch', null])
  assert.deepEqual(of(booking({ amount_minor: 11_999n }))[0], ['UNPAID', 'ambiguous', 'batch_total'])
  // The bank's charge for the batch, and a batch that consists of fees.
  assert.deepEqual(of(booking(), booking({ entry: 2, amount_minor: 150n, charge: true }))[0], ['SETTLED', 'batch', null])
  assert.deepEqual(of(booking({ charge: true }))[0], ['SETTLED', 'batch', null])
  assert.deepEqual(of(booking({ batch_count: 3 }))[0], ['UNPAID', 'ambiguous', 'batch_total'])
  assert.deepEqual(of(booking({ batch_count: 2 }))[0], ['SETTLED', 'batch', null])
  assert.deepEqual(of(booking(), booking({ entry: 2 }))[0]?.[0], 'DUPLICATE_PAYMENT')
  assert.deepEqual(of(booking(), booking({ entry: 2, direction: 'CRDT', returned: true }))[0], ['UNPAID', 'batch', 'returned'])
  assert.deepEqual(of(booking({ currency: 'USD' }))[0], ['UNPAID', 'none', 'not_found'])
})

test('inside a batch a single payment may come back, be paid again, or be left out', () => {
  const of = (...entries: Given['entries']) => verdicts({ instructions: BATCH, entries })
  assert.deepEqual(of(booking(), back()), [
    ['UNPAID', 'net_of_returns', 'returned'],
    ['SETTLED', 'batch', null],
  ])
  assert.deepEqual(of(booking(), entry({ entry: 2 }))[0]?.[0], 'DUPLICATE_PAYMENT')
  // The batch without the payment that was booked alone.
  assert.deepEqual(of(booking({ amount_minor: 2_000n }), entry({ entry: 2 })), [
    ['SETTLED', 'exact', null],
    ['SETTLED', 'batch', null],
  ])
})

test('a row for transactions without amounts settles those that it names when they are all of it', () => {
  const inside = (...ids: (string | null)[]) =>
    ids.map((end_to_end_id) => ({ end_to_end_id, uetr: null, instruction_id: null, transaction_id: null }))
  const row = (changes: Partial<BankEntry> = {}) =>
    entry({ end_to_end_id: null, amount_minor: 12_000n, inside: inside('E1', 'E2'), ...changes })
  const of = (...entries: Given['entries']) => verdicts({ instructions: BATCH, entries })
  const [settled, unclear] = [
    ['SETTLED', 'batch', null],
    ['UNPAID', 'ambiguous', 'batch_total'],
  ]
  assert.deepEqual(of(row()), [settled, settled])
  assert.deepEqual(of(row({ amount_minor: 12_001n })), [unclear, unclear])
  assert.deepEqual(of(row({ batch_count: 3 })), [unclear, unclear])
  assert.deepEqual(of(row({ currency: 'USD' })), [unclear, unclear])
  assert.deepEqual(of(row({ direction: 'CRDT' })), [unclear, unclear])
  assert.deepEqual(of(row({ inside: inside('E1', 'E2', 'E3') })), [unclear, unclear])
  assert.deepEqual(of(row({ inside: inside('E1', 'E1'), amount_minor: 10_000n })), [unclear, ['UNPAID', 'none', 'not_found']])
  // What names nobody may still be a batch; what names somebody and is none is not guessed.
  assert.deepEqual(of(row({ inside: inside(null, null), payment_information_id: 'P1' })), [settled, settled])
  assert.deepEqual(of(row({ inside: inside('E1', null), payment_information_id: 'P1' })), [settled, settled])
  assert.deepEqual(of(row({ inside: inside('E1', null), payment_information_id: 'P9' }))[0], unclear)
  const taken = row({ entry: 2, direction: 'CRDT', returned: true })
  assert.deepEqual(of(row(), taken)[0], ['UNPAID', 'batch', 'returned'])
  assert.equal(of(row(), row({ entry: 2 }))[0]?.[0], 'DUPLICATE_PAYMENT')
  // Two instructions of one id cannot be told apart, one that was booked alone needs no more.
  const twins = [...BATCH, instruction({ position: 3, end_to_end_id: 'E2', amount_minor: 2_000n })]
  assert.deepEqual(verdicts({ instructions: twins, entries: [row()] })[0], unclear)
  assert.deepEqual(of(row({ amount_minor: 2_000n }), entry({ entry: 2 })), [['SETTLED', 'exact', null], unclear])
})

test('a statement that comes twice counts once; one that only shares its number counts too', () => {
  const given = { instructions: [instruction()], entries: [entry(), entry({ file: 2, statement: 1 })] }
  const twice = reconciled({ ...given, statements: [statement(), statement({ file: 2 })] })
  assert.deepEqual(
    [twice.verdicts[0]?.verdict, twice.ignored[0]?.reason, twice.ignored[0]?.entry],
    ['SETTLED', 'repeated_statement', '2:1'],
  )
  const copy = reconciled({ ...given, statements: [statement({ copy: true }), statement({ file: 2 })] })
  assert.deepEqual([copy.verdicts[0]?.verdict, copy.ignored[0]?.entry], ['SETTLED', '1:1'])
  for (const other of [{ sequence: '2' }, { account: STRANGER }, { page: '2' }, { id: 'S2' }]) {
    const apart = reconciled({ ...given, statements: [statement(), statement({ file: 2, ...other })] })
    assert.equal(apart.verdicts[0]?.verdict, 'DUPLICATE_PAYMENT')
  }
  const entries = [entry(), entry({ file: 2, statement: 1, amount_minor: 1n })]
  assert.equal(reconciled({ ...given, entries, statements: [statement(), statement()] }).verdicts[0]?.kind, 'over')
  // A bank that numbers nothing: the same payment on another day is another one.
  const days = [entry({ booking: '2026-11-20 R1' }), entry({ file: 2, statement: 1, booking: '2026-11-21 R2' })]
  const unnumbered = [statement({ sequence: null }), statement({ sequence: null, file: 2 })]
  assert.equal(reconciled({ ...given, entries: days, statements: unnumbered }).verdicts[0]?.verdict, 'DUPLICATE_PAYMENT')
})

test('one booking that two statements tell counts once', () => {
  const named = '2026-11-20 REF1'
  const asked = { instructions: [instruction()] }
  const told = (...changes: Parameters<typeof entry>[0][]) => ({
    ...asked,
    entries: changes.map((change, index) => entry({ entry: index + 1, booking: named, ...change })),
  })
  const twice = reconciled(told({}, { file: 2, statement: 1 }))
  assert.deepEqual(
    [twice.verdicts[0]?.verdict, twice.verdicts[0]?.entries, twice.ignored.map((row) => [row.entry, row.reason]), twice.conserved],
    ['SETTLED', ['1:1'], [['2:2', 'repeated_entry']], true],
  )
  // Another booking, another day, another amount, another account, or the same statement: money moved twice.
  for (const other of [
    { booking: '2026-11-20 REF2' },
    { booking: '2026-11-21 REF1' },
    { booking: null },
    { account: null },
    { statement: 0 },
  ]) {
    const apart = reconciled(told({}, { file: 2, statement: 1, ...other }))
    assert.equal(apart.verdicts[0]?.verdict, 'DUPLICATE_PAYMENT', JSON.stringify(other))
  }
  assert.equal(reconciled(told({}, { file: 2, statement: 1, amount_minor: 1n })).verdicts[0]?.kind, 'over')
  // A statement that tells it twice, and one that tells it once: it was booked twice.
  const more = reconciled(told({}, { file: 2, statement: 1 }, { file: 2, statement: 1 }))
  assert.deepEqual([more.verdicts[0]?.verdict, more.ignored.map((row) => row.entry)], ['DUPLICATE_PAYMENT', ['1:1']])
  // A payment that came back, told by both.
  const taken = { direction: 'CRDT', returned: true, booking: '2026-11-21 REF9' } as const
  const returned = reconciled(told({}, taken, { file: 2, statement: 1 }, { ...taken, file: 2, statement: 1 }))
  assert.deepEqual([returned.verdicts[0]?.kind, returned.verdicts[0]?.entries], ['returned', ['1:1', '1:2']])
})

test('an ACH entry is weak evidence, and none when evidence of settlement is asked for', () => {
  const instructions = [instruction({ currency: 'USD' })]
  const usd = { currency: 'USD' }
  const row = (entries: Given['entries'], strict = false) =>
    reconciled({ instructions, entries, require_settlement_evidence: strict }).verdicts[0]
  const weak = row([ach(usd)])
  assert.deepEqual([weak?.verdict, weak?.evidence, weak?.final, weak?.warnings], ['SETTLED', 'ach_originated', false, ['ACH_ORIGINATED']])
  assert.deepEqual([row([ach(usd)], true)?.verdict, row([ach(usd)], true)?.kind], ['UNPAID', 'no_settlement_evidence'])
  const twice = row([ach(usd), ach({ ...usd, entry: 2 })], true)
  assert.deepEqual([twice?.verdict, twice?.kind], ['UNPAID', 'no_settlement_evidence'])
  assert.equal(row([ach(usd), ach({ ...usd, entry: 2 })])?.verdict, 'DUPLICATE_PAYMENT')
  const dated = row([ach({ ...usd, evidence: 'ach_dated' })], true)
  assert.deepEqual([dated?.verdict, dated?.final, dated?.warnings], ['SETTLED', false, ['ACH_MAY_RETURN']])
  const strong = row([ach(usd), entry({ entry: 2, ...usd })], true)
  assert.deepEqual([strong?.verdict, strong?.evidence, strong?.final, strong?.entries], ['SETTLED', 'booked', true, ['1:1', '1:2']])
})

test('an ACH entry that names several payments decides none of them', () => {
  const instructions = [instruction(), instruction({ position: 2, end_to_end_id: 'E2' })]
  const both = ach({ references: ['E1', 'E2'] })
  const unclear = ['UNPAID', 'ambiguous', 'batch_total']
  // Also where its amount is that of one of them, and where it is that of both.
  for (const amount_minor of [10_000n, 20_000n]) {
    const report = reconciled({ instructions, entries: [{ ...both, amount_minor }] })
    assert.deepEqual(
      report.verdicts.map(({ verdict, basis, kind }) => [verdict, basis, kind]),
      [unclear, unclear],
    )
    assert.deepEqual(
      [report.unmatched[0]?.reason, report.ambiguous],
      ['ambiguous', [{ kind: 'batch_total', instructions: ['0:1', '0:2'], entries: ['1:1'] }]],
    )
  }
  // What a statement shows of one of them stands; an id that no payment has names none.
  const shown = verdicts({ instructions, entries: [both, entry({ entry: 2 })] })
  assert.deepEqual(shown, [['SETTLED', 'exact', null], unclear])
  const stranger = verdicts({ instructions, entries: [ach({ references: ['E9', 'E1'] })] })
  assert.deepEqual(stranger, [
    ['SETTLED', 'exact', null],
    ['UNPAID', 'none', 'not_found'],
  ])
})

test('an ACH return takes the payment back, by its id or by the number it names', () => {
  const instructions = [instruction({ currency: 'USD' })]
  const forward = ach({ currency: 'USD', trace: '091000010000001' })
  const returned = ach({ currency: 'USD', entry: 2, direction: 'CRDT', returned: true, return_reason: 'R03' })
  const row = (...entries: Given['entries']) => reconciled({ instructions, entries }).verdicts[0]
  assert.deepEqual([row(forward, returned)?.kind, row(forward, returned)?.reason], ['returned', 'R03'])
  const named = row(forward, { ...returned, references: [], original_trace: '091000010000001' })
  assert.deepEqual([named?.verdict, named?.kind, named?.matched_by], ['UNPAID', 'returned', 'trace'])
  const beside = row(entry({ currency: 'USD' }), forward, { ...returned, entry: 3 })
  assert.deepEqual([beside?.verdict, beside?.warnings], ['UNPAID', ['RETURN_IN_ACH_ONLY']])
})

test('an id that was cut to its field counts where one instruction and one payment have it', () => {
  const long = (tail: string, position = 1) => instruction({ currency: 'USD', position, end_to_end_id: `INVOICE-2026-11-${tail}` })
  const cut = ach({ currency: 'USD', references: [], fixed: { id: 'INVOICE-2026-11', width: 15 } })
  assert.deepEqual(verdicts({ instructions: [long('0001')], entries: [cut] }), [['SETTLED', 'truncated', null]])
  const two = verdicts({ instructions: [long('0001'), long('0002', 2)], entries: [cut] })
  assert.deepEqual(two[0], ['UNPAID', 'ambiguous', 'unclear_id'])
  // Exactly the cut text is an id as well: still not to be told.
  const exact = instruction({ currency: 'USD', end_to_end_id: 'INVOICE-2026-11' })
  assert.equal(verdicts({ instructions: [exact, long('1', 2)], entries: [cut] })[0]?.[1], 'ambiguous')
  assert.deepEqual(verdicts({ instructions: [exact], entries: [cut] }), [['SETTLED', 'exact', null]])
})

test('notices and prenotes are set aside', () => {
  const { ignored } = reconciled({
    instructions: [],
    entries: [ach({ aside: 'prenote' }), ach({ entry: 2, aside: 'notification_of_change' })],
  })
  assert.deepEqual(
    ignored.map(({ reason }) => reason),
    ['prenote', 'notification_of_change'],
  )
})

test('an instruction and the transfer between banks that carries it out are each held against the statement', () => {
  const asked = instruction({ uetr: 'U1' })
  const carried = instruction({ source: 'pacs.008', file: 1, uetr: 'U1', payment_information_id: null, message_id: 'B1' })
  const given = { instructions: [asked, carried], entries: [entry({ file: 2, uetr: 'U1' })] }
  const { verdicts: rows, totals, conserved, input_defects, unmatched } = reconciled(given)
  assert.deepEqual(
    rows.map((row) => [row.source, row.verdict, row.entries.join()]),
    [
      ['pain.001', 'SETTLED', '2:1'],
      ['pacs.008', 'SETTLED', '2:1'],
    ],
  )
  // The money moved once.
  assert.deepEqual((totals[0] as { debits: object }).debits, {
    all: { count: 1, amount_minor: '10000' },
    matched: { count: 1, amount_minor: '10000' },
    unmatched: { count: 0, amount_minor: '0' },
    ignored: { count: 0, amount_minor: '0' },
  })
  assert.deepEqual([conserved, input_defects, unmatched], [true, [], []])
  const twice = reconciled({ ...given, entries: [...given.entries, entry({ file: 2, entry: 2 })] }).verdicts
  assert.deepEqual(new Set(twice.map(({ verdict }) => verdict)), new Set(['DUPLICATE_PAYMENT']))
})

test('transfers between banks settle over accounts that they do not name', () => {
  const asked = instruction({ source: 'pacs.008', payment_information_id: null })
  for (const direction of ['DBIT', 'CRDT'] as const) {
    assert.deepEqual(verdicts({ instructions: [asked], entries: [entry({ account: STRANGER, direction })] })[0]?.[0], 'SETTLED')
  }
  assert.equal(
    verdicts({ instructions: [asked], entries: [entry({ account: STRANGER }), back({ account: STRANGER })] })[0]?.[2],
    'returned',
  )
})
